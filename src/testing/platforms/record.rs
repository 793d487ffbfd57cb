//! Records the requests of all tests in a file, so that `tests/platforms/requests.py` can check them against the platforms' own API
//! descriptions.

use std::io::Write;

use serde_json::json;

use super::PlatformRequest;

/// Appends a request to the file named by the environment variable `RECORD_REQUESTS`, if it is set. Each line is a single write, so that
/// lines of concurrent tests do not mix. Keys are not recorded.
pub fn record(asked: &PlatformRequest, status: u16) {
    let Some(path) = std::env::var_os("RECORD_REQUESTS") else { return };
    let header = |name: &str| asked.headers.get(name).cloned().unwrap_or_default();
    let line = json!({
        "method": asked.method, "target": asked.target, "contentType": header("content-type"), "revision": header("revision"),
        "body": asked.body, "status": status,
    });
    let mut file = std::fs::OpenOptions::new().append(true).create(true).open(path).expect("the file can be written");
    file.write_all(format!("{line}\n").as_bytes()).expect("the file can be written");
}
