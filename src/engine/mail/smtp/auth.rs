//! Saying who we are to a relay: the texts of AUTH PLAIN, LOGIN (RFC 4954) and XOAUTH2. Pure.
//!
//! It does not know when a login is safe; whoever speaks to the server sees to it.

use data_encoding::BASE64;

use super::capabilities::Capabilities;
use crate::base::secret::Secret;

/// Who we are.
#[derive(Clone, Debug)]
pub struct Credentials {
    pub user: String,
    /// A password, or for XOAUTH2 an access token.
    pub secret: Secret,
    /// The only mechanism to use; otherwise the best that is offered.
    pub mechanism: Option<Mechanism>,
}

/// A way to say it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mechanism {
    Plain,
    Login,
    Xoauth2,
}

impl Mechanism {
    /// Its name in `AUTH`.
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
    /// How to log in where this is offered.
    pub fn mechanism(&self, capabilities: &Capabilities) -> Option<Mechanism> {
        // A token is never given away as a password, so XOAUTH2 is used only where it was asked for.
        let candidates = match self.mechanism {
            Some(one) => vec![one],
            None => vec![Mechanism::Plain, Mechanism::Login],
        };
        candidates.into_iter().find(|candidate| candidate.is_offered(capabilities))
    }

    /// The lines that are sent, each after the server has asked for it; the first one with the command.
    pub fn lines(&self, mechanism: Mechanism) -> Vec<Secret> {
        let (user, secret) = (&self.user, self.secret.expose());
        let coded = |text: &str| BASE64.encode(text.as_bytes());
        let lines = match mechanism {
            Mechanism::Plain => vec![format!("AUTH PLAIN {}", coded(&format!("\0{user}\0{secret}")))],
            Mechanism::Login => vec!["AUTH LOGIN".to_owned(), coded(user), coded(secret)],
            Mechanism::Xoauth2 => {
                let text = format!("user={user}\u{1}auth=Bearer {secret}\u{1}\u{1}");
                // A refusal comes as a question with the reason in it, which an empty line answers.
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
    fn only_what_is_offered_is_used_and_a_token_is_no_password() {
        let both = Capabilities { plain: true, login: true, xoauth2: true, ..Capabilities::default() };
        let login = Capabilities { login: true, ..Capabilities::default() };
        assert_eq!(credentials(None).mechanism(&both), Some(Mechanism::Plain));
        assert_eq!(credentials(None).mechanism(&login), Some(Mechanism::Login));
        assert_eq!(credentials(None).mechanism(&Capabilities { xoauth2: true, ..Capabilities::default() }), None);
        assert_eq!(credentials(Some(Mechanism::Xoauth2)).mechanism(&both), Some(Mechanism::Xoauth2));
        assert_eq!(credentials(Some(Mechanism::Xoauth2)).mechanism(&login), None);
    }
}
