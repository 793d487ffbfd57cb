//! What the templates draw: parts of rows of columns of cells. Blocks of all kinds and layouts come down to these few shapes.
//!
//! All strings named `html` are escaped already; everything else is escaped by the templates.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::base::text::Color;
use crate::features::emails::theme::{Ground, GroundName};

/// What the templates are given.
#[derive(Debug, Serialize)]
pub struct Page {
    pub language: String,
    pub direction: &'static str,
    pub subject: String,
    pub preview: String,
    /// Width of the email in pixels.
    pub width: u16,
    pub page: Ground,
    /// The type scale as classes, and the same as declarations of CSS by name.
    pub sizes: Vec<TypeSize>,
    pub css: BTreeMap<&'static str, String>,
    pub families: FamilyNames,
    /// Start and end of a line, as `left` and `right`.
    pub start: &'static str,
    pub end: &'static str,
    pub title_small: SmallTitle,
    pub gutters: Vec<Gutter>,
    /// The grounds at night, if they differ from those by day.
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
    /// As in CSS.
    pub spacing: String,
    pub capitals: bool,
    pub italic: bool,
}

/// The size of titles on telephones.
#[derive(Debug, Serialize)]
pub struct SmallTitle {
    pub size: u16,
    pub line: u16,
}

/// The margin of rows on telephones whose columns have a gutter of this width.
#[derive(Debug, Serialize)]
pub struct Gutter {
    pub width: u16,
    pub side: u16,
}

/// A ground at night.
#[derive(Debug, Serialize)]
pub struct Dark {
    pub name: &'static str,
    pub g: Ground,
    /// Boxes stand on it too.
    pub inside: bool,
}

/// A stretch of the email on one ground.
#[derive(Debug, Serialize)]
pub struct Part {
    #[serde(skip)]
    pub ground: GroundName,
    /// The ground's name, for classes.
    pub name: &'static str,
    pub g: Ground,
    /// Room above and below in pixels.
    pub top: u16,
    pub bottom: u16,
    /// It stands on a card.
    pub card: bool,
    pub rows: Vec<Row>,
}

/// Columns side by side.
#[derive(Debug, Serialize)]
pub struct Row {
    pub columns: Vec<Column>,
    /// Room at both sides in pixels; 0 is from edge to edge.
    pub side: u16,
    /// Room above in pixels.
    pub gap: u16,
    /// Stay side by side on telephones.
    pub together: bool,
    /// Where columns of different height stand: `top` or `middle`.
    pub stand: &'static str,
}

#[derive(Debug, Serialize)]
pub struct Column {
    /// Share of the row, in percent.
    pub width: f32,
    /// Room to the neighbours, in pixels, at each side.
    pub gutter: u16,
    pub frame: Option<Frame>,
    /// It comes under another one on telephones.
    pub follows: bool,
    pub cells: Vec<Cell>,
}

/// A box around a column's cells.
#[derive(Clone, Debug, Serialize)]
pub struct Frame {
    /// The ground's name, for classes.
    pub name: &'static str,
    pub g: Ground,
    /// As in CSS, like `1px solid #CCCCCC`, or `none`.
    pub border: String,
    /// The border is in the color of the text.
    pub is_lined: bool,
    pub radius: u16,
}

#[derive(Debug, Serialize)]
pub struct Cell {
    /// Room above, in pixels.
    pub gap: u16,
    /// Room at both sides, in pixels.
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
    /// `h1`, `h2`, `h3`, `p` or `div`, the last for html that has paragraphs.
    pub tag: &'static str,
    /// Which of the type scale.
    pub size: &'static str,
    /// `tx`, `mu` or `ac`: text, muted or accent.
    pub role: &'static str,
    pub html: String,
    /// In pixels, where neighbours must end at one height.
    pub height: Option<u16>,
    /// On telephones it has no neighbours.
    pub is_alone_when_small: bool,
}

/// The brand's mark.
#[derive(Debug, Serialize)]
pub struct Logo {
    pub src: String,
    pub alt: String,
    pub href: Option<String>,
    pub width: u16,
    /// Where it is known.
    pub height: Option<u16>,
    /// It needs a light plate behind it: always, at night, or never.
    pub plate: &'static str,
}

#[derive(Debug, Serialize)]
pub struct Picture {
    pub src: String,
    pub alt: String,
    pub href: Option<String>,
    /// In pixels; none takes all the room there is.
    pub width: Option<u16>,
    /// As in CSS.
    pub radius: String,
    /// Room above and below within its ground, in pixels.
    pub above: u16,
    pub below: u16,
    /// Ground around it, in the color of stripes.
    pub ground: Option<Color>,
    /// It takes all the width on telephones.
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
    /// As in CSS: `100%` or pixels.
    pub width: String,
    pub thickness: u16,
    /// In the brand's color instead of the hairline's.
    pub accent: bool,
}

#[derive(Debug, Serialize)]
pub struct List {
    pub items: Vec<Item>,
    pub discs: bool,
    pub ruled: bool,
    pub ordered: bool,
    /// Room between items, in pixels.
    pub room: u16,
}

#[derive(Debug, Serialize)]
pub struct Item {
    /// A number or a sign.
    pub mark: String,
    pub html: String,
}

#[derive(Debug, Serialize)]
pub struct Table {
    pub head: Vec<String>,
    pub rows: Vec<TableRow>,
    pub striped: bool,
    /// Ground of every second row.
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

/// A code to be typed in.
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

/// Words with a colored bar at their start.
#[derive(Debug, Serialize)]
pub struct Bar {
    pub html: String,
    pub author: String,
}

impl Row {
    /// Cells one under the other.
    pub fn stack(cells: Vec<Cell>, side: u16) -> Self {
        let column = Column { width: 100.0, gutter: 0, frame: None, follows: false, cells };
        Self { columns: vec![column], side, gap: 0, together: false, stand: "top" }
    }

    /// Whether it is nothing but cells one under the other.
    pub fn is_stack(&self) -> bool {
        self.gap == 0 && matches!(self.columns.as_slice(), [column] if column.frame.is_none() && column.gutter == 0)
    }
}
