//! Tests of the facts that are parsed from prompts.

use super::*;

/// The date of the tests, which is a Saturday.
const TODAY: Date = Date::constant(2026, 11, 21);

fn read(prompt: &str) -> ParsedPrompt {
    parse_prompt(prompt, &Brand::default(), TODAY)
}

fn day(text: Option<Date>) -> String {
    text.map_or_else(String::new, |date| date.to_string())
}

#[test]
fn purposes_follow_from_words() {
    use Purpose::*;
    for (prompt, purpose) in [
        ("Write a welcome email for new subscribers", Welcome),
        ("20% off everything until Sunday", Sale),
        ("Summer sale with 30% off", Sale),
        ("Black Friday, 30% off", Sale),
        ("Launch of our new lamp", Launch),
        ("our new Aurora desk lamp, 129 €", Launch),
        ("Monthly newsletter about winter teas", Newsletter),
        ("Newsletter: we visited three gardens this autumn", Newsletter),
        ("Invite customers to a tasting on Friday at 7pm", Event),
        ("Invite friends to join and get 5 € off", Referral),
        ("Abandoned cart email", CartReminder),
        ("win back inactive customers with 20% off", WinBack),
        ("Thank customers for their order and ask for a review", ReviewRequest),
        ("Order confirmation for order #1234", Receipt),
        ("Christmas email with gift ideas", Seasonal),
        ("Summer greetings, no offer", Seasonal),
        ("Sommergrüße ohne Angebot", Seasonal),
        ("Tell our customers that we are moving", Announcement),
        ("Announce our new opening hours", Announcement),
        ("Reminder for people who started the checkout but did not finish", CartReminder),
        ("Freundliche Erinnerung an den Warenkorb, versandkostenfrei", CartReminder),
        ("Mail an inaktive Abonnenten", WinBack),
        ("Write a short newsletter about fair night shifts", Newsletter),
    ] {
        assert_eq!(read(prompt).purpose, purpose, "{prompt}");
    }
}

#[test]
fn days_are_parsed_in_many_notations() {
    for (prompt, starts, on, ends) in [
        ("sale until Sunday", "", "", "2026-11-22"),
        ("sale ends on November 30", "", "", "2026-11-30"),
        ("sale until 30 November 2026", "", "", "2026-11-30"),
        ("sale through Nov 30th", "", "", "2026-11-30"),
        ("sale from November 27 to November 30", "2026-11-27", "", "2026-11-30"),
        ("sale 27–30 November", "2026-11-27", "", "2026-11-30"),
        ("sale November 27-30", "2026-11-27", "", "2026-11-30"),
        ("sale until 2026-12-01", "", "", "2026-12-01"),
        ("sale until 12/24", "", "", "2026-12-24"),
        ("sale this Friday", "", "2026-11-27", ""),
        ("sale next Friday", "", "2026-11-27", ""),
        ("sale until tomorrow", "", "", "2026-11-22"),
        ("sale until the end of the month", "", "", "2026-11-30"),
        ("event in two weeks", "", "2026-12-05", ""),
        ("Black Friday sale", "", "", ""),
        ("Aktion vom 27. bis 30. November", "2026-11-27", "", "2026-11-30"),
        ("Black-Friday-Aktion: bis zu 30 % auf alles, vom 27. bis 30. November", "2026-11-27", "", "2026-11-30"),
        ("Rabatt bis zum 24.12.", "", "", "2026-12-24"),
        ("Rabatt bis 24.12.2026", "", "", "2026-12-24"),
        ("Rabatt ab dem 1. Dezember", "2026-12-01", "", ""),
        ("Einladung am Freitag, 4. Dezember, um 19 Uhr", "", "2026-12-04", ""),
        ("Einladung am 12.12. von 14 bis 17 Uhr", "", "2026-12-12", ""),
        ("Rabatt auf Tee in 3 Tagen", "", "2026-11-24", ""),
    ] {
        let understood = read(prompt);
        let found = (day(understood.starts), day(understood.on), day(understood.ends));
        assert_eq!(found, (starts.to_owned(), on.to_owned(), ends.to_owned()), "{prompt}");
    }
}

