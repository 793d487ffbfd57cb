//! Tests of the administration socket.

use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use tokio::net::UnixStream;

use super::*;

fn admin(path: &Path) -> Options {
    Options { http: None, socket: Some(path.to_owned()), ..plain(Limits::default()) }
}

fn folder() -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().expect("a temporary folder can be created");
    let path = folder.path().join("data").join("admin.sock");
    (folder, path)
}

fn mode(path: &Path) -> u32 {
    std::fs::metadata(path).expect("the socket exists").permissions().mode() & 0o777
}

async fn ask(path: &Path) -> String {
    let mut stream = UnixStream::connect(path).await.expect("the server accepts the connection");
    stream.write_all(b"GET /peer HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n").await.expect("the server accepts the bytes");
    let mut bytes = Vec::new();
    tokio::time::timeout(PATIENCE, stream.read_to_end(&mut bytes))
        .await
        .expect("the server closes the connection in time")
        .expect("the response can be read to its end");
    String::from_utf8(bytes).expect("the response is UTF-8 text")
}

#[tokio::test]
async fn it_is_closed_to_others_and_its_caller_is_the_operator() {
    let (_folder, path) = folder();
    let fixture = start(admin(&path)).await;
    assert_eq!(fixture.running.addresses().socket.as_deref(), Some(path.as_path()));
    assert_eq!(mode(&path), 0o600);
    assert_eq!(mode(path.parent().expect("the path of the socket has a parent folder")), 0o700);
    assert!(ask(&path).await.ends_with("Operator"));
}

#[tokio::test]
async fn forwarding_headers_do_not_change_who_the_operator_is() {
    let (_folder, path) = folder();
    let mut options = admin(&path);
    options.proxy.behind_proxy = true;
    let _fixture = start(options).await;
    assert!(ask(&path).await.ends_with("Operator"));
}

#[tokio::test]
async fn its_file_is_removed_with_the_server() {
    let (_folder, path) = folder();
    let fixture = start(admin(&path)).await;
    fixture.running.drain(PATIENCE).await;
    assert!(!path.exists());
}

#[tokio::test]
async fn a_file_left_by_a_dead_process_is_replaced() {
    let (_folder, path) = folder();
    std::fs::create_dir(path.parent().expect("the path of the socket has a parent folder")).expect("the folder can be created");
    std::fs::set_permissions(
        path.parent().expect("the path of the socket has a parent folder"),
        std::fs::Permissions::from_mode(0o700),
    )
    .expect("the mode of the folder can be changed");
    drop(std::os::unix::net::UnixListener::bind(&path).expect("a listener can be bound to the socket"));
    let _fixture = start(admin(&path)).await;
    assert!(ask(&path).await.ends_with("Operator"));
}

#[tokio::test]
async fn the_socket_of_a_running_process_is_not_replaced() {
    let (_folder, path) = folder();
    let _fixture = start(admin(&path)).await;
    let error = try_start(admin(&path)).await.err().expect("the server does not start with these options").to_string();
    assert!(error.contains("another process is listening"), "{error}");
    assert!(ask(&path).await.ends_with("Operator"));
}

#[tokio::test]
async fn another_kind_of_file_is_not_removed() {
    let (_folder, path) = folder();
    start(admin(&path)).await.running.drain(PATIENCE).await;
    std::fs::write(&path, "precious").expect("the file can be written");
    assert!(try_start(admin(&path)).await.is_err());
    assert_eq!(std::fs::read_to_string(&path).expect("the file still exists"), "precious");
}

#[tokio::test]
async fn an_open_folder_is_refused_with_the_remedy() {
    let (folder, path) = folder();
    start(admin(&path)).await.running.drain(PATIENCE).await;
    std::fs::set_permissions(folder.path().join("data"), std::fs::Permissions::from_mode(0o755))
        .expect("the mode of the folder can be changed");
    let error = try_start(admin(&path)).await.err().expect("the server does not start with these options").to_string();
    assert!(error.contains("chmod 700"), "{error}");
}
