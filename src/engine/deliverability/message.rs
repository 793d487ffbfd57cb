//! Reads an email for the deliverability check: its visible text, links, images and hidden text, each with its position in the source.
//!
//! Reading takes linear time and keeps a bounded part of the input. Only inline styles and presentation attributes are applied, not style
//! sheets: text that only a style sheet hides is treated as visible.

use super::html::{Scanner, Tag, TokenKind};
use super::style::{Concealment, TextStyle};
use super::{bounded, references};

/// The input of the check: the fields of `POST /v1/emails/validate/deliverability`.
#[derive(Clone, Copy, Debug, Default)]
pub struct Input<'a> {
    pub html: &'a str,
    pub subject: Option<&'a str>,
    pub from_name: Option<&'a str>,
    pub from_email: Option<&'a str>,
    /// The sender's postal address, if known.
    pub postal_address: Option<&'a str>,
}

/// The maximum size of the text that the check reads. Long newsletters contain about 30,000 bytes of text.
const TEXT_BYTES_MAX: usize = 256 * 1024;
/// The maximum number of items of each kind that the check keeps: links, images, hidden passages and suspicious pieces of markup.
/// Additional items are ignored.
const ITEMS_MAX: usize = 2_000;
/// The maximum nesting depth of elements whose styles are tracked. Layouts with nested tables reach about 80 levels.
const DEPTH_MAX: usize = 256;
/// The maximum number of innermost open elements to search for the element that an end tag closes. End tags of a table's structure are
/// exempt. Without a limit, a million end tags would take seconds.
const END_TAG_LEVELS_MAX: usize = 64;
/// The maximum length of hidden text at the start of an email that counts as its preheader.
const PREHEADER_CHARACTERS_MAX: usize = 300;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Word {
    /// The byte position of the word's start in [`Message::text`].
    pub start: usize,
    pub end: usize,
    pub folded: String,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Link {
    pub address: String,
    pub text: String,
    pub has_image: bool,
    /// The position of the tag in the source.
    pub at: usize,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Image {
    pub source: String,
    pub alternative_text: Option<String>,
    pub width: Option<u32>,
    pub height: Option<u32>,
    pub in_link: bool,
    pub at: usize,
}

impl Image {
    /// Returns whether the image is too small to see: a spacer, or a pixel that counts opens.
    pub fn is_invisible(&self) -> bool {
        self.width.is_some_and(|width| width <= 3) || self.height.is_some_and(|height| height <= 3)
    }
}

/// A passage that recipients do not see.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hidden {
    pub how: Concealment,
    pub text: String,
    pub at: usize,
    /// Whether the passage is short and precedes all visible text, as preheaders do.
    pub is_preheader: bool,
}

/// A suspicious piece of markup.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Markup {
    Script,
    Form,
    Frame,
    Refresh,
    ExternalStyle,
    EventHandler,
    EmbeddedImage,
    Animation,
    ImageMap,
    UnknownTag,
    /// A comment or an unknown tag within a word.
    SplitWord,
    /// A character reference for a plain letter.
    EncodedLetter,
    /// An invisible character within a word.
    InvisibleCharacter,
}

#[derive(Clone, Debug, Default)]
pub struct Message {
    pub subject: Option<String>,
    pub from_name: Option<String>,
    pub from_email: Option<String>,
    pub postal_address: Option<String>,
    pub text: String,
    pub words: Vec<Word>,
    pub subject_words: Vec<Word>,
    pub links: Vec<Link>,
    pub images: Vec<Image>,
    pub hidden: Vec<Hidden>,
    pub markup: Vec<(Markup, usize)>,
    pub html_bytes: usize,
    pub table_count: usize,
    pub heading_count: usize,
    /// For each run of text that is contiguous in the source, its start in [`Message::text`] and its start in the source.
    runs: Vec<(usize, usize)>,
}

