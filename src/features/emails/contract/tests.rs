//! Tests the contract on compliant emails and on emails with one violation each.

use serde_json::{Value, json};

use super::*;
use crate::features::emails::finding::FindingKind;
use crate::features::projects::brand::{Brand, BrandContact, BrandProduct};

const TODAY: Date = Date::constant(2026, 11, 16);

fn material() -> Material {
    let product = |name: &str, price: &str| BrandProduct {
        name: name.to_owned(),
        url: Some(format!("https://kiln.example/{}", name.to_lowercase().replace(' ', "-"))),
        price: Some(price.to_owned()),
        currency: Some("GBP".to_owned()),
        ..BrandProduct::default()
    };
    Material {
        name: "Kiln & Tide".to_owned(),
        site: "https://kiln.example".to_owned(),
        brand: Brand {
            name: Some("Kiln & Tide".to_owned()),
            products: vec![product("Tide Mug", "24.00"), product("Ember Bowl", "42.00")],
            contact: BrandContact { address: Some("Back Road West, St Ives TR26 1NP".to_owned()), ..BrandContact::default() },
            ..Brand::default()
        },
        ..Material::default()
    }
}

/// Returns a document in this language with these blocks between its header and its footer.
fn document(language: &str, subject: &str, blocks: Value) -> Email {
    let mut all = vec![json!({ "type": "header", "id": "header", "name": "Kiln & Tide", "href": "https://kiln.example" })];
    all.extend(blocks.as_array().expect("a list of blocks").iter().cloned());
    let address = "Back Road West, St Ives TR26 1NP";
    all.push(
        json!({ "type": "footer", "id": "footer", "sender": "Kiln & Tide", "address": address, "unsubscribe": "Unsubscribe" }),
    );
    let json = json!({
        "version": 1, "language": language, "direction": "ltr", "purpose": "sale", "subject": subject, "preheader": "From our studio",
        "style": {}, "blocks": all,
    });
    Email::from_json(&json).expect("the document is valid")
}

fn brief(language: &str, more: Value) -> Brief {
    let mut json = json!({ "purpose": "sale", "language": language });
    for (name, value) in more.as_object().expect("an object") {
        json[name] = value.clone();
    }
    serde_json::from_value(json).expect("the brief is valid")
}

fn findings(document: &Email, brief: &Brief, prompt: &str) -> Vec<(FindingKind, String)> {
    let material = material();
    let found = check(document, &Terms { brief, prompt, material: &material, today: TODAY });
    found.into_iter().map(|finding| (finding.kind, finding.text.unwrap_or(finding.message))).collect()
}

fn sale() -> (Brief, &'static str) {
    let prompt = "Winter sale, 25% off everything with code LOFT25 until 30 Nov 23:59. Classes are not included. One button: Shop the sale. \
                  Keep it short and dry please, no exclamation marks.";
    let brief = brief(
        "en-GB",
        json!({
            "facts": [
                { "kind": "percentage", "role": "offer", "text": "25%", "value": { "type": "percent", "percent": 25.0 } },
                { "kind": "code", "text": "LOFT25" },
                { "kind": "date", "role": "offer_ends", "text": "30 Nov", "value": { "type": "days", "first": "2026-11-30", "last": null } },
                { "kind": "time", "role": "offer_ends", "text": "23:59", "value": { "type": "clock", "start": "23:59:00", "end": null } },
                { "kind": "condition", "text": "Classes are not included.", "span": { "start": 69, "end": 94 } },
            ],
            "cta": { "label": { "text": "Shop the sale" } },
            "instructions": [{ "text": "Keep it short and dry please" }, { "text": "One button:" }],
            "constraints": [{ "kind": "no_exclamation" }, { "kind": "one_button", "value": "Shop the sale" }],
        }),
    );
    (brief, prompt)
}

