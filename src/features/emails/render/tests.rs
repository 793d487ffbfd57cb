//! Tests the rendering of whole emails: every block in every layout and both writing directions, and adversarial documents.

use std::collections::{BTreeSet, HashSet};

use proptest::prelude::*;
use scraper::{Html, Selector};

use super::*;
use crate::engine::render::merge::{OutputKind, Template};
use crate::features::emails::document::*;
use crate::features::emails::theme::design::{Align, Design};
use crate::features::projects::brand::{Brand, BrandLogo, BrandLogoBackground, BrandLogoSource, BrandWebFont};
use crate::vocab::placeholders::POSTAL_ADDRESS;

fn email(layout: Layout, direction: Direction) -> Email {
    Email { style: Style { layout: Some(layout), ..Style::default() }, direction, ..Email::sample() }
}

fn draw(email: &Email) -> Rendered {
    render(email, &Theme::new(&Brand::default(), email, 0))
}

fn each() -> impl Iterator<Item = (Layout, Direction)> {
    Layout::ALL.into_iter().flat_map(|layout| [(layout, Direction::Ltr), (layout, Direction::Rtl)])
}

fn select(css: &str) -> Selector {
    Selector::parse(css).expect("the CSS selector is valid")
}

fn attributes(html: &Html, css: &str, name: &str) -> Vec<String> {
    html.select(&select(css)).map(|element| element.value().attr(name).unwrap_or_default().to_owned()).collect()
}

/// Returns every address that the rendered email may contain: the addresses in the document, and the placeholders for the unsubscribe link
/// and the view link, which are filled in when the email is sent.
fn addresses(email: &Email) -> BTreeSet<String> {
    let mut found = BTreeSet::from([Link::unsubscribe().to_string(), Link::view().to_string()]);
    collect(&email.to_json(), &mut found);
    found
}

fn collect(json: &serde_json::Value, found: &mut BTreeSet<String>) {
    match json {
        serde_json::Value::String(text) => {
            found.insert(text.clone());
            let links = Rich::<100_000>::parse(text).map(|rich| rich.links().map(ToString::to_string).collect::<Vec<_>>());
            found.extend(links.into_iter().flatten());
        }
        serde_json::Value::Array(items) => items.iter().for_each(|item| collect(item, found)),
        serde_json::Value::Object(fields) => fields.values().for_each(|value| collect(value, found)),
        _ => {}
    }
}

#[test]
fn every_block_is_rendered_in_every_layout_and_direction() {
    for (layout, direction) in each() {
        let email = email(layout, direction);
        let drawn = draw(&email);
        let html = Html::parse_document(&drawn.html);
        let words = html.root_element().text().collect::<Vec<_>>().join(" ").replace('\u{a0}', " ");
        for expected in [
            "Leaf & Stone",
            "Winter sale",
            "Warm hands, clear head",
            "Choose your tea",
            "how we choose them",
            "Roasted oolong",
            "€ 14.40",
            "FROST20",
            "How to brew oolong",
            "Count to forty.",
            "Freshly packed",
            "Mara L., Customer since 2021",
            "Our oolong grows at 1,200 metres.",
            "Orders from € 30",
            "Sunday, 30 November, at midnight",
            "Instagram",
            "Teestraße 12",
            "Unsubscribe",
        ] {
            assert!(words.contains(expected), "{layout:?} {direction:?} lacks {expected}");
        }
        assert_eq!(drawn.warnings, []);
        assert_eq!(html.select(&select("img")).count(), 5, "{layout:?}: every picture once");
        assert!(drawn.html.len() < limits::EMAIL_HTML_BYTES_MAX, "{layout:?} has {} bytes", drawn.html.len());
    }
}

