//! `mailmill inbound`: passes one message from standard input to the running service. The command is for mail servers that pipe messages
//! into programs. Its exit code (as in `sysexits.h`) says whether the message was accepted, should be retried later, or should be returned
//! to its sender.
//!
//! The command speaks LMTP to the service's socket. The service makes all decisions.

use std::io::{self, BufRead, BufReader, Read, Write};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::process::ExitCode;

use super::args::Inbound;
use crate::vocab::limits;

/// The result of passing a message to the service.
#[derive(Debug, PartialEq, Eq)]
pub enum HandoverResult {
    Taken,
    /// The message was rejected, with this reply from the service or for this reason.
    Refused(String),
    /// Why the service cannot accept the message now, for example because it is not running.
    Later(String),
}

impl HandoverResult {
    /// Returns the exit code that tells the mail server the result.
    pub fn exit_code(&self) -> ExitCode {
        match self {
            Self::Taken => ExitCode::SUCCESS,
            // EX_NOUSER: the mail server returns the message to its sender, if there is one.
            Self::Refused(_) => ExitCode::from(67),
            // EX_TEMPFAIL: the mail server retries the message later.
            Self::Later(_) => ExitCode::from(75),
        }
    }

    /// Returns why the message was not accepted; `None` if it was accepted.
    pub fn trouble(&self) -> Option<&str> {
        match self {
            Self::Taken => None,
            Self::Refused(why) | Self::Later(why) => Some(why),
        }
    }
}

/// Passes the message in `input` to the service at `socket`.
pub fn hand_over(socket: &Path, wanted: &Inbound, input: impl Read) -> HandoverResult {
    let mut message = Vec::new();
    if let Err(error) = input.take(limits::INBOUND_BYTES_MAX as u64 + 1).read_to_end(&mut message) {
        return HandoverResult::Later(format!("could not read the message: {error}"));
    }
    if message.len() > limits::INBOUND_BYTES_MAX {
        return HandoverResult::Refused(format!("the message is larger than {} bytes", limits::INBOUND_BYTES_MAX));
    }
    let stream = match UnixStream::connect(socket) {
        Ok(stream) => stream,
        Err(error) => return HandoverResult::Later(format!("could not reach the service at {}: {error}", socket.display())),
    };
    match converse(stream, wanted, &message) {
        Ok(result) => result,
        Err(error) => HandoverResult::Later(format!("the connection to the service failed: {error}")),
    }
}

