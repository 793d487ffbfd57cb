//! Regression tests for defects that a review of thirty emails from five imported brands found.

use super::drafts::*;
use super::*;
use crate::features::emails::brief::*;
use crate::features::projects::brand::BrandProduct;

fn written(draft: DraftBrief) -> String {
    print::text(&composed(&draft.brief, &brands::teas(), 7).email).replace('\u{a0}', " ")
}

/// Returns the tea shop's brand with an additional product, a teapot.
fn potter() -> Brand {
    let mut brand = brands::teas();
    brand.products.push(brands::product("Clay Teapot", "49.00", "Made by hand."));
    brand
}

/// Returns the target of the first button.
fn target(email: &Email) -> Option<String> {
    email.blocks.iter().find_map(|block| match block {
        Block::Hero(hero) => hero.button.as_ref().map(|button| button.href.to_string()),
        Block::Button(button) => Some(button.href.to_string()),
        _ => None,
    })
}

fn event(name: &str, language: &str) -> DraftBrief {
    draft(Goal::Event, language).with(|brief| brief.event = Some(Event { name: Part { text: name.to_owned(), span: None } }))
}

#[test]
fn the_button_of_an_event_does_not_lead_to_a_product_of_its_kind() {
    let workshop = event("Teapot workshop", "en")
        .fact(FactKind::Date, Some(FactRole::Event), "Sunday 6 December", day(12, 6))
        .says("Book by phone 01225 555 0163.", &[(FactKind::Contact, None, "01225 555 0163", None)]);
    let composed = composed(&workshop.brief, &potter(), 7);
    assert_eq!(target(&composed.email).as_deref(), Some("tel:012255550163"), "{}", print::text(&composed.email));
}

#[test]
fn an_event_without_booking_has_no_button_to_reply() {
    let studio = event("Open studio", "en")
        .fact(FactKind::Date, Some(FactRole::Event), "Saturday 12 December", day(12, 12))
        .says("No booking needed.", &[]);
    let composed = composed(&studio.brief, &brands::teas(), 7);
    assert_eq!((target(&composed.email), composed.warnings), (None, vec![]), "{}", print::text(&composed.email));
}

#[test]
fn vouchers_that_are_ordered_by_email_have_a_button_that_writes() {
    let vouchers = draft(Goal::Voucher, "en")
        .says("Give a tea evening: vouchers from €25.", &[(FactKind::Price, None, "€25", money(25.0, "EUR"))])
        .says("Order them by email: ciao@example.com.", &[(FactKind::Contact, None, "ciao@example.com", None)]);
    let composed = composed(&vouchers.brief, &brands::teas(), 7);
    assert_eq!(target(&composed.email).as_deref(), Some("mailto:ciao@example.com"), "{}", print::text(&composed.email));
}

#[test]
fn the_button_of_a_launch_does_not_lead_to_an_older_product_of_its_kind() {
    let launch =
        draft(Goal::Launch, "en").says("Our teapot subscription starts today.", &[]).says("A new teapot every month.", &[]);
    let composed = composed(&launch.brief, &potter(), 7);
    let target = target(&composed.email);
    assert!(target.is_some_and(|target| !target.contains("clay-teapot")), "{}", print::text(&composed.email));
}

#[test]
fn a_code_for_the_whole_range_leads_to_the_shop() {
    let back = draft(Goal::WinBack, "en")
        .fact(FactKind::Percentage, Some(FactRole::Offer), "15%", percent(15.0))
        .fact(FactKind::Code, None, "COMEBACK15", None)
        .fact(FactKind::Product, None, "Smoked Black", None)
        .fact(FactKind::Price, None, "€12", money(12.0, "EUR"))
        .fact(FactKind::OldPrice, None, "€14", money(14.0, "EUR"));
    let composed = composed(&back.brief, &brands::teas(), 7);
    let target = target(&composed.email);
    assert!(target.is_some_and(|target| !target.contains("smoked-black")), "{}", print::text(&composed.email));
}

