//! Extracts from HTML the text that readers see: blocks in source order, each with its position in the source.
//!
//! A block is the text of a paragraph, a cell, a heading, a button, and so on. Inline tags do not split words: `<b>s</b>ale` is one word.
//! Text that CSS hides is included, because the preheader is hidden text that inboxes show. Comments are excluded, including the text that
//! only Outlook for Windows shows (`[if mso]`).

use super::html::{Scanner, Tag, TokenKind};

/// The character that replaces content that is not language, such as an image or code. Rules do not match across it.
pub(super) const OPAQUE: char = '\u{FFFC}';

/// The maximum number of nested elements that the scanner tracks because they set a language or are skipped.
const FRAMES_MAX: usize = 64;

/// The maximum length of the name of a character reference. The longest is `CounterClockwiseContourIntegral;`.
const REFERENCE_BYTES_MAX: usize = 34;

/// Where a block comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BlockKind {
    /// Text of the body.
    Text,
    /// The page title, which browsers show in the tab.
    Title,
    /// The alt text of an image.
    Alternative,
}

/// A block of text. White space is collapsed, and typographic apostrophes are `'`.
#[derive(Debug, Clone)]
pub struct Block {
    pub text: String,
    pub kind: BlockKind,
    /// The value of the nearest `lang` attribute.
    pub language: Option<String>,
    /// Whether a link is the last part of the block.
    pub ends_with_link: bool,
    /// The positions in `text` of the spaces that replace exactly two spaces and no other white space in the source.
    pub wide_spaces: Vec<usize>,
    /// Invariant: ascending by `text`, and the first run starts at 0.
    runs: Vec<Run>,
}

/// A part of a block that maps to a part of the source: byte by byte if the lengths are equal, and otherwise as a whole.
#[derive(Debug, Clone, Copy)]
struct Run {
    text: usize,
    text_length: usize,
    source: usize,
    source_length: usize,
}

impl Block {
    /// Returns the range in the source that contains the text from `start` to `end`.
    pub fn source_range(&self, start: usize, end: usize) -> (usize, usize) {
        let from = self.run_at(start).map_or(0, |run| match run.text_length == run.source_length {
            true => run.source + start.saturating_sub(run.text),
            false => run.source,
        });
        let to = self.run_at(end.saturating_sub(1)).map_or(from, |run| match run.text_length == run.source_length {
            true => run.source + end.saturating_sub(run.text),
            false => run.source + run.source_length,
        });
        (from, to.max(from))
    }

    fn run_at(&self, position: usize) -> Option<&Run> {
        let after = self.runs.partition_point(|run| run.text <= position);
        self.runs.get(after.checked_sub(1)?)
    }
}

/// Returns the blocks of an HTML document in source order.
pub fn html_blocks(source: &str) -> Vec<Block> {
    let mut reader = Reader { frames: Vec::new(), blocks: Vec::new(), open: Builder::default(), title: false };
    for piece in Scanner::new(source) {
        match piece.kind {
            TokenKind::Text => reader.text(source, piece.start, piece.end),
            TokenKind::RawText | TokenKind::Comment => {}
            TokenKind::Open(tag) => reader.open(tag, piece.start, piece.end),
            TokenKind::Close(name) => reader.close(name),
        }
    }
    reader.flush();
    reader.blocks
}

/// An open element that sets the language of its content, or whose content is skipped.
struct Frame {
    name: String,
    /// The number of open elements of the same name inside this element.
    nested: usize,
    skips: bool,
    language: Option<String>,
}

struct Reader {
    frames: Vec<Frame>,
    blocks: Vec<Block>,
    open: Builder,
    title: bool,
}

impl Reader {
    fn skips(&self) -> bool {
        self.frames.iter().any(|frame| frame.skips)
    }

    fn language(&self) -> Option<String> {
        self.frames.iter().rev().find_map(|frame| frame.language.clone())
    }

    fn flush(&mut self) {
        let kind = if self.title { BlockKind::Title } else { BlockKind::Text };
        let language = self.language();
        self.blocks.extend(self.open.finish(kind, language));
    }

    fn text(&mut self, source: &str, start: usize, end: usize) {
        if self.skips() {
            return;
        }
        let text = source.get(start..end).unwrap_or_default();
        let mut at = 0;
        while let Some(character) = text.get(at..).and_then(|rest| rest.chars().next()) {
            let (decoded, length) = match character {
                '&' => decode(text.get(at..).unwrap_or_default()),
                _ => (Decoded::one(character), character.len_utf8()),
            };
            for part in decoded.0.into_iter().filter(|part| *part != '\0') {
                self.open.push(part, start + at, length, false);
            }
            at += length;
        }
    }

