//! The support tables of caniemail.com, which state how far each client supports each feature.
//!
//! Clients and versions keep the order of the file, because the last version listed for a client is its newest. A map with sorted keys
//! could put another version last.

use std::fmt;
use std::marker::PhantomData;
use std::sync::LazyLock;

use serde::Deserialize;
use serde::de::{Deserializer, MapAccess, Visitor};

use super::features::TABLE;
use crate::base::secret::sha256;

/// The maximum size of a data file. The 2026 file is 0.65 MB.
const BYTES_MAX: usize = 8 * 1024 * 1024;
const FEATURES_MAX: usize = 4096;
const CLIENTS_MAX: usize = 256;

static EMBEDDED: &[u8] = include_bytes!("../../../assets/email_clients/caniemail.json");

/// Returns the digest of the embedded file, without parsing it.
pub fn embedded_digest() -> &'static [u8; 32] {
    static DIGEST: LazyLock<[u8; 32]> = LazyLock::new(|| sha256(EMBEDDED));
    &DIGEST
}

/// The support of a feature in a client's newest version.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SupportLevel {
    Yes,
    No,
    Partly,
    /// Not tested, or absent from the table.
    #[default]
    Unknown,
}

/// The newest result for one feature and one client.
#[derive(Clone, Debug, Default)]
pub struct Cell {
    pub answer: SupportLevel,
    /// The numbers of the notes that qualify the result.
    pub notes: Vec<u16>,
    /// The tested version: a number, or a month as `YYYY-MM`.
    pub version: Box<str>,
}

/// A note that qualifies the support of a feature.
#[derive(Clone, Debug)]
pub struct Note {
    pub number: u16,
    pub text: Box<str>,
}

/// A feature of HTML, CSS or images, with the results of all clients.
#[derive(Clone, Debug)]
pub struct Feature {
    pub slug: Box<str>,
    pub title: Box<str>,
    pub category: Box<str>,
    /// The URL of the feature's page on caniemail.com, with the evidence.
    pub url: Box<str>,
    /// The month of the newest test, as `YYYY-MM`.
    pub tested: Box<str>,
    pub notes: Vec<Note>,
    /// One cell per client, in the order of [`Data::clients`].
    pub cells: Vec<Cell>,
}

impl Feature {
    pub fn note(&self, number: u16) -> Option<&str> {
        self.notes.iter().find(|note| note.number == number).map(|note| &*note.text)
    }
}

/// An email client on a platform.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Client {
    /// The family and the platform, such as `gmail.desktop-webmail`.
    pub key: Box<str>,
    /// The client's display name, such as `Gmail Desktop Webmail`.
    pub name: Box<str>,
}

#[derive(Clone, Debug)]
pub struct Data {
    /// The date of the tables, as `YYYY-MM-DD`.
    pub version: Box<str>,
    pub clients: Vec<Client>,
    pub features: Vec<Feature>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DataError {
    TooLarge,
    Json(String),
    /// The slugs of features that have no entry in the table of features. An entry names the feature's detector, or states why there is
    /// none.
    UnknownFeatures(Vec<String>),
}

impl fmt::Display for DataError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TooLarge => write!(
                f,
                "The data file is too large: the limits are {BYTES_MAX} bytes, {FEATURES_MAX} features and {CLIENTS_MAX} clients; \
                 use the caniemail.json from the npm package caniemail."
            ),
            Self::Json(reason) => write!(
                f,
                "The data file is not in the format of caniemail.json: {reason}. Use the file from the npm package caniemail."
            ),
            Self::UnknownFeatures(slugs) => {
                write!(
                    f,
                    "This version of Mailmill cannot detect the features {}; use an older data file, or a newer version of Mailmill.",
                    slugs.join(", ")
                )
            }
        }
    }
}

impl std::error::Error for DataError {}

impl Data {
    pub fn embedded() -> &'static Self {
        static DATA: LazyLock<Data> = LazyLock::new(|| Data::parse(EMBEDDED).expect("a test parses the embedded file"));
        &DATA
    }

    pub fn parse(bytes: &[u8]) -> Result<Self, DataError> {
        if bytes.len() > BYTES_MAX {
            return Err(DataError::TooLarge);
        }
        let file: File = serde_json::from_slice(bytes).map_err(|error| DataError::Json(error.to_string()))?;
        let unknown: Vec<String> =
            file.data.iter().map(|one| &one.slug).filter(|slug| TABLE.get(slug).is_none()).cloned().collect();
        if !unknown.is_empty() {
            return Err(DataError::UnknownFeatures(unknown));
        }
        let clients = clients(&file);
        if file.data.len() > FEATURES_MAX || clients.len() > CLIENTS_MAX {
            return Err(DataError::TooLarge);
        }
        let features = file.data.into_iter().map(|one| feature(one, &clients)).collect();
        let version = file.last_update_date.chars().take(10).collect::<String>().into();
        Ok(Self { version, clients, features })
    }

    /// Returns the position of a client in [`Data::clients`].
    pub fn client(&self, key: &str) -> Option<usize> {
        self.clients.iter().position(|client| &*client.key == key)
    }
}

