//! Restores as the API returns them.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::model::RestoreMode;
use crate::engine::api::response::WireTime;
use crate::features::go_live::{CopyCounts, CopyKind};
use crate::vocab::ids::{JobId, ProjectId};

/// The installation's newest restore.
#[derive(Debug, Serialize, JsonSchema)]
pub struct RestoreStatus {
    /// The newest restore; absent if there is none, or if it was discarded.
    pub restore: Option<RestoreView>,
}

/// A restore of one brand from the continuous backup.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct RestoreView {
    pub id: JobId,
    /// `preparing`: the state is restored into a temporary folder. `ready`: choose a brand within an hour. `copying`: the brand is being
    /// brought back.
    #[schemars(extend("enum" = ["preparing", "ready", "copying", "completed", "failed"]))]
    pub status: &'static str,
    /// The requested time. Once the status is `ready`, the time of the last restored change.
    pub at: WireTime,
    /// Whether the backup has every change up to the requested time. If false, changes between `at` and the requested time may be missing.
    /// Always true until the status is `ready`, because the value is not known until then.
    pub exact: bool,
    pub requested_at: WireTime,
    /// When the restore completed or failed.
    pub ended_at: Option<WireTime>,
    /// Why the restore failed, worded for users.
    pub error: Option<String>,
    /// The progress of the preparation; absent unless the status is `preparing`.
    pub progress: Option<RestoreProgress>,
    /// The account's brands in the restored state, at most 200 per environment; empty unless the status is `ready`.
    pub brands: Vec<RestorableBrand>,
    /// What has been brought back so far; absent until a brand is chosen.
    pub result: Option<RestoreResult>,
}

/// The progress of downloading the backup.
#[derive(Debug, Default, Serialize, JsonSchema)]
pub struct RestoreProgress {
    pub done: u64,
    /// The total number of objects to download; 0 until it is known.
    pub total: u64,
}

/// A brand in the restored state.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct RestorableBrand {
    pub project_id: ProjectId,
    pub name: String,
    pub domain: String,
    #[schemars(extend("enum" = ["test", "live"]))]
    pub environment: &'static str,
    /// Whether the brand exists now.
    pub exists: bool,
    /// The number of contacts at the time of the restored state.
    pub contacts: u64,
    /// The number of contacts now.
    pub contacts_now: u64,
}

/// What has been brought back so far.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct RestoreResult {
    pub mode: RestoreMode,
    /// The ID of the brand in the restored state.
    pub project_id: ProjectId,
    /// The ID of the brand to which the restored objects are added; a new brand in the mode `copy`.
    pub target_project_id: ProjectId,
    #[schemars(extend("enum" = ["test", "live"]))]
    pub environment: &'static str,
    /// The numbers of objects by kind: `created` counts the objects that came back, `updated` the objects that were replaced, and
    /// `unchanged` the objects that stayed the same.
    pub restored: Vec<CopyCounts>,
    /// The number of contacts that were deleted after the time of the restored state and stay deleted.
    pub contacts_left_deleted: u64,
    /// The number of contacts that stay deleted even with `deletedContacts`, because they had unsubscribed, bounced or complained before
    /// they were deleted.
    pub contacts_left_erased: u64,
    /// What was not restored, and why, worded for users.
    pub skipped: Vec<String>,
}

/// What a restore of a brand would bring back, for one kind of object.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct KindPreview {
    pub kind: CopyKind,
    /// The number of objects in the restored state.
    pub in_backup: u64,
    /// The number of objects in the restored state that no longer exist.
    pub missing: u64,
    /// The number of objects in the restored state that still exist. Only the mode `replace` changes them.
    pub existing: u64,
}

impl KindPreview {
    /// Counts the objects of this kind in the restored state. `known` states for each object whether it still exists.
    pub fn new(kind: CopyKind, known: impl IntoIterator<Item = bool>) -> Self {
        let mut preview = Self { kind, in_backup: 0, missing: 0, existing: 0 };
        for exists in known {
            preview.in_backup += 1;
            *(if exists { &mut preview.existing } else { &mut preview.missing }) += 1;
        }
        preview
    }
}

/// The contacts that a restore of a brand would bring back.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ContactsPreview {
    /// The number of contacts in the restored state.
    pub in_backup: u64,
    /// The number of contacts that no longer exist and come back. A contact that has since unsubscribed or bounced comes back with that
    /// status.
    pub missing: u64,
    /// The number of contacts in the restored state that still exist. Their status does not change.
    pub existing: u64,
    /// The number of contacts that were deleted after the time of the restored state. They come back only with `deletedContacts`.
    pub deleted: u64,
    /// The number of contacts that never come back: they had unsubscribed, bounced or complained before they were deleted.
    pub erased: u64,
}

/// A comparison of a brand in the restored state with the current brand.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct BrandPreview {
    pub project_id: ProjectId,
    pub name: String,
    pub domain: String,
    #[schemars(extend("enum" = ["test", "live"]))]
    pub environment: &'static str,
    /// The time of the restored state.
    pub at: WireTime,
    /// Whether the brand exists now.
    pub exists: bool,
    /// The objects by kind, without contacts.
    pub kinds: Vec<KindPreview>,
    pub contacts: ContactsPreview,
}

impl RestoreView {
    pub fn sample() -> Self {
        Self {
            id: JobId::parse("66f1a2b3c4d5e6f708192021").expect("the ID has 24 hexadecimal characters"),
            status: "ready",
            at: WireTime::sample(),
            exact: true,
            requested_at: WireTime::sample(),
            ended_at: None,
            error: None,
            progress: None,
            brands: vec![RestorableBrand {
                project_id: sample_project(),
                name: "Acme".into(),
                domain: "acme.example".into(),
                environment: "live",
                exists: true,
                contacts: 1_200,
                contacts_now: 40,
            }],
            result: None,
        }
    }

    /// Returns an example of a restore that has copied a brand.
    pub fn completed_sample() -> Self {
        let count = |kind, created, unchanged| CopyCounts { kind, created, updated: 0, unchanged };
        Self {
            status: "completed",
            ended_at: Some(WireTime::sample()),
            brands: Vec::new(),
            result: Some(RestoreResult {
                mode: RestoreMode::Missing,
                project_id: sample_project(),
                target_project_id: sample_project(),
                environment: "live",
                restored: vec![count(CopyKind::Brand, 0, 1), count(CopyKind::Emails, 3, 1), count(CopyKind::Contacts, 1_158, 40)],
                contacts_left_deleted: 0,
                contacts_left_erased: 2,
                skipped: Vec::new(),
            }),
            ..Self::sample()
        }
    }
}

impl BrandPreview {
    pub fn sample() -> Self {
        let kind = |kind, missing, existing| KindPreview { kind, in_backup: missing + existing, missing, existing };
        Self {
            project_id: sample_project(),
            name: "Acme".into(),
            domain: "acme.example".into(),
            environment: "live",
            at: WireTime::sample(),
            exists: true,
            kinds: vec![kind(CopyKind::Brand, 0, 1), kind(CopyKind::Segments, 2, 1), kind(CopyKind::Emails, 0, 4)],
            contacts: ContactsPreview { in_backup: 1_200, missing: 0, existing: 40, deleted: 1_158, erased: 2 },
        }
    }
}

fn sample_project() -> ProjectId {
    ProjectId::parse("66f1a2b3d4e5f60718293a4b").expect("the ID has 24 hexadecimal characters")
}
