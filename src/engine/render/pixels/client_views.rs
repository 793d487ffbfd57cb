//! An email as clients on devices show it, ready to be drawn.

use serde::{Deserialize, Serialize};

use super::super::{html_limits, imported_html};
use super::{RenderError, draw};
use crate::base::text::escaped;
use crate::engine::clients::devices::{self, Device};
use crate::engine::clients::findings::Checker;
use crate::engine::clients::html;
use crate::engine::clients::profile::Tier;
use crate::engine::clients::transform::{self, Cut, Note, Options};

/// An email as a client on a device shows it, without the HTML.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ClientViewHead {
    pub device: String,
    pub tier: Tier,
    /// The date of the support tables, as `YYYY-MM-DD`; empty for a plain-text view.
    pub data_version: String,
    pub cuts: Vec<Cut>,
    pub notes: Vec<Note>,
    /// The URLs of the images, as written in the HTML.
    pub images: Vec<String>,
}

/// An email as a client on a device shows it.
#[derive(Clone, Debug, PartialEq)]
pub struct ClientView {
    pub head: ClientViewHead,
    pub html: String,
}

/// Returns what the clients on these devices show of an email, according to the tables of `checker`.
pub fn of(checker: &Checker, html: &str, keys: &[String]) -> Result<Vec<ClientView>, RenderError> {
    html_limits::admit(html).map_err(RenderError::Refused)?;
    keys.iter()
        .map(|key| {
            one(
                checker,
                html,
                devices::find(key).ok_or_else(|| {
                    RenderError::Misused(format!("{key} is not a device; GET /v1/emails/devices/supported lists the devices"))
                })?,
            )
        })
        .collect()
}

fn one(checker: &Checker, html: &str, device: &Device) -> Result<ClientView, RenderError> {
    if device.is_text {
        let (text, _) = imported_html::text(html).map_err(RenderError::Refused)?;
        return Ok(plain_text(device, &text));
    }
    let profile = checker.profile(&device.profile).ok_or_else(|| {
        RenderError::Misused(format!(
            "the file in the setting validation.clients lacks the email client {}; use a newer file",
            device.profile
        ))
    })?;
    let options = Options { dark: device.is_dark, images: device.loads_images, scale: device.scale };
    let transformed = transform::transform(checker, html, profile, options);
    let html = with_style(&transformed.html, &transformed.default_style);
    let head = ClientViewHead {
        device: device.key.clone(),
        tier: profile.tier,
        data_version: checker.data.version.to_string(),
        cuts: transformed.cuts,
        notes: transformed.notes,
        images: draw::image_addresses(&html)?,
    };
    Ok(ClientView { head, html })
}

/// Returns the view of an email's plain text on a device.
pub fn plain_text(device: &Device, text: &str) -> ClientView {
    let escaped = escaped(text);
    let style = "margin:16px;font-family:monospace;font-size:13px;line-height:1.5;white-space:pre-wrap;overflow-wrap:anywhere";
    let head = ClientViewHead {
        device: device.key.clone(),
        tier: Tier::NearBrowser,
        data_version: String::new(),
        cuts: Vec::new(),
        notes: Vec::new(),
        images: Vec::new(),
    };
    ClientView {
        head,
        html: format!("<!doctype html><html><body style=\"margin:0\"><div style=\"{style}\">{escaped}</div></body></html>"),
    }
}

/// Adds a style sheet before the email's style sheets, so that the email's own rules override it.
fn with_style(html: &str, style: &str) -> String {
    let document = html::parse(html, false);
    let tag = |name: &str| document.elements.iter().find(|element| element.name == name).map(|element| element.start_tag.end);
    let at = tag("head").or_else(|| tag("html")).or_else(|| document.doctype.map(|doctype| doctype.end)).unwrap_or_default();
    let (before, after) = html.split_at_checked(at as usize).unwrap_or(("", html));
    format!("{before}<style>{style}</style>{after}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_device_gets_what_its_client_shows() {
        let html = "<!doctype html><html><head><style>p{color:red}</style></head><body><p style=\"border-radius:4px\">Hi &amp; bye \
                    <img src=\"https://x.example/a.png\" alt=Cup></p></body></html>";
        let keys = ["outlook.windows", "apple-mail.ios", "gmail.desktop-webmail.no-images", "plain.text"].map(String::from);
        let [word, apple, blocked, text] =
            of(Checker::embedded(), html, &keys).expect("the HTML is short").try_into().expect("a view for each device");
        assert!(!word.html.contains("border-radius") && word.head.cuts[0].slug == "css-border-radius", "{:?}", word.head.cuts);
        assert!(apple.html.contains("<head><style>html{") && apple.html.contains("border-radius:4px"), "{}", apple.html);
        assert_eq!((word.head.tier, apple.head.tier), (Tier::Approximated, Tier::NearBrowser));
        assert_eq!(apple.head.images, ["https://x.example/a.png"]);
        assert!(blocked.head.images.is_empty() && blocked.head.notes[0].rule == "few_words", "{:?}", blocked.head);
        assert!(text.html.contains("Hi &amp; bye") && !text.html.contains("<p"), "{}", text.html);
    }
}
