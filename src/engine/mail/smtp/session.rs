//! One connection to a server, from the server's greeting to QUIT.
//!
//! Invariant: the final dot of a message with a recipient is written only after [`BeforeDot`] has agreed, and only if the server has sent
//! nothing unsolicited until then. A failure before this write means that the message was certainly not accepted; after a later failure,
//! the outcome is unknown.

use std::sync::Arc;

use rustls::ClientConfig;
use rustls_pki_types::ServerName;
use tokio::time::timeout;
use tokio_rustls::TlsConnector;

use super::Timeouts;
use super::auth::Credentials;
use super::capabilities::Capabilities;
use super::connection::{Connection, Stop, StopStage, Stream};
use super::dot_stuffing::DotStuffer;
use super::reply::{EnhancedCode, Reply};
use crate::engine::mail::delivery::{BeforeDot, Cause, DeliveryOutcome, DotDecision, Envelope, Handoff, Stage};
use crate::vocab::limits::{SMTP_MESSAGES_PER_CONNECTION_MAX, SMTP_PIECE_BYTES};

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConnectError {
    pub stage: Stage,
    pub cause: Cause,
}

impl ConnectError {
    pub fn at(stage: Stage, cause: Cause) -> Self {
        Self { stage, cause }
    }
}

/// The TLS configuration of a connection, and the server's name.
#[derive(Clone)]
pub struct TlsInfo {
    pub config: Arc<ClientConfig>,
    pub name: ServerName<'static>,
}

/// Whether and how a connection is encrypted.
#[derive(Clone)]
pub enum TlsDemand {
    /// The connection is never encrypted.
    Clear,
    /// The connection is encrypted from its first byte.
    FromTheStart(TlsInfo),
    /// The connection uses STARTTLS, and fails if the server does not offer it.
    Required(TlsInfo),
    /// The connection uses STARTTLS if the server offers it.
    IfOffered(TlsInfo),
}

#[derive(Clone)]
pub struct SessionOptions<'a> {
    /// The host name that we send in EHLO.
    pub hello: &'a str,
    /// The server that the session connects to.
    pub how: Handoff,
    pub demand: TlsDemand,
    pub credentials: Option<&'a Credentials>,
    /// Whether the server is on this machine. If so, credentials may be sent in clear text.
    pub is_this_machine: bool,
    pub timeouts: &'a Timeouts,
}

#[derive(Debug)]
pub struct TransactionResult {
    pub outcome: DeliveryOutcome,
    /// Whether the connection can send another message.
    pub keep: bool,
    /// Whether a reused connection was closed before the content of the message was sent. If so, another connection can send the message.
    pub was_dead: bool,
    /// Whether the server lacks a capability that this message needs. Another server may have the capability.
    pub lacks: bool,
}

impl TransactionResult {
    fn of(outcome: DeliveryOutcome, keep: bool) -> Self {
        Self { outcome, keep, was_dead: false, lacks: false }
    }
}

/// A connection that is ready to send messages.
pub struct Session {
    line: Connection,
    capabilities: Capabilities,
    how: Handoff,
    timeouts: Timeouts,
    stop: Stop,
    messages: usize,
    /// A buffer for message chunks that need changes.
    scratch: Vec<u8>,
}

