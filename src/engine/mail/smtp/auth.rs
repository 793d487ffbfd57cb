//! Login to a relay: the lines to send for AUTH PLAIN, LOGIN (RFC 4954) and XOAUTH2. This module does no I/O.
//!
//! The caller must ensure that the connection is safe for a login.

use data_encoding::BASE64;

use super::capabilities::Capabilities;
use crate::base::secret::Secret;

#[derive(Clone, Debug)]
pub struct Credentials {
    pub user: String,
    /// The password or, for XOAUTH2, the access token.
    pub secret: Secret,
    /// The only mechanism to use. If it is missing, PLAIN is used if the server offers it, or else LOGIN.
    pub mechanism: Option<Mechanism>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mechanism {
    Plain,
    Login,
    Xoauth2,
}

impl Mechanism {
    /// Returns the mechanism's name in the `AUTH` command.
    pub fn name(self) -> &'static str {
        match self {
            Self::Plain => "PLAIN",
            Self::Login => "LOGIN",
            Self::Xoauth2 => "XOAUTH2",
        }
    }

    fn is_offered(self, capabilities: &Capabilities) -> bool {
        match self {
            Self::Plain => capabilities.plain,
            Self::Login => capabilities.login,
            Self::Xoauth2 => capabilities.xoauth2,
        }
    }
}

impl Credentials {
    /// Returns the mechanism to use with a server that has these capabilities.
    pub fn mechanism(&self, capabilities: &Capabilities) -> Option<Mechanism> {
        // An access token must not be sent as a password, so XOAUTH2 is used only if it is configured.
        let candidates = match self.mechanism {
            Some(one) => vec![one],
            None => vec![Mechanism::Plain, Mechanism::Login],
        };
        candidates.into_iter().find(|candidate| candidate.is_offered(capabilities))
    }

    /// Returns the lines to send. The first line is the `AUTH` command; each additional line answers a prompt from the server.
    pub fn lines(&self, mechanism: Mechanism) -> Vec<Secret> {
        let (user, secret) = (&self.user, self.secret.expose());
        let coded = |text: &str| BASE64.encode(text.as_bytes());
        let lines = match mechanism {
            Mechanism::Plain => vec![format!("AUTH PLAIN {}", coded(&format!("\0{user}\0{secret}")))],
            Mechanism::Login => vec!["AUTH LOGIN".to_owned(), coded(user), coded(secret)],
            Mechanism::Xoauth2 => {
                let text = format!("user={user}\u{1}auth=Bearer {secret}\u{1}\u{1}");
                // If the login fails, the server sends the reason as a challenge, which the client answers with an empty line.
                vec![format!("AUTH XOAUTH2 {}", coded(&text)), String::new()]
            }
        };
        lines.into_iter().map(Secret::new).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn credentials(mechanism: Option<Mechanism>) -> Credentials {
        Credentials { user: "ana".into(), secret: Secret::new("pass".into()), mechanism }
    }

    #[test]
    fn the_lines_are_those_of_the_standards() {
        let lines =
            |mechanism| -> Vec<String> { credentials(None).lines(mechanism).iter().map(|line| line.expose().clone()).collect() };
        assert_eq!(lines(Mechanism::Plain), ["AUTH PLAIN AGFuYQBwYXNz"]);
        assert_eq!(lines(Mechanism::Login), ["AUTH LOGIN", "YW5h", "cGFzcw=="]);
        assert_eq!(lines(Mechanism::Xoauth2), ["AUTH XOAUTH2 dXNlcj1hbmEBYXV0aD1CZWFyZXIgcGFzcwEB", ""]);
    }

    #[test]
    fn only_offered_mechanisms_are_used_and_a_token_is_never_sent_as_a_password() {
        let both = Capabilities { plain: true, login: true, xoauth2: true, ..Capabilities::default() };
        let login = Capabilities { login: true, ..Capabilities::default() };
        assert_eq!(credentials(None).mechanism(&both), Some(Mechanism::Plain));
        assert_eq!(credentials(None).mechanism(&login), Some(Mechanism::Login));
        assert_eq!(credentials(None).mechanism(&Capabilities { xoauth2: true, ..Capabilities::default() }), None);
        assert_eq!(credentials(Some(Mechanism::Xoauth2)).mechanism(&both), Some(Mechanism::Xoauth2));
        assert_eq!(credentials(Some(Mechanism::Xoauth2)).mechanism(&login), None);
    }
}
