//! Regression tests for defects that the second review of thirty generated emails found.

use super::drafts::*;
use super::*;
use crate::features::emails::brief::*;

fn written(draft: DraftBrief) -> String {
    print::text(&composed(&draft.brief, &brands::teas(), 7).email).replace('\u{a0}', " ")
}

/// Returns the span of these words in a prompt.
fn span(prompt: &str, words: &str) -> Option<Span> {
    let at = prompt.find(words).expect("the prompt has the words");
    let start = u32::try_from(prompt[..at].chars().count()).expect("test texts are short");
    Some(Span { start, end: start + u32::try_from(words.chars().count()).expect("test texts are short") })
}

fn part(prompt: &str, words: &str) -> Part {
    Part { text: words.to_owned(), span: span(prompt, words) }
}

/// Returns a fact of a prompt. A statement starts with an uppercase letter and ends with a period, as the prompt parser writes it.
fn fact(prompt: &str, kind: FactKind, role: Option<FactRole>, words: &str, value: Option<FactValue>) -> Fact {
    let text = if kind == FactKind::Sentence { text::ended(&text::capital(words)) } else { words.to_owned() };
    Fact { kind, role, text, value, story: None, span: span(prompt, words) }
}

fn sentence(prompt: &str, words: &str) -> Fact {
    fact(prompt, FactKind::Sentence, None, words, None)
}

fn named(name: &str) -> Option<Event> {
    Some(Event { name: Part { text: name.to_owned(), span: None } })
}

#[test]
fn unclear_words_inside_a_sentence_are_not_printed() {
    let prompt = "New in the shop: the oolong from Taiwan, 100 g in a tin, six kinds. We sent the wrong links on Monday (orders 10 to 20).";
    let news = draft(Goal::Launch, "en").with(|brief| {
        let facts = ["New in the shop", "100 g in a tin, six kinds.", "(orders 10 to 20)."];
        brief.facts = facts.map(|words| sentence(prompt, words)).to_vec();
        brief.unclear =
            ["the oolong from Taiwan,", "We sent the wrong links on Monday"].map(|words| part(prompt, words)).to_vec();
    });
    let composed = composed(&news.brief, &brands::teas(), 7);
    let text = print::text(&composed.email);
    assert!(!text.contains("oolong from Taiwan") && !text.contains("wrong links"), "{text}");
    assert!(text.contains("00 g in a tin, six kinds"), "{text}");
}

#[test]
fn unclear_words_at_the_start_of_a_sentence_are_not_printed() {
    let prompt = "The shop moves to Kiel. Nice and short, max two lines.";
    let news = draft(Goal::Announcement, "en").with(|brief| {
        brief.facts = ["The shop moves to Kiel.", "max two lines."].map(|words| sentence(prompt, words)).to_vec();
        brief.unclear = vec![part(prompt, "Nice and short,")];
    });
    assert!(!written(news).contains("Nice and short"));
}

#[test]
fn a_passage_before_an_address_is_a_statement() {
    let prompt = "We are closed. You can order vouchers by mail: ciao@example.com";
    let notice = draft(Goal::Announcement, "en").with(|brief| {
        brief.facts = vec![sentence(prompt, "We are closed."), fact(prompt, FactKind::Contact, None, "ciao@example.com", None)];
        brief.unclear = vec![part(prompt, "You can order vouchers by mail:")];
    });
    let text = written(notice);
    assert!(text.contains("You can order vouchers by mail: [ciao@example.com](mailto:ciao@example.com)"), "{text}");
}

#[test]
fn a_story_keeps_its_title_and_the_end_of_its_sentence() {
    let prompt = "News: 1. Dishwasher is fine, just don't put a cold pot in a hot oven. 2. Malin goes to Iceland: we fetched 200 kilos of wool.";
    let digest = draft(Goal::Digest, "en").with(|brief| {
        let story = |words| Story { heading: None, text: part(prompt, words), link: None };
        brief.stories = vec![story("Dishwasher is fine"), story("we fetched 200 kilos of wool.")];
        brief.unclear = vec![part(prompt, "just don't put a cold pot in a hot oven.")];
        brief.instructions = ["News:", "Malin goes to Iceland:"].map(|words| part(prompt, words)).to_vec();
    });
    let composed = composed(&digest.brief, &brands::teas(), 7);
    let text = format!("{:?}", composed.email.blocks).replace('’', "'");
    assert!(text.contains("Dishwasher is fine") && text.contains("ust don't put a cold pot in a hot oven"), "{text}");
    assert!(text.contains("Malin goes to Iceland") && !text.contains("News:"), "{text}");
    assert_eq!(composed.unused, []);
}

