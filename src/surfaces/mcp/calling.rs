//! Calls of tools: confirmation, the call of the operation through the pipeline, paging, and waiting for work to end.

use std::time::Duration;

use http::HeaderValue;
use rmcp::RoleServer;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ElicitRequest, ElicitRequestParams, ElicitationAction,
    ElicitationSchema, ErrorData, InputRequest, InputRequiredResult, JsonObject, ProgressNotificationParam, ProtocolVersion,
};
use rmcp::service::RequestContext;
use serde_json::{Value, json};

use super::caller::ToolCaller;
use super::outcome;
use super::tools::{CONFIRM, Definition, Effect, Follow, IDEMPOTENCY_KEY, WAIT};
use crate::engine::api::Principal;
use crate::engine::api::call::Api;
use crate::engine::api::http_types::Reply;
use crate::engine::api::input;
use crate::surfaces::internal_call;
use crate::vocab::environment::Environment;
use crate::vocab::limits;

/// The name of the answer to the question for confirmation.
const ANSWER: &str = "confirm";

/// A call of a tool.
pub struct Call<'a> {
    pub api: &'a Api,
    pub caller: &'a ToolCaller,
    pub definition: &'a Definition,
    pub context: &'a RequestContext<RoleServer>,
    /// The number in the marks around data. It is unpredictable, so that the data cannot contain the marks.
    pub nonce: u64,
}

impl Call<'_> {
    /// Runs the call. Errors of the operation are results, so that the agent can correct its call.
    pub async fn run(&self, request: CallToolRequestParams) -> Result<CallToolResponse, ErrorData> {
        let mut arguments = request.arguments.clone().unwrap_or_default();
        let own = match Own::take(self.definition, &mut arguments) {
            Ok(own) => own,
            Err(message) => return Ok(outcome::failure(message).into()),
        };
        if self.definition.row.effect.needs_confirmation() {
            match self.confirmation(&request, &arguments, own.confirm).await? {
                Confirmation::Given => {}
                Confirmation::Refused(message) => return Ok(outcome::failure(message).into()),
                Confirmation::Asked(question) => return Ok(question.into()),
            }
        }
        let called = tokio::select! {
            called = self.call(arguments, &own) => called,
            // The client no longer waits for a result.
            () = self.context.ct.cancelled() => outcome::failure("The call was cancelled. Work that had started continues."),
        };
        Ok(called.into())
    }

    /// Makes sure that the user agrees to this call.
    async fn confirmation(
        &self,
        request: &CallToolRequestParams,
        arguments: &JsonObject,
        confirmed: bool,
    ) -> Result<Confirmation, ErrorData> {
        let capabilities = self.context.client_capabilities();
        // A client that names no modes of elicitation supports forms.
        let has_forms =
            capabilities.and_then(|all| all.elicitation).is_some_and(|modes| modes.form.is_some() || modes.url.is_none());
        if !has_forms {
            return Ok(match confirmed {
                true => Confirmation::Given,
                false => Confirmation::Refused(unconfirmed(self.definition)),
            });
        }
        let question = ElicitRequestParams::FormElicitationParams {
            meta: None,
            message: self.question(arguments),
            requested_schema: ElicitationSchema::builder()
                .required_bool(ANSWER)
                .build()
                .map_err(|error| ErrorData::internal_error(error.to_string(), None))?,
        };
        let is_inline = self.context.protocol_version().is_some_and(|version| version >= ProtocolVersion::V_2026_07_28);
        let answer: Value = if is_inline {
            // The client asks the user, then repeats the call with the answer.
            match request.input_responses.as_ref().and_then(|answers| answers.get(ANSWER)) {
                Some(answer) => answer.clone(),
                None => {
                    let question = InputRequest::Elicitation(ElicitRequest::new(question));
                    let questions = [(ANSWER.to_owned(), question)].into();
                    return Ok(Confirmation::Asked(InputRequiredResult::from_input_requests(questions)));
                }
            }
        } else {
            let asked = self.context.peer.create_elicitation_with_timeout(question, Some(limits::TOOL_QUESTION_TIME));
            let asked = tokio::select! {
                asked = asked => asked,
                () = self.context.ct.cancelled() => return Ok(Confirmation::Refused("The call was cancelled.".into())),
            };
            match asked {
                Ok(result) => json!({ "action": result.action, "content": result.content }),
                Err(_) => {
                    return Ok(Confirmation::Refused("The user did not answer the question for confirmation in time.".into()));
                }
            }
        };
        let accepted = answer["action"] == json!(ElicitationAction::Accept) && answer["content"][ANSWER] == true;
        Ok(match accepted {
            true => Confirmation::Given,
            false => Confirmation::Refused("The user did not confirm the call, so nothing was done. Do not repeat it.".into()),
        })
    }

    /// Returns the question for the user. It contains the arguments, because the user agrees to exactly this call.
    fn question(&self, arguments: &JsonObject) -> String {
        let mut given = Value::Object(arguments.clone()).to_string();
        if given.len() > limits::TOOL_QUESTION_BYTES_MAX {
            given.truncate(given.floor_char_boundary(limits::TOOL_QUESTION_BYTES_MAX));
            given.push('…');
        }
        let environment = self.caller.key.environment;
        let consequence = match (self.definition.row.effect, environment) {
            (Effect::Send, Environment::Live) => "This sends email to real recipients.",
            (Effect::Send, Environment::Test) => "This sends test email to the built-in inbox.",
            _ => "This cannot be undone.",
        };
        format!("{} ({environment} data)? {consequence}\n{given}", self.definition.spec.summary)
    }

    async fn call(&self, mut arguments: JsonObject, own: &Own) -> CallToolResult {
        if let Some(missing) = self.definition.required.iter().find(|name| !arguments.contains_key(*name)) {
            return outcome::failure(format!("{missing}: this argument is missing; add it."));
        }
        if self.definition.is_paged && !["limit", "page"].iter().any(|name| arguments.contains_key(*name)) {
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
            if let Some(result) = outcome::success(self.definition.spec.summary, structured, self.nonce) {
                return result;
            }
            // A page that is too large is read again with fewer items.
            match arguments.get("limit").and_then(Value::as_u64).filter(|limit| self.definition.is_paged && *limit > 1) {
                Some(limit) => arguments.insert("limit".into(), (limit / 4).max(1).into()),
                None => return outcome::failure("The result is too large for a tool. Read it through the API or the dashboard."),
            };
        }
    }

    /// Calls an operation through the pipeline, as the session's key.
    async fn ask(&self, operation: &str, arguments: JsonObject, idempotency_key: Option<&HeaderValue>) -> Reply {
        let api = self.api;
        let mut request = internal_call::request(api.operations(), operation, Value::Object(arguments), None, self.caller.peer);
        if let Some(key) = idempotency_key {
            request.headers.insert(input::IDEMPOTENCY_KEY, key.clone());
        }
        api.answer(request, Some(Principal::Key(self.caller.key.clone()))).await
    }

    /// Waits for the end of the work, and returns its last status; `None` if the first response already is the end.
    async fn follow(&self, follow: &Follow, arguments: &JsonObject, started: &Value) -> Option<Value> {
        let mut selector = JsonObject::new();
        for name in follow.fields {
            let value = started.get(*name).or_else(|| arguments.get(*name));
            selector.insert((*name).to_owned(), value?.clone());
        }
        let (mut shown, mut last) = (-1.0, None);
        for _ in 0..limits::TOOL_WAIT_POLLS_MAX {
            let reply = self.ask(follow.status, selector.clone(), None).await;
            if !reply.status.is_success() {
                break;
            }
            let data = internal_call::body(&reply)["data"].take();
            let status = data["status"].as_str().unwrap_or_default().to_owned();
            let progress = percentage(&data);
            // The protocol requires that progress increases.
            if progress > shown {
                shown = progress;
                self.notify(progress, &status).await;
            }
            last = Some(data);
            if follow.ends.contains(&status.as_str()) {
                break;
            }
            tokio::time::sleep(WAIT_INTERVAL).await;
        }
        last
    }

    async fn notify(&self, progress: f64, status: &str) {
        let Some(token) = self.context.meta.get_progress_token() else { return };
        let progress = ProgressNotificationParam::new(token, progress).with_total(100.0).with_message(status);
        // A client that has gone away gets no progress; the work continues.
        let _ = self.context.peer.notify_progress(progress).await;
    }
}