fn blocks() -> Value {
    json!([
        { "type": "hero", "id": "hero", "title": "25% off everything", "text": "Our winter sale runs until midnight on Monday, 30 November." },
        { "type": "coupon", "id": "code", "title": "25% off", "code": "LOFT25", "text": "Classes are not part of the sale: they are not included." },
        { "type": "button", "id": "cta", "label": "Shop the sale", "href": "https://kiln.example/collections/all" },
    ])
}

/// Returns the findings for the sale email after a change to its blocks.
fn after(path: &str, value: Value) -> Vec<(FindingKind, String)> {
    let mut blocks = blocks();
    *blocks.pointer_mut(path).expect("the path exists") = value;
    let (brief, prompt) = sale();
    findings(&document("en-GB", "25% off until Monday with LOFT25", blocks), &brief, prompt)
}

#[test]
fn an_email_that_keeps_its_promise_has_no_findings() {
    let (brief, prompt) = sale();
    assert_eq!(findings(&document("en-GB", "25% off until Monday with LOFT25", blocks()), &brief, prompt), []);
}

#[test]
fn each_breach_is_found() {
    use FindingKind::*;
    let hero = "/0/text";
    for (path, text, kind, about) in [
        (hero, "Our winter sale runs until Monday, 30 November.", FactMissing, "23:59"),
        (hero, "Our winter sale runs until midnight.", FactMissing, "30 Nov"),
        (hero, "Our winter sale runs until midnight on Tuesday, 30 November.", NotInBrief, "30 november"),
        (hero, "The sale starts on Monday, 30 November, and runs until midnight.", FactMisused, "30 Nov"),
        (hero, "Midnight on 30 November. Also 10% off classes.", NotInBrief, "10%"),
        (hero, "Until midnight on 30 November, and again on 4 December.", NotInBrief, "4 december"),
        (hero, "Until midnight on 30 November. Use LOFT25.", FactRepeated, "LOFT25"),
        (
            hero,
            "Until midnight on 30 November. Keep it short and dry please.",
            InstructionPrinted,
            "Keep it short and dry please",
        ),
        (hero, "Until midnight on 30 November! See you.", ConstraintBroken, "exclamation"),
        (hero, "Until midnight on 30 November. Only £9.", NotInBrief, "£9"),
        (hero, "Until midnight on 30 November, says Maria Petersen.", NotInBrief, "Maria Petersen"),
        (hero, "Until midnight on 30 November. [More](https://other.example/x)", NotInBrief, "https://other.example/x"),
        (hero, "Until midnight on 30 November, [more](https://kiln.example/x). Use FROST30 too.", NotInBrief, "frost30"),
        ("/0/title", "25% off everything at the", LineIncomplete, "25% off everything at the"),
        ("/0/title", "25% off “everything", LineIncomplete, "25% off “everything"),
        ("/0/title", "25% off everything…", LineIncomplete, "25% off everything…"),
        ("/1/text", "Classes are included.", FactMissing, "Classes are not included."),
        ("/2/label", "Read more", TextMissing, "Shop the sale"),
    ] {
        let found = after(path, Value::from(text));
        let is_it = |(own, own_text): &(FindingKind, String)| *own == kind && own_text.contains(about);
        assert!(found.iter().any(is_it) && found.iter().all(|(own, _)| *own == kind), "{text}: {found:?}");
    }
}

/// Regression test: for every date whose role in the email differed from its role in the brief, the message said that the date had become
/// part of an offer.
#[test]
fn the_message_about_a_misused_date_names_the_problem() {
    let (brief, prompt) = sale();
    let mut blocks = blocks();
    blocks[0]["text"] = Value::from("The sale starts on Monday, 30 November, and runs until midnight.");
    let material = material();
    let terms = Terms { brief: &brief, prompt, material: &material, today: TODAY };
    let found = check(&document("en-GB", "25% off until Monday with LOFT25", blocks), &terms);
    assert!(found.iter().any(|finding| finding.message.contains("in a different sense from the brief")), "{found:?}");
}

