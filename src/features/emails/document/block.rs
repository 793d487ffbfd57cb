//! The blocks of a document: plain data types, without rendering.
//!
//! Blocks do not depend on how a layout renders them. Language models receive the doc comments in this file as field descriptions, so the
//! comments describe not only the meaning of a field but also good values.

use std::borrow::Cow;
use std::fmt;
use std::str::FromStr;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::line::Line;
use super::link::{ImageUrl, Link};
use super::rich::Rich;
use crate::base::serde_str;
use crate::vocab::limits;

/// The ID of a block, unique within its document. Edits refer to the block by this ID. It consists of lowercase letters, digits and
/// hyphens.
pub type BlockId = Line<{ limits::EMAIL_BLOCK_ID_CHARACTERS_MAX }>;
/// A title above other content.
pub type Title = Line<{ limits::EMAIL_TITLE_CHARACTERS_MAX }>;
/// A label of a few words.
pub type Label = Line<{ limits::EMAIL_LABEL_CHARACTERS_MAX }>;
/// One sentence of plain text.
pub type Sentence = Line<{ limits::EMAIL_SENTENCE_CHARACTERS_MAX }>;
/// A short paragraph.
pub type Paragraph = Rich<{ limits::EMAIL_PARAGRAPH_CHARACTERS_MAX }>;
/// Running text with any number of paragraphs.
pub type Prose = Rich<{ limits::EMAIL_PROSE_CHARACTERS_MAX }>;

/// One block of an email.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "type", rename_all = "camelCase")]
pub enum Block {
    Header(Header),
    Hero(Hero),
    Text(Text),
    Heading(Heading),
    Image(Image),
    Button(Button),
    Columns(Columns),
    Products(Products),
    Quote(Quote),
    List(List),
    Coupon(Coupon),
    Countdown(Countdown),
    Table(Table),
    Divider(Divider),
    Social(Social),
    Footer(Footer),
}

/// The content of a column: only simple blocks, which contain no other blocks.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "type", rename_all = "camelCase")]
pub enum Cell {
    Text(Text),
    Heading(Heading),
    Image(Image),
    Button(Button),
    List(List),
    Divider(Divider),
}

/// The top of the email: the brand's logo or name, perhaps a few links.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Header {
    /// A name that no other block has, like `hero` or `text-2`.
    pub id: BlockId,
    /// The brand's name; shown if there is no logo, and as the logo's alternative text.
    pub name: Label,
    /// The brand's logo.
    #[serde(default)]
    pub logo: Option<ImageUrl>,
    /// The target of the logo and the name: the brand's home page.
    #[serde(default)]
    pub href: Option<Link>,
    /// At most three short links beside the logo, as in a store's menu. Usually none.
    #[serde(default)]
    #[schemars(length(max = limits::EMAIL_HEADER_LINKS_MAX))]
    pub links: Vec<NavLink>,
}

/// The opening: the one thing this email says. At most one, right after the header.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Hero {
    /// A name that no other block has, like `hero` or `text-2`.
    pub id: BlockId,
    /// A few words above the title, like "New in" or "48 hours only".
    #[serde(default)]
    pub eyebrow: Option<Label>,
    /// The message in two to eight words. No period at the end.
    pub title: Title,
    /// One or two sentences under the title.
    #[serde(default)]
    pub text: Option<Paragraph>,
    /// A wide picture.
    #[serde(default)]
    pub image: Option<Picture>,
    #[serde(default)]
    pub button: Option<Action>,
}

/// Running text.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Text {
    /// A name that no other block has, like `hero` or `text-2`.
    pub id: BlockId,
    /// Short paragraphs, separated by empty lines. Markup: **bold**, *italic*, [words](https://example.com).
    pub text: Prose,
}

/// A heading above the blocks that follow.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Heading {
    /// A name that no other block has, like `hero` or `text-2`.
    pub id: BlockId,
    pub text: Title,
    #[serde(default)]
    pub level: HeadingLevel,
}

