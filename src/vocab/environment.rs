//! The two environments, test and live.

use std::fmt;
use std::str::FromStr;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// One of the two separate environments. A change in one environment does not affect the other; going live copies a brand from test
/// to live.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Environment {
    /// The environment for testing: messages go to the built-in inbox instead of to recipients.
    Test,
    /// The environment for real recipients.
    Live,
}

impl Environment {
    pub const ALL: [Self; 2] = [Self::Test, Self::Live];

    /// Returns the environment's name in keys, folders, URLs and on the command line.
    pub fn word(self) -> &'static str {
        match self {
            Self::Test => "test",
            Self::Live => "live",
        }
    }
}

impl fmt::Display for Environment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.word())
    }
}

/// The error for text that is not the name of an environment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EnvironmentError;

impl fmt::Display for EnvironmentError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("The environment must be `test` or `live`.")
    }
}

impl std::error::Error for EnvironmentError {}

impl FromStr for Environment {
    type Err = EnvironmentError;

    fn from_str(given: &str) -> Result<Self, EnvironmentError> {
        Self::ALL.into_iter().find(|environment| environment.word() == given).ok_or(EnvironmentError)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_environment_has_the_same_name_everywhere() {
        for environment in Environment::ALL {
            assert_eq!(environment.word().parse(), Ok(environment));
            assert_eq!(serde_json::to_value(environment).expect("an environment can be written as JSON"), environment.word());
        }
        assert_eq!("Live".parse::<Environment>(), Err(EnvironmentError));
    }
}
