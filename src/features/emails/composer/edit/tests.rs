//! Tests of instructions in plain words, and of the resulting emails.

use jiff::civil::Date;

use super::*;
use crate::base::locale::LanguageTag;
use crate::features::emails::brief::{self, Brief};
use crate::features::emails::composer::tests::{brands, print};
use crate::features::emails::composer::{compose, plan};
use crate::features::emails::document::Block;
use crate::features::projects::brand::BrandFormality;

const TODAY: Date = Date::constant(2026, 11, 21);
const PROMPT: &str = "20% off everything until Sunday, code WINTER20";

fn request(brief: &Brief) -> Request<'_> {
    Request { brief, images: &[], reference: None, site: Some("https://example.com"), seed: 3, today: TODAY }
}

fn composed(prompt: &str, brand: &Brand, language: &str) -> Email {
    let tag = LanguageTag::parse(language).expect("the language tag is valid");
    let brief = brief::parse(prompt, brand, Some(&tag), TODAY);
    let request = request(&brief);
    let plan = plan(&request, brand, false, &tag, Some(1));
    compose(&request, brand, &[], &plan, 0, &tag).email
}

fn sale() -> Email {
    composed(PROMPT, &brands::teas(), "en")
}

fn edit(email: &Email, instruction: &str) -> Result<Edited, NotUnderstood> {
    let brand = brands::teas();
    apply(email, instruction, &EditResources { brand: &brand, site: Some("https://example.com"), origin: None, today: TODAY })
}

fn edited(instruction: &str) -> Email {
    let edited = edit(&sale(), instruction).unwrap_or_else(|error| panic!("{instruction}: {error:?}"));
    assert_eq!(edited.not_done, [""; 0], "{instruction}");
    assert!(edited.email.check().is_empty(), "{instruction}");
    edited.email
}

fn count(email: &Email, kind: fn(&Block) -> bool) -> usize {
    email.blocks.iter().filter(|block| kind(block)).count()
}

fn place(email: &Email, kind: fn(&Block) -> bool) -> usize {
    email.blocks.iter().position(kind).expect("there is one")
}

fn coupon(block: &Block) -> bool {
    matches!(block, Block::Coupon(_))
}

fn products(block: &Block) -> bool {
    matches!(block, Block::Products(_))
}

#[test]
fn texts_are_changed() {
    assert_eq!(edited("Change the subject to \"Tea time\"").subject.as_str(), "Tea time");
    assert_eq!(edited("subject: Tea time again").subject.as_str(), "Tea time again");
    assert_eq!(edited("Ändere den Betreff in „Teezeit“").subject.as_str(), "Teezeit");
    assert_eq!(edited("Make the preheader \"Only for you, and only now\"").preheader.as_str(), "Only for you, and only now");
    let text = print::text(&edited("Change 20% to 25%"));
    assert!(text.contains("25% off") && !text.contains("20% off"), "{text}");
    let text = print::text(&edited("Replace \"WINTER20\" with \"TEA20\""));
    assert!(text.contains("TEA20") && !text.contains("WINTER20"), "{text}");
    let text = print::text(&edited("Set the headline to \"Warm up\" and change the button text to \"Get warm\""));
    assert!(text.contains("# Warm up") && text.contains("[Get warm]"), "{text}");
    assert!(print::text(&edited("Ersetze WINTER20 durch TEE20")).contains("TEE20"));
}

#[test]
fn colors_corners_and_layouts_are_stored_in_the_style() {
    let color = |text: &str| Some(text.parse::<Color>().expect("the color is valid"));
    assert_eq!(edited("Make the button #1A73E8").style.button, color("#1A73E8"));
    assert_eq!(edited("mach den Button rot").style.button, color("#C62828"));
    assert_eq!(edited("Change the background colour to beige").style.background, color("#F5EFE6"));
    assert_eq!(edited("Use navy as the accent color").style.primary, color("#12284C"));
    assert_eq!(edited("Mets le bouton en vert").style.button, color("#2E7D32"));
    assert_eq!(edited("Use the letter layout").style.layout, Some(Layout::Letter));
    assert_eq!(edited("Nutze ein dunkles Layout").style.layout, Some(Layout::Midnight));
    assert_eq!(edited("Make the corners round").style.corners, Some(Corners::Round));
}

#[test]
fn blocks_are_added_removed_and_moved() {
    assert_eq!(count(&edited("Remove the coupon"), coupon), 0);
    assert_eq!(count(&edited("Entferne den Gutschein"), coupon), 0);
    assert_eq!(count(&edited("Supprime le coupon"), coupon), 0);
    let email = sale();
    let moved = edited("Move the coupon to the bottom");
    assert!(place(&moved, coupon) > place(&email, coupon));
    let moved = edited("Move the products before the coupon");
    assert_eq!(place(&moved, products) + 1, place(&moved, coupon));
    let moved = edited("Verschiebe die Produkte ganz nach oben");
    assert_eq!(place(&moved, products), 2);
    let more = edited("Add a button \"All teas\" linking to https://example.com/teas and add a divider");
    let text = print::text(&more);
    assert!(text.contains("[All teas]"), "{text}");
    assert_eq!(count(&more, |block| matches!(block, Block::Divider(_))), 1);
    assert!(print::text(&edited("Add a quote \"The best tea\" by Anna Karg")).contains("“The best tea” — Anna Karg"));
    assert!(print::text(&edited("Füge eine Liste hinzu: handgepackt, frisch, fair")).contains("- Handgepackt"));
    let more = edited("Add a text \"We close at noon.\" after the coupon");
    let at = place(&more, coupon);
    assert!(matches!(&more.blocks[at + 1], Block::Text(text) if text.text.words() == "We close at noon."), "{:?}", more.blocks);
    assert_eq!(count(&edited("Add a countdown until November 30"), |block| matches!(block, Block::Countdown(_))), 1);
    assert_eq!(count(&edited("Add an image https://example.com/x.jpg"), |block| matches!(block, Block::Image(_))), 1);
}

