//! Checks a document against the rules for lengths, numbers of items, IDs and order. Reports the violations together, each with its path.
//!
//! The check does not depend on the theme. For problems that make an email worse but not invalid, the renderer adds warnings.

use std::collections::HashSet;
use std::fmt;

use super::*;
use crate::vocab::placeholders;

/// The start of the message for a document whose last block is not a footer.
pub(super) const NOT_A_FOOTER: &str = "is not a footer";

/// A violation of a rule for documents.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Violation {
    /// The path of the invalid field, such as `blocks[3].href`.
    pub path: String,
    pub kind: ViolationKind,
    /// The problem and, in most cases, the remedy.
    pub problem: String,
}

/// The form of a violation's message. It tells a surface how to combine the message with the surface's own name for the field.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum ViolationKind {
    /// The document lacks a required field.
    Missing,
    /// The field breaks a rule. The message continues a sentence that starts with the field name.
    Invalid,
    /// The value cannot be read, or the change cannot be applied. The message is a complete sentence.
    Rejected,
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.path.is_empty() { f.write_str(&self.problem) } else { write!(f, "{}: {}", self.path, self.problem) }
    }
}

impl std::error::Error for Violation {}

/// The path of the field being checked, and the violations found so far.
#[derive(Default)]
struct DocumentPath {
    path: String,
    found: Vec<Violation>,
}

impl DocumentPath {
    /// Checks a field of the current value.
    fn field(&mut self, name: &str, check: impl FnOnce(&mut Self)) {
        let length = self.path.len();
        if length > 0 {
            self.path.push('.');
        }
        self.path.push_str(name);
        check(self);
        self.path.truncate(length);
    }

    /// Checks each item of a list. The length of the list must be within `bounds`.
    fn list<T>(&mut self, name: &str, items: &[T], bounds: (usize, usize), each: impl Fn(&T, &mut Self)) {
        let (min, max) = bounds;
        self.field(name, |at| {
            if items.len() < min || items.len() > max {
                let remedy = if items.len() < min { "add items" } else { "remove items" };
                let count = if items.len() == 1 { "1 item".to_owned() } else { format!("{} items", items.len()) };
                at.say(format!("has {count}, but {min} to {max} items are allowed: {remedy}"));
            }
            for (index, item) in items.iter().enumerate().take(max) {
                let length = at.path.len();
                at.path.push_str(&format!("[{index}]"));
                each(item, at);
                at.path.truncate(length);
            }
        });
    }

    fn line<const MAX: usize>(&mut self, name: &str, line: &Line<MAX>) {
        self.field(name, |at| at.text(line, line.chars().count(), MAX));
    }

    fn maybe_line<const MAX: usize>(&mut self, name: &str, line: &Option<Line<MAX>>) {
        if let Some(line) = line {
            self.line(name, line);
        }
    }

    fn rich<const MAX: usize>(&mut self, name: &str, rich: &Rich<MAX>) {
        let words = rich.words();
        self.field(name, |at| at.text(&words, words.chars().count(), MAX));
    }

    fn maybe_rich<const MAX: usize>(&mut self, name: &str, rich: &Option<Rich<MAX>>) {
        if let Some(rich) = rich {
            self.rich(name, rich);
        }
    }

    fn text(&mut self, text: &str, characters: usize, max: usize) {
        if text.trim().is_empty() {
            self.say("is empty; write some text".to_owned());
        }
        if characters > max {
            self.say(format!("has {characters} characters, but at most {max} characters are allowed: shorten the text"));
        }
        if let Some(control) = text.chars().find(|c| c.is_control() && *c != '\n') {
            self.say(format!("contains the control character U+{:04X}; remove the character", u32::from(control)));
        }
        if let Some(problem) = placeholders::problem(text) {
            self.say(problem);
        }
    }

