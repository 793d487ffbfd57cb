//! The errors of calls to platforms.

use std::fmt;

use crate::base::clock::Timestamp;

/// Why a call to a platform failed. Each string is the platform's own description or describes the cause.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PlatformError {
    /// The platform rejects the credentials.
    Rejected(String),
    /// The credentials lack a scope.
    Forbidden(String),
    /// The platform has frozen or locked the account; the credentials may still be valid. Contains a sentence with the remedy.
    Suspended(String),
    /// The stored credentials cannot be decrypted with the current master key.
    KeyLost,
    /// The requested object does not exist.
    Missing,
    /// The platform refuses the request itself.
    Refused(String),
    /// The platform asked for a pause until a given time, because it is rate limiting the account or is down.
    Busy { until: Timestamp, ms: u64 },
    /// The platform did not respond, or reported a server error. A retry may succeed.
    Unavailable(String),
    /// The call failed because of this installation, not the platform: for example, the platform's address in the settings is not a URL.
    Unreachable(String),
    /// The platform's response is not in the documented format.
    Malformed(String),
}

impl PlatformError {
    /// Returns why the connection must be reconnected; `None` if it need not be.
    pub fn rejection(&self) -> Option<String> {
        match self {
            Self::Rejected(said) | Self::Forbidden(said) => Some(said.clone()),
            Self::KeyLost => Some("the stored credentials cannot be decrypted with the current master key".to_owned()),
            _ => None,
        }
    }

    /// Returns whether the request may have taken effect although an error was returned.
    pub fn is_uncertain(&self) -> bool {
        matches!(self, Self::Unavailable(_) | Self::Malformed(_))
    }
}

impl fmt::Display for PlatformError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Rejected(said) | Self::Forbidden(said) => {
                write!(f, "The platform does not accept the credentials ({said}); reconnect the account.")
            }
            Self::KeyLost => {
                f.write_str("The stored credentials cannot be decrypted with the current master key; reconnect the account.")
            }
            Self::Missing => f.write_str("The requested object does not exist on the platform, or the connection was removed."),
            Self::Refused(said) => write!(f, "The platform refused the request ({said})."),
            Self::Busy { .. } => f.write_str("The platform is down or is rate limiting this account; try again later."),
            Self::Unavailable(said) => {
                write!(f, "The request to the platform failed ({}); try again later.", said.trim_end_matches('.'))
            }
            Self::Suspended(said) | Self::Unreachable(said) => f.write_str(said),
            Self::Malformed(said) => write!(f, "The platform's response cannot be processed ({said})."),
        }
    }
}