#[test]
fn a_lost_fact_can_be_added() {
    let (brief, prompt) = sale();
    let mut blocks = blocks();
    blocks[1]["text"] = Value::Null;
    let email = document("en-GB", "25% off until Monday with LOFT25", blocks);
    let material = material();
    let terms = Terms { brief: &brief, prompt, material: &material, today: TODAY };
    let found = check(&email, &terms);
    let [lost] = found.as_slice() else { panic!("{found:?}") };
    assert_eq!((lost.kind, lost.text.as_deref()), (FindingKind::FactMissing, Some("Classes are not included.")));
    let added = email.changed(&[lost.add.clone().expect("the text can be added")]).expect("the change is valid");
    assert_eq!(check(&added, &terms), []);
}

/// Regression test: if the email had no headline or button, the warning about the missing headline or button offered no change that adds
/// it.
#[test]
fn a_lost_headline_and_button_can_be_added_to_an_email_without_any() {
    let brief = brief("en", json!({ "headline": { "text": "Mugs for winter" }, "cta": { "label": { "text": "Shop now" } } }));
    let email = document("en", "News", json!([{ "type": "text", "id": "a", "text": "Hello." }]));
    let material = material();
    let terms = Terms { brief: &brief, prompt: "", material: &material, today: TODAY };
    let adds: Vec<_> = check(&email, &terms).into_iter().filter_map(|finding| finding.add).collect();
    assert_eq!(adds.len(), 2, "{adds:?}");
    assert_eq!(check(&email.changed(&adds).expect("the changes are valid"), &terms), []);
}

#[test]
fn a_number_of_others_never_becomes_an_offer() {
    let brief = brief(
        "en",
        json!({ "facts": [
            { "kind": "percentage", "role": "other", "text": "80%", "value": { "type": "percent", "percent": 80.0 } },
            { "kind": "minimum", "text": "£40", "value": { "type": "money", "amount": 40.0, "currency": "GBP" } },
        ] }),
    );
    let prompt = "Health insurance pays 80%. Free delivery over £40.";
    let text = |text: &str| document("en", "News", json!([{ "type": "text", "id": "a", "text": text }]));
    assert_eq!(findings(&text("Health insurance pays 80%. Free delivery over £40."), &brief, prompt), []);
    for wrong in ["Get 80% off. Free delivery over £40.", "Health insurance pays 80%. Take £40 off."] {
        let found = findings(&text(wrong), &brief, prompt);
        assert!(found.iter().all(|(kind, _)| *kind == FindingKind::FactMisused) && found.len() == 1, "{wrong}: {found:?}");
    }
}

#[test]
fn the_days_of_a_closure_and_of_the_reopening_are_not_exchanged() {
    let day = |role: &str, day: &str| json!({ "kind": "date", "role": role, "text": day, "value": { "type": "days", "first": day, "last": null } });
    for (language, right, wrong) in [
        (
            "en",
            "We are closed on 24 December. We open again on Monday, 4 January.",
            "We are closed on 4 January. We open again on Thursday, 24 December.",
        ),
        (
            "de",
            "Wir haben geschlossen ab 24. Dezember. Wir sind wieder da ab 4. Januar.",
            "Wir haben geschlossen ab 4. Januar. Wir sind wieder da ab 24. Dezember.",
        ),
    ] {
        let facts = json!({ "facts": [day("closed", "2026-12-24"), day("reopens", "2027-01-04")] });
        let brief = brief(language, facts);
        let kinds = |text: &str| {
            let email = document(language, "News", json!([{ "type": "text", "id": "a", "text": text }]));
            findings(&email, &brief, right).into_iter().map(|(kind, _)| kind).collect::<Vec<_>>()
        };
        assert!(kinds(right).is_empty(), "{language}");
        assert_eq!(kinds(wrong), [FindingKind::FactMisused, FindingKind::FactMisused], "{language}");
    }
}