impl Message {
    pub fn of(input: &Input<'_>) -> Self {
        let mut reader = Reader { message: Self { html_bytes: input.html.len(), ..Self::default() }, ..Reader::default() };
        for piece in Scanner::new(input.html) {
            reader.piece(input.html, piece);
        }
        reader.flush_link();
        let mut message = reader.message;
        message.words = words(&message.text);
        let line = |text: &str| bounded(text, 1_000).split_whitespace().collect::<Vec<_>>().join(" ");
        message.subject = input.subject.map(line);
        message.from_name = input.from_name.map(line);
        message.from_email = input.from_email.map(line);
        message.postal_address = input.postal_address.map(line);
        message.subject_words = words(message.subject.as_deref().unwrap_or_default());
        message
    }

    /// Converts a position in the visible text to a position in the source.
    pub fn source_position(&self, text_position: usize) -> usize {
        let run = self.runs.partition_point(|(text, _)| *text <= text_position);
        let Some((text, source)) = run.checked_sub(1).and_then(|run| self.runs.get(run)) else { return 0 };
        source + (text_position - text)
    }

    /// Returns the number of letters in the visible text.
    pub fn letter_count(&self) -> usize {
        self.words.iter().map(|word| word.folded.chars().filter(|c| c.is_alphabetic()).count()).sum()
    }
}

/// The maximum length of a word in bytes. Longer words are truncated.
const WORD_BYTES_MAX: usize = 60;

/// Splits text into words, which consist of letters, digits, and a few other characters, such as apostrophes and currency signs.
pub fn words(text: &str) -> Vec<Word> {
    let mut words = Vec::new();
    let mut start = None;
    let ends = text.char_indices().map(|(at, c)| (at, Some(c))).chain(std::iter::once((text.len(), None)));
    for (at, character) in ends {
        let belongs = character
            .is_some_and(|c| c.is_alphanumeric() || matches!(c, '\'' | '’' | '$' | '€' | '£' | '%' | '@') || is_invisible(c));
        match (belongs, start) {
            (true, None) => start = Some(at),
            (false, Some(from)) => {
                start = None;
                let found = text.get(from..at).unwrap_or_default();
                let folded: String =
                    bounded(found, WORD_BYTES_MAX).chars().filter(|c| !is_invisible(*c)).flat_map(char::to_lowercase).collect();
                let folded = folded.replace('’', "'");
                let trimmed = folded.trim_matches('\'');
                if !trimmed.is_empty() {
                    words.push(Word { start: from, end: at, folded: trimmed.to_owned() });
                }
            }
            _ => {}
        }
    }
    words
}

/// Returns whether a character has no width, such as the soft hyphen.
pub fn is_invisible(character: char) -> bool {
    matches!(character, '\u{AD}' | '\u{34F}' | '\u{200B}'..='\u{200F}' | '\u{2060}'..='\u{2064}' | '\u{FEFF}')
}

