//! Tests edits of emails from different email tools, and the resulting HTML.

use std::collections::HashMap;

use super::*;
use crate::base::text::Color;

const ROWS: &str = "<body bgcolor=#f4f4f4 style=\"margin:0\"><div style=\"display:none;max-height:0;overflow:hidden\">Save today&zwnj;&nbsp;</div>\
    <table width=\"100%\" bgcolor=#f4f4f4><tr><td align=center><table width=600 bgcolor=#ffffff><tr><td><img src=https://x.example/hero.jpg \
    width=600 height=300 alt=Hero></td></tr><tr><td style=\"padding:20px;font:16px Arial;color:#333333\">Save <b>20%</b> on <a \
    href=https://x.example/teas>all teas</a> today.</td></tr><tr><td style=\"padding:20px\"><table><tr><td bgcolor=#1a73e8 \
    style=\"border-radius:4px\"><a href=https://x.example/shop style=\"display:inline-block;padding:12px;color:#ffffff\">Shop now</a></td>\
    </tr></table></td></tr><tr><td style=\"font-size:12px;color:#999999\">Acme, 1 High Street</td></tr></table></td></tr></table></body>";

fn safe(source: &str) -> ImportedHtml {
    html(source, &HashMap::new()).expect("the HTML is small enough")
}

fn color(text: &str) -> Color {
    text.parse().expect("the color is valid")
}

fn part<'a>(imported_html: &'a ImportedHtml, words: &str) -> &'a Part {
    let says = |part: &&Part| match part {
        Part::Text(own) => own.text().contains(words),
        Part::Image(image) => image.alt == words,
    };
    imported_html.outline.parts.iter().find(says).unwrap_or_else(|| panic!("{words}: {:?}", imported_html.outline.parts))
}

fn changed(imported_html: &ImportedHtml, changes: &[Change]) -> ImportedHtml {
    let revised = revise(&imported_html.html, changes).expect("the HTML is small enough");
    assert_eq!(revised.removed, Vec::<String>::new());
    revised
}

#[test]
fn texts_are_replaced_and_emptied_elements_removed() {
    let before = safe(ROWS);
    let Part::Text(text_part) = part(&before, "all teas") else { panic!("the part is not text") };
    let nodes: Vec<(usize, &str)> = text_part.pieces.iter().map(|piece| (piece.node, piece.text.as_str())).collect();
    assert_eq!(nodes.iter().map(|(_, text)| *text).collect::<Vec<_>>(), ["Save ", "20%", " on ", "all teas", " today."]);
    let say = |place: usize, text: &str| Change::Words { node: nodes[place].0, text: text.to_owned() };
    let after = changed(&before, &[say(1, ""), say(3, "every <tea>"), say(4, " today.\nCome!")]);
    assert!(
        after
            .html
            .contains("Save  on <a href=\"https://x.example/teas\" target=\"_blank\">every &lt;tea&gt;</a> today.<br>Come!</td>"),
        "{}",
        after.html
    );
    let preheader = before.outline.preheader.as_ref().expect("the email has a preheader").node();
    let after = changed(&before, &[Change::Words { node: preheader, text: "Save tomorrow".into() }]);
    assert!(after.html.contains("Save tomorrow\u{200c}&nbsp;</div>"), "{}", after.html);
}

#[test]
fn content_is_removed_with_its_row_and_nothing_else() {
    let before = safe(ROWS);
    for words in ["all teas", "Shop now", "Hero", "Acme"] {
        let after = changed(&before, &[Change::Remove { nodes: part(&before, words).nodes() }]);
        assert_eq!(after.outline.parts.len() + 1, before.outline.parts.len(), "{words}: {}", after.html);
        assert_eq!(
            after.html.matches("<tr").count() + if words == "Shop now" { 2 } else { 1 },
            before.html.matches("<tr").count()
        );
    }
    let columns = safe("<table><tr><td><p>Left</p></td><td><p>Right</p></td></tr></table>");
    let after = changed(&columns, &[Change::Remove { nodes: part(&columns, "Left").nodes() }]);
    assert!(after.html.contains("<tr><td></td><td><p>Right</p></td></tr>"), "{}", after.html);
}

#[test]
fn new_content_looks_like_similar_content() {
    let before = safe(ROWS);
    let insert = |beside: &str, pattern: &str, new: New| Change::Insert {
        beside: part(&before, beside).nodes(),
        before: false,
        new,
        pattern: if pattern.is_empty() { Vec::new() } else { part(&before, pattern).nodes() },
    };
    let after = changed(&before, &[insert("Hero", "all teas", New::Paragraph("Hello there".into()))]);
    let row =
        "<tr><td style=\"padding:20px;font:16px Arial;color:#333333;\">Hello there</td></tr><tr><td style=\"padding:20px;font";
    assert!(after.html.contains(row), "{}", after.html);
    let button = New::Button { words: "See all".into(), address: "https://x.example/all".into() };
    let after = changed(&before, &[insert("all teas", "Shop now", button.clone())]);
    assert_eq!(after.outline.buttons().map(TextPart::text).collect::<Vec<_>>(), ["See all", "Shop now"]);
    assert_eq!(after.html.matches("bgcolor=\"#1a73e8\"").count(), 2);
    let plain =
        safe("<body><h1>Hi</h1><p style=\"color:#111111\"><b>One:</b> two <a href=https://x.example/>three</a></p></body>");
    let beside = part(&plain, "Hi").nodes();
    let pattern = part(&plain, "One").nodes();
    let paragraph = Change::Insert { beside: beside.clone(), before: true, new: New::Paragraph("New".into()), pattern };
    let after = changed(&plain, &[paragraph, Change::Insert { beside, before: false, new: button, pattern: Vec::new() }]);
    assert!(
        after.html.contains("<p style=\"color:#111111;\">New</p><h1>Hi</h1><div style=\"padding:16px 0;\"><a href="),
        "{}",
        after.html
    );
    let image = New::Image { address: "https://x.example/new.jpg".into(), alt: "New".into() };
    let after = changed(&before, &[insert("all teas", "Hero", image)]);
    assert!(
        after.html.contains("<tr><td><img alt=\"New\" src=\"https://x.example/new.jpg\" width=\"600\"></td></tr>"),
        "{}",
        after.html
    );
}

