//! The continuous backup to Google Cloud Storage and to Azure Blob Storage, whose requests `support/blobs.py` imitates. The tests of
//! `continuous_backup.rs` use S3.

use std::fs;
use std::net::{SocketAddr, TcpStream};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use super::continuous_backup::{Vault, catch_up, compare};
use super::installation::said;
use super::support::server::BOUNDLESS;
use super::support::{Server, free_address, python_with};

const PATIENCE: Duration = Duration::from_secs(300);
const LOOK: Duration = Duration::from_millis(50);
const CONTACTS: usize = 30;
const ACCOUNT: &str = "account";
/// The keys of a storage account are base64.
const KEY: &str = "a2V5IG9mIHRoZSBzdG9yYWdlIGFjY291bnQ=";

/// A running object store.
struct Blobs {
    child: Child,
    address: SocketAddr,
}

impl Blobs {
    /// Starts Google Cloud Storage, or with an account Azure Blob Storage; `None`, with a note, without Python.
    fn start(account: &[&str]) -> Option<Self> {
        let python = python_with("http.server")?;
        let address = free_address();
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/support/blobs.py");
        let mut command = Command::new(python);
        command.arg(script).arg(address.port().to_string()).args(account).stdin(Stdio::null());
        let blobs = Self { child: command.spawn().expect("Python starts"), address };
        let tries = PATIENCE.as_millis() / LOOK.as_millis();
        let is_up = (0..tries).any(|_| {
            std::thread::sleep(LOOK);
            TcpStream::connect(address).is_ok()
        });
        assert!(is_up, "the object store accepts connections");
        Some(blobs)
    }
}

impl Drop for Blobs {
    fn drop(&mut self) {
        // The process may have ended already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Backs up a server to this URL and restores it.
async fn back_up_and_restore(url: &str, settings: &str) {
    let settings = format!("{BOUNDLESS}\n[backup]\nurl = \"{url}\"\ninterval_seconds = 1\ndrill_days = 0\n{settings}");
    let mut server = Server::start(&settings);
    let client = server.client("live", "all");
    let project = client.project("targets").await;
    for number in 0..CONTACTS {
        client.contact(&project, &format!("n{number}@example.com")).await;
    }
    catch_up(&client).await;
    // A second start of the server continues the backup.
    server.signal("TERM");
    assert!(server.wait().success(), "{}", server.log());
    server.serve();
    let client = server.client("live", "all");
    client.contact(&project, "last@example.com").await;
    catch_up(&client).await;
    let vault = Vault::new(&server, url.to_owned());
    server.signal("TERM");
    assert!(server.wait().success(), "{}", server.log());
    let rows = compare(&server.data(), &vault.restore(&server, &[]));
    assert!(rows > CONTACTS, "{rows}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn google_cloud_storage_is_a_target() {
    let Some(blobs) = Blobs::start(&[]) else { return };
    let (folder, address) = (tempfile::tempdir().expect("a temporary folder"), blobs.address);
    let key = folder.path().join("key.json");
    let service_account = format!(
        "{{\"gcs_base_url\": \"http://{address}\", \"disable_oauth\": true, \"client_email\": \"\", \"private_key\": \"\", \
         \"private_key_id\": \"\"}}"
    );
    fs::write(&key, service_account).expect("the file can be written");
    let settings = format!("endpoint = \"http://{address}\"\ncredentials_file = \"{}\"\n", key.display());
    back_up_and_restore("gs://backups/one", &settings).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn azure_blob_storage_is_a_target_and_refuses_a_wrong_key() {
    let Some(blobs) = Blobs::start(&[ACCOUNT, KEY]) else { return };
    let with_key =
        |key: &str| format!("endpoint = \"http://{}\"\naccess_key = \"{ACCOUNT}\"\nsecret_key = \"{key}\"\n", blobs.address);
    back_up_and_restore("az://backups/one", &with_key(KEY)).await;
    let wrong = with_key("d3Jvbmc=");
    let server = Server::start(&format!("{BOUNDLESS}\n[backup]\nurl = \"az://backups/two\"\ninterval_seconds = 1\n{wrong}"));
    let mut findings = String::new();
    for _ in 0..PATIENCE.as_millis() / LOOK.as_millis() {
        findings = said(&server.run(&["doctor"]));
        if findings.contains("credentials") {
            break;
        }
        std::thread::sleep(LOOK);
    }
    assert!(findings.contains("PROBLEM  backup") && findings.contains("credentials"), "{findings}");
    assert!(!findings.contains("d3Jvbmc=") && !server.log().contains("d3Jvbmc="), "the key is not shown");
}
