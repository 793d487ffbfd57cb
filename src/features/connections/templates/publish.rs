//! Creates the drafts of an export on a platform, or updates the objects that an earlier export created.
//!
//! Invariant: an object is created only after its row records that the creation has started. If the response is lost, this export or the
//! next one searches for the object by name before it creates another.

use tokio::time::timeout;

use super::images::{self, Uploaded};
use super::{Draft, PublishError, Remote, TemplatePort, hubspot, klaviyo, mailchimp, on_platform};
use crate::base::clock::Timestamp;
use crate::engine::api::{Context, EnvironmentData, Failure, Spec};
use crate::engine::store::{Error as StoreError, ReadTx, WriteTx};
use crate::features::connections::choice::{self, ConnectionChoice, choose, connect_url};
use crate::features::connections::client::Client;
use crate::features::connections::error::PlatformError;
use crate::features::connections::model::Connection;
use crate::features::connections::platform::export_scopes;
use crate::features::connections::store::exported::{self as store, ExportedTemplate};
use crate::vocab::codes::Code;
use crate::vocab::ids::EmailId;
use crate::vocab::limits;
use crate::vocab::providers::Provider;

/// The drafts that an export writes, and the connection that it uses.
pub struct Publication {
    pub choice: ConnectionChoice,
    pub drafts: Vec<Draft>,
    /// Whether the images are uploaded to the platform. Otherwise they stay where they are hosted.
    pub uploads_images: bool,
}

/// A template or draft that an export wrote to a platform.
#[derive(Debug)]
pub struct Published {
    pub email: EmailId,
    pub name: String,
    pub external_id: String,
    /// The URL of the object's page on the platform.
    pub url: String,
    pub is_new: bool,
    /// The URLs of the images that were not uploaded.
    pub left_images: Vec<String>,
}

/// Writes the drafts, and an audit row if at least one was written. Exports into the same account run one after another.
pub async fn publish(context: &Context, spec: &'static Spec, publication: Publication) -> Result<Vec<Published>, Failure> {
    let Publication { choice, drafts, uploads_images } = publication;
    let engine = context.engine.clone();
    let page = connect_url(&engine, context.caller.environment(), choice.provider);
    let mut used = context.read(move |tx: &ReadTx| choose(tx, choice, &page)).await?;
    let environment = context.caller.environment();
    let mut written = Vec::with_capacity(drafts.len());
    let mut is_renewed = false;
    let ended = loop {
        let work = async {
            let _turn = engine.key_locks.take(turn(&used)).await;
            let client = choice::client(&engine, environment, &mut used).await?;
            let place = Place { client: &client, data: context.data(), used: &used, now: context.now() };
            let done = written.len();
            for draft in &drafts[done..] {
                written.push(place.publish(draft.clone(), uploads_images).await?);
            }
            Ok(())
        };
        let mut ended: Result<(), PublishError> = timeout(limits::PROVIDER_EXPORT_TIME, work).await.unwrap_or_else(|_| {
            let late = format!("the export did not end within {} seconds", limits::PROVIDER_EXPORT_TIME.as_secs());
            Err(PublishError::Platform(PlatformError::Unavailable(late)))
        });
        let Err(PublishError::Platform(error)) = &mut ended else { break ended };
        if is_renewed || !choice::renewed(&engine, environment, &mut used, error).await {
            break ended;
        }
        is_renewed = true;
    };
    if !written.is_empty() {
        context.write(spec, |_| Ok(())).await?;
    }
    match ended {
        Ok(()) => Ok(written),
        Err(PublishError::Store(error)) => Err(error.into()),
        Err(PublishError::Platform(error)) => Err(failure(context, &used, error).await),
    }
}

/// Returns the key of the lock that makes exports into one account run one after another.
fn turn(used: &Connection) -> [u8; 13] {
    let mut key = [b'e'; 13];
    key[1..].copy_from_slice(&store::digest(used));
    key
}

async fn failure(context: &Context, used: &Connection, error: PlatformError) -> Failure {
    match &error {
        // The key may still work for imports, so the connection is not marked as rejected.
        PlatformError::Forbidden(said) => {
            let scopes: Vec<&str> = export_scopes(used.provider).iter().map(|(scope, _)| *scope).collect();
            let reason =
                if scopes.is_empty() { said.clone() } else { format!("{said}; exports need the scopes {}", scopes.join(", ")) };
            choice::reconnect(used, &reason, &connect_url(&context.engine, context.caller.environment(), used.provider))
        }
        PlatformError::Refused(_) => Failure::because(Code::NotExportable, format!("{}: {error}", used.provider)),
        _ => choice::failure(context, used, error).await,
    }
}