    fn say(&mut self, problem: String) {
        if self.found.len() < limits::EMAIL_VIOLATIONS_MAX {
            self.found.push(Violation { path: self.path.clone(), kind: ViolationKind::Invalid, problem });
        }
    }
}

impl Email {
    /// Returns the violations in the document, up to a limit. A document without violations can be rendered and sent.
    pub fn check(&self) -> Vec<Violation> {
        let mut at = DocumentPath::default();
        if self.version != VERSION {
            at.field("version", |at| at.say(format!("is {}, which is not supported; use {VERSION}", self.version)));
        }
        at.line("subject", &self.subject);
        at.line("preheader", &self.preheader);
        at.list("blocks", &self.blocks, (2, limits::EMAIL_BLOCKS_MAX), |block, at| block.check(at));
        self.check_order(&mut at);
        self.check_names(&mut at);
        at.found
    }

    /// Checks that the first block is the only header, the last block is the only footer, and at most one block is a hero.
    fn check_order(&self, at: &mut DocumentPath) {
        let last = self.blocks.len().saturating_sub(1);
        let is_header = |block: &Block| matches!(block, Block::Header(_));
        let is_footer = |block: &Block| matches!(block, Block::Footer(_));
        if !self.blocks.first().is_some_and(is_header) {
            at.field("blocks[0]", |at| at.say("is not a header; start with a block of type header".to_owned()));
        }
        if !self.blocks.last().is_some_and(is_footer) {
            at.field(&format!("blocks[{last}]"), |at| at.say(format!("{NOT_A_FOOTER}; end with a block of type footer")));
        }
        let heroes = self.blocks.iter().enumerate().filter(|(_, block)| matches!(block, Block::Hero(_))).skip(1);
        let repeated = self.blocks.iter().enumerate();
        let headers = repeated.clone().filter(|(index, block)| *index > 0 && is_header(block));
        let footers = repeated.filter(|(index, block)| *index < last && is_footer(block));
        let heroes = heroes.map(|(index, _)| (index, "is another hero; keep only the first hero"));
        let headers = headers.map(|(index, _)| (index, "is a header after the start; keep only one header, at the start"));
        let footers = footers.map(|(index, _)| (index, "is a footer before the end; keep only one footer, at the end"));
        for (index, problem) in heroes.chain(headers).chain(footers) {
            at.field(&format!("blocks[{index}]"), |at| at.say(problem.to_owned()));
        }
    }

    /// Checks that the IDs of blocks are unique and have only allowed characters.
    fn check_names(&self, at: &mut DocumentPath) {
        let mut seen = HashSet::new();
        for (index, block) in self.blocks.iter().enumerate() {
            let columns = if let Block::Columns(block) = block { block.columns.as_slice() } else { &[] };
            let cells = columns.iter().enumerate().flat_map(|(column, cells)| {
                let path = move |at: usize| format!("blocks[{index}].columns[{column}].blocks[{at}].id");
                cells.blocks.iter().enumerate().map(move |(at, cell)| (path(at), cell.id()))
            });
            for (path, id) in std::iter::once((format!("blocks[{index}].id"), block.id())).chain(cells) {
                let plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
                if !id.chars().all(plain) {
                    let problem = format!("is \"{id}\"; use only lowercase letters a to z, digits and hyphens");
                    at.field(&path, |at| at.say(problem));
                }
                if !seen.insert(id.as_str()) {
                    let problem = format!("is \"{id}\", which is also the ID of another block; choose a different ID");
                    at.field(&path, |at| at.say(problem));
                }
            }
        }
    }
}

impl Block {
    /// Returns the blocks inside the columns of this block.
    pub fn cells(&self) -> impl Iterator<Item = &Cell> {
        let columns = if let Block::Columns(block) = self { block.columns.as_slice() } else { &[] };
        columns.iter().flat_map(|column| &column.blocks)
    }

