//! Tests instructions on imported emails, and the resulting HTML.

use super::*;
use crate::features::emails::imported::tests::{NEWSLETTER, PLAIN, imported, safe};
use crate::features::projects::brand::Brand;

const TODAY: jiff::civil::Date = jiff::civil::Date::constant(2026, 11, 21);

fn edit(source: &str, language: &str, instruction: &str) -> Result<(ImportedEmail, String), NotApplied> {
    let brand = crate::features::emails::composer::tests::brands::teas();
    edit_with(&brand, source, language, instruction)
}

fn edit_with(brand: &Brand, source: &str, language: &str, instruction: &str) -> Result<(ImportedEmail, String), NotApplied> {
    let imported_html = safe(source);
    let lost = |_: &crate::features::emails::document::Email, _: &crate::features::emails::document::Email| Vec::new();
    let means = EditResources { brand, site: Some("https://example.com"), knowledge: &[], today: TODAY, lost: &lost };
    let edited = apply(&imported(&imported_html, language), instruction, &means)?;
    assert_eq!(edited.not_done, [""; 0], "{instruction}");
    let revised =
        imported_html::revise(&imported_html.html, &edited.imported.clone().changes()).expect("the HTML is within the limits");
    assert_ne!(revised.html, imported_html.html, "{instruction}: {:?}", edited.done);
    assert_eq!(revised.removed, [""; 0], "{instruction}");
    let html = revised.html.split_whitespace().collect::<Vec<_>>().join(" ").replace("> <", "><");
    Ok((edited.imported, html))
}

#[track_caller]
fn edited(instruction: &str) -> String {
    edit(NEWSLETTER, "en", instruction).unwrap_or_else(|error| panic!("{instruction}: {error:?}")).1
}

#[track_caller]
fn edited_plain(instruction: &str) -> String {
    edit(PLAIN, "de", instruction).unwrap_or_else(|error| panic!("{instruction}: {error:?}")).1
}

#[track_caller]
fn has(html: &str, parts: &[&str]) {
    for part in parts {
        assert!(html.contains(part), "{part}\n{html}");
    }
}

#[test]
fn words_change_only_in_texts() {
    let (imported, html) = edit(NEWSLETTER, "en", "Change the subject to \"Tea time\"").expect("the instruction is understood");
    assert_eq!(imported.subject, "Tea time");
    has(&html, &["<title>Tea time</title>"]);
    has(&edited("Make the preheader \"Only now\""), &["mso-hide:all;\">Only now&nbsp;\u{200c}"]);
    has(&edited("Change 20% to 25%"), &["<strong>save 25%</strong> on all of them with the code AUTUMN20"]);
    let html = edited("Change 20% to 25% and AUTUMN20 to AUTUMN25");
    has(&html, &["<strong>save 25%</strong> on all of them with the code AUTUMN25."]);
    let html = edited("Replace \"teas\" with \"infusions\"");
    has(&html, &["<b>three new infusions</b>", "href=\"https://teas.example/autumn\"", "Canal infusions, 4 Lock Lane"]);
    has(
        &edited("Replace \"blended three new teas\" with \"made three new blends\""),
        &["We have made <b>three new blends</b> for them"],
    );
    has(
        &edited("Set the headline to \"Warm up\" and change the button text to \"Get warm\""),
        &[">Warm up</td>", ">Get warm</a>"],
    );
    has(&edited_plain("Ersetze „Zwei Jahre“ durch „Drei Jahre“"), &["<li>Drei Jahre Garantie</li>"]);
    has(&edited_plain("Ändere den Betreff in „Licht“"), &["<title>Licht</title>"]);
}

