//! The tables of exported templates and images, and all access to them.
//!
//! The rows belong to the account on the platform, not to the connection: if a connection is removed and the same account is connected
//! again, its rows are kept.

use std::ops::ControlFlow;

use serde::{Deserialize, Serialize};

use crate::base::clock::Timestamp;
use crate::base::secret::sha256;
use crate::engine::store::{Order, Read, Record, Result, RowCheck, Table, WriteTx};
use crate::features::connections::model::{Connection, TemplateKind};
use crate::vocab::ids::{AccountId, EmailId};
use crate::vocab::providers::Provider;
use crate::vocab::tables;

/// A digest of a platform's name and an account's ID on the platform.
pub type AccountDigest = [u8; 12];

const TEMPLATES: Table<(AccountId, EmailId, AccountDigest, u8), ExportedTemplate> = Table::new(tables::EXPORTED_TEMPLATES);
const IMAGES: Table<(AccountId, AccountDigest, [u8; 12]), ExportedImage> = Table::new(tables::EXPORTED_IMAGES);

/// The checks that decode every row of these tables.
pub const ROW_CHECKS: &[RowCheck] = &[RowCheck::of(TEMPLATES), RowCheck::of(IMAGES)];

/// A template or draft that an export has created on a platform or is about to create.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ExportedTemplate {
    pub provider: Provider,
    pub kind: TemplateKind,
    pub name: String,
    /// The object's ID on the platform; `None` while it is not known whether a creation took effect.
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

/// A template or draft that an earlier export of an email created on a platform.
#[derive(Clone, Debug)]
pub struct EarlierExport {
    pub provider: Provider,
    pub kind: TemplateKind,
    pub name: String,
    pub url: String,
    pub version: u32,
    pub exported_at: Timestamp,
}

/// Returns up to `limit` templates and drafts that earlier exports of an email created on platforms.
pub fn earlier(tx: &impl Read, account: AccountId, email: EmailId, limit: usize) -> Result<Vec<EarlierExport>> {
    let mut found = Vec::new();
    tx.visit(TEMPLATES, &TEMPLATES.under(&(account, email)), Order::Forward, |_, row| {
        let ExportedTemplate { provider, kind, name, external_id, url, version, exported_at, .. } = row;
        // Objects whose creation may have failed are not listed, so they do not count toward the limit.
        if external_id.is_some() {
            found.push(EarlierExport { provider, kind, name, url, version, exported_at });
        }
        Ok(if found.len() < limit { ControlFlow::Continue(()) } else { ControlFlow::Break(()) })
    })?;
    Ok(found)
}

/// Returns an uploaded image's URL on the platform. `content` is a digest of the image.
pub fn image(tx: &impl Read, used: &Connection, content: [u8; 12]) -> Result<Option<String>> {
    Ok(tx.get(IMAGES, &(used.account, digest(used), content))?.map(|image: ExportedImage| image.url))
}

pub fn save_image(tx: &mut WriteTx<'_>, used: &Connection, content: [u8; 12], url: String) {
    tx.put(IMAGES, &(used.account, digest(used), content), &ExportedImage { url });
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::store::Error;
    use crate::engine::store::testing::scratch;

    // Regression test: the limit was applied before the filter, so uncertain creations hid objects that exist.
    #[test]
    fn creations_without_a_known_result_do_not_hide_other_exports() {
        let (_folder, store) = scratch();
        let (account, email) = (AccountId::from_bytes([1; 12]), EmailId::from_bytes([2; 12]));
        let row = |name: &str, external_id: Option<&str>| ExportedTemplate {
            provider: Provider::Klaviyo,
            kind: TemplateKind::KlaviyoCode,
            name: name.to_owned(),
            external_id: external_id.map(str::to_owned),
            url: String::new(),
            started_at: Timestamp(1),
            serial: 0,
            version: 1,
            exported_at: Timestamp(1),
        };
        let rows = [row("uncertain", None), row("first", Some("1")), row("second", Some("2"))];
        let save = move |tx: &mut WriteTx<'_>| {
            for (number, row) in (1..).zip(&rows) {
                tx.put(TEMPLATES, &(account, email, [number; 12], row.kind as u8), row);
            }
            Ok::<_, Error>(())
        };
        store.write_blocking(save).expect("the store works").expect("the write succeeds");
        let names = |limit: usize| -> Vec<String> {
            let found = earlier(&store.read(), account, email, limit).expect("the store is readable");
            found.into_iter().map(|export| export.name).collect()
        };
        assert_eq!(names(1), ["first"]);
        assert_eq!(names(2), ["first", "second"]);
        assert_eq!(names(9), ["first", "second"]);
    }
}