    fn open(&mut self, tag: Tag<'_>, start: usize, end: usize) {
        let name = tag.name.to_ascii_lowercase();
        let mut skips = SKIPPED.contains(&name.as_str());
        let mut language = None;
        let mut breaks = BLOCKS.contains(&name.as_str());
        let mut alternative = None;
        for attribute in tag.attributes() {
            match attribute.name.to_ascii_lowercase().as_str() {
                "lang" if !attribute.value.trim().is_empty() => {
                    language = Some(attribute.value.trim().chars().take(35).collect())
                }
                "translate" if attribute.value.eq_ignore_ascii_case("no") => skips = true,
                "class" if attribute.value.split_ascii_whitespace().any(|class| class == "notranslate") => skips = true,
                "style" => breaks |= displays_as_block(attribute.value),
                "alt" if name == "img" || name == "area" => alternative = Some(attribute),
                _ => {}
            }
        }
        if breaks {
            self.flush();
        }
        self.title = name == "title" && !self.skips();
        match name.as_str() {
            "br" => self.open.push('\n', start, end - start, true),
            // Adjacent links are separate buttons or menu entries, so a line break separates their texts.
            "a" => self.open.link_opens(start),
            _ => {}
        }
        if !self.skips() && (skips || matches!(name.as_str(), "img" | "input" | "svg")) {
            self.open.push(OPAQUE, start, end - start, false);
        }
        if let Some(attribute) = alternative.filter(|_| !self.skips()) {
            let mut reader = Self { frames: Vec::new(), blocks: Vec::new(), open: Builder::default(), title: false };
            reader.text(attribute.value, 0, attribute.value.len());
            let inherited = language.clone().or_else(|| self.language());
            if let Some(mut block) = reader.open.finish(BlockKind::Alternative, inherited) {
                block.runs.iter_mut().for_each(|run| run.source += attribute.value_start);
                self.blocks.push(block);
            }
        }
        let void = tag.closes_itself && name != "svg" || VOID.contains(&name.as_str());
        if void {
            return;
        }
        if IMPLIED_END.contains(&name.as_str()) && self.frames.last().is_some_and(|frame| frame.name == name) {
            self.frames.pop();
        }
        for frame in self.frames.iter_mut().filter(|frame| frame.name == name) {
            frame.nested += 1;
        }
        if (skips || language.is_some()) && self.frames.len() < FRAMES_MAX {
            self.frames.push(Frame { name, nested: 0, skips, language });
        }
    }

    fn close(&mut self, name: &str) {
        let name = name.to_ascii_lowercase();
        if BLOCKS.contains(&name.as_str()) {
            self.flush();
        }
        match name.as_str() {
            "title" => self.title = false,
            "a" => self.open.link_closes(),
            _ => {}
        }
        let Some(at) = self.frames.iter().rposition(|frame| frame.name == name) else { return };
        let inner = self.frames.get(at).is_some_and(|frame| frame.nested > 0);
        if inner {
            self.frames
                .iter_mut()
                .filter(|frame| frame.name == name)
                .for_each(|frame| frame.nested = frame.nested.saturating_sub(1));
        } else {
            self.frames.truncate(at);
            self.frames
                .iter_mut()
                .filter(|frame| frame.name == name)
                .for_each(|frame| frame.nested = frame.nested.saturating_sub(1));
        }
    }
}

/// Elements whose content is not language.
const SKIPPED: [&str; 10] = ["code", "kbd", "samp", "var", "tt", "template", "svg", "math", "object", "textarea"];

