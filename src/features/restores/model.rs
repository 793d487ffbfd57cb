//! A restore of one brand, and its state.

use serde::{Deserialize, Serialize};

use schemars::JsonSchema;

use crate::base::clock::Timestamp;
use crate::features::go_live::{CopyCounts, Counter};
use crate::vocab::environment::Environment;
use crate::vocab::ids::{AccountId, ConversationId, CopyIds, JobId, ProjectId};

/// The installation's newest restore, as stored.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Restore {
    pub id: JobId,
    /// The account whose brands can be restored; `None` for the operator, who can restore all brands.
    pub account: Option<AccountId>,
    /// The brand that the request named; `None` if users choose one later.
    pub project: Option<ProjectId>,
    /// The requested time; after the preparation, the time of the last restored commit.
    pub at: Timestamp,
    /// Whether the backup has every commit up to the requested time.
    pub is_exact: bool,
    pub requested_at: Timestamp,
    pub state: State,
    /// The number of attempts since the restore last made progress.
    pub attempts: u32,
    pub order: Option<Order>,
    pub ended_at: Option<Timestamp>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum State {
    /// The worker restores the state at the requested time into a temporary folder.
    Preparing,
    /// The restored state is in the temporary folder, and a user must choose a brand.
    Ready {
        since: Timestamp,
    },
    /// The worker copies the brand into the installation.
    Copying,
    Completed,
    /// Why the restore failed, worded for users.
    Failed(String),
}

impl State {
    /// Returns the name that the API uses for the state.
    pub fn word(&self) -> &'static str {
        match self {
            Self::Preparing => "preparing",
            Self::Ready { .. } => "ready",
            Self::Copying => "copying",
            Self::Completed => "completed",
            Self::Failed(_) => "failed",
        }
    }
}

/// What to do with the brand's objects that still exist.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum RestoreMode {
    /// Missing objects come back; existing objects stay unchanged.
    #[default]
    Missing,
    /// Missing objects come back; existing objects are replaced.
    Replace,
    /// A second brand is created beside the existing one.
    Copy,
}

/// The brand that a user chose, and how to bring it back.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Order {
    pub account: AccountId,
    pub environment: Environment,
    pub project: ProjectId,
    pub mode: RestoreMode,
    pub contacts: bool,
    pub deleted_contacts: bool,
}

impl Order {
    /// Returns the rule that determines the IDs of restored objects.
    pub fn ids(&self, restore: JobId) -> CopyIds {
        match self.mode {
            RestoreMode::Missing | RestoreMode::Replace => CopyIds::Same,
            RestoreMode::Copy => CopyIds::Beside(restore),
        }
    }

    /// Returns the ID of the brand to which the restored objects are added.
    pub fn target(&self, restore: JobId) -> ProjectId {
        self.ids(restore).of(self.project)
    }
}

impl Restore {
    /// Returns whether the restore is still in progress.
    pub fn is_open(&self) -> bool {
        self.ended_at.is_none()
    }

    pub fn end(&mut self, state: State, now: Timestamp) {
        (self.state, self.ended_at) = (state, Some(now));
    }
}

/// The progress of a copy, which is stored in the transactions that copy objects.
#[derive(Debug, Serialize, Deserialize)]
pub struct CopyProgress {
    pub restore: JobId,
    pub stage: Stage,
    /// Whether the brand was new to the installation before the copy (see `brands::is_fresh`), so that its contacts can keep their IDs.
    pub is_fresh: bool,
    pub counts: Vec<CopyCounts>,
    /// What was not restored, and why, worded for users.
    pub skipped: Vec<String>,
    /// The number of conversations that were not copied because they are unfinished.
    pub unfinished: u64,
    /// The names, in lowercase, of the tags that the target brand did not have.
    pub new_tags: Vec<String>,
    /// The number of contacts that were deleted after the time of the restored state and stay deleted.
    pub deleted: u64,
    /// The number of contacts that stay deleted in every case, because they had unsubscribed, bounced or complained before they were
    /// deleted.
    pub erased: u64,
}

/// The next stage of the copy.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Stage {
    Brand,
    Audience,
    /// Copies the conversations after this one or, if absent, all conversations, newest first.
    Emails(Option<ConversationId>),
    /// Copies the contacts with higher numbers than this one or, if absent, all contacts.
    Contacts(Option<u32>),
    Done,
}

impl CopyProgress {
    pub fn new(restore: JobId) -> Self {
        Self {
            restore,
            stage: Stage::Brand,
            is_fresh: false,
            counts: Vec::new(),
            skipped: Vec::new(),
            unfinished: 0,
            new_tags: Vec::new(),
            deleted: 0,
            erased: 0,
        }
    }

    /// Adds the counts of one transaction.
    pub fn count(&mut self, counts: impl IntoIterator<Item = CopyCounts>) {
        let mut counter = Counter { counts: std::mem::take(&mut self.counts) };
        counts.into_iter().for_each(|counts| counter.add(counts));
        self.counts = counter.counts;
    }
}