/// Regression test: "last order date 17 December" was accepted as the date of an event, because only the roles of offers and
/// closures were checked.
#[test]
fn a_day_keeps_its_role_in_each_language() {
    let value = json!({ "type": "days", "first": "2026-12-17", "last": null });
    let day = |role: &str| json!({ "facts": [{ "kind": "date", "role": role, "text": "17.12.", "value": value }] });
    for (language, order, event, prices) in [
        ("en", "Last order date: Thursday, 17 December.", "Join us on 17 December.", "Our prices change on 17 December."),
        ("de", "Bestellen Sie bis Donnerstag, 17. Dezember.", "Wir sehen uns am 17. Dezember.", "Neue Preise ab 17. Dezember."),
        ("fr", "Commandez avant le jeudi 17 décembre.", "Rendez-vous le 17 décembre.", "Nos tarifs changent le 17 décembre."),
        (
            "es",
            "Pedidos hasta el jueves 17 de diciembre.",
            "Nos vemos el 17 de diciembre.",
            "Los precios suben el 17 de diciembre.",
        ),
        ("it", "Ordini entro il 17 dicembre.", "Ci vediamo il 17 dicembre.", "I prezzi cambiano dal 17 dicembre."),
        ("pt", "Encomendas até 17 de dezembro.", "Encontro marcado: 17 de dezembro.", "Os preços sobem a 17 de dezembro."),
        ("nl", "Laatste besteldag: 17 december.", "We zien u graag op 17 december.", "Nieuwe prijzen vanaf 17 december."),
    ] {
        for role in ["order_by", "event", "price_changes"] {
            let brief = brief(language, day(role));
            for (own, text) in [("order_by", order), ("event", event), ("price_changes", prices)] {
                let email = document(language, "News", json!([{ "type": "text", "id": "a", "text": text }]));
                let kinds: Vec<FindingKind> = findings(&email, &brief, "").into_iter().map(|(kind, _)| kind).collect();
                let wanted = if own == role { vec![] } else { vec![FindingKind::FactMisused] };
                assert_eq!(kinds, wanted, "{role}: {text}");
                // Wording from the prompt does not violate the contract.
                assert_eq!(findings(&email, &brief, text), [], "{role}: {text}");
            }
        }
    }
    let text = |text: &str| document("en", "News", json!([{ "type": "text", "id": "a", "text": text }]));
    for (role, wrong) in [
        ("order_by", "The offer ends on 17 December."),
        ("order_by", "We open again on Thursday, 17 December."),
        ("offer_ends", "See you on 17 December."),
        ("event", "Order by the evening. The sale starts on 17 December."),
        ("reopens", "Register by 17 December."),
    ] {
        let found = findings(&text(wrong), &brief("en", day(role)), "");
        assert_eq!(found.iter().map(|(kind, _)| *kind).collect::<Vec<_>>(), [FindingKind::FactMisused], "{role}: {wrong}");
    }
    // Customers can order at the offer price until the last day of the offer.
    assert_eq!(findings(&text("Order by 17 December."), &brief("en", day("offer_ends")), ""), []);
    let table = json!([{ "type": "table", "id": "a", "rows": [{ "cells": ["Order by", "17 December"] }, { "cells": ["Time", "noon"] }] }]);
    let found = findings(&document("en", "News", table), &brief("en", day("event")), "noon");
    assert_eq!(found.first().map(|(kind, _)| *kind), Some(FindingKind::FactMisused), "{found:?}");
}