#[test]
fn an_apology_for_a_wrong_price_has_no_table_of_new_prices() {
    let sorry = draft(Goal::Apology, "en").says(
        "We sent an email with the wrong price for the Clay Pot (€6.40 instead of €64).",
        &[
            (FactKind::Product, None, "Clay Pot", None),
            (FactKind::Price, None, "€6.40", money(6.4, "EUR")),
            (FactKind::OldPrice, None, "€64", money(64.0, "EUR")),
        ],
    );
    let text = written(sorry);
    assert!(text.contains("instead of €64") && !text.contains("New price"), "{text}");
}

#[test]
fn an_apology_names_the_day_of_the_mistake_once() {
    let sorry = draft(Goal::Apology, "en").says("We made a mistake.", &[]).says(
        "On Thursday we sent an email with a broken link.",
        &[(FactKind::Date, Some(FactRole::Happened), "On Thursday", day(11, 19))],
    );
    let texts = (0..6).map(|seed| print::text(&composed(&sorry.brief, &brands::teas(), seed).email));
    texts.for_each(|text| assert!(!text.contains("happened on Thursday"), "{text}"));
}

#[test]
fn a_later_statement_is_not_the_title_of_an_outage() {
    let outage = draft(Goal::Outage, "en")
        .says(
            "On November 20 between 2:10pm and 4:45pm PT time entries could not be saved for about 8% of all the accounts.",
            &[(FactKind::Date, Some(FactRole::Happened), "On November 20", day(11, 20))],
        )
        .says("Fixed since.", &[]);
    let text = written(outage);
    assert!(text.contains("Fixed since.") && !text.contains("# Fixed since"), "{text}");
}

#[test]
fn the_opening_does_not_repeat_an_offer_that_the_title_and_the_coupon_state() {
    let sale = draft(Goal::Sale, "en")
        .fact(FactKind::Percentage, Some(FactRole::Offer), "10%", percent(10.0))
        .fact(FactKind::Date, Some(FactRole::OfferEnds), "until 6 December", day(12, 6))
        .fact(FactKind::Code, None, "BACK10", None);
    let texts: Vec<String> = (0..12).map(|seed| print::text(&composed(&sale.brief, &brands::teas(), seed).email)).collect();
    let is_stated = |text: &str| text.lines().any(|line| line.starts_with("# ") && line.contains("10% off"));
    let stated: Vec<&String> = texts.iter().filter(|text| is_stated(text)).collect();
    assert!(!stated.is_empty(), "{}", texts.concat());
    for text in stated {
        assert!(!text.contains("get **10% off**") && text.contains("6 December"), "{text}");
    }
}

#[test]
fn a_brand_with_a_price_list_has_no_checkout() {
    let sale = draft(Goal::Sale, "en").fact(FactKind::Percentage, Some(FactRole::Offer), "10%", percent(10.0)).fact(
        FactKind::Code,
        None,
        "BACK10",
        None,
    );
    let mut brand = brands::teas();
    let all = |brand: &Brand| (0..8).map(|seed| print::text(&composed(&sale.brief, brand, seed).email)).collect::<String>();
    assert!(all(&brand).contains("checkout"));
    brand.products.iter_mut().for_each(|product| product.image = None);
    assert!(!all(&brand).contains("checkout"), "{}", all(&brand));
}

#[test]
fn a_length_of_time_that_describes_the_recipients_is_not_printed_alone() {
    let back = draft(Goal::TrialEnding, "en")
        .fact(FactKind::Period, Some(FactRole::Other), "30 days", None)
        .with(|brief| {
            let span = brief.facts[0].span;
            brief.audience = Some(Part { text: "users whose trial ended 30 days ago".into(), span });
        })
        .says("Budgets and calendars are new.", &[]);
    assert!(!written(back).contains("\n30 days."));
}

#[test]
fn a_reminder_of_an_offer_has_a_coupon_and_a_button() {
    let reminder = draft(Goal::Reminder, "en").says("We have not seen you for a while.", &[]).says(
        "A free cup with your next order, just use code HELLOAGAIN at checkout until 20 December.",
        &[
            (FactKind::Code, None, "HELLOAGAIN", None),
            (FactKind::Date, Some(FactRole::OfferEnds), "until 20 December", day(12, 20)),
        ],
    );
    let composed = composed(&reminder.brief, &brands::teas(), 7);
    let text = print::text(&composed.email);
    assert!(text.contains("┆ HELLOAGAIN ┆") && target(&composed.email).is_some(), "{text}");
}

