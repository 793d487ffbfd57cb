//! Renders the plain-text part of an email from the document, for readers who prefer plain text and for spam filters that distrust email
//! without a plain-text part.
//!
//! Titles and section headings are underlined, a link's address follows its text, narrow tables are aligned, and lines are wrapped at 78
//! columns. The theme has no effect.

use super::wrap::{columns, indented, underlined, wrapped};
use crate::features::emails::document::*;
use crate::vocab::placeholders::POSTAL_ADDRESS;

pub fn text(email: &Email) -> String {
    let mut out = String::new();
    for block in &email.blocks {
        let text = block_text(block);
        let text = text.trim_matches('\n');
        if text.is_empty() {
            continue;
        }
        if !out.is_empty() {
            out.push_str("\n\n");
        }
        out.push_str(text);
    }
    out.push('\n');
    out
}

pub fn block_text(block: &Block) -> String {
    match block {
        Block::Header(block) => block.name.to_string(),
        Block::Hero(block) => hero(block),
        Block::Text(block) => prose(&block.text),
        Block::Heading(block) => heading(block),
        Block::Image(block) => image(block),
        Block::Button(block) => action(&block.label, &block.href),
        Block::Columns(block) => {
            let cells = block.columns.iter().flat_map(|column| &column.blocks).map(cell);
            joined(cells.collect(), "\n\n")
        }
        Block::Products(block) => products(block),
        Block::Quote(block) => quote(block),
        Block::List(block) => list(block),
        Block::Coupon(block) => {
            let button = block.button.as_ref().map(|button| action(&button.label, &button.href));
            let code = format!("    {}", block.code);
            joined(vec![wrapped(&block.title), code, maybe(&block.text), button.unwrap_or_default()], "\n\n")
        }
        Block::Countdown(block) => {
            let line = wrapped(&format!("{}: {}", block.title.trim_end_matches(':'), block.date));
            joined(vec![line, maybe(&block.text)], "\n")
        }
        Block::Table(block) => table(block),
        Block::Divider(block) => match block.look {
            Pause::Line => "* * *".to_owned(),
            Pause::Space => String::new(),
        },
        Block::Social(block) => {
            let links = block.links.iter().map(|link| format!("{}: {}", link.name, link.href));
            let title = block.title.as_ref().map(|title| wrapped(title)).unwrap_or_default();
            joined(vec![title, links.collect::<Vec<_>>().join("\n")], "\n")
        }
        Block::Footer(block) => footer(block),
    }
}

fn cell(cell: &Cell) -> String {
    match cell {
        Cell::Text(block) => prose(&block.text),
        Cell::Heading(block) => heading(block),
        Cell::Image(block) => image(block),
        Cell::Button(block) => action(&block.label, &block.href),
        Cell::List(block) => list(block),
        Cell::Divider(_) => String::new(),
    }
}

fn joined(parts: Vec<String>, between: &str) -> String {
    parts.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join(between)
}

/// Renders spans as plain text. A link's address follows the link text in parentheses. If the text is the address without its scheme, the
/// address replaces the text. If the text is the whole address or the dialed telephone number, the address is not repeated.
fn spans(spans: &[Span]) -> String {
    let mut out = String::new();
    let mut open: Option<&Link> = None;
    let mut since = 0;
    let close = |out: &mut String, open: &mut Option<&Link>, since: usize| {
        if let Some(link) = open.take() {
            let (address, text) = (shown(link), out[since..].trim());
            let is_number = link.as_str().starts_with("tel:") && dialed(text) == address;
            let bare = address.split_once("://").map(|(_, bare)| bare.trim_end_matches('/'));
            if bare == Some(text) {
                out.replace_range(since.., address);
            } else if text != address && !is_number {
                out.push_str(&format!(" ({address})"));
            }
        }
    };
    for span in spans {
        match span {
            Span::Break => {
                close(&mut out, &mut open, since);
                out.push('\n');
            }
            Span::Words { text, link, .. } => {
                if open != link.as_ref() {
                    close(&mut out, &mut open, since);
                    (open, since) = (link.as_ref(), out.len());
                }
                out.push_str(text);
            }
        }
    }
    close(&mut out, &mut open, since);
    out
}

/// Returns the characters of a telephone number that are dialed.
fn dialed(text: &str) -> String {
    text.chars().filter(|c| c.is_ascii_digit() || *c == '+').collect()
}

