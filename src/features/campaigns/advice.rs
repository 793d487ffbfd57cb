//! What a person should know before a campaign leaves: warnings of a dry run. Pure.

use schemars::JsonSchema;
use serde::Serialize;

use crate::base::text::fold;

/// Something that a person should know, or must put right.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "CampaignWarning")]
pub struct Warning {
    /// One word for programs, like `NO_UNSUBSCRIBE_LINK`, or the code that a send would be refused with.
    pub code: &'static str,
    /// What is the matter, and what to do.
    pub message: String,
    /// Whether it would not be sent like this.
    pub stops: bool,
}

impl Warning {
    /// Something to know.
    pub fn notice(code: &'static str, message: impl Into<String>) -> Self {
        Self { code, message: message.into(), stops: false }
    }

    /// Something without which it is not sent.
    pub fn stop(code: &'static str, message: impl Into<String>) -> Self {
        Self { code, message: message.into(), stops: true }
    }
}

/// What is known of an email's words.
pub struct Words<'a> {
    pub subject: &'a str,
    pub html: &'a str,
    pub text: &'a str,
    /// Whether it names a postal address, if that is known of itself.
    pub names_address: Option<bool>,
    /// The postal address of the brand, if it is known.
    pub brand_address: Option<&'a str>,
}

/// What is to be said of an email's words.
pub fn of_words(words: &Words<'_>) -> Vec<Warning> {
    let mut warnings = Vec::new();
    if words.subject.trim().is_empty() {
        warnings.push(Warning::notice("NO_SUBJECT", "The subject is empty; set subject, or give the email one."));
    }
    if !links_to_unsubscribe(words.html) {
        let message = "The email has no visible link to unsubscribe; put one in with href=\"{{ unsubscribe_url }}\". Mail clients get \
                       the header for it in any case, but large providers ask for both.";
        warnings.push(Warning::notice("NO_UNSUBSCRIBE_LINK", message));
    }
    let in_text = || words.brand_address.is_some_and(|address| plain(words.text).contains(&plain(address)));
    if !words.names_address.unwrap_or_else(in_text) {
        let message = "No postal address was found in the email; the law of most countries asks for the sender's.";
        warnings.push(Warning::notice("NO_POSTAL_ADDRESS", message));
    }
    warnings
}

/// Whether some merge field leads to where one unsubscribes, or chooses what one gets.
fn links_to_unsubscribe(html: &str) -> bool {
    let fields = html.split("{{").skip(1).filter_map(|rest| rest.split("}}").next());
    fields.map(str::trim).any(|field| field.starts_with("unsubscribe_url") || field.starts_with("preferences_url"))
}

/// Letters and digits alone: how an address is broken into lines does not matter.
fn plain(text: &str) -> String {
    fold(text).chars().filter(|letter| letter.is_alphanumeric()).collect()
}

/// How long it takes to send to so many, in seconds, at so many per second; `None` if nothing may be sent.
pub fn seconds(recipients: u64, per_second: Option<u64>) -> Option<u64> {
    per_second.filter(|per_second| *per_second > 0).map(|per_second| recipients.div_ceil(per_second))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn codes(words: &Words<'_>) -> Vec<&'static str> {
        of_words(words).into_iter().map(|warning| warning.code).collect()
    }

    const GOOD: Words<'static> = Words {
        subject: "Tea",
        html: "<p>Hi</p><a href=\"{{ unsubscribe_url }}\">Unsubscribe</a>",
        text: "Hi\nAcme Ltd, 1 High Street,\nLondon N1 9GU",
        names_address: None,
        brand_address: Some("1 High Street, London N1 9GU"),
    };

    #[test]
    fn an_email_that_has_everything_is_left_alone() {
        assert_eq!(codes(&GOOD), [""; 0]);
        assert_eq!(
            codes(&Words { html: "<a href='{{preferences_url}}'>Choose</a>", names_address: Some(true), text: "", ..GOOD }),
            [""; 0]
        );
    }

    #[test]
    fn what_is_missing_is_named() {
        assert_eq!(codes(&Words { subject: " ", ..GOOD }), ["NO_SUBJECT"]);
        assert_eq!(codes(&Words { html: "<a href=\"https://acme.example/unsubscribe\">", ..GOOD }), ["NO_UNSUBSCRIBE_LINK"]);
        for words in
            [Words { text: "Hi", ..GOOD }, Words { brand_address: None, ..GOOD }, Words { names_address: Some(false), ..GOOD }]
        {
            assert_eq!(codes(&words), ["NO_POSTAL_ADDRESS"]);
        }
    }

    #[test]
    fn the_time_is_rounded_up_and_never_a_division_by_nothing() {
        let seconds = |recipients, per_second| seconds(recipients, Some(per_second));
        assert_eq!([seconds(0, 10), seconds(1, 10), seconds(25, 10), seconds(5, 0)], [Some(0), Some(1), Some(3), None]);
    }
}
