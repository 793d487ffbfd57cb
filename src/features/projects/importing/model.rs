//! The state of an import and the files that it fetches.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::base::clock::Timestamp;
use crate::engine::store::Record;
use crate::features::projects::reading::Draft;
use crate::vocab::ids::AccountId;

/// The state of an import.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Import {
    pub account: AccountId,
    pub stage: Stage,
    pub percentage: u8,
    /// The files to fetch, in this order. The plan grows when fetched pages refer to other files.
    pub plan: Vec<FetchTask>,
    /// The index of the first task in `plan` that has not been completed.
    pub next: u32,
    /// Whether additional pages of the site have been chosen.
    pub chosen: bool,
    pub draft: Option<Draft>,
    /// The number of consecutive internal failures. The import fails after a few of them.
    pub failures: u8,
    pub metrics: ImportMetrics,
    pub started_at: Timestamp,
}

impl Record for Import {}

/// The queue entry of an unfinished import.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Queued {
    pub account: AccountId,
}

impl Record for Queued {}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Stage {
    Waiting,
    Fetching,
    Reading,
    Measuring,
    Completed,
    Failed,
}

impl Stage {
    /// Returns the name of the stage in the API.
    pub fn word(self) -> &'static str {
        match self {
            Self::Waiting => "initializing",
            Self::Fetching => "fetching",
            Self::Reading => "reading",
            Self::Measuring => "measuring",
            Self::Completed => "completed",
            Self::Failed => "failed",
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FetchTask {
    pub url: String,
    pub kind: FileRole,
}

/// The role of a file in the import.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum FileRole {
    Robots,
    /// A page that the caller named, or the page to which a `meta refresh` element on such a page redirects.
    Given,
    /// A page that the site refers to.
    Page,
    Sitemap,
    Manifest,
    Style,
}

/// The result of a fetch task.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct File {
    /// The requested URL.
    pub url: String,
    /// The final URL after redirects.
    pub found_at: String,
    pub kind: FileRole,
    pub outcome: FetchOutcome,
}

impl Record for File {}

/// The content of a fetched file, or the reason that there is no content.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum FetchOutcome {
    Fetched {
        content_type: String,
        /// The value of the `Content-Language` header.
        language: String,
        #[serde(with = "whole_bytes")]
        bytes: Vec<u8>,
    },
    /// The site has no such file: the status is 404 or 410 or, for robots.txt, any 4xx status except 429. For a page that the caller named,
    /// 404 and 410 are failures instead.
    Absent,
    Failed(String),
}

/// Reads and writes a list of bytes in one call. By default, serde would process megabytes byte by byte. The format is the same.
mod whole_bytes {
    use std::fmt;

    use serde::de::{Error, Visitor};
    use serde::{Deserializer, Serializer};

    pub fn serialize<S: Serializer>(bytes: &[u8], serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_bytes(bytes)
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<u8>, D::Error> {
        deserializer.deserialize_byte_buf(Bytes)
    }

    struct Bytes;

    impl Visitor<'_> for Bytes {
        type Value = Vec<u8>;

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("bytes")
        }

        fn visit_bytes<E: Error>(self, bytes: &[u8]) -> Result<Vec<u8>, E> {
            Ok(bytes.to_vec())
        }

        fn visit_byte_buf<E: Error>(self, bytes: Vec<u8>) -> Result<Vec<u8>, E> {
            Ok(bytes)
        }
    }
}

/// Metrics about an import.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ImportMetrics {
    /// The number of pages that were read.
    pub pages_read: u32,
    /// The number of pages that could not be read.
    pub pages_failed: u32,
    pub stylesheets_read: u32,
    /// The number of bytes fetched, excluding images.
    pub bytes_read: u64,
    /// The number of logos and images fetched and measured.
    pub images_measured: u32,
    pub products_found: u32,
    /// The number of entries added to the knowledge base.
    pub knowledge_entries: u32,
    pub duration_ms: u64,
    /// Facts about the brand that were not found on the sites.
    pub missing: Vec<String>,
    /// Remarks about how the sites were read, worded for users.
    pub notes: Vec<String>,
}
