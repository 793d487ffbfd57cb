//! Renders most of the blocks between the header and the footer, in the form that the layout defines.

use super::block_context::BlockContext;
use super::cells::{Cell, Content, Item, List, Row, Table, TableRow};
use super::inline::Ink;
use super::title::{block_title, titled};
use super::{callouts, inline, products};
use crate::features::emails::document::{self, Block, Columns, Heading, ImageWidth, ListMarks, Pause, Quote, Value};
use crate::features::emails::theme::GroundName;
use crate::features::emails::theme::design::{Align, DividerForm, ListForm, QuoteForm, TableForm};

pub fn rows(set: BlockContext<'_>, block: &Block) -> Vec<Row> {
    let side = set.room().side;
    let stack = |cells: Vec<Cell>| vec![Row::stack(cells, side)];
    match block {
        Block::Text(text) => stack(text_cells(set, text)),
        Block::Heading(block) => stack(heading(set, &block.text, block)),
        Block::Image(image) => image_rows(set, image),
        Block::Button(button) => stack(vec![set.button(0, &button.label, &button.href, button.emphasis)]),
        Block::Columns(columns) if columns.columns.is_empty() => Vec::new(),
        Block::Columns(columns) => vec![columns_row(set, columns)],
        Block::Products(block) => products::rows(set, block),
        Block::Quote(block) => vec![quote(set, block)],
        Block::List(block) => stack(vec![list(set, block)]),
        Block::Coupon(block) => vec![callouts::coupon(set, block)],
        Block::Countdown(block) => vec![callouts::countdown(set, block)],
        Block::Table(block) => stack(table(set, block)),
        Block::Divider(block) => stack(divider(set, block)),
        // The module `parts` renders headers, heroes, social links and footers.
        Block::Header(_) | Block::Hero(_) | Block::Social(_) | Block::Footer(_) => Vec::new(),
    }
}

fn text_cells(set: BlockContext<'_>, text: &document::Text) -> Vec<Cell> {
    // Long centered text is hard to read, so only short text uses the layout's alignment.
    let is_long = text.text.words().chars().count() > 260 || text.text.paragraphs().count() > 2;
    let align = if is_long { Align::Start } else { set.align };
    vec![set.aligned(align).prose(0, "body", "tx", &text.text)]
}

/// Returns the cells of a heading block. Section headings have the form that the layout defines.
pub fn heading(set: BlockContext<'_>, text: &str, heading: &Heading) -> Vec<Cell> {
    titled(set, text, heading.level)
}

fn image_rows(set: BlockContext<'_>, block: &document::Image) -> Vec<Row> {
    let side = set.room().side;
    let caption = block.caption.as_ref().map(|caption| set.line(10, "note", "mu", caption));
    if block.width == ImageWidth::Full {
        let mut rows = vec![Row::stack(vec![set.bleed(&block.image)], 0)];
        rows.extend(caption.map(|caption| Row::stack(vec![caption], side)));
        return rows;
    }
    let picture = match block.width {
        ImageWidth::Half => set.small_picture(0, &block.image, set.measure() / 2),
        ImageWidth::Content | ImageWidth::Full => set.picture(0, &block.image, set.measure()),
    };
    let cells = std::iter::once(picture).chain(caption).collect();
    vec![Row::stack(cells, side)]
}

fn columns_row(set: BlockContext<'_>, block: &Columns) -> Row {
    let count = block.columns.len().max(1);
    let gutter: u16 = if count > 2 { 10 } else { 14 };
    let width = 100.0 / count as f32;
    let room = (set.measure() + 2 * gutter) / count as u16 - 2 * gutter;
    // Columns are too narrow for large headings, so `column_cell` makes all headings small.
    let columns = block.columns.iter().map(|column| {
        let mut cells = Vec::new();
        for (index, cell) in column.blocks.iter().enumerate() {
            let before = index.checked_sub(1).and_then(|before| column.blocks.get(before));
            let gap = match (before, cell) {
                (None, _) => 0,
                (Some(document::Cell::Heading(_)), _) => 8,
                (_, document::Cell::Button(_)) => 18,
                _ => 14,
            };
            cells.extend(column_cell(set, cell, room, gap));
        }
        (width, cells)
    });
    set.row(columns.collect(), gutter, false)
}