/// Returns an address without `mailto:` or `tel:`.
fn shown(link: &Link) -> &str {
    let text = link.as_str();
    text.strip_prefix("mailto:").or_else(|| text.strip_prefix("tel:")).unwrap_or(text)
}

fn prose<const MAX: usize>(text: &Rich<MAX>) -> String {
    let paragraphs = text.paragraphs().map(|paragraph| {
        let lines = spans(paragraph);
        lines.split('\n').map(wrapped).collect::<Vec<_>>().join("\n")
    });
    paragraphs.collect::<Vec<_>>().join("\n\n")
}

fn maybe<const MAX: usize>(text: &Option<Rich<MAX>>) -> String {
    text.as_ref().map(prose).unwrap_or_default()
}

/// Renders inline text as one line, without wrapping.
fn one_line<const MAX: usize>(text: &Rich<MAX>) -> String {
    let lines: Vec<String> = text.paragraphs().map(spans).collect();
    lines.join(" ").replace('\n', " ")
}

fn action(label: &str, href: &Link) -> String {
    format!("{}\n{}", wrapped(label), shown(href))
}

fn heading(block: &Heading) -> String {
    match block.level {
        HeadingLevel::Title => underlined(&block.text, '='),
        HeadingLevel::Section => underlined(&block.text, '-'),
        HeadingLevel::Small => wrapped(&block.text),
    }
}

fn hero(hero: &Hero) -> String {
    let eyebrow = hero.eyebrow.as_ref().map(|eyebrow| wrapped(eyebrow)).unwrap_or_default();
    let title = joined(vec![eyebrow, underlined(&hero.title, '=')], "\n");
    let image = hero.image.as_ref().map(picture).unwrap_or_default();
    let button = hero.button.as_ref().map(|button| action(&button.label, &button.href)).unwrap_or_default();
    joined(vec![title, maybe(&hero.text), image, button], "\n\n")
}

fn picture(picture: &Picture) -> String {
    let alt = picture.alt.as_ref().map(|alt| wrapped(&format!("[{alt}]"))).unwrap_or_default();
    let href = picture.href.as_ref().map(|href| shown(href).to_owned()).unwrap_or_default();
    joined(vec![alt, href], "\n")
}

fn image(image: &Image) -> String {
    let caption = image.caption.as_ref().map(|caption| wrapped(caption)).unwrap_or_default();
    joined(vec![picture(&image.image), caption], "\n")
}

fn products(block: &Products) -> String {
    let each = block.products.iter().map(|product| {
        let price = match (&product.price, &product.price_before) {
            (Some(price), Some(before)) => format!(": {price} ({before})"),
            (Some(price), None) => format!(": {price}"),
            (None, _) => String::new(),
        };
        let text = product.text.as_ref().map(|text| indented(text, "  ", "  ")).unwrap_or_default();
        let address = format!("  {}", shown(&product.href));
        joined(vec![indented(&format!("{}{price}", product.name), "* ", "  "), text, address], "\n")
    });
    let title = block.title.as_ref().map(|title| underlined(title, '-')).unwrap_or_default();
    joined(vec![title, each.collect::<Vec<_>>().join("\n\n")], "\n\n")
}

fn quote(quote: &Quote) -> String {
    let stars = quote.stars.map(|stars| {
        let full = usize::from(stars.min(5));
        format!("> {}{}", "★".repeat(full), "☆".repeat(5 - full))
    });
    let author = [&quote.author, &quote.role].into_iter().flatten().map(ToString::to_string).collect::<Vec<_>>().join(", ");
    let author = if author.is_empty() { String::new() } else { indented(&author, "> — ", ">   ") };
    joined(vec![stars.unwrap_or_default(), indented(&one_line(&quote.text), "> ", "> "), author], "\n")
}

fn list(list: &List) -> String {
    let each = list.items.iter().enumerate().map(|(index, item)| {
        let mark = match list.marks {
            ListMarks::Bullets => "* ".to_owned(),
            ListMarks::Checks => "✓ ".to_owned(),
            ListMarks::Numbers => format!("{}. ", index + 1),
        };
        let rest = " ".repeat(mark.chars().count());
        match &item.title {
            Some(title) if title.ends_with(super::body::ITEM_TITLE_ENDS) => {
                indented(&format!("{title} {}", one_line(&item.text)), &mark, &rest)
            }
            Some(title) => format!("{}\n{}", indented(title, &mark, &rest), indented(&one_line(&item.text), &rest, &rest)),
            None => indented(&one_line(&item.text), &mark, &rest),
        }
    });
    each.collect::<Vec<_>>().join("\n")
}

