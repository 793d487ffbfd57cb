//! Text of limited length, functions for text, and colors. The types reject control characters, except tabs and line ends in [`LongText`].
//!
//! Lengths are counted in characters, as in the API documentation.

use std::borrow::Cow;
use std::fmt;
use std::ops::Deref;
use std::str::FromStr;

use icu_normalizer::ComposingNormalizerBorrowed;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::serde_str;

/// One line of 0 to `MAX` characters, without leading or trailing spaces.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ShortText<const MAX: usize>(Box<str>);

/// One line of 1 to `MAX` characters, without leading or trailing spaces.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Name<const MAX: usize>(ShortText<MAX>);

/// The schema pattern of a [`LongText`] that must not be empty.
pub const SOME_TEXT: &str =
    r"^[^\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]*[^\s\x00-\x1f\x7f-\x9f][^\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]*$";

/// The schema pattern of text that contains at least one character other than a space.
pub const NOT_BLANK: &str = r"^[\s\S]*[^\s\uFEFF][\s\S]*$";

/// Text of at most `MAX` characters on any number of lines, without leading or trailing spaces.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct LongText<const MAX: usize>(Box<str>);

impl<const MAX: usize> ShortText<MAX> {
    /// Validates a line of text. Surrounding spaces are removed.
    pub fn parse(given: &str) -> Result<Self, TextError> {
        let text = given.trim();
        check(text, MAX, char::is_control)?;
        Ok(Self(text.into()))
    }

    pub fn into_string(self) -> String {
        self.0.into_string()
    }
}

impl<const MAX: usize> Name<MAX> {
    /// Validates a name. Surrounding spaces are removed.
    pub fn parse(given: &str) -> Result<Self, TextError> {
        let text = ShortText::parse(given)?;
        if text.is_empty() { Err(TextError::Empty) } else { Ok(Self(text)) }
    }

    /// Returns the name in a form for comparisons: see [`fold`].
    pub fn folded(&self) -> String {
        fold(self)
    }
}

impl<const MAX: usize> LongText<MAX> {
    /// Validates multiline text. Surrounding spaces are removed; each line end is converted to a line feed.
    pub fn parse(given: &str) -> Result<Self, TextError> {
        let text = given.trim();
        let has_other_ends = text.contains('\r');
        let text = if has_other_ends { Cow::Owned(text.replace("\r\n", "\n").replace('\r', "\n")) } else { Cow::Borrowed(text) };
        check(&text, MAX, |character| character.is_control() && !matches!(character, '\n' | '\t'))?;
        Ok(Self(text.into()))
    }
}

fn check(text: &str, characters_max: usize, forbidden: fn(char) -> bool) -> Result<(), TextError> {
    // A string has at most as many characters as bytes, so for most strings the length in bytes shows that they are short enough.
    if text.len() > characters_max && text.chars().count() > characters_max {
        return Err(TextError::TooLong { characters_max });
    }
    match text.chars().find(|&character| forbidden(character)) {
        Some(character) => Err(TextError::ControlCharacter(character)),
        None => Ok(()),
    }
}

/// Returns the text in lowercase and in one Unicode form (NFC), so that spellings that differ only in case or composition are equal.
pub fn fold(text: &str) -> String {
    if text.is_ascii() {
        return text.to_ascii_lowercase();
    }
    // The final sigma and the other sigma are the same letter: both have the same uppercase form.
    let final_sigma = |character| if character == 'ς' { 'σ' } else { character };
    let lowered: String = text.chars().flat_map(char::to_lowercase).map(final_sigma).collect();
    ComposingNormalizerBorrowed::new_nfc().normalize(&lowered).into_owned()
}