/// What is needed to write drafts to an account: the account's connection and client, the stored data, and the time.
struct Place<'p> {
    client: &'p Client<'p>,
    data: &'p EnvironmentData,
    used: &'p Connection,
    now: Timestamp,
}

impl Place<'_> {
    async fn publish(&self, mut draft: Draft, uploads_images: bool) -> Result<Published, PublishError> {
        let mut left_images = Vec::new();
        if uploads_images {
            let Uploaded { html, left } = images::upload(self.client, self.data, self.used, &draft.html).await?;
            (draft.html, left_images) = (html, left);
        }
        let known = store::template(&self.data.store.read(), self.used, draft.email, draft.kind)?;
        let is_known = known.as_ref().is_some_and(|known| known.external_id.is_some());
        let (remote, is_new) = match self.updated(&mut draft, known.as_ref()).await? {
            Some(remote) => (remote, !is_known),
            None => (self.created(&draft).await?, true),
        };
        let Remote { id, url } = remote;
        let row = ExportedTemplate { external_id: Some(id.clone()), url: url.clone(), ..self.row(&draft) };
        self.save(draft.email, row).await?;
        Ok(Published { email: draft.email, name: draft.name, external_id: id, url, is_new, left_images })
    }

    /// Updates the object of an earlier export; returns `None` if there is no such object, or if it was deleted or sent.
    async fn updated(&self, draft: &mut Draft, known: Option<&ExportedTemplate>) -> Result<Option<Remote>, PublishError> {
        let Some(known) = known else { return Ok(None) };
        draft.serial = known.serial;
        let id = match &known.external_id {
            Some(id) => Some(id.clone()),
            // The creation was interrupted. The object has the name in the row, which may differ from the draft's current name.
            None => self.find(&Draft { name: known.name.clone(), ..draft.clone() }, known.started_at).await?,
        };
        let Some(id) = id else { return Ok(None) };
        match self.update(draft, &id).await {
            Ok(remote) => Ok(Some(remote)),
            Err(PlatformError::Missing) => {
                draft.serial += u32::from(known.external_id.is_some());
                Ok(None)
            }
            Err(error) => Err(error.into()),
        }
    }

    /// Creates an object. If the response is lost, searches for the object by its name.
    async fn created(&self, draft: &Draft) -> Result<Remote, PublishError> {
        self.save(draft.email, self.row(draft)).await?;
        let mut attempt = 1;
        let id = loop {
            let client = self.client;
            match on_platform!(client, create(draft)) {
                Ok(id) => break id,
                Err(error) if error.is_uncertain() && attempt < limits::PROVIDER_ATTEMPTS_MAX => {
                    client.back_off(attempt).await;
                    if let Some(id) = self.find(draft, self.now).await? {
                        break id;
                    }
                    attempt += 1;
                }
                Err(error) => return Err(error.into()),
            }
        };
        // Store the ID before the object gets its content, so that the next export can update the object even if a failure here leaves it
        // without content.
        self.save(draft.email, ExportedTemplate { external_id: Some(id.clone()), ..self.row(draft) }).await?;
        Ok(self.update(draft, &id).await?)
    }

    async fn find(&self, draft: &Draft, started_at: Timestamp) -> Result<Option<String>, PlatformError> {
        let client = self.client;
        // The clocks of this server and of the platform can differ.
        let since = started_at.plus_ms(-limits::PROVIDER_EXPORT_CLOCK_MS);
        on_platform!(client, find(draft, since))
    }

    async fn update(&self, draft: &Draft, id: &str) -> Result<Remote, PlatformError> {
        let client = self.client;
        on_platform!(client, update(self.used, draft, id))
    }

    fn row(&self, draft: &Draft) -> ExportedTemplate {
        ExportedTemplate {
            provider: self.used.provider,
            kind: draft.kind,
            name: draft.name.clone(),
            external_id: None,
            url: String::new(),
            started_at: self.now,
            serial: draft.serial,
            version: draft.version,
            exported_at: self.now,
        }
    }

    async fn save(&self, email: EmailId, row: ExportedTemplate) -> Result<(), StoreError> {
        let used = self.used.clone();
        let saving = move |tx: &mut WriteTx<'_>| -> Result<(), StoreError> {
            store::save_template(tx, &used, email, &row);
            Ok(())
        };
        // The platform may already have the object, so its ID must be stored even if the disk is almost full.
        self.data.store.write_essential(saving).await?
    }
}
