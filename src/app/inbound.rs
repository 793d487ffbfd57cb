//! Connects the listener for incoming mail to the feature that processes the mail.

use std::sync::{Arc, Weak};

use bytes::Bytes;
use tokio_rustls::TlsAcceptor;

use super::folder::{Folder, inbound_socket};
use crate::engine::api::Engine;
use crate::engine::api::http_types::Service;
use crate::engine::mail::inbound::Envelope;
use crate::engine::mail::inbound::listener::{self, HandlerResult, Handling, Listener, MailHandler, Options, ReceivedMessage};
use crate::engine::mail::transport::hello_name;
use crate::engine::tasks::Tasks;
use crate::features::tracking;
use crate::surfaces::cli::Problem;
use crate::surfaces::leader::WithLeader;

/// The local part of the address that receives complaints from feedback loops. A message to this address is processed only if it
/// contains one of Mailmill's tokens.
const COMPLAINTS: &str = "fbl";

/// Listens for mail on the addresses in the settings, and on a socket for programs that run as the service's user. A follower of a cluster
/// passes mail through `front` to the leader.
pub async fn bind<S: Service>(
    (engine, front): (&Arc<Engine>, Weak<WithLeader<S>>),
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
    let bound = listener::bind(options, Arc::new(MailReceiver { engine: Arc::downgrade(engine), front }), tasks)
        .await
        .map_err(Problem::failed)?;
    let listener = Arc::new(bound);
    engine.set_inbound(listener.clone());
    Ok(listener)
}

/// Passes mail to the engine. The references are weak, because the engine holds the listener.
struct MailReceiver<S> {
    engine: Weak<Engine>,
    front: Weak<WithLeader<S>>,
}

impl<S: Service> MailHandler for MailReceiver<S> {
    fn wants(&self, recipient: &str) -> bool {
        let local = recipient.split('@').next().unwrap_or_default();
        local.eq_ignore_ascii_case(COMPLAINTS)
            || self.engine.upgrade().is_some_and(|engine| tracking::is_ours(&engine, recipient))
    }

    fn take(&self, mail: ReceivedMessage) -> Handling {
        let (engine, front) = (self.engine.upgrade(), self.front.upgrade());
        Box::pin(async move {
            let Some(engine) = engine else { return HandlerResult::Later };
            let follows = engine.cluster.as_ref().is_some_and(|member| !member.leads());
            let raw = Bytes::from(mail.bytes);
            for recipient in &mail.recipients {
                let envelope = Envelope { sender: &mail.sender, recipient };
                let handled = match front.as_ref().filter(|_| follows) {
                    Some(front) => front.forward_mail(raw.clone(), &envelope).await,
                    None => tracking::receive(&engine, &raw, &envelope).await.map(drop),
                };
                if let Err(failure) = handled {
                    let cause = failure.cause.as_deref().unwrap_or(failure.code.info().message);
                    tracing::warn!(cause, "inbound mail was deferred; the sender will retry");
                    return HandlerResult::Later;
                }
            }
            HandlerResult::Durable
        })
    }
}
