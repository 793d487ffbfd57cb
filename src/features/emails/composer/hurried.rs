//! Spells out the dates, names of days and units that hurried people type in lowercase or abbreviate: "thurs 3 dec".

use super::language::Language;
use super::text::capital;
use crate::features::emails::brief::{Brief, Fact, FactKind};

/// Names in lowercase with their spelling. They are no other words of the language.
const NAMES_EN: [(&str, &str); 23] = [
    ("january", "January"),
    ("february", "February"),
    ("april", "April"),
    ("june", "June"),
    ("july", "July"),
    ("september", "September"),
    ("october", "October"),
    ("november", "November"),
    ("december", "December"),
    ("monday", "Monday"),
    ("tuesday", "Tuesday"),
    ("wednesday", "Wednesday"),
    ("thursday", "Thursday"),
    ("friday", "Friday"),
    ("saturday", "Saturday"),
    ("sunday", "Sunday"),
    ("christmas", "Christmas"),
    ("xmas", "Christmas"),
    ("easter", "Easter"),
    ("halloween", "Halloween"),
    ("thanksgiving", "Thanksgiving"),
    ("instagram", "Instagram"),
    ("english", "English"),
];
const NAMES_DE: [(&str, &str); 24] = [
    ("januar", "Januar"),
    ("februar", "Februar"),
    ("märz", "März"),
    ("april", "April"),
    ("mai", "Mai"),
    ("juni", "Juni"),
    ("juli", "Juli"),
    ("august", "August"),
    ("september", "September"),
    ("oktober", "Oktober"),
    ("november", "November"),
    ("dezember", "Dezember"),
    ("montag", "Montag"),
    ("dienstag", "Dienstag"),
    ("mittwoch", "Mittwoch"),
    ("donnerstag", "Donnerstag"),
    ("freitag", "Freitag"),
    ("samstag", "Samstag"),
    ("sonntag", "Sonntag"),
    ("weihnachten", "Weihnachten"),
    ("ostern", "Ostern"),
    ("euro", "Euro"),
    ("uhr", "Uhr"),
    ("prozent", "Prozent"),
];
/// Abbreviations that are spelled out only in dates, because some of them are also other words.
const DATES_EN: [(&str, &str); 25] = [
    ("jan", "January"),
    ("feb", "February"),
    ("mar", "March"),
    ("march", "March"),
    ("apr", "April"),
    ("may", "May"),
    ("jun", "June"),
    ("jul", "July"),
    ("aug", "August"),
    ("august", "August"),
    ("sep", "September"),
    ("sept", "September"),
    ("oct", "October"),
    ("nov", "November"),
    ("dec", "December"),
    ("mon", "Monday"),
    ("tue", "Tuesday"),
    ("tues", "Tuesday"),
    ("wed", "Wednesday"),
    ("thu", "Thursday"),
    ("thur", "Thursday"),
    ("thurs", "Thursday"),
    ("fri", "Friday"),
    ("sat", "Saturday"),
    ("sun", "Sunday"),
];

/// Spells out the words of a brief. The values of its facts do not change.
pub fn spell_out(brief: &mut Brief, language: Language) {
    let (names, dates): (&[_], &[_]) = match language {
        Language::En => (&NAMES_EN, &DATES_EN),
        Language::De => (&NAMES_DE, &[]),
        _ => return,
    };
    // A weekday alone, such as "fri", can be another word.
    let is_date = |fact: &&Fact| {
        matches!(fact.kind, FactKind::Date | FactKind::Period)
            && fact.value.is_some()
            && fact.text.contains(|c: char| c.is_ascii_digit())
    };
    let full = |fact: &Fact| {
        let text = fact.text.trim_end_matches('.').to_owned();
        let full = spelled(&text, dates);
        (text, full)
    };
    let said = brief.facts.iter().filter(is_date).map(full).filter(|(text, full)| text != full);
    let said: Vec<(String, String)> = said.collect();
    let spell = |text: &str| {
        let whole = said.iter().fold(text.to_owned(), |text, (short, full)| {
            text.replace(short.as_str(), full).replace(capital(short).as_str(), &capital(full))
        });
        spelled(&whole, names)
    };
    for fact in &mut brief.facts {
        if !matches!(fact.kind, FactKind::Code | FactKind::Link | FactKind::Contact | FactKind::Person | FactKind::Product) {
            fact.text = spell(&fact.text);
        }
    }
    for story in &mut brief.stories {
        story.text.text = spell(&story.text.text);
        if let Some(heading) = &mut story.heading {
            heading.text = spell(&heading.text);
        }
    }
    if let Some(event) = &mut brief.event {
        event.name.text = spell(&event.name.text);
    }
}

/// Returns a text with the words of a table in their spelling. Words in web and email addresses and codes do not change.
fn spelled(text: &str, table: &[(&str, &str)]) -> String {
    let spell = |word: &str| {
        let bare = word.trim_matches(|c: char| !c.is_alphanumeric());
        let full = table.iter().find(|(short, _)| *short == bare).map(|(_, full)| *full);
        full.map_or_else(|| word.to_owned(), |full| word.replacen(bare, full, 1))
    };
    text.split(' ').map(spell).collect::<Vec<_>>().join(" ")
}
