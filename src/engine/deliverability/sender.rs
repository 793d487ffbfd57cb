//! The rules about the subject and the sender.

use super::content::{has_spaced_letters, is_emoji, is_random};
use super::message::{Markup, Message};
use super::observations::{EvidencePlace, FACTS, Observations, Part};

/// The maximum length of a subject that most email clients show in full or nearly in full.
const SUBJECT_CHARACTERS_MAX: usize = 100;

/// Applies the rules about the subject and the sender.
pub fn check(message: &Message, found: &mut Observations) {
    if let Some(subject) = &message.subject {
        check_subject(message, subject, found);
    }
    if let Some(email) = &message.from_email {
        check_address(email, found);
    }
    if let Some(name) = &message.from_name {
        check_name(name, message.from_email.as_deref(), found);
    }
}

fn check_subject(message: &Message, subject: &str, found: &mut Observations) {
    let mut add = |rule, excerpt: &str| {
        let at = subject.find(excerpt).unwrap_or_default();
        found.add(rule, EvidencePlace::new(Part::Subject, at, excerpt));
    };
    if subject.is_empty() {
        add("subject_missing", "");
        return;
    }
    if subject.chars().count() > SUBJECT_CHARACTERS_MAX {
        add("subject_long", subject);
    }
    let letters = subject.chars().filter(|c| c.is_alphabetic()).count();
    let capitals = subject.chars().filter(|c| c.is_uppercase()).count();
    if letters >= 8 && capitals * 10 >= letters * 7 {
        add("subject_capitals", subject);
    }
    if subject.chars().filter(|c| matches!(c, '!' | '?' | '¡' | '¿')).count() >= 3 || subject.contains("!!") {
        add("subject_exclamation", subject);
    }
    let large =
        message.subject_words.iter().find(|word| super::content::amount(&word.folded).is_some_and(|amount| amount >= 10_000.0));
    if subject.contains("$$") || subject.contains("€€") || large.is_some() {
        add("subject_money", subject);
    }
    let lowercase = subject.to_lowercase();
    if ["re:", "fw:", "fwd:", "aw:", "wg:", "tr:"].iter().any(|prefix| lowercase.starts_with(prefix)) && is_mass_mail(message) {
        add("subject_false_reply", subject);
    }
    if subject.chars().filter(|c| is_emoji(*c)).count() > 2 {
        add("subject_emoji", subject);
    }
    if let Some(spaced) = has_spaced_letters(subject) {
        add("subject_spaced_letters", spaced);
    }
    if lowercase.contains("http://") || lowercase.contains("https://") || lowercase.contains("www.") {
        add("subject_address", subject);
    }
    if let Some(tail) = random_tail(subject) {
        add("subject_random_tail", tail);
    }
    if lowercase.starts_with("adv:") || lowercase.starts_with("adv ") || lowercase.starts_with("[adv]") {
        add("subject_advert", subject);
    }
    if let Some(word) = message.subject_words.iter().find(|word| word.folded.ends_with('%')) {
        add("subject_percent", subject.get(word.start..word.end).unwrap_or_default());
    }
}

fn is_mass_mail(message: &Message) -> bool {
    let has_unsubscribe = message.links.iter().any(super::links::unsubscribes);
    has_unsubscribe || message.images.len() >= 3 || message.markup.iter().any(|(markup, _)| *markup == Markup::Form)
}

/// Returns the last word of a subject with three or more words if this word is a random sequence of lowercase letters and digits, such
/// as "xk4j2qa".
fn random_tail(subject: &str) -> Option<&str> {
    let (rest, tail) = subject.rsplit_once(' ')?;
    let tail_is_code = tail.len() >= 5 && is_random(tail) && !tail.chars().any(char::is_uppercase);
    (rest.split_whitespace().count() >= 2 && tail_is_code).then_some(tail)
}

