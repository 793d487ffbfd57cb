//! Measures the spelling check on whole emails, by the class of the mistake.

use std::collections::BTreeMap;

use mailmill::engine::spelling::dictionaries::Dictionaries;
use mailmill::engine::spelling::{Options, check_html};

/// A mistake in the HTML of an email.
struct Seeded {
    start: usize,
    end: usize,
    class: String,
}

struct Email {
    language: String,
    html: String,
    errors: Vec<Seeded>,
}

/// Reads a set of emails; the first lines of each file describe its format.
fn emails(set: &str) -> Vec<Email> {
    let mut emails: Vec<Email> = Vec::new();
    for line in set.lines().filter(|line| !line.starts_with('#') && !line.is_empty()) {
        if let Some(language) = line.strip_prefix("== ") {
            let language = language.split(' ').next().unwrap_or_default().to_owned();
            emails.push(Email { language, html: String::new(), errors: Vec::new() });
            continue;
        }
        let email = emails.last_mut().expect("the first line starts an email");
        let parts = [("= ", "h1"), ("* ", "li"), ("> ", "td")];
        let (text, tag) = parts.iter().find_map(|(mark, tag)| Some((line.strip_prefix(mark)?, *tag))).unwrap_or((line, "p"));
        email.html.push_str(&format!("<{tag}>"));
        add_text(email, text);
        email.html.push_str(&format!("</{tag}>\n"));
    }
    emails
}

fn add_text(email: &mut Email, mut text: &str) {
    let escaped = |text: &str| text.replace('&', "&#38;").replace('<', "&#60;");
    while let Some((before, after)) = text.split_once("[[") {
        let (error, after) = after.split_once("]]").expect("an end of the mistake");
        let (error, class) = error.rsplit_once('|').expect("a class");
        let wrong = error.split_once('>').map_or(error, |(wrong, _)| wrong);
        email.html.push_str(&escaped(before));
        let start = email.html.len();
        email.html.push_str(&escaped(wrong));
        email.errors.push(Seeded { start, end: email.html.len(), class: class.to_owned() });
        text = after;
    }
    email.html.push_str(&escaped(text));
}

/// Prints the figures of a set by class, and fails if they are below the minimum.
fn measure(name: &str, set: &str, found_min: f64, precision_min: f64) {
    let dictionaries = Dictionaries::new(None, 10);
    let mut classes: BTreeMap<(String, String), (usize, usize)> = BTreeMap::new();
    let (mut found, mut wrong) = (0, 0);
    for email in emails(set) {
        let options = Options { languages: vec![email.language.clone()], grammar: true, ..Options::default() };
        let report = check_html(&email.html, &options, &dictionaries, 0);
        for one in &email.errors {
            classes.entry((email.language.clone(), one.class.clone())).or_default().1 += 1;
        }
        let mut missed: Vec<&Seeded> = email.errors.iter().collect();
        for finding in &report.errors {
            let overlaps = |one: &&Seeded| finding.offset < one.end && one.start < finding.offset + finding.length;
            if let Some(at) = missed.iter().position(overlaps) {
                let seeded = missed.remove(at);
                classes.entry((email.language.clone(), seeded.class.clone())).or_default().0 += 1;
                found += 1;
            } else if !email.errors.iter().any(|one| overlaps(&one)) {
                wrong += 1;
                println!("{name}: wrong: {:?} ({}) in: {}", finding.word, finding.rule, finding.context);
            }
        }
    }
    for ((language, class), (found, all)) in &classes {
        println!("{name}: {language} {class}: {found} of {all}");
    }
    let all: usize = classes.values().map(|(_, all)| all).sum();
    let (recall, precision) = (found as f64 / all as f64, found as f64 / (found + wrong).max(1) as f64);
    println!("{name}: {found} of {all} found ({recall:.3}), {wrong} wrong, precision {precision:.3}");
    assert!(recall >= found_min && precision >= precision_min, "{name}: found {recall:.3}, precision {precision:.3}");
}

#[test]
fn mistakes_in_whole_emails_are_found() {
    measure("seventh", include_str!("../samples/validation/spelling/seventh.txt"), 0.90, 0.94);
    measure("tenth", include_str!("../samples/validation/spelling/tenth.txt"), 0.90, 0.94);
    measure("eleventh", include_str!("../samples/validation/spelling/eleventh.txt"), 0.80, 0.94);
    measure("eighth", include_str!("../samples/validation/spelling/eighth.txt"), 0.80, 0.94);
}

/// The minimum is lower than the goal, because few rules were tuned for this set.
#[test]
fn rules_generalize_to_other_emails() {
    measure("thirteenth", include_str!("../samples/validation/spelling/thirteenth.txt"), 0.60, 0.94);
}

#[test]
fn mistakes_in_german_french_and_spanish_emails_are_found() {
    measure("ninth", include_str!("../samples/validation/spelling/ninth.txt"), 0.60, 0.94);
    measure("twelfth", include_str!("../samples/validation/spelling/twelfth.txt"), 0.70, 0.94);
}
