//! One SMTP session of the mail sink with a client.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::io;
use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio_rustls::server::TlsStream;

use super::{Shared, SinkAction, SinkMessage, SmtpStage, Talk};

/// A connection, unencrypted or with TLS.
enum Net {
    Plain(TcpStream),
    Secure(Box<TlsStream<TcpStream>>),
}

impl Net {
    async fn read(&mut self, buffer: &mut Vec<u8>) -> io::Result<usize> {
        match self {
            Self::Plain(stream) => stream.read_buf(buffer).await,
            Self::Secure(stream) => stream.read_buf(buffer).await,
        }
    }

    async fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        match self {
            Self::Plain(stream) => stream.write_all(bytes).await,
            Self::Secure(stream) => {
                stream.write_all(bytes).await?;
                stream.flush().await
            }
        }
    }

    fn bare(&mut self) -> &mut TcpStream {
        match self {
            Self::Plain(stream) => stream,
            Self::Secure(stream) => stream.get_mut().0,
        }
    }
}

/// Whether the server keeps the connection after its reply.
enum Said {
    AndStays(String),
    AndGoes,
}

/// The error for a connection that was closed.
pub struct Over;

impl From<io::Error> for Over {
    fn from(_: io::Error) -> Self {
        Self
    }
}

struct Peer<'a> {
    net: Net,
    received: Vec<u8>,
    talk: Talk,
    /// The pause between small reads; `None` to read normally.
    slowly: Option<Duration>,
    /// Whether the sender of the current message was accepted.
    sender: bool,
    /// Whether a recipient of the current message was accepted.
    recipient: bool,
    shared: &'a Shared,
}

pub async fn serve(stream: TcpStream, connection: usize, shared: &Shared) -> Result<(), Over> {
    stream.set_nodelay(true)?;
    let net = match &shared.offers.tls {
        Some(tls) => Net::Secure(Box::new(tls.accept(stream).await?)),
        None => Net::Plain(stream),
    };
    let encrypted = matches!(net, Net::Secure(_));
    let talk = Talk { connection, encrypted, ..Talk::default() };
    let mut peer = Peer { net, received: Vec::new(), talk, slowly: None, sender: false, recipient: false, shared };
    peer.answer(SmtpStage::Greeting, "220 sink.example ESMTP").await?;
    loop {
        let line = peer.line().await?;
        let (verb, rest) = line.split_at(line.len().min(4));
        peer.note(&line);
        match verb.to_ascii_uppercase().as_str() {
            "EHLO" if shared.offers.extensions => peer.hello().await?,
            "HELO" => drop(peer.answer(SmtpStage::Hello, "250 sink.example").await?),
            "STAR" if shared.offers.starttls.is_some() => peer = peer.secure().await?,
            "AUTH" => peer.login(rest.trim()).await?,
            "MAIL" => {
                peer.talk.sender = rest.trim_start_matches(" FROM:").trim_start_matches(" from:").to_owned();
                let usual = if peer.sender { "503 5.5.1 Nested" } else { "250 2.1.0 Ok" };
                peer.sender |= peer.answer(SmtpStage::Sender, usual).await?.starts_with('2');
            }
            "RCPT" => {
                peer.talk.recipient = rest.trim_start_matches(" TO:").trim_start_matches(" to:").to_owned();
                let usual = if peer.sender { "250 2.1.5 Ok" } else { "503 5.5.1 Say from whom" };
                peer.recipient |= peer.answer(SmtpStage::Recipient, usual).await?.starts_with('2');
            }
            "DATA" => peer.data().await?,
            "RSET" => {
                (peer.sender, peer.recipient) = (false, false);
                peer.answer(SmtpStage::Reset, "250 2.0.0 Ok").await?;
            }
            "QUIT" => {
                peer.answer(SmtpStage::Quit, "221 2.0.0 Bye").await?;
                return Ok(());
            }
            _ => peer.say("502 5.5.1 Not understood").await?,
        }
    }
}

