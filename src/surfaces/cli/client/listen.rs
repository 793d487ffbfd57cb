//! `mailmill listen`: shows webhook events while you develop, and forwards them to a local server.
//!
//! A remote server cannot reach `localhost`, so this command polls instead: it creates a temporary webhook with an address that no request
//! can reach, reads the webhook's deliveries with their bodies, signs each body with the webhook's secret, and sends it to the local
//! server. The webhook is deleted at the end. With `--webhook`, an existing webhook is read in the same way and stays unchanged.

use std::collections::VecDeque;
use std::time::Duration;

use clap::ArgMatches;
use http::header::{HeaderMap, HeaderName, HeaderValue};
use serde_json::{Value, json};
use tokio::signal::unix::{SignalKind, signal};
use url::{Position, Url};

use super::super::problem::Problem;
use super::super::terminal::{harmless_json, note, print};
use super::arguments::{content_of, flag, one};
use super::output::Format;
use super::profiles::server_url;
use super::requests::{Call, Payload, Remote};
use super::safety;
use super::session::Session;
use super::table::cell;
use crate::base::clock::{Clock, SystemClock, Timestamp};
use crate::base::delivery_signature;
use crate::engine::api::response::WireTime;
use crate::vocab::limits::PAGE_LIMIT_MAX;

const POLL_PAUSE: Duration = Duration::from_secs(1);
/// The URL of a temporary webhook. Names that end in .invalid never exist (RFC 2606), so the server's own attempts fail immediately and
/// send no data.
const NOWHERE: &str = "https://listen.mailmill.invalid/";
/// The description that marks temporary webhooks, so that a later command can find one that was not deleted.
const DESCRIPTION: &str = "Temporary webhook of mailmill listen; delete it if the command no longer runs";
/// With `--yes`, a temporary webhook is deleted only if it is older than this, because a newer one may belong to a command that is still
/// running. Development sessions are usually shorter than a day.
const LEFTOVER_AGE_MS: i64 = 24 * 60 * 60 * 1_000;
/// The maximum number of deliveries that the command remembers as shown, and the maximum number of pages that one poll reads. Both are
/// larger than any burst of events that is likely during development.
const SEEN_MAX: usize = 10_000;
const PAGES_MAX: u64 = 20;

/// The webhook whose deliveries are shown.
struct Source {
    id: String,
    secret: Option<String>,
    is_temporary: bool,
}

/// Runs the command until it is interrupted, or until it has shown `--count` events.
pub async fn run(session: &Session, matches: &ArgMatches) -> Result<u8, Problem> {
    let forward = one(matches, "forward").map(|url| receiver(&url)).transpose()?;
    // The webhook must also be deleted if `kill` ends the process or the terminal closes.
    let awaited = |kind| {
        signal(kind)
            .map_err(|error| Problem::failed(format_args!("cannot wait for signals: {error}; check the limit on open files")))
    };
    let (mut terminated, mut closed) = (awaited(SignalKind::terminate())?, awaited(SignalKind::hangup())?);
    let source = source(session, matches, forward.is_some()).await?;
    let count = matches.try_get_one::<u64>("count").ok().flatten().copied();
    let polling = poll(session, &source, forward.as_ref(), count);
    let result = tokio::select! {
        result = polling => result,
        _ = tokio::signal::ctrl_c() => Ok(()),
        _ = terminated.recv() => Ok(()),
        _ = closed.recv() => Ok(()),
    };
    if source.is_temporary {
        session.call("webhooks.delete", json!({ "webhookId": source.id })).await?;
        if session.output.notes {
            note("Deleted the temporary webhook.");
        }
    }
    result.map(|()| 0)
}

/// Parses the URL of the local server. The scheme is optional.
fn receiver(url: &str) -> Result<(Remote, String), Problem> {
    let text = if url.contains("://") { url.to_owned() } else { format!("http://{url}") };
    let whole: Option<Url> = text.parse().ok();
    let whole = whole.filter(|url| matches!(url.scheme(), "http" | "https") && url.has_host());
    let whole = whole.filter(|url| url.username().is_empty() && url.password().is_none());
    let whole = whole.ok_or_else(|| {
        Problem::misused("--forward must be a URL like http://localhost:3000/hook, without a user name or password")
    })?;
    let mut server = server_url(&text)?;
    server.set_path("/");
    let target = whole[Position::BeforePath..Position::AfterQuery].to_owned();
    Ok((Remote::new(server, None, false), target))
}

