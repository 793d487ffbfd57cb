//! Tests that the shape of an email follows its content.

use super::drafts::*;
use super::*;
use crate::features::emails::brief::*;
use crate::features::emails::document::{Block, Products, Table};

fn written(draft: DraftBrief) -> Composed {
    composed(&draft.brief, &brands::teas(), 7)
}

fn products(email: &Email) -> Option<&Products> {
    email.blocks.iter().find_map(|block| if let Block::Products(products) = block { Some(products) } else { None })
}

fn table<'a>(email: &'a Email, id: &str) -> Option<&'a Table> {
    email.blocks.iter().find_map(|block| match block {
        Block::Table(table) if table.id.as_str() == id => Some(table),
        _ => None,
    })
}

fn rows(table: &Table) -> Vec<String> {
    table
        .rows
        .iter()
        .map(|row| row.cells.iter().map(|cell| cell.words()).collect::<Vec<_>>().join(" = ").replace('\u{a0}', " "))
        .collect()
}

fn buttons(email: &Email) -> Vec<(String, String)> {
    let found = email.blocks.iter().filter_map(|block| match block {
        Block::Hero(hero) => hero.button.as_ref().map(|button| (button.label.to_string(), button.href.to_string())),
        Block::Button(button) => Some((button.label.to_string(), button.href.to_string())),
        _ => None,
    });
    found.collect()
}

#[test]
fn a_sale_states_its_offer_and_strikes_the_old_price() {
    let sale = draft(Goal::Sale, "en")
        .fact(FactKind::Percentage, Some(FactRole::Offer), "20%", percent(20.0))
        .fact(FactKind::Date, Some(FactRole::OfferEnds), "Sunday", day(11, 22))
        .fact(FactKind::Code, None, "EMBER20", None)
        .fact(FactKind::Product, None, "Smoked Black", None)
        .fact(FactKind::OldPrice, None, "€14", money(14.0, "EUR"))
        .fact(FactKind::Price, None, "€11", money(11.0, "EUR"));
    let composed = written(sale);
    let text = print::text(&composed.email);
    assert_eq!(composed.email.subject.as_str(), "20% off until Sunday with EMBER20", "{text}");
    let card = &products(&composed.email).expect("the email has the product").products[0];
    assert_eq!(card.price.as_deref(), Some("€11"), "{text}");
    assert_eq!(card.price_before.as_deref(), Some("€14"), "{text}");
    assert!(text.contains("┆ EMBER20 ┆") && text.contains("November 22"), "{text}");
    assert_eq!(composed.unused, vec![]);
}

#[test]
fn numbered_stories_become_sections() {
    let digest = draft(Goal::Digest, "en")
        .story(Some("Kiln fired"), "The new kiln was fired on Monday. It holds twice as much.", Some("https://example.com/kiln"))
        .story(None, "Market in Truro: we are there on 5 December with all seconds.", None);
    let composed = written(digest);
    let text = print::text(&composed.email);
    assert!(
        text.contains(
            "## Kiln fired\nThe new kiln was fired on Monday. It holds twice as much.\n\n[Read more](https://example.com/kiln)"
        ),
        "{text}"
    );
    assert!(text.contains("## Market in Truro\nWe are there on 5 December with all seconds."), "{text}");
    assert!(composed.email.subject.contains("Kiln fired"), "{text}");
    assert_eq!((composed.unused, products(&composed.email)), (vec![], None));
}

#[test]
fn feature_lists_and_dishes_become_rows() {
    let launch = draft(Goal::Launch, "en").says("Version 4 is out today.", &[]).lists(&[
        "Dark mode in the mobile app",
        "Public holidays for 14 countries",
        "One feed per employee",
    ]);
    let composed = written(launch);
    let list = composed.email.blocks.iter().find_map(|block| if let Block::List(list) = block { Some(list) } else { None });
    assert!(list.is_some_and(|list| list.items.len() >= 2), "{}", print::text(&composed.email));
    let menu = draft(Goal::Announcement, "de")
        .says("Ab Freitag gibt es die neue Winterkarte.", &[])
        .says("Kürbissuppe 9 €", &[(FactKind::Price, None, "9 €", money(9.0, "EUR"))])
        .says("Brasato al Barolo 24 €", &[(FactKind::Price, None, "24 €", money(24.0, "EUR"))]);
    let composed = written(menu);
    let prices = table(&composed.email, "prices").map(rows);
    assert_eq!(prices, Some(vec!["Kürbissuppe = 9 €".to_owned(), "Brasato al Barolo = 24 €".to_owned()]));
}

