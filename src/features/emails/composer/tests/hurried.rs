//! Tests of emails for prompts typed in a hurry: short forms, clauses without verbs, and requests in the third person. Each prompt
//! reproduces a defect that a reader found.

use super::*;

/// Returns the text of the tea shop's email for a prompt, without markup characters.
fn email(prompt: &str, language: &str) -> String {
    print::text(&one(prompt, &brands::teas(), language, 7).email).replace('\u{a0}', " ").replace("**", "")
}

fn assert_says(prompt: &str, language: &str, parts: &[&str], others: &[&str]) {
    let text = email(prompt, language);
    for part in parts {
        assert!(text.contains(part), "{part:?} is missing for {prompt:?}:\n{text}");
    }
    for part in others {
        assert!(!text.contains(part), "{part:?} is printed for {prompt:?}:\n{text}");
    }
}

#[test]
fn short_clauses_are_printed_as_sentences() {
    assert_says(
        "hey can u do a quick mail, we r closed next week mon-wed (30.11.-2.12.) bc of stocktaking, back on thursday 9am, orders placed \
         before sunday 6pm still go out monday morning. sorry!! sign it w/ Jana",
        "en",
        &["because of stocktaking. We are back on Thursday 9am. Orders placed before Sunday 6pm still go out", "Jana"],
        &["w/", "sorry", "quick mail"],
    );
    assert_says(
        "Survey!! 3 min, win one of 5 tea boxes, closes 10 dec, link https://s.example/tea . pls dont sound desperate lol",
        "en",
        &["It takes 3 min. Win one of 5 tea boxes. It closes on 10 December."],
        &["desperate", "3 min,"],
    );
    assert_says(
        "we are moving!! new shop from 1 march: Lindenweg 12, same hours, parking behind the house, old shop closes 27 feb 6pm",
        "en",
        &["From 1 March, our new shop is Lindenweg 12. The hours stay the same. There is parking behind the house."],
        &["Closed |"],
    );
}

#[test]
fn short_forms_are_understood_and_written_in_full() {
    assert_says(
        "thank ppl for coming to sundays tasting, 40 ppl came, pics at https://leafandstone.example/pics , next one 17 january, tickets \
         20€ from monday. ask for a google review maybe",
        "en",
        &["Thank you for coming to Sunday’s tasting", "40 people came", "The next one is on 17 January"],
        &["ppl", "Thank people", "To Sunday"],
    );
    assert_says(
        "black friday!!! 25% off everything w code DARK25, fri-mon only",
        "en",
        &["25% off everything"],
        &["everything w code"],
    );
}

#[test]
fn a_price_change_is_no_offer() {
    assert_says(
        "Please write to our customers that from 1 January the price of the House Blend rises from 12 to 13.50 euros. Shipping stays \
         free over 40 euros.",
        "en",
        &["Subject:   Our prices change on 1 January", "rises from 12 to 13.50 euros", "Shipping stays free over 40 euros"],
        &["Free shipping", "€12"],
    );
    assert_says("from jan 1 the house blend goes from 12 to 13.50", "en", &["goes from €12 to €13.50"], &[]);
}

#[test]
fn a_recall_says_what_not_to_do() {
    assert_says(
        "Wir rufen den Matcha Charge L2231 zurück, evtl. Metallsplitter. Bitte nicht mehr verwenden, Geld zurück ohne Kassenbon.",
        "de",
        &["Bitte nicht mehr verwenden", "Geld zurück ohne Kassenbon"],
        &[],
    );
}

#[test]
fn requests_to_ask_or_tell_become_sentences_to_the_recipients() {
    assert_says(
        "ask customers if they want to join our tea club: 1 box/month, 19€, cancel anytime, first box -50% with CLUB50",
        "en",
        &["Would you like to join our tea club?", "CLUB50"],
        &["sale", "ask customers"],
    );
    assert_says(
        "hi marketing, can you tell everyone the website was down yesterday 2-4pm, orders are safe. sorry. ty, Ben",
        "en",
        &["website was down yesterday 2-4pm"],
        &["Ben", "marketing"],
    );
    assert_says(
        "hiring!! need a barista for our Altona shop, 20h/week, from jan",
        "en",
        &["We need a barista for our Altona shop"],
        &[],
    );
}

