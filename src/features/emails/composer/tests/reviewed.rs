//! Regression tests for defects that readers found in generated emails. Each prompt reproduces one defect.

use super::drafts::*;
use super::*;
use crate::features::emails::brief::*;

/// Returns the text of the tea shop's email for a prompt.
fn email(prompt: &str, language: &str) -> String {
    print::text(&one(prompt, &brands::teas(), language, 7).email).replace('\u{a0}', " ")
}

fn written(draft: DraftBrief) -> String {
    print::text(&composed(&draft.brief, &brands::teas(), 7).email).replace('\u{a0}', " ")
}

#[test]
fn the_end_of_an_offer_is_not_the_end_of_the_trial() {
    let text = email("Trial ends in 3 days. 20% off with START20 until December 31.", "en");
    assert!(!text.contains("trial ends on") && text.contains("December 31"), "{text}");
    let text = email("Your trial ends on December 5.", "en");
    assert!(text.contains("trial ends on December 5"), "{text}");
}

#[test]
fn the_price_of_a_set_is_not_the_price_of_its_parts() {
    let set = draft(Goal::Sale, "en").says(
        "Tasting set: Smoked Black and Aged White for €40.",
        &[
            (FactKind::Product, None, "Smoked Black", None),
            (FactKind::Product, None, "Aged White", None),
            (FactKind::Price, None, "€40", money(40.0, "EUR")),
        ],
    );
    let text = written(set);
    assert!(text.contains("€40") && !text.contains("  * "), "{text}");
    let each = draft(Goal::Sale, "en").says(
        "Smoked Black for €12 and Aged White for €25.",
        &[
            (FactKind::Product, None, "Smoked Black", None),
            (FactKind::Price, None, "€12", money(12.0, "EUR")),
            (FactKind::Product, None, "Aged White", None),
            (FactKind::Price, None, "€25", money(25.0, "EUR")),
        ],
    );
    let text = written(each);
    assert!(text.contains("* Smoked Black · ~€14~ €12") || text.contains("* Smoked Black · €12"), "{text}");
}

#[test]
fn stories_print_their_text_once_and_their_links_as_links() {
    let digest = draft(Goal::Digest, "en")
        .story(None, "The last kiln of the year - we fire on 17 December.", None)
        .story(None, "Free pattern for a hat: https://example.com/hat", Some("https://example.com/hat"))
        .with(|brief| {
            let sentence = Fact {
                kind: FactKind::Sentence,
                role: None,
                text: "The last kiln of the year - we fire on 17 December.".into(),
                value: None,
                story: Some(0),
                span: None,
            };
            brief.facts.push(sentence);
        });
    let text = written(digest);
    assert_eq!(text.matches("e fire on 17 December").count(), 2, "once in the preheader and once in the body: {text}");
    assert!(text.contains("[Read more](https://example.com/hat)") && !text.contains("\\["), "{text}");
}

#[test]
fn a_digest_has_no_headings_without_texts() {
    let digest = draft(Goal::Digest, "de")
        .story(None, "Enzo singt am 7. Dezember ab 20 Uhr", None)
        .story(None, "Kochkurs Pesto am 24. Januar, 15–18 Uhr, 65 € pro Person, Anmeldung per Telefon 040 / 555 01 23", None)
        .with(|brief| {
            let contact = |story| Fact {
                kind: FactKind::Contact,
                role: None,
                text: "040 / 555 01 23".into(),
                value: None,
                story: Some(story),
                span: None,
            };
            brief.facts.push(contact(1));
        });
    let text = written(digest);
    assert!(!text.contains("## ") && text.contains("  - Enzo singt am 7. Dezember ab 20 Uhr"), "{text}");
    assert!(text.contains("[040 / 555 01 23](tel:0405550123)"), "{text}");
    assert!(text.starts_with("──") && text.contains("Subject:   Enzo singt"), "{text}");
}

#[test]
fn an_apology_apologizes_once() {
    for (language, mistake, words) in [
        ("en", "We sent out the wrong tracking links on Monday.", ["sorry", "apolog"]),
        ("de", "Wir haben am Montag falsche Links verschickt.", ["leid", "Entschuldigung"]),
        ("fr", "Nous avons envoyé de mauvais liens lundi.", ["désolés", "excuses"]),
        ("es", "Enviamos los enlaces equivocados el lunes.", ["sentimos", "disculpas"]),
        ("it", "Lunedì abbiamo inviato i link sbagliati.", ["dispiace", "scusa"]),
        ("nl", "We hebben maandag de verkeerde links gestuurd.", ["spijt", "excuses"]),
        ("pt", "Enviámos as ligações erradas na segunda-feira.", ["desculpa", "desculpas"]),
    ] {
        for more in [None, Some("Die Pakete sind unterwegs. The parcels are on their way.")] {
            let apology = draft(Goal::Apology, language).says(mistake, &[]);
            let apology = if let Some(more) = more { apology.says(more, &[]) } else { apology };
            let text = written(apology);
            assert!(words.iter().any(|word| text.to_lowercase().contains(&word.to_lowercase())), "{language}: {text}");
        }
    }
    let text = written(draft(Goal::Apology, "en").says("We are sorry for the delay.", &[]));
    assert_eq!(text.to_lowercase().matches("sorry").count() + text.to_lowercase().matches("apolog").count(), 3, "{text}");
}