#[test]
fn the_form_of_address_is_kept_in_each_language() {
    let text = |language: &str, text: &str| document(language, "News", json!([{ "type": "text", "id": "a", "text": text }]));
    for (language, formal, informal) in [
        ("de", "Wir haben Neues für Sie. Ihre Tasse ist da.", "Wir haben Neues für dich. Deine Tasse ist da."),
        ("fr", "Nous avons du nouveau pour vous.", "Tu as du nouveau."),
        ("es", "Tenemos algo para usted.", "Tenemos algo para ti."),
        ("it", "Abbiamo una novità per Lei.", "Abbiamo una novità per te."),
        ("nl", "We hebben nieuws voor u.", "We hebben nieuws voor jou."),
        ("pt", "Temos algo para o senhor.", "Temos algo para ti."),
    ] {
        for (kind, right, wrong) in [("formal", formal, informal), ("informal", informal, formal)] {
            let brief = brief(language, json!({ "constraints": [{ "kind": kind }] }));
            assert_eq!(findings(&text(language, right), &brief, right), [], "{language} {kind}");
            let found = findings(&text(language, wrong), &brief, wrong);
            assert_eq!(found.first().map(|(kind, _)| *kind), Some(FindingKind::ConstraintBroken), "{language} {kind}: {found:?}");
        }
    }
    // At the start of a sentence, "Sie" also means "they".
    let brief = brief("de", json!({ "constraints": [{ "kind": "informal" }] }));
    assert_eq!(findings(&text("de", "Die Tassen sind da. Sie sind blau."), &brief, ""), []);
}

#[test]
fn limits_are_kept() {
    let text = json!([{ "type": "text", "id": "a", "text": "One two three four five of the cheapest mugs 🎄" }]);
    let email = document("en", "Mugs", text);
    for (kind, value) in [
        ("word_limit", Some("4")),
        ("avoid_word", Some("cheap")),
        ("no_emoji", None),
        ("plain_layout", None),
        ("layout", Some("bold")),
    ] {
        let brief = brief("en", json!({ "constraints": [{ "kind": kind, "value": value }] }));
        let found = findings(&email, &brief, "One two three four five of the cheapest mugs");
        assert_eq!(found.iter().map(|(kind, _)| *kind).collect::<Vec<_>>(), [FindingKind::ConstraintBroken], "{kind}: {found:?}");
    }
    let products = json!([{ "type": "products", "id": "p", "products": [
        { "name": "Tide Mug", "href": "https://kiln.example/tide-mug", "price": "£24",
          "image": { "src": "https://kiln.example/mug.jpg" } },
        { "name": "Tide Mug", "href": "https://kiln.example/tide-mug/", "price": "£24" },
    ] }]);
    let brief = brief("en", json!({ "constraints": [{ "kind": "no_products" }, { "kind": "no_images" }] }));
    let found = findings(&document("en", "Mugs", products), &brief, "");
    let kinds: Vec<FindingKind> = found.iter().map(|(kind, _)| *kind).collect();
    assert_eq!(kinds, [FindingKind::FactRepeated, FindingKind::ConstraintBroken, FindingKind::ConstraintBroken], "{found:?}");
}

#[test]
fn unclear_text_is_reported_and_not_printed() {
    let brief = brief("en", json!({ "unclear": [{ "text": "the thing with the blue ones" }] }));
    let material = material();
    let prompt = "the thing with the blue ones";
    let terms = Terms { brief: &brief, prompt, material: &material, today: TODAY };
    let silent = document("en", "News", json!([{ "type": "text", "id": "a", "text": "Hello." }]));
    let found = doubts(&silent, &terms);
    assert_eq!(found.len(), 1);
    assert!(found[0].add.is_some() && check(&silent, &terms).is_empty());
    let printed = document("en", "News", json!([{ "type": "text", "id": "a", "text": "The thing with the blue ones." }]));
    assert_eq!(check(&printed, &terms)[0].kind, FindingKind::InstructionPrinted);
    assert_eq!(doubts(&printed, &terms), []);
}

