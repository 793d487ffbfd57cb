//! Translations of the pages that links in messages lead to.

use std::sync::LazyLock;

use serde::Deserialize;

/// The languages of the pages. The first language is the fallback.
const LANGUAGES: [(&str, &str); 7] = [
    ("en", include_str!("../../../assets/recipients/en.toml")),
    ("de", include_str!("../../../assets/recipients/de.toml")),
    ("fr", include_str!("../../../assets/recipients/fr.toml")),
    ("es", include_str!("../../../assets/recipients/es.toml")),
    ("it", include_str!("../../../assets/recipients/it.toml")),
    ("pt", include_str!("../../../assets/recipients/pt.toml")),
    ("nl", include_str!("../../../assets/recipients/nl.toml")),
];

static TEXTS: LazyLock<Vec<(&str, Texts)>> = LazyLock::new(|| {
    let read = |text| toml::from_str(text).expect("a test parses the strings of every language");
    LANGUAGES.iter().map(|(language, text)| (*language, read(text))).collect()
});

/// The strings of one language. `{brand}`, `{topic}` and `{email}` are placeholders.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Texts {
    pub unsubscribe: String,
    pub ask: String,
    pub ask_text: String,
    pub ask_topic: String,
    pub ask_topic_text: String,
    pub everything: String,
    pub choose: String,
    pub left: String,
    pub left_text: String,
    pub left_topic: String,
    pub left_topic_text: String,
    pub preferences: String,
    pub preferences_ask: String,
    pub preferences_text: String,
    pub no_topics: String,
    pub out: String,
    pub again: String,
    pub save: String,
    pub saved: String,
    pub gone: String,
    pub gone_text: String,
}

/// The values of the placeholders in the strings.
#[derive(Clone, Copy, Debug, Default)]
pub struct Placeholders<'a> {
    pub brand: &'a str,
    pub topic: &'a str,
    pub email: &'a str,
}

impl Placeholders<'_> {
    /// Returns the sentence with its placeholders filled in. Placeholders inside the values are not filled in.
    pub fn fill(&self, sentence: &str) -> String {
        let mut out = String::with_capacity(sentence.len() + 40);
        let mut rest = sentence;
        while let Some((front, tail)) = rest.split_once('{') {
            out.push_str(front);
            let (name, after) = tail.split_once('}').unwrap_or((tail, ""));
            out.push_str(match name {
                "brand" => self.brand,
                "topic" => self.topic,
                "email" => self.email,
                _ => "",
            });
            rest = after;
        }
        out.push_str(rest);
        out
    }
}

/// Returns the strings for a recipient: in the recipient's language if it is known and supported; otherwise in the first supported language
/// that the browser accepts; otherwise in English.
pub fn texts(known: Option<&str>, accepted: Option<&str>) -> (&'static str, &'static Texts) {
    let asked = accepted.unwrap_or_default().split(',').map(|range| range.split(';').next().unwrap_or_default());
    let found = known.into_iter().chain(asked).find_map(|tag| {
        let primary = tag.trim().split(['-', '_']).next().unwrap_or_default();
        TEXTS.iter().find(|(language, _)| primary.eq_ignore_ascii_case(language))
    });
    let (language, texts) = found.unwrap_or(&TEXTS[0]);
    (language, texts)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_language_has_every_text_with_the_same_placeholders() {
        let names = |sentence: &str| {
            let mut found: Vec<String> =
                sentence.split('{').skip(1).map(|rest| rest.split('}').next().unwrap_or_default().into()).collect();
            found.sort();
            found
        };
        let table = |text: &str| {
            toml::from_str::<std::collections::BTreeMap<String, String>>(text).expect("the translation is a table of strings")
        };
        let english = table(LANGUAGES[0].1);
        assert_eq!(TEXTS.len(), LANGUAGES.len());
        for (language, text) in LANGUAGES {
            for (key, sentence) in table(text) {
                assert_eq!(names(&sentence), names(&english[&key]), "{language} {key}");
            }
        }
    }

    #[test]
    fn the_contacts_language_wins_over_the_browsers_and_english_is_the_fallback() {
        assert_eq!(texts(Some("de-CH"), Some("fr")).0, "de");
        assert_eq!(texts(Some("ja"), Some("ja, FR-ca;q=0.8, en;q=0.5")).0, "fr");
        assert_eq!(texts(None, None).0, "en");
    }

    #[test]
    fn a_value_that_looks_like_a_placeholder_is_not_filled() {
        let names = Placeholders { brand: "{email}", topic: "{", email: "a@b.example" };
        assert_eq!(names.fill("{brand} {topic} {email} {other}"), "{email} { a@b.example ");
    }
}