#[test]
fn products_are_side_by_side_only_if_their_pictures_have_similar_shapes() {
    let most_in_a_row = |layout, first: Option<u32>| {
        let mut email = email(layout, Direction::Ltr);
        let names: Vec<String> = email
            .blocks
            .iter_mut()
            .filter_map(|block| {
                let Block::Products(block) = block else { return None };
                for product in &mut block.products {
                    let image = product.image.as_mut().expect("the sample's products have pictures");
                    (image.width, image.height) = (Some(600), Some(600));
                }
                block.products[0].image.as_mut().expect("the product has a picture").height = first;
                Some(block.products.iter().map(|product| product.name.as_str().to_owned()).collect::<Vec<_>>())
            })
            .flatten()
            .collect();
        let drawn = draw(&email);
        let rows = drawn.mjml.split("<mj-section").map(|row| names.iter().filter(|name| row.contains(name.as_str())).count());
        rows.max().expect("the picture has rows")
    };
    assert!(Layout::ALL.into_iter().any(|layout| most_in_a_row(layout, Some(600)) == 3));
    for first in [Some(900), None] {
        assert!(Layout::ALL.into_iter().all(|layout| most_in_a_row(layout, first) == 1), "{first:?}");
    }
}

/// Regression test: the sale period below a coupon code was in muted 12-pixel text.
#[test]
fn the_conditions_of_a_code_have_the_size_of_running_text() {
    for layout in Layout::ALL {
        let scale = Theme::new(&Brand::default(), &email(layout, Direction::Ltr), 0).design.scale;
        assert!(scale.body.size >= 16 && scale.lead.size >= scale.body.size && scale.note.size >= 13, "{layout:?}");
        let mjml = draw(&email(layout, Direction::Ltr)).mjml;
        let before = mjml.split("Once per person").next().expect("the sample has a coupon");
        let cell = before.rsplit("<mj-text ").next().expect("the conditions are in a cell");
        assert!(cell.starts_with("mj-class=\"body\" css-class=\"tx"), "{layout:?}: {cell}");
    }
}

#[test]
fn the_html_keeps_figures_together_and_the_plain_text_can_be_searched() {
    let drawn = draw(&email(Layout::Letter, Direction::Ltr));
    assert!(
        drawn.html.contains("20\u{a0}% off") && drawn.html.contains("€\u{a0}14.40") && drawn.html.contains("20457\u{a0}Hamburg")
    );
    assert!(!drawn.text.contains('\u{a0}'), "{}", drawn.text);
}

/// Regression test: phones broke the label "Wann" inside the word.
#[test]
fn the_labels_of_a_table_stay_on_one_line() {
    for layout in Layout::ALL {
        let html = draw(&email(layout, Direction::Ltr)).html;
        let before = html.split("Orders up to").next().expect("the sample has a table");
        let cell = before.rsplit("<td").next().expect("the label is in a cell");
        assert!(cell.contains("white-space:nowrap"), "{layout:?}: {cell}");
    }
}

/// Regression test: above a centered hero, logos had a plate and were aligned to the start of the line.
#[test]
fn a_logo_for_light_backgrounds_has_no_plate_and_the_alignment_of_the_opening() {
    let logo = |url: &str, background| BrandLogo {
        url: url.to_owned(),
        source: BrandLogoSource::Header,
        width: Some(600),
        height: Some(96),
        background,
    };
    let clear = "https://example.com/clear.png";
    let logos = vec![logo(clear, BrandLogoBackground::Light), logo("https://example.com/plate.png", BrandLogoBackground::Any)];
    let mut brand = Brand { logos, ..Brand::default() };
    brand.palette.primary = Some("#B4552D".to_owned());
    for layout in Layout::ALL.into_iter().filter(|layout| *layout != Layout::Midnight) {
        let mut email = email(layout, Direction::Ltr);
        let Some(Block::Header(header)) = email.blocks.first_mut() else { panic!("an email starts with a header") };
        (header.logo, header.links) = (ImageUrl::parse(clear).ok(), Vec::new());
        let mjml = render(&email, &Theme::new(&brand, &email, 0)).mjml;
        assert!(
            mjml.contains(clear) && !mjml.contains("plate.png") && !mjml.contains("padding:8px 12px;border-radius"),
            "{layout:?}"
        );
        let cell = mjml.split("css-class=\"lg").nth(1).expect("the email has a logo");
        let is_centered = Design::of(layout).align == Align::Center || layout == Layout::Cards || layout == Layout::Editorial;
        assert_eq!(
            cell.contains("align=\"center\"") && cell.find("align=\"center\"") < cell.find('>'),
            is_centered,
            "{layout:?}"
        );
    }
}