fn table(table: &Table) -> String {
    let mut rows: Vec<Vec<String>> = Vec::with_capacity(table.rows.len() + 1);
    if !table.head.is_empty() {
        rows.push(table.head.iter().map(ToString::to_string).collect());
    }
    rows.extend(table.rows.iter().map(|row| row.cells.iter().map(one_line).collect()));
    let title = table.title.as_ref().map(|title| underlined(title, '-')).unwrap_or_default();
    joined(vec![title, columns(&rows, !table.head.is_empty())], "\n\n")
}

fn footer(footer: &Footer) -> String {
    let mut parts = vec!["-".repeat(40), wrapped(&footer.sender)];
    parts.push(footer.address.as_ref().map_or_else(|| POSTAL_ADDRESS.to_owned(), |address| wrapped(address)));
    let reason = footer.reason.as_ref().map(|reason| format!("\n{}", prose(reason)));
    parts.extend(reason);
    let mut links = vec![format!("{}: {}", footer.unsubscribe, Link::unsubscribe())];
    links.extend(footer.view.as_ref().map(|label| format!("{label}: {}", Link::view())));
    links.extend(footer.links.iter().map(|link| format!("{}: {}", link.label, shown(&link.href))));
    parts.push(format!("\n{}", links.join("\n")));
    parts.join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_sample_is_readable() {
        let text = text(&Email::sample());
        for part in [
            "Leaf & Stone\n\nWinter sale\nWarm hands, clear head\n======================\n\nUntil Sunday all winter teas are 20 % off.",
            "Choose your tea\nhttps://example.com/winter\n",
            "Hello {{ first_name | default(\"there\") }},\n\nthe first frost",
            "* Roasted oolong: € 14.40 (€ 18.00)\n  https://example.com/oolong\n",
            "20 % off all winter teas\n\n    FROST20\n\nOnce per person",
            "1. Warm the pot. Rinse it with hot water first.\n2. Count",
            "> ★★★★★\n> The oolong tastes like the week in the mountains where I first drank it.\n> — Mara L., Customer since 2021",
            "Orders up to € 30  € 3.90\nOrders from € 30     free\n",
            "The sale ends: Sunday, 30 November, at midnight",
            "Instagram: https://example.com/instagram",
            "Leaf & Stone GmbH\nTeestraße 12, 20457 Hamburg, Germany\n\nYou get this email because you subscribed on our site.\n\n\
             Unsubscribe: {{ unsubscribe_url }}\n",
        ] {
            assert!(text.contains(part), "{part:?} is missing in\n{text}");
        }
        let long = text.lines().filter(|line| !line.contains("://") && line.chars().count() > 78);
        assert_eq!(long.collect::<Vec<_>>(), [""; 0]);
    }

    #[test]
    fn addresses_follow_their_text_once() {
        let rich: Rich<200> = Rich::parse(
            "see [the **sale**](https://example.com/x), https://example.com or [a@example.com](mailto:a@example.com)",
        )
        .expect("the markup is valid");
        assert_eq!(prose(&rich), "see the sale (https://example.com/x), https://example.com or a@example.com");
        let bare: Rich<200> =
            Rich::parse("[example.com/x](https://example.com/x) or [+49 40 12 34](tel:+49401234)").expect("valid");
        assert_eq!(prose(&bare), "https://example.com/x or +49 40 12 34");
    }

    #[test]
    fn the_title_of_an_item_has_a_line_of_its_own_unless_it_is_a_sentence() {
        let item = |title: &str| Item { title: Some(Line::cut(title)), text: Rich::plain("A pattern every day.") };
        let marks = ListMarks::Bullets;
        let all = List { id: "list".into(), marks, items: vec![item("Calendar on Instagram"), item("Warm the pot.")] };
        assert_eq!(list(&all), "* Calendar on Instagram\n  A pattern every day.\n* Warm the pot. A pattern every day.");
    }
}