/// Regression test: a reminder for patients "not seen in 6 months" did not say how long ago the visit was.
#[test]
fn a_reminder_says_how_long_its_recipients_have_been_away() {
    let reminder = |audience: &str| {
        let draft = draft(Goal::Reminder, "en").fact(FactKind::Period, Some(FactRole::Other), "6 months", None);
        written(draft.says("Book your checkup online.", &[]).with(|brief| {
            let span = brief.facts[0].span;
            brief.audience = Some(Part { text: audience.to_owned(), span });
        }))
    };
    let text = reminder("patients not seen in 6 months");
    assert!(text.contains("It’s been 6 months since we last saw you."), "{text}");
    let text = reminder("patients who asked for a reminder every 6 months");
    assert!(!text.contains("6 months"), "{text}");
}

#[test]
fn a_title_does_not_cut_a_date() {
    let starts = Some(FactRole::OfferStarts);
    let launch = draft(Goal::Launch, "en").says(
        "We are launching the new Clay Pot this Friday, 4 December at 9am.",
        &[
            (FactKind::Product, None, "Clay Pot", None),
            (FactKind::Date, starts, "Friday, 4 December", day(12, 4)),
            (FactKind::Time, starts, "at 9am", clock(9, 0)),
        ],
    );
    let text = written(launch).replace("**", "");
    assert!(text.contains("this Friday, 4 December at 9am") && !text.contains("\n4 December"), "{text}");
}

#[test]
fn a_card_in_another_language_shows_more_than_a_name() {
    let launch = draft(Goal::Launch, "fr").says("Les budgets sont là.", &[]).says(
        "Disponible dès maintenant pour Smoked Black et Aged White.",
        &[(FactKind::Product, None, "Smoked Black", None), (FactKind::Product, None, "Aged White", None)],
    );
    let mut brand = brands::teas();
    let text = |brand: &Brand| print::text(&composed(&launch.brief, brand, 7).email);
    assert!(text(&brand).contains("* Smoked Black"), "{}", text(&brand));
    brand.products.iter_mut().for_each(|product| product.image = None);
    assert!(!text(&brand).contains("* Smoked Black"), "{}", text(&brand));
}

#[test]
fn a_subject_that_is_too_long_has_no_label() {
    let vouchers = draft(Goal::Announcement, "de").says(
        "Gutschein-Aktion: beim Kauf eines Gutscheins über 50 € gibt es 10 € dazu, bis 23. Dezember.",
        &[(FactKind::Date, Some(FactRole::OfferEnds), "bis 23. Dezember", day(12, 23))],
    );
    let text = written(vouchers);
    assert!(text.contains("Subject:   Beim Kauf eines Gutscheins über 50 € gibt es 10 € dazu\n"), "{text}");
}

#[test]
fn a_season_in_an_aside_is_not_the_season_of_a_sale() {
    let sale = |aside: &str| {
        draft(Goal::Sale, "en")
            .says(
                "20% off everything until Sunday with KILN20.",
                &[
                    (FactKind::Percentage, Some(FactRole::Offer), "20%", percent(20.0)),
                    (FactKind::Date, Some(FactRole::OfferEnds), "until Sunday", day(11, 22)),
                    (FactKind::Code, None, "KILN20", None),
                ],
            )
            .says(aside, &[])
    };
    let draft = sale("We need the shelves for the spring harvest.");
    for seed in 0..8 {
        let text = print::text(&composed(&draft.brief, &brands::teas(), seed).email);
        assert!(!text.contains("Spring"), "{text}");
    }
}

