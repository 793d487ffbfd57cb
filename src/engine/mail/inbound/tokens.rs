//! Finds our own tokens in returned mail: in the envelope, in the returned message, or anywhere in the text.

use super::mime::Part;
use crate::vocab::limits::INBOUND_TOKENS_MAX;

/// A string that looks like one of our tokens.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Token {
    pub mark: Mark,
    /// The token in lowercase.
    pub text: String,
}

/// The purpose of an address that contains a token, shown by the character before the plus sign.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mark {
    /// `b+…`: the envelope sender. Bounces are returned to this address.
    Bounce,
    /// `u+…`: a message to this address unsubscribes.
    Unsubscribe,
}

impl Mark {
    fn of(c: u8) -> Option<Self> {
        match c {
            b'b' | b'B' => Some(Self::Bounce),
            b'u' | b'U' => Some(Self::Unsubscribe),
            _ => None,
        }
    }
}

/// The length of a token in characters: shorter strings are not ours, and longer ones do not fit in a local part.
const LETTERS: std::ops::RangeInclusive<usize> = 16..=62;

impl Token {
    /// Returns the token in one of our addresses, or `None` if the address has none.
    pub fn of_address(address: &str) -> Option<Self> {
        let (local, _) = address.trim().trim_matches(['<', '>']).rsplit_once('@')?;
        let (mark, text) = local.split_once('+')?;
        let &[c] = mark.as_bytes() else { return None };
        let is_token = LETTERS.contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_alphanumeric());
        is_token.then(|| Mark::of(c)).flatten().map(|mark| Self { mark, text: text.to_ascii_lowercase() })
    }
}

/// Returns up to [`INBOUND_TOKENS_MAX`] tokens: first the envelope's, then those in header fields, then those in the text of the parts.
pub fn all(recipient: &str, message: &Part<'_>) -> Vec<Token> {
    let mut tokens: Vec<Token> = Token::of_address(recipient).into_iter().collect();
    let parts = message.all();
    for part in &parts {
        for (_, value) in part.fields() {
            collect(value, &mut tokens);
        }
    }
    for part in parts.iter().filter(|part| part.inside.is_empty()) {
        collect(&part.text(), &mut tokens);
    }
    tokens
}

fn collect(text: &str, tokens: &mut Vec<Token>) {
    let bytes = text.as_bytes();
    for (plus, _) in text.match_indices('+') {
        if tokens.len() == INBOUND_TOKENS_MAX {
            return;
        }
        let Some(mark) = plus.checked_sub(1).and_then(|at| Mark::of(bytes[at])) else { continue };
        if plus.checked_sub(2).is_some_and(|at| bytes[at].is_ascii_alphanumeric()) {
            continue;
        }
        let rest = &bytes[plus + 1..];
        let length = rest.iter().take(LETTERS.end() + 1).take_while(|byte| byte.is_ascii_alphanumeric()).count();
        // Some servers write the at sign as `=` when they embed an address in another address.
        let ends = matches!(rest.get(length), Some(b'@' | b'='));
        if !LETTERS.contains(&length) || !ends {
            continue;
        }
        let text = text[plus + 1..=plus + length].to_ascii_lowercase();
        let token = Token { mark, text };
        if !tokens.contains(&token) {
            tokens.push(token);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_addresses_of_our_shape_have_tokens() {
        let token = "abcdefghijklmnopqrstuvwxyz234567";
        let read = |address: &str| Token::of_address(address).map(|token| (token.mark, token.text));
        assert_eq!(read(&format!("<B+{}@bounces.example>", token.to_uppercase())), Some((Mark::Bounce, token.into())));
        assert_eq!(read(&format!("u+{token}@bounces.example")), Some((Mark::Unsubscribe, token.into())));
        for other in
            ["b+short@x.example", "ada@x.example", &format!("bb+{token}@x.example"), &format!("x+{token}@x.example"), "b+"]
        {
            assert_eq!(read(other), None, "{other}");
        }
    }

    #[test]
    fn tokens_are_found_in_running_text_once_each() {
        let token = "abcdefghijklmnopqrstuvwxyz234567";
        let text =
            format!("to <b+{token}@x.example>, again b+{token}@x.example; web+{token}@x and b+{token} alone, é u+{token}=40");
        let mut found = Vec::new();
        collect(&text, &mut found);
        assert_eq!(found.iter().map(|token| token.mark).collect::<Vec<_>>(), [Mark::Bounce, Mark::Unsubscribe]);
    }
}
