//! Renders products in the form that the layout defines, and chooses how many are side by side.

use super::block_context::BlockContext;
use super::cells::{Cell, Content, Row};
use super::{inline, title};
use crate::features::emails::document::{Emphasis, Product, Products};
use crate::features::emails::theme::GroundName;
use crate::features::emails::theme::design::{Align, HeadingForm, ProductsForm, Size};

pub fn rows(set: BlockContext<'_>, block: &Products) -> Vec<Row> {
    let side = set.room().side;
    let mut rows = Vec::new();
    if let Some(title) = &block.title {
        rows.push(Row::stack(title::block_title(set, title), side));
    }
    let below_title = set.room().block;
    // Pictures of different shapes would start and end at different heights if they were side by side, so products with such pictures are
    // stacked.
    let form = match (block.columns, set.design().products) {
        (Some(1), _) => ProductsForm::Rows,
        (Some(_), ProductsForm::Rows) => ProductsForm::Grid,
        (Some(_), form) => form,
        (None, form) if alike(&block.products) => form,
        (None, _) => ProductsForm::Rows,
    };
    let groups: Vec<Vec<Row>> = match form {
        // If the text is centered, a single product is centered too, with its details below the picture.
        _ if block.products.len() == 1 && set.align == Align::Center => vec![vec![alone(set, &block.products[0])]],
        _ if block.products.len() == 1 => vec![beside(set, &block.products[0], form, Layout::Alone)],
        ProductsForm::Rows => block.products.iter().map(|product| beside(set, product, form, Layout::Beside)).collect(),
        ProductsForm::Grid | ProductsForm::Tiles => {
            let mut rest = block.products.as_slice();
            let mut groups = Vec::new();
            while !rest.is_empty() {
                let count = block.columns.map_or_else(|| across(rest.len()), usize::from).max(1);
                let (now, later) = rest.split_at(count.min(rest.len()));
                groups.push(vec![side_by_side(set, now, count as u16, form)]);
                rest = later;
            }
            groups
        }
    };
    let ruled = form == ProductsForm::Rows && set.design().heading == HeadingForm::Ruled;
    for (index, group) in groups.into_iter().enumerate() {
        if ruled && index > 0 {
            rows.push(Row { gap: 26, ..Row::stack(vec![set.rule(0, "100%", 1, false)], side) });
        }
        for (at, mut row) in group.into_iter().enumerate() {
            if at == 0 && !rows.is_empty() {
                row.gap += if index == 0 { below_title } else { 26 };
            }
            rows.push(row);
        }
    }
    rows
}

/// Returns whether the products can be side by side: their pictures must be known to have similar shapes.
fn alike(products: &[Product]) -> bool {
    let (mut flattest, mut tallest) = (f64::INFINITY, 0.0_f64);
    for image in products.iter().filter_map(|product| product.image.as_ref()) {
        let (Some(width), Some(height)) = (image.width, image.height) else { return false };
        let shape = f64::from(height) / f64::from(width.max(1));
        (flattest, tallest) = (flattest.min(shape), tallest.max(shape));
    }
    tallest <= flattest * 1.25
}

/// Returns how many of the remaining products are in the next row. A grid of several products must not end with a single product.
fn across(left: usize) -> usize {
    match left {
        1 => 1,
        2 | 4 => 2,
        _ => 3,
    }
}

/// Returns a row with `count` columns. The last row of a grid can have fewer products than columns.
fn side_by_side(set: BlockContext<'_>, products: &[Product], count: u16, form: ProductsForm) -> Row {
    let tiles = form == ProductsForm::Tiles;
    let gutter: u16 = if tiles { 7 } else { 10 };
    let wide = (set.measure() + 2 * gutter) / count;
    let room = wide - 2 * gutter;
    let height = common_height(products, room);
    let inner = if tiles { set.on(GroundName::Tint) } else { set };
    let inset = if tiles { 16 } else { 0 };
    let width = room - 2 * inset;
    let heading = if set.theme.families.has_serif_headings { 0.48 } else { 0.54 };
    let names = common_lines(products.iter().map(|product| product.name.as_str()), set.design().scale.small, width, heading);
    let texts = common_lines(
        products.iter().map(|product| product.text.as_deref().unwrap_or_default()),
        set.design().scale.note,
        width,
        0.49,
    );
    let has_texts = products.iter().any(|product| product.text.is_some());
    // On a phone, two products still fit side by side.
    let together = count == 2;
    let columns = products.iter().map(|product| {
        let mut cells = Vec::new();
        if let Some(image) = &product.image {
            cells.push(fitted(inner, product, image, room, height, tiles));
        }
        let mut words = facts(inner, product, Layout::Below);
        // A product without text gets an empty line next to products with text, so that the prices are aligned.
        if product.text.is_none() && has_texts {
            words.insert(1, inner.words(6, "p", "note", "mu", "&nbsp;".to_owned()));
        }
        let heights = [Some(names), has_texts.then_some(texts)].into_iter().flatten();
        for (cell, height) in words.iter_mut().zip(heights).filter(|(_, height)| *height > 0) {
            if let Content::Words(words) = &mut cell.content {
                (words.height, words.is_alone_when_small) = (Some(height), !together);
            }
        }
        for cell in &mut words {
            cell.side = inset;
        }
        cells.extend(words);
        if tiles {
            cells.push(inner.cell(0, Content::Space { height: 18 }));
        }
        (100.0 / f32::from(count), cells)
    });
    let free = usize::from(count).saturating_sub(products.len());
    let empty = || (100.0 / f32::from(count), vec![inner.cell(0, Content::Space { height: 1 })]);
    let mut row = set.row(columns.chain(std::iter::repeat_with(empty).take(free)).collect(), gutter, together);
    if tiles {
        for column in row.columns.iter_mut().take(products.len()) {
            column.frame = Some(inner.frame("none".to_owned()));
        }
    }
    row
}