#[test]
fn the_name_on_the_button_leads_the_title() {
    let prompt = "Announce Budgets to customers: set a cap per project in hours or in dollars, get an alert at 80%, and see what is left on each of your timesheets. CTA: Try Budgets";
    let news = draft(Goal::Announcement, "en").with(|brief| {
        brief.facts = vec![sentence(
            prompt,
            "set a cap per project in hours or in dollars, get an alert at 80%, and see what is left on each of your timesheets.",
        )];
        brief.unclear = vec![part(prompt, "Budgets")];
        brief.cta = Some(CallToAction { label: Some(part(prompt, "Try Budgets")), link: Some("https://example.com/b".into()) });
    });
    let text = written(news);
    assert!(text.contains("Subject:   Budgets: set a cap per project in hours or in dollars\n"), "{text}");
    assert!(
        text.contains("Get an alert at 80%,") && text.matches("et a cap per project").count() == 2,
        "once in each title: {text}"
    );
}

#[test]
fn a_seasonal_evening_with_its_time_is_an_invitation() {
    let prompt = "Silvester bei Pina: 31.12., Einlass 18:30 Uhr, Beginn 19 Uhr, sechs Gänge, 120 € pro Person. Enzo singt. Nur acht Tische.";
    let evening = draft(Goal::Seasonal, "de").with(|brief| {
        let event = Some(FactRole::Event);
        brief.instructions = vec![part(prompt, "Silvester bei Pina:")];
        brief.facts = vec![
            sentence(prompt, "31.12., Einlass 18:30 Uhr, Beginn 19 Uhr, sechs Gänge, 120 € pro Person."),
            fact(prompt, FactKind::Date, event, "31.12.", day(12, 31)),
            fact(prompt, FactKind::Time, event, "18:30 Uhr", clock(18, 30)),
            fact(prompt, FactKind::Time, event, "Beginn 19 Uhr", clock(19, 0)),
            fact(prompt, FactKind::Price, None, "120 €", money(120.0, "EUR")),
            sentence(prompt, "Enzo singt."),
            sentence(prompt, "Nur acht Tische."),
            fact(prompt, FactKind::Capacity, None, "acht Tische", Some(FactValue::Count { count: 8 })),
        ];
    });
    let composed = composed(&evening.brief, &brands::teas(), 7);
    let text = print::text(&composed.email).replace('\u{a0}', " ");
    assert!(composed.email.subject.contains("Silvester bei Pina") && text.contains("# Silvester bei Pina"), "{text}");
    assert!(text.contains("  Wann | Donnerstag, 31. Dezember") && text.contains("  Plätze | Acht Tische"), "{text}");
    assert!(text.contains("  - Einlass 18:30 Uhr") && !text.contains("31.12.") && !text.contains("Nur acht"), "{text}");
    assert!(text.contains("  [Schreib") && composed.unused.is_empty(), "{text} {:?}", composed.unused);
}

