//! Incoming mail: connects the listener with the feature that interprets such mail.

use std::sync::Arc;

use tokio_rustls::TlsAcceptor;

use super::folder::{Folder, inbound_socket};
use crate::engine::api::Engine;
use crate::engine::jobs::Tasks;
use crate::engine::mail::inbound::Envelope;
use crate::engine::mail::inbound::listener::{self, HandlerResult, Handling, MailHandler, Options, ReceivedMessage, Running};
use crate::engine::mail::transport::hello_name;
use crate::features::tracking;
use crate::surfaces::cli::Problem;

/// The local part that feedback loops send complaints to. A message there counts only if it contains one of our tokens.
const COMPLAINTS: &str = "fbl";

/// Starts to accept mail, as configured, and from programs of the same user.
pub async fn serve(
    engine: &Arc<Engine>,
    folder: &Folder,
    tls: Option<TlsAcceptor>,
    connections: usize,
    tasks: &Tasks,
) -> Result<Running, Problem> {
    let mail = &engine.settings.mail;
    let options = Options {
        smtp: mail.inbound,
        lmtp: mail.inbound_lmtp,
        socket: Some(inbound_socket(folder.path())),
        host: hello_name(&engine.settings),
        tls,
        connections,
    };
    listener::serve(options, Arc::new(Post(engine.clone())), tasks).await.map_err(Problem::failed)
}

struct Post(Arc<Engine>);

impl MailHandler for Post {
    fn wants(&self, recipient: &str) -> bool {
        let local = recipient.split('@').next().unwrap_or_default();
        local.eq_ignore_ascii_case(COMPLAINTS) || tracking::is_ours(&self.0, recipient)
    }

    fn take(&self, mail: ReceivedMessage) -> Handling {
        let engine = self.0.clone();
        Box::pin(async move {
            for recipient in &mail.recipients {
                let envelope = Envelope { sender: &mail.sender, recipient };
                if let Err(failure) = tracking::receive(&engine, &mail.bytes, &envelope).await {
                    let cause = failure.cause.as_deref().unwrap_or(failure.code.info().message);
                    tracing::warn!(cause, "inbound mail cannot be accepted now");
                    return HandlerResult::Later;
                }
            }
            HandlerResult::Durable
        })
    }
}
