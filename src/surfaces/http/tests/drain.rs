//! Tests of the server's shutdown.

use super::*;
use crate::engine::tasks::Stage;

#[tokio::test]
async fn a_running_request_is_finished_and_an_idle_connection_closed() {
    let Fixture { running, service, .. } = start(plain(Limits::default())).await;
    let address = running.addresses().http.expect("the server listens on plain HTTP");
    let mut idle = connect(address).await;
    send(&mut idle, "GET / HTTP/1.1\r\nhost: a\r\n\r\n").await;
    answer(&mut idle).await;
    let mut busy = connect(address).await;
    send(&mut busy, "GET /held HTTP/1.1\r\nhost: a\r\n\r\n").await;
    until(|| service.requests.load(SeqCst) == 2).await;

    let drain = tokio::task::LocalSet::new();
    let drained = drain.run_until(async {
        let drained = tokio::task::spawn_local(running.drain(PATIENCE));
        assert_eq!(rest(&mut idle).await, "");
        // The server accepts no new connection while the old request runs.
        assert!(TcpStream::connect(address).await.is_err());
        service.release.notify_one();
        let last = rest(&mut busy).await;
        assert!(last.ends_with("held and let go") && last.contains("connection: close"), "{last}");
        drained.await.expect("draining does not panic")
    });
    assert_eq!(drained.await, DrainReport { finished: 2, cut: 0 });
}

#[tokio::test]
async fn a_request_that_outlasts_the_grace_is_cut() {
    let Fixture { running, service, .. } = start(plain(Limits::default())).await;
    let mut busy = connect(running.addresses().http.expect("the server listens on plain HTTP")).await;
    send(&mut busy, "GET /never HTTP/1.1\r\nhost: a\r\n\r\n").await;
    until(|| service.requests.load(SeqCst) == 1).await;
    assert_eq!(running.drain(Duration::from_millis(50)).await, DrainReport { finished: 0, cut: 1 });
    assert_eq!(rest(&mut busy).await, "");
}

#[tokio::test]
async fn a_second_signal_cuts_connections_immediately() {
    let Fixture { running, service, tasks, .. } = start(plain(Limits::default())).await;
    let mut busy = connect(running.addresses().http.expect("the server listens on plain HTTP")).await;
    send(&mut busy, "GET /never HTTP/1.1\r\nhost: a\r\n\r\n").await;
    until(|| service.requests.load(SeqCst) == 1).await;
    tasks.raise(Stage::Cut);
    let drained = tokio::time::timeout(PATIENCE, running.drain(Duration::from_secs(3600))).await;
    assert_eq!(drained.expect("draining ends immediately"), DrainReport { finished: 0, cut: 1 });
}

#[tokio::test]
async fn a_connection_without_a_request_does_not_delay_the_shutdown() {
    let limits = Limits { linger_time: Duration::from_millis(50), ..Limits::default() };
    let Fixture { running, .. } = start(plain(limits)).await;
    let address = running.addresses().http.expect("the server listens on plain HTTP");
    let _silent = connect(address).await;
    let mut half = connect(address).await;
    send(&mut half, "GET / HT").await;
    until(|| running.connections() == 2).await;
    let drained = tokio::time::timeout(PATIENCE, running.drain(Duration::from_secs(3600))).await;
    assert_eq!(drained.expect("draining ends in time"), DrainReport { finished: 2, cut: 0 });
}

#[tokio::test]
async fn dropping_the_server_ends_its_connections() {
    let Fixture { running, .. } = start(plain(Limits::default())).await;
    let mut stream = connect(running.addresses().http.expect("the server listens on plain HTTP")).await;
    send(&mut stream, "GET / HTTP/1.1\r\nhost: a\r\n\r\n").await;
    answer(&mut stream).await;
    drop(running);
    assert_eq!(rest(&mut stream).await, "");
}