/// Elements that do not start a new line.
const INLINE: [&str; 27] = [
    "a", "abbr", "acronym", "b", "bdi", "bdo", "big", "cite", "code", "em", "font", "i", "img", "ins", "kbd", "label", "mark",
    "nobr", "s", "small", "span", "strike", "strong", "sub", "sup", "tt", "u",
];
/// Void elements, which have no content and no end tag.
const VOID: [&str; 14] =
    ["area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "param", "source", "track", "wbr"];
/// Other HTML elements that emails use. Elements in none of these lists are unknown. Spam uses unknown tags to split words.
const KNOWN: [&str; 68] = [
    "address",
    "applet",
    "article",
    "aside",
    "audio",
    "basefont",
    "bgsound",
    "blink",
    "blockquote",
    "body",
    "button",
    "canvas",
    "caption",
    "center",
    "colgroup",
    "dd",
    "del",
    "details",
    "dfn",
    "dialog",
    "dir",
    "div",
    "dl",
    "dt",
    "fieldset",
    "figcaption",
    "figure",
    "footer",
    "form",
    "frame",
    "frameset",
    "h1",
    "h2",
    "h3",
    "h4",
    "h5",
    "h6",
    "head",
    "header",
    "html",
    "iframe",
    "legend",
    "li",
    "main",
    "map",
    "marquee",
    "nav",
    "noscript",
    "object",
    "ol",
    "optgroup",
    "option",
    "p",
    "picture",
    "pre",
    "q",
    "samp",
    "script",
    "section",
    "select",
    "style",
    "summary",
    "svg",
    "table",
    "textarea",
    "title",
    "ul",
    "video",
];
const TABLE_PARTS: [&str; 7] = ["tbody", "td", "tfoot", "th", "thead", "tr", "var"];

fn is_known(name: &str) -> bool {
    let lists: [&[&str]; 4] = [&INLINE, &VOID, &KNOWN, &TABLE_PARTS];
    // Names with a colon or a hyphen belong to Word or are custom elements.
    name.contains([':', '-'])
        || lists.iter().any(|list| list.contains(&name))
        || matches!(name, "time" | "template" | "path" | "g")
}

#[derive(Default)]
struct Reader {
    message: Message,
    open: Vec<(String, TextStyle)>,
    link: Option<Link>,
    /// The position of a comment or an unknown tag directly after a letter. The comment or tag splits a word if a letter follows.
    splits_at: Option<usize>,
    has_visible_text: bool,
}

impl Reader {
    fn piece(&mut self, source: &str, piece: super::html::Token<'_>) {
        match piece.kind {
            TokenKind::Text => self.text(source.get(piece.start..piece.end).unwrap_or_default(), piece.start),
            TokenKind::RawText => {}
            TokenKind::Comment => self.note_split(piece.start),
            TokenKind::Open(tag) => self.open(tag, piece.start),
            TokenKind::Close(name) => self.close(&name.to_ascii_lowercase()),
        }
    }

    fn note(&mut self, markup: Markup, at: usize) {
        if self.message.markup.len() < ITEMS_MAX {
            self.message.markup.push((markup, at));
        }
    }

    fn note_split(&mut self, at: usize) {
        if self.message.text.chars().next_back().is_some_and(char::is_alphabetic) {
            self.splits_at = Some(at);
        }
    }

    fn style(&self) -> TextStyle {
        self.open.last().map(|(_, style)| *style).unwrap_or_default()
    }

    fn text(&mut self, source: &str, at: usize) {
        let style = self.style();
        if style.is_ignored {
            return;
        }
        if let Some(how) = style.concealment() {
            self.hidden(how, source, at);
            return;
        }
        if let Some(split) = self.splits_at.take()
            && source.chars().next().is_some_and(char::is_alphabetic)
        {
            self.note(Markup::SplitWord, split);
        }
        let mut previous = None;
        for (offset, decoded) in references::decode(source) {
            if self.message.text.len() >= TEXT_BYTES_MAX {
                return;
            }
            self.character(decoded, at + offset, previous);
            previous = Some(decoded.character);
        }
    }

    fn character(&mut self, decoded: references::Decoded, at: usize, previous: Option<char>) {
        let character = decoded.character;
        if decoded.is_reference && character.is_ascii_alphabetic() {
            self.note(Markup::EncodedLetter, at);
        }
        if is_invisible(character) && previous.is_some_and(char::is_alphabetic) && character != '\u{AD}' {
            self.note(Markup::InvisibleCharacter, at);
        }
        let text = &mut self.message.text;
        if character.is_whitespace() {
            if text.chars().next_back().is_some_and(|last| !last.is_whitespace()) {
                text.push(' ');
            }
        } else {
            let expected = self.message.runs.last().map(|(start, source)| source + (text.len() - start));
            if expected != Some(at) {
                self.message.runs.push((text.len(), at));
            }
            text.push(character);
            self.has_visible_text |= !is_invisible(character);
        }
        if let Some(link) = &mut self.link
            && link.text.len() < 500
        {
            link.text.push(if character.is_whitespace() { ' ' } else { character });
        }
    }

    fn hidden(&mut self, how: Concealment, source: &str, at: usize) {
        let text: String = references::decode(bounded(source, 4_096))
            .map(|(_, decoded)| decoded.character)
            .filter(|c| !is_invisible(*c))
            .collect::<String>()
            .split_whitespace()
            .collect::<Vec<_>>()
            .join(" ");
        if text.chars().any(char::is_alphanumeric) && self.message.hidden.len() < ITEMS_MAX {
            let is_preheader = !self.has_visible_text && text.chars().count() <= PREHEADER_CHARACTERS_MAX;
            self.message.hidden.push(Hidden { how, text, at, is_preheader });
        }
    }

    fn open(&mut self, tag: Tag<'_>, at: usize) {
        let name = tag.name.to_ascii_lowercase();
        if INLINE.contains(&name.as_str()) {
            self.splits_at = None;
        } else if is_known(&name) || name == "br" {
            self.splits_at = None;
            self.end_line();
        } else {
            self.note(Markup::UnknownTag, at);
            self.note_split(at);
        }
        let mut style = self.style().inherit(&name);
        let attributes: Vec<_> = tag.attributes().collect();
        for attribute in &attributes {
            style.apply(&attribute.name.to_ascii_lowercase(), attribute.value);
            if attribute.name.len() > 3 && attribute.name.get(..2).is_some_and(|prefix| prefix.eq_ignore_ascii_case("on")) {
                self.note(Markup::EventHandler, at);
            }
        }
        let value = |name: &str| {
            attributes
                .iter()
                .find(|one| one.name.eq_ignore_ascii_case(name))
                .map(|one| references::text(bounded(one.value, 2_100)))
        };
        self.element(&name, at, style, &value);
        let is_void = VOID.contains(&name.as_str()) || tag.closes_itself;
        if !is_void && self.open.len() < DEPTH_MAX {
            self.open.push((name, style));
        }
    }

    fn element(&mut self, name: &str, at: usize, style: TextStyle, value: &dyn Fn(&str) -> Option<String>) {
        match name {
            "a" => {
                self.flush_link();
                if let Some(address) = value("href") {
                    self.link = Some(Link { address: address.trim().to_owned(), at, ..Link::default() });
                }
            }
            "area" => {
                self.note(Markup::ImageMap, at);
                let link = Link { address: value("href").unwrap_or_default(), has_image: true, at, ..Link::default() };
                self.push_link(link);
            }
            "img" if style.concealment() != Some(Concealment::NotDisplayed) => self.image(at, value),
            "script" => self.note(Markup::Script, at),
            "form" => self.note(Markup::Form, at),
            "iframe" | "frame" | "object" | "embed" | "applet" => self.note(Markup::Frame, at),
            "marquee" | "blink" | "bgsound" | "audio" => self.note(Markup::Animation, at),
            "table" => self.message.table_count += 1,
            "h1" | "h2" | "h3" => self.message.heading_count += 1,
            "meta" if value("http-equiv").is_some_and(|name| name.eq_ignore_ascii_case("refresh")) => {
                self.note(Markup::Refresh, at)
            }
            // Style sheets that only load a font are common, and email clients ignore them, so they are not suspicious.
            "link"
                if value("rel").is_some_and(|rel| rel.eq_ignore_ascii_case("stylesheet"))
                    && !value("href").is_some_and(|address| address.contains("font")) =>
            {
                self.note(Markup::ExternalStyle, at);
            }
            _ => {}
        }
    }

    fn image(&mut self, at: usize, value: &dyn Fn(&str) -> Option<String>) {
        let source = value("src").unwrap_or_default();
        if source.starts_with("data:") {
            self.note(Markup::EmbeddedImage, at);
        }
        let pixels = |name| value(name).and_then(|value| value.trim().trim_end_matches("px").parse().ok());
        let image = Image {
            source,
            alternative_text: value("alt"),
            width: pixels("width"),
            height: pixels("height"),
            in_link: self.link.is_some(),
            at,
        };
        if let Some(link) = &mut self.link {
            link.has_image = true;
        }
        if self.message.images.len() < ITEMS_MAX {
            self.message.images.push(image);
        }
    }

    fn push_link(&mut self, link: Link) {
        if self.message.links.len() < ITEMS_MAX {
            self.message.links.push(link);
        }
    }

    fn flush_link(&mut self) {
        if let Some(mut link) = self.link.take() {
            link.text = link.text.split_whitespace().collect::<Vec<_>>().join(" ");
            self.push_link(link);
        }
    }

    fn end_line(&mut self) {
        let text = &mut self.message.text;
        if text.len() < TEXT_BYTES_MAX && !text.is_empty() && !text.ends_with('\n') {
            text.push('\n');
        }
    }

    fn close(&mut self, name: &str) {
        if name == "a" {
            self.flush_link();
        }
        if !INLINE.contains(&name) && is_known(name) {
            self.end_line();
        }
        // As in browsers, an end tag inside a table cell does not close an element outside the cell.
        let in_cell = !matches!(name, "td" | "th" | "tr" | "tbody" | "thead" | "tfoot" | "table" | "body" | "html");
        let levels = if in_cell { END_TAG_LEVELS_MAX } else { DEPTH_MAX };
        for depth in (0..self.open.len()).rev().take(levels) {
            let Some((open, _)) = self.open.get(depth) else { return };
            if open == name {
                self.open.truncate(depth);
                return;
            }
            if in_cell && matches!(open.as_str(), "td" | "th" | "table") {
                return;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message(html: &str) -> Message {
        Message::of(&Input { html, ..Input::default() })
    }

    #[test]
    fn visible_text_links_and_images_are_read() {
        let found = message(
            "<title>x</title><p>Hello&nbsp;<b>you</b></p><a href='https://a.example/?a=1&amp;b=2'>Shop <img alt=Shoe src=a.png></a>",
        );
        assert_eq!(found.text, "Hello you\nShop ");
        assert_eq!((found.links[0].address.as_str(), found.links[0].text.as_str()), ("https://a.example/?a=1&b=2", "Shop"));
        assert!(found.images[0].in_link && found.links[0].has_image);
        assert_eq!(found.images[0].alternative_text.as_deref(), Some("Shoe"));
    }

    #[test]
    fn hidden_text_is_found_and_a_preheader_is_marked() {
        let found = message(
            "<div style='display:none'>Preview</div><p>Visible</p><p style='font-size:1px'>tiny</p><table bgcolor=white><tr><td>\
            <font color='#fefefe'>pale</font></td></tr></table><div style='position:absolute;left:-9999px'>far</div>",
        );
        let hidden: Vec<_> = found.hidden.iter().map(|one| (one.how, one.text.as_str(), one.is_preheader)).collect();
        assert_eq!(
            hidden,
            [
                (Concealment::NotDisplayed, "Preview", true),
                (Concealment::Tiny, "tiny", false),
                (Concealment::LowContrast, "pale", false),
                (Concealment::OffScreen, "far", false)
            ]
        );
        assert_eq!(found.text.trim(), "Visible");
    }

    #[test]
    fn a_position_in_the_text_has_a_position_in_the_source() {
        let source = "<p>a &amp; b</p>\n<p>caf&eacute; noir</p>";
        let found = message(source);
        let noir = found.text.find("noir").expect("the word");
        assert_eq!(&source[found.source_position(noir)..][..4], "noir");
    }

    #[test]
    fn split_words_and_encoded_letters_are_noted() {
        let kinds: Vec<_> =
            message("vi<!-- x -->agra fr<xyz>ee &#109;&#111;ney z\u{200B}ero").markup.iter().map(|(kind, _)| *kind).collect();
        assert_eq!(
            kinds,
            [
                Markup::SplitWord,
                Markup::UnknownTag,
                Markup::SplitWord,
                Markup::EncodedLetter,
                Markup::EncodedLetter,
                Markup::InvisibleCharacter
            ]
        );
    }
}