fn clients(file: &File) -> Vec<Client> {
    let mut clients: Vec<Client> = Vec::new();
    for one in &file.data {
        for (family, platforms) in &one.stats.0 {
            for (platform, _) in &platforms.0 {
                let key = format!("{family}.{platform}");
                if clients.iter().any(|client| *client.key == *key) {
                    continue;
                }
                let name = format!("{} {}", file.nicenames.family.word(family), file.nicenames.platform.word(platform));
                clients.push(Client { key: key.into(), name: name.into() });
            }
        }
    }
    clients
}

fn feature(one: FileFeature, clients: &[Client]) -> Feature {
    let mut cells = vec![Cell::default(); clients.len()];
    for (family, platforms) in &one.stats.0 {
        for (platform, versions) in &platforms.0 {
            let found = clients.iter().position(|client| client.key.split_once('.') == Some((family, platform)));
            if let (Some(cell), Some((version, support))) = (found.and_then(|index| cells.get_mut(index)), versions.0.last()) {
                *cell = parse_cell(support, version);
            }
        }
    }
    let notes = one.notes_by_num.unwrap_or_default().0.into_iter();
    let notes =
        notes.filter_map(|(number, text)| Some(Note { number: number.parse().ok()?, text: text.trim().into() })).collect();
    Feature {
        slug: one.slug.into(),
        title: one.title.trim().into(),
        category: one.category.into(),
        url: one.url.into(),
        tested: one.last_test_date.unwrap_or_default().chars().take(7).collect::<String>().into(),
        notes,
        cells,
    }
}

/// Parses the result for a version, such as `a #1 #2`.
fn parse_cell(support: &str, version: &str) -> Cell {
    let mut words = support.split_whitespace();
    let answer = match words.next() {
        Some("y") => SupportLevel::Yes,
        Some("n") => SupportLevel::No,
        Some("a") => SupportLevel::Partly,
        _ => SupportLevel::Unknown,
    };
    let notes = words.filter_map(|word| word.strip_prefix('#')?.parse().ok()).collect();
    Cell { answer, notes, version: version.into() }
}

#[derive(Deserialize)]
struct File {
    last_update_date: String,
    nicenames: Nicenames,
    data: Vec<FileFeature>,
}

#[derive(Deserialize)]
struct Nicenames {
    family: InOrder<String>,
    platform: InOrder<String>,
}

#[derive(Deserialize)]
struct FileFeature {
    slug: String,
    title: String,
    category: String,
    url: String,
    last_test_date: Option<String>,
    stats: InOrder<InOrder<InOrder<String>>>,
    notes_by_num: Option<InOrder<String>>,
}

/// The entries of a JSON object, in the order of the file.
struct InOrder<T>(Vec<(String, T)>);

impl<T> Default for InOrder<T> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

impl InOrder<String> {
    fn word<'a>(&'a self, key: &'a str) -> &'a str {
        self.0.iter().find(|(name, _)| name == key).map_or(key, |(_, word)| word)
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for InOrder<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Entries<T>(PhantomData<T>);
        impl<'de, T: Deserialize<'de>> Visitor<'de> for Entries<T> {
            type Value = InOrder<T>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<InOrder<T>, A::Error> {
                let mut entries = Vec::new();
                while let Some(entry) = map.next_entry()? {
                    entries.push(entry);
                }
                Ok(InOrder(entries))
            }
        }
        deserializer.deserialize_map(Entries(PhantomData))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_feature_of_the_embedded_file_has_a_detector_or_a_reason() {
        let data = Data::parse(EMBEDDED).expect("the file is valid");
        assert_eq!((data.clients.len(), data.features.len()), (48, 307));
        assert_eq!(&*data.version, "2026-05-13");
    }

    #[test]
    fn the_newest_version_is_the_last_one_of_the_file() {
        let data = Data::embedded();
        let macos = data.client("outlook.macos").expect("the client exists");
        let body = data.features.iter().find(|one| &*one.slug == "html-body").expect("the feature exists");
        assert_eq!((body.cells[macos].answer, &*body.cells[macos].version), (SupportLevel::No, "16.80"));
        let target = data.features.iter().find(|one| &*one.slug == "html-target").expect("the feature exists");
        assert_eq!(target.cells[macos].notes, [3]);
        assert_eq!(target.note(3).map(|note| note.starts_with("The attribute is supported")), Some(true));
    }

    #[test]
    fn refuses_a_file_with_a_feature_that_it_cannot_detect() {
        let text = String::from_utf8_lossy(EMBEDDED).replacen("\"slug\":\"amp\"", "\"slug\":\"css-new\"", 1);
        let text = text.replacen("\"slug\": \"amp\"", "\"slug\":\"css-new\"", 1);
        assert_eq!(Data::parse(text.as_bytes()).map(|_| ()), Err(DataError::UnknownFeatures(vec!["css-new".into()])));
        assert!(matches!(Data::parse(b"{}"), Err(DataError::Json(_))));
    }
}
