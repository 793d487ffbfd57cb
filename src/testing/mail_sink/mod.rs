//! A mail server for tests: it takes mail as servers do, writes each message down before it answers, and misbehaves as it is told.
//!
//! It runs on a thread of its own, so synchronous and asynchronous tests can use it alike; `tests/it` includes this very folder.

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

/// What the server offers.
#[derive(Clone)]
pub struct SinkCapabilities {
    /// Whether it knows EHLO.
    pub extensions: bool,
    pub pipelining: bool,
    pub eight_bit: bool,
    pub smtputf8: bool,
    pub size: Option<usize>,
    /// Like "PLAIN LOGIN XOAUTH2".
    pub auth: &'static str,
    /// The coded texts that log in; the last line of any mechanism must be one of them.
    pub logins: Vec<String>,
    /// Offered by STARTTLS.
    pub starttls: Option<TlsAcceptor>,
    /// Spoken from the first byte on.
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

/// How far a conversation is when the script is asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SmtpStage {
    Greeting,
    Hello,
    StartTls,
    Login,
    Sender,
    Recipient,
    Data,
    /// The first bytes of a message are here.
    Body,
    /// The final dot is here.
    Dot,
    Reset,
    Quit,
}

/// What the server does.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SinkAction {
    /// What servers do.
    Usual,
    /// The same, later.
    Wait(Duration),
    /// The same, then it hangs up.
    UsualThenClose,
    /// The same, then the connection is reset.
    UsualThenReset,
    /// It says this instead.
    Say(String),
    SayThenClose(String),
    /// It writes exactly this and hangs up.
    WriteThenClose(Vec<u8>),
    Close,
    Reset,
    /// Nothing, for as long as the other side waits.
    Silence,
    /// It takes what follows in small pieces, with this pause between them.
    Slowly(Duration),
    /// It spoils the encryption.
    Alert,
}

/// What the server knows of a conversation.
#[derive(Clone, Debug, Default)]
pub struct Talk {
    /// Which connection, from 0.
    pub connection: usize,
    /// Which message on this connection, from 0.
    pub message: usize,
    pub encrypted: bool,
    /// What logged in.
    pub login: Option<String>,
    /// All that follows `MAIL FROM:`.
    pub sender: String,
    /// All that follows `RCPT TO:`.
    pub recipient: String,
}

/// A message that was taken in.
#[derive(Clone, Debug)]
pub struct Letter {
    pub talk: Talk,
    pub message_id: String,
    pub bytes: usize,
    /// A sum over the message.
    pub sum: u64,
    /// The message, without doubled dots; empty if only sums are kept.
    pub body: Vec<u8>,
}

type Script = Box<dyn FnMut(&Talk, SmtpStage) -> SinkAction + Send>;

/// The server. It ends with the test.
pub struct MailSink {
    pub address: SocketAddr,
    shared: Arc<Shared>,
    thread: Option<JoinHandle<()>>,
}

struct Shared {
    offers: SinkCapabilities,
    keeps_bodies: bool,
    script: Mutex<Script>,
    seen: Mutex<Seen>,
    stop: Notify,
}

#[derive(Default)]
struct Seen {
    letters: Vec<Letter>,
    commands: Vec<(usize, String)>,
    connections: usize,
    open: usize,
    open_max: usize,
    misdeeds: usize,
}

impl MailSink {
    /// One that does what servers do.
    pub fn usual() -> Self {
        Self::by(SinkCapabilities::default(), |_, _| SinkAction::Usual)
    }

    /// One that does this at that moment, the first time it comes, and else what servers do.
    pub fn once(offers: SinkCapabilities, moment: SmtpStage, deed: SinkAction) -> Self {
        let mut deed = Some(deed);
        Self::by(offers, move |_, now| if now == moment { deed.take().unwrap_or(SinkAction::Usual) } else { SinkAction::Usual })
    }

    /// One that does this at that moment each time.
    pub fn always(offers: SinkCapabilities, moment: SmtpStage, deed: SinkAction) -> Self {
        Self::by(offers, move |_, now| if now == moment { deed.clone() } else { SinkAction::Usual })
    }

    /// One that follows a script.
    pub fn by(offers: SinkCapabilities, script: impl FnMut(&Talk, SmtpStage) -> SinkAction + Send + 'static) -> Self {
        Self::at("127.0.0.1:0".parse().expect("an address"), offers, true, script)
    }

    /// The same at this address. Without bodies it can take millions of messages.
    pub fn at(
        address: SocketAddr,
        offers: SinkCapabilities,
        keeps_bodies: bool,
        script: impl FnMut(&Talk, SmtpStage) -> SinkAction + Send + 'static,
    ) -> Self {
        let listener = std::net::TcpListener::bind(address).expect("a free port");
        listener.set_nonblocking(true).expect("it can be told");
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

    /// Every message so far.
    pub fn letters(&self) -> Vec<Letter> {
        self.seen().letters.clone()
    }

    /// How many messages so far.
    pub fn count(&self) -> usize {
        self.seen().letters.len()
    }

    /// Every command so far, without its end, with the number of its connection. Texts of logins are left out.
    pub fn commands(&self) -> Vec<(usize, String)> {
        self.seen().commands.clone()
    }

    /// How many connections so far.
    pub fn connections(&self) -> usize {
        self.seen().connections
    }

    /// The most connections that were open at a time.
    pub fn open_max(&self) -> usize {
        self.seen().open_max
    }

    /// How many connections are open.
    pub fn open(&self) -> usize {
        self.seen().open
    }

    /// How often something else than the usual was done, all of its words said.
    pub fn misdeeds(&self) -> usize {
        self.seen().misdeeds
    }

    /// End it in the middle of whatever it does; what it has taken can still be read.
    pub fn stop(&mut self) {
        self.shared.stop.notify_one();
        if let Some(thread) = self.thread.take() {
            thread.join().expect("the sink does not panic");
        }
    }

    fn seen(&self) -> MutexGuard<'_, Seen> {
        self.shared.seen()
    }
}

impl Drop for MailSink {
    fn drop(&mut self) {
        self.stop();
    }
}

/// A certificate for this name that is its own authority, and a server that has it.
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
    fn seen(&self) -> MutexGuard<'_, Seen> {
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
                    // Tests hear of an error by what the client does.
                    let _ = conversation::serve(stream, connection, &shared).await;
                    shared.seen().open -= 1;
                });
            }
        }
    }
}