#[test]
fn a_part_moves_with_its_markup() {
    let before = safe(ROWS);
    let step = Change::Move { nodes: part(&before, "Shop now").nodes(), beside: part(&before, "Hero").nodes(), before: true };
    let after = changed(&before, &[step]);
    assert_eq!(after.outline.parts.first().and_then(Part::text_part).map(TextPart::text).as_deref(), Some("Shop now"));
    assert_eq!(after.html.len(), before.html.len());
}

#[test]
fn recoloring_covers_styles_sheets_and_attributes_and_stays_readable() {
    let before = safe(ROWS);
    let paint = |surface, to: &str| changed(&before, &[Change::Paint { surface, color: color(to) }]).html;
    let buttons = paint(ColorTarget::Buttons, "#FFEE00");
    assert!(buttons.contains("<td bgcolor=\"#FFEE00\" style=\"border-radius:4px;background-color:#FFEE00;\">"), "{buttons}");
    assert!(buttons.contains("color:#1A1A1A;\">Shop now"), "{buttons}");
    let ground = paint(ColorTarget::Ground, "#111111");
    assert_eq!((ground.matches("#f4f4f4").count(), ground.matches("bgcolor=\"#ffffff\"").count()), (0, 1), "{ground}");
    let text = paint(ColorTarget::Text, "#444444");
    assert!(text.contains("color:#444444;\">Save") && text.contains("color:#999999;\">Acme"), "{text}");
    let sheet = safe(
        "<style>.b{background:rgb(26,115,232)}@media (prefers-color-scheme:dark){.b{background:#1a73e8}}</style>\
                      <body><a class=\"b btn\" href=https://x.example/ style=\"color:#fff\">Go</a><font color=1A73E8>x</font></body>",
    );
    assert_eq!(sheet.outline.colors.first(), Some(&color("#1A73E8")));
    let after = changed(&sheet, &[Change::Recolor { from: vec![color("#1A73E8")], to: color("#FFFFAA") }]).html;
    assert!(after.contains(".b{background:#FFFFAA;}") && after.contains("{\n.b{background:#1a73e8;}"), "{after}");
    assert!(after.contains("<font color=\"#FFFFAA\">") && after.contains("style=\"color:#1A1A1A;\">Go"), "{after}");
}

#[test]
fn images_links_and_preheaders_can_be_changed() {
    let before = safe(ROWS);
    let Part::Image(image) = part(&before, "Hero") else { panic!("the part is not an image") };
    let link = before.outline.links[0].element;
    let after = changed(
        &before,
        &[
            Change::Image { element: image.element, address: "https://x.example/b.jpg".into(), alt: None },
            Change::Alt { element: image.element, words: "A \"pot\"".into() },
            Change::Link { element: link, address: "https://x.example/sale".into() },
            Change::Title("Tea & more".into()),
            Change::Behind { link, text: " and more".into() },
        ],
    );
    assert!(
        after.html.contains("<img alt=\"A &quot;pot&quot;\" src=\"https://x.example/b.jpg\" width=\"600\">"),
        "{}",
        after.html
    );
    assert!(after.html.contains("<a href=\"https://x.example/sale\" target=\"_blank\">all teas</a> and more today."));
    assert!(after.html.contains("<title>Tea &amp; more</title>"));
    let bare = safe("<p>x</p>");
    let after = changed(&bare, &[Change::Preheader("Read me".into())]);
    assert_eq!(after.outline.preheader.map(|text_part| text_part.text()).as_deref(), Some("Read me"));
}

#[test]
fn an_edit_keeps_tables_for_outlook() {
    let before = safe(
        "<body><!--[if mso]><table width=\"600\"><tr><td><![endif]--><p>Hi there</p><!--[if mso]></td></tr></table><![endif]--></body>",
    );
    let Part::Text(text_part) = part(&before, "Hi there") else { panic!("the part is not text") };
    let after = changed(&before, &[Change::Words { node: text_part.pieces[0].node, text: "Hello".into() }]);
    assert_eq!(after.html, before.html.replace("Hi there", "Hello"));
}

#[test]
fn content_of_an_edit_is_sanitized() {
    let before = safe(ROWS);
    let link = before.outline.links[0].element;
    let after = revise(&before.html, &[Change::Link { element: link, address: "javascript:alert(1)".into() }])
        .expect("the HTML is small enough");
    assert!(!after.html.contains("javascript") && !after.removed.is_empty());
    let unknown = revise(&before.html, &[Change::Words { node: 100_000, text: "x".into() }, Change::Remove { nodes: vec![0] }]);
    assert_eq!(unknown.expect("the HTML is small enough").html, before.html);
}
