//! One connection to the listener: its commands, replies and messages.

use std::borrow::Cow;
use std::net::IpAddr;
use std::time::Duration;

use smtp_proto::Request;
use tokio::sync::SemaphorePermit;
use tokio::time::{Instant, timeout};

use super::connection::{Connection, ReadError, Stream};
use super::data::{Data, DataResult};
use super::{HandlerResult, ReceivedMessage, Shared};
use crate::engine::admission::Activity;
use crate::vocab::limits;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Protocol {
    Smtp,
    /// LMTP (RFC 2033): like SMTP, but with one reply for each recipient after the message.
    Lmtp,
}

struct Session<'a> {
    protocol: Protocol,
    peer: Option<IpAddr>,
    activity: &'a Activity,
    shared: &'a Shared,
    is_secure: bool,
    has_greeted: bool,
    sender: Option<String>,
    recipients: Vec<String>,
    errors: usize,
    messages: usize,
}

/// The server's next step after a command.
enum NextStep {
    /// Send this reply and continue the session.
    Say(Cow<'static, str>),
    /// Send this reply to a rejected command. Too many of these replies end the session.
    Complain(&'static str),
    /// Send this reply and end the session.
    End(&'static str),
    Message,
    StartTls,
}

const PIPELINED: &str = "554 5.5.0 Wait for the reply to each command\r\n";
const TOO_MANY_ERRORS: &str = "421 4.7.0 Too many errors\r\n";
const STOPPING: &str = "421 4.3.2 The service is stopping\r\n";

/// Serves a connection until the session ends.
pub async fn run<S: Stream>(stream: S, protocol: Protocol, peer: Option<IpAddr>, activity: &Activity, shared: &Shared) {
    let mut session = Session {
        protocol,
        peer,
        activity,
        shared,
        is_secure: false,
        has_greeted: false,
        sender: None,
        recipients: Vec::new(),
        errors: 0,
        messages: 0,
    };
    let served = async {
        let mut wire = Connection::new(stream);
        wire.say(&format!("220 {} {}\r\n", shared.host, if protocol == Protocol::Lmtp { "LMTP" } else { "ESMTP" })).await?;
        if session.converse(&mut wire).await? {
            // If the client sent more commands before the TLS handshake, end the session, so that they are not treated as if they were sent
            // after it.
            let (Some(stream), Some(acceptor)) = (wire.into_stream(), &shared.tls) else { return Ok(()) };
            let Ok(Ok(stream)) = timeout(limits::INBOUND_HANDSHAKE_TIME, acceptor.accept(stream)).await else { return Ok(()) };
            session.begin_securely();
            session.converse(&mut Connection::new(stream)).await?;
        }
        Ok::<_, ReadError>(())
    };
    tokio::select! {
        biased;
        // The whole session also has a time limit, because a client can stay just within the limit of each step.
        _ = timeout(limits::INBOUND_SESSION_TIME, served) => {}
        // Closing the connection loses no message: the client has received a reply to every complete message, and sends the
        // other messages over another connection.
        () = making_room(activity) => {}
    }
}

/// Waits until this connection must be closed so that another connection can be admitted. The connection is closed only between two
/// messages.
async fn making_room(activity: &Activity) {
    activity.asked_to_close().await;
    while activity.running() > 0 {
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
}

/// While this value exists, a message is in progress, and the connection is not closed to make room for another one.
struct InMessage<'a>(&'a Activity);

impl<'a> InMessage<'a> {
    fn begin(activity: &'a Activity) -> Self {
        activity.begin();
        Self(activity)
    }
}

impl Drop for InMessage<'_> {
    fn drop(&mut self) {
        self.0.end();
    }
}

impl Session<'_> {
    /// Resets the session after the TLS handshake.
    fn begin_securely(&mut self) {
        self.is_secure = true;
        self.has_greeted = false;
        self.reset();
    }

    fn reset(&mut self) {
        self.sender = None;
        self.recipients.clear();
    }

    /// Runs the session until it ends or TLS must start. Returns whether TLS must start.
    async fn converse<S: Stream>(&mut self, wire: &mut Connection<S>) -> Result<bool, ReadError> {
        let mut shutdown = self.shared.shutdown.clone();
        loop {
            let line = tokio::select! {
                biased;
                line = wire.line() => line,
                () = shutdown.draining() => {
                    wire.say(STOPPING).await?;
                    return Ok(false);
                }
            };
            let line = match line {
                Ok(line) => line,
                Err(silence) => {
                    self.complain_of(silence, wire).await?;
                    return Ok(false);
                }
            };
            if wire.is_prefetch() {
                wire.say(PIPELINED).await?;
                return Ok(false);
            }
            match self.answer(line) {
                NextStep::Say(reply) => {
                    self.activity.progress();
                    wire.say(&reply).await?;
                }
                NextStep::Complain(reply) => {
                    self.errors += 1;
                    if self.errors > limits::INBOUND_ERRORS_MAX {
                        wire.say(TOO_MANY_ERRORS).await?;
                        return Ok(false);
                    }
                    wire.say(reply).await?;
                }
                NextStep::End(reply) => {
                    wire.say(reply).await?;
                    return Ok(false);
                }
                NextStep::Message => {
                    wire.say("354 Go ahead\r\n").await?;
                    if !self.message(wire).await? {
                        return Ok(false);
                    }
                }
                NextStep::StartTls => {
                    wire.say("220 2.0.0 Ready\r\n").await?;
                    return Ok(true);
                }
            }
        }
    }

    async fn complain_of<S: Stream>(&mut self, silence: ReadError, wire: &mut Connection<S>) -> Result<(), ReadError> {
        match silence {
            ReadError::Closed => Ok(()),
            ReadError::TooSlow => wire.say("421 4.4.2 Idle for too long\r\n").await,
            ReadError::TooLong => wire.say("500 5.5.2 Line too long\r\n").await,
            ReadError::BareEnd => wire.say("500 5.5.2 Lines must end in CRLF\r\n").await,
        }
    }

    fn answer(&mut self, mut line: Vec<u8>) -> NextStep {
        line.extend_from_slice(b"\r\n");
        let Ok(request) = Request::parse(&mut line.iter()) else { return NextStep::Complain("500 5.5.2 Unknown command\r\n") };
        match request {
            Request::Ehlo { .. } | Request::Helo { .. } if self.protocol == Protocol::Lmtp => {
                NextStep::Complain("500 5.5.1 Use LHLO\r\n")
            }
            Request::Lhlo { .. } if self.protocol == Protocol::Smtp => NextStep::Complain("500 5.5.1 Use EHLO\r\n"),
            Request::Ehlo { .. } | Request::Lhlo { .. } => self.greet(true),
            Request::Helo { .. } => self.greet(false),
            Request::Mail { from } => self.mail(&from.address, from.size),
            Request::Rcpt { to } => self.rcpt(&to.address),
            Request::Data => match (self.recipients.is_empty(), self.messages >= limits::INBOUND_MESSAGES_PER_SESSION_MAX) {
                (true, _) => NextStep::Complain("503 5.5.1 Send RCPT first\r\n"),
                (false, true) => NextStep::End("421 4.7.0 Too many messages for one connection\r\n"),
                (false, false) => NextStep::Message,
            },
            Request::StartTls => match self.shared.tls.is_some() && !self.is_secure && self.protocol == Protocol::Smtp {
                true => NextStep::StartTls,
                false => NextStep::Complain("502 5.5.1 Command not supported\r\n"),
            },
            Request::Rset => {
                self.reset();
                NextStep::Say("250 2.0.0 Reset\r\n".into())
            }
            Request::Noop { .. } => NextStep::Say("250 2.0.0 OK\r\n".into()),
            Request::Quit => NextStep::End("221 2.0.0 Bye\r\n"),
            // Commands such as VRFY and AUTH are not supported: the listener does not disclose mailboxes, and offers no login.
            _ => NextStep::Complain("502 5.5.1 Command not supported\r\n"),
        }
    }

    fn greet(&mut self, is_extended: bool) -> NextStep {
        self.reset();
        self.has_greeted = true;
        let host = &self.shared.host;
        if !is_extended {
            return NextStep::Say(format!("250 {host}\r\n").into());
        }
        let tls = match self.shared.tls.is_some() && !self.is_secure && self.protocol == Protocol::Smtp {
            true => "250-STARTTLS\r\n",
            false => "",
        };
        let size = limits::INBOUND_BYTES_MAX;
        NextStep::Say(
            format!("250-{host}\r\n250-SIZE {size}\r\n250-8BITMIME\r\n{tls}250-SMTPUTF8\r\n250 ENHANCEDSTATUSCODES\r\n").into(),
        )
    }

    fn mail(&mut self, sender: &str, size: usize) -> NextStep {
        if !self.has_greeted || self.sender.is_some() {
            return NextStep::Complain("503 5.5.1 Command not allowed now\r\n");
        }
        if size > limits::INBOUND_BYTES_MAX {
            return NextStep::Complain("552 5.3.4 Message too large\r\n");
        }
        if sender.len() > limits::INBOUND_ADDRESS_BYTES_MAX {
            return NextStep::Complain("501 5.1.7 Address too long\r\n");
        }
        if self.peer.is_some_and(|peer| !self.shared.quota.count_message(peer, Instant::now())) {
            return NextStep::End("421 4.7.0 Too many messages, try again later\r\n");
        }
        self.sender = Some(sender.to_owned());
        NextStep::Say("250 2.1.0 Go ahead\r\n".into())
    }

    fn rcpt(&mut self, recipient: &str) -> NextStep {
        if self.sender.is_none() {
            return NextStep::Complain("503 5.5.1 Send MAIL first\r\n");
        }
        if self.recipients.len() >= limits::INBOUND_RECIPIENTS_PER_MESSAGE_MAX {
            return NextStep::Complain("452 4.5.3 Too many recipients\r\n");
        }
        if recipient.len() > limits::INBOUND_ADDRESS_BYTES_MAX || !self.shared.handler.wants(recipient) {
            return NextStep::Complain("550 5.1.1 No such address here\r\n");
        }
        self.recipients.push(recipient.to_owned());
        NextStep::Say("250 2.1.5 Go ahead\r\n".into())
    }

    /// Receives a message and passes it to the handler. Returns false if the session must end.
    async fn message<S: Stream>(&mut self, wire: &mut Connection<S>) -> Result<bool, ReadError> {
        self.messages += 1;
        let activity = self.activity;
        let _in_message = InMessage::begin(activity);
        let began = Instant::now();
        let mut data = Data::new(limits::INBOUND_BYTES_MAX);
        let mut memory: Option<SemaphorePermit<'_>> = None;
        let mut read = 0;
        let mut has_memory = true;
        loop {
            let chunk = wire.chunk().await?;
            read += chunk.len();
            activity.progress();
            let slowest = limits::INBOUND_MESSAGE_TIME + Duration::from_secs(read as u64 / limits::INBOUND_BYTES_PER_SECOND_MIN);
            if began.elapsed() > slowest {
                wire.say("421 4.4.2 The message arrived too slowly\r\n").await?;
                return Ok(false);
            }
            if read > limits::INBOUND_READ_BYTES_MAX {
                wire.say("552 5.3.4 Message too large\r\n").await?;
                return Ok(false);
            }
            if let Some(end) = data.feed(&chunk) {
                wire.put_back(&chunk[end..]);
                break;
            }
            // The first `INBOUND_SMALL_BYTES` of a message need no reservation, so that large messages cannot block bounces, which are
            // small.
            let large = data.kept().saturating_sub(limits::INBOUND_SMALL_BYTES);
            let units = large.div_ceil(limits::INBOUND_MEMORY_UNIT_BYTES);
            if has_memory && !grow(&self.shared.memory, &mut memory, units) {
                has_memory = false;
                data.give_up();
            }
        }
        if wire.is_prefetch() {
            wire.say(PIPELINED).await?;
            return Ok(false);
        }
        let (sender, recipients) = (self.sender.take().unwrap_or_default(), std::mem::take(&mut self.recipients));
        let count = recipients.len();
        let reply = match data.finish() {
            DataResult::TooLarge if has_memory => "552 5.3.4 Message too large\r\n",
            DataResult::TooLarge => "452 4.3.1 Not enough memory, try again later\r\n",
            DataResult::BareEnds => "550 5.6.11 Lines must end in CRLF\r\n",
            DataResult::Whole(bytes) => self.hand_over(ReceivedMessage { sender, recipients, bytes, peer: self.peer }).await,
        };
        // LMTP sends a reply for each recipient; here, all recipients have the same result.
        let times = if self.protocol == Protocol::Lmtp { count } else { 1 };
        wire.say(&reply.repeat(times)).await?;
        Ok(true)
    }

    async fn hand_over(&self, mail: ReceivedMessage) -> &'static str {
        const LATER: &str = "451 4.3.0 Try again later\r\n";
        let taking = async {
            let _place = self.shared.handler_slots.acquire().await;
            self.shared.handler.take(mail).await
        };
        match timeout(limits::INBOUND_HANDLER_TIME, taking).await {
            Ok(HandlerResult::Durable) => "250 2.0.0 Accepted\r\n",
            Ok(HandlerResult::Refused) => "554 5.6.0 Message rejected\r\n",
            Ok(HandlerResult::Later) | Err(_) => LATER,
        }
    }
}

/// Reserves the memory units that a message of the current size needs. Returns false if too few units are free.
fn grow<'a>(memory: &'a tokio::sync::Semaphore, held: &mut Option<SemaphorePermit<'a>>, units: usize) -> bool {
    let more = units.saturating_sub(held.as_ref().map_or(0, SemaphorePermit::num_permits));
    let Ok(more) = u32::try_from(more) else { return false };
    if more == 0 {
        return true;
    }
    match (memory.try_acquire_many(more), held) {
        (Ok(permit), Some(held)) => {
            held.merge(permit);
            true
        }
        (Ok(permit), held) => {
            *held = Some(permit);
            true
        }
        (Err(_), _) => false,
    }
}
