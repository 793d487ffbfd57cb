//! Incoming mail: connects the listener with the feature that processes the mail.

use std::sync::{Arc, Weak};

use tokio_rustls::TlsAcceptor;

use super::folder::{Folder, inbound_socket};
use crate::engine::api::Engine;
use crate::engine::mail::inbound::Envelope;
use crate::engine::mail::inbound::listener::{self, HandlerResult, Handling, Listener, MailHandler, Options, ReceivedMessage};
use crate::engine::mail::transport::hello_name;
use crate::engine::tasks::Tasks;
use crate::features::tracking;
use crate::surfaces::cli::Problem;

/// The local part of the address that receives complaints from feedback loops. A message to this address is processed only if it
/// contains one of Mailmill's tokens.
const COMPLAINTS: &str = "fbl";

/// Listens for mail on the addresses in the settings, and on a socket for programs of the same user.
pub async fn bind(
    engine: &Arc<Engine>,
    folder: &Folder,
    tls: Option<TlsAcceptor>,
    connections: usize,
    tasks: &Tasks,
) -> Result<Arc<Listener>, Problem> {
    let mail = &engine.settings.mail;
    let options = Options {
        smtp: mail.inbound,
        lmtp: mail.inbound_lmtp,
        socket: Some(inbound_socket(folder.path())),
        host: hello_name(&engine.settings),
        tls,
        connections,
    };
    let bound = listener::bind(options, Arc::new(MailReceiver(Arc::downgrade(engine))), tasks).await.map_err(Problem::failed)?;
    let listener = Arc::new(bound);
    engine.set_inbound(listener.clone());
    Ok(listener)
}

/// Passes mail to the engine. The reference is weak, because the engine holds the listener.
struct MailReceiver(Weak<Engine>);

impl MailHandler for MailReceiver {
    fn wants(&self, recipient: &str) -> bool {
        let local = recipient.split('@').next().unwrap_or_default();
        local.eq_ignore_ascii_case(COMPLAINTS) || self.0.upgrade().is_some_and(|engine| tracking::is_ours(&engine, recipient))
    }

    fn take(&self, mail: ReceivedMessage) -> Handling {
        let engine = self.0.upgrade();
        Box::pin(async move {
            let Some(engine) = engine else { return HandlerResult::Later };
            for recipient in &mail.recipients {
                let envelope = Envelope { sender: &mail.sender, recipient };
                if let Err(failure) = tracking::receive(&engine, &mail.bytes, &envelope).await {
                    let cause = failure.cause.as_deref().unwrap_or(failure.code.info().message);
                    tracing::warn!(cause, "inbound mail was deferred; the sender will retry");
                    return HandlerResult::Later;
                }
            }
            HandlerResult::Durable
        })
    }
}
