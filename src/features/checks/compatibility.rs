//! The compatibility report of an email: the features that each client does not support.

use std::borrow::Cow;

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::links::views::milliseconds;
use super::views::{PlaceView, Severity};
use crate::engine::api::Failure;
use crate::engine::clients::features::Effect;
use crate::engine::clients::report::Report;

/// The smallest share of opens for which a problem is listed. The compatibility report also contains problems with a smaller share.
const LISTED_SHARE_MIN: f64 = 0.01;
/// The smallest share of opens at which a changed layout is a `Warning` instead of `Info`, and at which lost decoration is listed at all.
const NOTICED_SHARE_MIN: f64 = 0.1;

/// A [`Report`] as JSON, written by a worker process.
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

/// A feature that some clients do not support.
#[derive(Clone, Debug)]
pub struct FeatureProblem {
    pub slug: String,
    pub title: String,
    /// The names of the clients, most used first.
    pub clients: Vec<String>,
    /// The share of all opens that the clients are assumed to have, from 0 to 1.
    pub share: f64,
    /// The worst effect in any of the clients.
    pub effect: Effect,
    /// Whether all of the clients support the feature only partially.
    pub is_partial: bool,
    /// Whether at least one of the clients supports the feature only partially.
    pub has_partial: bool,
    /// The note about the feature that applies in the client with the largest share of opens.
    pub condition: Option<String>,
    pub fix: Option<String>,
    /// The distinct replacements that resolve the problem: the original and the new source text. Empty if a user must resolve it.
    pub autofix: Vec<(String, String)>,
    pub count: usize,
    pub occurrences: Vec<PlaceView>,
    pub url: String,
    /// The largest share of opens that any one of the clients has.
    largest: f64,
}

/// Returns the name of a client for use in a comma-separated list: in `Outlook for Windows, classic`, parentheses replace the comma.
fn client_name(name: &str) -> String {
    match name.split_once(", ") {
        Some((client, variant)) => format!("{client} ({variant})"),
        None => name.to_owned(),
    }
}

/// Returns the distinct pairs of original and new text in a list of edits.
fn replacements(edits: &Value) -> Vec<(String, String)> {
    let mut found = Vec::new();
    for edit in edits.as_array().into_iter().flatten() {
        let text = |name: &str| edit[name].as_str().unwrap_or_default().to_owned();
        let pair = (text("original"), text("replacement"));
        if !found.contains(&pair) {
            found.push(pair);
        }
    }
    found
}

impl FeatureProblem {
    fn of(client: &Value, issue: &Value) -> Option<Self> {
        let text = |value: &Value| value.as_str().map(str::to_owned);
        let share = client["share"].as_f64().unwrap_or_default();
        let is_partial = issue["support"] == "partial";
        Some(Self {
            slug: text(&issue["slug"])?,
            title: text(&issue["title"])?,
            clients: vec![client_name(client["clientName"].as_str()?)],
            share,
            effect: Effect::deserialize(&issue["effect"]).ok()?,
            is_partial,
            has_partial: is_partial,
            condition: text(&issue["condition"]["note"]),
            fix: text(&issue["fix"]),
            autofix: replacements(&issue["autofix"]),
            count: issue["count"].as_u64().and_then(|count| usize::try_from(count).ok()).unwrap_or_default(),
            occurrences: Vec::<PlaceView>::deserialize(&issue["occurrences"]).unwrap_or_default(),
            url: text(&issue["url"])?,
            largest: share,
        })
    }

    /// Returns the severity of the problem; `None` if the problem is too minor to be listed.
    pub fn severity(&self) -> Option<Severity> {
        let is_noticed = self.share >= NOTICED_SHARE_MIN;
        match self.effect {
            _ if self.share < LISTED_SHARE_MIN => None,
            Effect::Nothing => None,
            Effect::Cosmetic => is_noticed.then_some(Severity::Info),
            // Missing support for media queries is not a warning, because the client shows the layout that the other rules define.
            Effect::Layout if is_noticed && !self.is_partial && !self.slug.starts_with("css-at-media") => Some(Severity::Warning),
            Effect::Layout => Some(Severity::Info),
            Effect::Content | Effect::Link | Effect::DropsAttribute | Effect::DropsStyleElement => Some(Severity::Warning),
        }
    }

    /// Adds another client that has the problem.
    fn join(&mut self, other: Self, share: f64) {
        match share > self.largest {
            true => {
                self.clients.splice(..0, other.clients);
                self.largest = share;
                self.condition = other.condition;
            }
            false => self.clients.extend(other.clients),
        }
        self.share += share;
        self.effect = self.effect.max(other.effect);
        self.is_partial &= other.is_partial;
        self.has_partial |= other.has_partial;
        for one in other.autofix {
            if !self.autofix.contains(&one) {
                self.autofix.push(one);
            }
        }
        if other.count > self.count {
            (self.count, self.occurrences) = (other.count, other.occurrences);
        }
    }
}

impl CompatibilityAnalysis {
    /// Parses the report that a worker process wrote, and adds the processing time.
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

    pub fn is_clipped(&self) -> bool {
        self.0["limits"]["isClipped"] == true
    }

    /// Returns the features that clients do not support, or support only partially for a reason that applies to the email. Leaves out
    /// features that occur only in unused CSS rules, features whose loss readers do not notice, and clients for which the email contains a
    /// fallback.
    pub fn problems(&self) -> Vec<FeatureProblem> {
        let mut problems: Vec<FeatureProblem> = Vec::new();
        for client in self.0["clientIssues"].as_array().into_iter().flatten() {
            let list = |name: &str| client[name].as_array().map(Vec::as_slice).unwrap_or_default();
            for issue in list("issues").iter().chain(list("warnings")) {
                let is_partial = issue["support"] == "partial";
                let applies = !is_partial || issue["condition"]["applies"] == "true";
                let is_replaced = issue["fallback"].is_string();
                let is_unnoticed = issue["unused"] == true || issue["support"] == "unknown" || issue["effect"] == "nothing";
                if is_unnoticed || is_replaced || !applies {
                    continue;
                }
                let (Some(found), share) = (FeatureProblem::of(client, issue), client["share"].as_f64().unwrap_or_default())
                else {
                    continue;
                };
                match problems.iter_mut().find(|known| known.slug == found.slug) {
                    Some(known) => known.join(found, share),
                    None => problems.push(found),
                }
            }
        }
        problems
    }

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