#[test]
fn the_button_below_a_code_is_on_its_field() {
    let mut email = email(Layout::Cards, Direction::Ltr);
    let href = Link::parse("https://example.com/sale").expect("the address is valid");
    let button = Block::Button(Button { id: "shop".into(), label: "Shop the sale".into(), href, emphasis: Emphasis::Primary });
    let at = email.blocks.iter().position(|block| matches!(block, Block::Coupon(_))).expect("the sample has a coupon");
    email.blocks.insert(at + 1, button);
    let mjml = draw(&email).mjml;
    let code = mjml.find("FROST20").expect("the email has the code");
    let button = mjml[code..].find("Shop the sale").expect("the email has the button");
    assert!(!mjml[code..code + button].contains("</mj-wrapper>"), "{mjml}");
}

/// Regression test: a tall picture filled the whole phone screen, and a half-width picture was as wide as the text.
#[test]
fn small_and_tall_pictures_leave_room_for_the_text() {
    let src = ImageUrl::parse("https://example.com/tall.jpg").expect("the address is valid");
    let picture = Picture { src, alt: None, width: Some(900), height: Some(1100), href: None };
    for (width, size) in [(ImageWidth::Content, Some(1100)), (ImageWidth::Half, None)] {
        let mut email = email(Layout::Editorial, Direction::Ltr);
        let image = Picture { height: size, ..picture.clone() };
        email.blocks.insert(2, Block::Image(Image { id: "tall".into(), image, caption: None, width }));
        let mjml = draw(&email).mjml;
        let cell = mjml.split("tall.jpg").nth(1).and_then(|rest| rest.split("/>").next()).expect("the email has the picture");
        let drawn = cell.split("width=\"").nth(1).and_then(|rest| rest.split("px").next()).and_then(|width| width.parse().ok());
        assert!(drawn.is_some_and(|width: u16| width < 320), "{width:?}: {cell}");
    }
}

#[test]
fn a_single_product_has_the_alignment_of_its_layout() {
    let mut email = email(Layout::Bold, Direction::Ltr);
    for block in &mut email.blocks {
        if let Block::Products(products) = block {
            products.products.truncate(1);
        }
    }
    let mjml = draw(&email).mjml;
    let name = mjml.find("Roasted oolong").expect("the email has the product");
    let cell = mjml[..name].rsplit("<mj-text ").next().expect("the name is in a cell");
    assert!(cell.contains("align=\"center\""), "{cell}");
}

#[test]
fn a_grid_has_the_number_of_columns_that_the_block_says() {
    for layout in Layout::ALL {
        for columns in 1..=3 {
            let mut email = email(layout, Direction::Ltr);
            let block =
                email.blocks.iter_mut().find_map(|block| if let Block::Products(block) = block { Some(block) } else { None });
            let block = block.expect("the sample has products");
            block.columns = Some(columns);
            let names: Vec<String> = block.products.iter().map(|product| product.name.to_string()).collect();
            let drawn = draw(&email);
            let rows = drawn.mjml.split("<mj-section");
            let most = rows.map(|row| names.iter().filter(|name| row.contains(name.as_str())).count()).max();
            assert_eq!(most, Some(usize::from(columns)), "{layout:?}");
        }
    }
}

#[test]
fn filled_boxes_have_their_own_color() {
    let mut email = email(Layout::Bold, Direction::Ltr);
    let before = draw(&email).html;
    email.style.boxes = "#7B1E3A".parse().ok();
    let after = draw(&email).html;
    assert!(!before.contains("#7B1E3A") && after.contains("#7B1E3A"));
}

#[test]
fn layouts_differ_in_more_than_colors() {
    let shapes: HashSet<String> = Layout::ALL
        .into_iter()
        .map(|layout| {
            let html = draw(&email(layout, Direction::Ltr)).html;
            let html = Html::parse_document(&html);
            html.select(&select("body *")).map(|element| element.value().name()).collect::<Vec<_>>().join(" ")
        })
        .collect();
    assert_eq!(shapes.len(), Layout::ALL.len());
}