/// The level of a heading.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum HeadingLevel {
    /// The email's title, if there is no hero.
    Title,
    /// The heading of a section of the email.
    #[default]
    Section,
    /// A heading within a section or a column.
    Small,
}

/// A standalone picture.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Image {
    /// A name that no other block has, like `hero` or `text-2`.
    pub id: BlockId,
    pub image: Picture,
    /// A line under the picture.
    #[serde(default)]
    pub caption: Option<Sentence>,
    #[serde(default)]
    pub width: ImageWidth,
}

/// The width of a picture.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum ImageWidth {
    /// From edge to edge of the email.
    Full,
    /// As wide as the text.
    #[default]
    Content,
    /// Half as wide as the text.
    Half,
}

/// A standalone button.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Button {
    /// A name that no other block has, like `hero` or `text-2`.
    pub id: BlockId,
    /// The action, starting with a verb: two to four words.
    pub label: Label,
    pub href: Link,
    #[serde(default)]
    pub emphasis: Emphasis,
}

/// The prominence of a button.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum Emphasis {
    /// Filled: the main action. One or two per email.
    #[default]
    Primary,
    /// An outlined button.
    Secondary,
    /// A text link with an arrow.
    Quiet,
}

/// Two or three columns side by side; stacked on phones.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Columns {
    /// A name that no other block has, like `hero` or `text-2`.
    pub id: BlockId,
    #[schemars(length(min = limits::EMAIL_COLUMNS_MIN, max = limits::EMAIL_COLUMNS_MAX))]
    pub columns: Vec<Column>,
}

/// One column of a block of columns.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Column {
    /// The blocks of the column, from top to bottom.
    #[schemars(length(min = 1, max = limits::EMAIL_COLUMN_BLOCKS_MAX))]
    pub blocks: Vec<Cell>,
}

/// Products with picture, name and price.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Products {
    /// A name that no other block has, like `hero` or `text-2`.
    pub id: BlockId,
    #[serde(default)]
    pub title: Option<Title>,
    /// The products. One is shown large; two or four are shown in pairs; three, six or nine in threes.
    #[schemars(length(min = 1, max = limits::EMAIL_PRODUCTS_MAX))]
    pub products: Vec<Product>,
    /// How many products are side by side, 1 to 3. Null: the layout and the number of products decide.
    #[serde(default)]
    #[schemars(range(min = 1, max = limits::EMAIL_COLUMNS_MAX))]
    pub columns: Option<u8>,
}

/// One product of a grid.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Product {
    pub name: Label,
    /// The product's page.
    pub href: Link,
    #[serde(default)]
    pub image: Option<Picture>,
    /// One short sentence about the product.
    #[serde(default)]
    pub text: Option<Sentence>,
    /// The price as usually written, with its currency: "€ 19.90".
    #[serde(default)]
    pub price: Option<Label>,
    /// The original price, before a discount, shown struck through. Only if it is known to be true.
    #[serde(default)]
    pub price_before: Option<Label>,
    /// The label of the product's button. The name and the picture are links even without a button.
    #[serde(default)]
    pub button: Option<Label>,
}

/// A quote from a customer, the press or a member of the brand's team. Never invented.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Quote {
    /// A name that no other block has, like `hero` or `text-2`.
    pub id: BlockId,
    /// The quote, without quotation marks around it.
    pub text: Paragraph,
    #[serde(default)]
    pub author: Option<Label>,
    /// The author's role or place.
    #[serde(default)]
    pub role: Option<Label>,
    /// The author's portrait.
    #[serde(default)]
    pub image: Option<Picture>,
    /// Stars, 1 to 5.
    #[serde(default)]
    #[schemars(range(min = 1, max = 5))]
    pub stars: Option<u8>,
}