impl Session {
    /// Reads the greeting, encrypts the connection and logs in.
    pub async fn begin(stream: Box<dyn Stream>, begin: SessionOptions<'_>, stop: Stop) -> Result<Self, ConnectError> {
        let mut how = begin.how.clone();
        let timeouts = begin.timeouts;
        let mut stream = stream;
        if let TlsDemand::FromTheStart(secured) = &begin.demand {
            stream = encrypt(stream, secured, timeouts, &stop).await?;
            how.encrypted = true;
        }
        let mut line = Connection::new(stream, stop.clone());
        let greeting = line.reply(timeouts.command).await.map_err(|cause| ConnectError::at(Stage::Greeting, cause))?;
        expect(&greeting, 2, Stage::Greeting)?;
        let mut capabilities = hello(&mut line, begin.hello, timeouts).await?;
        let secured = match &begin.demand {
            TlsDemand::Required(secured) => Some(secured),
            TlsDemand::IfOffered(secured) => capabilities.starttls.then_some(secured),
            TlsDemand::Clear | TlsDemand::FromTheStart(_) => None,
        };
        if let Some(secured) = secured {
            // An attacker between the servers can remove the STARTTLS offer, so the session must fail.
            if !capabilities.starttls {
                let why = "the mail server does not offer STARTTLS, but encryption is required";
                return Err(ConnectError::at(Stage::Tls, Cause::Insecure(why.to_owned())));
            }
            let said =
                command(&mut line, b"STARTTLS\r\n", timeouts).await.map_err(|cause| ConnectError::at(Stage::Tls, cause))?;
            expect(&said, 2, Stage::Tls)?;
            let clear = line.into_stream().map_err(|cause| ConnectError::at(Stage::Tls, cause))?;
            line = Connection::new(encrypt(clear, secured, timeouts, &stop).await?, stop.clone());
            how.encrypted = true;
            capabilities = hello(&mut line, begin.hello, timeouts).await?;
        }
        if let Some(credentials) = begin.credentials {
            if !how.encrypted && !begin.is_this_machine {
                let why =
                    "the connection is not encrypted, so the password or token is not sent; remove tls=off from the relay's URL";
                return Err(ConnectError::at(Stage::Login, Cause::NoLogin(why.to_owned())));
            }
            log_in(&mut line, credentials, &capabilities, timeouts).await?;
        }
        Ok(Self { line, capabilities, how, timeouts: timeouts.clone(), stop, messages: 0, scratch: Vec::new() })
    }

    pub fn how(&self) -> &Handoff {
        &self.how
    }

    /// Returns whether the server still seems to be connected.
    pub async fn is_alive(&mut self) -> bool {
        self.line.is_quiet().await
    }

    /// Returns whether the session has sent as many messages as one connection should.
    pub fn is_used_up(&self) -> bool {
        self.messages >= SMTP_MESSAGES_PER_CONNECTION_MAX
    }

    /// Sends one message to one recipient. Calls `before_dot` before the final dot.
    pub async fn transact(&mut self, envelope: &Envelope, message: &[u8], before_dot: &mut impl BeforeDot) -> TransactionResult {
        let first = match self.first_command(envelope, message) {
            Ok(first) => first,
            Err((reply, lacks)) => {
                let outcome = DeliveryOutcome::Refused { stage: Stage::Sender, reply };
                return TransactionResult { lacks, ..TransactionResult::of(outcome, true) };
            }
        };
        self.messages += 1;
        let recipient = format!("RCPT TO:<{}>\r\n", path(envelope));
        if let Err(done) = self.envelope(first, recipient).await {
            return done;
        }
        if let Err(done) = self.body(message).await {
            return done;
        }
        if before_dot.ready(&self.how).await == DotDecision::Abandon {
            return TransactionResult::of(DeliveryOutcome::Abandoned, false);
        }
        self.dot().await
    }

    /// Sends QUIT and waits briefly for the reply.
    pub async fn quit(mut self) {
        if self.line.send(b"QUIT\r\n", self.timeouts.quit).await.is_ok() {
            let _ = self.line.reply(self.timeouts.quit).await;
        }
    }

    /// Sends QUIT without waiting for the reply, so that the caller's pool slot is free sooner.
    pub async fn leave(mut self) {
        let _ = self.line.send(b"QUIT\r\n", self.timeouts.quit).await;
    }

