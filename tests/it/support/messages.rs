//! The server's messages as a relay accepted them: their recipients and tokens.

use mail_parser::{Message, MessageParser};

use super::mail_sink::SinkMessage;

/// The tokens in a message, which only its recipient gets.
#[derive(Clone, Debug)]
pub struct SentMessage {
    pub recipient: String,
    /// The complete envelope sender.
    pub sender: String,
    /// The token of the envelope sender.
    pub bounce: String,
    /// The token of the unsubscribe email address.
    pub unsubscribe: String,
    /// The URL for one-click unsubscribe.
    pub one_click: String,
    pub message_id: String,
    pub html: String,
}

impl SentMessage {
    /// Parses a message of a campaign.
    pub fn read(received: &SinkMessage) -> Self {
        let message = MessageParser::default().parse(&received.body).expect("it is a message");
        let (recipient, sender) = (within(&received.talk.recipient, '<', '>'), within(&received.talk.sender, '<', '>'));
        let list = field(&message, "List-Unsubscribe");
        assert_eq!(field(&message, "List-Unsubscribe-Post"), "List-Unsubscribe=One-Click");
        let (web, mail) = list.split_once(", ").expect("two addresses");
        Self {
            recipient,
            bounce: within(&sender, '+', '@'),
            sender,
            unsubscribe: within(mail, '+', '@'),
            one_click: web.trim_matches(['<', '>']).to_owned(),
            message_id: received.message_id.clone(),
            html: message.body_html(0).expect("it has HTML").into_owned(),
        }
    }

    /// Returns the token after this part of a path in the message's HTML.
    pub fn token(&self, front: &str) -> String {
        let (_, rest) = self.html.split_once(front).unwrap_or_else(|| panic!("no {front} in {}", self.html));
        rest.split(|letter: char| !(letter.is_ascii_alphanumeric() || "-_".contains(letter))).next().expect("a token").to_owned()
    }
}

/// Returns a header field on one line.
fn field(message: &Message<'_>, name: &str) -> String {
    let raw = message.header_raw(name).unwrap_or_else(|| panic!("there is no {name}"));
    raw.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn within(text: &str, from: char, to: char) -> String {
    let inner = text.split_once(from).and_then(|(_, rest)| rest.split_once(to));
    inner.unwrap_or_else(|| panic!("no {from}…{to} in {text}")).0.to_owned()
}
