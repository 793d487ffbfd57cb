//! The compatibility report of an email: what each client does not support in it.

use std::borrow::Cow;

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::Serialize;
use serde_json::{Value, json};

use super::links::views::milliseconds;
use crate::engine::api::Failure;
use crate::engine::clients::report::Report;

/// The JSON of a [`Report`], which a worker process writes.
#[derive(Clone, Debug, Serialize)]
#[serde(transparent)]
pub struct CompatibilityAnalysis(Value);

impl JsonSchema for CompatibilityAnalysis {
    fn schema_name() -> Cow<'static, str> {
        Report::schema_name()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        Report::json_schema(generator)
    }
}

impl CompatibilityAnalysis {
    /// Reads the report of a worker process.
    pub fn read(json: &[u8], time: std::time::Duration) -> Result<Self, Failure> {
        let mut report: Value = serde_json::from_slice(json).map_err(Failure::internal)?;
        report["metadata"]["processingTime"] = milliseconds(time).into();
        Ok(Self(report))
    }

    fn number(&self, name: &str) -> u64 {
        self.0["summary"][name].as_u64().unwrap_or_default()
    }

    /// Returns the score from 0 to 100.
    pub fn score(&self) -> u32 {
        u32::try_from(self.number("compatibilityScore")).unwrap_or_default()
    }

    /// Returns the number of features that a client does not support.
    pub fn errors(&self) -> usize {
        usize::try_from(self.number("totalErrors")).unwrap_or_default()
    }

    /// Returns the number of features that a client supports in part.
    pub fn warnings(&self) -> usize {
        usize::try_from(self.number("totalWarnings")).unwrap_or_default()
    }

    /// Returns whether Gmail cuts off the email.
    pub fn is_clipped(&self) -> bool {
        self.0["limits"]["isClipped"] == true
    }

    /// Returns the remedies for the unsupported features, the most frequent first, each once.
    pub fn fixes(&self) -> Vec<String> {
        let mut counts: Vec<(String, usize)> = Vec::new();
        let clients = self.0["clientIssues"].as_array().into_iter().flatten();
        for issue in clients.filter_map(|client| client["issues"].as_array()).flatten() {
            let Some(fix) = issue["fix"].as_str() else { continue };
            let text = format!("{}: {fix}", issue["title"].as_str().unwrap_or_default());
            match counts.iter_mut().find(|(known, _)| *known == text) {
                Some((_, count)) => *count += 1,
                None => counts.push((text, 1)),
            }
        }
        counts.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
        counts.into_iter().map(|(text, _)| text).collect()
    }

    /// Returns an example for the documentation.
    pub fn sample() -> Self {
        let occurrence = json!({ "line": 12, "column": 9, "endLine": 12, "endColumn": 26, "excerpt": "border-radius:4px" });
        let issue = json!({
            "slug": "css-border-radius", "title": "border-radius", "category": "css",
            "url": "https://www.caniemail.com/features/css-border-radius/", "support": "none", "effect": "cosmetic",
            "occurrences": [occurrence], "count": 1, "reach": 1, "unused": false, "tested": { "date": "2019-11", "stale": true },
        });
        let client = json!({
            "client": "outlook.windows", "clientName": "Outlook for Windows", "share": 0.04, "score": 98.5, "issues": [issue],
            "warnings": [], "untested": [],
        });
        Self(json!({
            "clientIssues": [client],
            "summary": {
                "totalErrors": 1, "totalWarnings": 0, "compatibilityScore": 98, "byEffect": { "cosmetic": 1 },
                "worstClients": [{ "client": "outlook.windows", "score": 98.5 }],
            },
            "limits": {
                "htmlBytes": 8_214, "clipsAt": 104_448, "isClipped": false, "cssBytes": 612, "cssBytesMax": 16_384, "images": 2,
                "imagesWithoutAlt": 0, "imagesWithoutSize": 0, "embeddedImageBytes": 0,
            },
            "supportedClients": ["apple-mail.ios", "gmail.desktop-webmail", "outlook.windows"],
            "metadata": { "clientsTested": 1, "dataVersion": "2026-05-13", "processingTime": 12 },
        }))
    }
}