    /// Returns the `MAIL` command, or why this server cannot receive the message and whether another server could.
    fn first_command(&self, envelope: &Envelope, message: &[u8]) -> Result<String, (Reply, bool)> {
        let capabilities = &self.capabilities;
        let refused = |code, enhanced, text: &str| Reply::ours(code, enhanced, text);
        let sender = envelope.sender.as_str();
        if sender.chars().any(|c| c.is_control() || c.is_whitespace() || matches!(c, '<' | '>')) {
            return Err((refused(553, EnhancedCode::new(5, 1, 7), "The envelope sender is not a valid address."), false));
        }
        let mut command = format!("MAIL FROM:<{sender}>");
        if envelope.needs_smtputf8() {
            if !capabilities.smtputf8 {
                let text = "An address or a header contains non-ASCII characters, and the server does not offer SMTPUTF8.";
                return Err((refused(553, EnhancedCode::new(5, 6, 7), text), true));
            }
            command.push_str(" SMTPUTF8");
        }
        if !message.is_ascii() {
            if !capabilities.eight_bit {
                let text = "The message contains non-ASCII characters, and the server does not offer 8BITMIME.";
                return Err((refused(554, EnhancedCode::new(5, 6, 3), text), true));
            }
            command.push_str(" BODY=8BITMIME");
        }
        if capabilities.size {
            if capabilities.bytes_max.is_some_and(|bytes_max| message.len() as u64 > bytes_max) {
                let text = format!("The message is {} bytes long, more than the server accepts; shorten it.", message.len());
                return Err((refused(552, EnhancedCode::new(5, 3, 4), &text), true));
            }
            command.push_str(&format!(" SIZE={}", message.len()));
        }
        command.push_str("\r\n");
        Ok(command)
    }

    /// Sends `MAIL`, `RCPT` and `DATA`, in one write if the server supports pipelining.
    async fn envelope(&mut self, sender: String, recipient: String) -> Result<(), TransactionResult> {
        let steps = [(Stage::Sender, sender), (Stage::Recipient, recipient), (Stage::Data, "DATA\r\n".to_owned())];
        let pipelined = self.capabilities.pipelining;
        if pipelined {
            let all: String = steps.iter().map(|(_, command)| command.as_str()).collect();
            self.line.send(all.as_bytes(), self.timeouts.command).await.map_err(|cause| self.lost(Stage::Sender, cause))?;
        }
        let mut refusal = None;
        for (stage, command) in steps {
            if !pipelined {
                let sent = self.line.send(command.as_bytes(), self.timeouts.command).await;
                sent.map_err(|cause| self.lost(stage, cause))?;
            }
            let said = match self.line.reply(self.timeouts.command).await {
                Ok(said) if said.code == 421 => return Err(self.closing(refusal, stage, said)),
                Ok(said) => said,
                Err(cause) => {
                    return Err(refusal.map_or_else(|| self.lost(stage, cause), |outcome| TransactionResult::of(outcome, false)));
                }
            };
            let is_right = if stage == Stage::Data { said.is_intermediate() } else { said.is_positive() };
            match refusal {
                // The server can accept DATA even if it rejected the recipient. The session then sends an empty message (RFC 2920 §3.1).
                Some(outcome) if is_right && stage == Stage::Data => return Err(self.send_nothing(outcome).await),
                None if !is_right && !said.is_transient() && !said.is_permanent() => {
                    let cause = Cause::Garbled(format!("unexpected reply {said}"));
                    return Err(TransactionResult::of(DeliveryOutcome::Deferred { stage, cause }, false));
                }
                None if !is_right => refusal = Some(negative(stage, said)),
                // The first negative reply determines the outcome, whatever the server replies to the remaining commands.
                Some(_) | None => {}
            }
            if refusal.is_some() && !pipelined {
                break;
            }
        }
        match refusal {
            None => Ok(()),
            Some(outcome) => Err(self.reset(outcome).await),
        }
    }

    /// Sends the whole message except its final dot.
    async fn body(&mut self, message: &[u8]) -> Result<(), TransactionResult> {
        let mut stuffed = DotStuffer::new(message);
        let mut scratch = std::mem::take(&mut self.scratch);
        while let Some(piece) = stuffed.next(&mut scratch, SMTP_PIECE_BYTES) {
            let sent = self.line.send_listening(piece, self.timeouts.command).await;
            if let Err(cause) = sent {
                // The server may have sent the reason before it hung up.
                let has_left = matches!(cause, Cause::Lost(_));
                let said = if has_left { self.line.reply(self.timeouts.quit).await.ok() } else { None };
                return Err(self.interrupted(said.ok_or(cause)));
            }
            if self.line.has_unread() {
                let said = self.line.reply(self.timeouts.command).await;
                return Err(self.interrupted(said));
            }
        }
        self.scratch = scratch;
        Ok(())
    }

