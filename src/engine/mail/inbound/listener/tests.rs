//! Tests the listener over real sockets, with well-behaved and badly behaved clients.

use std::net::SocketAddr;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use rustls::pki_types::{PrivateKeyDer, PrivatePkcs8KeyDer, ServerName};
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::{TcpSocket, TcpStream};
use tokio::time::Instant;
use tokio_rustls::{TlsAcceptor, TlsConnector};

use super::connection::Stream;
use super::{HandlerResult, Handling, Listener, MailHandler, Options, ReceivedMessage, bind};
use crate::engine::tasks::{Stage, Tasks};
use crate::vocab::limits;

const WANTED: &str = "b+token@bounces.acme.example";

/// A handler that keeps received messages and responds as configured.
struct RecordingHandler {
    kept: Mutex<Vec<ReceivedMessage>>,
    answer: Mutex<HandlerResult>,
}

impl MailHandler for RecordingHandler {
    fn wants(&self, recipient: &str) -> bool {
        recipient.starts_with("b+") && recipient.ends_with("@bounces.acme.example")
    }

    fn take(&self, mail: ReceivedMessage) -> Handling {
        let answer = *self.answer.lock().expect("no holder of this lock panics");
        if answer == HandlerResult::Durable {
            self.kept.lock().expect("no holder of this lock panics").push(mail);
        }
        Box::pin(std::future::ready(answer))
    }
}

struct House {
    listener: Arc<Listener>,
    handler: Arc<RecordingHandler>,
    tasks: Tasks,
}

impl House {
    async fn open(options: Options) -> Self {
        let handler = Arc::new(RecordingHandler { kept: Mutex::default(), answer: Mutex::new(HandlerResult::Durable) });
        let tasks = Tasks::new(tokio::runtime::Handle::current());
        let local: SocketAddr = "127.0.0.1:0".parse().expect("the address is valid");
        let options = Options { smtp: Some(local), lmtp: Some(local), host: "mail.mill.example".into(), ..options };
        let listener = Arc::new(bind(options, handler.clone(), &tasks).await.expect("the listener is bound"));
        let running = listener.clone();
        tasks.spawn("inbound mail", async move { _ = running.run(Duration::from_secs(30)).await });
        Self { listener, handler, tasks }
    }

    async fn smtp(&self) -> Client<TcpStream> {
        Client::connect(self.listener.smtp.expect("the listener is bound")).await
    }

    fn kept(&self) -> Vec<ReceivedMessage> {
        self.handler.kept.lock().expect("no holder of this lock panics").clone()
    }
}

struct Client<S> {
    stream: BufReader<S>,
}

impl Client<TcpStream> {
    async fn connect(address: SocketAddr) -> Self {
        Self::connect_from([127, 0, 0, 1], address).await
    }

    /// Connects to the listener from this address of the loopback network.
    async fn connect_from(source: [u8; 4], address: SocketAddr) -> Self {
        let socket = TcpSocket::new_v4().expect("the socket can be created");
        socket.bind((source, 0).into()).expect("the address belongs to this machine");
        let mut client = Self { stream: BufReader::new(socket.connect(address).await.expect("the client can connect")) };
        let greeting = client.reply().await;
        assert!(greeting.starts_with("220 mail.mill.example "), "{greeting}");
        client
    }
}

impl<S: Stream> Client<S> {
    async fn send(&mut self, bytes: &[u8]) {
        self.stream.get_mut().write_all(bytes).await.expect("the client can send");
        self.stream.get_mut().flush().await.expect("the client can send");
    }

    /// Returns the last line of the next reply; empty if the connection has ended.
    async fn reply(&mut self) -> String {
        loop {
            let mut line = String::new();
            let read = tokio::time::timeout(Duration::from_secs(30), self.stream.read_line(&mut line))
                .await
                .expect("the server replies in time");
            if read.unwrap_or(0) == 0 || line.as_bytes().get(3) != Some(&b'-') {
                return line;
            }
        }
    }

    async fn say(&mut self, command: &str) -> String {
        self.send(format!("{command}\r\n").as_bytes()).await;
        self.reply().await
    }