const VOID: [&str; 14] =
    ["area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "param", "source", "track", "wbr"];

/// Elements that end where the next element of the same name starts.
const IMPLIED_END: [&str; 8] = ["p", "li", "td", "th", "tr", "option", "dt", "dd"];

const BLOCKS: [&str; 53] = [
    "address",
    "article",
    "aside",
    "blockquote",
    "body",
    "button",
    "caption",
    "center",
    "dd",
    "details",
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
    "h1",
    "h2",
    "h3",
    "h4",
    "h5",
    "h6",
    "head",
    "header",
    "hgroup",
    "hr",
    "html",
    "label",
    "legend",
    "li",
    "main",
    "menu",
    "nav",
    "ol",
    "optgroup",
    "option",
    "p",
    "pre",
    "search",
    "section",
    "select",
    "summary",
    "table",
    "td",
    "th",
    "title",
    "tr",
    "ul",
    "iframe",
];

/// Returns whether an inline style displays the element as a block.
fn displays_as_block(style: &str) -> bool {
    let style = style.to_ascii_lowercase();
    style.split(';').filter_map(|declaration| declaration.split_once(':')).any(|(property, value)| {
        property.trim() == "display" && ["block", "table", "flex", "grid", "list-item"].iter().any(|part| value.contains(part))
    })
}

/// The one or two characters of a character reference. If there is only one, the second is `'\0'`.
struct Decoded([char; 2]);

impl Decoded {
    fn one(character: char) -> Self {
        Self([character, '\0'])
    }
}

/// Decodes the character reference at the start of `text`. Returns the decoded characters, and the length of the reference in the source.
/// An "&" that starts no reference is literal.
fn decode(text: &str) -> (Decoded, usize) {
    numeric(text).or_else(|| named(text)).unwrap_or((Decoded::one('&'), 1))
}

fn numeric(text: &str) -> Option<(Decoded, usize)> {
    let digits = text.strip_prefix("&#")?;
    let (digits, radix, prefix) = match digits.strip_prefix(['x', 'X']) {
        Some(hexadecimal) => (hexadecimal, 16, 3),
        None => (digits, 10, 2),
    };
    let length = digits.find(|c: char| !c.is_digit(radix)).unwrap_or(digits.len());
    let number = u32::from_str_radix(digits.get(..length).filter(|found| !found.is_empty() && found.len() <= 9)?, radix).ok()?;
    let semicolon = usize::from(digits.as_bytes().get(length) == Some(&b';'));
    // The HTML standard interprets the numbers 0x80 to 0x9F as Windows-1252 characters. Only the common ones are converted.
    let number = match number {
        0x91 | 0x92 => 0x2019,
        0x93 => 0x201C,
        0x94 => 0x201D,
        0x96 => 0x2013,
        0x97 => 0x2014,
        0x85 => 0x2026,
        other => other,
    };
    Some((Decoded::one(char::from_u32(number).unwrap_or(char::REPLACEMENT_CHARACTER)), prefix + length + semicolon))
}

fn named(text: &str) -> Option<(Decoded, usize)> {
    let name = text.get(1..)?;
    let length = name.bytes().take(REFERENCE_BYTES_MAX).take_while(u8::is_ascii_alphanumeric).count();
    let with_semicolon = length + usize::from(name.as_bytes().get(length) == Some(&b';'));
    // Without a semicolon, the longest known name is used: "&copy2026" is "©2026".
    let lengths = std::iter::once(with_semicolon).chain((2..=length.min(6)).rev());
    lengths.filter_map(|length| Some((name.get(..length)?, length))).find_map(|(name, length)| {
        let (first, second) = markup5ever::data::NAMED_ENTITIES.get(name)?;
        let first = char::from_u32(*first).filter(|first| *first != '\0')?;
        Some((Decoded([first, char::from_u32(*second).unwrap_or('\0')]), length + 1))
    })
}

/// Collects the text of one block.
#[derive(Default)]
struct Builder {
    text: String,
    runs: Vec<Run>,
    /// White space that is added only if more text follows: the character, and its position and length in the source.
    space: Option<(char, usize, usize)>,
    /// The number of spaces since the last text, or `None` if the white space since then includes other characters.
    spaces: Option<usize>,
    wide_spaces: Vec<usize>,
    /// Whether a link has just ended, with nothing after it.
    after_link: bool,
}

impl Builder {
    fn push(&mut self, character: char, source: usize, source_length: usize, keeps_lines: bool) {
        let is_plain = character == ' ';
        let character = match character {
            // The typographic apostrophe, and characters used in its place, become `'`.
            '\u{2019}' | '\u{2BC}' | '\u{FF07}' => '\'',
            // Soft hyphens, joiners and other zero-width characters are removed.
            '\u{AD}' | '\u{200B}'..='\u{200F}' | '\u{2060}' | '\u{FEFF}' | '\u{34F}' => return,
            '\u{2011}' => '-',
            '\n' if keeps_lines => '\n',
            other if other.is_whitespace() || other.is_control() || other == '\u{2007}' => ' ',
            other => other,
        };
        if character == ' ' || character == '\n' {
            self.spaces = self.spaces.filter(|_| is_plain).map(|count| count + 1);
            let replaces = self.space.is_none_or(|(present, ..)| present == ' ' && character == '\n');
            if replaces && !self.text.is_empty() {
                self.space = Some((character, source, source_length));
            }
            return;
        }
        self.after_link = false;
        if let Some((space, at, length)) = self.space.take() {
            if self.spaces == Some(2) {
                self.wide_spaces.push(self.text.len());
            }
            self.append(space, at, length);
        }
        self.spaces = Some(0);
        self.append(character, source, source_length);
    }

    fn append(&mut self, character: char, source: usize, source_length: usize) {
        let (text, text_length) = (self.text.len(), character.len_utf8());
        self.text.push(character);
        if let Some(last) = self.runs.last_mut()
            && last.text_length == last.source_length
            && text_length == source_length
            && last.source + last.source_length == source
        {
            last.text_length += text_length;
            last.source_length += source_length;
            return;
        }
        self.runs.push(Run { text, text_length, source, source_length });
    }

    fn link_closes(&mut self) {
        self.after_link = true;
    }

    fn link_opens(&mut self, source: usize) {
        if self.after_link && self.space.is_none() && !self.text.is_empty() {
            self.space = Some(('\n', source, 1));
        }
    }

    /// Returns the block if it contains letters, and starts the next one.
    fn finish(&mut self, kind: BlockKind, language: Option<String>) -> Option<Block> {
        let Self { text, runs, wide_spaces, after_link, .. } = std::mem::take(self);
        let ends_with_link = after_link;
        text.chars().any(char::is_alphabetic).then_some(Block { text, kind, language, ends_with_link, wide_spaces, runs })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(source: &str) -> Vec<String> {
        html_blocks(source).into_iter().map(|block| block.text).collect()
    }

    #[test]
    fn inline_tags_do_not_split_words_and_blocks_do() {
        assert_eq!(texts("<td><b>s</b>ale</td><td>to<span style='display:block'>day</span></td>"), ["sale", "to", "day"]);
        assert_eq!(texts("<p>one<br>two</p>three"), ["one\ntwo", "three"]);
        assert_eq!(texts("<a href=x>Home</a><a href=y>Shop</a> <a>Help</a>s"), ["Home\nShop Helps"]);
    }

    #[test]
    fn code_comments_and_text_for_word_are_skipped() {
        let source = "<style>p{}</style><p>Use <code>xyzzy</code> now</p><!--[if mso]><p>Wrod</p><![endif]-->\
                      <span translate=no>Zalandoo<span>x</span>y</span><p>end</p>";
        assert_eq!(texts(source), ["Use \u{FFFC} now", "end"]);
    }

    #[test]
    fn alternative_texts_are_blocks_of_their_own_and_the_preheader_is_text() {
        let source = "<div style='display:none'>Peek&nbsp;&zwnj;&nbsp;&#847;</div><p>a<img alt='Red &amp; blue'>b</p>";
        let blocks = html_blocks(source);
        let found: Vec<_> = blocks.iter().map(|block| (block.kind, block.text.as_str())).collect();
        assert_eq!(found, [(BlockKind::Text, "Peek"), (BlockKind::Alternative, "Red & blue"), (BlockKind::Text, "a\u{FFFC}b")]);
        let (start, end) = blocks[1].source_range(6, 10);
        assert_eq!(&source[start..end], "blue");
    }

    #[test]
    fn positions_survive_references_apostrophes_and_tags() {
        let source = "<p>\n  Caf&eacute; &amp; it’s  <b>gr</b>eat &copy2026 &#x2019;</p>";
        let blocks = html_blocks(source);
        assert_eq!(blocks[0].text, "Café & it's great ©2026 '");
        for (part, expected) in [("Café", "Caf&eacute;"), ("it's", "it’s"), ("great", "gr</b>eat"), ("&", "&amp;")] {
            let at = blocks[0].text.find(part).expect("the part");
            let (start, end) = blocks[0].source_range(at, at + part.len());
            assert_eq!(&source[start..end], expected);
        }
    }

    #[test]
    fn the_nearest_language_counts() {
        let blocks = html_blocks("<html lang=en><p>a</p><p lang=fr>b</p><p>c</p><div lang=de><div>d</div>e</div>f");
        let found: Vec<_> = blocks.iter().map(|block| (block.text.as_str(), block.language.as_deref())).collect();
        assert_eq!(
            found,
            [("a", Some("en")), ("b", Some("fr")), ("c", Some("en")), ("d", Some("de")), ("e", Some("de")), ("f", Some("en"))]
        );
    }
}