impl Peer<'_> {
    fn note(&self, line: &str) {
        if self.shared.keeps_bodies {
            let shown =
                if line.starts_with("AUTH") { line.split(' ').take(2).collect::<Vec<_>>().join(" ") } else { line.to_owned() };
            self.shared.seen().commands.push((self.talk.connection, shown));
        }
    }

    async fn more(&mut self) -> Result<(), Over> {
        if let Some(pause) = self.slowly {
            tokio::time::sleep(pause).await;
        }
        if self.net.read(&mut self.received).await? == 0 { Err(Over) } else { Ok(()) }
    }

    async fn line(&mut self) -> Result<String, Over> {
        loop {
            if let Some(end) = self.received.iter().position(|byte| *byte == b'\n') {
                let line: Vec<u8> = self.received.drain(..=end).collect();
                return Ok(String::from_utf8_lossy(&line).trim_end().to_owned());
            }
            self.more().await?;
        }
    }

    async fn say(&mut self, text: &str) -> Result<(), Over> {
        Ok(self.net.write(format!("{text}\r\n").as_bytes()).await?)
    }

    fn action(&self, moment: SmtpStage) -> SinkAction {
        (self.shared.script.lock().expect("scripts do not panic"))(&self.talk, moment)
    }

    /// Performs the script's action for this stage, or sends the usual reply. Returns the reply that was sent.
    async fn answer(&mut self, moment: SmtpStage, usual: &str) -> Result<String, Over> {
        let action = self.action(moment);
        self.act(action, usual).await
    }

    async fn act(&mut self, action: SinkAction, usual: &str) -> Result<String, Over> {
        let is_usual = action == SinkAction::Usual;
        let said = self.perform(action, usual).await;
        if !is_usual {
            self.shared.seen().unusual_actions += 1;
        }
        match said? {
            Said::AndStays(text) => Ok(text),
            Said::AndGoes => self.hang_up().await,
        }
    }

    async fn perform(&mut self, action: SinkAction, usual: &str) -> Result<Said, Over> {
        let stays = |text: &str| Ok(Said::AndStays(text.to_owned()));
        match action {
            SinkAction::Usual => self.say(usual).await?,
            SinkAction::Wait(time) => {
                tokio::time::sleep(time).await;
                self.say(usual).await?;
            }
            SinkAction::Slowly(pause) => {
                self.slowly = Some(pause);
                self.say(usual).await?;
            }
            SinkAction::UsualThenClose => {
                self.say(usual).await?;
                return Err(Over);
            }
            SinkAction::UsualThenReset => {
                self.say(usual).await?;
                self.net.bare().set_zero_linger()?;
                return Err(Over);
            }
            SinkAction::Say(text) => {
                self.say(&text).await?;
                return stays(&text);
            }
            SinkAction::SayThenClose(text) => {
                self.say(&text).await?;
                return Ok(Said::AndGoes);
            }
            SinkAction::WriteThenClose(bytes) => {
                self.net.write(&bytes).await?;
                return Ok(Said::AndGoes);
            }
            SinkAction::Close => return Err(Over),
            SinkAction::Reset => {
                self.net.bare().set_zero_linger()?;
                return Err(Over);
            }
            SinkAction::Silence => std::future::pending().await,
            SinkAction::Alert => {
                // Sends a fatal TLS alert unencrypted, in the middle of encrypted data.
                self.net.bare().write_all(&[0x15, 3, 3, 0, 2, 2, 40]).await?;
                return Ok(Said::AndGoes);
            }
        }
        stays(usual)
    }

    /// Closes the sending side and discards further input, so that the last reply reaches the client.
    async fn hang_up(&mut self) -> Result<String, Over> {
        self.net.bare().shutdown().await?;
        let mut rest = [0; 4096];
        while self.net.bare().read(&mut rest).await? > 0 {}
        Err(Over)
    }

    async fn hello(&mut self) -> Result<(), Over> {
        let offers = &self.shared.offers;
        let mut lines = vec!["sink.example".to_owned(), "ENHANCEDSTATUSCODES".to_owned()];
        let mut offer = |offered: bool, text: String| {
            if offered {
                lines.push(text)
            }
        };
        offer(offers.pipelining, "PIPELINING".to_owned());
        offer(offers.eight_bit, "8BITMIME".to_owned());
        offer(offers.smtputf8, "SMTPUTF8".to_owned());
        offer(offers.size.is_some(), format!("SIZE {}", offers.size.unwrap_or_default()));
        offer(offers.starttls.is_some() && !self.talk.encrypted, "STARTTLS".to_owned());
        offer(!offers.auth.is_empty(), format!("AUTH {}", offers.auth));
        let last = lines.len() - 1;
        let line = |(index, text): (usize, String)| format!("250{}{text}", if index == last { ' ' } else { '-' });
        let text = lines.into_iter().enumerate().map(line).collect::<Vec<_>>().join("\r\n");
        self.answer(SmtpStage::Hello, &text).await.map(drop)
    }

    async fn secure(mut self) -> Result<Self, Over> {
        let action = self.action(SmtpStage::StartTls);
        if !self.act(action, "220 2.0.0 Go ahead").await?.starts_with("220") {
            return Ok(self);
        }
        let (Net::Plain(stream), Some(tls)) = (self.net, &self.shared.offers.starttls) else { return Err(Over) };
        let net = Net::Secure(Box::new(tls.accept(stream).await?));
        Ok(Self { net, talk: Talk { encrypted: true, ..self.talk }, received: Vec::new(), ..self })
    }

    async fn login(&mut self, text: &str) -> Result<(), Over> {
        let (mechanism, first) = text.split_once(' ').unwrap_or((text, ""));
        let coded = match mechanism {
            "LOGIN" => {
                self.say("334 VXNlcm5hbWU6").await?;
                let user = self.line().await?;
                self.say("334 UGFzc3dvcmQ6").await?;
                format!("{user} {}", self.line().await?)
            }
            _ => first.to_owned(),
        };
        let is_known = self.shared.offers.logins.contains(&coded);
        if !is_known && mechanism == "XOAUTH2" {
            self.say("334 eyJzdGF0dXMiOiI0MDEifQ==").await?;
            self.line().await?;
        }
        if is_known {
            self.talk.login = Some(format!("{mechanism} {coded}"));
        }
        self.answer(SmtpStage::Login, if is_known { "235 2.7.0 Welcome" } else { "535 5.7.8 Who are you?" }).await.map(drop)
    }

    async fn data(&mut self) -> Result<(), Over> {
        let usual = if self.recipient { "354 Go ahead" } else { "503 5.5.1 Say to whom" };
        if !self.answer(SmtpStage::Data, usual).await?.starts_with("354") {
            return Ok(());
        }
        if self.received.is_empty() {
            self.more().await?;
        }
        match self.action(SmtpStage::Body) {
            SinkAction::Usual => {}
            SinkAction::Slowly(pause) => self.slowly = Some(pause),
            action => drop(self.act(action, "").await?),
        }
        let message = self.message().await?;
        let action = self.action(SmtpStage::Dot);
        let refuses = |text: &str| text.starts_with(['4', '5']);
        let is_taken = match &action {
            SinkAction::Say(text) | SinkAction::SayThenClose(text) => self.recipient && !refuses(text),
            _ => self.recipient,
        };
        let usual = if is_taken { "250 2.0.0 Ok: taken" } else { "554 5.5.1 No valid recipients" };
        // The message is recorded before the reply is sent, because it counts as sent even if the client is killed before it reads the
        // reply.
        if is_taken {
            self.keep(message);
        }
        (self.sender, self.recipient) = (false, false);
        self.act(action, usual).await?;
        self.talk.message += 1;
        Ok(())
    }

    /// Reads a message up to its final dot, and returns it without the dot.
    async fn message(&mut self) -> Result<Vec<u8>, Over> {
        const END: &[u8] = b"\r\n.\r\n";
        let mut from = 0;
        loop {
            if self.received.starts_with(&END[2..]) {
                self.received.drain(..END.len() - 2);
                return Ok(Vec::new());
            }
            let found = self.received[from..].windows(END.len()).position(|window| window == END);
            if let Some(at) = found {
                let rest = self.received.split_off(from + at + END.len());
                let mut message = std::mem::replace(&mut self.received, rest);
                message.truncate(from + at + 2);
                return Ok(message);
            }
            from = self.received.len().saturating_sub(END.len() - 1);
            self.more().await?;
        }
    }

    fn keep(&self, wire: Vec<u8>) {
        let mut hasher = DefaultHasher::new();
        wire.hash(&mut hasher);
        let head = wire.windows(4).position(|window| window == b"\r\n\r\n").map_or(&wire[..], |end| &wire[..end]);
        let head = String::from_utf8_lossy(head);
        let id = head.lines().find(|line| line.get(..11).is_some_and(|name| name.eq_ignore_ascii_case("message-id:")));
        let c = SinkMessage {
            talk: self.talk.clone(),
            message_id: id.map(|line| line[11..].trim().to_owned()).unwrap_or_default(),
            bytes: wire.len(),
            sum: hasher.finish(),
            body: if self.shared.keeps_bodies { undotted(&wire) } else { Vec::new() },
        };
        self.shared.seen().messages.push(c);
    }
}

fn undotted(wire: &[u8]) -> Vec<u8> {
    let mut body = Vec::with_capacity(wire.len());
    for line in wire.split_inclusive(|byte| *byte == b'\n') {
        body.extend_from_slice(line.strip_prefix(b".").unwrap_or(line));
    }
    body
}