#[test]
fn the_first_statement_is_the_news() {
    let menu = draft(Goal::Announcement, "de")
        .says(
            "Weihnachtsmenü vom 11. bis 23. Dezember: vier Gänge für 58 €.",
            &[(FactKind::Price, None, "58 €", money(58.0, "EUR"))],
        )
        .says("Es gibt Pansoti und Kaninchen.", &[]);
    let text = written(menu);
    assert!(text.contains("Subject:   Weihnachtsmenü vom 11. bis 23. Dezember\n"), "{text}");
    let quote = draft(Goal::Announcement, "en")
        .says("Quote from a tester: \"Like having a garden in the hallway.\" - Helen, Widcombe", &[])
        .says("Flower subscriptions are here.", &[]);
    let text = written(quote);
    assert!(text.contains("Subject:   Flower subscriptions are here"), "{text}");
    assert!(text.contains("  “Like having a garden in the hallway.” — Helen"), "{text}");
}

#[test]
fn a_small_offer_with_a_condition_is_not_the_news() {
    let text = email("New in the shop: the tweed wool “Nebel” for €14.90. 10% off from the third ball.", "en");
    assert!(text.contains("Nebel") && !text.contains("# 10% off") && !text.contains("Subject:   10%"), "{text}");
    assert!(text.contains("10% off from the third ball"), "{text}");
}

#[test]
fn lines_close_their_quotation_marks() {
    let event =
        draft(Goal::Webinar, "en").fact(FactKind::Date, Some(FactRole::Event), "December 15", day(12, 15)).with(|brief| {
            brief.event = Some(Event { name: Part { text: "webinar \"Bill without losing hours\"".into(), span: None } })
        });
    let text = written(event);
    assert!(text.contains("Webinar \"Bill without losing hours\""), "{text}");
    assert_eq!(text::closed("Webinar «Facturar sin"), "Webinar Facturar sin");
    assert_eq!((text::unquoted("„Licht“"), text::unquoted("\"A\" and \"B\"")), ("Licht", "\"A\" and \"B\""));
}

#[test]
fn fixed_phrases_fit_the_content() {
    let planned = draft(Goal::Outage, "en").says(
        "Scheduled maintenance on December 6, 02:00 to 04:00 UTC.",
        &[(FactKind::Date, Some(FactRole::Other), "December 6", day(12, 6))],
    );
    let text = written(planned);
    assert!(!text.contains("outage") && !text.contains("orry"), "{text}");
    for language in ["en", "de", "fr", "es", "it", "nl", "pt"] {
        let bank = Bank::of(Language::of(&tag(language)).expect("a language of the composer"));
        assert!(
            bank.season(&text::folded(bank.phrases("season.new_years_eve.words")[0].as_str())).as_deref()
                == Some("new_years_eve")
        );
    }
    let text = email("Wir vermissen Sie. Ein Glas Vermentino aufs Haus, einfach TORNA sagen.", "de");
    assert!(!text.contains("Das ist neu"), "{text}");
}

#[test]
fn labels_of_the_prompt_are_not_printed() {
    let news = draft(Goal::PriceChange, "en")
        .says("New product launch - the Harbour Teapot is here", &[])
        .says("Why: we doubled our support hours.", &[])
        .says("RSVP link: https://example.com/open-studio", &[(FactKind::Link, None, "https://example.com/open-studio", None)]);
    let brief = news.brief;
    let composed = composed(&brief, &brands::teas(), 7);
    let text = print::text(&composed.email);
    assert!(text.contains("Subject:   The Harbour Teapot is here\n") && text.contains("We doubled our support hours."), "{text}");
    assert!(!text.contains("Why") && !text.contains("RSVP link") && text.contains("[Sign up]"), "{text}");
    assert_eq!(composed.unused, []);
    let featured = draft(Goal::Sale, "en").says(
        "The Clay Pot and the Smoked Black.",
        &[(FactKind::Product, None, "Clay Pot", None), (FactKind::Product, None, "Smoked Black", None)],
    );
    let text = written(featured);
    assert!(!text.contains("The Clay Pot and the Smoked Black") && text.contains("* Clay Pot"), "{text}");
}

