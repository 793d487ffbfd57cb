//! Tests returned mail on the shipped server: by SMTP from other servers, and with the command to which mail servers pipe messages.

use std::io::{BufRead, BufReader, Write};
use std::net::TcpStream;
use std::time::Duration;

use super::support::Server;
use super::support::server::BOUNDLESS;

const REPORT: &str = "From: fbl@isp.example\r\nTo: fbl@mill.example\r\nSubject: x\r\n\r\nNothing of ours.\r\n";

fn exit_code(server: &Server, recipient: &str) -> Option<i32> {
    server.run_with_input(&["inbound", "--sender", "", recipient], REPORT.as_bytes()).status.code()
}

#[tokio::test]
async fn the_command_reports_the_result_with_the_exit_codes_of_mail_servers() {
    let mut server = Server::start(BOUNDLESS);
    assert_eq!(exit_code(&server, "fbl@mill.example"), Some(0));
    assert_eq!(exit_code(&server, "root@mill.example"), Some(67));
    assert_eq!(exit_code(&server, "b+aefk3m2qz7x4w5yhbn6tcrd2jsvgl3upoi5kq7aeyz4m@mill.example"), Some(67), "no token of ours");
    server.signal("TERM");
    assert!(server.wait().success());
    assert_eq!(exit_code(&server, "fbl@mill.example"), Some(75));
}

#[tokio::test]
async fn other_servers_can_deliver_mail_only_for_our_addresses_and_over_tls() {
    let server = Server::start(&format!("{BOUNDLESS}\n[mail]\ninbound = \"127.0.0.1:0\"\nhello_name = \"mx.mill.example\"\n"));
    let mut stream = TcpStream::connect(server.inbound()).expect("it listens");
    stream.set_read_timeout(Some(Duration::from_secs(120))).expect("a time limit");
    let mut replies = BufReader::new(stream.try_clone().expect("a second handle"));
    let mut say = |command: &str| {
        stream.write_all(command.as_bytes()).expect("sent");
        let mut reply = String::new();
        while reply.lines().last().is_none_or(|line| line.as_bytes().get(3) == Some(&b'-')) {
            assert_ne!(replies.read_line(&mut reply).expect("an answer"), 0, "{reply}");
        }
        reply
    };
    assert_eq!(say(""), "220 mx.mill.example ESMTP\r\n");
    let offers = say("EHLO isp.example\r\n");
    assert!(offers.contains("250-STARTTLS\r\n") && offers.contains("250-SIZE 10485760\r\n"), "{offers}");
    assert!(say("MAIL FROM:<>\r\n").starts_with("250 "));
    assert!(say("RCPT TO:<root@mill.example>\r\n").starts_with("550 "));
    assert!(say("RCPT TO:<FBL@mill.example>\r\n").starts_with("250 "));
    assert!(say("DATA\r\n").starts_with("354 "));
    assert!(say(&format!("{REPORT}.\r\n")).starts_with("250 "));
    assert!(say("QUIT\r\n").starts_with("221 "));
}

#[tokio::test]
async fn the_log_says_how_many_connections_bring_mail_and_from_where() {
    let settings = BOUNDLESS.replace("level = \"warn\"", "level = \"info\"");
    for (more, expected) in [
        ("[mail]\ninbound = \"127.0.0.1:0\"\n", "inbound=128 inbound_from=\"mail servers\""),
        ("", "inbound=16 inbound_from=\"the local socket only\""),
    ] {
        let mut server = Server::stopped(&format!("{settings}\n{more}"));
        server.limit_descriptors(2_048, 2_048);
        server.serve();
        assert!(server.log().contains(expected), "{expected}: {}", server.log());
    }
}