    async fn dot(&mut self) -> TransactionResult {
        if self.stop.is(StopStage::Cut) {
            return TransactionResult::of(DeliveryOutcome::Deferred { stage: Stage::Body, cause: Cause::Stopping }, false);
        }
        // A reply that the server sent before the dot must not be mistaken for the reply to the dot. Yielding lets received bytes arrive.
        tokio::task::yield_now().await;
        if let Some(said) = self.line.interjection(self.timeouts.command).await {
            return self.interrupted(said);
        }
        if let Err(cause) = self.line.send(b".\r\n", self.timeouts.command).await {
            return TransactionResult::of(DeliveryOutcome::Unknown { cause }, false);
        }
        let reply = match self.line.reply(self.timeouts.dot).await {
            Ok(reply) => reply,
            Err(cause) => return TransactionResult::of(DeliveryOutcome::Unknown { cause }, false),
        };
        let keep = reply.code != 421 && !self.line.has_unread();
        match reply.code / 100 {
            2 => TransactionResult::of(DeliveryOutcome::Accepted { reply }, keep),
            4 => TransactionResult::of(DeliveryOutcome::Deferred { stage: Stage::Dot, cause: Cause::Reply(reply) }, keep),
            5 => TransactionResult::of(DeliveryOutcome::Refused { stage: Stage::Dot, reply }, keep),
            _ => TransactionResult::of(
                DeliveryOutcome::Unknown { cause: Cause::Garbled(format!("unexpected reply {reply} to the message")) },
                false,
            ),
        }
    }

    /// Returns the result for a server that replied or hung up in the middle of the message.
    fn interrupted(&self, said: Result<Reply, Cause>) -> TransactionResult {
        let outcome = match said {
            Ok(reply) if reply.is_transient() || reply.is_permanent() => negative(Stage::Body, reply),
            Ok(reply) => DeliveryOutcome::Deferred {
                stage: Stage::Body,
                cause: Cause::Garbled(format!("unexpected reply {reply} during the message")),
            },
            Err(cause) => DeliveryOutcome::Deferred { stage: Stage::Body, cause },
        };
        TransactionResult::of(outcome, false)
    }

    fn lost(&self, stage: Stage, cause: Cause) -> TransactionResult {
        let was_dead = self.messages > 1 && matches!(cause, Cause::Lost(_));
        TransactionResult { was_dead, ..TransactionResult::of(DeliveryOutcome::Deferred { stage, cause }, false) }
    }

    /// Returns the result for a server that announces that it is closing the connection.
    fn closing(&self, refusal: Option<DeliveryOutcome>, stage: Stage, said: Reply) -> TransactionResult {
        match refusal {
            Some(outcome) => TransactionResult::of(outcome, false),
            // If a reused connection gets this reply to the `MAIL` command, the server was closing the idle connection, so another
            // connection can send the message.
            None => {
                let was_dead = self.messages > 1 && stage == Stage::Sender;
                TransactionResult {
                    was_dead,
                    ..TransactionResult::of(DeliveryOutcome::Deferred { stage, cause: Cause::Reply(said) }, false)
                }
            }
        }
    }

    /// Resets the transaction after the server rejected the message, so that the connection can be reused.
    async fn reset(&mut self, outcome: DeliveryOutcome) -> TransactionResult {
        let said = command(&mut self.line, b"RSET\r\n", &self.timeouts).await;
        let keep = said.is_ok_and(|reply| reply.is_positive()) && !self.line.has_unread();
        TransactionResult::of(outcome, keep)
    }

    /// Ends the empty message that is sent if the server accepts DATA but has rejected the recipient.
    async fn send_nothing(&mut self, outcome: DeliveryOutcome) -> TransactionResult {
        let said = command(&mut self.line, b".\r\n", &self.timeouts).await;
        // Any reply except a rejection is unexpected; after such a reply, the connection is not reused.
        let is_refused = said.is_ok_and(|reply| reply.is_permanent() && !self.line.has_unread());
        if is_refused { self.reset(outcome).await } else { TransactionResult::of(outcome, false) }
    }
}

