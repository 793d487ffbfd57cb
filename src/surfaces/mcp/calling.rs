//! Runs tool calls: calls the operation, shortens pages that are too large, and waits for background work.

use std::time::Duration;

use http::{HeaderMap, HeaderValue};
use rmcp::model::{CallToolRequestParams, CallToolResponse, CallToolResult, ErrorData, JsonObject, ProgressNotificationParam};
use serde_json::{Value, json};

use super::call::Call;
use super::confirmation::Confirmation;
use super::outcome;
use super::tools::{CONFIRM, Definition, Effect, Follow, IDEMPOTENCY_KEY, PAGE, WAIT};
use crate::engine::api::http_types::Reply;
use crate::surfaces::internal_call;
use crate::vocab::limits;

/// Tells the agent how to treat a secret in a result.
const SECRET_NOTE: &str = "The result contains a secret that is shown only now: give it to the user or store it where the user needs it, \
                           and do not repeat it anywhere else.";
/// Tells the agent that the call was executed, although its result omits lists and objects.
const REDUCED_NOTE: &str =
    "The call was executed. Its result is too large for a tool, so the lists and objects in it are left out.";

impl Call<'_> {
    /// Runs the call. An operation's error is returned as a tool result, so that the agent can correct the call.
    pub async fn run(&self, request: CallToolRequestParams) -> Result<CallToolResponse, ErrorData> {
        let mut arguments = request.arguments.clone().unwrap_or_default();
        let own = match Own::take(self.definition, &mut arguments) {
            Ok(own) => own,
            Err(message) => return Ok(outcome::failure(message).into()),
        };
        if let Err(refusal) = self.check(&arguments) {
            return Ok((*refusal).into());
        }
        // If the key lacks the required permission, the call fails anyway, so the user is not asked to confirm it.
        if self.definition.row.effect.needs_confirmation() && self.definition.is_for(self.caller.key.permissions) {
            match self.confirmation(&request, &arguments, own.confirm).await? {
                Confirmation::Given => {}
                Confirmation::Refused(refusal) => return Ok(refusal.into()),
                Confirmation::Asked(question) => return Ok(question.into()),
            }
        }
        let called = tokio::select! {
            called = self.call(arguments, &own) => called,
            // The client has cancelled the call, so it ignores this result.
            () = self.context.ct.cancelled() => outcome::failure("The call was cancelled. Work that had started continues."),
        };
        Ok(called.into())
    }

    /// Checks the arguments before the user is asked, so that the user does not confirm a call that cannot succeed.
    fn check(&self, arguments: &JsonObject) -> Result<(), Box<CallToolResult>> {
        if let Some(missing) = self.definition.required.iter().find(|name| !arguments.contains_key(*name)) {
            return Err(Box::new(outcome::failure(format!("{missing}: this argument is missing; add it."))));
        }
        let input = Value::Object(arguments.clone());
        internal_call::check(self.api.operations(), self.definition.spec.id, input).map_err(|failure| {
            let body = json!({ "code": failure.code.info().wire, "error": failure.text() });
            Box::new(outcome::refusal(failure.code.info().status, &HeaderMap::new(), &body, self.nonce))
        })
    }

    async fn call(&self, mut arguments: JsonObject, own: &Own) -> CallToolResult {
        if self.definition.is_paged && !arguments.contains_key("limit") {
            arguments.insert("limit".into(), limits::TOOL_PAGE_LIMIT.into());
        }
        loop {
            let reply = self.ask(self.definition.spec.id, arguments.clone(), own.idempotency_key.as_ref()).await;
            let body = internal_call::body(&reply);
            if !reply.status.is_success() {
                return outcome::refusal(reply.status.as_u16(), &reply.headers, &body, self.nonce);
            }
            let mut structured = json!({ "data": body["data"], "requestId": body["metadata"]["requestId"] });
            if reply.headers.contains_key("idempotent-replayed") {
                structured["replayed"] = true.into();
            }
            if let Some(follow) = self.definition.row.follow.filter(|_| own.wait)
                && let Some(last) = self.follow(follow, &arguments, &body["data"]).await
            {
                structured["finalStatus"] = last;
            }
            let note = if self.definition.spec.answers_secret { SECRET_NOTE } else { "" };
            let title = self.definition.spec.summary;
            if let Some(result) = outcome::success(title, note, &structured, self.nonce) {
                return result;
            }
            // A call that changed something must not appear to have failed, because the agent would repeat it.
            if self.definition.row.effect != Effect::Read {
                outcome::reduce(&mut structured);
                return outcome::success(title, REDUCED_NOTE, &structured, self.nonce)
                    .unwrap_or_else(|| outcome::own(title, json!({})));
            }
            // If the page is too large, it is requested again with a quarter of the `limit`.
            match arguments.get("limit").and_then(Value::as_u64).filter(|limit| self.definition.is_paged && *limit > 1) {
                Some(limit) => arguments.insert("limit".into(), (limit / 4).max(1).into()),
                None => return outcome::failure("The result is too large for a tool. Read it through the API or the dashboard."),
            };
        }
    }

    /// Waits until the background work has ended or [`limits::TOOL_WAIT`] has passed. Returns the last status of the work, or `None` if no
    /// status was read.
    async fn follow(&self, follow: &Follow, arguments: &JsonObject, started: &Value) -> Option<Value> {
        let mut selector = JsonObject::new();
        for name in follow.fields {
            let value = started.get(*name).or_else(|| arguments.get(*name));
            selector.insert((*name).to_owned(), value?.clone());
        }
        let (mut shown, mut last) = (-1.0, None);
        let mut waited = Duration::ZERO;
        while waited < limits::TOOL_WAIT {
            let reply = self.ask(follow.status, selector.clone(), None).await;
            let Some(pause) = pause(&reply) else { break };
            waited += pause;
            if !reply.status.is_success() {
                tokio::time::sleep(pause).await;
                continue;
            }
            let data = internal_call::body(&reply)["data"].take();
            let status = data["status"].as_str().unwrap_or_default().to_owned();
            let ends = follow.ends.contains(&status.as_str());
            // When the work has ended, report 100, even if the operation reports no progress.
            let progress = if ends { 100.0 } else { percentage(&data) };
            // The protocol requires increasing progress values.
            if progress > shown {
                shown = progress;
                self.notify(progress, &status).await;
            }
            last = Some(data);
            if ends {
                break;
            }
            tokio::time::sleep(pause).await;
        }
        last
    }

    async fn notify(&self, progress: f64, status: &str) {
        let Some(token) = self.context.meta.get_progress_token() else { return };
        let progress = ProgressNotificationParam::new(token, progress).with_total(100.0).with_message(status);
        // If the client has disconnected, the notification is lost, but the work continues.
        let _ = self.context.peer.notify_progress(progress).await;
    }
}