fn check_address(email: &str, found: &mut Observations) {
    let mut add = |rule| found.add(rule, EvidencePlace::new(Part::FromEmail, 0, email));
    let Some((local, domain)) = email.rsplit_once('@').filter(|(local, domain)| !local.is_empty() && domain.contains('.')) else {
        add("from_invalid");
        return;
    };
    let domain = domain.to_ascii_lowercase();
    if FACTS.freemail.contains(&domain) {
        add("from_freemail");
    }
    let digits = local.chars().filter(char::is_ascii_digit).count();
    let name = super::links::registrable(&domain).split('.').next().unwrap_or_default().to_owned();
    if digits >= 4 || name.chars().filter(char::is_ascii_digit).count() >= 3 {
        add("from_digits");
    }
    let has_vowel = local.chars().any(|c| "aeiouyAEIOUY".contains(c));
    if local.len() >= 7 && (is_random(local) || !has_vowel) {
        add("from_no_vowels");
    }
    if domain.rsplit('.').next().is_some_and(|ending| FACTS.suspicious_endings.contains(ending)) {
        add("from_suspicious_ending");
    }
    let local = local.to_ascii_lowercase();
    if ["noreply", "no-reply", "no_reply", "donotreply", "do-not-reply"].iter().any(|word| local.starts_with(word)) {
        add("from_no_reply");
    }
    if domain.matches('-').count() >= 3 && !domain.contains("xn--") {
        add("from_hyphens");
    }
}

fn check_name(name: &str, email: Option<&str>, found: &mut Observations) {
    let mut add = |rule| found.add(rule, EvidencePlace::new(Part::FromName, 0, name));
    if name.is_empty() {
        add("from_name_missing");
        return;
    }
    let domain =
        email.and_then(|email| email.rsplit_once('@')).map(|(_, domain)| super::links::registrable(&domain.to_ascii_lowercase()));
    let shown = name.rsplit_once('@').map(|(_, shown)| shown.trim_end_matches(['>', ')', '"', ' ']).to_ascii_lowercase());
    if let (Some(shown), Some(domain)) = (shown, domain)
        && shown.contains('.')
        && super::links::registrable(&shown) != domain
    {
        add("from_name_address");
    }
    let letters = name.chars().filter(|c| c.is_alphabetic()).count();
    if letters >= 6 && name.contains(' ') && name.chars().filter(|c| c.is_uppercase()).count() == letters {
        add("from_name_capitals");
    }
    if name.chars().any(|c| is_emoji(c) || matches!(c, '$' | '€' | '!' | '*' | '%' | '~')) {
        add("from_name_symbols");
    }
    let first = name.split([' ', '.']).next().unwrap_or_default().to_lowercase();
    if FACTS.titles.contains(&first) && name.contains(' ') {
        add("from_name_title");
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::deliverability::message::Input;
    use crate::engine::deliverability::rules;

    fn ids(subject: &str, name: &str, email: &str) -> Vec<&'static str> {
        let input = Input {
            html: "<p>Some text for readers.</p>",
            subject: Some(subject),
            from_name: Some(name),
            from_email: Some(email),
            ..Input::default()
        };
        let found = rules::check(&Message::of(&input), input.html);
        found.into_iter().filter(|finding| ["subject", "from"].contains(&finding.family)).map(|finding| finding.rule).collect()
    }

    #[test]
    fn an_ordinary_sender_and_subject_trigger_nothing() {
        assert_eq!(ids("Three new glazes for autumn", "Lama Lace", "hello@lamalace.example"), [""; 0]);
        assert_eq!(ids("Ihre Bestellung 4711 ist unterwegs", "Müller & Söhne", "versand@mueller.example"), [""; 0]);
    }

    #[test]
    fn spam_signs_of_subject_and_sender_are_found() {
        assert_eq!(ids("CASH FOR YOU NOW!!", "A B", "a@b.example"), ["subject_capitals", "subject_exclamation"]);
        assert_eq!(ids("Get M O N E Y here", "A B", "a@b.example"), ["subject_spaced_letters"]);
        assert_eq!(ids("A rather nice thing xk4j2q7", "A B", "a@b.example"), ["subject_random_tail"]);
        assert_eq!(ids("Hello there", "service@bank.example", "x@evil.top"), ["from_name_address", "from_suspicious_ending"]);
        assert_eq!(
            ids("Hello there", "Barrister John", "john84726@hotmail.com"),
            ["from_freemail", "from_digits", "from_name_title"]
        );
        assert_eq!(ids("", "", "nowhere"), ["subject_missing", "from_name_missing", "from_invalid"]);
    }
}
