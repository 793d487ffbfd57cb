//! The data of the templates: parts contain rows, rows contain columns, columns contain cells. Blocks of all kinds and layouts are made of
//! these few shapes.
//!
//! All strings named `html` are already escaped; the templates escape everything else.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::base::text::Color;
use crate::features::emails::theme::{Ground, GroundName};

/// The input of the templates.
#[derive(Debug, Serialize)]
pub struct Page {
    pub language: String,
    pub direction: &'static str,
    pub subject: String,
    pub preview: String,
    /// The width of the email in pixels.
    pub width: u16,
    pub page: Ground,
    /// The type scale as classes, and the same as CSS declarations by name.
    pub sizes: Vec<TypeSize>,
    pub css: BTreeMap<&'static str, String>,
    pub families: FamilyNames,
    /// The start and end of a line, as `left` and `right`.
    pub start: &'static str,
    pub end: &'static str,
    pub title_small: SmallTitle,
    pub gutters: Vec<Gutter>,
    /// The backgrounds in dark mode, if they differ from those in light mode.
    pub darks: Vec<Dark>,
    pub has_night: bool,
    pub night_page: Color,
    pub stripe: Color,
    pub cards: bool,
    pub card_radius: u16,
    pub parts: Vec<Part>,
}

#[derive(Debug, Serialize)]
pub struct FamilyNames {
    pub heading: String,
    pub body: String,
    pub mono: String,
}

/// One step of the type scale.
#[derive(Debug, Serialize)]
pub struct TypeSize {
    pub name: &'static str,
    pub family: String,
    pub size: u16,
    pub line: u16,
    pub weight: u16,
    /// A CSS value.
    pub spacing: String,
    pub capitals: bool,
    pub italic: bool,
}

/// The size of titles on phones.
#[derive(Debug, Serialize)]
pub struct SmallTitle {
    pub size: u16,
    pub line: u16,
}

/// The margin of rows on phones whose columns have a gutter of this width.
#[derive(Debug, Serialize)]
pub struct Gutter {
    pub width: u16,
    pub side: u16,
}

/// A background in dark mode.
#[derive(Debug, Serialize)]
pub struct Dark {
    pub name: &'static str,
    pub g: Ground,
    /// Whether boxes inside it use it too.
    pub inside: bool,
}

/// A section of the email with one background.
#[derive(Debug, Serialize)]
pub struct Part {
    #[serde(skip)]
    pub ground: GroundName,
    /// The background's name, for classes.
    pub name: &'static str,
    pub g: Ground,
    /// The padding at the top and bottom in pixels.
    pub top: u16,
    pub bottom: u16,
    /// Whether it is a card.
    pub card: bool,
    pub rows: Vec<Row>,
}

/// Columns side by side.
#[derive(Debug, Serialize)]
pub struct Row {
    pub columns: Vec<Column>,
    /// The padding on both sides in pixels; 0 is full width.
    pub side: u16,
    /// The space above in pixels.
    pub gap: u16,
    /// Whether columns stay side by side on phones.
    pub together: bool,
    /// The vertical alignment of columns: `top` or `middle`.
    pub stand: &'static str,
}

#[derive(Debug, Serialize)]
pub struct Column {
    /// The share of the row in percent.
    pub width: f32,
    /// The space to the neighbors on each side in pixels.
    pub gutter: u16,
    pub frame: Option<Frame>,
    /// Whether it is below another column on phones.
    pub follows: bool,
    pub cells: Vec<Cell>,
}

/// A box around a column's cells.
#[derive(Clone, Debug, Serialize)]
pub struct Frame {
    /// The background's name, for classes.
    pub name: &'static str,
    pub g: Ground,
    /// A CSS value, such as `1px solid #CCCCCC` or `none`.
    pub border: String,
    /// Whether the border has the text color.
    pub is_lined: bool,
    pub radius: u16,
}

#[derive(Debug, Serialize)]
pub struct Cell {
    /// The space above in pixels.
    pub gap: u16,
    /// The padding on both sides in pixels.
    pub side: u16,
    /// `left`, `center` or `right`.
    pub align: &'static str,
    #[serde(flatten)]
    pub content: Content,
}