#[test]
fn links_images_and_their_words_change() {
    let html = edited("Link the button to https://teas.example/sale");
    assert_eq!(html.matches("https://teas.example/sale").count(), 2, "{html}");
    let html = edited("Link the first button to https://teas.example/sale");
    has(&html, &["https://teas.example/sale", "https://teas.example/tins"]);
    has(&edited("Link \"growers\" to https://teas.example/people"), &["<a href=\"https://teas.example/people\""]);
    has(
        &edited("Change the link https://teas.example/tins to https://teas.example/steel"),
        &["<a href=\"https://teas.example/steel\""],
    );
    has(
        &edited("Use the image https://teas.example/new.jpg"),
        &["src=\"https://teas.example/new.jpg\" style=\"display:block;width:100%;height:auto;\" width=\"600\"", "logo.png"],
    );
    has(&edited("Swap the second image"), &["pot.jpg", "alt=\""]);
    assert!(!edited("Swap the second image").contains("tin.jpg"));
    has(&edited("Change the alt text of the first image to \"A warm pot\""), &["alt=\"A warm pot\""]);
    let brand = crate::features::emails::composer::tests::brands::teas();
    let wanted =
        brand.images.iter().find(|image| image.width.is_some_and(|width| width > 500)).expect("the brand has a wide image");
    let word = wanted
        .description
        .as_deref()
        .and_then(|told| told.split(' ').max_by_key(|word| word.len()))
        .expect("the description has a word");
    let html =
        edit_with(&brand, NEWSLETTER, "en", &format!("Use the image of the {word}")).expect("the instruction is understood").1;
    assert!(!html.contains("pot.jpg"), "{html}");
}

#[test]
fn colors_change_only_where_requested() {
    let html = edited("Make the button #2E7D32");
    assert_eq!((html.matches("#2E7D32").count(), html.matches("a{color:#1a73e8;}").count()), (3, 1), "{html}");
    has(
        &edited("Change the background to beige"),
        &["<body bgcolor=\"#F5EFE6\" style=\"margin:0;padding:0;background-color:#F5EFE6;\">"],
    );
    let html = edited("Make the text colour #111111");
    has(&html, &["color:#111111;\"> The evenings", "color:#777777;\"> Canal"]);
    has(
        &edited("Make the headline #C62828"),
        &["color:#C62828;\">Autumn teas", "h2 style=\"margin:0 0 8px 0;font-size:20px;color:#C62828;"],
    );
    let white = safe(&edited("Make the text white and the background black"));
    assert!(white.outline.faint.first().is_some_and(|text| text.starts_with("The evenings")), "{:?}", white.outline.faint);
    let html = edited("Make the text white and the background black");
    has(&html, &["<body bgcolor=\"#111111\"", "color:#FFFFFF;\"> The evenings"]);
    has(&edited("Change #1a73e8 to #C62828"), &["a{color:#C62828;}", "bgcolor=\"#C62828\""]);
    let html = edited("Replace blue by green");
    assert!(!html.contains("#1a73e8") && html.contains("#2E7D32"), "{html}");
    has(&edited_plain("mach den Button rot"), &["background-color:#C62828;"]);
    has(&edited_plain("Ändere #0a7b5c in #6A1B9A"), &["h1{color:#6A1B9A;}", ".cta{display:inline-block;background:#6A1B9A;"]);
}

#[test]
fn parts_and_sentences_are_removed() {
    let html = edited("Remove the paragraph with \"save 20%\"");
    assert!(!html.contains("AUTUMN20") && html.contains("Shop now"), "{html}");
    assert!(!edited("Remove the paragraph about free shipping").contains("AUTUMN20"));
    assert!(!edited("Remove the second paragraph").contains("AUTUMN20"));
    assert!(!edited("Remove the image").contains("pot.jpg"));
    assert!(!edited("Remove the logo").contains("logo.png"));
    let html = edited("Remove the button \"See the tins\"");
    assert!(!html.contains("/tins") && html.contains("Shop now") && html.contains("The new tins"), "{html}");
    let html = edited("Remove the sentence \"packed by hand\"");
    assert!(!html.contains("Every tin is packed") && html.contains("growers we have known for years</a>."), "{html}");
    assert!(!edited("Remove the last sentence").contains("they can be filled again"));
    assert!(!edited_plain("Entferne den Absatz mit „alte Lampe“").contains("alte Lampe"));
    assert!(!edited_plain("Lösche den Satz „Erst dann geht sie hinaus“").contains("Erst dann"));
}

