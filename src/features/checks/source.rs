//! The email that a check is about.

use std::sync::Arc;
use std::time::Duration;

use serde_json::Value;

use crate::engine::api::Failure;
use crate::engine::render::inspect::Inspection;
use crate::engine::render::pixels::RenderError;
use crate::features::checks::CheckContext;
use crate::features::checks::compatibility::CompatibilityAnalysis;
use crate::vocab::codes::Code;
use crate::vocab::ids::ProjectId;

#[derive(Clone, Debug)]
pub struct CheckedEmail {
    pub html: Arc<String>,
    /// The subject, if the email is stored.
    pub subject: Option<String>,
    /// The project, if the email is stored.
    pub project: Option<ProjectId>,
    /// The input field that identifies the email; error messages contain the field's name.
    pub field: &'static str,
}

impl CheckedEmail {
    /// Returns the inspection of the HTML, which is cached.
    pub async fn inspect(&self, context: &CheckContext) -> Result<Arc<Inspection>, Failure> {
        let engine = &context.engine;
        if let Some(known) = engine.inspections.get(&self.html) {
            return Ok(known);
        }
        let inspection = engine.pixels.inspect(&self.html).await.map_err(|error| self.refused(error))?;
        Ok(engine.inspections.put(&self.html, inspection))
    }

    /// Returns the compatibility report for these clients, or for all clients if the list is empty, as JSON.
    pub async fn compatibility(&self, context: &CheckContext, clients: Vec<String>, field: &str) -> Result<Vec<u8>, Failure> {
        match context.engine.pixels.compatibility(&self.html, clients).await {
            Err(RenderError::Misused(message)) => Err(Failure::field(field, message)),
            result => result.map_err(|error| self.refused(error)),
        }
    }

    /// Returns the replacements that resolve the finding about the feature `slug`: for each, a byte range in the HTML and the new text. If
    /// different clients need different replacements, returns those of the client that needs the most.
    pub async fn autofix(&self, context: &CheckContext, slug: &str) -> Result<Vec<(usize, usize, String)>, Failure> {
        let json = self.compatibility(context, Vec::new(), self.field).await?;
        let report: Value = serde_json::from_slice(&json).map_err(Failure::internal)?;
        let clients = report["clientIssues"].as_array().into_iter().flatten();
        let issues = clients.flat_map(|client| ["issues", "warnings"].map(|list| client[list].as_array())).flatten().flatten();
        let edits = issues.filter(|issue| issue["slug"] == slug).filter_map(|issue| issue["autofix"].as_array());
        let most = edits.max_by_key(|edits| edits.len()).into_iter().flatten();
        let edit = |edit: &Value| {
            let number = |name: &str| edit[name].as_u64().and_then(|number| usize::try_from(number).ok());
            Some((number("start")?, number("end")?, edit["replacement"].as_str()?.to_owned()))
        };
        Ok(most.filter_map(edit).collect())
    }

    /// Returns whether the feature `slug` is a problem: at least one client does not support it, or supports it only partially, and the
    /// HTML contains no fallback for that client.
    pub async fn has_problem(&self, context: &CheckContext, slug: &str) -> Result<bool, Failure> {
        let json = self.compatibility(context, Vec::new(), self.field).await?;
        let problems = CompatibilityAnalysis::read(&json, Duration::ZERO)?.problems();
        Ok(problems.iter().any(|problem| problem.slug == slug))
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