    fn check(&self, at: &mut DocumentPath) {
        at.line("id", self.id());
        match self {
            Self::Header(block) => {
                at.line("name", &block.name);
                at.list("links", &block.links, (0, limits::EMAIL_HEADER_LINKS_MAX), |link, at| at.line("label", &link.label));
            }
            Self::Hero(block) => block.check(at),
            Self::Text(block) => at.rich("text", &block.text),
            Self::Heading(block) => at.line("text", &block.text),
            Self::Image(block) => block.check(at),
            Self::Button(block) => at.line("label", &block.label),
            Self::Columns(block) => {
                let bounds = (limits::EMAIL_COLUMNS_MIN, limits::EMAIL_COLUMNS_MAX);
                at.list("columns", &block.columns, bounds, |column, at| {
                    at.list("blocks", &column.blocks, (1, limits::EMAIL_COLUMN_BLOCKS_MAX), Cell::check);
                });
            }
            Self::Products(block) => {
                at.maybe_line("title", &block.title);
                at.list("products", &block.products, (1, limits::EMAIL_PRODUCTS_MAX), Product::check);
                if block.columns.is_some_and(|columns| !(1..=limits::EMAIL_COLUMNS_MAX).contains(&usize::from(columns))) {
                    at.field("columns", |at| at.say("is not between 1 and 3; correct the number or use null".to_owned()));
                }
            }
            Self::Quote(block) => block.check(at),
            Self::List(block) => at.list("items", &block.items, (1, limits::EMAIL_LIST_ITEMS_MAX), Item::check),
            Self::Coupon(block) => {
                at.line("title", &block.title);
                at.line("code", &block.code);
                at.maybe_rich("text", &block.text);
                check_action(&block.button, at);
            }
            Self::Countdown(block) => {
                at.line("title", &block.title);
                at.line("date", &block.date);
                at.maybe_rich("text", &block.text);
            }
            Self::Table(block) => block.check(at),
            Self::Divider(_) => {}
            Self::Social(block) => {
                at.maybe_line("title", &block.title);
                at.list("links", &block.links, (1, limits::EMAIL_SOCIAL_LINKS_MAX), |link, at| at.line("name", &link.name));
            }
            Self::Footer(block) => block.check(at),
        }
    }
}

impl Cell {
    fn check(&self, at: &mut DocumentPath) {
        at.line("id", self.id());
        match self {
            Self::Text(block) => at.rich("text", &block.text),
            Self::Heading(block) => at.line("text", &block.text),
            Self::Image(block) => block.check(at),
            Self::Button(block) => at.line("label", &block.label),
            Self::List(block) => at.list("items", &block.items, (1, limits::EMAIL_LIST_ITEMS_MAX), Item::check),
            Self::Divider(_) => {}
        }
    }
}

impl Hero {
    fn check(&self, at: &mut DocumentPath) {
        at.maybe_line("eyebrow", &self.eyebrow);
        at.line("title", &self.title);
        at.maybe_rich("text", &self.text);
        check_picture("image", self.image.as_ref(), at);
        check_action(&self.button, at);
    }
}

impl Image {
    fn check(&self, at: &mut DocumentPath) {
        check_picture("image", Some(&self.image), at);
        at.maybe_line("caption", &self.caption);
    }
}

impl Product {
    fn check(&self, at: &mut DocumentPath) {
        at.line("name", &self.name);
        check_picture("image", self.image.as_ref(), at);
        at.maybe_line("text", &self.text);
        at.maybe_line("price", &self.price);
        at.maybe_line("priceBefore", &self.price_before);
        at.maybe_line("button", &self.button);
        if self.price_before.is_some() && self.price.is_none() {
            at.field("priceBefore", |at| at.say("is set without `price`; set `price` too, or use null".to_owned()));
        }
    }
}

impl Quote {
    fn check(&self, at: &mut DocumentPath) {
        at.rich("text", &self.text);
        at.maybe_line("author", &self.author);
        at.maybe_line("role", &self.role);
        check_picture("image", self.image.as_ref(), at);
        if self.stars.is_some_and(|stars| !(1..=5).contains(&stars)) {
            at.field("stars", |at| at.say("is not between 1 and 5; correct the number or use null".to_owned()));
        }
    }
}

