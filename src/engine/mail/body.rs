//! Message bodies, encoded in quoted-printable.
//!
//! A campaign sends one template to many recipients, so the literals that all messages share are encoded only once. Each literal, and each
//! value between two literals, starts at the beginning of a line and ends with a line break: its own, or a soft one, which decoding
//! removes. The soft break at the end of the body is left out.

use std::borrow::Cow;

use mail_builder::encoders::QuotedPrintableEncoder;

use crate::engine::render::merge::{Fields, MergeError, Sink, Template};

/// A line break that decoding removes.
const SOFT_BREAK: &[u8] = b"=\r\n";

/// Text encoded in quoted-printable.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Encoded(Vec<u8>);

impl Encoded {
    pub fn new(text: &str) -> Self {
        let mut encoded = Vec::with_capacity(text.len() + text.len() / 16);
        let is_soft = encode(text, &mut encoded);
        Self(without_end(encoded, is_soft))
    }

    /// Returns the encoded bytes, in lines of at most 76 ASCII characters.
    pub fn as_bytes(&self) -> &[u8] {
        &self.0
    }
}

/// A template whose literals are already encoded.
#[derive(Debug)]
pub struct Body {
    template: Template,
    literals: Vec<Literal>,
    /// The approximate length of a filled body, in bytes.
    bytes: usize,
}

#[derive(Debug)]
struct Literal {
    encoded: Vec<u8>,
    is_soft: bool,
}

impl Body {
    /// Encodes the literals of the template, which all recipients share.
    pub fn new(template: Template) -> Self {
        let literal = |text: &String| {
            let mut encoded = Vec::new();
            let is_soft = encode(text, &mut encoded);
            Literal { encoded, is_soft }
        };
        let literals: Vec<Literal> = template.literals().iter().map(literal).collect();
        let bytes = literals.iter().map(|literal| literal.encoded.len() + 48).sum();
        Self { template, literals, bytes }
    }

    pub fn template(&self) -> &Template {
        &self.template
    }

    /// Fills in and encodes the body for one recipient.
    pub fn fill(&self, fields: &dyn Fields) -> Result<Encoded, MergeError> {
        let mut filling = Filling { literals: &self.literals, encoded: Vec::with_capacity(self.bytes), is_soft: false };
        self.template.render_into(fields, &mut filling)?;
        Ok(Encoded(without_end(filling.encoded, filling.is_soft)))
    }
}

struct Filling<'a> {
    literals: &'a [Literal],
    encoded: Vec<u8>,
    is_soft: bool,
}

impl Sink for Filling<'_> {
    fn literal(&mut self, number: usize, _: &str) {
        let literal = &self.literals[number];
        if !literal.encoded.is_empty() {
            self.encoded.extend_from_slice(&literal.encoded);
            self.is_soft = literal.is_soft;
        }
    }

    fn value(&mut self, text: &str) {
        if !text.is_empty() {
            self.is_soft = encode(text, &mut self.encoded);
        }
    }
}

/// Appends the encoded text and, if it ends within a line, a soft line break. Returns whether that break was added.
fn encode(text: &str, into: &mut Vec<u8>) -> bool {
    let text = even(text);
    let column = QuotedPrintableEncoder::new().preserve_line_breaks().encode_into(text.as_bytes(), into);
    if column > 0 {
        into.extend_from_slice(SOFT_BREAK);
    }
    column > 0
}

/// Returns the text with LF line breaks, and without the control characters that a message must not contain.
fn even(text: &str) -> Cow<'_, str> {
    let is_control = |byte: u8| byte < b' ' && !matches!(byte, b'\n' | b'\t');
    if !text.bytes().any(is_control) {
        return Cow::Borrowed(text);
    }
    let mut text = text.replace("\r\n", "\n").replace('\r', "\n");
    text.retain(|c| !(c.is_ascii() && is_control(c as u8)));
    Cow::Owned(text)
}

/// Removes the soft line break at the end, if there is one.
fn without_end(mut encoded: Vec<u8>, is_soft: bool) -> Vec<u8> {
    if is_soft {
        encoded.truncate(encoded.len() - SOFT_BREAK.len());
    }
    encoded
}

#[cfg(test)]
mod tests {
    use mail_parser::decoders::quoted_printable::quoted_printable_decode;
    use proptest::prelude::*;
    use serde_json::{Map, Value};

    use super::*;
    use crate::engine::render::merge::OutputKind;

    fn decoded(encoded: &Encoded) -> String {
        let bytes = quoted_printable_decode(encoded.as_bytes()).expect("the body can be decoded");
        String::from_utf8(bytes).expect("the body is UTF-8").replace("\r\n", "\n")
    }

    fn assert_travels(encoded: &Encoded) {
        let text = std::str::from_utf8(encoded.as_bytes()).expect("the body is ASCII");
        let right = |line: &str| {
            line.len() <= 76 && !line.ends_with([' ', '\t']) && line.bytes().all(|byte| matches!(byte, b'\t' | b' '..=b'~'))
        };
        assert!(text.split("\r\n").all(right), "{text:?}");
    }

    #[test]
    fn texts_are_encoded_and_decoded() {
        let long = "word ".repeat(400) + &"x".repeat(3_000);
        for text in ["", "a", "a\n", "\n\na", "Grüße, 世界 🎉", "a = b", "ends in space ", "tab\t\nnext", ".dot\n..\n", &long]
        {
            let encoded = Encoded::new(text);
            assert_travels(&encoded);
            assert_eq!(decoded(&encoded), text);
        }
        assert_eq!(decoded(&Encoded::new("a\r\nb\rc\u{0}d\u{b}")), "a\nb\ncd");
    }

    proptest! {
        #[test]
        fn a_filled_body_is_the_rendered_template(
            parts in prop::collection::vec(("[a-z=é \n\t\\.]{0,90}", "\\PC{0,60}|[ \n\r.]{0,9}"), 0..6),
        ) {
            let mut source = String::new();
            let mut fields = Map::new();
            for (number, (literal, value)) in parts.iter().enumerate() {
                source.push_str(literal);
                source.push_str(&format!("{{{{ f{number} }}}}"));
                fields.insert(format!("f{number}"), Value::from(value.as_str()));
            }
            let template = Template::compile(&source, OutputKind::Text).expect("the template is valid");
            let encoded = Body::new(template).fill(&fields).expect("every field has a value");
            assert_travels(&encoded);
            let expected: String = parts.iter().flat_map(|(literal, value)| [even(literal), even(value)]).collect();
            prop_assert_eq!(decoded(&encoded), expected);
        }
    }
}
