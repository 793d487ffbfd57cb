//! Compiled content: templates are checked once, links are extracted, and shared parts are encoded once.
//!
//! This module is independent of recipients, domains and keys; `message.rs` renders a message.

pub mod links;

use std::collections::BTreeSet;

use serde_json::json;

use super::merge_data::is_link;
use super::model::{Content, Tracking};
use crate::base::text::escaped;
use crate::engine::api::Failure;
use crate::engine::mail::body::Body;
use crate::engine::render::imported_html;
use crate::engine::render::merge::{Fields, MergeError, OutputKind, Template};
use crate::features::domains::Utm;
use crate::vocab::codes::Code;
use crate::vocab::ids::EmailId;

/// A mailing's content in one language, ready to be rendered for any number of recipients.
#[derive(Debug)]
pub struct Compiled {
    pub subject: Template,
    pub html: Body,
    pub text: Body,
    /// The approximate size of the content in bytes.
    pub weight: usize,
}

/// What to add when the content is compiled: a tracking pixel, tracked links, an unsubscribe line and UTM parameters.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct RenderMode {
    pub opens: bool,
    pub clicks: bool,
    /// Whether the message must contain an unsubscribe link.
    pub unsubscribes: bool,
    /// The UTM parameters for untracked links. For tracked links, the UTM parameters are added during the redirect.
    pub utm: Option<Utm>,
}

impl RenderMode {
    pub fn of(tracking: Tracking, transactional: bool) -> Self {
        Self { opens: tracking.opens, clicks: tracking.clicks, unsubscribes: !transactional, utm: None }
    }
}

/// An error in one of the content's templates.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TemplateError {
    /// The language of the content, if it is known.
    pub language: Option<String>,
    /// The stored email that the content comes from. If absent, the request contained the content.
    pub email: Option<EmailId>,
    /// The part of the content that contains the template: `subject`, `template` or `text`.
    pub part: &'static str,
    pub error: MergeError,
}

impl From<TemplateError> for Failure {
    fn from(template_error: TemplateError) -> Self {
        let TemplateError { language, email, part, error } = template_error;
        let Some(email) = email else {
            let of = language.map_or_else(String::new, |language| format!(" (email in {language})"));
            return Failure::field(part, format_args!("{error}{of}"));
        };
        // Describe the part of the content in words, because a request for a stored email has no field for it.
        let part = match part {
            "template" => "HTML",
            "text" => "plain text",
            other => other,
        };
        let of = language.map_or_else(String::new, |language| format!(" in {language}"));
        let detail = format!("The {part} of the email{of} is invalid: {error}. Correct the email.");
        Failure::because(Code::InvalidRequest, detail).with(json!({ "emailId": email }))
    }
}

/// Checks content and prepares it for many recipients.
pub fn compile(content: &Content, mode: RenderMode) -> Result<Compiled, TemplateError> {
    let template_error =
        |part| move |error| TemplateError { language: content.language.clone(), email: content.email, part, error };
    let language = links::language(&content.html);
    let language = language.as_deref();
    let subject =
        Template::compile(&content.subject, OutputKind::Header).map_err(template_error("subject"))?.in_language(language);
    let mut html = shown(content);
    if mode.unsubscribes && !links::offers_to_unsubscribe(&html) {
        html = links::with_unsubscribe(&html);
    }
    // The plain text is derived before placeholders replace the links, because links in plain text are not tracked.
    let text = match &content.text {
        Some(text) => text.clone(),
        None => text_of(&html),
    };
    if mode.clicks {
        html = links::rewrite(&html).html;
    } else if let Some(utm) = &mode.utm {
        html = links::marked(&html, utm);
    }
    if mode.opens {
        html = links::with_pixel(&html);
    }
    let html = Template::compile(&html, OutputKind::Html).map_err(template_error("template"))?.in_language(language);
    let text = Template::compile(&text, OutputKind::Text).map_err(template_error("text"))?.in_language(language);
    let weight =
        [&subject, &html, &text].iter().map(|template| 2 * template.literals().iter().map(String::len).sum::<usize>()).sum();
    Ok(Compiled { subject, html: Body::new(html), text: Body::new(text), weight })
}

impl Compiled {
    /// Returns the first required field for which the recipient has no value.
    pub fn missing(&self, fields: &dyn Fields) -> Option<&str> {
        let texts = [&self.subject, self.html.template(), self.text.template()];
        texts.into_iter().find_map(|template| template.missing(fields))
    }

    /// Returns the fields that every recipient must have, as a template that contains only these fields and is quick to check.
    pub fn needs(&self) -> String {
        let texts = [&self.subject, self.html.template(), self.text.template()];
        let fields: BTreeSet<&str> =
            texts.into_iter().flat_map(|template| template.fields()).filter(|field| !is_link(field)).collect();
        fields.into_iter().map(|field| format!("{{{{ {field} }}}}")).collect()
    }

    /// Returns whether the content requires no fields other than `email` and the recipient's links.
    pub fn needs_nothing(&self) -> bool {
        let texts = [&self.subject, self.html.template(), self.text.template()];
        texts.into_iter().all(|template| template.fields().all(|field| field == "email" || is_link(field)))
    }
}

/// Returns the HTML including the preheader. The numbers of tracked links refer to this HTML.
pub fn shown(content: &Content) -> String {
    match &content.preheader {
        Some(preheader) => with_preheader(&content.html, preheader),
        None => content.html.clone(),
    }
}

/// Inserts the preheader as hidden text before the visible content.
fn with_preheader(html: &str, preheader: &str) -> String {
    let escaped = escaped(preheader);
    let hidden = format!("<div style=\"display:none;max-height:0;max-width:0;opacity:0;overflow:hidden\">{escaped}</div>");
    let body = html.to_ascii_lowercase().find("<body").and_then(|body| Some(body + html[body..].find('>')? + 1)).unwrap_or(0);
    format!("{}{hidden}{}", &html[..body], &html[body..])
}

/// Returns the plain text of the HTML, or an empty string if the HTML is too long or too deeply nested.
fn text_of(html: &str) -> String {
    imported_html::text(html).map(|(text, _)| text).unwrap_or_default()
}