impl Item {
    fn check(&self, at: &mut DocumentPath) {
        at.maybe_line("title", &self.title);
        at.rich("text", &self.text);
    }
}

impl Table {
    fn check(&self, at: &mut DocumentPath) {
        at.maybe_line("title", &self.title);
        at.list("head", &self.head, (0, limits::EMAIL_TABLE_COLUMNS_MAX), |label, at| {
            at.text(label, label.chars().count(), Label::MAX);
        });
        let width = self.head.len().max(self.rows.first().map_or(0, |row| row.cells.len()));
        at.list("rows", &self.rows, (1, limits::EMAIL_TABLE_ROWS_MAX), |row, at| {
            at.list("cells", &row.cells, (1, limits::EMAIL_TABLE_COLUMNS_MAX), |cell, at| {
                let words = cell.words();
                // An empty table cell is valid.
                if !words.trim().is_empty() {
                    at.text(&words, words.chars().count(), Value::MAX);
                }
            });
            if row.cells.len() != width {
                at.field("cells", |at| {
                    at.say(format!("must have {width} items, one for each column of the table, but has {}", row.cells.len()))
                });
            }
        });
    }
}

impl Footer {
    fn check(&self, at: &mut DocumentPath) {
        at.line("sender", &self.sender);
        at.maybe_line("address", &self.address);
        at.maybe_rich("reason", &self.reason);
        at.list("links", &self.links, (0, limits::EMAIL_FOOTER_LINKS_MAX), |link, at| at.line("label", &link.label));
        at.line("unsubscribe", &self.unsubscribe);
        at.maybe_line("view", &self.view);
    }
}

fn check_picture(name: &str, picture: Option<&Picture>, at: &mut DocumentPath) {
    let Some(picture) = picture else { return };
    at.field(name, |at| {
        at.maybe_line("alt", &picture.alt);
        for (side, pixels) in [("width", picture.width), ("height", picture.height)] {
            if pixels.is_some_and(|pixels| !(1..=limits::EMAIL_IMAGE_PIXELS_MAX).contains(&pixels)) {
                let problem =
                    format!("is not between 1 and {} pixels; correct the number or use null", limits::EMAIL_IMAGE_PIXELS_MAX);
                at.field(side, |at| at.say(problem));
            }
        }
    });
}

fn check_action(action: &Option<Action>, at: &mut DocumentPath) {
    if let Some(action) = action {
        at.field("button", |at| at.line("label", &action.label));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(email: &Email) -> Vec<String> {
        email.check().iter().map(Violation::to_string).collect()
    }

    #[test]
    fn the_sample_is_valid() {
        assert_eq!(said(&Email::sample()), [""; 0]);
    }

    #[test]
    fn every_violation_is_reported_with_its_path_and_a_remedy() {
        let mut email = Email::sample();
        email.subject = Line::new("");
        email.blocks.swap(0, 1);
        if let Block::Hero(hero) = &mut email.blocks[0] {
            hero.title = Line::new(&"a".repeat(200));
            hero.text = Some(Rich::plain("{% if x %}"));
            hero.id = "header".into();
        }
        let said = said(&email);
        for expected in [
            "subject: is empty; write some text",
            "blocks[0].title: has 200 characters, but at most 140 characters are allowed: shorten the text",
            "blocks[0].text: contains {%, which is not allowed here",
            "blocks[0]: is not a header; start with a block of type header",
            "blocks[1]: is a header after the start; keep only one header",
            "blocks[1].id: is \"header\", which is also the ID of another block",
        ] {
            assert!(said.iter().any(|line| line.starts_with(expected)), "{expected} is missing in {said:#?}");
        }
        assert_eq!(said.len(), 6, "{said:#?}");
    }
}