    /// Sends all commands that precede the message itself.
    async fn begin(&mut self) {
        for command in ["EHLO there.example", "MAIL FROM:<>", &format!("RCPT TO:<{WANTED}>")] {
            let reply = self.say(command).await;
            assert!(reply.starts_with("250 "), "{command}: {reply}");
        }
        assert!(self.say("DATA").await.starts_with("354 "));
    }

    async fn is_over(&mut self) -> bool {
        let mut rest = Vec::new();
        tokio::time::timeout(Duration::from_secs(30), self.stream.read_to_end(&mut rest)).await.is_ok_and(|read| read.is_ok())
    }
}

#[tokio::test]
async fn a_message_is_accepted_unchanged_and_acknowledged_once_durable() {
    let house = House::open(Options::default()).await;
    let mut client = house.smtp().await;
    client.begin().await;
    client.send(b"From: a@b.example\r\n\r\n..dots\r\n.\r\n").await;
    assert_eq!(client.reply().await, "250 2.0.0 Accepted\r\n");
    let peer = Some("127.0.0.1".parse().expect("the address is valid"));
    let bytes = b"From: a@b.example\r\n\r\n.dots\r\n".to_vec();
    assert_eq!(house.kept(), [ReceivedMessage { sender: String::new(), recipients: vec![WANTED.into()], bytes, peer }]);
    *house.handler.answer.lock().expect("no holder of this lock panics") = HandlerResult::Later;
    client.begin().await;
    client.send(b"x\r\n.\r\n").await;
    assert!(client.reply().await.starts_with("451 "));
    *house.handler.answer.lock().expect("no holder of this lock panics") = HandlerResult::Refused;
    client.begin().await;
    client.send(b"x\r\n.\r\n").await;
    assert!(client.reply().await.starts_with("554 "));
    assert!(client.say("QUIT").await.starts_with("221 "));
    assert_eq!(house.kept().len(), 1);
}

#[tokio::test]
async fn only_known_addresses_are_accepted_and_nothing_is_disclosed_about_others() {
    let house = House::open(Options::default()).await;
    let mut client = house.smtp().await;
    assert!(client.say("MAIL FROM:<a@b.example>").await.starts_with("503 "), "the client must greet first");
    client.say("EHLO there.example").await;
    assert!(client.say(&format!("RCPT TO:<{WANTED}>")).await.starts_with("503 "));
    client.say("MAIL FROM:<a@b.example>").await;
    for address in ["ada@acme.example", "postmaster@mill.example"] {
        assert!(client.say(&format!("RCPT TO:<{address}>")).await.starts_with("55"), "{address}");
    }
    assert!(client.say("DATA").await.starts_with("503 "));
    for command in ["VRFY root", "EXPN staff", "AUTH PLAIN AGEAYg==", "STARTTLS"] {
        assert!(client.say(command).await.starts_with("502 "), "{command}");
    }
    let last = loop {
        let reply = client.say("NONSENSE").await;
        if !reply.starts_with("500 ") {
            break reply;
        }
    };
    assert!(last.starts_with("421 ") && client.is_over().await, "{last}");
}

#[tokio::test]
async fn smuggled_messages_are_rejected_entirely() {
    let house = House::open(Options::default()).await;
    for smuggled in
        ["one\n.\r\nMAIL FROM:<x@y.example>\r\n.\r\n", "one\r\n.\nMAIL\r\n.\r\n", "one\r.\r\n.\r\n", "bare\nend\r\n.\r\n"]
    {
        let mut client = house.smtp().await;
        client.begin().await;
        client.send(smuggled.as_bytes()).await;
        assert!(client.reply().await.starts_with("550 5.6.11"), "{smuggled:?}");
    }
    let mut client = house.smtp().await;
    client.begin().await;
    client.send(b"one\r\n.\r\nMAIL FROM:<x@y.example>\r\n").await;
    assert!(
        client.reply().await.starts_with("554 5.5.0") && client.is_over().await,
        "a command sent before the reply is rejected"
    );
    let mut client = house.smtp().await;
    client.send(b"EHLO a.example\r\nMAIL FROM:<>\r\n").await;
    assert!(client.reply().await.starts_with("554 5.5.0") && client.is_over().await);
    let mut client = house.smtp().await;
    client.send(b"EHLO a.example\n").await;
    assert!(client.reply().await.starts_with("500 5.5.2") && client.is_over().await);
    assert_eq!(house.kept(), []);
}