#[test]
fn printed_statements_that_readers_may_not_understand_are_reported() {
    let prompt = "For adults 85 €, children 70. Les cours sont pour nos clients. Wir öffnen am Samstag.";
    let fact = |kind: &str, text: &str, start: u32, end: u32| json!({ "kind": kind, "text": text, "span": { "start": start, "end": end } });
    let facts = [
        fact("sentence", "For adults 85 €, children 70.", 0, 29),
        fact("price", "85 €", 11, 15),
        fact("sentence", "Les cours sont pour nos clients.", 30, 62),
        fact("sentence", "Wir öffnen am Samstag.", 63, 85),
    ];
    let brief = brief("en", json!({ "facts": facts }));
    let material = material();
    let terms = Terms { brief: &brief, prompt, material: &material, today: TODAY };
    let texts = |text: &str| {
        let email = document("en", "News", json!([{ "type": "text", "id": "a", "text": text }]));
        doubts(&email, &terms).into_iter().filter_map(|finding| finding.text).collect::<Vec<_>>()
    };
    assert_eq!(texts(prompt), ["Les cours sont pour nos clients.", "Wir öffnen am Samstag.", "70"]);
    assert_eq!(texts("For adults €85, children €70. The classes are for our customers. We open."), <[String; 0]>::default());
}

#[test]
fn short_names_in_instructions_are_reported_and_labels_are_not() {
    let instruction = |text: &str, start: u32, end: u32| json!({ "text": text, "span": { "start": start, "end": end } });
    let fact = json!({ "kind": "sentence", "text": "We are closed on 3 May.", "span": { "start": 0, "end": 23 } });
    let instructions = [instruction("Reply to Tom,", 24, 37), instruction("Texto:", 38, 44)];
    let brief = brief("en", json!({ "facts": [fact], "instructions": instructions }));
    let material = material();
    let terms =
        Terms { brief: &brief, prompt: "We are closed on 3 May.\nReply to Tom,\nTexto:", material: &material, today: TODAY };
    let email = document("en", "News", json!([{ "type": "text", "id": "a", "text": "We are closed on 3 May." }]));
    let found = remains(&email, &terms, &[]);
    assert_eq!(
        found.iter().map(|finding| (finding.text.as_deref(), finding.span.is_some())).collect::<Vec<_>>(),
        [(Some("Tom"), true)]
    );
    assert!(found[0].add.is_some());
}

#[test]
fn texts_that_the_email_contains_in_another_form_need_no_warning() {
    let blocks = json!([
        { "type": "heading", "id": "a", "text": "The garden", "level": "section" },
        { "type": "text", "id": "b", "text": "Battista planted tulips." },
    ]);
    let unused = |text: &str| Finding::new(FindingKind::Unclear, text.to_owned()).about(text, None);
    let warnings = vec![unused("The garden. Battista planted tulips."), unused("Battista planted roses.")];
    let left = without_stated(&document("en", "News", blocks), TODAY, warnings);
    assert_eq!(left.into_iter().filter_map(|warning| warning.text).collect::<Vec<_>>(), ["Battista planted roses."]);
}