#[test]
fn an_apology_says_what_happened_and_who_signs() {
    let outage = draft(Goal::Outage, "en")
        .says(
            "On 18 November from 14:05 to 16:50 CET invoices could not be sent.",
            &[(FactKind::Date, Some(FactRole::Happened), "18 November", day(11, 18))],
        )
        .says("A certificate had expired that our monitoring did not watch.", &[])
        .says("Every paying account gets 5 free days.", &[])
        .with(|brief| brief.signature = Some(Signature { name: "Maartje".into(), title: Some("CTO".into()), span: None }))
        .with(|brief| brief.instructions.push(Part { text: "Sign as Maartje, CTO.".into(), span: None }));
    let composed = written(outage);
    let text = print::text(&composed.email);
    for fact in ["14:05 to 16:50", "certificate had expired", "5 free days", "**Maartje**\nCTO"] {
        assert!(text.contains(fact), "{fact}: {text}");
    }
    assert!(!text.contains("Sign as") && !text.contains("team"), "{text}");
    assert_eq!((products(&composed.email), buttons(&composed.email)), (None, vec![]));
}

#[test]
fn an_event_has_a_table_of_what_belongs_there() {
    let event = draft(Goal::Event, "en")
        .fact(FactKind::Date, Some(FactRole::Event), "Thursday 3 December", day(12, 3))
        .fact(FactKind::Time, Some(FactRole::Event), "7 pm", clock(19, 0))
        .fact(FactKind::Place, None, "12 Harbour Lane", None)
        .fact(FactKind::Capacity, None, "40 places", Some(FactValue::Count { count: 40 }))
        .fact(FactKind::Date, Some(FactRole::OrderBy), "30 November", day(11, 30))
        .with(|brief| brief.event = Some(Event { name: Part { text: "Truffle evening".into(), span: None } }))
        .with(|brief| {
            brief.cta = Some(CallToAction {
                label: Some(Part { text: "\"Save my seat\"".into(), span: None }),
                link: Some("https://example.com/truffle".into()),
            })
        });
    let composed = written(event);
    let details = table(&composed.email, "details").map(rows);
    let expected =
        ["When = Thursday 3 December", "Time = 7pm", "Where = 12 Harbour Lane", "Places = 40", "Reply by = Monday 30 November"];
    assert_eq!(details, Some(expected.map(str::to_owned).to_vec()));
    assert!(composed.email.subject.contains("Truffle evening"), "{}", composed.email.subject);
    assert_eq!(buttons(&composed.email), [("Save my seat".to_owned(), "https://example.com/truffle".to_owned())]);
}

#[test]
fn notices_state_their_news_first_and_advertise_nothing() {
    let closing =
        draft(Goal::Closing, "de").fact(FactKind::Period, Some(FactRole::Closed), "24.12.-3.1.", days((12, 24), (1, 3)));
    let composed = composed(&closing.brief, &brands::furniture(crate::features::projects::brand::BrandFormality::Formal), 3);
    assert_eq!(composed.email.subject.as_str(), "Wir haben vom 24. Dezember bis 3. Januar geschlossen");
    assert_eq!((products(&composed.email), buttons(&composed.email)), (None, vec![]));
    let recall = draft(Goal::Recall, "en").says("The handle of the clay pot can break.", &[]).fact(
        FactKind::Product,
        None,
        "Clay Pot",
        None,
    );
    let composed = written(recall);
    assert!(
        products(&composed.email).is_none() && composed.email.subject.contains("Clay Pot"),
        "{}",
        print::text(&composed.email)
    );
}

#[test]
fn constraints_hold() {
    let base = || {
        draft(Goal::Sale, "en").says("Everything must go!", &[]).fact(
            FactKind::Percentage,
            Some(FactRole::Offer),
            "30%",
            percent(30.0),
        )
    };
    let text = |draft: DraftBrief| print::text(&written(draft).email);
    assert!(text(base().constrained(ConstraintKind::NoImages, None)).find('<').is_none());
    assert!(!text(base().constrained(ConstraintKind::NoExclamation, None)).contains('!'));
    assert!(!text(base().constrained(ConstraintKind::NoProducts, None)).contains("  * "));
    assert_eq!(written(base().constrained(ConstraintKind::Layout, Some("bulletin"))).email.style.layout, Some(Layout::Bulletin));
    let limited = written(base().constrained(ConstraintKind::WordLimit, Some("30")));
    assert!(printed::words(&limited.email.blocks) <= 30, "{}", print::text(&limited.email));
    let avoided = text(base().constrained(ConstraintKind::AvoidWord, Some("sale")));
    assert!(!avoided.lines().skip(1).any(|line| line.to_lowercase().contains("sale")), "{avoided}");
    let plain = written(base().constrained(ConstraintKind::PlainLayout, None));
    assert_eq!(plain.email.style.layout, Some(Layout::Letter));
}