#[test]
fn the_lowest_of_several_prices_is_not_the_price_of_an_event() {
    let studio = event("Open studio", "en")
        .fact(FactKind::Date, Some(FactRole::Event), "Saturday 12 December", day(12, 12))
        .fact(FactKind::Time, Some(FactRole::Event), "11 am", clock(11, 0))
        .says("Mulled cider, and seconds from €8.", &[(FactKind::Price, None, "€8", money(8.0, "EUR"))]);
    let text = written(studio);
    assert!(text.contains("seconds from €8") && !text.contains("Price | €8"), "{text}");
}

#[test]
fn the_place_of_an_event_is_not_cut_off() {
    let tasting = event("Tasting", "en").says(
        "Tasting Sunday 6 December 2pm at the shop on Walcot Street, £48 per person.",
        &[
            (FactKind::Date, Some(FactRole::Event), "Sunday 6 December", day(12, 6)),
            (FactKind::Time, Some(FactRole::Event), "2pm", clock(14, 0)),
            (FactKind::Place, None, "shop", None),
            (FactKind::Place, None, "Walcot Street", None),
            (FactKind::Price, None, "£48", money(48.0, "GBP")),
        ],
    );
    let text = written(tasting);
    assert!(text.contains("Where | Shop on Walcot Street\n"), "{text}");
    let evening = event("Strickabend", "de").says(
        "Strickabend am Donnerstag, den 10. Dezember, 19 Uhr im Laden in der Gasse am Brühl, Leipzig.",
        &[
            (FactKind::Date, Some(FactRole::Event), "am Donnerstag, den 10. Dezember", day(12, 10)),
            (FactKind::Time, Some(FactRole::Event), "19 Uhr", clock(19, 0)),
            (FactKind::Place, None, "Laden in der Gasse", None),
        ],
    );
    let text = written(evening);
    assert!(text.contains("Wo | Laden in der Gasse am Brühl, Leipzig\n"), "{text}");
}

#[test]
fn days_that_are_no_dates_are_not_bold() {
    let news = draft(Goal::Announcement, "en").says("We have a new driver.", &[]).says(
        "Between Christmas and New Year we are closed until Sunday.",
        &[
            (FactKind::Date, Some(FactRole::Event), "New Year", day(1, 1)),
            (FactKind::Date, Some(FactRole::Closed), "until Sunday", day(11, 22)),
        ],
    );
    let text = written(news);
    assert!(text.contains("New Year") && !text.contains("**New Year**") && text.contains("**until Sunday**"), "{text}");
}

#[test]
fn a_story_that_is_the_title_is_not_in_the_list_below_it() {
    let digest = draft(Goal::Digest, "en")
        .story(None, "A visit to the pasture of the Krause family", None)
        .story(Some("Instructions"), "A hat in two evenings, free to download.", None)
        .story(None, "The shop is closed on 24 December", None);
    let text = written(digest);
    assert!(text.contains("# A visit to the pasture") && !text.contains("- A visit to the pasture"), "{text}");
    assert!(text.contains("- The shop is closed on 24 December"), "{text}");
}

#[test]
fn announced_statements_of_a_newsletter_are_a_list() {
    let statements = ["The narcissi will be early.", "We have moved the consultations.", "Meet Oli, our new driver."];
    let digest = |note: &str| {
        let empty = draft(Goal::Digest, "en").with(|brief| brief.instructions = vec![Part { text: note.to_owned(), span: None }]);
        written(statements.into_iter().fold(empty, |draft, statement| draft.says(statement, &[])))
    };
    let text = digest("Newsletter, three bits:");
    assert!(text.contains("  - We have moved the consultations.\n  - Meet Oli, our new driver.\n"), "{text}");
    let text = digest("Newsletter:");
    assert!(text.contains("We have moved the consultations. Meet Oli, our new driver."), "{text}");
}

#[test]
fn the_period_of_a_plan_belongs_to_its_price() {
    let plan = BrandProduct {
        currency: Some("USD".to_owned()),
        ..brands::product("Studio", "29", "/month, For teams of up to ten, Timesheets and invoices")
    };
    let shown = material::product(&plan, Bank::of(Language::En).format(None), None, true).expect("the plan has a page");
    assert_eq!(shown.price.as_deref(), Some("$29/month"));
    assert_eq!(shown.text.as_deref(), Some("For teams of up to ten, Timesheets and invoices"));
}