#[test]
fn facts_are_found_in_other_spellings() {
    let fact = |kind: &str, text: &str, value: Value| json!({ "kind": kind, "text": text, "value": value });
    let money = |amount: f64| json!({ "type": "money", "amount": amount, "currency": "EUR" });
    let days = |first: &str, last: Value| json!({ "type": "days", "first": first, "last": last });
    let clock = |start: &str, end: Value| json!({ "type": "clock", "start": start, "end": end });
    for (language, fact, text) in [
        ("de", fact("price", "46€", money(46.0)), "Das Menü kostet 46,00 €."),
        ("de", fact("date", "25.+26.", days("2026-12-25", json!("2026-12-26"))), "Am 25. und 26. Dezember."),
        ("de", fact("time", "11-15 uhr", clock("11:00:00", json!("15:00:00"))), "Von 11 bis 15 Uhr."),
        ("en", fact("time", "2-5pm", clock("14:00:00", json!("17:00:00"))), "From 2 to 5 pm."),
        ("en", fact("date", "Sunday", days("2026-11-22", Value::Null)), "Only until Sunday."),
        ("en", fact("capacity", "sixty", json!({ "type": "count", "count": 60 })), "We made 60 of them."),
        ("fr", fact("capacity", "douze", json!({ "type": "count", "count": 12 })), "Il y a douze places."),
        ("it", fact("time", "ore 20", clock("20:00:00", Value::Null)), "La cena inizia alle 20."),
        ("nl", fact("price", "€ 12,-", money(12.0)), "Voor 12 euro."),
        ("en", fact("contact", "+31 10 555 0140", Value::Null), "Call [us](tel:+31105550140)."),
        ("en", fact("link", "https://kiln.example/sale", Value::Null), "See [more](https://kiln.example/sale/)."),
        ("en", fact("condition", "Free UK delivery over £60", Value::Null), "Delivery in the UK is free on orders over £60."),
    ] {
        let brief = brief(language, json!({ "facts": [fact.clone()] }));
        let email = document(language, "News", json!([{ "type": "text", "id": "a", "text": text }]));
        let prompt = fact["text"].as_str().expect("a text");
        assert_eq!(findings(&email, &brief, prompt), [], "{language}: {text}");
        let other = document(language, "News", json!([{ "type": "text", "id": "a", "text": "A B C." }]));
        assert_eq!(findings(&other, &brief, prompt).first().map(|(kind, _)| *kind), Some(FindingKind::FactMissing), "{text}");
    }
}

#[test]
fn names_and_titles_of_the_brief_are_no_instructions() {
    let brief = brief(
        "en",
        json!({
            "event": { "name": { "text": "open studio evening" } },
            "signature": { "name": "Dana", "title": "customer success" },
            "instructions": [
                { "text": "Invite customers to our open studio evening on Saturday 12 December" },
                { "text": "customer success" },
            ],
        }),
    );
    let prompt = "Invite customers to our open studio evening on Saturday 12 December. From Dana, customer success.";
    let text =
        |text: &str| document("en", "Open studio evening on 12 December", json!([{ "type": "text", "id": "a", "text": text }]));
    assert_eq!(findings(&text("All the best,\nDana\ncustomer success"), &brief, prompt), []);
    let found = findings(&text("Invite customers to our open studio evening.\n\nDana\ncustomer success"), &brief, prompt);
    assert!(found.iter().any(|(kind, _)| *kind == FindingKind::InstructionPrinted), "{found:?}");
}

#[test]
fn the_price_before_a_reduction_is_known() {
    let mut material = material();
    material.brand.products[0].price_before = Some("29.90".to_owned());
    let brief = brief("en", json!({}));
    let products = json!([{ "type": "products", "id": "p", "products": [
        { "name": "Tide Mug", "href": "https://kiln.example/tide-mug", "price": "£24", "priceBefore": "£29.90" },
    ] }]);
    let terms = Terms { brief: &brief, prompt: "Our mugs", material: &material, today: TODAY };
    assert_eq!(check(&document("en", "Mugs", products), &terms), []);
}

#[test]
fn the_label_of_a_statement_or_a_link_need_not_be_printed() {
    let sentence = |text: &str| json!({ "kind": "sentence", "text": text });
    let facts = [sentence("Why: we doubled our support hours."), sentence("RSVP link: https://kiln.example/open")];
    let brief = brief("en", json!({ "facts": facts }));
    let blocks = json!([
        { "type": "text", "id": "a", "text": "We doubled our support hours." },
        { "type": "button", "id": "b", "label": "Sign up", "href": "https://kiln.example/open" },
    ]);
    let prompt = "Why: we doubled our support hours. RSVP link: https://kiln.example/open";
    assert_eq!(findings(&document("en", "News", blocks), &brief, prompt), []);
    let other = json!([{ "type": "text", "id": "a", "text": "We doubled our hours." }]);
    assert_eq!(findings(&document("en", "News", other), &brief, prompt).len(), 2);
}