/// Appends a character to `out`, without the accent if it is a lowercase letter of a Western European language, because people often omit
/// accents: `é` becomes `e`, and `ß` becomes `ss`. A typographic apostrophe becomes the ASCII apostrophe. Most other characters stay as
/// they are.
pub fn push_without_accent(c: char, out: &mut String) {
    match c {
        'à' | 'á' | 'â' | 'ã' | 'ä' | 'å' => out.push('a'),
        'ç' => out.push('c'),
        'è' | 'é' | 'ê' | 'ë' => out.push('e'),
        'ì' | 'í' | 'î' | 'ï' => out.push('i'),
        'ñ' => out.push('n'),
        'ò' | 'ó' | 'ô' | 'õ' | 'ö' | 'ø' => out.push('o'),
        'ù' | 'ú' | 'û' | 'ü' => out.push('u'),
        'ý' | 'ÿ' => out.push('y'),
        'ß' => out.push_str("ss"),
        'œ' => out.push_str("oe"),
        'æ' => out.push_str("ae"),
        '’' | '‘' | 'ʼ' => out.push('\''),
        // Removes the combining dot in the lowercase form of `İ`.
        '\u{307}' => {}
        other => out.push(other),
    }
}

/// Returns the text with its first letter capitalized.
pub fn capitalized(text: &str) -> String {
    let mut letters = text.chars();
    match letters.next() {
        // A word such as "iOS" keeps its case.
        Some(first) if first.is_lowercase() && !letters.clone().next().is_some_and(char::is_uppercase) => {
            first.to_uppercase().chain(letters).collect()
        }
        _ => text.to_owned(),
    }
}

/// Returns whether the character is one of the common invisible characters, or reorders the characters around it. The joiners U+200C and
/// U+200D are excluded, because some scripts need them.
pub fn is_invisible(character: char) -> bool {
    matches!(character, '\u{ad}' | '\u{200b}' | '\u{200e}'..='\u{200f}' | '\u{2028}'..='\u{202e}')
        || matches!(character, '\u{2060}'..='\u{206f}' | '\u{feff}')
}

/// Escapes text for the content of an HTML element. Quotation marks stay as they are, so the result is not safe in attributes.
pub fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

/// Returns the text as one line: line breaks and other control characters are replaced with spaces.
pub fn one_line(text: &str) -> Cow<'_, str> {
    let breaks = |character: char| character.is_control() || matches!(character, '\u{2028}' | '\u{2029}');
    if text.contains(breaks) { Cow::Owned(text.replace(breaks, " ")) } else { Cow::Borrowed(text) }
}

/// Converts a Markdown note to plain text: removes backticks and the URLs of links.
pub fn without_markdown(note: &str) -> String {
    let mut out = String::new();
    let mut rest = note;
    while let Some((before, after)) = rest.split_once('[') {
        out.push_str(before);
        rest = after;
        if let Some((text, target)) = after.split_once("](")
            && let Some((_, end)) = target.split_once(')')
        {
            out.push_str(text);
            rest = end;
        } else {
            out.push('[');
        }
    }
    (out + rest).replace('`', "")
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TextError {
    Empty,
    TooLong { characters_max: usize },
    ControlCharacter(char),
}

impl fmt::Display for TextError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Empty => f.write_str("The text is empty; enter at least one character that is not a space."),
            Self::TooLong { characters_max } => write!(f, "The text is longer than {characters_max} characters; shorten it."),
            Self::ControlCharacter(character) => {
                write!(f, "The text contains the control character U+{:04X}; remove it.", u32::from(*character))
            }
        }
    }
}

impl std::error::Error for TextError {}

impl<const MAX: usize> Deref for ShortText<MAX> {
    type Target = str;

    fn deref(&self) -> &str {
        &self.0
    }
}

impl<const MAX: usize> Deref for Name<MAX> {
    type Target = str;

    fn deref(&self) -> &str {
        &self.0
    }
}

impl<const MAX: usize> Deref for LongText<MAX> {
    type Target = str;

    fn deref(&self) -> &str {
        &self.0
    }
}

impl<const MAX: usize> FromStr for ShortText<MAX> {
    type Err = TextError;