#[test]
fn emails_are_accessible() {
    for (layout, direction) in each() {
        let drawn = draw(&email(layout, direction));
        let html = Html::parse_document(&drawn.html);
        assert_eq!(attributes(&html, "html", "lang"), ["en"]);
        assert_eq!(attributes(&html, "html", "dir"), [direction.as_str()]);
        assert_eq!(html.select(&select("[role=article][lang][dir]")).count(), 1);
        assert_eq!(html.select(&select("h1")).count(), 1, "{layout:?}");
        assert!(html.select(&select("h2")).count() >= 3, "{layout:?}");
        assert_eq!(html.select(&select("img:not([alt])")).count(), 0);
        // All tables are layout tables, except lists and the data table.
        let facts = html.select(&select("table:not([role])")).count();
        assert_eq!((facts, html.select(&select("table[role=list]")).count()), (1, 1), "{layout:?}");
        assert_eq!(attributes(&html, "meta[name=color-scheme]", "content"), ["light dark"]);
        assert_eq!(html.select(&select("script, iframe, object, link, form")).count(), 0);
        assert!(!drawn.html.contains("@import") && !drawn.html.contains("fonts.googleapis"));
    }
}

#[test]
fn right_to_left_is_mirrored() {
    let html = draw(&email(Layout::Letter, Direction::Rtl)).html;
    assert!(html.contains("direction:rtl") && !html.contains("direction:ltr"), "every table runs from right to left");
    assert!(!html.contains("text-align:left;color") && html.contains("border-right:4px solid"));
}

#[test]
fn dark_mode_has_its_own_colors_for_every_background() {
    let html = draw(&email(Layout::Bold, Direction::Ltr)).html;
    assert!(html.contains("@media (prefers-color-scheme:dark)") && html.contains("[data-ogsc] .g-sheet .tx"));
    let dark = draw(&email(Layout::Midnight, Direction::Ltr)).html;
    assert!(!dark.contains("prefers-color-scheme"), "dark colors stay unchanged");
}

#[test]
fn no_style_sheet_exceeds_the_limit_of_gmail() {
    for (layout, direction) in each() {
        let drawn = draw(&email(layout, direction));
        let html = Html::parse_document(&drawn.html);
        let sheets: Vec<usize> = html.select(&select("style")).map(|sheet| sheet.inner_html().len()).collect();
        assert!(sheets.iter().all(|length| *length < 8192), "{layout:?}: {sheets:?}");
        assert!(!drawn.html.replace(" !important", "").contains("!important"), "{layout:?}: some clients need the space");
        assert!(!drawn.html.contains("</style><style type=\"text/css\">@media (prefers-color-scheme:dark){}"));
    }
}

#[test]
fn the_preview_is_only_the_preheader() {
    let html = draw(&Email::sample()).html;
    let after =
        html.split("Our winter teas, freshly packed. The code is inside.").nth(1).expect("the HTML contains the preheader");
    assert!(after.starts_with("\u{34f}\u{200c}\u{a0}"));
}

#[test]
fn a_footer_without_its_own_address_shows_the_brands_address_once_there_is_one() {
    let mut email = Email::sample();
    if let Some(Block::Footer(footer)) = email.blocks.last_mut() {
        footer.address = None;
    }
    let drawn = draw(&email);
    let html = address_in(&drawn.html, Some("1 High & Low Street"), true);
    assert!(html.contains("<br />1 High &amp; Low Street</"), "{html}");
    assert!(address_in(&drawn.text, Some("1 High & Low Street"), false).contains("\n1 High & Low Street\n"), "{}", drawn.text);
    for (text, is_markup) in [(&drawn.html, true), (&drawn.mjml, true), (&drawn.text, false)] {
        let without = address_in(text, None, is_markup);
        assert!(!without.contains("postal_address") && without.len() + POSTAL_ADDRESS.len() < text.len(), "{without}");
    }
}

