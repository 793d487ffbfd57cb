//! The input that all validation operations share: HTML in the request, or a stored email.

use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};

use crate::engine::api::{Context, Failure};
use crate::engine::render::html_limits::megabytes;
use crate::features::checks::source::CheckedEmail;
use crate::features::emails;
use crate::vocab::ids::EmailId;
use crate::vocab::limits;

/// Returns the schema alternatives that require exactly one of `html` and `emailId`.
pub fn one_source() -> Value {
    json!([
        { "required": ["html"], "properties": { "html": { "type": "string" }, "emailId": { "type": "null" } } },
        { "required": ["emailId"], "properties": { "html": { "type": "null" }, "emailId": { "type": "string" } } },
    ])
}

/// Returns the email that a request specifies with either `html` or `emailId`. Fails if the request sets both or neither.
pub async fn load(context: &Context, html: Option<String>, email: Option<EmailId>) -> Result<CheckedEmail, Failure> {
    match (html, email) {
        (Some(html), None) => given(html),
        (None, Some(id)) => {
            let account = context.caller.account();
            let found = context.read(move |tx| emails::ready(tx, account, &[id], None)).await?;
            let email = found
                .into_iter()
                .next()
                .ok_or_else(|| Failure::internal("no email was found for a valid ID; report this bug"))?;
            let (subject, project) = (Some(email.subject), Some(email.project));
            Ok(CheckedEmail { html: Arc::new(email.html), subject, project, field: "emailId" })
        }
        (Some(_), Some(_)) => Err(both_sources()),
        (None, None) => Err(no_source()),
    }
}

fn given(html: String) -> Result<CheckedEmail, Failure> {
    check_html(&html)?;
    Ok(CheckedEmail { html: Arc::new(html), subject: None, project: None, field: "html" })
}

pub fn both_sources() -> Failure {
    Failure::field("emailId", "set either `html` or `emailId`, not both")
}

pub fn no_source() -> Failure {
    Failure::field("html", "set `html` to the email's HTML, or `emailId` to the ID of a stored email")
}

/// Fails if `html` is blank or too large.
pub fn check_html(html: &str) -> Result<(), Failure> {
    if html.trim_matches(|c: char| c.is_whitespace() || c == '\u{feff}').is_empty() {
        return Err(Failure::field("html", "must not be blank; send the email's HTML"));
    }
    if html.len() > limits::HTML_IMPORT_BYTES_MAX {
        let max = limits::HTML_IMPORT_BYTES_MAX;
        return Err(Failure::field(
            "html",
            format_args!("the HTML is {}; shorten it to at most {}", megabytes(html.len()), megabytes(max)),
        ));
    }
    Ok(())
}

/// Fails if a request lists too many clients or languages.
pub fn check_choices(field: &str, choices: &[impl Sized]) -> Result<(), Failure> {
    let max = limits::VALIDATION_CHOICES_MAX;
    if choices.len() <= max {
        return Ok(());
    }
    Err(Failure::field(field, format_args!("list at most {max} items; this list has {}", choices.len())))
}

/// Returns the time limit for a check: `wanted`, or less if the request must end earlier.
pub fn time_limit(context: &Context, wanted: Duration) -> Duration {
    let request = context.engine.settings.server.request_seconds.seconds();
    let left = request.saturating_sub(limits::VALIDATION_RESPONSE_TIME).max(request / 2);
    wanted.min(left)
}