    fn from_str(given: &str) -> Result<Self, TextError> {
        Self::parse(given)
    }
}

impl<const MAX: usize> FromStr for Name<MAX> {
    type Err = TextError;

    fn from_str(given: &str) -> Result<Self, TextError> {
        Self::parse(given)
    }
}

impl<const MAX: usize> FromStr for LongText<MAX> {
    type Err = TextError;

    fn from_str(given: &str) -> Result<Self, TextError> {
        Self::parse(given)
    }
}

impl<const MAX: usize> Serialize for ShortText<MAX> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self)
    }
}

impl<const MAX: usize> Serialize for Name<MAX> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self)
    }
}

impl<const MAX: usize> Serialize for LongText<MAX> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self)
    }
}

impl<'de, const MAX: usize> Deserialize<'de> for ShortText<MAX> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        serde_str::deserialize(deserializer, "text")
    }
}

impl<'de, const MAX: usize> Deserialize<'de> for Name<MAX> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        serde_str::deserialize(deserializer, "text")
    }
}

impl<'de, const MAX: usize> Deserialize<'de> for LongText<MAX> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        serde_str::deserialize(deserializer, "text")
    }
}

impl<const MAX: usize> JsonSchema for ShortText<MAX> {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        format!("ShortText{MAX}").into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "string", "maxLength": MAX, "pattern": "^[^\\x00-\\x1f\\x7f-\\x9f]*$" })
    }
}

impl<const MAX: usize> JsonSchema for Name<MAX> {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        format!("Name{MAX}").into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        // The pattern allows no control characters and requires a character other than a space.
        let pattern = r"^[^\x00-\x1f\x7f-\x9f]*[^\s\x00-\x1f\x7f-\x9f][^\x00-\x1f\x7f-\x9f]*$";
        json_schema!({ "type": "string", "minLength": 1, "maxLength": MAX, "pattern": pattern })
    }
}

impl<const MAX: usize> JsonSchema for LongText<MAX> {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        format!("LongText{MAX}").into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        // Line ends and tabs are the only control characters allowed.
        let pattern = r"^[^\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]*$";
        json_schema!({ "type": "string", "maxLength": MAX, "pattern": pattern })
    }
}

/// A color, written as `#RRGGBB`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Color {
    pub red: u8,
    pub green: u8,
    pub blue: u8,
}

/// The error for text that is not a color.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ColorError;

impl fmt::Display for ColorError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("The color is not in the form #RRGGBB; use # and six hexadecimal digits, like #1A73E8.")
    }
}

impl std::error::Error for ColorError {}

impl FromStr for Color {
    type Err = ColorError;

    fn from_str(given: &str) -> Result<Self, ColorError> {
        let digits = given.trim().strip_prefix('#').ok_or(ColorError)?;
        let bytes = data_encoding::HEXLOWER_PERMISSIVE.decode(digits.as_bytes()).map_err(|_| ColorError)?;
        let [red, green, blue] = bytes.try_into().map_err(|_| ColorError)?;
        Ok(Self { red, green, blue })
    }
}

impl fmt::Display for Color {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "#{:02X}{:02X}{:02X}", self.red, self.green, self.blue)
    }
}

impl Serialize for Color {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Color {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        serde_str::deserialize(deserializer, "a color, like #1A73E8")
    }
}