async fn source(session: &Session, matches: &ArgMatches, forwards: bool) -> Result<Source, Problem> {
    if let Some(id) = one(matches, "webhook") {
        let secret = one(matches, "secret").map(|given| content_of(&given, "--secret")).transpose()?;
        let secret = secret.map(|text| text.trim().to_owned());
        if forwards && secret.as_deref().and_then(delivery_signature::secret_bytes).is_none() {
            return Err(Problem::misused(
                "--secret: enter the webhook's secret, which starts with whsec_; it signs the forwarded events",
            ));
        }
        return Ok(Source { id, secret, is_temporary: false });
    }
    let events = match matches.get_many::<String>("events") {
        Some(events) => events.cloned().map(Value::from).collect(),
        None => all_events(session).await?,
    };
    remove_leftovers(session, matches).await?;
    let input = json!({ "url": NOWHERE, "events": events, "description": DESCRIPTION, "standardSignature": true });
    let created = session.call("webhooks.create", input).await?;
    let text = |name: &str| created[name].as_str().map(str::to_owned);
    let secret = text("secret");
    if session.output.notes {
        note(&format!("Listening with a temporary webhook. Its secret: {}", secret.as_deref().unwrap_or_default()));
        note("Events arrive about a second after they occur. Press Ctrl-C to stop and delete the webhook.");
    }
    Ok(Source { id: text("id").unwrap_or_default(), secret, is_temporary: true })
}

async fn all_events(session: &Session) -> Result<Vec<Value>, Problem> {
    let known = session.call("webhooks.events", json!({})).await?;
    Ok(known["events"].as_array().into_iter().flatten().map(|event| event["type"].clone()).collect())
}

/// Offers to delete temporary webhooks that earlier commands left behind.
async fn remove_leftovers(session: &Session, matches: &ArgMatches) -> Result<(), Problem> {
    let all = session.call("webhooks.list", json!({ "limit": PAGE_LIMIT_MAX })).await?;
    for webhook in all["webhooks"].as_array().into_iter().flatten().filter(|webhook| webhook["description"] == DESCRIPTION) {
        let subject = format!("The temporary webhook of {}", cell(&webhook["createdAt"]));
        let is_confirmed = match flag(matches, "yes") {
            true => is_old(webhook, SystemClock.now()),
            false => safety::confirm(safety::Danger::Deletes, &subject, &session.remote).is_ok(),
        };
        if is_confirmed {
            session.call("webhooks.delete", json!({ "webhookId": webhook["id"] })).await?;
        }
    }
    Ok(())
}

/// Returns whether a temporary webhook is too old to belong to a command that is still running, for example on another machine.
fn is_old(webhook: &Value, now: Timestamp) -> bool {
    let created: Option<WireTime> = webhook["createdAt"].as_str().and_then(|text| text.parse().ok());
    created.is_some_and(|created| now.ms_since(created.0) > LEFTOVER_AGE_MS)
}

async fn poll(session: &Session, source: &Source, forward: Option<&(Remote, String)>, count: Option<u64>) -> Result<(), Problem> {
    // Deliveries that existed before the command started are not shown.
    let mut seen: VecDeque<String> = VecDeque::new();
    if !source.is_temporary {
        seen.extend(page(session, source, 0).await?.iter().filter_map(|delivery| delivery["id"].as_str().map(str::to_owned)));
    }
    let mut shown = 0;
    loop {
        for delivery in newer(session, source, &seen).await? {
            let id = delivery["id"].as_str().unwrap_or_default().to_owned();
            show(session, source, &id, forward).await?;
            seen.push_back(id);
            if seen.len() > SEEN_MAX {
                seen.pop_front();
            }
            shown += 1;
            if count == Some(shown) {
                return Ok(());
            }
        }
        tokio::time::sleep(POLL_PAUSE).await;
    }
}

async fn page(session: &Session, source: &Source, offset: u64) -> Result<Vec<Value>, Problem> {
    let input = json!({ "webhookId": source.id, "limit": PAGE_LIMIT_MAX, "offset": offset });
    let data = session.call_patiently("webhooks.deliveries", input).await?;
    Ok(data["deliveries"].as_array().cloned().unwrap_or_default())
}

/// Returns the deliveries that have not been shown, oldest first.
async fn newer(session: &Session, source: &Source, seen: &VecDeque<String>) -> Result<Vec<Value>, Problem> {
    let mut found: Vec<Value> = Vec::new();
    for number in 0..PAGES_MAX {
        let all = page(session, source, number * PAGE_LIMIT_MAX).await?;
        let is_last = (all.len() as u64) < PAGE_LIMIT_MAX;
        let known = all.iter().position(|delivery| delivery["id"].as_str().is_some_and(|id| seen.iter().any(|old| old == id)));
        let new = all.into_iter().filter(|delivery| !delivery["id"].as_str().is_some_and(|id| seen.iter().any(|old| old == id)));
        found.extend(new);
        if is_last || known.is_some() {
            break;
        }
    }
    found.reverse();
    Ok(found)
}

