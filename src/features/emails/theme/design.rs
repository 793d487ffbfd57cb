//! The layouts. Each layout defines the form of every kind of block, the font sizes and the spacing.
//!
//! Colors come from the brand and are not part of a layout. Layouts select fonts only for brands that have none.

use serde::Serialize;

use crate::features::emails::document::Layout;

/// The forms, sizes and spacing of one layout.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Design {
    pub header: HeaderForm,
    pub hero: HeroForm,
    pub heading: HeadingForm,
    pub products: ProductsForm,
    pub quote: QuoteForm,
    pub coupon: BoxForm,
    pub countdown: BoxForm,
    pub list: ListForm,
    pub table: TableForm,
    pub divider: DividerForm,
    pub social: SocialForm,
    pub footer: FooterForm,
    pub buttons: ButtonForm,
    pub align: Align,
    /// Whether each part is on its own card on the page background, instead of all parts on one sheet.
    pub cards: bool,
    /// The fonts of headings.
    pub voice: Voice,
    pub scale: Scale,
    pub room: Room,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum HeaderForm {
    /// The logo is centered, with the links below it.
    Center,
    /// The logo and the links below it are centered above a hairline.
    Masthead,
    /// The logo is at the start of the line, and the links are at the end.
    Split,
    /// The logo is at the start of the line, without links.
    Plain,
    /// The logo and links are on a colored strip.
    Strip,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum HeroForm {
    /// A large title, then the picture, then the lead and the button.
    Title,
    /// A large title, then the lead and the button, then a full-width picture.
    Poster,
    /// A colored field with the title and the button, and the picture below them.
    Band,
    /// A full-width picture, then the text.
    Picture,
    /// A normal-sized title, then the text, the picture and the button.
    Letter,
    /// All content is centered, with generous spacing.
    Still,
    /// A card with the picture at the top.
    Card,
    /// The text and the picture are side by side.
    Split,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum HeadingForm {
    /// The heading has a hairline above it.
    Ruled,
    Plain,
    /// The heading has a short line below it.
    Short,
    /// The heading has a short colored bar above it.
    Tab,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum ProductsForm {
    Grid,
    /// The products are stacked, each with its picture at the start of the line.
    Rows,
    /// Each product is in a box.
    Tiles,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum QuoteForm {
    /// The quote has a colored vertical bar on its start side.
    Bar,
    /// The quote is large and centered.
    Large,
    /// The quote is in a tinted box.
    Box,
    /// The quote is on a colored field.
    Band,
}

/// The form of coupons and countdowns.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum BoxForm {
    /// The box has a dashed frame.
    Ticket,
    /// The content is on a full-width colored field.
    Band,
    /// The content is between two hairlines.
    Ruled,
    /// The box has a thin frame.
    Frame,
    /// The box is tinted.
    Tint,
    /// The content is on a full-width tinted field, with the text on one side and the code on the other side.
    Sides,
    /// The content has no border or background.
    Bare,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum ListForm {
    Plain,
    /// The markers are in colored discs.
    Discs,
    /// A hairline separates the items.
    Ruled,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum TableForm {
    Lines,
    Striped,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum DividerForm {
    Hairline,
    Short,
    /// The divider consists of three centered marks.
    Marks,
    Thick,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum SocialForm {
    Words,
    Pills,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum FooterForm {
    Center,
    Start,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum ButtonForm {
    Filled,
    /// The button has small uppercase text with letter spacing.
    Capitals,
    /// The button is as wide as its column.
    Wide,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Align {
    Start,
    Center,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub enum Voice {
    /// The brand's fonts or, if it has none, a sans-serif font.
    Brand,
    /// The brand's fonts or, if it has none, a serif font.
    Serif,
}

/// Font sizes in pixels.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Scale {
    pub title: Size,
    /// The font size of the title on phones.
    pub title_small: u16,
    pub section: Size,
    pub small: Size,
    pub lead: Size,
    pub body: Size,
    /// The font size of captions and the footer, at least 13 pixels.
    pub note: Size,
}

#[derive(Clone, Copy, Debug, Serialize)]
pub struct Size {
    pub size: u16,
    /// The line height in pixels.
    pub line: u16,
    pub weight: u16,
    /// The letter spacing in hundredths of the font size. A negative value is tighter.
    pub spacing: i8,
}

/// Spacing in pixels.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Room {
    /// The margin on both sides of the text.
    pub side: u16,
    /// The margin on both sides of the text on phones.
    pub side_small: u16,
    /// The space between parts.
    pub part: u16,
    /// The space between the blocks of a part.
    pub block: u16,
    /// The space between paragraphs.
    pub paragraph: u16,
}

impl Size {
    pub const fn new(size: u16, line: u16, weight: u16, spacing: i8) -> Self {
        Self { size, line, weight, spacing }
    }
}

impl Design {
    /// Returns the forms, sizes and spacing of a layout.
    pub const fn of(layout: Layout) -> Self {
        match layout {
            Layout::Editorial => EDITORIAL,
            Layout::Bold => BOLD,
            Layout::Showcase => SHOWCASE,
            Layout::Letter => LETTER,
            Layout::Minimal => MINIMAL,
            Layout::Cards => CARDS,
            Layout::Midnight => MIDNIGHT,
            Layout::Bulletin => BULLETIN,
        }
    }
}

const EDITORIAL: Design = Design {
    header: HeaderForm::Masthead,
    hero: HeroForm::Title,
    heading: HeadingForm::Ruled,
    products: ProductsForm::Rows,
    quote: QuoteForm::Large,
    coupon: BoxForm::Ruled,
    countdown: BoxForm::Ruled,
    list: ListForm::Ruled,
    table: TableForm::Lines,
    divider: DividerForm::Marks,
    social: SocialForm::Words,
    footer: FooterForm::Start,
    buttons: ButtonForm::Capitals,
    align: Align::Start,
    cards: false,
    voice: Voice::Serif,
    scale: Scale {
        title: Size::new(46, 50, 400, -1),
        title_small: 36,
        section: Size::new(28, 34, 400, 0),
        small: Size::new(20, 26, 400, 0),
        lead: Size::new(20, 31, 400, 0),
        body: Size::new(17, 28, 400, 0),
        note: Size::new(13, 20, 400, 0),
    },
    room: Room { side: 48, side_small: 24, part: 52, block: 24, paragraph: 18 },
};

const BOLD: Design = Design {
    header: HeaderForm::Strip,
    hero: HeroForm::Band,
    heading: HeadingForm::Plain,
    products: ProductsForm::Tiles,
    quote: QuoteForm::Band,
    coupon: BoxForm::Band,
    countdown: BoxForm::Tint,
    list: ListForm::Discs,
    table: TableForm::Striped,
    divider: DividerForm::Thick,
    social: SocialForm::Pills,
    footer: FooterForm::Center,
    buttons: ButtonForm::Filled,
    align: Align::Center,
    cards: false,
    voice: Voice::Brand,
    scale: Scale {
        title: Size::new(56, 58, 800, -3),
        title_small: 42,
        section: Size::new(32, 36, 800, -2),
        small: Size::new(19, 25, 700, -1),
        lead: Size::new(19, 29, 400, 0),
        body: Size::new(17, 27, 400, 0),
        note: Size::new(13, 20, 400, 0),
    },
    room: Room { side: 40, side_small: 24, part: 48, block: 22, paragraph: 16 },
};

const SHOWCASE: Design = Design {
    header: HeaderForm::Split,
    hero: HeroForm::Picture,
    heading: HeadingForm::Plain,
    products: ProductsForm::Grid,
    quote: QuoteForm::Box,
    coupon: BoxForm::Ticket,
    countdown: BoxForm::Tint,
    list: ListForm::Plain,
    table: TableForm::Lines,
    divider: DividerForm::Hairline,
    social: SocialForm::Words,
    footer: FooterForm::Center,
    buttons: ButtonForm::Filled,
    align: Align::Start,
    cards: false,
    voice: Voice::Brand,
    scale: Scale {
        title: Size::new(38, 43, 700, -2),
        title_small: 31,
        section: Size::new(23, 29, 700, -1),
        small: Size::new(17, 23, 600, 0),
        lead: Size::new(17, 27, 400, 0),
        body: Size::new(16, 25, 400, 0),
        note: Size::new(13, 20, 400, 0),
    },
    room: Room { side: 32, side_small: 20, part: 40, block: 18, paragraph: 14 },
};

const LETTER: Design = Design {
    header: HeaderForm::Plain,
    hero: HeroForm::Letter,
    heading: HeadingForm::Plain,
    products: ProductsForm::Rows,
    quote: QuoteForm::Bar,
    coupon: BoxForm::Tint,
    countdown: BoxForm::Ruled,
    list: ListForm::Plain,
    table: TableForm::Lines,
    divider: DividerForm::Short,
    social: SocialForm::Words,
    footer: FooterForm::Start,
    buttons: ButtonForm::Filled,
    align: Align::Start,
    cards: false,
    voice: Voice::Brand,
    scale: Scale {
        title: Size::new(28, 36, 700, -1),
        title_small: 26,
        section: Size::new(20, 28, 700, 0),
        small: Size::new(17, 26, 700, 0),
        lead: Size::new(17, 29, 400, 0),
        body: Size::new(17, 29, 400, 0),
        note: Size::new(13, 21, 400, 0),
    },
    room: Room { side: 56, side_small: 24, part: 32, block: 22, paragraph: 18 },
};

const MINIMAL: Design = Design {
    header: HeaderForm::Center,
    hero: HeroForm::Still,
    heading: HeadingForm::Short,
    products: ProductsForm::Grid,
    quote: QuoteForm::Large,
    coupon: BoxForm::Frame,
    countdown: BoxForm::Frame,
    list: ListForm::Ruled,
    table: TableForm::Lines,
    divider: DividerForm::Short,
    social: SocialForm::Words,
    footer: FooterForm::Center,
    buttons: ButtonForm::Filled,
    align: Align::Center,
    cards: false,
    voice: Voice::Brand,
    scale: Scale {
        title: Size::new(38, 48, 300, -1),
        title_small: 32,
        section: Size::new(22, 30, 400, 0),
        small: Size::new(16, 24, 600, 0),
        lead: Size::new(17, 29, 400, 0),
        body: Size::new(16, 27, 400, 0),
        note: Size::new(13, 20, 400, 0),
    },
    room: Room { side: 72, side_small: 28, part: 60, block: 26, paragraph: 16 },
};

const CARDS: Design = Design {
    header: HeaderForm::Center,
    hero: HeroForm::Card,
    heading: HeadingForm::Plain,
    products: ProductsForm::Grid,
    quote: QuoteForm::Box,
    coupon: BoxForm::Band,
    countdown: BoxForm::Bare,
    list: ListForm::Discs,
    table: TableForm::Lines,
    divider: DividerForm::Hairline,
    social: SocialForm::Pills,
    footer: FooterForm::Center,
    buttons: ButtonForm::Wide,
    align: Align::Start,
    cards: true,
    voice: Voice::Brand,
    scale: Scale {
        title: Size::new(32, 38, 700, -2),
        title_small: 28,
        section: Size::new(22, 28, 700, -1),
        small: Size::new(17, 24, 600, 0),
        lead: Size::new(17, 27, 400, 0),
        body: Size::new(16, 25, 400, 0),
        note: Size::new(13, 20, 400, 0),
    },
    room: Room { side: 32, side_small: 22, part: 32, block: 18, paragraph: 14 },
};

const MIDNIGHT: Design = Design {
    header: HeaderForm::Split,
    hero: HeroForm::Poster,
    heading: HeadingForm::Tab,
    products: ProductsForm::Tiles,
    quote: QuoteForm::Large,
    coupon: BoxForm::Ticket,
    countdown: BoxForm::Tint,
    list: ListForm::Discs,
    table: TableForm::Lines,
    divider: DividerForm::Hairline,
    social: SocialForm::Pills,
    footer: FooterForm::Start,
    buttons: ButtonForm::Filled,
    align: Align::Start,
    cards: false,
    voice: Voice::Brand,
    scale: Scale {
        title: Size::new(50, 54, 700, -2),
        title_small: 38,
        section: Size::new(27, 33, 700, -1),
        small: Size::new(18, 25, 600, 0),
        lead: Size::new(18, 29, 400, 0),
        body: Size::new(16, 26, 400, 0),
        note: Size::new(13, 20, 400, 0),
    },
    room: Room { side: 40, side_small: 24, part: 48, block: 22, paragraph: 16 },
};

const BULLETIN: Design = Design {
    header: HeaderForm::Strip,
    hero: HeroForm::Split,
    heading: HeadingForm::Tab,
    products: ProductsForm::Rows,
    quote: QuoteForm::Bar,
    coupon: BoxForm::Sides,
    countdown: BoxForm::Tint,
    list: ListForm::Discs,
    table: TableForm::Striped,
    divider: DividerForm::Hairline,
    social: SocialForm::Words,
    footer: FooterForm::Center,
    buttons: ButtonForm::Filled,
    align: Align::Start,
    cards: false,
    voice: Voice::Brand,
    scale: Scale {
        title: Size::new(34, 39, 800, -2),
        title_small: 29,
        section: Size::new(21, 27, 700, -1),
        small: Size::new(17, 23, 700, 0),
        lead: Size::new(17, 26, 400, 0),
        body: Size::new(16, 25, 400, 0),
        note: Size::new(13, 20, 400, 0),
    },
    room: Room { side: 32, side_small: 20, part: 36, block: 16, paragraph: 14 },
};
