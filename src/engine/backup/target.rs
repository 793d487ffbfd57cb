//! The target of a backup: a folder or an object store, and the encrypted objects in it.

use std::io::ErrorKind;
use std::path::{Path as FilePath, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use futures_util::TryStreamExt;
use object_store::aws::{AmazonS3Builder, AmazonS3ConfigKey};
use object_store::azure::MicrosoftAzureBuilder;
use object_store::gcp::GoogleCloudStorageBuilder;
use object_store::local::LocalFileSystem;
use object_store::path::Path;
use object_store::{BackoffConfig, ClientOptions, ObjectStore, ObjectStoreExt, PutMode, PutOptions, PutPayload, RetryConfig};
use url::Url;

use super::{Error, Result};
use crate::base::random::Random;
use crate::engine::fetch::{Fetch, StorageConnector};
use crate::engine::store::seal::{KeyCheck, Seal};
use crate::vocab::limits;
use crate::vocab::settings::Backup;

/// The purpose for which the objects' key is derived from the master key. A new object format needs a new purpose.
const PURPOSE: &str = "mailmill continuous backup v1";

/// A folder, or a prefix in an object store, that contains a backup. Object names are relative to the folder or prefix.
#[derive(Clone)]
pub struct Target {
    store: Arc<dyn ObjectStore>,
    prefix: Path,
    shown: String,
    /// Whether the target needs an access key but none is set, so requests use the machine's role.
    lacks_key: bool,
}

impl Target {
    /// Opens the target at `url`: `s3://BUCKET/PREFIX`, `gs://BUCKET/PREFIX`, `az://CONTAINER/PREFIX`, or a folder. Sends no request.
    pub fn open(url: &str, settings: &Backup, fetch: &Arc<Fetch>) -> Result<Self> {
        let Some((scheme, place)) = url.split_once("://").filter(|(scheme, _)| *scheme != "file") else {
            return Self::folder(&PathBuf::from(url.strip_prefix("file://").unwrap_or(url)));
        };
        let (bucket, prefix) = place.split_once('/').unwrap_or((place, ""));
        let invalid = |reason: String| Error::Settings(format!("{url}: {reason}"));
        if bucket.is_empty() {
            return Err(invalid("the bucket name is missing; add it, as in s3://my-bucket/backups".to_owned()));
        }
        let prefix =
            Path::parse(prefix.trim_end_matches('/')).map_err(|error| invalid(format!("{error}; use another prefix")))?;
        let connector = StorageConnector::new(fetch.clone());
        let mut lacks_key = false;
        let store = match scheme {
            "s3" => {
                let builder = s3(bucket, settings, connector);
                lacks_key = builder.get_config_value(&AmazonS3ConfigKey::AccessKeyId).is_none();
                builder.build().map(|store| Arc::new(store) as Arc<dyn ObjectStore>)
            }
            "gs" => gcs(bucket, settings, connector),
            "az" => azure(bucket, settings, connector),
            _ => {
                return Err(invalid("use a URL that starts with s3://, gs:// or az://, or the full path of a folder".to_owned()));
            }
        };
        let store = store.map_err(|error| invalid(format!("{error}; check the settings under [backup]")))?;
        Ok(Self { store, prefix, shown: url.to_owned(), lacks_key })
    }

    /// Creates the folder of a target in the file system. Fails if the parent folder is missing, which can mean that a disk is not mounted.
    pub fn prepare(url: &str) -> Result<()> {
        let path = url.strip_prefix("file://").unwrap_or(url);
        if !path.starts_with('/') {
            return Ok(());
        }
        match std::fs::create_dir(path) {
            Err(error) if error.kind() == ErrorKind::AlreadyExists => Ok(()),
            Err(error) => {
                let parent = FilePath::new(path).parent().filter(|_| error.kind() == ErrorKind::NotFound);
                let cause = match parent {
                    Some(parent) => format!("the folder {} does not exist", parent.display()),
                    None => error.to_string(),
                };
                Err(Error::Folder { folder: path.to_owned(), cause })
            }
            Ok(()) => Ok(()),
        }
    }

    fn folder(path: &FilePath) -> Result<Self> {
        let invalid = |reason: &str| Error::Settings(format!("{}: {reason}", path.display()));
        if !path.is_absolute() {
            return Err(invalid("this path is relative; enter the full path of the folder"));
        }
        let opened = LocalFileSystem::new_with_prefix(path);
        let opened = opened.map_err(|error| invalid(&format!("{error}; check that the folder exists and is accessible")))?;
        let store = opened.with_fsync(true);
        Ok(Self { store: Arc::new(store), prefix: Path::default(), shown: path.display().to_string(), lacks_key: false })
    }

    /// Returns the URL or the path of the target. Neither contains credentials.
    pub fn shown(&self) -> &str {
        &self.shown
    }

    fn failed(&self, object: &str, error: &object_store::Error) -> Error {
        let mut cause = error.to_string();
        // Shorten the message: for a refused request, it quotes the whole response, which can be a page of XML.
        if let Some((at, _)) = cause.char_indices().nth(limits::LOG_LINE_CHARACTERS_MAX) {
            cause.truncate(at);
        }
        let mut cause = cause.replace('\n', " ").trim_end_matches(['.', ' ']).to_owned();
        if self.lacks_key {
            cause.push_str(
                ". No access key is set, so the request used the role of this machine. If the machine has no role, set \
                 MAILMILL_BACKUP__ACCESS_KEY and MAILMILL_BACKUP__SECRET_KEY",
            );
        }
        cause.push_str(match self.shown.starts_with('/') {
            true => ". Check the folder's permissions, its free space and its disk",
            false => {
                ". Check the connection to the target, and the credentials under [backup] in the settings and their permissions"
            }
        });
        Error::Target { object: object.to_owned(), cause }
    }

    fn path(&self, object: &str) -> Path {
        let parts = object.split('/').map(object_store::path::PathPart::from);
        self.prefix.parts().chain(parts).collect()
    }

    /// Creates an object. Returns false if the object already exists.
    pub async fn create(&self, object: &str, content: Bytes) -> Result<bool> {
        let options = PutOptions::from(PutMode::Create);
        match self.store.put_opts(&self.path(object), content.into(), options).await {
            Ok(_) => Ok(true),
            Err(object_store::Error::AlreadyExists { .. } | object_store::Error::Precondition { .. }) => Ok(false),
            Err(error) => Err(self.failed(object, &error)),
        }
    }

    pub async fn replace(&self, object: &str, content: Bytes) -> Result<()> {
        let put = self.store.put(&self.path(object), PutPayload::from(content)).await;
        put.map(drop).map_err(|error| self.failed(object, &error))
    }

    pub async fn get(&self, object: &str) -> Result<Option<Bytes>> {
        let got = match self.store.get(&self.path(object)).await {
            Ok(got) => got,
            Err(object_store::Error::NotFound { .. }) => return Ok(None),
            Err(error) => return Err(self.failed(object, &error)),
        };
        if got.meta.size > limits::BACKUP_OBJECT_BYTES_MAX as u64 {
            return Err(Error::Damaged { object: object.to_owned(), found: "it is too large".to_owned() });
        }
        got.bytes().await.map(Some).map_err(|error| self.failed(object, &error))
    }

    /// Returns the names of all objects in the folder `folder`, sorted.
    pub async fn list(&self, folder: &str) -> Result<Vec<String>> {
        self.list_up_to(folder, limits::BACKUP_OBJECTS_MAX).await
    }

    async fn list_up_to(&self, folder: &str, objects_max: usize) -> Result<Vec<String>> {
        let place = self.path(folder);
        let mut found = self.store.list(Some(&place));
        let mut names = Vec::new();
        while let Some(meta) = found.try_next().await.map_err(|error| self.failed(folder, &error))? {
            if names.len() >= objects_max {
                return Err(Error::TooManyObjects { folder: folder.to_owned(), objects_max });
            }
            let Some(rest) = meta.location.prefix_match(&self.prefix) else { continue };
            let parts: Vec<_> = rest.map(|part| part.as_ref().to_owned()).collect();
            names.push(parts.join("/"));
        }
        names.sort();
        Ok(names)
    }

    /// Deletes an object; an object that does not exist is not an error.
    pub async fn delete(&self, object: &str) -> Result<()> {
        match self.store.delete(&self.path(object)).await {
            Ok(()) | Err(object_store::Error::NotFound { .. }) => Ok(()),
            Err(error) => Err(self.failed(object, &error)),
        }
    }
}

/// A target whose objects are sealed with a key that is derived from the master key.
pub struct SealedTarget {
    pub target: Target,
    seal: Arc<Seal>,
    key_check: KeyCheck,
    random: Arc<dyn Random>,
}

impl SealedTarget {
    pub fn new(target: Target, master: &Seal, random: Arc<dyn Random>) -> Self {
        let seal = Arc::new(Seal::from_key(&master.derive(PURPOSE)));
        Self { target, seal, key_check: master.check_value(), random }
    }

    pub fn key_check(&self) -> &KeyCheck {
        &self.key_check
    }

    pub fn random(&self) -> &dyn Random {
        self.random.as_ref()
    }

    /// Seals `content` and binds it to its place `object` in the target. Large content takes a while, so this runs on a thread that may
    /// block.
    async fn sealed(&self, object: &str, content: Vec<u8>) -> Bytes {
        let (seal, random, place) = (self.seal.clone(), self.random.clone(), object.to_owned());
        let sealing = tokio::task::spawn_blocking(move || seal.seal(place.as_bytes(), &content, random.as_ref()));
        sealing.await.expect("sealing does not panic").into()
    }

    /// Writes a new object, reads it back and compares it. Returns the size of the object, or `None` if a different object already
    /// exists. A new object that differs from what was written is deleted.
    pub async fn create_verified(&self, object: &str, content: Vec<u8>) -> Result<Option<u64>> {
        let sealed = self.sealed(object, content).await;
        let is_new = self.target.create(object, sealed.clone()).await?;
        match self.target.get(object).await? {
            // An object that already exists may have been written by this call: if the response to the first request was
            // lost, the client repeated the request.
            Some(there) if there == sealed => Ok(Some(sealed.len() as u64)),
            Some(_) if !is_new => Ok(None),
            there => {
                self.target.delete(object).await?;
                let found =
                    if there.is_some() { "the stored object differs from what was written" } else { "the object was not stored" };
                Err(Error::Target { object: object.to_owned(), cause: format!("{found}. Check the storage of the target") })
            }
        }
    }

    /// Like [`SealedTarget::create_verified`], but retries after failures of the target. An object that already exists was written by an
    /// earlier attempt and is replaced.
    pub async fn write_persistently(&self, object: &str, content: Vec<u8>) -> Result<u64> {
        let mut pause = limits::BACKUP_RETRY_MIN;
        for attempt in 1.. {
            match self.create_verified(object, content.clone()).await {
                Ok(Some(bytes)) => return Ok(bytes),
                Err(error) if attempt >= limits::BACKUP_PART_ATTEMPTS => return Err(error),
                Ok(None) if attempt >= limits::BACKUP_PART_ATTEMPTS => {
                    return Err(written_by_another(object));
                }
                Ok(None) => self.target.delete(object).await?,
                Err(error) => {
                    tracing::debug!(%error, attempt, "an object could not be written");
                    tokio::time::sleep(pause).await;
                    pause = (pause * 2).min(limits::BACKUP_RETRY_MAX);
                }
            }
        }
        unreachable!("the last attempt returns")
    }

    pub async fn replace(&self, object: &str, content: Vec<u8>) -> Result<()> {
        let sealed = self.sealed(object, content).await;
        self.target.replace(object, sealed).await
    }

    /// Reads and decrypts an object; returns `None` if the object does not exist.
    pub async fn get(&self, object: &str) -> Result<Option<Vec<u8>>> {
        let Some(sealed) = self.target.get(object).await? else { return Ok(None) };
        let (seal, place) = (self.seal.clone(), object.to_owned());
        let opening = tokio::task::spawn_blocking(move || seal.open(place.as_bytes(), &sealed));
        let opened = opening.await.expect("opening a seal does not panic");
        let damaged = || Error::Damaged {
            object: object.to_owned(),
            found: "the seal does not match the content, name and key of the object".to_owned(),
        };
        opened.map(Some).ok_or_else(damaged)
    }

    /// Like [`SealedTarget::get`], for an object that must exist.
    pub async fn require(&self, object: &str) -> Result<Vec<u8>> {
        let missing = || Error::Damaged { object: object.to_owned(), found: "it is missing".to_owned() };
        self.get(object).await?.ok_or_else(missing)
    }
}

/// Returns the error for an object that this server must write but that another server has already written.
pub fn written_by_another(object: &str) -> Error {
    let cause =
        "another server wrote this object. Stop that server, or set backup.url to another prefix for this server".to_owned();
    Error::Target { object: object.to_owned(), cause }
}

fn retry() -> RetryConfig {
    RetryConfig {
        backoff: BackoffConfig { init_backoff: Duration::from_millis(100), max_backoff: Duration::from_secs(2), base: 2.0 },
        max_retries: limits::BACKUP_REQUEST_RETRIES,
        retry_timeout: limits::BACKUP_REQUEST_TIME,
    }
}

/// Returns whether the operator has set an endpoint that uses HTTP without TLS.
fn is_plain(settings: &Backup) -> bool {
    settings.endpoint.as_deref().and_then(|endpoint| Url::parse(endpoint).ok()).is_some_and(|url| url.scheme() == "http")
}

fn s3(bucket: &str, settings: &Backup, connector: StorageConnector) -> AmazonS3Builder {
    // The environment variables of the process can also contain credentials, such as those for the machine's role.
    let mut builder = AmazonS3Builder::from_env()
        .with_bucket_name(bucket)
        .with_http_connector(connector)
        .with_retry(retry())
        .with_virtual_hosted_style_request(!settings.path_style)
        .with_client_options(ClientOptions::new().with_allow_http(is_plain(settings)));
    if let Some(endpoint) = &settings.endpoint {
        builder = builder.with_endpoint(endpoint);
    }
    if let Some(region) = &settings.region {
        builder = builder.with_region(region);
    }
    if let (Some(id), Some(secret)) = (&settings.access_key, &settings.secret_key) {
        builder = builder.with_access_key_id(id).with_secret_access_key(secret.expose());
    }
    builder
}

fn gcs(bucket: &str, settings: &Backup, connector: StorageConnector) -> object_store::Result<Arc<dyn ObjectStore>> {
    let mut builder =
        GoogleCloudStorageBuilder::from_env().with_bucket_name(bucket).with_http_connector(connector).with_retry(retry());
    if let Some(endpoint) = &settings.endpoint {
        builder = builder.with_base_url(endpoint).with_client_options(ClientOptions::new().with_allow_http(is_plain(settings)));
    }
    if let Some(file) = &settings.credentials_file {
        builder = builder.with_service_account_path(file.display().to_string());
    }
    Ok(Arc::new(builder.build()?))
}

fn azure(container: &str, settings: &Backup, connector: StorageConnector) -> object_store::Result<Arc<dyn ObjectStore>> {
    let mut builder = MicrosoftAzureBuilder::from_env()
        .with_container_name(container)
        .with_http_connector(connector)
        .with_retry(retry())
        .with_allow_http(is_plain(settings));
    if let Some(endpoint) = &settings.endpoint {
        builder = builder.with_endpoint(endpoint.clone());
    }
    if let (Some(account), Some(key)) = (&settings.access_key, &settings.secret_key) {
        builder = builder.with_account(account).with_access_key(key.expose());
    }
    Ok(Arc::new(builder.build()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failed_request_without_an_access_key_names_the_variables() {
        let folder = tempfile::tempdir().expect("a temporary folder can be created");
        let folder = Target::folder(folder.path()).expect("the folder exists");
        let target = Target { shown: "s3://bucket".into(), ..folder };
        let message = |target: &Target| {
            let refused = object_store::Error::Generic { store: "S3", source: "403\nForbidden".into() };
            target.failed("epochs", &refused).to_string()
        };
        assert!(message(&target).contains("403 Forbidden. Check the connection"), "{}", message(&target));
        let target = Target { lacks_key: true, ..target };
        assert!(
            message(&target).contains("set MAILMILL_BACKUP__ACCESS_KEY and MAILMILL_BACKUP__SECRET_KEY"),
            "{}",
            message(&target)
        );
    }
    // In an earlier version, too many objects were reported as a failure of the target, so the restore of a brand was retried without
    // success.
    #[tokio::test]
    async fn a_folder_with_too_many_objects_is_an_error_of_its_own() {
        let folder = tempfile::tempdir().expect("a temporary folder can be created");
        let target = Target::folder(folder.path()).expect("the folder exists");
        for object in ["log/1", "log/2", "log/3"] {
            target.create(object, Bytes::new()).await.expect("the folder can be written");
        }
        assert_eq!(target.list_up_to("log", 3).await.map(|names| names.len()), Ok(3));
        let error = target.list_up_to("log", 2).await.expect_err("the folder has three objects");
        assert_eq!(error, Error::TooManyObjects { folder: "log".to_owned(), objects_max: 2 });
    }
}