/// Returns the common height for the names or descriptions in a row, so that the content below them is aligned; 0 if all have the same
/// number of lines.
///
/// Letter widths are estimated, because recipients have different fonts. The estimate is usually off by at most one line, which only adds
/// some space.
fn common_lines<'a>(texts: impl Iterator<Item = &'a str>, size: Size, room: u16, letter: f32) -> u16 {
    const LINES_MAX: u16 = 5;
    let across = (f32::from(room) / (f32::from(size.size) * letter)) as usize;
    let lines = texts.map(|text| {
        let (mut lines, mut used) = (1_u16, 0);
        for word in text.split(' ') {
            let wide = word.chars().count();
            if used > 0 && used + 1 + wide > across {
                (lines, used) = (lines + 1, wide);
            } else {
                used += wide + usize::from(used > 0);
            }
        }
        lines
    });
    let (least, most) = lines.fold((u16::MAX, 0), |(least, most), now| (least.min(now), most.max(now)));
    if least < most { most.min(LINES_MAX) * size.line } else { 0 }
}

/// Returns the common height of pictures in a row, so that the names below are aligned.
fn common_height(products: &[Product], room: u16) -> u32 {
    let heights = products.iter().filter_map(|product| {
        let image = product.image.as_ref()?;
        let (width, height) = (image.width?, image.height?);
        Some(u32::from(room) * height / width.max(1))
    });
    heights.max().unwrap_or(u32::from(room)).min(u32::from(room) * 5 / 4).max(1)
}

/// Returns a cell with a picture that fills the space or, if the picture is narrower, is centered.
fn fitted(
    set: BlockContext<'_>,
    product: &Product,
    image: &crate::features::emails::document::Picture,
    room: u16,
    height: u32,
    tiles: bool,
) -> Cell {
    let mut linked = image.clone();
    linked.href = linked.href.or_else(|| Some(product.href.clone()));
    let mut cell = set.aligned(Align::Center).picture(0, &linked, room);
    let Content::Picture(picture) = &mut cell.content else { return cell };
    if let (Some(across), Some(down)) = (image.width, image.height) {
        let natural = u32::from(room) * down / across.max(1);
        if natural > height {
            picture.width = Some((height * across / down.max(1)).max(1) as u16);
        } else {
            // A picture that is less tall than the others in its row gets space above and below, so that all of them end at the same
            // height.
            let spare = (height - natural) as u16;
            cell.gap += spare / 2;
            picture.below = spare - spare / 2;
        }
    }
    if tiles {
        let radius = set.theme.radius.card;
        picture.radius = if picture.width.is_none() { format!("{radius}px {radius}px 0 0") } else { "0".to_owned() };
    }
    cell
}

/// Returns a row with one product: the picture at the start of the row, and the product's details next to the picture.
fn beside(set: BlockContext<'_>, product: &Product, form: ProductsForm, layout: Layout) -> Vec<Row> {
    let set = set.aligned(Align::Start);
    let Some(image) = &product.image else {
        return vec![Row::stack(facts(set, product, layout), set.room().side)];
    };
    let gutter = 12;
    let together = form == ProductsForm::Rows;
    let share = if together { 36.0 } else { 50.0 };
    let room = (f32::from(set.measure() + 2 * gutter) * share / 100.0) as u16 - 2 * gutter;
    let mut linked = image.clone();
    linked.href = linked.href.or_else(|| Some(product.href.clone()));
    let picture = set.picture(0, &linked, room);
    let mut row = set.row(vec![(share, vec![picture]), (100.0 - share, facts(set, product, layout))], gutter, together);
    row.stand = "middle";
    vec![row]
}

