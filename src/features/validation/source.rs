//! The email that a check is about: HTML in the request, or a stored email.

use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};

use crate::engine::api::{Context, Failure};
use crate::engine::render::inspect::Inspection;
use crate::engine::render::pixels::RenderError;
use crate::features::emails;
use crate::vocab::codes::Code;
use crate::vocab::ids::{EmailId, ProjectId};
use crate::vocab::limits;

/// The email to check.
#[derive(Clone, Debug)]
pub struct CheckedEmail {
    pub html: Arc<String>,
    /// The subject of a stored email.
    pub subject: Option<String>,
    /// The project of a stored email.
    pub project: Option<ProjectId>,
    /// The input field that named the email.
    field: &'static str,
}

/// Returns the schema of inputs with either `html` or `emailId`.
pub fn one_source() -> Value {
    json!([
        { "required": ["html"], "properties": { "html": { "type": "string" }, "emailId": { "type": "null" } } },
        { "required": ["emailId"], "properties": { "html": { "type": "null" }, "emailId": { "type": "string" } } },
    ])
}

impl CheckedEmail {
    /// Returns the email that a request names, with exactly one of both fields.
    pub async fn load(context: &Context, html: Option<String>, email: Option<EmailId>) -> Result<Self, Failure> {
        match (html, email) {
            (Some(html), None) => Self::given(html),
            (None, Some(id)) => {
                let account = context.caller.account();
                let found = context.read(move |tx| emails::ready(tx, account, &[id], None)).await?;
                let email = found.into_iter().next().ok_or_else(|| Failure::internal("no email was found for an ID"))?;
                let (subject, project) = (Some(email.subject), Some(email.project));
                Ok(Self { html: Arc::new(email.html), subject, project, field: "emailId" })
            }
            (Some(_), Some(_)) => Err(both_sources()),
            (None, None) => Err(no_source()),
        }
    }

    fn given(html: String) -> Result<Self, Failure> {
        check_html(&html)?;
        Ok(Self { html: Arc::new(html), subject: None, project: None, field: "html" })
    }

    /// Returns what the HTML contains.
    pub async fn inspect(&self, context: &Context) -> Result<Arc<Inspection>, Failure> {
        let engine = &context.engine;
        if let Some(known) = engine.inspections.get(&self.html) {
            return Ok(known);
        }
        let inspection = engine.pixels.inspect(&self.html).await.map_err(|error| self.refused(error))?;
        Ok(engine.inspections.put(&self.html, inspection))
    }

    /// Returns the JSON of the compatibility report for these clients, or for all.
    pub async fn compatibility(&self, context: &Context, clients: Vec<String>, field: &str) -> Result<Vec<u8>, Failure> {
        match context.engine.pixels.compatibility(&self.html, clients).await {
            Err(RenderError::Misused(message)) => Err(Failure::field(field, message)),
            result => result.map_err(|error| self.refused(error)),
        }
    }

    fn refused(&self, error: RenderError) -> Failure {
        match error {
            RenderError::Busy => Failure::because(Code::Unavailable, error.to_string()).after_seconds(2),
            RenderError::Misused(_) | RenderError::Unavailable(_) => Failure::internal(error),
            RenderError::Refused(_) | RenderError::Image(_) | RenderError::TooCostly | RenderError::Failed(_) => {
                Failure::field(self.field, error)
            }
        }
    }
}

/// Returns the failure for a request with both `html` and `emailId`.
pub fn both_sources() -> Failure {
    Failure::field("emailId", "set either html or emailId, not both")
}

/// Returns the failure for a request with neither `html` nor `emailId`.
pub fn no_source() -> Failure {
    Failure::field("html", "set html to the email's HTML, or emailId to the ID of a stored email")
}

/// Fails if `html` is empty or too long.
pub fn check_html(html: &str) -> Result<(), Failure> {
    if html.trim_matches(|c: char| c.is_whitespace() || c == '\u{feff}').is_empty() {
        return Err(Failure::field("html", "must not be empty; send the email's HTML"));
    }
    if html.len() > limits::HTML_IMPORT_BYTES_MAX {
        let max = limits::HTML_IMPORT_BYTES_MAX;
        return Err(Failure::field("html", format_args!("the HTML has {} bytes; shorten it to at most {max} bytes", html.len())));
    }
    Ok(())
}

/// Fails if a request names too many clients or languages.
pub fn check_choices(field: &str, choices: &[impl Sized]) -> Result<(), Failure> {
    let max = limits::VALIDATION_CHOICES_MAX;
    if choices.len() <= max {
        return Ok(());
    }
    Err(Failure::field(field, format_args!("expected at most {max} items, found {}", choices.len())))
}

/// Returns the time that a check may take: `wanted`, or less if the request must end earlier.
pub fn time_limit(context: &Context, wanted: Duration) -> Duration {
    let request = context.engine.settings.server.request_seconds.seconds();
    let left = request.saturating_sub(limits::VALIDATION_RESPONSE_TIME).max(request / 2);
    wanted.min(left)
}