#[test]
fn problems_of_an_email_are_warnings() {
    let mut email = Email::sample();
    let long = "word ".repeat(600);
    let texts = (0..30).map(|number| Block::Text(Text { id: format!("t{number}").into(), text: Rich::plain(&long) }));
    email.blocks.splice(1..1, texts.collect::<Vec<_>>());
    let said: Vec<String> = draw(&email).warnings.iter().map(ToString::to_string).collect();
    assert!(
        said[0].starts_with("The HTML is ")
            && said[0].ends_with("Gmail clips emails that are larger than 102 KB, so remove some blocks.")
    );
    assert_eq!(said.len(), 1, "{said:?}");
}

#[test]
fn an_email_has_statistics() {
    let email = email(Layout::Cards, Direction::Ltr);
    let stats = stats(&email, &Theme::new(&Brand::default(), &email, 0));
    assert_eq!((stats.image_count, stats.button_count), (5, 3));
    assert!((120..220).contains(&stats.estimated_length), "{}", stats.estimated_length);
    assert!(stats.colors.contains(&"#FFFFFF".to_owned()));
}

/// Generates adversarial text.
fn words() -> impl Strategy<Value = String> {
    let bits = prop::sample::select(vec![
        "<script>alert(1)</script>",
        "\"",
        "'",
        "&",
        "&amp;",
        "]]>",
        "<!--",
        "-->",
        "<![CDATA[",
        "</mj-text>",
        "</style>",
        "{{",
        "}}",
        "{%",
        "{{ first_name }}",
        "**",
        "*",
        "[",
        "](",
        ")",
        "\\",
        "\n\n",
        "\u{202e}",
        "\u{0}",
        "\u{fe0f}",
        "ﷺ",
        "茶",
        "👩‍👩‍👧",
        " ",
        "word",
        "=\"",
        "/>",
        "<br>",
        "onerror=",
        "\t",
    ]);
    prop_oneof![prop::collection::vec(bits, 0..8).prop_map(|bits| bits.concat()), "\\PC{0,40}", ".{0,20}",]
}

fn rich<const MAX: usize>() -> impl Strategy<Value = Rich<MAX>> {
    words().prop_map(|text| Rich::parse(&text).unwrap_or_else(|_| Rich::plain(&text)))
}

fn link() -> impl Strategy<Value = Link> {
    let any = words().prop_filter_map("an address", |path| Link::parse(&format!("https://example.com/{}", path.trim())).ok());
    prop_oneof![any, Just(Link::unsubscribe()), Just(Link::parse("tel:+4930123").expect("the phone number is valid"))]
}

fn line<const MAX: usize>() -> impl Strategy<Value = Line<MAX>> {
    words().prop_map(|text| Line::new(&text))
}

fn picture() -> impl Strategy<Value = Picture> {
    let side = || prop::option::of(0_u32..30_000);
    (words(), prop::option::of(line()), side(), side(), prop::option::of(link())).prop_map(|(path, alt, width, height, href)| {
        let src = ImageUrl::parse(&format!("https://example.com/{}", path.trim()));
        let src = src.unwrap_or_else(|_| ImageUrl::parse("https://example.com/a.png").expect("the address is valid"));
        Picture { src, alt, width, height, href }
    })
}

fn product() -> impl Strategy<Value = Product> {
    let facts = (prop::option::of(picture()), prop::option::of(line()), prop::option::of(line()), prop::option::of(line()));
    (line(), link(), facts, prop::option::of(line())).prop_map(|(name, href, (image, text, price, price_before), button)| {
        Product { name, href, image, text, price, price_before, button }
    })
}