/// The time between two reads of the work's status.
const WAIT_INTERVAL: Duration = Duration::from_millis(500);
/// The longest pause that a response can request. It is a minute, because request budgets are per minute.
const PAUSE_MAX: Duration = Duration::from_secs(60);

/// Returns the time until the next read of the work's status. After a short outage or an exhausted request budget, the status is read
/// again, because the work continues. After any other error, returns `None`.
fn pause(reply: &Reply) -> Option<Duration> {
    match reply.status.as_u16() {
        200..=299 => Some(WAIT_INTERVAL),
        429 | 503 => {
            let seconds = reply.headers.get(http::header::RETRY_AFTER).and_then(|value| value.to_str().ok()?.parse().ok());
            Some(Duration::from_secs(seconds.unwrap_or(1)).clamp(WAIT_INTERVAL, PAUSE_MAX))
        }
        _ => None,
    }
}

/// Returns the progress of the work, from 0 to 100. Operations report it as a fraction, or as `percentage`.
fn percentage(data: &Value) -> f64 {
    let progress = &data["progress"];
    let fraction = progress.as_f64().map(|fraction| fraction * 100.0);
    fraction.or_else(|| progress["percentage"].as_f64()).unwrap_or_default()
}

/// The arguments for the tool itself, which are not passed to the operation.
struct Own {
    idempotency_key: Option<HeaderValue>,
    confirm: bool,
    wait: bool,
}

impl Own {
    /// Removes the tool's own arguments from `arguments` and returns them, or an error message for the agent.
    fn take(definition: &Definition, arguments: &mut JsonObject) -> Result<Self, String> {
        if definition.is_paged && arguments.contains_key(PAGE) {
            return Err(format!("{PAGE}: this tool has no such argument; use `offset` or `cursor` instead."));
        }
        let mut flag = |name: &str, exists: bool| match arguments.get(name).filter(|_| exists) {
            None => Ok(false),
            Some(Value::Bool(value)) => {
                let value = *value;
                arguments.remove(name);
                Ok(value)
            }
            Some(_) => Err(format!("{name}: must be true or false.")),
        };
        let confirm = flag(CONFIRM, definition.row.effect.needs_confirmation())?;
        let wait = flag(WAIT, definition.row.follow.is_some())?;
        let idempotency_key = match arguments.remove(IDEMPOTENCY_KEY) {
            None => None,
            Some(Value::String(key)) if definition.is_keyed() => Some(
                HeaderValue::from_str(&key)
                    .map_err(|_| format!("{IDEMPOTENCY_KEY}: use visible ASCII characters and spaces only."))?,
            ),
            Some(_) if definition.is_keyed() => return Err(format!("{IDEMPOTENCY_KEY}: must be a string.")),
            Some(_) => return Err(format!("{IDEMPOTENCY_KEY}: this tool has no such argument; remove it.")),
        };
        Ok(Self { idempotency_key, confirm, wait })
    }
}

#[cfg(test)]
mod tests {
    use bytes::Bytes;
    use http::StatusCode;

    use super::super::tools;
    use super::*;
    use crate::engine::api::http_types::ReplyBody;
    use crate::engine::api::openapi;
    use crate::operations::OPERATIONS;

    /// If a request has a page number, some lists are returned as arrays without the total, so tools accept no page number.
    #[test]
    fn a_page_number_is_refused() {
        let all = tools::definitions(OPERATIONS, &openapi::document(OPERATIONS, None));
        let list = all.iter().find(|definition| definition.spec.id == "contacts.list").expect("the tool exists");
        let mut arguments = JsonObject::from_iter([(PAGE.to_owned(), json!(2))]);
        let refused = Own::take(list, &mut arguments).err().expect("the argument does not exist");
        assert!(refused.starts_with("page: ") && refused.contains("offset"), "{refused}");
    }

    #[test]
    fn a_used_up_budget_does_not_end_the_wait() {
        let reply = |status: u16, retry_after: Option<&'static str>| {
            let mut headers = HeaderMap::new();
            headers.extend(retry_after.map(|seconds| (http::header::RETRY_AFTER, HeaderValue::from_static(seconds))));
            Reply { status: StatusCode::from_u16(status).expect("a status"), headers, body: ReplyBody::Whole(Bytes::new()) }
        };
        assert_eq!(pause(&reply(200, None)), Some(WAIT_INTERVAL));
        assert_eq!(pause(&reply(429, Some("7"))), Some(Duration::from_secs(7)));
        assert_eq!(pause(&reply(503, Some("9000"))), Some(PAUSE_MAX));
        assert_eq!((pause(&reply(404, None)), pause(&reply(500, None))), (None, None));
    }
}