impl JsonSchema for Color {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "Color".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "string", "pattern": "^#[0-9a-fA-F]{6}$" })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn notes_are_plain_text_without_the_targets_of_links() {
        assert_eq!(without_markdown("See [buttons.cm](https://buttons.cm/) and [b](c)."), "See buttons.cm and b.");
        assert_eq!(without_markdown("an attribute [class~=x] only"), "an attribute [class~=x] only");
        assert_eq!(without_markdown("Not on nested `<table>` elements."), "Not on nested <table> elements.");
    }

    #[test]
    fn counts_characters_and_removes_surrounding_spaces() {
        assert_eq!(ShortText::<5>::parse("  ñandú ").as_deref(), Ok("ñandú"));
        assert_eq!(ShortText::<4>::parse("ñandú"), Err(TextError::TooLong { characters_max: 4 }));
    }

    #[test]
    fn rejects_control_characters_by_code_point() {
        for control in ['\0', '\u{1b}', '\u{7f}', '\u{85}', '\n'] {
            assert_eq!(ShortText::<9>::parse(&format!("a{control}b")), Err(TextError::ControlCharacter(control)));
        }
        let sentence = ShortText::<9>::parse("a\0b").expect_err("a control character is rejected").to_string();
        assert_eq!(sentence, "The text contains the control character U+0000; remove it.");
    }

    #[test]
    fn a_name_is_never_empty_but_a_text_may_be() {
        assert_eq!(Name::<9>::parse(" \t "), Err(TextError::Empty));
        assert_eq!(ShortText::<9>::parse(" ").as_deref(), Ok(""));
    }

    #[test]
    fn long_text_keeps_its_lines_and_no_other_control_character() {
        assert_eq!(LongText::<9>::parse("a\r\nb\tc").as_deref(), Ok("a\nb\tc"));
        assert_eq!(LongText::<9>::parse("a\rb").as_deref(), Ok("a\nb"));
        assert_eq!(LongText::<9>::parse("a\u{7f}b"), Err(TextError::ControlCharacter('\u{7f}')));
        assert_eq!(LongText::<2>::parse("a\nb"), Err(TextError::TooLong { characters_max: 2 }));
    }

    #[test]
    fn one_line_has_no_breaks() {
        assert_eq!(one_line("Björn 🎉"), "Björn 🎉");
        assert_eq!(one_line("a\r\nb\0c\u{85}d\u{2028}e\tf"), "a  b c d e f");
    }

    #[test]
    fn latin_letters_lose_their_accents() {
        let mut out = String::new();
        "crème brûlée l’œuf straße ж".chars().for_each(|c| push_without_accent(c, &mut out));
        assert_eq!(out, "creme brulee l'oeuf strasse ж");
    }

    #[test]
    fn markup_in_text_is_escaped() {
        assert_eq!(escaped("<b>a & \"b\"</b>"), "&lt;b&gt;a &amp; \"b\"&lt;/b&gt;");
    }

    #[test]
    fn folding_makes_spellings_of_one_name_equal() {
        assert_eq!(fold("CAFÉ"), fold("cafe\u{301}"));
        assert_eq!(fold("ΟΔΟΣ"), fold("οδος"));
        assert_eq!(fold("VIP"), "vip");
        assert_ne!(fold("cafe"), fold("café"));
    }

    #[test]
    fn schemas_match_the_validation() {
        let fits = |schema: Schema, text: &str| jsonschema::is_valid(schema.as_value(), &text.into());
        let mut generator = SchemaGenerator::default();
        for (text, name, short, long) in [
            ("a b", true, true, true),
            ("", false, true, true),
            (" ", false, true, true),
            ("a\u{85}b", false, false, false),
            ("a\r\nb\tc", false, false, true),
            ("six to.", true, true, true),
            ("too long", false, false, false),
        ] {
            assert_eq!(fits(Name::<7>::json_schema(&mut generator), text), name, "{text:?} as a name");
            assert_eq!(fits(ShortText::<7>::json_schema(&mut generator), text), short, "{text:?} as a line");
            assert_eq!(fits(LongText::<7>::json_schema(&mut generator), text), long, "{text:?} as a long text");
        }
    }

    #[test]
    fn colors_have_six_digits() {
        assert_eq!("#1a73E8".parse::<Color>().map(|color| color.to_string()), Ok("#1A73E8".to_owned()));
        for wrong in ["1A73E8", "#FFF", "#1A73E8F", "#1A73EG", "red", "#ééé", ""] {
            assert_eq!(wrong.parse::<Color>(), Err(ColorError), "{wrong}");
        }
    }
}
