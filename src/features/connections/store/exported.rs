//! The tables of exported templates and images, and all access to them.
//!
//! The rows belong to the platform's account, not to the connection: an account that is removed and connected again keeps its templates.

use serde::{Deserialize, Serialize};

use crate::base::clock::Timestamp;
use crate::base::secret::sha256;
use crate::engine::store::{Order, Read, Record, Result, Table, WriteTx};
use crate::features::connections::model::{Connection, TemplateKind};
use crate::vocab::ids::{AccountId, EmailId};
use crate::vocab::providers::Provider;
use crate::vocab::tables;

/// A digest of a platform's name and the platform's ID of an account.
pub type AccountDigest = [u8; 12];

const TEMPLATES: Table<(AccountId, EmailId, AccountDigest, u8), ExportedTemplate> = Table::new(tables::EXPORTED_TEMPLATES);
const IMAGES: Table<(AccountId, AccountDigest, [u8; 12]), ExportedImage> = Table::new(tables::EXPORTED_IMAGES);

/// A template or draft that an export has created on a platform or is about to create.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ExportedTemplate {
    pub provider: Provider,
    pub kind: TemplateKind,
    pub name: String,
    /// The platform's ID of the object; `None` while it is not known whether a creation took effect.
    pub external_id: Option<String>,
    /// The URL of the object's page on the platform.
    pub url: String,
    /// When the creation started.
    pub started_at: Timestamp,
    /// The number of earlier objects that can no longer be updated, because they were deleted or sent.
    pub serial: u32,
    /// The exported version of the email.
    pub version: u32,
    pub exported_at: Timestamp,
}

impl Record for ExportedTemplate {}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ExportedImage {
    pub url: String,
}

impl Record for ExportedImage {}

/// Returns the digest that identifies the connected account on the platform.
pub fn digest(used: &Connection) -> AccountDigest {
    let name = format!("{}/{}", used.provider.word(), used.external_id);
    sha256(name.as_bytes())[..12].try_into().expect("a SHA-256 digest has at least 12 bytes")
}

pub fn template(tx: &impl Read, used: &Connection, email: EmailId, kind: TemplateKind) -> Result<Option<ExportedTemplate>> {
    tx.get(TEMPLATES, &(used.account, email, digest(used), kind as u8))
}

pub fn save_template(tx: &mut WriteTx<'_>, used: &Connection, email: EmailId, template: &ExportedTemplate) {
    tx.put(TEMPLATES, &(used.account, email, digest(used), template.kind as u8), template);
}

/// An object on a platform that an earlier export of an email created.
#[derive(Clone, Debug)]
pub struct EarlierExport {
    pub provider: Provider,
    pub kind: TemplateKind,
    pub name: String,
    pub url: String,
    pub version: u32,
    pub exported_at: Timestamp,
}

/// Returns up to `limit` objects on platforms that earlier exports of an email created.
pub fn earlier(tx: &impl Read, account: AccountId, email: EmailId, limit: usize) -> Result<Vec<EarlierExport>> {
    let rows = tx.list(TEMPLATES, &TEMPLATES.under(&(account, email)), Order::Forward, limit)?;
    let done = rows.into_iter().filter(|(_, row)| row.external_id.is_some());
    Ok(done
        .map(|(_, ExportedTemplate { provider, kind, name, url, version, exported_at, .. })| EarlierExport {
            provider,
            kind,
            name,
            url,
            version,
            exported_at,
        })
        .collect())
}

/// Returns the URL on the platform of an uploaded image. `content` is a digest of the image.
pub fn image(tx: &impl Read, used: &Connection, content: [u8; 12]) -> Result<Option<String>> {
    Ok(tx.get(IMAGES, &(used.account, digest(used), content))?.map(|image: ExportedImage| image.url))
}

pub fn save_image(tx: &mut WriteTx<'_>, used: &Connection, content: [u8; 12], url: String) {
    tx.put(IMAGES, &(used.account, digest(used), content), &ExportedImage { url });
}
