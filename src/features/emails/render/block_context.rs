//! Creates the cells of blocks. A [`BlockContext`] has an email and its theme, and the background and alignment of the cells.

use super::cells::{Bar, Button, Cell, Code, Column, Content, Frame, Picture, Row, Rule, Words};
use super::glue::glued;
use super::inline::{self, Ink};
use crate::features::emails::document::{self, Action, Email, Emphasis, Link, Rich};
use crate::features::emails::theme::design::{Align, ButtonForm, Room};
use crate::features::emails::theme::{Design, Ground, GroundName, Theme};

/// The width of an email in pixels. Desktop email clients show this width without horizontal scrolling.
pub const WIDTH: u16 = 600;
/// The width, in pixels, of an email whose parts are cards. It is smaller than [`WIDTH`], which leaves a margin on both sides of the cards.
pub const CARDS_WIDTH: u16 = 568;
/// The maximum height, in pixels, of square or portrait pictures. Taller pictures would push other content out of view.
const TALL_PICTURE_HEIGHT: u32 = 380;

/// The email, its theme, and the background and alignment of the rendered blocks.
#[derive(Clone, Copy)]
pub struct BlockContext<'a> {
    pub email: &'a Email,
    pub theme: &'a Theme,
    pub ground: GroundName,
    pub align: Align,
}

impl<'a> BlockContext<'a> {
    pub fn new(email: &'a Email, theme: &'a Theme) -> Self {
        Self { email, theme, ground: GroundName::Sheet, align: theme.design.align }
    }

    pub fn on(self, ground: GroundName) -> Self {
        Self { ground, ..self }
    }

    pub fn aligned(self, align: Align) -> Self {
        Self { align, ..self }
    }

