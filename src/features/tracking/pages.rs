//! The pages to which links in messages lead. Recipients use them to unsubscribe or to choose which mail to receive. The pages have no
//! scripts or external resources.

use std::sync::LazyLock;

use data_encoding::HEXLOWER;
use http::StatusCode;
use http::header::{
    ACCEPT_LANGUAGE, CACHE_CONTROL, CONTENT_LANGUAGE, CONTENT_LENGTH, CONTENT_SECURITY_POLICY, CONTENT_TYPE, HeaderMap,
    HeaderValue,
};
use serde::Serialize;

use super::translations::{Placeholders, Texts, texts};
use crate::base::random::Random;
use crate::engine::api::http_types::{Reply, ReplyBody};
use crate::engine::render::Pages;
use crate::vocab::ids::TopicId;

const PAGE: &str = "recipient.html";

static PAGES: LazyLock<Pages> = LazyLock::new(|| {
    Pages::new(&[
        ("page.css", include_str!("../../../assets/dashboard/page.css")),
        ("recipient.css", include_str!("../../../assets/recipients/recipient.css")),
        (PAGE, include_str!("../../../assets/recipients/recipient.html")),
    ])
});

/// The content of a page.
pub enum RecipientPage {
    /// Asks whether to unsubscribe: from the topic if there is one, otherwise from all mail.
    Ask { topic: Option<String> },
    /// Confirms that the recipient is unsubscribed.
    Left { topic: Option<String> },
    /// Shows the topics that the recipient can choose from, with the current choices.
    Preferences {
        topics: Vec<Choice>,
        /// Whether the recipient is not a subscribed contact and therefore receives no campaigns.
        is_out: bool,
        /// Whether the recipient may resubscribe.
        may_return: bool,
        is_saved: bool,
    },
    /// Reports that the link is invalid.
    Gone,
}

/// A topic, and whether the recipient is subscribed to it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Choice {
    pub id: TopicId,
    pub name: String,
    pub description: Option<String>,
    pub chosen: bool,
}

/// The recipient who visits a page.
#[derive(Clone, Debug, Default)]
pub struct Reader {
    pub brand: String,
    pub email: String,
    /// The recipient's language, if known.
    pub language: Option<String>,
    /// The languages that the browser accepts.
    pub accepted: Option<String>,
    /// The token that the forms on the page contain.
    pub token: String,
    /// The token of the preferences page; `None` if the recipient is not a contact.
    pub preferences: Option<String>,
}

impl Reader {
    /// Returns a visitor who is not a known recipient. Only the browser's languages are known.
    pub fn anonymous(headers: &HeaderMap) -> Self {
        let accepted = headers.get(ACCEPT_LANGUAGE).and_then(|value| value.to_str().ok()).map(str::to_owned);
        Self { accepted, ..Self::default() }
    }
}

#[derive(Default, Serialize)]
struct Context<'a> {
    nonce: &'a str,
    language: &'a str,
    state: &'a str,
    brand: &'a str,
    title: &'a str,
    heading: String,
    text: String,
    token: &'a str,
    preferences_token: &'a str,
    unsubscribe: &'a str,
    everything: &'a str,
    save: &'a str,
    /// The notice that the page shows; empty if there is no notice.
    notice: &'a str,
    topic: bool,
    topics: &'a [Choice],
    out: &'a str,
    again: &'a str,
    choose: &'a str,
}

