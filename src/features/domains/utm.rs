//! UTM parameters for links, so that web analytics can tell where a visitor came from.
//!
//! A domain has defaults for its mail; a campaign or send overrides them. This module does not know links.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::base::text::ShortText;
use crate::vocab::limits;

/// The value of one parameter.
pub type UtmValue = ShortText<{ limits::UTM_CHARACTERS_MAX }>;

/// The default medium.
const MEDIUM: &str = "email";

/// UTM parameters for links. Parameters that a URL already has stay as they are.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Utm {
    /// `false`: no UTM parameters are added, whatever the domain's setting is.
    pub enabled: Option<bool>,
    /// `utm_source`. The domain of the From address if absent.
    pub source: Option<UtmValue>,
    /// `utm_medium`. `email` if absent.
    pub medium: Option<UtmValue>,
    /// `utm_campaign`. The name of the campaign if absent; none for other mail.
    pub campaign: Option<UtmValue>,
    /// `utm_term`. None if absent.
    pub term: Option<UtmValue>,
    /// `utm_content`. None if absent.
    pub content: Option<UtmValue>,
}

impl Utm {
    /// Resolves the UTM parameters of a mailing: its own, else the domain's, else the defaults. `None` if neither sets any, or if one of
    /// them disables them.
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

    /// Returns the parameters in the order in which they are appended.
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
        serde_json::from_value(json).expect("right")
    }

    fn told(given: Option<serde_json::Value>, usual: Option<serde_json::Value>, campaign: Option<&str>) -> Option<String> {
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
            assert_eq!(told(given.clone(), usual.clone(), campaign).as_deref(), expected, "{given:?} {usual:?}");
        }
    }
}