/// How often the status of work is read.
const WAIT_INTERVAL: Duration = Duration::from_millis(500);

/// Returns the progress of work from 0 to 100. Operations report it as a percentage or as a fraction.
fn percentage(data: &Value) -> f64 {
    let progress = &data["progress"];
    let fraction = progress.as_f64().map(|fraction| fraction * 100.0);
    fraction.or_else(|| progress["percentage"].as_f64()).unwrap_or_default()
}

enum Confirmation {
    Given,
    Refused(String),
    Asked(InputRequiredResult),
}

fn unconfirmed(definition: &Definition) -> String {
    let what = match definition.row.effect {
        Effect::Send => "sends email",
        _ => "deletes or stops something",
    };
    format!("{CONFIRM}: this tool {what}. Ask the user, then call it again with the same arguments and {CONFIRM}: true.")
}

/// The arguments of the tool itself, which the operation does not get.
struct Own {
    idempotency_key: Option<HeaderValue>,
    confirm: bool,
    wait: bool,
}

impl Own {
    /// Takes the tool's own arguments out of `arguments`.
    fn take(definition: &Definition, arguments: &mut JsonObject) -> Result<Self, String> {
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
            Some(Value::String(key)) if definition.is_keyed() => {
                Some(HeaderValue::from_str(&key).map_err(|_| format!("{IDEMPOTENCY_KEY}: use visible ASCII characters only."))?)
            }
            Some(_) if definition.is_keyed() => return Err(format!("{IDEMPOTENCY_KEY}: must be a string.")),
            Some(_) => return Err(format!("{IDEMPOTENCY_KEY}: this tool has no such argument; remove it.")),
        };
        Ok(Self { idempotency_key, confirm, wait })
    }
}
