//! Tests the transport with a server that behaves well, behaves badly, or does not reply.

mod closing;
mod connections;
mod direct;
mod outcomes;
mod peers;
mod security;

use std::collections::HashMap;
use std::io;
use std::net::IpAddr;
use std::path::Path;

use super::*;
use crate::base::email::EmailAddress;
use crate::base::random::SeededRandom;
use crate::engine::fetch::ResolveFuture;
use crate::engine::mail::delivery::{DotDecision, Handoff};
use crate::engine::settings;
use crate::testing::mail_sink::{MailSink, SinkAction, SinkCapabilities, SmtpStage};

/// A time limit far longer than loopback connections need.
const PATIENT: Duration = Duration::from_secs(30);
/// A short time limit for servers that never reply.
const HASTY: Duration = Duration::from_millis(300);
const MESSAGE: &[u8] = b"Message-ID: <1@example.com>\r\nSubject: a\r\n\r\nHello\r\n.dot\r\n";

#[derive(Clone, Default)]
struct Names {
    addresses: HashMap<String, Vec<IpAddr>>,
    exchangers: HashMap<String, Vec<Exchanger>>,
    policies: HashMap<String, String>,
}

impl Names {
    fn with(mut self, host: &str, addresses: &[&str]) -> Self {
        let addresses = addresses.iter().map(|address| address.parse().expect("the address is valid")).collect();
        self.addresses.insert(host.to_owned(), addresses);
        self
    }

    fn with_mx(mut self, domain: &str, hosts: &[(u16, &str)]) -> Self {
        let exchanger = |(preference, host): &(u16, &str)| Exchanger { preference: *preference, host: (*host).to_owned() };
        self.exchangers.insert(domain.to_owned(), hosts.iter().map(exchanger).collect());
        self
    }
}

impl PolicySource for Names {
    fn texts<'a>(&'a self, name: &'a str) -> Lookup<'a, Vec<String>> {
        let domain = name.strip_prefix("_mta-sts.").expect("no other name is looked up");
        let found = self.policies.contains_key(domain).then(|| "v=STSv1; id=1;".to_owned());
        Box::pin(std::future::ready(Ok(found.into_iter().collect())))
    }

    fn file<'a>(&'a self, url: &'a Url) -> Lookup<'a, String> {
        let domain = url.host_str().and_then(|host| host.strip_prefix("mta-sts.")).expect("no other name is looked up");
        Box::pin(std::future::ready(self.policies.get(domain).cloned().ok_or(LookupError::NoSuchName)))
    }
}

impl Resolve for Names {
    fn resolve<'a>(&'a self, host: &'a str) -> ResolveFuture<'a> {
        let found = self.addresses.get(host).cloned().ok_or_else(|| io::Error::other("unknown"));
        Box::pin(std::future::ready(found))
    }
}

impl MailExchangers for Names {
    fn exchangers<'a>(&'a self, domain: &'a str) -> Lookup<'a, Vec<Exchanger>> {
        let found = match (self.exchangers.get(domain), self.addresses.get(domain), domain) {
            (Some(found), _, _) => Ok(found.clone()),
            (None, _, "broken.example") => Err(LookupError::Failed("no name server answers".to_owned())),
            (None, Some(_), _) => Ok(Vec::new()),
            (None, None, _) => Err(LookupError::NoSuchName),
        };
        Box::pin(std::future::ready(found))
    }

    fn addresses<'a>(&'a self, host: &'a str) -> Lookup<'a, Vec<IpAddr>> {
        let found = self.addresses.get(host).cloned().ok_or(LookupError::NoSuchName);
        Box::pin(std::future::ready(found))
    }
}

fn patient() -> Timeouts {
    Timeouts { connect: PATIENT, command: PATIENT, dot: PATIENT, quit: HASTY, idle: PATIENT, patience: Duration::ZERO }
}

fn hasty() -> Timeouts {
    Timeouts { command: HASTY, dot: HASTY, ..patient() }
}

/// Returns a transport with these lines under `[mail]` in its settings.
fn transport_with(mail: &str, names: Names, timeouts: Timeouts, roots: Vec<CertificateDer<'static>>, port: u16) -> Transport {
    let text = format!("[outbound]\nallow_networks = ['127.0.0.0/8']\n[mail]\nhello_name = 'mill.example'\n{mail}\n");
    let settings =
        settings::load(settings::DEFAULT, Some((Path::new("my.toml"), &text)), &[], &[]).expect("the settings are valid");
    let random = Arc::new(SeededRandom::new(7));
    let (resolver, exchangers, policies) = (Box::new(names.clone()), Box::new(names.clone()), Box::new(names));
    Transport::new(&settings, Parts { resolver, exchangers, policies, random, roots, exchanger_port: port, timeouts })
}

/// Returns a transport with this sink as its only relay.
fn to(sink: &MailSink, timeouts: Timeouts) -> Transport {
    transport_with(&format!("relay = ['smtp://{}']", sink.address), Names::default(), timeouts, Vec::new(), 25)
}

fn envelope(recipient: &str) -> Envelope {
    let recipient = EmailAddress::parse(recipient).expect("the address is valid");
    Envelope { sender: "bounce+1@example.com".to_owned(), recipient, smtputf8: false }
}

struct HandoffRecorder {
    verdict: DotDecision,
    handoffs: Vec<Handoff>,
}

impl HandoffRecorder {
    fn new() -> Self {
        Self { verdict: DotDecision::Go, handoffs: Vec::new() }
    }
}

impl BeforeDot for HandoffRecorder {
    async fn ready(&mut self, how: &Handoff) -> DotDecision {
        self.handoffs.push(how.clone());
        self.verdict
    }
}

/// Delivers one message. Returns a short form of the outcome, and how many times the handoff recorder was called.
async fn deliver(transport: &Transport, recipient: &str) -> (String, usize) {
    let mut recorder = HandoffRecorder::new();
    let outcome = transport.deliver(&envelope(recipient), MESSAGE, &mut recorder).await;
    (short_form(&outcome), recorder.handoffs.len())
}

fn short_form(outcome: &DeliveryOutcome) -> String {
    let cause = |cause: &Cause| match cause {
        Cause::Reply(reply) => reply.code.to_string(),
        Cause::NoRoute(_) => "no route".to_owned(),
        Cause::Unreachable(_) => "unreachable".to_owned(),
        Cause::Unresolved(_) => "unresolved".to_owned(),
        Cause::Lost(_) => "lost".to_owned(),
        Cause::TimedOut(_) => "timed out".to_owned(),
        Cause::Garbled(_) => "garbled".to_owned(),
        Cause::Insecure(_) => "insecure".to_owned(),
        Cause::NoLogin(_) => "no login".to_owned(),
        Cause::LeftAlone { .. } => "left alone".to_owned(),
        Cause::Stopping => "stopping".to_owned(),
    };
    match outcome {
        DeliveryOutcome::Accepted { reply } => format!("accepted: {}", reply.code),
        DeliveryOutcome::Deferred { stage, cause: why } => format!("deferred at {stage:?}: {}", cause(why)),
        DeliveryOutcome::Refused { stage, reply } => format!("refused at {stage:?}: {}", reply.code),
        DeliveryOutcome::Unknown { cause: why } => format!("unknown: {}", cause(why)),
        DeliveryOutcome::Abandoned => "abandoned".to_owned(),
    }
}

/// Polls a condition until it is true.
async fn until(mut is_so: impl FnMut() -> bool) {
    let waiting = async {
        while !is_so() {
            sleep(Duration::from_millis(5)).await;
        }
    };
    timeout(PATIENT, waiting).await.expect("the condition becomes true");
}