#[test]
fn bad_news_is_neither_an_invitation_nor_a_sale() {
    assert_says(
        "we have to cancel the tasting on 12 dec, organiser is ill. everyone who paid gets money back within 5 days automatically. \
         really sorry. Jonas",
        "en",
        &["Subject:   We have to cancel the tasting on 12 December", "Everyone who paid gets money back", "Jonas"],
        &["invited", "Join us", "Jonas."],
    );
    assert_says(
        "Wir haben einen Fehler gemacht: 312 Kunden wurden doppelt belastet. Geld ist Freitag zurück. Keine Aktion nötig. Tut uns leid.",
        "de",
        &["Wir haben einen Fehler gemacht", "Keine Aktion nötig"],
        &["Zur Aktion", "(Aktion)"],
    );
    assert_says(
        "Liebe Kunden, ab 1.1. kostet der Versand 4,90 statt 3,90. Ab 50 € bleibt er kostenlos.",
        "de",
        &["kostet der Versand 4,90 € statt 3,90 €"],
        &["Angebot", "Jetzt einkaufen"],
    );
}

#[test]
fn talk_with_colleagues_is_left_out() {
    assert_says(
        "tea check is £49 or £45?? ask Dave. 30 teas on the table from 4 to 29 december. the courtesy cups are back, £10 a day, over 25s \
         only. chair wants 'esteemed members', i dont.",
        "en",
        &["courtesy cups", "over 25s only"],
        &["Ask Dave", "Minimum", "£25", "esteemed"],
    );
    assert_says(
        "ok few things for the tea mail, sorry its long. 1) delivery is sat 19 december 9am, bring a box. 2) water goes off 21 december. \
         3) matcha trail tbc DONT put yet.\nfrom: Jen",
        "en",
        &["Delivery is Saturday 19 December", "goes off", "Jen"],
        &["sorry", "Sorry", "apology", "DONT", "from:"],
    );
    assert_says(
        "[14:02] Sal: tell em tuesdays = 2 for 1 again from 8 december\n[14:03] Sal: eat in only\n[14:05] Sal: send it as an email pls, jokey",
        "en",
        &["Tuesdays", "2 for 1", "Eat in only"],
        &["Em ", "Jokey", "14:0"],
    );
    assert_says(
        "Members need to hear that our club terms change on 1 January 2027. Members who agree need to do nothing. See \
         https://leafandstone.example/terms for all of it. Pip (hon sec)",
        "en",
        &["terms change on 1 January 2027", "need to do nothing", "Pip"],
        &["need to hear", "(hon sec)"],
    );
}

#[test]
fn the_reason_for_a_withdrawal_is_withdrawn_too() {
    assert_says(
        "We are looking for a tea taster, £12.90 an hour, apply by 11 December. No experience needed, we train you. Knowing your teas is a \
         plus, but please do not write that, it scared people last time.",
        "en",
        &["we train you"],
        &["scared people", "Knowing your teas"],
    );
}

#[test]
fn a_time_on_stage_is_no_price() {
    assert_says(
        "instore tea gig! The Paper Swans fri 11 december doors 6 on stage 7.15. free with any tin (£22) else £8 at the door.",
        "en",
        &["on stage 7.15", "£22"],
        &["£7.15"],
    );
}

#[test]
fn a_short_foreign_word_does_not_make_a_prompt_foreign() {
    assert_says(
        "Nouvelle boutique à Lyon! ouverture samedi 6 décembre à 10h, 14 rue Mercière. venez nombreux. signé Karim",
        "fr",
        &["Nouvelle boutique à Lyon", "14 rue Mercière", "Venez nombreux", "Karim"],
        &[],
    );
}

#[test]
fn periods_of_street_names_end_no_sentence() {
    let text = email("Teeverkostung am 12.12. um 18 Uhr im Laden, Torstr. 8, Anmeldung per Mail. Wir freuen uns auf euch.", "de");
    assert!(!text.contains("Torstr\n") && text.contains("Torstr. 8"), "{text}");
}

/// Regression test: "MON-FRI" and "SAT" were printed separately from their hours.
#[test]
fn each_line_of_a_timetable_is_a_row() {
    assert_says(
        "Our new hours from 1 March:\nMON-FRI 8.30-6.30\nSAT 9-1\nThe lunch closure is gone.",
        "en",
        &["Monday–Friday | 8", "Saturday | 9"],
        &["MON-FRI", "SAT\n"],
    );
    assert_says(
        "Unsere neuen Öffnungszeiten im Laden:\nMo-Fr 9-18 Uhr\nSa 10-14 Uhr\nWir freuen uns auf euch.",
        "de",
        &["Montag–Freitag | 9", "Samstag | 10"],
        &["Mo-Fr"],
    );
    assert_says(
        "Nos nouveaux horaires à la boutique :\nlun-ven 9h-18h\nsam 10h-14h\nÀ bientôt.",
        "fr",
        &["Lundi–vendredi | de 9", "Samedi | de 10"],
        &["lun-ven"],
    );
}