#[derive(Debug, Serialize)]
#[serde(tag = "kind", rename_all = "lowercase")]
pub enum Content {
    Words(Words),
    Logo(Logo),
    Picture(Picture),
    Button(Button),
    Rule(Rule),
    List(List),
    Table(Table),
    Code(Code),
    Tag(Tag),
    Bar(Bar),
    Space { height: u16 },
}

#[derive(Debug, Serialize)]
pub struct Words {
    /// `h1`, `h2`, `h3`, `p` or `div`, the last for HTML with paragraphs.
    pub tag: &'static str,
    /// The name of a size in the type scale.
    pub size: &'static str,
    /// `tx`, `mu` or `ac`: text, muted or accent.
    pub role: &'static str,
    pub html: String,
    /// In pixels, if neighbors must have the same height.
    pub height: Option<u16>,
    /// Whether it has no neighbors on phones.
    pub is_alone_when_small: bool,
}

/// The brand's logo.
#[derive(Debug, Serialize)]
pub struct Logo {
    pub src: String,
    pub alt: String,
    pub href: Option<String>,
    pub width: u16,
    /// If known.
    pub height: Option<u16>,
    /// Whether it needs a light background plate: always, only in dark mode, or never.
    pub plate: &'static str,
}

#[derive(Debug, Serialize)]
pub struct Picture {
    pub src: String,
    pub alt: String,
    pub href: Option<String>,
    /// In pixels; if absent, all available space.
    pub width: Option<u16>,
    /// A CSS value.
    pub radius: String,
    /// The space above and below inside its background in pixels.
    pub above: u16,
    pub below: u16,
    /// The background around it, in the color of stripes.
    pub ground: Option<Color>,
    /// Whether it has full width on phones.
    pub fluid: bool,
}

#[derive(Debug, Serialize)]
pub struct Button {
    pub label: String,
    pub href: String,
    /// `filled`, `outlined` or `quiet`.
    pub form: &'static str,
    pub wide: bool,
    pub capitals: bool,
    pub radius: u16,
    pub size: u16,
    pub spacing: String,
    pub padding: &'static str,
    pub arrow: &'static str,
}

#[derive(Debug, Serialize)]
pub struct Rule {
    /// A CSS value: `100%` or pixels.
    pub width: String,
    pub thickness: u16,
    /// Whether it has the brand's color instead of the hairline color.
    pub accent: bool,
}

#[derive(Debug, Serialize)]
pub struct List {
    pub items: Vec<Item>,
    pub discs: bool,
    pub ruled: bool,
    pub ordered: bool,
    /// The space between items in pixels.
    pub room: u16,
}

#[derive(Debug, Serialize)]
pub struct Item {
    /// A number or a symbol.
    pub mark: String,
    pub html: String,
}

#[derive(Debug, Serialize)]
pub struct Table {
    pub head: Vec<String>,
    pub rows: Vec<TableRow>,
    pub striped: bool,
    /// The background of every second row.
    pub stripe: Color,
    /// For each column: `left` or `right`.
    pub aligns: Vec<&'static str>,
    pub title: String,
}

#[derive(Debug, Serialize)]
pub struct TableRow {
    pub cells: Vec<String>,
    pub strong: bool,
    pub striped: bool,
}

/// A code to enter.
#[derive(Debug, Serialize)]
pub struct Code {
    pub code: String,
    pub radius: u16,
}

/// A heading as a colored label.
#[derive(Debug, Serialize)]
pub struct Tag {
    pub tag: &'static str,
    pub html: String,
    pub radius: u16,
}

/// Text with a colored bar at the start.
#[derive(Debug, Serialize)]
pub struct Bar {
    pub html: String,
    pub author: String,
}

impl Row {
    /// Returns a row of stacked cells.
    pub fn stack(cells: Vec<Cell>, side: u16) -> Self {
        let column = Column { width: 100.0, gutter: 0, frame: None, follows: false, cells };
        Self { columns: vec![column], side, gap: 0, together: false, stand: "top" }
    }

    /// Returns whether it contains only stacked cells.
    pub fn is_stack(&self) -> bool {
        self.gap == 0 && matches!(self.columns.as_slice(), [column] if column.frame.is_none() && column.gutter == 0)
    }
}
