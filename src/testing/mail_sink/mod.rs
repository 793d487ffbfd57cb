//! A mail server for tests: it accepts mail like a real server, records each message before it replies, and misbehaves if a test asks for
//! it.
//!
//! It runs on a separate thread, so both synchronous and asynchronous tests can use it. `tests/it` also includes this folder.

mod conversation;

use std::net::SocketAddr;
use std::sync::{Arc, Mutex, MutexGuard};
use std::thread::{Builder, JoinHandle};
use std::time::Duration;

use rustls_pki_types::{CertificateDer, PrivateKeyDer};
use tokio::net::TcpListener;
use tokio::sync::Notify;
use tokio::task::JoinSet;
use tokio_rustls::TlsAcceptor;

/// The SMTP extensions that the server offers.
#[derive(Clone)]
pub struct SinkCapabilities {
    /// Whether the server supports EHLO.
    pub extensions: bool,
    pub pipelining: bool,
    pub eight_bit: bool,
    pub smtputf8: bool,
    pub size: Option<usize>,
    /// The mechanisms in the AUTH capability, such as `PLAIN LOGIN XOAUTH2`; empty for none.
    pub auth: &'static str,
    /// The accepted credentials in base64, as the client sends them: the initial response (PLAIN, XOAUTH2), or the user name and
    /// password separated by a space (LOGIN).
    pub logins: Vec<String>,
    /// The TLS acceptor for STARTTLS; `None` if the server does not offer STARTTLS.
    pub starttls: Option<TlsAcceptor>,
    /// The TLS acceptor for TLS from the first byte; `None` for connections that start without TLS.
    pub tls: Option<TlsAcceptor>,
}

impl Default for SinkCapabilities {
    fn default() -> Self {
        Self {
            extensions: true,
            pipelining: true,
            eight_bit: true,
            smtputf8: true,
            size: Some(10_000_000),
            auth: "",
            logins: Vec::new(),
            starttls: None,
            tls: None,
        }
    }
}

/// The stage of a session at which the server calls the script.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SmtpStage {
    Greeting,
    Hello,
    StartTls,
    Login,
    Sender,
    Recipient,
    Data,
    /// The first bytes of the message have arrived.
    Body,
    /// The final dot of the message has arrived.
    Dot,
    Reset,
    Quit,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SinkAction {
    /// Behaves like a real server.
    Usual,
    /// Waits, then behaves like a real server.
    Wait(Duration),
    /// Behaves like a real server, then closes the connection.
    UsualThenClose,
    /// Behaves like a real server, then resets the connection.
    UsualThenReset,
    /// Sends this reply instead of the usual one.
    Say(String),
    SayThenClose(String),
    /// Writes exactly these bytes, then closes the connection.
    WriteThenClose(Vec<u8>),
    Close,
    Reset,
    /// Sends nothing until the client gives up.
    Silence,
    /// From now on, reads the input in small chunks, with this pause between them.
    Slowly(Duration),
    /// Sends an unencrypted TLS alert, which breaks the session.
    Alert,
}

/// The state of a session, as the script sees it.
#[derive(Clone, Debug, Default)]
pub struct Talk {
    /// The index of the connection on this server, starting at 0.
    pub connection: usize,
    /// The index of the message on this connection, starting at 0.
    pub message: usize,
    pub encrypted: bool,
    /// The credentials that the client logged in with.
    pub login: Option<String>,
    /// The text after `MAIL FROM:`.
    pub sender: String,
    /// The text after `RCPT TO:`.
    pub recipient: String,
}

#[derive(Clone, Debug)]
pub struct SinkMessage {
    pub talk: Talk,
    pub message_id: String,
    pub bytes: usize,
    /// A checksum of the message, for tests that keep no bodies.
    pub sum: u64,
    /// The message with dot-stuffing removed; empty if the server keeps no bodies.
    pub body: Vec<u8>,
}

type Script = Box<dyn FnMut(&Talk, SmtpStage) -> SinkAction + Send>;

/// A running server, which stops when it is dropped.
pub struct MailSink {
    pub address: SocketAddr,
    shared: Arc<Shared>,
    thread: Option<JoinHandle<()>>,
}

struct Shared {
    offers: SinkCapabilities,
    keeps_bodies: bool,
    script: Mutex<Script>,
    seen: Mutex<SinkState>,
    stop: Notify,
}

#[derive(Default)]
struct SinkState {
    messages: Vec<SinkMessage>,
    commands: Vec<(usize, String)>,
    connections: usize,
    open: usize,
    open_max: usize,
    unusual_actions: usize,
}

impl MailSink {
    /// Starts a server that always behaves like a real server.
    pub fn usual() -> Self {
        Self::by(SinkCapabilities::default(), |_, _| SinkAction::Usual)
    }

