//! The warnings that a dry run of a campaign returns, computed by pure functions.

use schemars::JsonSchema;
use serde::Serialize;

use crate::base::text::fold;
use crate::engine::api::Failure;

/// A warning about a campaign, or a problem that blocks sending the campaign.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct CampaignWarning {
    /// A code for programs, such as `NO_UNSUBSCRIBE_LINK`, or the error code that sending would return.
    pub code: &'static str,
    /// What the problem is and how to solve it.
    pub message: String,
    /// Whether the problem blocks sending.
    pub stops: bool,
    /// The ID of the operation that helps to solve the problem. Depending on the code and this ID, the dashboard adds its own remedy to
    /// `message` or replaces `message`.
    #[serde(skip)]
    pub see: Option<&'static str>,
}

impl CampaignWarning {
    /// Returns a warning that does not block sending.
    pub fn notice(code: &'static str, message: impl Into<String>) -> Self {
        Self { code, message: message.into(), stops: false, see: None }
    }

    /// Converts a failure that sending would return into a problem that blocks sending.
    pub fn of(failure: &Failure) -> Self {
        let see = failure.see.as_ref().map(|see| see.id);
        Self { code: failure.code.info().wire, message: failure.sentence(), stops: true, see }
    }
}

/// An email's subject, HTML and text, and what is known about its postal address.
pub struct EmailTexts<'a> {
    pub subject: &'a str,
    pub html: &'a str,
    pub text: &'a str,
    /// Whether the email contains a postal address, if known.
    pub names_address: Option<bool>,
    /// The brand's postal address, if known.
    pub brand_address: Option<&'a str>,
}

/// Returns the warnings about an email's subject and content.
pub fn text_warnings(texts: &EmailTexts<'_>) -> Vec<CampaignWarning> {
    let mut warnings = Vec::new();
    if texts.subject.trim().is_empty() {
        warnings
            .push(CampaignWarning::notice("NO_SUBJECT", "The subject is empty. Add a subject to the campaign or to the email."));
    }
    if !links_to_unsubscribe(texts.html) {
        let message = "The email has no visible unsubscribe link, so a plain one is added at the end when the email is sent. \
                       To place the link yourself, add one with href=\"{{ unsubscribe_url }}\".";
        warnings.push(CampaignWarning::notice("NO_UNSUBSCRIBE_LINK", message));
    }
    let in_text = || texts.brand_address.is_some_and(|address| plain(texts.text).contains(&plain(address)));
    if !texts.names_address.unwrap_or_else(in_text) {
        let message = "No postal address was found in the email. Many countries require one in marketing emails. Set the brand's postal \
                       address, and check that the email contains it.";
        warnings.push(CampaignWarning::notice("NO_POSTAL_ADDRESS", message));
    }
    warnings
}

/// Returns whether the HTML contains a merge field for the URL of the unsubscribe or preferences page.
fn links_to_unsubscribe(html: &str) -> bool {
    let fields = html.split("{{").skip(1).filter_map(|rest| rest.split("}}").next());
    let links = ["unsubscribe_url", "unsubscribeUrl", "preferences_url", "preferencesUrl"];
    fields.map(str::trim).any(|field| links.iter().any(|link| field.starts_with(link)))
}

/// Returns the letters and digits of the text, in folded form. All other characters are removed, because line breaks can occur anywhere in
/// an address and must not affect comparisons.
fn plain(text: &str) -> String {
    fold(text).chars().filter(|letter| letter.is_alphanumeric()).collect()
}

/// Returns how many seconds sending to all recipients takes at the given rate; `None` if the rate is zero or unlimited.
pub fn seconds(recipients: u64, per_second: Option<u64>) -> Option<u64> {
    per_second.filter(|per_second| *per_second > 0).map(|per_second| recipients.div_ceil(per_second))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn codes(texts: &EmailTexts<'_>) -> Vec<&'static str> {
        text_warnings(texts).into_iter().map(|warning| warning.code).collect()
    }

    const GOOD: EmailTexts<'static> = EmailTexts {
        subject: "Tea",
        html: "<p>Hi</p><a href=\"{{ unsubscribe_url }}\">Unsubscribe</a>",
        text: "Hi\nAcme Ltd, 1 High Street,\nLondon N1 9GU",
        names_address: None,
        brand_address: Some("1 High Street, London N1 9GU"),
    };

    #[test]
    fn a_complete_email_has_no_warnings() {
        assert_eq!(codes(&GOOD), [""; 0]);
        assert_eq!(
            codes(&EmailTexts { html: "<a href='{{preferences_url}}'>Choose</a>", names_address: Some(true), text: "", ..GOOD }),
            [""; 0]
        );
    }

    #[test]
    fn each_missing_part_has_a_warning() {
        assert_eq!(codes(&EmailTexts { subject: " ", ..GOOD }), ["NO_SUBJECT"]);
        assert_eq!(codes(&EmailTexts { html: "<a href=\"https://acme.example/unsubscribe\">", ..GOOD }), ["NO_UNSUBSCRIBE_LINK"]);
        for texts in [
            EmailTexts { text: "Hi", ..GOOD },
            EmailTexts { brand_address: None, ..GOOD },
            EmailTexts { names_address: Some(false), ..GOOD },
        ] {
            assert_eq!(codes(&texts), ["NO_POSTAL_ADDRESS"]);
        }
    }

    #[test]
    fn the_time_is_rounded_up_and_never_divides_by_zero() {
        let seconds = |recipients, per_second| seconds(recipients, Some(per_second));
        assert_eq!([seconds(0, 10), seconds(1, 10), seconds(25, 10), seconds(5, 0)], [Some(0), Some(1), Some(3), None]);
    }
}
