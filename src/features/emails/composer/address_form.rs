//! Finds the form of address in the statements of a brief.

use crate::features::emails::brief::{Brief, FactKind};

/// Folded words that address the recipients: for each language, the informal words and the formal words. A formal German word is recognized
/// by its capital letter.
const FORMS: [(&str, &[&str], &[&str]); 5] = [
    (
        "de",
        &["du", "dir", "dich", "dein", "deine", "deinen", "deinem", "deiner", "euch", "euer", "eure"],
        &["Sie", "Ihnen", "Ihr", "Ihre", "Ihren", "Ihrem", "Ihrer"],
    ),
    ("fr", &["tu", "toi", "ton", "tes"], &["vous", "votre", "vos"]),
    ("es", &["tu", "tus", "ti", "te", "contigo"], &["usted", "ustedes"]),
    ("it", &["tu", "ti", "tuo", "tua", "tuoi", "tue"], &["Lei", "Suo", "Sua"]),
    ("nl", &["je", "jij", "jou", "jouw", "jullie"], &["u", "uw"]),
];

/// Returns whether the statements of a brief address the recipients formally; `None` if they use no form of address or both forms, or if
/// the table of forms lacks their language. An email that mixes both forms reads like a mistake.
pub fn form_of(brief: &Brief) -> Option<bool> {
    let language = brief.language.primary();
    let (_, informal, formal) = FORMS.iter().find(|(own, ..)| *own == language)?;
    let texts = brief.facts.iter().filter(|fact| matches!(fact.kind, FactKind::Sentence | FactKind::Condition));
    let texts = texts.map(|fact| fact.text.as_str()).chain(brief.stories.iter().map(|story| story.text.text.as_str()));
    let (mut is_informal, mut is_formal) = (false, false);
    for text in texts {
        // The first word of a sentence is always capitalized, so its capital letter does not make it formal.
        for (at, word) in text.split(|c: char| !c.is_alphabetic()).filter(|word| !word.is_empty()).enumerate() {
            let lower = word.to_lowercase();
            is_informal |= informal.contains(&lower.as_str());
            is_formal |= formal.contains(&lower.as_str()) || at > 0 && formal.contains(&word);
        }
    }
    (is_informal != is_formal).then_some(is_formal)
}
