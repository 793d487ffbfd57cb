//! Tests with a third-party server, if this machine has one.

use std::fs;
use std::net::{SocketAddr, TcpStream};
use std::os::unix::fs::MetadataExt;
use std::process::{Child, Command};

use futures_util::future::join_all;

use super::*;
use crate::testing::ports::free_address;

/// Postfix's test server. It cannot choose a free port itself, so the test finds one.
const PROGRAM: &str = "/usr/sbin/smtp-sink";

struct SmtpSink {
    child: Child,
    address: SocketAddr,
}

impl SmtpSink {
    fn start(options: &[&str]) -> Option<Self> {
        if !Path::new(PROGRAM).exists() {
            return None;
        }
        let address = free_address();
        let mut command = Command::new(PROGRAM);
        // The test server refuses to run as root.
        if fs::metadata("/proc/self").is_ok_and(|own| own.uid() == 0) {
            command.args(["-u", "nobody"]);
        }
        command.args(options).arg(address.to_string()).arg("100");
        Some(Self { child: command.spawn().expect("the server starts"), address })
    }
}

impl Drop for SmtpSink {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Postfix's test client.
const CLIENT: &str = "/usr/sbin/smtp-source";

#[tokio::test]
async fn a_third_party_client_understands_the_sink_of_these_tests() {
    if !Path::new(CLIENT).exists() {
        return;
    }
    let anywhere = "127.0.0.1:0".parse().expect("the address is valid");
    let sink = MailSink::at(anywhere, SinkCapabilities::default(), false, |_, _| SinkAction::Usual);
    let address = sink.address.to_string();
    let sent = Command::new(CLIENT).args(["-m", "200", "-s", "4", "-l", "5000", &address]).status().expect("the client starts");
    assert!(sent.success());
    let messages = sink.messages();
    assert_eq!((messages.len(), sink.open_max()), (200, 4));
    let sums: std::collections::HashSet<u64> = messages.iter().map(|c| c.sum).collect();
    assert!(sums.len() > 1, "the messages differ in their Message-ID");
    assert!(messages.iter().all(|c| !c.message_id.is_empty() && c.bytes >= 5000 && c.body.is_empty()));
}

#[tokio::test]
async fn a_third_party_server_understands_us() {
    for (options, expected) in [
        (&[][..], "accepted: 250"),
        (&["-e"], "accepted: 250"),
        (&["-p"], "accepted: 250"),
        (&["-8"], "accepted: 250"),
        (&["-r", "rcpt"], "deferred at Recipient: 450"),
        (&["-f", "rcpt"], "refused at Recipient: 500"),
        (&["-r", "."], "deferred at Dot: 450"),
        (&["-f", "."], "refused at Dot: 500"),
        (&["-q", "."], "unknown: lost"),
        (&["-Q", "mail"], "deferred at Sender: 421"),
        (&["-q", "data"], "deferred at Data: lost"),
    ] {
        let Some(server) = SmtpSink::start(options) else { return };
        until(|| TcpStream::connect(server.address).is_ok()).await;
        let mail = format!("relay = ['smtp://{}']", server.address);
        let transport = transport_with(&mail, Names::default(), patient(), Vec::new(), 25);
        let results = join_all((0..40).map(|_| deliver(&transport, "ana@example.com"))).await;
        assert!(results.iter().all(|(outcome, _)| outcome == expected), "{options:?}: {results:?}");
    }
}