#[test]
fn the_words_before_an_address_are_the_label_of_its_button() {
    let button = json!([{ "type": "button", "id": "button", "label": "Start", "href": "https://kiln.example/start" }]);
    let document = document("en", "Welcome", button);
    let missing = |text: &str| {
        let brief = brief("en", json!({ "facts": [{ "kind": "sentence", "text": text }] }));
        findings(&document, &brief, text).into_iter().filter(|(kind, _)| *kind == FindingKind::FactMissing).count()
    };
    assert_eq!(missing("Button to https://kiln.example/start."), 0);
    assert_eq!(missing("Button to https://kiln.example/other."), 1);
}

#[test]
fn values_that_are_probably_mistakes_are_reported() {
    let warned = |facts: Value| {
        let brief = brief("en", json!({ "facts": facts }));
        implausible::check(&brief, TODAY).into_iter().filter_map(|finding| finding.text).collect::<Vec<_>>()
    };
    let percent = |percent: f64, text: &str| json!([{ "kind": "percentage", "role": "offer", "text": text, "value": { "type": "percent", "percent": percent } }]);
    assert_eq!(warned(percent(150.0, "150%")), ["150%"]);
    assert_eq!(warned(percent(100.0, "100%")), <[String; 0]>::default());
    assert_eq!(warned(json!([{ "kind": "date", "role": "offer_ends", "text": "until 31 February" }])), ["until 31 February"]);
    assert_eq!(warned(json!([{ "kind": "date", "role": "other", "text": "soon" }])), <[String; 0]>::default());
    let day = |role: &str, day: &str| json!([{ "kind": "date", "role": role, "text": day, "value": { "type": "days", "first": day, "last": null } }]);
    assert_eq!(warned(day("offer_ends", "2020-03-03")), ["2020-03-03"]);
    assert_eq!(warned(day("happened", "2020-03-03")), <[String; 0]>::default(), "the past is right here");
    assert_eq!(warned(day("offer_ends", "2099-03-03")), <[String; 0]>::default());
    let money = |kind: &str, amount: f64, text: &str| json!({ "kind": kind, "text": text, "value": { "type": "money", "amount": amount, "currency": "EUR" } });
    assert_eq!(warned(json!([money("old_price", 20.0, "€20"), money("price", 25.0, "€25")])), ["€20"]);
    assert_eq!(warned(json!([money("old_price", 25.0, "€25"), money("price", 20.0, "€20")])), <[String; 0]>::default());
}

/// Regression test: a date at the end of a sentence was reported with the period of the sentence.
#[test]
fn a_date_that_is_not_in_the_brief_is_reported_without_the_period_of_its_sentence() {
    for (text, date) in [
        ("Only £9 left. See you on 4 December.", "4 december"),
        ("See you on 4 Dec.", "4 dec"),
        ("See you on 4 December, at last.", "4 december"),
    ] {
        let blocks = json!([{ "type": "text", "id": "a", "text": text }]);
        let found = findings(&document("en", "News", blocks), &brief("en", json!({})), "News");
        assert!(found.contains(&(FindingKind::NotInBrief, date.to_owned())), "{found:?}");
    }
}

/// Regression test: the first word after a greeting was reported as the name of an unknown person.
#[test]
fn a_sentence_below_a_greeting_is_no_signature() {
    let names = |text: &str| {
        let blocks = json!([{ "type": "text", "id": "a", "text": text }]);
        findings(&document("de", "Willkommen", blocks), &brief("de", json!({})), "Willkommen")
    };
    assert_eq!(names("Guten Tag,\n\nSchön, dass Sie von uns lesen möchten."), []);
    assert_eq!(names("Bis bald,\nAda, Werkstatt"), [(FindingKind::NotInBrief, "Ada".to_owned())]);
}
