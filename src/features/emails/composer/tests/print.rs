//! Formats an email as plain lines, for tests and for human readers.

use std::fmt::Write;

use crate::features::emails::document::*;

/// Returns all text of an email, block by block.
pub fn text(email: &Email) -> String {
    let mut out = String::new();
    let layout = email.style.layout.map_or_else(String::new, |layout| format!("{layout:?}"));
    writeln!(out, "── {:?} · {layout} · {}", email.purpose, email.language).expect("writing to memory cannot fail");
    writeln!(out, "Subject:   {}", email.subject).expect("writing to memory cannot fail");
    writeln!(out, "Preheader: {}", email.preheader).expect("writing to memory cannot fail");
    for block in &email.blocks {
        let text = block_text(block);
        if !text.is_empty() {
            writeln!(out, "{text}").expect("writing to memory cannot fail");
        }
    }
    out
}

fn block_text(block: &Block) -> String {
    let mut lines: Vec<String> = Vec::new();
    match block {
        Block::Header(_) => {}
        Block::Hero(hero) => {
            lines.extend(hero.eyebrow.as_ref().map(|text| format!("  ({text})")));
            lines.push(format!("# {}", hero.title));
            lines.extend(hero.image.as_ref().map(|image| format!("  <{}>", image.src)));
            lines.extend(hero.text.as_ref().map(|text| text.markup()));
            lines.extend(hero.button.as_ref().map(|button| format!("  [{}]", button.label)));
        }
        Block::Text(text) => lines.push(text.text.markup()),
        Block::Heading(heading) => lines.push(format!("## {}", heading.text)),
        Block::Image(image) => lines.push(format!("  <{}>", image.image.src)),
        Block::Button(button) => lines.push(format!("  [{}]", button.label)),
        Block::Columns(columns) => lines.extend(columns.columns.iter().flat_map(|column| &column.blocks).map(cell_text)),
        Block::Products(products) => {
            lines.extend(products.title.as_ref().map(|title| format!("## {title}")));
            for product in &products.products {
                let before = product.price_before.as_ref().map_or_else(String::new, |price| format!(" ~{price}~"));
                let price = product.price.as_ref().map_or_else(String::new, |price| format!(" ·{before} {price}"));
                let words = product.text.as_ref().map_or_else(String::new, |text| format!(" · {text}"));
                let button = product.button.as_ref().map_or_else(String::new, |label| format!(" [{label}]"));
                lines.push(format!("  * {}{price}{words}{button}", product.name));
            }
        }
        Block::Quote(quote) => {
            let author = quote.author.as_ref().map_or_else(String::new, |author| format!(" — {author}"));
            lines.push(format!("  “{}”{author}", quote.text.words()));
        }
        Block::List(list) => lines.extend(list.items.iter().map(|item| format!("  - {}", item.text.markup()))),
        Block::Coupon(coupon) => {
            let text = coupon.text.as_ref().map_or_else(String::new, Rich::markup);
            lines.push(format!("  ┆ {} ┆ {} ┆ {text}", coupon.title, coupon.code));
        }
        Block::Countdown(countdown) => lines.push(format!("  ⏱ {} {}", countdown.title, countdown.date)),
        Block::Table(table) => {
            lines.extend(table.title.as_ref().map(|title| format!("## {title}")));
            if !table.head.is_empty() {
                lines.push(format!("  {}", table.head.iter().map(|cell| cell.as_str()).collect::<Vec<_>>().join(" | ")));
            }
            let row = |row: &Row| format!("  {}", row.cells.iter().map(Rich::words).collect::<Vec<_>>().join(" | "));
            lines.extend(table.rows.iter().map(row));
        }
        Block::Divider(_) => {}
        Block::Social(social) => {
            let title = social.title.as_ref().map_or_else(String::new, |title| format!("{title}: "));
            let names: Vec<&str> = social.links.iter().map(|link| link.name.as_str()).collect();
            lines.push(format!("  {title}{}", names.join(", ")));
        }
        Block::Footer(footer) => {
            let reason = footer.reason.as_ref().map_or_else(String::new, Rich::words);
            lines.push(format!("  ({} · {reason} · {})", footer.sender, footer.unsubscribe));
        }
    }
    lines.join("\n")
}

fn cell_text(cell: &Cell) -> String {
    match cell {
        Cell::Text(text) => text.text.markup(),
        Cell::Heading(heading) => format!("### {}", heading.text),
        Cell::Image(image) => format!("  <{}>", image.image.src),
        Cell::Button(button) => format!("  [{}]", button.label),
        Cell::List(list) => list.items.iter().map(|item| format!("  - {}", item.text.words())).collect::<Vec<_>>().join("\n"),
        Cell::Divider(_) => String::new(),
    }
}
