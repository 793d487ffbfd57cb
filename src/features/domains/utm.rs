//! UTM parameters for links, which let web analytics determine where a visitor came from.
//!
//! A domain has default parameters for its mail; a campaign or send overrides them. This module does not process links.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::base::text::ShortText;
use crate::vocab::limits;

pub type UtmValue = ShortText<{ limits::UTM_CHARACTERS_MAX }>;

/// The default value of `utm_medium`.
const MEDIUM: &str = "email";

/// UTM parameters for links. Parameters that a URL already has are kept.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "UtmParameters")]
pub struct Utm {
    /// If false, no UTM parameters are added, regardless of the domain's setting.
    pub enabled: Option<bool>,
    /// The value of `utm_source`. If absent, the sending domain's value applies or, if it has none, the domain of the From address.
    pub source: Option<UtmValue>,
    /// The value of `utm_medium`. If absent, the sending domain's value applies or, if it has none, `email`.
    pub medium: Option<UtmValue>,
    /// The value of `utm_campaign`. If absent, the sending domain's value applies or, if it has none, the name of the campaign. Mail
    /// without a campaign then has no `utm_campaign`.
    pub campaign: Option<UtmValue>,
    /// The value of `utm_term`. If absent, the sending domain's value applies; if it has none, links have no `utm_term`.
    pub term: Option<UtmValue>,
    /// The value of `utm_content`. If absent, the sending domain's value applies; if it has none, links have no `utm_content`.
    pub content: Option<UtmValue>,
}

impl Utm {
    /// Determines the UTM parameters for a mailing. Each value comes from the mailing's settings or, if they lack it, from the domain's
    /// settings or, if these lack it too, from the defaults. Returns `None` if neither the mailing nor the domain has UTM settings, or if
    /// the mailing's settings (or, if it has none, the domain's settings) disable UTM parameters.
    pub fn resolve(given: Option<&Self>, usual: Option<&Self>, domain: &str, campaign: Option<&str>) -> Option<Self> {
        let decides = given.or(usual)?;
        if decides.enabled == Some(false) {
            return None;
        }
        let value = |part: fn(&Self) -> &Option<UtmValue>| {
            let said = [given, usual].into_iter().flatten().find_map(|utm| part(utm).clone());
            said.filter(|value| !value.is_empty())
        };
        Some(Self {
            enabled: Some(true),
            source: value(|utm| &utm.source).or_else(|| shortened(domain)),
            medium: value(|utm| &utm.medium).or_else(|| shortened(MEDIUM)),
            campaign: value(|utm| &utm.campaign).or_else(|| campaign.and_then(shortened)),
            term: value(|utm| &utm.term),
            content: value(|utm| &utm.content),
        })
    }

    /// Returns the parameters in the order in which they are appended to a URL.
    pub fn parameters(&self) -> impl Iterator<Item = (&'static str, &str)> {
        let all = [
            ("utm_source", &self.source),
            ("utm_medium", &self.medium),
            ("utm_campaign", &self.campaign),
            ("utm_term", &self.term),
            ("utm_content", &self.content),
        ];
        all.into_iter().filter_map(|(name, value)| Some((name, &**value.as_ref().filter(|value| !value.is_empty())?)))
    }
}

fn shortened(text: &str) -> Option<UtmValue> {
    let line: String = text.chars().filter(|letter| !letter.is_control()).take(limits::UTM_CHARACTERS_MAX).collect();
    UtmValue::parse(&line).ok()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn utm(json: serde_json::Value) -> Utm {
        serde_json::from_value(json).expect("the input is valid")
    }

    fn resolved(given: Option<serde_json::Value>, usual: Option<serde_json::Value>, campaign: Option<&str>) -> Option<String> {
        let (given, usual) = (given.map(utm), usual.map(utm));
        let settled = Utm::resolve(given.as_ref(), usual.as_ref(), "acme.example", campaign)?;
        Some(settled.parameters().map(|(name, value)| format!("{}={value}", &name[4..])).collect::<Vec<_>>().join(" "))
    }

    #[test]
    fn a_mailing_overrides_its_domain_which_overrides_the_defaults() {
        for (given, usual, campaign, expected) in [
            (None, None, Some("Spring"), None),
            (None, Some(json!({})), Some("Spring"), Some("source=acme.example medium=email campaign=Spring")),
            (Some(json!({})), None, None, Some("source=acme.example medium=email")),
            (
                Some(json!({ "content": "a", "campaign": "sp26" })),
                Some(json!({ "source": "news", "campaign": "x", "term": "t" })),
                Some("Spring"),
                Some("source=news medium=email campaign=sp26 term=t content=a"),
            ),
            (Some(json!({ "enabled": false })), Some(json!({ "source": "news" })), None, None),
            (None, Some(json!({ "enabled": false, "source": "news" })), None, None),
            (
                Some(json!({ "enabled": true })),
                Some(json!({ "enabled": false, "source": "news" })),
                None,
                Some("source=news medium=email"),
            ),
        ] {
            assert_eq!(resolved(given.clone(), usual.clone(), campaign).as_deref(), expected, "{given:?} {usual:?}");
        }
    }
}