#[tokio::test]
async fn excess_sizes_and_counts_are_rejected() {
    let house = House::open(Options::default()).await;
    let mut client = house.smtp().await;
    client.say("EHLO there.example").await;
    assert!(client.say(&format!("MAIL FROM:<> SIZE={}", limits::INBOUND_BYTES_MAX + 1)).await.starts_with("552 "));
    client.say("MAIL FROM:<>").await;
    for _ in 0..limits::INBOUND_RECIPIENTS_PER_MESSAGE_MAX {
        assert!(client.say(&format!("RCPT TO:<{WANTED}>")).await.starts_with("250 "));
    }
    assert!(client.say(&format!("RCPT TO:<{WANTED}>")).await.starts_with("452 "));
    assert!(client.say("DATA").await.starts_with("354 "));
    let line = [vec![b'x'; 1_022], b"\r\n".to_vec()].concat();
    for _ in 0..=limits::INBOUND_BYTES_MAX / line.len() {
        client.send(&line).await;
    }
    client.send(b".\r\n").await;
    assert!(client.reply().await.starts_with("552 "));
    assert!(client.say("NOOP").await.starts_with("250 "), "the session continues");
    client.send(&vec![b'x'; 3 * limits::INBOUND_LINE_BYTES_MAX]).await;
    assert!(client.reply().await.starts_with("500 5.5.2"));
    assert_eq!(house.kept(), []);
}

#[tokio::test]
async fn lmtp_replies_for_each_recipient() {
    let house = House::open(Options::default()).await;
    let mut client = Client::connect(house.listener.lmtp.expect("the listener is bound")).await;
    assert!(client.say("EHLO there.example").await.starts_with("500 "));
    client.say("LHLO there.example").await;
    client.say("MAIL FROM:<a@b.example>").await;
    client.say(&format!("RCPT TO:<{WANTED}>")).await;
    client.say("RCPT TO:<b+other@bounces.acme.example>").await;
    client.say("DATA").await;
    client.send(b"x\r\n.\r\n").await;
    assert!(client.reply().await.starts_with("250 ") && client.reply().await.starts_with("250 "));
    assert!(client.say("NOOP").await.starts_with("250 "));
    let kept = house.kept();
    assert_eq!((kept[0].recipients.len(), kept[0].peer), (2, None));
}

#[tokio::test]
async fn starttls_starts_tls_and_resets_the_session() {
    let made = rcgen::generate_simple_self_signed(vec!["mail.mill.example".into()]).expect("the certificate can be created");
    let key = PrivateKeyDer::Pkcs8(PrivatePkcs8KeyDer::from(made.signing_key.serialize_der()));
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = rustls::ServerConfig::builder_with_provider(provider.clone()).with_safe_default_protocol_versions();
    let config = config
        .expect("the TLS versions are supported")
        .with_no_client_auth()
        .with_single_cert(vec![made.cert.der().clone()], key);
    let acceptor = TlsAcceptor::from(Arc::new(config.expect("the certificate and key match")));
    let house = House::open(Options { tls: Some(acceptor), ..Options::default() }).await;

    let mut client = house.smtp().await;
    client.begin().await;
    client.send(b"x\r\n.\r\n").await;
    client.reply().await;
    client.say("MAIL FROM:<>").await;
    assert!(client.say("STARTTLS").await.starts_with("220 "));
    let mut roots = rustls::RootCertStore::empty();
    roots.add(made.cert.der().clone()).expect("the certificate is valid");
    let config = rustls::ClientConfig::builder_with_provider(provider).with_safe_default_protocol_versions();
    let connector = TlsConnector::from(Arc::new(
        config.expect("the TLS versions are supported").with_root_certificates(roots).with_no_client_auth(),
    ));
    let name = ServerName::try_from("mail.mill.example").expect("the server name is valid");
    let stream = connector.connect(name, client.stream.into_inner()).await.expect("the handshake succeeds");
    let mut client = Client { stream: BufReader::new(stream) };
    assert!(client.say(&format!("RCPT TO:<{WANTED}>")).await.starts_with("503 "), "the server discards the sender");
    client.begin().await;
    client.send(b"y\r\n.\r\n").await;
    assert!(client.reply().await.starts_with("250 "));
    assert!(client.say("STARTTLS").await.starts_with("502 "));
    assert_eq!(house.kept().len(), 2);

    // An attacker inserts a command before the TLS handshake. The server must not treat this command as if it arrived over TLS.
    let mut client = house.smtp().await;
    client.send(b"STARTTLS\r\nMAIL FROM:<>\r\n").await;
    assert!(client.reply().await.starts_with("554 ") && client.is_over().await);
}