#[test]
fn opening_hours_are_a_table_in_the_order_of_the_days() {
    let prompt =
        "Easter opening hours: Mon 21 - Wed 23 Dec 8am-7pm Christmas Eve 8am-2pm. Closed 25 Dec - 3 Jan. Back Monday 4 January.";
    let hours = draft(Goal::Seasonal, "en").with(|brief| {
        let event = Some(FactRole::Event);
        let until = |hour: i8| {
            let time = |hour| jiff::civil::Time::constant(hour, 0, 0, 0);
            Some(FactValue::Clock { start: time(8), end: Some(time(hour)) })
        };
        let back = Some(FactValue::Days { first: Date::constant(2027, 1, 4), last: None });
        brief.facts = vec![
            sentence(prompt, "Easter opening hours"),
            fact(prompt, FactKind::Period, event, "Mon 21 - Wed 23 Dec", days((12, 21), (12, 23))),
            fact(prompt, FactKind::Time, event, "8am-7pm", until(19)),
            fact(prompt, FactKind::Date, event, "Christmas Eve", day(12, 24)),
            fact(prompt, FactKind::Time, event, "8am-2pm", until(14)),
            sentence(prompt, "Closed 25 Dec - 3 Jan."),
            fact(prompt, FactKind::Period, Some(FactRole::Closed), "25 Dec - 3 Jan", days((12, 25), (1, 3))),
            sentence(prompt, "Back Monday 4 January."),
            fact(prompt, FactKind::Date, Some(FactRole::Reopens), "Monday 4 January", back),
        ];
    });
    let composed = composed(&hours.brief, &brands::teas(), 7);
    let text = print::text(&composed.email).replace('\u{a0}', " ");
    let rows: Vec<&str> = text.lines().filter(|line| line.contains(" | ")).collect();
    let ends: Vec<&str> = rows.iter().filter_map(|row| row.split(" | ").nth(1)).collect();
    assert_eq!(ends, ["8am to 7pm", "8am to 2pm", "Closed", "Back"], "{text}");
    assert!(!text.contains("  * ") && text.contains("8am to 7pm ·") && composed.unused.is_empty(), "{text}");
}

#[test]
fn an_invitation_says_its_place_and_its_time_once() {
    let prompt =
        "Studio evening on Saturday 12 December, 4-8pm, at The Net Loft, Back Road West, St Ives. Cider. Only 30 places.";
    let event = draft(Goal::Event, "en").with(|brief| {
        let role = Some(FactRole::Event);
        let time = |hour| jiff::civil::Time::constant(hour, 0, 0, 0);
        brief.event = named("Studio evening");
        brief.facts = vec![
            fact(prompt, FactKind::Date, role, "on Saturday 12 December", day(12, 12)),
            sentence(prompt, "4-8pm, at The Net Loft, Back Road West, St Ives."),
            fact(prompt, FactKind::Time, role, "4-8pm", Some(FactValue::Clock { start: time(16), end: Some(time(20)) })),
            fact(prompt, FactKind::Place, None, "Net Loft", None),
            sentence(prompt, "Cider."),
            sentence(prompt, "Only 30 places."),
            fact(prompt, FactKind::Capacity, None, "30 places", Some(FactValue::Count { count: 30 })),
        ];
    });
    let composed = composed(&event.brief, &brands::teas(), 7);
    let text = print::text(&composed.email);
    assert!(text.contains("  Where | The Net Loft, Back Road West, St Ives") && text.contains("  Time | 4 to 8pm"), "{text}");
    assert!(text.contains("  Places | 30\n") && !text.contains("Only 30") && !text.contains("4-8pm"), "{text}");
    assert!(text.contains("Preheader: Saturday") && composed.unused.is_empty(), "{text} {:?}", composed.unused);
}

#[test]
fn a_button_to_reserve_leads_to_a_host_who_can_reserve() {
    let reserve = || draft(Goal::Sale, "en").says("Reserve a table by Friday.", &[]);
    let target = |draft: DraftBrief| {
        let email = composed(&draft.brief, &brands::teas(), 7).email;
        email.blocks.iter().find_map(|block| match block {
            Block::Button(button) => Some((button.label.to_string(), button.href.to_string())),
            Block::Hero(hero) => hero.button.as_ref().map(|button| (button.label.to_string(), button.href.to_string())),
            _ => None,
        })
    };
    assert_eq!(target(reserve()), Some(("Write to us".to_owned(), "mailto:hello@example.com".to_owned())));
    let labeled = reserve().with(|brief| {
        brief.cta = Some(CallToAction { label: Some(Part { text: "Choose tea".into(), span: None }), link: None });
    });
    assert_eq!(target(labeled).map(|(_, href)| href), Some("https://example.com/".to_owned()));
}

