//! The template data: parts contain rows, rows contain columns, and columns contain cells. Every kind of block in every layout consists of
//! these types.
//!
//! The fields named `html`, the headings and cells of tables, and the author of a bar contain escaped HTML. The templates escape all
//! other text.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::base::text::Color;
use crate::features::emails::theme::{Ground, GroundName};
use crate::features::projects::brand::BrandWebFont;

/// The input of the templates.
#[derive(Debug, Serialize)]
pub struct TemplateInput {
    pub language: String,
    pub direction: &'static str,
    pub subject: String,
    pub preview: String,
    /// The width of the email in pixels.
    pub width: u16,
    pub page: Ground,
    /// The steps of the type scale, used as CSS classes. `css` maps the name of each step to its CSS declarations.
    pub sizes: Vec<TypeSize>,
    pub css: BTreeMap<&'static str, String>,
    pub families: FamilyNames,
    /// The URLs of a font service's style sheets.
    pub font_sheets: Vec<String>,
    pub font_files: Vec<BrandWebFont>,
    /// The side where a line starts: `left` or `right`.
    pub start: &'static str,
    pub end: &'static str,
    pub title_small: SmallTitle,
    pub gutters: Vec<Gutter>,
    /// The backgrounds of the email's parts and boxes in dark mode.
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
    /// The letter spacing, as a CSS value.
    pub spacing: String,
    pub capitals: bool,
    pub italic: bool,
}

/// The type size of titles on phones.
#[derive(Debug, Serialize)]
pub struct SmallTitle {
    pub size: u16,
    pub line: u16,
}

/// For rows whose columns have a gutter of `width` pixels: the padding on both sides of the row on phones, in pixels.
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
    /// Whether the background belongs to boxes.
    pub inside: bool,
}

/// A section of the email with one background.
#[derive(Debug, Serialize)]
pub struct Part {
    #[serde(skip)]
    pub ground: GroundName,
    /// The name of the background, for CSS classes.
    pub name: &'static str,
    pub g: Ground,
    /// The padding at the top, in pixels.
    pub top: u16,
    /// The padding at the bottom, in pixels.
    pub bottom: u16,
    pub card: bool,
    pub rows: Vec<Row>,
}

/// A row of columns side by side.
#[derive(Debug, Serialize)]
pub struct Row {
    pub columns: Vec<Column>,
    /// The padding on both sides in pixels; 0 means full width.
    pub side: u16,
    /// The space above the row, in pixels.
    pub gap: u16,
    /// Whether columns stay side by side on phones.
    pub together: bool,
    /// The vertical alignment of columns: `top` or `middle`.
    pub stand: &'static str,
}

#[derive(Debug, Serialize)]
pub struct Column {
    /// The width of the column as a percentage of the row.
    pub width: f32,
    /// The space on each side between the column and its neighbors, in pixels.
    pub gutter: u16,
    pub frame: Option<Frame>,
    /// Whether the column is shown below the preceding column on phones.
    pub follows: bool,
    pub cells: Vec<Cell>,
}

/// A box around a column's cells.
#[derive(Clone, Debug, Serialize)]
pub struct Frame {
    /// The name of the background, for CSS classes.
    pub name: &'static str,
    pub g: Ground,
    /// The border as a CSS value, such as `1px solid #CCCCCC` or `none`.
    pub border: String,
    /// Whether the border has the text color.
    pub is_lined: bool,
    pub radius: u16,
}

#[derive(Debug, Serialize)]
pub struct Cell {
    /// The space above the cell, in pixels.
    pub gap: u16,
    /// The padding on both sides in pixels.
    pub side: u16,
    /// The alignment: `left`, `center` or `right`.
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
    Bar(Bar),
    Space { height: u16 },
}

#[derive(Debug, Serialize)]
pub struct Words {
    /// The HTML tag: `h1`, `h2`, `h3`, `p`, `blockquote`, or `div` for HTML with paragraphs and for the brand's name.
    pub tag: &'static str,
    /// The name of a step of the type scale.
    pub size: &'static str,
    /// The color role: `tx` for text, `mu` for muted or `ac` for accent.
    pub role: &'static str,
    pub html: String,
    /// The height in pixels, if neighboring cells must have the same height.
    pub height: Option<u16>,
    /// Whether the cell has no cells beside it on phones, so that `height` does not apply there.
    pub is_alone_when_small: bool,
}

#[derive(Debug, Serialize)]
pub struct Logo {
    pub src: String,
    pub alt: String,
    pub href: Option<String>,
    pub width: u16,
    /// The height in pixels, if known.
    pub height: Option<u16>,
    /// When the logo needs a light background plate: `always`, `night` (only in dark mode) or `never`.
    pub plate: &'static str,
}

#[derive(Debug, Serialize)]
pub struct Picture {
    pub src: String,
    pub alt: String,
    pub href: Option<String>,
    /// The width in pixels. The default is all available space.
    pub width: Option<u16>,
    /// The corner radius, as a CSS value.
    pub radius: String,
    /// The space above the picture inside its background, in pixels.
    pub above: u16,
    /// The space below the picture inside its background, in pixels.
    pub below: u16,
    /// The background color around the picture. It is also the color of table stripes, so that one CSS class sets both in dark mode.
    pub ground: Option<Color>,
    /// Whether the picture fills the width on phones.
    pub fluid: bool,
}

#[derive(Debug, Serialize)]
pub struct Button {
    pub label: String,
    pub href: String,
    /// The form of the button: `filled`, `outlined` or `quiet`.
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
    /// The width as a CSS value: `100%` or pixels.
    pub width: String,
    pub thickness: u16,
    /// Whether the line has the brand's color instead of the hairline color.
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
    /// The marker of the item: a number or a symbol.
    pub mark: String,
    pub html: String,
}

#[derive(Debug, Serialize)]
pub struct Table {
    /// Whether the first column has short labels that stay on one line.
    pub labeled: bool,
    pub head: Vec<String>,
    pub rows: Vec<TableRow>,
    pub striped: bool,
    /// The background of every other row.
    pub stripe: Color,
    /// The alignment of each column: `left` or `right`.
    pub aligns: Vec<&'static str>,
    pub title: String,
}

#[derive(Debug, Serialize)]
pub struct TableRow {
    pub cells: Vec<String>,
    pub strong: bool,
    pub striped: bool,
}

#[derive(Debug, Serialize)]
pub struct Code {
    pub code: String,
    pub radius: u16,
}

/// Text with a colored vertical bar on its start side.
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

    /// Returns whether the row is a stack: a single column of cells, without a box, a gutter or space above the row.
    pub fn is_stack(&self) -> bool {
        self.gap == 0 && matches!(self.columns.as_slice(), [column] if column.frame.is_none() && column.gutter == 0)
    }
}