#[test]
fn texts_buttons_headings_and_images_are_added() {
    let cell = "font-size:16px;line-height:24px;color:#444444;\">";
    let html = edited("Add a paragraph \"We close at noon.\" after \"Every tin\"");
    has(&html, &[&format!("{cell}We close at noon.</td></tr>")]);
    assert!(
        html.find("We close").expect("the HTML contains the text")
            < html.find("Until Sunday").expect("the HTML contains the text")
    );
    has(
        &edited("Add the sentence \"We close at noon.\" after \"drawing in\""),
        &["drawing in. We close at noon. We have blended <b>three"],
    );
    has(&edited_plain("Füge am Ende einen Absatz hinzu: Bis bald in Kiel."), &["<p>Bis bald in Kiel.</p>"]);
    let html = edited("Add a button \"All teas\" linking to https://teas.example/all after the first paragraph");
    has(&html, &["href=\"https://teas.example/all\"", ">All teas</a>"]);
    assert_eq!(html.matches("bgcolor=\"#1a73e8\"").count(), 2, "{html}");
    has(&edited("Add a heading \"More\" before the button"), &[">More</h2></td></tr>"]);
    has(&edited("Add an image https://teas.example/cup.jpg at the end"), &["src=\"https://teas.example/cup.jpg\""]);
    let html = edited("Add a paragraph \"We are closed on Mondays.\" before the button");
    has(&html, &[&format!("{cell}We are closed on Mondays.</td></tr><tr><td align=\"left\"")]);
    let html = edited("Add an image https://teas.example/cup.jpg after \"Free shipping\"");
    assert!(
        html.find("cup.jpg").expect("the HTML contains the text") < html.find("Shop now").expect("the HTML contains the text"),
        "{html}"
    );
    has(
        &html,
        &[
            "<tr><td><img alt=\"\" src=\"https://teas.example/cup.jpg\" style=\"display:block;width:100%;height:auto;\" width=\"600\">",
        ],
    );
    let html = edited("Add a heading \"What else is new\" before the second image");
    assert!(
        html.find("What else").expect("the HTML contains the text") > html.find("Shop now").expect("the HTML contains the text"),
        "{html}"
    );
    let html = edited("Move the second button to the top");
    has(&html, &["<a href=\"https://teas.example/tins\"", "font-family:Arial,sans-serif;"]);
    let html = edited("Move the button to the top");
    assert!(
        html.find("Shop now").expect("the HTML contains the text") < html.find("pot.jpg").expect("the HTML contains the text"),
        "{html}"
    );
}

#[test]
fn the_seven_languages_are_understood() {
    for instruction in [
        "Entferne das Bild",
        "Supprime le paragraphe avec « save 20% »",
        "Cambia el botón a rojo",
        "Rimuovi la frase \"packed by hand\"",
        "Adicione um parágrafo \"Até logo\" no fim",
        "Verwijder de alinea met \"packed by hand\"",
        "Change le texte alternatif de la première image en « Une théière »",
    ] {
        edited(instruction);
    }
}

#[test]
fn unsupported_instructions_name_what_works() {
    for instruction in [
        "Use the letter layout",
        "Make it formal",
        "translate it into German",
        "add a countdown until November 30",
        "Shorten the text",
        "flibbertigibbet",
        "",
    ] {
        let NotApplied(reasons) = match edit(NEWSLETTER, "en", instruction) {
            Err(error) => error,
            Ok((_, html)) => panic!("{instruction}: {html}"),
        };
        assert!(reasons.len() == 1 && reasons[0].contains('“'), "{instruction}: {reasons:?}");
    }
    let error = edit(NEWSLETTER, "en", "Use the letter layout").expect_err("imported emails have no layouts").0;
    assert!(error[0].contains("imported as HTML"), "{error:?}");
}