#[test]
fn sentences_in_another_language_are_reported_and_their_facts_are_kept() {
    let brief = draft(Goal::Event, "de").says(
        "Please tell everyone that the open evening with our founders is on 3 December.",
        &[(FactKind::Date, Some(FactRole::Event), "3 December", day(12, 3))],
    );
    let composed = written(brief);
    let text = print::text(&composed.email);
    assert!(text.contains("3. Dezember") && !text.contains("founders"), "{text}");
    assert_eq!(composed.unused.len(), 1);
}

fn hero_picture(email: &Email) -> Option<&str> {
    email.blocks.iter().find_map(|block| match block {
        Block::Hero(hero) => hero.image.as_ref().map(|image| image.src.as_str()),
        _ => None,
    })
}

/// Regression test: an email for a prompt of more than 140 characters lacked the picture and the products that the email for a shorter
/// prompt had.
#[test]
fn a_long_prompt_keeps_the_pictures_and_products_that_its_words_fit() {
    let long = "Free delivery over €60 as always, and we pack every parcel by hand. Returns are free until the end of January.";
    let shop = brands::teas();
    let everything = one(&format!("Sale: 20% off everything with code TEA20 until 30 November. {long}"), &shop, "en", 7).email;
    let text = print::text(&everything);
    assert!(products(&everything).is_some_and(|block| block.products.len() > 1), "{text}");
    if everything.style.layout != Some(Layout::Letter) {
        assert!(hero_picture(&everything).is_some(), "{text}");
    }
    let other = one(&format!("Sale: 20% off our garden chairs with code SIT20 until 30 November. {long}"), &shop, "en", 7).email;
    assert_eq!((products(&other), hero_picture(&other)), (None, None), "{}", print::text(&other));
    let plain = format!("Sale: 20% off everything with code TEA20 until 30 November. {long} No pictures. No products.");
    let plain = one(&plain, &shop, "en", 7).email;
    assert_eq!((products(&plain), hero_picture(&plain)), (None, None), "{}", print::text(&plain));
    let service = one(&format!("Service notice: our shop system is down on Sunday. {long}"), &shop, "en", 7).email;
    assert_eq!((products(&service), hero_picture(&service)), (None, None), "{}", print::text(&service));
}

/// Regression test: the offer was in the opening, in the title of the coupon and in its small print, and the period was only in the small
/// print.
#[test]
fn a_coupon_states_the_offer_once_and_its_period_below_the_code() {
    let prompt = "Black Friday: 20% off everything with code KILN20, from Friday 27 November until Monday 30 November at midnight. \
                  Excludes seconds.";
    let email = one(prompt, &brands::teas(), "en", 7).email;
    let coupon = email.blocks.iter().find_map(|block| if let Block::Coupon(coupon) = block { Some(coupon) } else { None });
    let coupon = coupon.unwrap_or_else(|| panic!("{}", print::text(&email)));
    let text = coupon.text.as_ref().map(|text| text.words()).unwrap_or_default();
    assert!(text.starts_with("From Friday 27 November until Monday 30 November"), "{text}");
    assert!(!coupon.title.contains("20%") && !text.contains("20%"), "{}: {text}", coupon.title.as_str());
    let all = print::text(&email);
    assert!(all.contains("# 20% off everything\n"), "{all}");
}

#[test]
fn a_light_brand_gets_a_dark_email_only_if_the_prompt_asks() {
    let layout = |prompt: &str, seed| one(prompt, &brands::teas(), "en", seed).email.style.layout;
    for prompt in ["Sale this week", "Open evening on 12 December at 7pm", "New: the Clay Pot"] {
        assert!((0..12).all(|seed| layout(prompt, seed) != Some(Layout::Midnight)), "{prompt}");
    }
}