#[test]
fn addresses_stay_in_lowercase_and_titles_do_not() {
    assert_eq!(text::capital("ciao@example.com"), "ciao@example.com");
    let signature = Signature { name: "Dana".into(), title: Some("customer success".into()), span: None };
    let text =
        written(draft(Goal::Welcome, "en").says("You can export data.", &[]).with(|brief| brief.signature = Some(signature)));
    assert!(text.contains("**Dana**\nCustomer success"), "{text}");
}

#[test]
fn a_coupon_does_not_repeat_the_title() {
    let sale = |scope: &str| {
        let words = format!("20% off {scope} with code TEA20, from Friday until Monday.");
        draft(Goal::Sale, "en")
            .says(
                &words,
                &[
                    (FactKind::Percentage, Some(FactRole::Offer), "20%", percent(20.0)),
                    (FactKind::Code, None, "TEA20", None),
                    (FactKind::Date, Some(FactRole::OfferStarts), "from Friday", day(11, 27)),
                    (FactKind::Date, Some(FactRole::OfferEnds), "until Monday", day(11, 30)),
                ],
            )
            .with(|brief| {
                let scope = Some(Part { text: scope.to_owned(), span: None });
                brief.offer = Some(Offer { scope, gift: None, free_delivery: false });
            })
            .says("Seconds are excluded.", &[])
    };
    let text = written(sale("everything"));
    assert!(text.contains("# 20% off everything\n") && !text.contains("┆ 20% off everything"), "{text}");
    let text = written(sale("green teas"));
    assert!(text.contains("# 20% off green teas\n"), "the title says what the offer applies to: {text}");
}

#[test]
fn a_win_back_without_products_promises_no_news() {
    let words = ["new", "neu", "nuevo", "nouveau", "nouveautés", "novità", "nuovo", "nieuw", "novo", "missed", "verpasst"];
    for language in ["en", "de", "es", "fr", "it", "nl", "pt"] {
        for seed in 0..12 {
            let brief = draft(Goal::WinBack, language).brief;
            let brand = Brand { products: Vec::new(), ..brands::teas() };
            let email = composed(&brief, &brand, seed).email;
            let preheader = email.preheader.to_lowercase();
            let told: Vec<&str> = preheader.split(|c: char| !c.is_alphabetic()).collect();
            assert!(!words.iter().any(|word| told.contains(word)), "{language}: {preheader}");
        }
    }
}

#[test]
fn the_preheader_of_a_digest_names_the_other_stories() {
    let digest = draft(Goal::Digest, "en")
        .story(None, "Enzo sings on 7 December", None)
        .story(None, "New winter menu from 1 December", None)
        .story(None, "Pesto class on 24 January", None);
    let text = written(digest);
    assert!(text.contains("Preheader: ") && text.contains("winter menu from 1 December · Pesto class on 24 January\n"), "{text}");
}

#[test]
fn a_subject_that_is_too_long_leaves_its_date_to_the_text() {
    let told = "We're raising the Studio plan from $29 to $34 per month on January 15, 2027.";
    let date = Some(FactValue::Days { first: Date::constant(2027, 1, 15), last: None });
    let news = draft(Goal::Announcement, "en").says(told, &[(FactKind::Date, None, "on January 15, 2027", date)]);
    let text = written(news);
    assert!(text.contains("Subject:   We’re raising the Studio plan from $29 to $34 per month\n"), "{text}");
    assert!(text.contains("January 15, 2027"), "{text}");
}

#[test]
fn numbers_in_instructions_are_not_printed() {
    let prompt = "Subscriptions are here. Subject with an emoji, max 40 characters.";
    let launch = draft(Goal::Launch, "en").with(|brief| {
        brief.facts = vec![
            sentence(prompt, "Subscriptions are here."),
            fact(prompt, FactKind::Capacity, None, "40 characters", Some(FactValue::Count { count: 40 })),
        ];
        brief.instructions = vec![part(prompt, "Subject with an emoji, max 40 characters.")];
    });
    assert!(!written(launch).contains("40 characters"));
    let parsed = parsed(prompt, &brands::teas(), "en");
    assert!(!print::text(&composed(&parsed, &brands::teas(), 7).email).contains("40 characters"));
}