#[test]
fn an_invitation_has_its_facts_in_one_table() {
    let event = draft(Goal::Event, "en")
        .fact(FactKind::Date, Some(FactRole::Event), "Sunday 29 November", day(11, 29))
        .fact(FactKind::Place, None, "the shop", None)
        .fact(FactKind::Place, None, "Walcot Street", None)
        .says("Tickets are £55, tea included.", &[(FactKind::Price, None, "£55", money(55.0, "GBP"))])
        .with(|brief| brief.event = Some(Event { name: Part { text: "Wreath workshop".into(), span: None } }));
    let text = written(event);
    assert_eq!(text.matches("  Where | ").count(), 1, "{text}");
    assert!(text.contains("  Price | £55") && text.contains("  When | Sunday"), "{text}");
    let short = draft(Goal::Event, "en")
        .fact(FactKind::Date, Some(FactRole::Event), "Saturday 12 December", day(12, 12))
        .with(|brief| brief.event = Some(Event { name: Part { text: "Studio evening".into(), span: None } }));
    let text = written(short);
    assert!(text.contains("Saturday"), "{text}");
}

#[test]
fn lists_of_facts_are_lists_and_tables() {
    let prices =
        [("£38", 38.0), ("£42", 42.0), ("£50", 50.0)].map(|(text, price)| (FactKind::Price, None, text, money(price, "GBP")));
    let launch = draft(Goal::Launch, "en")
        .says("Flower subscriptions are here.", &[])
        .says("Three options: Fortnightly £38, Monthly £42, Quarterly £50.", &prices);
    let text = written(launch);
    assert!(text.contains("Three options:\n  Fortnightly | £38\n  Monthly | £42\n  Quarterly | £50"), "{text}");
    let hours = draft(Goal::OpeningHours, "en").says("We have new opening hours.", &[]).says(
        "24 December closed, 27 December 10 to 2, from 2 January as usual.",
        &[
            (FactKind::Date, Some(FactRole::Other), "24 December", day(12, 24)),
            (FactKind::Date, Some(FactRole::Other), "27 December", day(12, 27)),
            (FactKind::Date, Some(FactRole::Other), "2 January", day(1, 2)),
        ],
    );
    let text = written(hours);
    assert!(text.contains("  - 24 December closed\n  - 27 December 10 to 2\n  - From 2 January as usual"), "{text}");
}

#[test]
fn contacts_in_texts_are_links() {
    let closing = draft(Goal::Announcement, "en").says("The shop moves to Kiel.", &[]).says(
        "Order vouchers from ciao@example.com or call 040 / 555 01 23.",
        &[(FactKind::Contact, None, "ciao@example.com", None), (FactKind::Contact, None, "040 / 555 01 23", None)],
    );
    let text = written(closing);
    assert!(text.contains("[ciao@example.com](mailto:ciao@example.com)") && text.contains("(tel:0405550123)"), "{text}");
}

#[test]
fn merge_fields_of_a_prompt_stay_merge_fields() {
    let text = email("Abandoned cart reminder: {{ firstName }}, you left {{ product }} in your cart", "en");
    assert!(text.contains("{{ product }}") && !text.contains("left product"), "{text}");
    assert!(!text.contains("firstName") && !text.contains("FirstName"), "{text}");
    let text = email("Hi {{ firstName }}, 10% off for you with TEA10", "en");
    assert!(!text.contains("off you") && !text.contains("firstName"), "{text}");
}

#[test]
fn an_offer_for_people_keeps_its_preposition() {
    let text = email("10% off for students with STUDY10", "en");
    assert!(text.contains("10% off for students") && !text.contains("off students"), "{text}");
}

#[test]
fn the_dashboards_example_prompts_print_no_instructions() {
    let page = include_str!("../../../../../assets/dashboard/email_new.html");
    let list =
        page.split("{% set examples = [").nth(1).and_then(|rest| rest.split("] %}").next()).expect("the page has examples");
    let prompts: Vec<&str> = list.split('"').skip(1).step_by(2).collect();
    assert!(prompts.len() >= 5, "{prompts:?}");
    let brand = brands::teas();
    for prompt in prompts {
        let brief = parsed(prompt, &brand, "en");
        let request = request(&brief, 7);
        let plan = plan(&request, &brand, true, &brief.language, None);
        for place in 0..plan.slots.len() {
            let text = print::text(&compose(&request, &brand, &brands::knowledge(), &plan, place, &brief.language).email);
            for printed in ["thank-you", "what is new", "with two products", "week after the order"] {
                assert!(!text.to_lowercase().contains(printed), "{prompt}\n{text}");
            }
        }
    }
}