/// Returns the outcome of a negative reply at this stage. The outcome is final only if the reply is permanent and about the message or
/// the recipient, not about our session.
fn negative(stage: Stage, reply: Reply) -> DeliveryOutcome {
    // These reply codes are about command order, encryption and login, which do not depend on the recipient.
    let is_about_us = matches!(reply.code, 503 | 530 | 534 | 535 | 538);
    match reply.is_permanent() && !is_about_us {
        true => DeliveryOutcome::Refused { stage, reply },
        false => DeliveryOutcome::Deferred { stage, cause: Cause::Reply(reply) },
    }
}

/// Returns the recipient's address in the form that is sent to the server, with the domain in ASCII.
fn path(envelope: &Envelope) -> String {
    let recipient = &envelope.recipient;
    format!("{}@{}", recipient.local(), recipient.domain_ascii())
}

async fn command(line: &mut Connection, text: &[u8], timeouts: &Timeouts) -> Result<Reply, Cause> {
    line.send(text, timeouts.command).await?;
    line.reply(timeouts.command).await
}

fn expect(reply: &Reply, digit: u16, stage: Stage) -> Result<(), ConnectError> {
    if reply.code / 100 == digit { Ok(()) } else { Err(ConnectError::at(stage, Cause::Reply(reply.clone()))) }
}

/// Sends our host name, and returns the server's capabilities.
async fn hello(line: &mut Connection, name: &str, timeouts: &Timeouts) -> Result<Capabilities, ConnectError> {
    let at = |cause| ConnectError::at(Stage::Hello, cause);
    let said = command(line, format!("EHLO {name}\r\n").as_bytes(), timeouts).await.map_err(at)?;
    if !said.is_permanent() {
        expect(&said, 2, Stage::Hello)?;
        return Ok(Capabilities::of(&said));
    }
    // Old servers support only HELO, not EHLO.
    let said = command(line, format!("HELO {name}\r\n").as_bytes(), timeouts).await.map_err(at)?;
    expect(&said, 2, Stage::Hello)?;
    Ok(Capabilities::default())
}

async fn encrypt(
    stream: Box<dyn Stream>,
    secured: &TlsInfo,
    timeouts: &Timeouts,
    stop: &Stop,
) -> Result<Box<dyn Stream>, ConnectError> {
    let insecure = |why: String| ConnectError::at(Stage::Tls, Cause::Insecure(why));
    let handshake = TlsConnector::from(secured.config.clone()).connect(secured.name.clone(), stream);
    let mut stop = stop.clone();
    let done = tokio::select! {
        biased;
        done = timeout(timeouts.connect, handshake) => done,
        () = stop.reached(StopStage::Cut) => return Err(ConnectError::at(Stage::Tls, Cause::Stopping)),
    };
    match done {
        Ok(Ok(encrypted)) => Ok(Box::new(encrypted)),
        Ok(Err(error)) => Err(insecure(error.to_string())),
        Err(_) => Err(ConnectError::at(Stage::Tls, Cause::TimedOut(timeouts.connect))),
    }
}

async fn log_in(
    line: &mut Connection,
    credentials: &Credentials,
    capabilities: &Capabilities,
    timeouts: &Timeouts,
) -> Result<(), ConnectError> {
    let at = |cause| ConnectError::at(Stage::Login, cause);
    let Some(mechanism) = credentials.mechanism(capabilities) else {
        let wanted = credentials.mechanism.map_or("PLAIN or LOGIN", |mechanism| mechanism.name());
        return Err(at(Cause::NoLogin(format!(
            "the relay does not offer AUTH {wanted}; in the setting mail.relay, choose another method with the parameter `auth`, or \
             remove the user, the password, `auth` and `token`"
        ))));
    };
    let lines = credentials.lines(mechanism);
    let last = lines.len() - 1;
    for (number, text) in lines.iter().enumerate() {
        let mut bytes = format!("{}\r\n", text.expose()).into_bytes();
        let said = command(line, &bytes, timeouts).await;
        zeroize::Zeroize::zeroize(&mut bytes);
        let said = said.map_err(at)?;
        if said.is_positive() {
            return Ok(());
        }
        if number == last || !said.is_intermediate() {
            return Err(at(Cause::Reply(said)));
        }
    }
    Ok(())
}