#[test]
fn parts_are_found_by_their_words() {
    let email = edited("Add a text \"We close at noon. We open at eight.\" after the coupon");
    let change = |instruction: &str| edit(&email, instruction).unwrap_or_else(|error| panic!("{instruction}: {error:?}")).email;
    assert!(!print::text(&change("Remove the paragraph with \"at noon\"")).contains("We open"));
    let text = print::text(&change("Remove the sentence \"at noon\""));
    assert!(text.contains("We open at eight.") && !text.contains("We close"), "{text}");
    let moved = change("Move the products after \"at noon\"");
    assert_eq!(
        place(&moved, products),
        place(&moved, |block| matches!(block, Block::Text(text) if text.text.words().contains("noon"))) + 1
    );
    let removed = change("Remove the coupon and the products");
    assert_eq!((count(&removed, coupon), count(&removed, products)), (0, 0));
}

#[test]
fn an_instruction_continues_without_its_verb() {
    let email = edited("Change the subject to \"Tea time\" and the preheader to \"Only now, and only for you\"");
    assert_eq!((email.subject.as_str(), email.preheader.as_str()), ("Tea time", "Only now, and only for you"));
    let text = print::text(&edited("Change 20% to 25% and WINTER20 to WINTER25"));
    assert!(text.contains("25% off") && text.contains("WINTER25") && !text.contains("20"), "{text}");
    let email = edited("Make the background beige and the button navy");
    let color = |text: &str| Some(text.parse::<Color>().expect("the color is valid"));
    assert_eq!((email.style.background, email.style.button), (color("#F5EFE6"), color("#12284C")));
}

#[test]
fn links_and_pictures_are_replaced() {
    let json = edited("Link the button to https://example.com/sale").to_json().to_string();
    assert!(json.contains("https://example.com/sale"));
    let before = print::text(&sale());
    let after = print::text(&edited("Swap the image"));
    let picture = |text: &str| text.lines().find(|line| line.contains("<https")).map(str::to_owned);
    assert!(picture(&before).is_some() && picture(&before) != picture(&after), "{before}{after}");
    assert!(print::text(&edited("Nimm das Bild https://example.com/neu.jpg")).contains("neu.jpg"));
}

#[test]
fn texts_become_shorter_and_longer() {
    let length = |email: &Email| print::text(email).chars().count();
    assert!(length(&edited("Shorten the text")) < length(&sale()));
    assert!(length(&edited("make it longer")) > length(&sale()));
    assert!(edited("Kürze den Betreff").subject.chars().count() <= 40);
}

#[test]
fn emoji_are_added_and_removed() {
    let with = edited("Add an emoji to the subject");
    assert!(with.subject.ends_with('🎁'), "{}", with.subject);
    let without = edit(&with, "remove all emojis").expect("there is one").email;
    assert_eq!(without.subject, sale().subject);
    assert!(edit(&sale(), "no emoji please").is_err());
}

#[test]
fn an_email_with_a_brief_is_rewritten_in_another_language_or_tone() {
    let brand = brands::furniture(BrandFormality::Casual);
    let tag = LanguageTag::parse("de").expect("the language tag is valid");
    let brief = brief::parse("20 % Rabatt auf alle Leuchten bis Sonntag mit dem Code LICHT20", &brand, Some(&tag), TODAY);
    let request = request(&brief);
    let plan = plan(&request, &brand, false, &tag, Some(1));
    let email = compose(&request, &brand, &[], &plan, 0, &tag).email;
    let origin = Origin { request: &request, knowledge: &[], plan: &plan, place: 0 };
    let means = EditResources { brand: &brand, site: None, origin: Some(origin), today: TODAY };
    let english = apply(&email, "Übersetze die Mail ins Englische auf Englisch", &means).expect("the brief is available").email;
    assert_eq!(english.language.as_str(), "en");
    assert!(print::text(&english).contains("20% off"));
    let formal = apply(&email, "Mach die Mail formeller", &means).expect("the brief is available").email;
    assert!(print::text(&formal).contains("Sie "), "{}", print::text(&formal));
    assert!(apply(&email, "make it formal", &EditResources { origin: None, ..means }).is_err());
}

#[test]
fn without_a_brief_only_known_phrases_are_translated() {
    let edited = edit(&sale(), "translate it into German").expect("the composer translates some phrases");
    assert!(print::text(&edited.email).contains("Abmelden"));
    assert!(edited.done[0].contains("own sentences are unchanged"));
}

#[test]
fn an_unknown_instruction_changes_nothing_and_lists_what_is_possible() {
    for instruction in ["", "sing me a song", "blargh the frobnicator", "Ändere alles ganz toll", "Remove the table"] {
        let error = match edit(&sale(), instruction) {
            Err(error) => error,
            Ok(edited) => panic!("{instruction}: {:?}", edited.done),
        };
        assert!(!error.reasons.is_empty() && error.can.len() > 8, "{instruction}");
    }
    let half = edit(&sale(), "Remove the coupon and frobnicate it. Then dance.").expect("one clause is understood");
    assert_eq!(half.done.len(), 1);
    assert!(!half.not_done.is_empty());
}