#[tokio::test]
async fn the_local_socket_uses_lmtp_and_a_stop_ends_sessions() {
    let folder = tempfile::tempdir().expect("the folder can be created");
    let path = folder.path().join("inbound.sock");
    std::fs::write(&path, "left over").expect("the file can be written");
    let house = House::open(Options { socket: Some(path.clone()), ..Options::default() }).await;
    let stream = tokio::net::UnixStream::connect(&path).await.expect("the client can connect");
    let mut client = Client { stream: BufReader::new(stream) };
    assert!(client.reply().await.starts_with("220 mail.mill.example LMTP"));
    client.say("LHLO there.example").await;
    let House { tasks, .. } = house;
    tasks.raise(Stage::Draining);
    assert!(client.reply().await.starts_with("421 ") && client.is_over().await);
    assert_eq!(tasks.join(Duration::from_secs(30)).await.cut, Vec::<String>::new());
}

/// Sends a bounce from a separate client address, and returns how long this took.
async fn bounce(house: &House, number: u8, bytes: usize) -> Duration {
    let began = Instant::now();
    let mut client = Client::connect_from([127, 0, 3, number], house.listener.smtp.expect("the listener is bound")).await;
    client.begin().await;
    client.send("x".repeat(78).as_bytes()).await;
    for _ in 0..bytes / 80 {
        client.send(format!("\r\n{}", "x".repeat(78)).as_bytes()).await;
    }
    client.send(b"\r\n.\r\n").await;
    assert_eq!(client.reply().await, "250 2.0.0 Accepted\r\n");
    began.elapsed()
}

#[tokio::test]
async fn eight_addresses_with_their_maximum_of_connections_delay_no_bounce() {
    let all = 8 * limits::INBOUND_CONNECTIONS_PER_ADDRESS_MAX;
    let house = House::open(Options { connections: all, ..Options::default() }).await;
    let address = house.listener.smtp.expect("the listener is bound");
    let mut flood = Vec::new();
    for number in 0..all {
        let mut client = Client::connect_from([127, 0, 2, (number % 8) as u8], address).await;
        // Every third client is in the middle of a transaction.
        if number % 3 == 0 {
            client.say("EHLO there.example").await;
            client.say("MAIL FROM:<>").await;
        }
        flood.push(client);
    }
    for number in 1..=20 {
        let took = bounce(&house, number, 1_000).await;
        assert!(took < Duration::from_secs(1), "bounce {number} took {took:?}");
    }
    assert_eq!(house.kept().len(), 20);
}

#[tokio::test]
async fn endless_large_messages_block_no_bounce_and_none_in_progress_is_cut() {
    let house = House::open(Options { connections: 8, ..Options::default() }).await;
    let address = house.listener.smtp.expect("the listener is bound");
    let mut flood = Vec::new();
    for number in 0..6 {
        let mut client = Client::connect_from([127, 0, 2, number], address).await;
        client.begin().await;
        let line = format!("{}\r\n", "x".repeat(998));
        client.send(line.repeat(limits::INBOUND_BYTES_MAX / 1_000 - 10).as_bytes()).await;
        flood.push(client);
    }
    // The six messages use all the memory for large messages. Bounces arrive over the remaining two connections.
    for number in 1..=10 {
        bounce(&house, number, limits::INBOUND_SMALL_BYTES - 8_000).await;
    }
    assert_eq!(house.kept().len(), 10);
    // No message in progress was interrupted to make room for a bounce.
    let mut ends = 0;
    for client in &mut flood {
        client.send(b"\r\n.\r\n").await;
        let reply = client.reply().await;
        assert!(reply.starts_with("250 ") || reply.starts_with("452 "), "{reply}");
        ends += usize::from(reply.starts_with("250 "));
    }
    assert!((1..6).contains(&ends), "{ends} of 6 large messages fit into the memory there is for them");
}
