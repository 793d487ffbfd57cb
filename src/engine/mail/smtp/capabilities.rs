//! The capabilities that a server offers in its reply to `EHLO`. This module does no I/O.

use super::reply::Reply;

/// The SMTP extensions that a server offers and Mailmill uses.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Capabilities {
    pub starttls: bool,
    pub pipelining: bool,
    pub eight_bit: bool,
    pub smtputf8: bool,
    /// Whether the server offers `SIZE`.
    pub size: bool,
    /// The size of the largest message that the server accepts, if the server states a limit.
    pub bytes_max: Option<u64>,
    pub plain: bool,
    pub login: bool,
    pub xoauth2: bool,
}

impl Capabilities {
    /// Returns the capabilities in a reply. The first line, which contains the server's name, is ignored.
    pub fn of(reply: &Reply) -> Self {
        let mut capabilities = Self::default();
        for line in reply.text.lines().skip(1) {
            // Some old servers write "AUTH=LOGIN" instead of "AUTH LOGIN".
            let mut words = line.split([' ', '=']).filter(|word| !word.is_empty()).map(str::to_ascii_uppercase);
            match words.next().as_deref() {
                Some("STARTTLS") => capabilities.starttls = true,
                Some("PIPELINING") => capabilities.pipelining = true,
                Some("8BITMIME") => capabilities.eight_bit = true,
                Some("SMTPUTF8") => capabilities.smtputf8 = true,
                Some("SIZE") => {
                    capabilities.size = true;
                    // Zero means that the server states no limit (RFC 1870).
                    capabilities.bytes_max = words.next().and_then(|word| word.parse().ok()).filter(|bytes| *bytes > 0);
                }
                Some("AUTH") => {
                    for word in words {
                        match word.as_str() {
                            "PLAIN" => capabilities.plain = true,
                            "LOGIN" => capabilities.login = true,
                            "XOAUTH2" => capabilities.xoauth2 = true,
                            _ => {}
                        }
                    }
                }
                _ => {}
            }
        }
        capabilities
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn usual_and_unusual_spellings_are_parsed() {
        let text = "mx.example.com at your service\npipelining\nSIZE 52428800\n8BITMIME\nSTARTTLS\nSMTPUTF8\nAUTH LOGIN PLAIN\nX";
        let capabilities = Capabilities::of(&Reply { code: 250, enhanced: None, text: text.to_owned() });
        let all = Capabilities {
            starttls: true,
            pipelining: true,
            eight_bit: true,
            smtputf8: true,
            size: true,
            bytes_max: Some(52_428_800),
            plain: true,
            login: true,
            xoauth2: false,
        };
        assert_eq!(capabilities, all);
        let capabilities =
            Capabilities::of(&Reply { code: 250, enhanced: None, text: "STARTTLS\nSIZE 0\nAUTH=XOAUTH2\nSIZE x".to_owned() });
        assert_eq!(capabilities, Capabilities { size: true, xoauth2: true, ..Capabilities::default() });
    }
}