/// Points, steps or advantages.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct List {
    /// A name that no other block has, like `hero` or `text-2`.
    pub id: BlockId,
    #[serde(default)]
    pub marks: ListMarks,
    #[schemars(length(min = 1, max = limits::EMAIL_LIST_ITEMS_MAX))]
    pub items: Vec<Item>,
}

/// The marker before each item.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum ListMarks {
    #[default]
    Bullets,
    /// Steps in order.
    Numbers,
    /// Advantages, or completed tasks.
    Checks,
}

/// One item of a list.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Item {
    /// A few words in bold before the text.
    #[serde(default)]
    pub title: Option<Label>,
    pub text: Paragraph,
}

/// A discount code.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Coupon {
    /// A name that no other block has, like `hero` or `text-2`.
    pub id: BlockId,
    /// What the code provides: "20 % off everything".
    pub title: Title,
    /// The code, exactly as it must be entered.
    pub code: Label,
    /// Conditions and the last day, in one sentence.
    #[serde(default)]
    pub text: Option<Paragraph>,
    #[serde(default)]
    pub button: Option<Action>,
}

/// The date on which something starts or ends.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Countdown {
    /// A name that no other block has, like `hero` or `text-2`.
    pub id: BlockId,
    /// What starts or ends: "The sale ends".
    pub title: Title,
    /// The date in words, in the email's language: "Sunday, 30 November, at midnight".
    pub date: Label,
    /// The same date in ISO 8601: 2026-11-30, or 2026-11-30T23:59:00+01:00.
    pub until: Deadline,
    #[serde(default)]
    pub text: Option<Paragraph>,
}

/// Rows and columns of facts: an order, opening hours, a program.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Table {
    /// A name that no other block has, like `hero` or `text-2`.
    pub id: BlockId,
    #[serde(default)]
    pub title: Option<Title>,
    /// The column headings; empty for a list of names and values.
    #[serde(default)]
    #[schemars(length(max = limits::EMAIL_TABLE_COLUMNS_MAX))]
    pub head: Vec<Label>,
    /// The rows, each with the same number of cells.
    #[schemars(length(min = 1, max = limits::EMAIL_TABLE_ROWS_MAX))]
    pub rows: Vec<Row>,
}

/// One row of a table.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Row {
    #[schemars(length(min = 1, max = limits::EMAIL_TABLE_COLUMNS_MAX))]
    pub cells: Vec<Value>,
    /// Whether the row is emphasized, like a total.
    #[serde(default)]
    pub strong: bool,
}

/// The content of a table cell, which can be empty.
pub type Value = Rich<{ limits::EMAIL_SENTENCE_CHARACTERS_MAX }>;

/// A separator between two parts of the email.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Divider {
    /// A name that no other block has, like `hero` or `text-2`.
    pub id: BlockId,
    #[serde(default)]
    pub look: Pause,
}

/// The style of a separator.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum Pause {
    #[default]
    Line,
    /// An empty space without a line.
    Space,
}

/// Links to the brand's profiles on social networks.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Social {
    /// A name that no other block has, like `hero` or `text-2`.
    pub id: BlockId,
    #[serde(default)]
    pub title: Option<Label>,
    #[schemars(length(min = 1, max = limits::EMAIL_SOCIAL_LINKS_MAX))]
    pub links: Vec<SocialLink>,
}

/// A profile of the brand.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct SocialLink {
    /// The network's name in its own spelling, like "Instagram".
    pub name: Label,
    pub href: Link,
}

/// The legally required footer. Exactly one, as the last block.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Footer {
    /// A name that no other block has, like `hero` or `text-2`.
    pub id: BlockId,
    /// The legal company name, or the brand.
    pub sender: Label,
    /// The postal address for this email, if it differs from the brand's. Null: the footer shows the brand's address.
    #[serde(default)]
    pub address: Option<Sentence>,
    /// Why the reader receives this email.
    #[serde(default)]
    pub reason: Option<Paragraph>,
    /// At most four links, like "Privacy" or "Contact".
    #[serde(default)]
    #[schemars(length(max = limits::EMAIL_FOOTER_LINKS_MAX))]
    pub links: Vec<NavLink>,
    /// The label of the unsubscribe link, in the email's language.
    pub unsubscribe: Label,
    /// The label of the link that opens the email in a browser, in the email's language; null for no link.
    #[serde(default)]
    pub view: Option<Label>,
}