/// Returns a row with one centered product: the picture and, below the picture, the product's details.
fn alone(set: BlockContext<'_>, product: &Product) -> Row {
    let image = product.image.as_ref().map(|image| {
        let mut linked = image.clone();
        linked.href = linked.href.or_else(|| Some(product.href.clone()));
        set.small_picture(0, &linked, set.measure() * 3 / 5)
    });
    let words = facts(set, product, Layout::Below).into_iter().map(|cell| Cell { side: 0, ..cell });
    Row::stack(image.into_iter().chain(words).collect(), set.room().side)
}

/// The position of a product's name, text, price and button relative to the picture.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Layout {
    Below,
    Beside,
    /// Next to the picture of the only product in the block.
    Alone,
}

/// Returns the cells with a product's name, text, price and button.
fn facts(set: BlockContext<'_>, product: &Product, layout: Layout) -> Vec<Cell> {
    let colors = set.colors();
    let name = set.linked(&product.name, &product.href, colors.text, "tx");
    let tile = set.design().products == ProductsForm::Tiles;
    let gap = match (layout, &product.image) {
        (Layout::Below, Some(_)) => 14,
        (Layout::Below, None) if tile => 18,
        _ => 0,
    };
    let mut cells = vec![set.words(gap, "h3", "small", "tx", name)];
    cells.extend(product.text.as_ref().map(|text| set.line(6, "note", "mu", text)));
    if let Some(price) = &product.price {
        let before = product.price_before.as_ref().map(|before| {
            let before = inline::words(before);
            format!("&nbsp; <s class=\"mu\" style=\"color:{};font-weight:400\">{before}</s>", colors.muted)
        });
        let html = format!("{}{}", inline::words(price), before.unwrap_or_default());
        cells.push(set.words(6, "p", "price", "tx", html));
    }
    if let Some(label) = &product.button {
        let emphasis = if layout == Layout::Alone { Emphasis::Primary } else { Emphasis::Quiet };
        cells.push(set.button(14, label, &product.href, emphasis));
    }
    cells
}

#[cfg(test)]
mod tests {
    use scraper::{Html, Selector};

    use crate::features::emails::document::{Block, Email, Layout, Style};
    use crate::features::emails::render::{Rendered, render};
    use crate::features::emails::theme::Theme;
    use crate::features::projects::brand::Brand;

    fn email(layout: Layout) -> Email {
        Email { style: Style { layout: Some(layout), ..Style::default() }, ..Email::sample() }
    }

    fn draw(email: &Email) -> Rendered {
        render(email, &Theme::new(&Brand::default(), email, 0))
    }

    /// Returns the values of the attribute with this name in MJML.
    fn values<'a>(mjml: &'a str, name: &str) -> Vec<&'a str> {
        let start = format!(" {name}=\"");
        mjml.split(start.as_str()).skip(1).filter_map(|rest| rest.split('"').next()).collect()
    }

    /// Regression test: the MJML library ignores a padding that contains a zero without a unit, so widths for Outlook were too large.
    #[test]
    fn every_length_of_a_padding_has_a_unit() {
        for layout in Layout::ALL {
            let mjml = draw(&email(layout)).mjml;
            let paddings = [values(&mjml, "padding"), values(&mjml, "inner-padding")].concat();
            assert!(paddings.len() > 20, "{layout:?}: {paddings:?}");
            for padding in paddings {
                assert!(padding.split(' ').all(|length| length.ends_with("px")), "{layout:?}: {padding}");
            }
        }
    }

    #[test]
    fn the_pictures_of_products_side_by_side_fit_their_columns() {
        let length = |text: &str| text.trim_end_matches("px").parse::<f32>().expect("the length is in pixels");
        let sides = |padding: &str| length(padding.split(' ').nth(1).expect("the padding has a side"));
        for layout in Layout::ALL {
            let mut email = email(layout);
            for block in &mut email.blocks {
                if let Block::Products(block) = block {
                    block.columns = Some(2);
                }
            }
            let drawn = draw(&email);
            let outer = length(values(&drawn.mjml, "width")[0]);
            let section = drawn.mjml.split("<mj-section").find(|section| section.contains("Roasted oolong"));
            let section = section.expect("the email has products");
            let paddings = values(section, "padding");
            let room = (outer - 2.0 * sides(paddings[0])) / 2.0 - 2.0 * sides(paddings[1]);
            let page = Html::parse_document(&drawn.html);
            let sources = values(section, "src");
            let pictures: Vec<_> = page
                .select(&Selector::parse("img").expect("the CSS selector is valid"))
                .filter(|image| image.attr("src").is_some_and(|source| sources.contains(&source)))
                .map(|image| length(image.attr("width").expect("the picture has a width")))
                .collect();
            assert_eq!(pictures.len(), 2, "{layout:?}");
            assert!(pictures.iter().all(|width| *width <= room + 0.5), "{layout:?}: {pictures:?} are wider than {room}");
        }
    }
}