/// Prints an event, and forwards it.
async fn show(session: &Session, source: &Source, id: &str, forward: Option<&(Remote, String)>) -> Result<(), Problem> {
    let delivery = session.call_patiently("webhooks.delivery", json!({ "webhookId": source.id, "deliveryId": id })).await?;
    let Some(body) = delivery["body"].as_str() else {
        let event = cell(&delivery["eventType"]);
        note(&format!("The event {event} has no body: the body was erased, or the key lacks the permission webhook:write."));
        return Ok(());
    };
    let event: Value = serde_json::from_str(body).unwrap_or_default();
    let outcome = match forward {
        Some((remote, target)) => Some(send_on(remote, target, source, &delivery, body).await),
        None => None,
    };
    // In all formats except the table, standard output contains only the events, so a failure is reported on standard error.
    if let Some(Err(reason)) = &outcome
        && session.output.format != Format::Table
    {
        note(&format!("{} {} was not accepted by --forward: {reason}", cell(&event["type"]), cell(&event["id"])));
    }
    match session.output.format {
        Format::Table => {
            let outcome = outcome.map_or_else(String::new, |outcome| format!("  -> {}", outcome.unwrap_or_else(|reason| reason)));
            print(&format!("{}  {}{outcome}\n  {}\n", cell(&event["timestamp"]), cell(&event["type"]), cell(&event["data"])));
        }
        Format::Json | Format::Lines => print(&format!("{}\n", harmless_json(&event))),
        Format::Quiet => print(&format!("{}\n", cell(&event["id"]))),
    }
    Ok(())
}

/// Sends an event to the local server. Returns the status of a 2xx response. The error is any other status or, if there was no response,
/// the problem.
async fn send_on(remote: &Remote, target: &str, source: &Source, delivery: &Value, body: &str) -> Result<String, String> {
    let secret = source.secret.as_deref().unwrap_or_default();
    let headers = signed(secret, delivery, body, SystemClock.now().seconds());
    let payload = Payload::Json(body.to_owned().into());
    let call = Call { method: http::Method::POST, target: target.to_owned(), payload, headers, is_repeatable: false };
    match remote.send_once(&call).await {
        Ok(answer) if answer.status.is_success() => Ok(answer.status.to_string()),
        Ok(answer) => Err(answer.status.to_string()),
        Err(problem) => Err(problem.to_string()),
    }
}

/// Returns the headers of a delivery, with both signatures (`assets/docs/webhooks.md`).
fn signed(secret: &str, delivery: &Value, body: &str, seconds: i64) -> HeaderMap {
    let text = |name: &str| cell(&delivery[name]);
    let event = text("eventId");
    let bytes = delivery_signature::secret_bytes(secret).unwrap_or_default();
    let mut named = vec![
        ("x-service-event-type", text("eventType")),
        ("x-service-event-id", event.clone()),
        ("x-service-delivery-id", format!("{}-1", text("id"))),
        ("x-service-signature", delivery_signature::digest(secret, body.as_bytes())),
        ("webhook-id", event.clone()),
        ("webhook-timestamp", seconds.to_string()),
        ("webhook-signature", delivery_signature::standard(&bytes, &event, seconds, body.as_bytes())),
        ("user-agent", "Service-Webhooks/1.0".to_owned()),
    ];
    if delivery["test"] == true {
        named.push(("x-service-test", "true".to_owned()));
    }
    let header =
        |(name, value): (&'static str, String)| Some((HeaderName::from_static(name), HeaderValue::from_str(&value).ok()?));
    named.into_iter().filter_map(header).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn forwarded_events_have_both_signatures() {
        let delivery = json!({ "id": "d", "eventId": "evt", "eventType": "subscriber.added", "test": true });
        let headers = signed("whsec_AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=", &delivery, r#"{"a":1}"#, 1_700_000_000);
        let header = |name: &str| headers[name].to_str().expect("the header is text").to_owned();
        // The expected values are those in `features/webhooks/signature.rs`, which were computed with Python's hmac module.
        assert_eq!(header("x-service-signature"), "d3f1ea16147b8b8d0304fe2a9559b4b4b84d057af19b132191df3378cbd1234a");
        assert_eq!(header("webhook-signature"), "v1,HRuZCedO+PssxGDGFJFxYEgm9jSi18+GPruIagDDyRc=");
        assert_eq!((header("x-service-test").as_str(), header("webhook-id").as_str()), ("true", "evt"));
    }

    #[test]
    fn only_an_old_temporary_webhook_is_deleted_without_a_question() {
        let now = WireTime::sample().0;
        let created = |time: &str| is_old(&json!({ "createdAt": time }), now);
        assert!(created("2025-12-30T00:00:00.000Z"));
        assert!(!created("2025-12-31T12:00:00.000Z") && !created("unknown"));
    }

    #[test]
    fn the_local_server_can_be_written_without_a_scheme() {
        let (remote, target) = receiver("localhost:3000/hook?a=b").expect("it is a URL");
        assert_eq!((remote.url.as_str(), target.as_str()), ("http://localhost:3000/", "/hook?a=b"));
        assert!(receiver("ftp://x").is_err());
    }
}