fn block() -> impl Strategy<Value = Block> {
    let action = || prop::option::of((line(), link()).prop_map(|(label, href)| Action { label, href }));
    let id = || Just(BlockId::new("x"));
    let item = || (prop::option::of(line()), rich()).prop_map(|(title, text)| Item { title, text });
    let links = || prop::collection::vec((line(), link()).prop_map(|(label, href)| NavLink { label, href }), 0..5);
    let row = || (prop::collection::vec(rich(), 0..6), any::<bool>()).prop_map(|(cells, strong)| Row { cells, strong });
    prop_oneof![
        (id(), line(), prop::option::of(link()), links()).prop_map(|(id, name, href, links)| Block::Header(Header {
            id,
            name,
            logo: None,
            href,
            links
        })),
        (id(), prop::option::of(line()), line(), prop::option::of(rich()), prop::option::of(picture()), action())
            .prop_map(|(id, eyebrow, title, text, image, button)| Block::Hero(Hero { id, eyebrow, title, text, image, button })),
        (id(), rich()).prop_map(|(id, text)| Block::Text(Text { id, text })),
        (id(), line()).prop_map(|(id, text)| Block::Heading(Heading { id, text, level: HeadingLevel::Section })),
        (id(), picture()).prop_map(|(id, image)| Block::Image(Image { id, image, caption: None, width: ImageWidth::Full })),
        (id(), line(), link()).prop_map(|(id, label, href)| Block::Button(Button { id, label, href, emphasis: Emphasis::Quiet })),
        (id(), prop::collection::vec(product(), 0..10)).prop_map(|(id, products)| Block::Products(Products {
            id,
            title: None,
            products,
            columns: None
        })),
        (id(), rich(), prop::option::of(line()), any::<u8>()).prop_map(|(id, text, author, stars)| Block::Quote(Quote {
            id,
            text,
            author,
            role: None,
            image: None,
            stars: Some(stars)
        })),
        (id(), prop::collection::vec(item(), 0..4)).prop_map(|(id, items)| Block::List(List {
            id,
            marks: ListMarks::Checks,
            items
        })),
        (id(), line(), line(), action()).prop_map(|(id, title, code, button)| Block::Coupon(Coupon {
            id,
            title,
            code,
            text: None,
            button
        })),
        (id(), prop::collection::vec(line(), 0..5), prop::collection::vec(row(), 0..5))
            .prop_map(|(id, head, rows)| Block::Table(Table { id, title: None, head, rows })),
        (id(), prop::collection::vec((rich(), picture()), 0..4)).prop_map(|(id, columns)| {
            let cells = columns.into_iter().map(|(text, image)| {
                let image = Image { id: "y".into(), image, caption: None, width: ImageWidth::Half };
                vec![Cell::Text(Text { id: "y".into(), text }), Cell::Image(image)]
            });
            Block::Columns(Columns { id, columns: cells.map(|blocks| Column { blocks }).collect() })
        }),
        (id(), line(), links(), line()).prop_map(|(id, sender, links, unsubscribe)| Block::Footer(Footer {
            id,
            sender,
            address: None,
            reason: None,
            links,
            unsubscribe,
            view: None
        })),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, failure_persistence: None, ..ProptestConfig::default() })]

    /// Documents are checked before they are rendered, but rendering must be safe even if a document was not checked.
    #[test]
    fn any_document_is_rendered_and_none_can_break_out(
        blocks in prop::collection::vec(block(), 0..8),
        layout in prop::sample::select(Layout::ALL.to_vec()),
        direction in prop::sample::select(vec![Direction::Ltr, Direction::Rtl]),
        subject in words(),
    ) {
        let email = Email { blocks, subject: subject.as_str().into(), preheader: subject.as_str().into(), ..email(layout, direction) };
        let drawn = draw(&email);
        let html = Html::parse_document(&drawn.html);
        prop_assert_eq!(html.select(&select("script, iframe, object, mj-text")).count(), 0);
        for element in html.select(&select("*")) {
            prop_assert!(element.value().attrs().all(|(name, _)| !name.starts_with("on")), "{}", drawn.html);
        }
        let known = addresses(&email);
        for address in attributes(&html, "a", "href").into_iter().chain(attributes(&html, "img", "src")) {
            prop_assert!(known.contains(&address), "{address} is not in the document: {known:?}");
        }
        let json = email.to_json();
        let again: Email = serde_json::from_value(json.clone()).expect("a serialized document can be parsed");
        prop_assert_eq!(again.to_json(), json);
    }

    #[test]
    fn inline_text_survives_its_markup(text in words()) {
        let plain = Rich::<1000>::plain(&text);
        prop_assert_eq!(Rich::<1000>::parse(&plain.markup()).expect("plain markup is valid").words(), plain.words());
        if let Ok(rich) = Rich::<1000>::parse(&text) {
            let again = Rich::<1000>::parse(&rich.markup()).expect("the links are valid");
            prop_assert_eq!(again.words(), rich.words(), "{}", rich.markup());
        }
    }

    #[test]
    fn reading_any_json_never_panics(text in words(), number in any::<i64>()) {
        let mut json = Email::sample().to_json();
        json["blocks"][1]["title"] = text.clone().into();
        json["blocks"][2] = text.into();
        json["blocks"][3]["products"] = number.into();
        prop_assert!(Email::from_json(&json).is_err());
    }
}