/// A picture with its description and size.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Picture {
    pub src: ImageUrl,
    /// What the picture shows, for readers who cannot see it. Null only if the picture is purely decorative.
    #[serde(default)]
    pub alt: Option<Sentence>,
    /// The picture's original width in pixels, if known.
    #[serde(default)]
    #[schemars(range(min = 1, max = limits::EMAIL_IMAGE_PIXELS_MAX))]
    pub width: Option<u32>,
    #[serde(default)]
    #[schemars(range(min = 1, max = limits::EMAIL_IMAGE_PIXELS_MAX))]
    pub height: Option<u32>,
    /// The link target.
    #[serde(default)]
    pub href: Option<Link>,
}

/// A button inside another block.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Action {
    /// The action, starting with a verb: two to four words.
    pub label: Label,
    pub href: Link,
}

/// A plain link in a menu.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct NavLink {
    pub label: Label,
    pub href: Link,
}

impl Block {
    /// Returns the block's ID within the document.
    pub fn id(&self) -> &BlockId {
        match self {
            Self::Header(block) => &block.id,
            Self::Hero(block) => &block.id,
            Self::Text(block) => &block.id,
            Self::Heading(block) => &block.id,
            Self::Image(block) => &block.id,
            Self::Button(block) => &block.id,
            Self::Columns(block) => &block.id,
            Self::Products(block) => &block.id,
            Self::Quote(block) => &block.id,
            Self::List(block) => &block.id,
            Self::Coupon(block) => &block.id,
            Self::Countdown(block) => &block.id,
            Self::Table(block) => &block.id,
            Self::Divider(block) => &block.id,
            Self::Social(block) => &block.id,
            Self::Footer(block) => &block.id,
        }
    }
}

impl Cell {
    /// Returns the block's ID within the document.
    pub fn id(&self) -> &BlockId {
        match self {
            Self::Text(block) => &block.id,
            Self::Heading(block) => &block.id,
            Self::Image(block) => &block.id,
            Self::Button(block) => &block.id,
            Self::List(block) => &block.id,
            Self::Divider(block) => &block.id,
        }
    }
}

/// A date, or a date and time with a UTC offset, in ISO 8601.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Deadline(Box<str>);

impl Deadline {
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// The error for a string that is neither an ISO 8601 date nor an ISO 8601 date and time with a UTC offset.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DeadlineError;

impl fmt::Display for DeadlineError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(
            "The date is invalid; use a date such as 2026-11-30, or a date and time with a UTC offset, such as \
             2026-11-30T23:59:00+01:00.",
        )
    }
}

impl std::error::Error for DeadlineError {}

impl FromStr for Deadline {
    type Err = DeadlineError;

    fn from_str(given: &str) -> Result<Self, DeadlineError> {
        let given = given.trim();
        let valid = if given.len() == "2026-11-30".len() {
            given.parse::<jiff::civil::Date>().is_ok()
        } else {
            given.len() <= limits::EMAIL_DEADLINE_CHARACTERS_MAX && given.parse::<jiff::Timestamp>().is_ok()
        };
        if valid { Ok(Self(given.into())) } else { Err(DeadlineError) }
    }
}

impl Serialize for Deadline {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.0)
    }
}

impl<'de> Deserialize<'de> for Deadline {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        serde_str::deserialize(deserializer, "a date as a string, such as 2026-11-30")
    }
}

impl JsonSchema for Deadline {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "Deadline".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "string", "maxLength": limits::EMAIL_DEADLINE_CHARACTERS_MAX })
    }
}