fn column_cell(set: BlockContext<'_>, cell: &document::Cell, room: u16, gap: u16) -> Vec<Cell> {
    let mut cells = match cell {
        document::Cell::Text(text) => vec![set.prose(0, "body", "tx", &text.text)],
        document::Cell::Heading(heading) => vec![set.words(0, "h3", "small", "tx", inline::words(&heading.text))],
        document::Cell::Image(image) => {
            let caption = image.caption.as_ref().map(|caption| set.line(8, "note", "mu", caption));
            let room = if image.width == ImageWidth::Half { room / 2 } else { room };
            std::iter::once(set.picture(0, &image.image, room)).chain(caption).collect()
        }
        document::Cell::Button(button) => vec![set.button(0, &button.label, &button.href, button.emphasis)],
        document::Cell::List(block) => vec![list(set, block)],
        document::Cell::Divider(block) => divider(set, block),
    };
    if let Some(first) = cells.first_mut() {
        first.gap += gap;
    }
    cells
}

fn quote(set: BlockContext<'_>, quote: &Quote) -> Row {
    let side = set.room().side;
    let author = [&quote.author, &quote.role].into_iter().flatten().map(|name| inline::words(name));
    let author = author.collect::<Vec<_>>().join(", ");
    let words = |set: BlockContext<'_>| {
        let text = inline::whole(&quote.text, set.ink());
        if set.is_rtl() { text } else { format!("“{text}”") }
    };
    let build = |set: BlockContext<'_>| {
        let mut cells = Vec::new();
        if let Some(stars) = quote.stars {
            cells.push(set.words(0, "p", "stars", "ac", stars_html(stars)));
        }
        if let Some(image) = &quote.image {
            let mut portrait = set.picture(if cells.is_empty() { 0 } else { 14 }, image, 64);
            if let Content::Picture(picture) = &mut portrait.content {
                picture.radius = "32px".to_owned();
            }
            cells.push(portrait);
        }
        let gap = if cells.is_empty() { 0 } else { 14 };
        cells.push(set.words(gap, "blockquote", "quote", "tx", words(set)));
        if !author.is_empty() {
            cells.push(set.words(16, "p", "note", "mu", author.clone()));
        }
        cells
    };
    match set.design().quote {
        QuoteForm::Bar => {
            let html = inline::whole(&quote.text, set.ink());
            let mut cells = vec![set.bar(0, html, author.clone())];
            if let Some(stars) = quote.stars {
                cells.insert(0, set.words(0, "p", "stars", "ac", stars_html(stars)));
                cells[1].gap = 12;
            }
            Row::stack(cells, side)
        }
        QuoteForm::Large => Row::stack(build(set.aligned(Align::Center)), side),
        QuoteForm::Band => Row::stack(build(set), side),
        QuoteForm::Box if set.design().cards => Row::stack(build(set), side),
        QuoteForm::Box => {
            let tint = set.on(GroundName::Tint);
            tint.boxed(build(tint), "none".to_owned(), 28)
        }
    }
}

/// Returns the HTML of a star rating, with the number of stars for screen readers.
fn stars_html(stars: u8) -> String {
    let full = usize::from(stars.min(5));
    format!("<span role=\"img\" aria-label=\"{full}/5\">{}{}</span>", "★".repeat(full), "☆".repeat(5 - full))
}

/// If an item's title ends with one of these marks, the item's text continues on the same line.
pub const ITEM_TITLE_ENDS: [char; 4] = ['.', '!', '?', ':'];