#[test]
fn times_are_parsed_with_their_end() {
    let clock = |hour, minute| Some(Clock { hour, minute });
    for (prompt, from, to) in [
        ("workshop at 7pm", clock(19, 0), None),
        ("workshop at 6:30 p.m.", clock(18, 30), None),
        ("workshop from 2 to 5 pm", clock(14, 0), clock(17, 0)),
        ("workshop 18:00–20:00", clock(18, 0), clock(20, 0)),
        ("Workshop um 19 Uhr", clock(19, 0), None),
        ("Workshop von 14 bis 17 Uhr", clock(14, 0), clock(17, 0)),
        ("Workshop um 18.30 Uhr", clock(18, 30), None),
        ("workshop for 12 people", None, None),
    ] {
        let understood = read(prompt);
        assert_eq!((understood.time, understood.time_end), (from, to), "{prompt}");
    }
}

#[test]
fn amounts_are_distinguished() {
    let percent = |value, up_to| Some(Saving::Percent { value, up_to });
    let euros = |amount| Money { amount, currency: "EUR" };
    let understood = read("Up to 30% off everything, free shipping on orders over 50 €");
    assert_eq!(understood.saving, percent(30.0, true));
    assert_eq!((understood.scope, understood.threshold), (Some(Scope::Everything), Some(euros(50.0))));
    assert!(understood.free_shipping);
    let understood = read("$10 off orders over $40, code COMEBACK");
    assert_eq!(understood.saving, Some(Saving::Amount { value: Money { amount: 10.0, currency: "USD" }, up_to: false }));
    assert_eq!(understood.threshold, Some(Money { amount: 40.0, currency: "USD" }));
    assert_eq!((understood.code.as_deref(), understood.scope), (Some("COMEBACK"), None));
    let understood = read("10 € Rabatt ab 50 € Bestellwert mit dem Code ZURUECK-10");
    assert_eq!(understood.saving, Some(Saving::Amount { value: euros(10.0), up_to: false }));
    assert_eq!((understood.threshold, understood.code.as_deref()), (Some(euros(50.0)), Some("ZURUECK-10")));
    let understood = read("Launch our new shirt, 100% cotton, for 19,90 €");
    assert_eq!((understood.saving, understood.price), (None, Some(euros(19.9))));
    assert_eq!(read("20% off all teas until Sunday").scope, Some(Scope::Words("all teas".to_owned())));
    assert_eq!(read("10% off the first order").scope, Some(Scope::Words("your first order".to_owned())));
    assert_eq!(read("10 % Rabatt auf die erste Bestellung").scope, Some(Scope::Words("die erste Bestellung".to_owned())));
}

#[test]
fn counts_are_parsed_in_figures_and_words() {
    for (prompt, count, series) in [
        ("a series of 3 welcome emails", Some(3), true),
        ("Write three cart reminder emails", Some(3), true),
        ("a welcome series", None, true),
        ("a welcome email with 3 products", None, false),
        ("eine Serie aus vier E-Mails", Some(4), true),
        ("eine dreiteilige Willkommensstrecke", Some(3), true),
        ("eine E-Mail", None, false),
        ("5-part launch sequence", Some(5), true),
    ] {
        let understood = read(prompt);
        assert_eq!((understood.count, understood.is_series), (count, series), "{prompt}");
    }
}