impl RecipientPage {
    /// Returns the page as a response.
    pub fn reply(&self, reader: &Reader, random: &dyn Random) -> Reply {
        let nonce = HEXLOWER.encode(&random.bytes::<16>());
        let (language, texts) = texts(reader.language.as_deref(), reader.accepted.as_deref());
        let body = self.draw(reader, (language, texts), &nonce);
        let policy =
            format!("default-src 'none'; style-src 'nonce-{nonce}'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'");
        let mut headers = HeaderMap::with_capacity(5);
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("text/html; charset=utf-8"));
        headers.insert(CONTENT_LENGTH, HeaderValue::from(body.len()));
        headers.insert(CONTENT_LANGUAGE, HeaderValue::from_static(language));
        headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
        headers.insert(CONTENT_SECURITY_POLICY, HeaderValue::from_str(&policy).expect("the policy is ASCII"));
        let status = if matches!(self, RecipientPage::Gone) { StatusCode::NOT_FOUND } else { StatusCode::OK };
        Reply { status, headers, body: ReplyBody::Whole(body.into()) }
    }

    fn draw(&self, reader: &Reader, (language, texts): (&str, &Texts), nonce: &str) -> String {
        let (RecipientPage::Ask { topic } | RecipientPage::Left { topic }) = self else {
            return self.draw_rest(reader, (language, texts), nonce);
        };
        let names = Placeholders { brand: &reader.brand, topic: topic.as_deref().unwrap_or_default(), email: &reader.email };
        let asks = matches!(self, RecipientPage::Ask { .. });
        let (heading, text) = match (asks, topic) {
            (true, None) => (&texts.ask, &texts.ask_text),
            (true, Some(_)) => (&texts.ask_topic, &texts.ask_topic_text),
            (false, None) => (&texts.left, &texts.left_text),
            (false, Some(_)) => (&texts.left_topic, &texts.left_topic_text),
        };
        let context = Context {
            state: if asks { "ask" } else { "left" },
            title: if asks { &texts.unsubscribe } else { &texts.left },
            heading: names.fill(heading),
            text: names.fill(text),
            topic: topic.is_some(),
            ..self.context(reader, (language, texts), nonce)
        };
        PAGES.draw(PAGE, &Context { title: &names.fill(context.title), ..context })
    }

    fn draw_rest(&self, reader: &Reader, (language, texts): (&str, &Texts), nonce: &str) -> String {
        let names = Placeholders { brand: &reader.brand, topic: "", email: &reader.email };
        let common = self.context(reader, (language, texts), nonce);
        let RecipientPage::Preferences { topics, is_out, may_return, is_saved } = self else {
            let (heading, text) = (texts.gone.clone(), texts.gone_text.clone());
            return PAGES.draw(PAGE, &Context { state: "gone", title: &texts.gone, heading, text, choose: "", ..common });
        };
        let text = match topics.is_empty() && !may_return {
            true => format!("{} {}", names.fill(&texts.preferences_text), texts.no_topics),
            false => names.fill(&texts.preferences_text),
        };
        let context = Context {
            state: "preferences",
            title: &texts.preferences,
            heading: texts.preferences_ask.clone(),
            text,
            topics,
            out: if *is_out { &texts.out } else { "" },
            again: if *may_return { &texts.again } else { "" },
            notice: if *is_saved { &texts.saved } else { "" },
            choose: "",
            ..common
        };
        PAGES.draw(PAGE, &context)
    }

    fn context<'a>(&self, reader: &'a Reader, (language, texts): (&'a str, &'a Texts), nonce: &'a str) -> Context<'a> {
        Context {
            nonce,
            language,
            brand: &reader.brand,
            token: &reader.token,
            preferences_token: reader.preferences.as_deref().unwrap_or_default(),
            unsubscribe: &texts.unsubscribe,
            everything: &texts.everything,
            save: &texts.save,
            choose: if reader.preferences.is_some() { &texts.choose } else { "" },
            ..Context::default()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::random::SeededRandom;

    fn reader() -> Reader {
        Reader {
            brand: "Acme <b>".into(),
            email: "ada@example.com".into(),
            language: Some("en".into()),
            token: "TOKEN".into(),
            preferences: Some("CHOICES".into()),
            accepted: None,
        }
    }

    fn choice(chosen: bool) -> Choice {
        let description = Some("Once a week, \"short\"".into());
        Choice { id: TopicId::from_bytes([7; 12]), name: "News & offers".into(), description, chosen }
    }

    fn samples() -> [RecipientPage; 7] {
        let preferences =
            |topics, is_out, may_return, is_saved| RecipientPage::Preferences { topics, is_out, may_return, is_saved };
        [
            RecipientPage::Ask { topic: None },
            RecipientPage::Ask { topic: Some("News".into()) },
            RecipientPage::Left { topic: None },
            RecipientPage::Left { topic: Some("News".into()) },
            preferences(vec![choice(true), choice(false)], false, false, true),
            preferences(Vec::new(), true, true, false),
            RecipientPage::Gone,
        ]
    }

    fn drawn(page: &RecipientPage, language: &str) -> String {
        page.draw(&Reader { language: Some(language.into()), ..reader() }, texts(Some(language), None), "abc")
    }

    #[test]
    fn every_page_renders_in_every_language_without_scripts_or_external_resources() {
        for page in samples() {
            for language in ["en", "de", "fr", "es", "it", "pt", "nl"] {
                let drawn = drawn(&page, language);
                assert!(!drawn.contains("<script") && drawn.contains("<style nonce=\"abc\">"), "{drawn}");
                assert!(
                    !drawn.contains("//") && !drawn.contains("style=\""),
                    "a page has no external resources and no inline styles"
                );
                assert!(drawn.contains(&format!("<html lang=\"{language}\">")) && !drawn.contains("<b>"), "{drawn}");
                assert!(!drawn.contains('{') || !drawn.contains("{brand}"), "{drawn}");
            }
        }
    }

    #[test]
    fn only_pages_that_ask_have_a_button() {
        let buttons = |page: &RecipientPage| drawn(page, "en").matches("<button").count();
        assert_eq!(samples().map(|page| buttons(&page)), [1, 2, 0, 0, 2, 1, 0]);
        assert!(drawn(&samples()[4], "en").contains("checked"));
        assert!(drawn(&samples()[1], "en").contains("/u/CHOICES/preferences"));
    }

    #[test]
    fn only_an_invalid_link_is_a_404() {
        let random = SeededRandom::new(1);
        let statuses = samples().map(|page| page.reply(&reader(), &random).status.as_u16());
        assert_eq!(statuses, [200, 200, 200, 200, 200, 200, 404]);
    }
}