pub fn list(set: BlockContext<'_>, block: &document::List) -> Cell {
    // Centering a list would misalign its markers.
    let set = set.aligned(Align::Start);
    let items = block.items.iter().enumerate().map(|(index, item)| {
        let text = inline::whole(&item.text, set.ink());
        let html = match &item.title {
            Some(title) => {
                let gap = if title.ends_with(ITEM_TITLE_ENDS) { " " } else { "<br>" };
                format!("<strong>{}</strong>{gap}{text}", inline::words(title))
            }
            None => text,
        };
        let mark = match block.marks {
            ListMarks::Bullets => "•".to_owned(),
            ListMarks::Checks => "✓".to_owned(),
            ListMarks::Numbers => (index + 1).to_string(),
        };
        Item { mark, html }
    });
    let form = set.design().list;
    let list = List {
        items: items.collect(),
        discs: form == ListForm::Discs && block.marks != ListMarks::Bullets,
        ruled: form == ListForm::Ruled,
        ordered: block.marks == ListMarks::Numbers,
        room: if form == ListForm::Ruled { 14 } else { 12 },
    };
    set.cell(0, Content::List(list))
}

fn table(set: BlockContext<'_>, table: &document::Table) -> Vec<Cell> {
    let set = set.aligned(if table.title.is_some() { set.align } else { Align::Start });
    let mut cells = table.title.as_ref().map(|title| block_title(set, title)).unwrap_or_default();
    let columns = table.rows.iter().map(|row| row.cells.len()).chain([table.head.len()]).max().unwrap_or(0);
    let aligns = (0..columns).map(|index| if is_end_aligned(table, index) { set.end() } else { set.start() });
    let striped = set.design().table == TableForm::Striped;
    // A color that is legible on the sheet may be illegible on a stripe, so links on stripes use the text color.
    let ink = if striped { Ink { color: set.colors().text, class: "tx" } } else { set.ink() };
    let rows = table.rows.iter().enumerate().map(|(index, row)| TableRow {
        cells: row.cells.iter().map(|cell| inline::whole(cell, ink)).collect(),
        strong: row.strong,
        striped: striped && index % 2 == 0,
    });
    // Short labels stay on one line, because a value on two lines is better than a label that breaks in the middle of a word.
    let labeled = columns == 2 && table.head.is_empty() && table.rows.iter().all(is_labeled);
    let drawn = Table {
        labeled,
        head: table.head.iter().map(|name| inline::words(name)).collect(),
        rows: rows.collect(),
        striped,
        stripe: set.theme.light.tint.ground,
        aligns: aligns.collect(),
        title: table.title.as_ref().map(ToString::to_string).unwrap_or_default(),
    };
    let gap = if cells.is_empty() { 0 } else { set.room().block };
    cells.push(set.aligned(Align::Start).cell(gap, Content::Table(drawn)));
    cells
}

/// Returns whether a column is end-aligned. A column of numbers is end-aligned, and so are the values in a table of names and values.
fn is_end_aligned(table: &document::Table, index: usize) -> bool {
    let columns = table.rows.first().map_or(0, |row| row.cells.len());
    let is_number = |cell: &Value| {
        let words = cell.words();
        words.trim().is_empty() || words.chars().any(|c| c.is_ascii_digit()) && words.chars().count() < 16
    };
    let numbers = table.rows.iter().filter_map(|row| row.cells.get(index)).all(is_number);
    // A value that wraps to a second line is easier to read if it is start-aligned.
    let short = || table.rows.iter().filter_map(|row| row.cells.get(index)).all(|cell| cell.words().chars().count() <= 28);
    index > 0 && (numbers || (columns == 2 && table.head.is_empty() && short()))
}

/// Returns whether a row starts with a label that is short enough for one line on a phone.
fn is_labeled(row: &document::Row) -> bool {
    row.cells.first().is_some_and(|label| label.words().chars().count() <= 18)
}

fn divider(set: BlockContext<'_>, block: &document::Divider) -> Vec<Cell> {
    if block.look == Pause::Space {
        return vec![set.cell(0, Content::Space { height: set.room().block })];
    }
    vec![match set.design().divider {
        DividerForm::Hairline => set.rule(0, "100%", 1, false),
        DividerForm::Short => set.rule(0, "36px", 1, true),
        DividerForm::Thick => set.rule(0, "64px", 6, true),
        DividerForm::Marks => {
            let set = set.aligned(Align::Center);
            set.words(0, "p", "lead", "mu", "<span aria-hidden=\"true\">·&nbsp;&nbsp;·&nbsp;&nbsp;·</span>".to_owned())
        }
    }]
}