#[test]
fn places_events_and_topics_keep_the_prompts_words() {
    let understood = read("Invite our customers to a spring tea tasting on Friday at 7pm at our shop in Hamburg");
    assert_eq!(understood.event.as_deref(), Some("spring tea tasting"));
    let venue = understood.venue.expect("the prompt names a venue");
    assert_eq!((venue.name.as_str(), venue.phrase.as_deref()), ("our shop in Hamburg", Some("at our shop in Hamburg")));
    let understood = read("Workshop „Hocker selber bauen“, Ort: Holzweg 3, Kiel. Anmeldung: https://example.de/w.");
    assert_eq!(understood.venue.expect("the prompt names a venue").name, "Holzweg 3, Kiel");
    assert_eq!(
        (understood.name.expect("the name is in quotation marks").text.as_str(), understood.links),
        ("Hocker selber bauen", vec!["https://example.de/w".to_owned()])
    );
    let venue = read("Einladung zum Werkstattabend am Freitag in der Werkstatt in Kiel").venue.expect("the prompt names a venue");
    assert_eq!(venue.phrase.as_deref(), Some("in der Werkstatt in Kiel"));
    assert_eq!(read("Newsletter zum Thema Licht im Winter").topic.as_deref(), Some("Licht im Winter"));
    assert_eq!(read("newsletter about winter teas and how to brew them").topic.as_deref(), Some("winter teas"));
}

#[test]
fn sentences_for_recipients_are_distinguished_from_instructions() {
    let understood = read("Announce that we are moving to Leeds. Use a friendly tone. We open on 1 March. Keep it short.");
    assert_eq!(understood.statements, ["We are moving to Leeds.", "We open on 1 March."]);
    let understood =
        read("Kündige an, dass wir umziehen. Unsere neue Adresse ist Hafenstraße 8 in Kiel. Nutze einen lockeren Ton.");
    assert_eq!(understood.clause, None);
    assert_eq!(understood.statements, ["Wir ziehen um.", "Unsere neue Adresse ist Hafenstraße 8 in Kiel."]);
    let understood = read("Newsletter. Highlight our brewing guide, the new Aged White and free returns.");
    assert_eq!(understood.points, ["Our brewing guide", "The new Aged White", "Free returns"]);
    let understood = read("Erwähne den Aufbau ohne Werkzeug und die zehn Jahre Garantie.");
    assert_eq!(understood.points, ["Aufbau ohne Werkzeug", "Zehn Jahre Garantie"]);
    let understood = read("Sale email\n- free returns\n- open on Sundays\nSubject: Our best prices");
    assert_eq!(understood.points, ["Free returns", "Open on Sundays"]);
    assert_eq!(understood.subject.as_deref(), Some("Our best prices"));
    let praise = read("Include the quote \"Best tea I ever had\" by Anna K. from Leeds").praise.expect("the prompt has a quote");
    assert_eq!((praise.text.as_str(), praise.author.as_deref()), ("Best tea I ever had", Some("Anna K.")));
}

#[test]
fn a_description_after_a_name_is_kept() {
    let understood = read("Launch our feature \"Swap Board\", nurses can now trade shifts in the app");
    assert_eq!(understood.statements, ["Nurses can now trade shifts in the app."]);
    assert_eq!(read("Launch of \"Aurora\", available from 3 December for 129 €").statements, [""; 0]);
}

#[test]
fn orders_are_parsed_line_by_line() {
    let understood = read("Order confirmation for order #10482: 2x Roasted Oolong €36.00, 1x Clay Pot €64.00, total €100.00");
    assert_eq!(understood.order.as_deref(), Some("#10482"));
    let lines: Vec<_> = understood.items.iter().map(|item| (item.quantity, item.name.as_str())).collect();
    assert_eq!(lines, [(2, "Roasted Oolong"), (1, "Clay Pot")]);
    assert_eq!(understood.total.map(|total| total.amount), Some(100.0));
    assert_eq!((understood.saving, understood.price), (None, None));
}

#[test]
fn an_ambiguous_date_is_noted() {
    assert_eq!(read("sale until 3/4").notes.len(), 1);
    assert!(read("sale until 12/24").notes.is_empty());
}