#[test]
fn the_emails_of_a_series_are_not_printed_and_their_offer_is() {
    let series = "Win-back series: miss you, 15% off with BACK15, reminder 3 days before it expires";
    let text = print::text(&one(series, &brands::teas(), "en", 7).email);
    assert!(text.contains("BACK15") && !text.contains("3 days") && !text.contains("reminder"), "{text}");
}

#[test]
fn an_email_shows_as_many_products_as_the_prompt_wants() {
    for (prompt, wanted) in [("Newsletter: what's new, with two products", 2), ("Spring sale, 20% off everything, 3 products", 3)]
    {
        let email = one(prompt, &brands::teas(), "en", 7).email;
        let count: usize =
            email.blocks.iter().map(|block| if let Block::Products(own) = block { own.products.len() } else { 0 }).sum();
        assert_eq!(count, wanted, "{prompt}\n{}", print::text(&email));
    }
}

#[test]
fn an_order_over_an_amount_is_not_an_order_from_it() {
    for (prompt, language, over) in [
        ("Free shipping on orders over €50 until Friday", "en", "over €50"),
        ("Versandkostenfrei über 50 € bis Freitag", "de", "über 50 €"),
    ] {
        let email = one(prompt, &brands::teas(), language, 7).email;
        let subject = email.subject.as_str().replace('\u{a0}', " ");
        assert!(subject.contains(over), "{subject}");
    }
    let email = one("Free shipping on orders from €50 until Friday", &brands::teas(), "en", 7).email;
    assert!(email.subject.as_str().contains("from"), "{}", email.subject.as_str());
}

#[test]
fn products_with_an_avoided_name_are_not_shown() {
    let prompt = "20% off everything until Sunday. Do not mention clay pots.";
    for seed in 0..6 {
        let text = print::text(&one(prompt, &brands::teas(), "en", seed).email);
        assert!(!text.contains("Clay Pot"), "{text}");
    }
}

/// Returns the tea shop's email, written as if the shop also sold this product.
fn email_with(product: &str, prompt: &str) -> String {
    let mut brand = brands::teas();
    brand.products.push(brands::product(product, "49.00", "Made by hand."));
    print::text(&one(prompt, &brand, "en", 7).email).replace('\u{a0}', " ")
}

#[test]
fn a_sale_of_one_kind_shows_only_its_products() {
    let text = email_with("Clay Teapot", "15% off our teapots until Friday with code POT15");
    assert!(text.contains("* Clay Teapot") && !text.contains("* Smoked Black"), "{text}");
    let text = email_with("Clay Teapot", "do an email about our teapots, 15% off till friday w code POT15");
    assert!(text.contains("* Clay Teapot") && !text.contains("* Smoked Black"), "{text}");
}

#[test]
fn a_product_is_found_without_the_article_of_its_name_and_is_presented_without_wishes() {
    let text = email_with("The Gift Box", "Announce our new gift box for Christmas: €49, ships until 18 December.");
    assert!(text.contains("* The Gift Box · €49") && text.contains("The Gift Box]"), "{text}");
    assert!(!text.to_lowercase().contains("wish") && !text.contains("Thank you"), "{text}");
}

#[test]
fn reduced_prices_are_the_news_of_a_sale_without_a_general_saving() {
    let text = email("Sale: Smoked Black now €12 instead of €14, Aged White €25 instead of €30, until 6 December.", "en");
    assert!(text.contains("Subject:   Smoked Black: €12 instead of €14\n"), "{text}");
}

#[test]
fn the_offer_is_the_subject_of_a_newsletter_without_stories() {
    let text = email("Newsletter with our favorites, and 10% off until December 6 with the code HELLO10", "en");
    assert!(text.contains("Subject:   10% off until December 6 with HELLO10\n"), "{text}");
}

#[test]
fn the_address_after_the_place_of_an_event_is_in_its_table() {
    let prompt = "Invite customers to a tasting on Thursday 10 December at 7 pm in our shop, Hafenstraße 12. 20 places, €15 per \
                  person, book at https://example.com/tasting";
    let text = email(prompt, "en");
    assert!(text.contains("Our shop, Hafenstraße 12") && text.matches("Hafenstraße").count() < 3, "{text}");
}

#[test]
fn a_notice_closes_without_looking_forward_and_a_calm_subject_has_no_period() {
    let text = email("We have to recall the Clay Pot because the glaze can crack. Sign as Marta.", "en");
    assert!(text.contains("Kind regards,"), "{text}");
    let text = email("We are turning 10! Come by for cake. No exclamation marks.", "en");
    assert!(text.contains("Subject:   We are turning 10\n"), "{text}");
}