fn converse(stream: UnixStream, wanted: &Inbound, message: &[u8]) -> io::Result<HandoverResult> {
    let mut replies = BufReader::new(stream.try_clone()?);
    let mut stream = stream;
    let mut reply = move || -> io::Result<String> {
        loop {
            let mut line = String::new();
            if replies.read_line(&mut line)? == 0 {
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
            if line.as_bytes().get(3) != Some(&b'-') {
                return Ok(line.trim_end().to_owned());
            }
        }
    };
    reply()?;
    let sender = wanted.sender.trim_matches(['<', '>']);
    let mut commands = vec!["LHLO localhost".to_owned(), format!("MAIL FROM:<{sender}>")];
    commands.extend(wanted.recipients.iter().map(|recipient| format!("RCPT TO:<{}>", recipient.trim_matches(['<', '>']))));
    commands.push("DATA".into());
    for command in commands {
        if command.contains(['\r', '\n']) {
            return Ok(HandoverResult::Refused("an address contains a line break".into()));
        }
        stream.write_all(format!("{command}\r\n").as_bytes())?;
        let said = reply()?;
        match said.as_bytes().first() {
            Some(b'2' | b'3') => {}
            Some(b'5') => return Ok(HandoverResult::Refused(said)),
            _ => return Ok(HandoverResult::Later(said)),
        }
    }
    stream.write_all(&dotted(message))?;
    let mut result = HandoverResult::Taken;
    for _ in &wanted.recipients {
        let said = reply()?;
        match said.as_bytes().first() {
            Some(b'2') => {}
            Some(b'5') if result == HandoverResult::Taken => result = HandoverResult::Refused(said),
            Some(b'5') => {}
            _ => result = HandoverResult::Later(said),
        }
    }
    Ok(result)
}

/// Returns the message with CRLF line endings, dot-stuffing and the final dot. Messages from a pipe have the system's line endings.
fn dotted(message: &[u8]) -> Vec<u8> {
    let mut data = Vec::with_capacity(message.len() + message.len() / 32);
    let message = message.strip_suffix(b"\n").unwrap_or(message);
    for line in message.split(|byte| *byte == b'\n') {
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        if line.starts_with(b".") {
            data.push(b'.');
        }
        // Carriage returns inside a line are removed, because the service rejects them as bare line endings.
        data.extend(line.iter().filter(|byte| **byte != b'\r'));
        data.extend_from_slice(b"\r\n");
    }
    data.extend_from_slice(b".\r\n");
    data
}

#[cfg(test)]
mod tests {
    use std::sync::{Arc, Mutex};
    use std::time::Duration;

    use super::*;
    use crate::engine::mail::inbound::listener::{HandlerResult, Handling, MailHandler, Options, ReceivedMessage, bind};
    use crate::engine::tasks::Tasks;

    #[derive(Default)]
    struct RecordingHandler(Mutex<Vec<ReceivedMessage>>);

    impl MailHandler for RecordingHandler {
        fn wants(&self, recipient: &str) -> bool {
            recipient.starts_with("b+")
        }

        fn take(&self, mail: ReceivedMessage) -> Handling {
            let answer = if mail.bytes.starts_with(b"later") { HandlerResult::Later } else { HandlerResult::Durable };
            self.0.lock().expect("no thread panics while it holds the lock").push(mail);
            Box::pin(std::future::ready(answer))
        }
    }

    fn wanted(recipients: &[&str]) -> Inbound {
        Inbound { sender: "<>".into(), recipients: recipients.iter().map(|recipient| (*recipient).to_owned()).collect() }
    }

    #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
    async fn a_message_is_accepted_rejected_or_kept_by_the_mail_server() {
        let folder = tempfile::tempdir().expect("a temporary folder can be created");
        let socket = folder.path().join("inbound.sock");
        let hand = |recipients: &[&str], message: &'static str| {
            let (socket, wanted) = (socket.clone(), wanted(recipients));
            tokio::task::spawn_blocking(move || hand_over(&socket, &wanted, message.as_bytes()))
        };
        let unknown = hand(&["b+x@a.example"], "x").await.expect("the thread does not panic");
        assert!(matches!(unknown, HandoverResult::Later(_)), "{unknown:?}");
        let handler = Arc::new(RecordingHandler::default());
        let tasks = Tasks::new(tokio::runtime::Handle::current());
        let options = Options { socket: Some(socket.clone()), host: "mill".into(), ..Options::default() };
        let listener = bind(options, handler.clone(), &tasks).await.expect("the listener can be bound to the socket");
        #[expect(clippy::disallowed_methods, reason = "it ends with the test's runtime")]
        let _running = tokio::task::spawn(async move { listener.run(Duration::ZERO).await });
        let taken =
            hand(&["b+x@a.example", "<b+y@a.example>"], "From: a\n\n.one\r\ntwo\r\r\n").await.expect("the thread does not panic");
        assert_eq!((&taken, taken.trouble()), (&HandoverResult::Taken, None));
        let mail = handler.0.lock().expect("no thread panics while it holds the lock").pop().expect("one message was received");
        assert_eq!(String::from_utf8_lossy(&mail.bytes), "From: a\r\n\r\n.one\r\ntwo\r\n");
        assert_eq!((mail.sender.as_str(), mail.recipients.len()), ("", 2));
        let refused = hand(&["ada@a.example"], "x").await.expect("the thread does not panic");
        assert!(matches!(&refused, HandoverResult::Refused(why) if why.starts_with("550 5.1.1")), "{refused:?}");
        let later = hand(&["b+x@a.example"], "later").await.expect("the thread does not panic");
        assert!(matches!(&later, HandoverResult::Later(why) if why.starts_with("451 ")), "{later:?}");
    }
}