#[test]
fn every_rendered_email_can_be_personalized() {
    let mut fields = serde_json::Map::new();
    for name in ["unsubscribe_url", "view_url", "preferences_url"] {
        fields.insert(name.to_owned(), format!("https://mail.example.com/{name}?a=1&b=2").into());
    }
    for (layout, direction) in each() {
        let drawn = draw(&email(layout, direction));
        for (source, kind) in [(&drawn.html, OutputKind::Html), (&drawn.text, OutputKind::Text)] {
            let template = Template::compile(source, kind).unwrap_or_else(|error| panic!("{layout:?} {kind:?}: {error}"));
            let unknown: Vec<&str> = template.fields().filter(|field| !fields.contains_key(*field)).collect();
            assert!(unknown.is_empty(), "{layout:?} {unknown:?}");
            let filled = template.render(&fields).expect("every merge field has a value");
            assert!(!filled.contains("{{") && filled.contains("https://mail.example.com/unsubscribe_url"), "{layout:?}");
        }
    }
}

#[test]
fn web_fonts_load_in_clients_other_than_outlook() {
    let font = |family: &str, url: &str, weight: &str| BrandWebFont {
        family: family.to_owned(),
        url: url.to_owned(),
        weight: weight.to_owned(),
        italic: false,
        characters: None,
    };
    let mut brand = Brand::default();
    brand.fonts.heading = Some("Fraunces, Georgia, 'Times New Roman', serif".to_owned());
    brand.fonts.body = Some("'DM Sans', Arial, Helvetica, sans-serif".to_owned());
    brand.web_fonts = vec![
        font("Fraunces", "https://cdn.example/fraunces.woff2?v=1", "100 900"),
        font("DM Sans", "https://fonts.googleapis.com/css2?family=DM+Sans:wght@400;700", ""),
        font("Unused", "https://cdn.example/unused.woff2", "400"),
        font("Fraunces", "https://cdn.example/x');}</style><script>.woff2", "400"),
        font("Fraunces", "http://cdn.example/plain.woff2", "400"),
    ];
    for layout in Layout::ALL {
        let email = email(layout, Direction::Ltr);
        let html = render(&email, &Theme::new(&brand, &email, 0)).html;
        let start = html.find("<!--[if !mso]><!--><style>@import").expect("the style sheet is hidden from Outlook");
        let sheet = html[start..].split("</style>").next().expect("the style sheet ends");
        assert!(sheet.contains("@import \"https://fonts.googleapis.com/css2?family=DM+Sans:wght@400;700\";"), "{sheet}");
        assert!(sheet.contains("@font-face{font-family:'Fraunces';font-style:normal;font-weight:100 900;"), "{sheet}");
        assert!(sheet.contains("src:url(https://cdn.example/fraunces.woff2?v=1) format('woff2')"), "{sheet}");
        assert_eq!(html.matches("@font-face").count(), 1, "other fonts are unused or unsafe");
        assert!(html[start..].contains("</style><!--<![endif]-->") && !html.contains("plain.woff2") && !html.contains("<script"));
    }
    assert!(!draw(&email(Layout::Cards, Direction::Ltr)).html.contains("@font-face"), "a brand without web fonts loads none");
}