    pub fn design(&self) -> &'a Design {
        &self.theme.design
    }

    pub fn room(&self) -> &'a Room {
        &self.theme.design.room
    }

    pub fn colors(&self) -> &'a Ground {
        self.theme.light.ground(self.ground)
    }

    /// Returns the style of links in running text.
    pub fn ink(&self) -> Ink {
        Ink { color: self.colors().accent, class: "ac" }
    }

    pub fn is_rtl(&self) -> bool {
        self.email.direction == document::Direction::Rtl
    }

    /// Returns the width of the whole email, in pixels.
    pub fn width(&self) -> u16 {
        if self.design().cards { CARDS_WIDTH } else { WIDTH }
    }

    /// Returns the width between the margins, in pixels.
    pub fn measure(&self) -> u16 {
        self.width() - 2 * self.room().side
    }

    pub fn start(&self) -> &'static str {
        if self.is_rtl() { "right" } else { "left" }
    }

    pub fn end(&self) -> &'static str {
        if self.is_rtl() { "left" } else { "right" }
    }

    pub fn side(&self, align: Align) -> &'static str {
        match align {
            Align::Start => self.start(),
            Align::Center => "center",
        }
    }

    pub fn cell(&self, gap: u16, content: Content) -> Cell {
        Cell { gap, side: 0, align: self.side(self.align), content }
    }

    pub fn words(&self, gap: u16, tag: &'static str, size: &'static str, role: &'static str, html: String) -> Cell {
        self.cell(gap, Content::Words(Words { tag, size, role, html, height: None, is_alone_when_small: false }))
    }

    /// Returns a cell with one line of plain text.
    pub fn line(&self, gap: u16, size: &'static str, role: &'static str, text: &str) -> Cell {
        self.words(gap, "p", size, role, inline::words(text))
    }

    /// Returns a cell with paragraphs.
    pub fn prose<const MAX: usize>(&self, gap: u16, size: &'static str, role: &'static str, text: &Rich<MAX>) -> Cell {
        let html = inline::paragraphs(text, self.ink(), self.room().paragraph);
        self.words(gap, "div", size, role, html)
    }

    pub fn linked(&self, text: &str, href: &Link, color: crate::base::text::Color, class: &str) -> String {
        let (text, href) = (inline::words(text), inline::escape(href.as_str()));
        format!("<a class=\"{class}\" href=\"{href}\" target=\"_blank\" style=\"color:{color};text-decoration:none\">{text}</a>")
    }

    /// Returns a cell with a picture that is at most `room` pixels wide if the cell is `room` pixels wide. For a wider cell, use
    /// [`Self::small_picture`]. A picture whose width is known is not enlarged.
    pub fn picture(&self, gap: u16, picture: &document::Picture, room: u16) -> Cell {
        let mut width = u32::from(room);
        if let Some(own) = picture.width {
            width = width.min(own);
        }
        if let Some((across, down)) = picture.width.zip(picture.height).filter(|(across, down)| *down * 10 > *across * 9) {
            width = width.min((TALL_PICTURE_HEIGHT * across / down.max(1)).max(1));
        }
        let radius = format!("{}px", self.theme.radius.image);
        let width = (width < u32::from(room)).then_some(width as u16);
        self.cell(gap, Content::Picture(drawn(picture, width, radius)))
    }

    /// Returns a cell with a picture that is at most `room` pixels wide, even if the cell is wider.
    pub fn small_picture(&self, gap: u16, picture: &document::Picture, room: u16) -> Cell {
        let mut cell = self.picture(gap, picture, room);
        if let Content::Picture(drawn) = &mut cell.content {
            drawn.width = drawn.width.or(Some(room));
        }
        cell
    }

    /// Returns a cell with a full-width picture. A square or portrait picture is made smaller, because it would push other content out of
    /// view. The smaller picture also gets a tinted background, except on colored fields and cards.
    pub fn bleed(&self, picture: &document::Picture) -> Cell {
        let mut cell = self.aligned(Align::Center).cell(0, Content::Picture(drawn(picture, None, "0".to_owned())));
        let size = picture.width.zip(picture.height).filter(|(across, down)| *down * 10 > *across * 9);
        if let (Content::Picture(drawn), Some((across, down))) = (&mut cell.content, size) {
            drawn.width = Some((TALL_PICTURE_HEIGHT * across / down).clamp(1, u32::from(self.width())) as u16);
            let plain = self.ground == GroundName::Band || self.design().cards;
            drawn.ground = (!plain).then_some(self.theme.light.tint.ground);
            drawn.below = 28;
            drawn.above = 28;
        }
        cell
    }

    /// Returns a cell with a picture as wide as the text. A square or portrait picture is centered on a tinted background, because it is
    /// narrower and would otherwise leave a gap beside it.
    pub fn framed(&self, gap: u16, picture: &document::Picture) -> Cell {
        let is_tall = picture.width.zip(picture.height).is_some_and(|(across, down)| down * 10 > across * 9);
        let align = if is_tall { Align::Center } else { self.align };
        let mut cell = self.aligned(align).picture(gap, picture, self.measure());
        if let (Content::Picture(drawn), true) = (&mut cell.content, is_tall) {
            drawn.ground = Some(self.theme.light.tint.ground);
            drawn.below = 28;
            drawn.above = 28;
        }
        cell
    }

    pub fn button(&self, gap: u16, label: &str, href: &Link, emphasis: Emphasis) -> Cell {
        let form = match emphasis {
            Emphasis::Quiet => "quiet",
            Emphasis::Secondary => "outlined",
            Emphasis::Primary => "filled",
        };
        let buttons = self.design().buttons;
        // Scripts with connected letters, such as Arabic, must not have letter spacing.
        let capitals = buttons == ButtonForm::Capitals && !self.is_rtl();
        let size = if capitals { 13 } else { self.design().scale.body.size.min(16) };
        let loud = self.design().scale.title.weight >= 800 && self.design().scale.title.size > 50;
        let padding = if loud { "18px 36px" } else { "15px 30px" };
        let button = Button {
            label: glued(label),
            href: href.as_str().to_owned(),
            form,
            wide: buttons == ButtonForm::Wide && form != "quiet",
            capitals,
            radius: self.theme.radius.button,
            size: if loud { 17 } else { size },
            spacing: if capitals { "1px".to_owned() } else { "normal".to_owned() },
            padding,
            arrow: if self.is_rtl() { "←" } else { "→" },
        };
        self.cell(gap, Content::Button(button))
    }

    pub fn action(&self, gap: u16, action: &Action) -> Cell {
        self.button(gap, &action.label, &action.href, Emphasis::Primary)
    }

    pub fn rule(&self, gap: u16, width: &str, thickness: u16, accent: bool) -> Cell {
        self.cell(gap, Content::Rule(Rule { width: width.to_owned(), thickness, accent }))
    }

    pub fn code(&self, gap: u16, code: &str) -> Cell {
        let radius = self.theme.radius.button.min(8);
        self.cell(gap, Content::Code(Code { code: code.to_owned(), radius }))
    }

    pub fn bar(&self, gap: u16, html: String, author: String) -> Cell {
        self.cell(gap, Content::Bar(Bar { html, author }))
    }

    /// Returns a row with the cells in a box that has this context's background and a padding of `inside` pixels.
    pub fn boxed(&self, cells: Vec<Cell>, border: String, inside: u16) -> Row {
        let mut cells: Vec<Cell> = cells;
        for cell in &mut cells {
            cell.side = inside;
        }
        if let Some(first) = cells.first_mut() {
            first.gap += inside;
        }
        cells.push(self.cell(0, Content::Space { height: inside }));
        let frame = Some(self.frame(border));
        let column = Column { width: 100.0, gutter: 0, frame, follows: false, cells };
        Row { columns: vec![column], side: self.room().side, gap: 0, together: false, stand: "top" }
    }

    pub fn frame(&self, border: String) -> Frame {
        let is_lined = border.contains("solid");
        Frame { name: self.ground.as_str(), g: *self.colors(), border, is_lined, radius: self.theme.radius.card }
    }

    /// Returns a row of columns. Each column has a gutter of this width on both sides.
    pub fn row(&self, columns: Vec<(f32, Vec<Cell>)>, gutter: u16, together: bool) -> Row {
        let column = |(index, (width, cells)): (usize, (f32, Vec<Cell>))| Column {
            width,
            gutter,
            frame: None,
            follows: index > 0 && !together,
            cells,
        };
        let columns = columns.into_iter().enumerate().map(column).collect();
        Row { columns, side: self.room().side.saturating_sub(gutter), gap: 0, together, stand: "top" }
    }
}

/// Converts a picture of the document to template input.
pub fn drawn(picture: &document::Picture, width: Option<u16>, radius: String) -> Picture {
    Picture {
        src: picture.src.as_str().to_owned(),
        alt: picture.alt.as_ref().map(ToString::to_string).unwrap_or_default(),
        href: picture.href.as_ref().map(ToString::to_string),
        width,
        radius,
        above: 0,
        below: 0,
        fluid: true,
        ground: None,
    }
}
