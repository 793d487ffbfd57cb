//! The requirements for going live and the result of the last copy, as the API returns them.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::engine::api::response::WireTime;
use crate::vocab::ids::ProjectId;

// Rows store the numbers of these variants, so the numbers must not change.
/// A kind of object that is copied.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum CopyKind {
    Brand = 1,
    Knowledge = 2,
    Images = 3,
    Products = 4,
    Tags = 5,
    Topics = 6,
    Segments = 7,
    Emails = 8,
    Contacts = 9,
    Blocks = 10,
}

/// How many objects of one kind a copy created, updated and left unchanged.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CopyCounts {
    pub kind: CopyKind,
    /// The number of objects that the copy created.
    pub created: u64,
    /// The number of existing objects that the copy changed.
    pub updated: u64,
    /// The number of existing objects that the copy left unchanged, usually because the original had not changed.
    pub unchanged: u64,
}

/// The counts of a copy, by kind.
#[derive(Debug, Default)]
pub struct Counter {
    pub counts: Vec<CopyCounts>,
}

impl Counter {
    pub fn count(&mut self, kind: CopyKind, outcome: CopyOutcome) {
        let one = |wanted| u64::from(outcome == wanted);
        self.add(CopyCounts {
            kind,
            created: one(CopyOutcome::Created),
            updated: one(CopyOutcome::Updated),
            unchanged: one(CopyOutcome::Unchanged),
        });
    }

    /// Adds counts to those of the same kind.
    pub fn add(&mut self, more: CopyCounts) {
        match self.counts.iter_mut().find(|counts| counts.kind == more.kind) {
            Some(counts) => {
                counts.created += more.created;
                counts.updated += more.updated;
                counts.unchanged += more.unchanged;
            }
            None => self.counts.push(more),
        }
    }
}

/// What a copy did with an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CopyOutcome {
    Created,
    Updated,
    Unchanged,
}

/// The result of copying a brand to the live environment.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct CopyReport {
    /// The test project.
    pub project_id: ProjectId,
    /// The live project that contains the copies.
    pub live_project_id: ProjectId,
    /// The counts by kind.
    pub copied: Vec<CopyCounts>,
    /// Why objects were not copied, worded for users.
    pub skipped: Vec<String>,
    /// The value of `contactsAfter` for the next request, which copies more contacts. Present if this request copied contacts and more may
    /// remain.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub contacts_after: Option<u32>,
}

/// The requirements that a brand must meet to go live, and the result of the last copy.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct GoLiveView {
    /// The test project.
    pub project_id: ProjectId,
    pub name: String,
    /// The live project that contains the copies; absent before the first copy.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub live_project_id: Option<ProjectId>,
    /// When the brand was last copied.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub copied_at: Option<WireTime>,
    /// The counts of the last copy.
    pub copied: Vec<CopyCounts>,
    /// The requirements for live sending: a verified domain, a postal address, and a mail transport.
    pub steps: Vec<GoLiveStep>,
    /// The number of contacts in the test environment.
    pub contacts: u64,
}

/// One requirement of live sending.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct GoLiveStep {
    #[schemars(extend("enum" = ["domain", "address", "transport"]))]
    pub id: &'static str,
    pub done: bool,
    /// The state of the requirement or, if it is not met, how to meet it, worded for users.
    pub message: String,
    /// The live domain that was added but is not verified yet. Present only in the step `domain`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub domain: Option<String>,
}

impl CopyReport {
    /// Returns an example for the documentation.
    pub fn sample() -> Self {
        let id = || ProjectId::parse("66f1a2b3d4e5f60718293a4b").expect("the ID has 24 hexadecimal characters");
        Self {
            project_id: id(),
            live_project_id: id().copied(),
            copied: vec![CopyCounts { kind: CopyKind::Emails, created: 3, updated: 0, unchanged: 1 }],
            skipped: Vec::new(),
            contacts_after: None,
        }
    }
}

impl GoLiveView {
    /// Returns an example for the documentation.
    pub fn sample() -> Self {
        let CopyReport { project_id, live_project_id, copied, .. } = CopyReport::sample();
        let step = |id, done, message: &str| GoLiveStep { id, done, message: message.to_owned(), domain: None };
        Self {
            project_id,
            name: "Acme".into(),
            live_project_id: Some(live_project_id),
            copied_at: Some(WireTime::sample()),
            copied,
            steps: vec![
                step("domain", true, "acme.example is verified."),
                step("address", false, "The brand has no postal address. Add one."),
                step("transport", true, "Live email is sent through your relay."),
            ],
            contacts: 120,
        }
    }
}