    /// Starts a server that performs `action` once, when a session first reaches the stage `moment`.
    pub fn once(offers: SinkCapabilities, moment: SmtpStage, action: SinkAction) -> Self {
        let mut action = Some(action);
        Self::by(offers, move |_, now| if now == moment { action.take().unwrap_or(SinkAction::Usual) } else { SinkAction::Usual })
    }

    /// Starts a server that performs `action` each time a session reaches the stage `moment`.
    pub fn always(offers: SinkCapabilities, moment: SmtpStage, action: SinkAction) -> Self {
        Self::by(offers, move |_, now| if now == moment { action.clone() } else { SinkAction::Usual })
    }

    /// Starts a server whose actions `script` chooses.
    pub fn by(offers: SinkCapabilities, script: impl FnMut(&Talk, SmtpStage) -> SinkAction + Send + 'static) -> Self {
        Self::at("127.0.0.1:0".parse().expect("an address"), offers, true, script)
    }

    /// Starts a server at this address; `script` chooses its actions. If the server keeps no bodies, it can accept millions of messages.
    pub fn at(
        address: SocketAddr,
        offers: SinkCapabilities,
        keeps_bodies: bool,
        script: impl FnMut(&Talk, SmtpStage) -> SinkAction + Send + 'static,
    ) -> Self {
        let listener = std::net::TcpListener::bind(address).expect("a free port");
        listener.set_nonblocking(true).expect("it is a socket");
        let address = listener.local_addr().expect("bound");
        let script = Mutex::new(Box::new(script) as Script);
        let shared = Arc::new(Shared { offers, keeps_bodies, script, seen: Mutex::default(), stop: Notify::new() });
        let served = shared.clone();
        let run = move || {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
            runtime.block_on(accept(listener, served));
        };
        let thread = Some(Builder::new().name("mail sink".into()).spawn(run).expect("a thread"));
        Self { address, shared, thread }
    }

    pub fn messages(&self) -> Vec<SinkMessage> {
        self.seen().messages.clone()
    }

    pub fn count(&self) -> usize {
        self.seen().messages.len()
    }

    /// Returns all commands received so far, without line breaks, each with the index of its connection. Credentials are omitted.
    pub fn commands(&self) -> Vec<(usize, String)> {
        self.seen().commands.clone()
    }

    pub fn connections(&self) -> usize {
        self.seen().connections
    }

    /// Returns the highest number of simultaneously open connections so far.
    pub fn open_max(&self) -> usize {
        self.seen().open_max
    }

    pub fn open(&self) -> usize {
        self.seen().open
    }

    /// Returns the number of actions other than [`SinkAction::Usual`] that were carried out completely.
    pub fn unusual_actions(&self) -> usize {
        self.seen().unusual_actions
    }

    /// Stops the server immediately. The accepted messages can still be read.
    pub fn stop(&mut self) {
        self.shared.stop.notify_one();
        if let Some(thread) = self.thread.take() {
            thread.join().expect("the sink does not panic");
        }
    }

    fn seen(&self) -> MutexGuard<'_, SinkState> {
        self.shared.seen()
    }
}

impl Drop for MailSink {
    fn drop(&mut self) {
        self.stop();
    }
}

/// Returns a new self-signed certificate for this name, and a TLS acceptor that uses it.
pub fn certificate(name: &str) -> (CertificateDer<'static>, TlsAcceptor) {
    let made = rcgen::generate_simple_self_signed([name.to_owned()]).expect("a certificate");
    let der = made.cert.der().clone();
    let key = PrivateKeyDer::try_from(made.signing_key.serialize_der()).expect("a key");
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let builder = rustls::ServerConfig::builder_with_provider(provider).with_safe_default_protocol_versions().expect("versions");
    let config = builder.with_no_client_auth().with_single_cert(vec![der.clone()], key).expect("a pair");
    (der, TlsAcceptor::from(Arc::new(config)))
}

impl Shared {
    fn seen(&self) -> MutexGuard<'_, SinkState> {
        self.seen.lock().expect("no holder of this lock panics")
    }
}

async fn accept(listener: std::net::TcpListener, shared: Arc<Shared>) {
    let listener = TcpListener::from_std(listener).expect("a listener");
    let mut talks = JoinSet::new();
    loop {
        tokio::select! {
            () = shared.stop.notified() => return,
            Some(_) = talks.join_next() => {}
            accepted = listener.accept() => {
                let Ok((stream, _)) = accepted else { continue };
                let shared = shared.clone();
                talks.spawn(async move {
                    let connection = {
                        let mut seen = shared.seen();
                        seen.connections += 1;
                        seen.open += 1;
                        seen.open_max = seen.open_max.max(seen.open);
                        seen.connections - 1
                    };
                    // A session's error is ignored: tests see it in the client's behavior.
                    let _ = conversation::serve(stream, connection, &shared).await;
                    shared.seen().open -= 1;
                });
            }
        }
    }
}
