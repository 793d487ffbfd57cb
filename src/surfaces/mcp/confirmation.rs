//! Asks the user to confirm a call that sends, deletes or connects something.
//!
//! The question describes the call in terms that a person understands: the object's name, the recipients, the environment and the effect.
//! Text from other people may have misled the assistant, so the question contains only the call's arguments and data from the API, not the
//! assistant's explanation.

use rmcp::model::{
    CallToolRequestParams, CallToolResult, ElicitRequest, ElicitRequestParams, ElicitationAction, ElicitationSchema, ErrorData,
    InputRequest, InputRequiredResult, JsonObject, ProtocolVersion,
};
use rmcp::service::ServiceError;
use serde_json::{Value, json};

use super::call::Call;
use super::outcome;
use super::tools::{CONFIRM, Definition, Effect};
use crate::base::text::is_invisible;
use crate::surfaces::internal_call;
use crate::surfaces::subject::{self, plain};
use crate::vocab::environment::Environment;
use crate::vocab::limits;

/// The name of the form field with the user's answer.
const ANSWER: &str = "confirm";
/// The maximum number of list items that the question contains.
const ITEMS_SHOWN: usize = 5;

/// The fields that the question shows, each with its label. A field is taken from the call's arguments or, if they lack it, from the object
/// that the call affects.
const FACTS: [(&str, &str); 8] = [
    ("subject", "Subject"),
    ("to", "To"),
    ("recipientEmail", "To"),
    ("emails", "Contacts"),
    ("scheduledAt", "Time"),
    ("rootDomain", "Domain"),
    ("url", "URL"),
    ("events", "Events"),
];

pub enum Confirmation {
    Given,
    Refused(CallToolResult),
    /// The client must ask the user, and then repeat the call with the answer.
    Asked(InputRequiredResult),
}

impl Confirmation {
    fn refused(message: impl Into<String>) -> Self {
        Confirmation::Refused(outcome::failure(message))
    }
}

impl Call<'_> {
    /// Ensures that the user agrees to this call. `confirmed` is the value of the `confirm` argument, which replaces the question for
    /// clients that cannot ask the user.
    pub async fn confirmation(
        &self,
        request: &CallToolRequestParams,
        arguments: &JsonObject,
        confirmed: bool,
    ) -> Result<Confirmation, ErrorData> {
        let capabilities = self.context.client_capabilities();
        // A client that lists no elicitation modes supports forms.
        let has_forms =
            capabilities.and_then(|all| all.elicitation).is_some_and(|modes| modes.form.is_some() || modes.url.is_none());
        if !has_forms {
            return Ok(if confirmed { Confirmation::Given } else { Confirmation::refused(unconfirmed(self.definition)) });
        }
        let is_inline = self.context.protocol_version().is_some_and(|version| version >= ProtocolVersion::V_2026_07_28);
        let given = request.input_responses.as_ref().and_then(|answers| answers.get(ANSWER)).filter(|_| is_inline);
        if let Some(answer) = given {
            return Ok(decided(answer));
        }
        let message = match self.question(arguments).await {
            Ok(message) => message,
            Err(refusal) => return Ok(Confirmation::Refused(refusal)),
        };
        let question = ElicitRequestParams::FormElicitationParams { meta: None, message, requested_schema: form()? };
        if is_inline {
            let questions = [(ANSWER.to_owned(), InputRequest::Elicitation(ElicitRequest::new(question)))].into();
            return Ok(Confirmation::Asked(InputRequiredResult::from_input_requests(questions)));
        }
        let asked = self.context.peer.create_elicitation_with_timeout(question, Some(limits::TOOL_QUESTION_TIME));
        let asked = tokio::select! {
            asked = asked => asked,
            () = self.context.ct.cancelled() => return Ok(Confirmation::refused("The call was cancelled.")),
        };
        Ok(match asked {
            Ok(result) => decided(&json!({ "action": result.action, "content": result.content })),
            Err(error) => Confirmation::refused(unanswered(&error)),
        })
    }

    /// Returns the question for the user, or an error result if the object of the call does not exist.
    async fn question(&self, arguments: &JsonObject) -> Result<String, CallToolResult> {
        let summary = self.definition.spec.summary;
        let object = self.object(arguments).await?;
        let mut lines = vec![match subject::label(&object) {
            Some(label) => format!("{summary}: “{label}”"),
            None => format!("{summary}?"),
        }];
        let fact = |name: &str| Some(arguments.get(name).unwrap_or(&object[name])).filter(|value| !value.is_null());
        let sender = [fact("fromName"), fact("from")].into_iter().flatten().filter_map(shown).collect::<Vec<_>>();
        if !sender.is_empty() {
            lines.push(format!("Sender: {}", sender.join(", ")));
        }
        for (name, word) in FACTS {
            if let Some(text) = fact(name).and_then(shown) {
                lines.push(format!("{word}: {text}"));
            }
        }
        if let Some(email) = arguments.get("emailId") {
            let email = self.read("emails.get", json!({ "emailId": email })).await.unwrap_or_default();
            lines.extend(subject::label(&email).map(|subject| format!("Email: “{subject}”")));
        }
        lines.extend(self.recipients(arguments, &object).await.map(|recipients| format!("Recipients: {recipients}")));
        let environment = self.caller.key.environment;
        lines.push(format!("Environment: {environment}"));
        lines.push(format!("Effect: {}", effect(self.definition.row.effect, environment)));
        lines.push(format!("Arguments: {}", as_text(arguments)));
        Ok(lines.join("\n"))
    }

    /// Returns the object of the call; null if the path names none or the key may not read it. Returns an error result if the
    /// object does not exist.
    async fn object(&self, arguments: &JsonObject) -> Result<Value, CallToolResult> {
        let Some(reader) = subject::reader(self.api.operations(), self.definition.spec) else { return Ok(Value::Null) };
        let reply = self.ask(reader.spec.id, subject::selector(reader, arguments), None).await;
        let mut body = internal_call::body(&reply);
        match reply.status.as_u16() {
            200 => Ok(body["data"].take()),
            404 => Err(outcome::refusal(404, &reply.headers, &body, self.nonce)),
            _ => Ok(Value::Null),
        }
    }

    /// Describes the recipients of a send: their number, the name of the segment or tag, or the recipient type. Returns `None` if the call
    /// sends no email, if the recipients cannot be read, or if [`FACTS`] already contain them.
    async fn recipients(&self, arguments: &JsonObject, object: &Value) -> Option<String> {
        let project = arguments.get("projectId").cloned().unwrap_or_default();
        let group = json!({ "id": arguments.get("recipientId"), "projectId": project });
        match (self.definition.spec.id, arguments.get("recipientType").and_then(Value::as_str)) {
            ("campaigns.send" | "campaigns.schedule", _) => {
                let dry_run = self.read("campaigns.dry_run", json!({ "id": arguments.get("id") })).await.unwrap_or_default();
                let count = dry_run["recipients"].as_u64().or_else(|| object["estimatedRecipients"].as_u64())?;
                Some(format!("{count} contacts"))
            }
            (_, Some("segment")) => {
                let segment = self.read("segments.get", group).await?;
                Some(format!("the segment “{}” ({} contacts)", subject::label(&segment)?, segment["count"]))
            }
            (_, Some("tag")) => {
                let tag = self.read("tags.get", group).await?;
                Some(format!("the tag “{}” ({} contacts)", subject::label(&tag)?, tag["subscriberCount"]))
            }
            (_, Some(word)) => Some(plain(word)),
            _ => None,
        }
    }

    /// Returns the `data` of a read operation; `None` if the operation fails.
    async fn read(&self, operation: &str, input: Value) -> Option<Value> {
        let Value::Object(input) = input else { return None };
        let reply = self.ask(operation, input, None).await;
        reply.status.is_success().then(|| internal_call::body(&reply)["data"].take())
    }
}

fn form() -> Result<ElicitationSchema, ErrorData> {
    let form = ElicitationSchema::builder().required_bool_with(ANSWER, |field| {
        field.title("Confirm").description("Yes, do exactly this. Otherwise, nothing is done.")
    });
    form.build().map_err(|error| ErrorData::internal_error(error.to_string(), None))
}

fn decided(answer: &Value) -> Confirmation {
    let accepted = answer["action"] == json!(ElicitationAction::Accept) && answer["content"][ANSWER] == true;
    match accepted {
        true => Confirmation::Given,
        false => Confirmation::refused("The user did not confirm the call, so nothing was done. Do not repeat it."),
    }
}

fn unanswered(error: &ServiceError) -> String {
    match error {
        ServiceError::Timeout { .. } => {
            let minutes = limits::TOOL_QUESTION_TIME.as_secs() / 60;
            format!("The user did not confirm the call within {minutes} minutes, so nothing was done.")
        }
        other => format!(
            "The client could not ask the user for confirmation, so nothing was done: {}. Ask the user to confirm the call in the \
             dashboard, or with a client that supports elicitation.",
            plain(&other.to_string())
        ),
    }
}

/// Returns a sentence for the user about the effect of the call.
fn effect(effect: Effect, environment: Environment) -> &'static str {
    match (effect, environment) {
        (Effect::Send, Environment::Live) => "Sends email to real recipients. This cannot be undone.",
        (Effect::Send, Environment::Test) => "Sends test email to the built-in inbox.",
        (Effect::Connect, _) => "From now on, data or email can leave this server this way.",
        (Effect::Read | Effect::Write | Effect::Delete, _) => "This cannot be undone.",
    }
}

/// Formats a value on one line; `None` if it is empty.
fn shown(value: &Value) -> Option<String> {
    let line = match value {
        Value::String(text) => plain(text),
        Value::Array(items) => {
            let first: Vec<String> = items.iter().take(ITEMS_SHOWN).filter_map(shown).collect();
            let more = items.len().saturating_sub(ITEMS_SHOWN);
            if more == 0 { first.join(", ") } else { format!("{} and {more} more", first.join(", ")) }
        }
        Value::Number(_) | Value::Bool(_) => value.to_string(),
        Value::Null | Value::Object(_) => String::new(),
    };
    Some(line).filter(|line| !line.is_empty())
}

/// Returns the arguments as shortened JSON, without characters that could hide or reorder other text in the question.
fn as_text(arguments: &JsonObject) -> String {
    let mut text = Value::Object(arguments.clone()).to_string();
    text.retain(|character| !is_invisible(character));
    if text.len() > limits::TOOL_QUESTION_BYTES_MAX {
        text.truncate(text.floor_char_boundary(limits::TOOL_QUESTION_BYTES_MAX));
        text.push('…');
    }
    text
}

fn unconfirmed(definition: &Definition) -> String {
    let what = match definition.row.effect {
        Effect::Send => "sends email",
        Effect::Connect => "opens a way for data or email to leave this server",
        Effect::Read | Effect::Write | Effect::Delete => "deletes or stops something",
    };
    format!("{CONFIRM}: this tool {what}. Ask the user, then call it again with the same arguments and {CONFIRM}: true.")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fact_is_one_short_line() {
        assert_eq!(shown(&json!("a\n\u{202e}b")).as_deref(), Some("a b"));
        let many: Vec<String> = (0..7).map(|number| format!("c{number}@a.example")).collect();
        assert_eq!(
            shown(&json!(many)).as_deref(),
            Some("c0@a.example, c1@a.example, c2@a.example, c3@a.example, c4@a.example and 2 more")
        );
        assert_eq!((shown(&json!("")), shown(&json!([])), shown(&Value::Null)), (None, None, None));
        let arguments = JsonObject::from_iter([("to".to_owned(), json!("a@evil.example\n\u{202e}moc.elpmaxe@adA"))]);
        assert_eq!(as_text(&arguments), r#"{"to":"a@evil.example\nmoc.elpmaxe@adA"}"#);
    }

    #[test]
    fn a_failed_question_has_a_true_reason() {
        let timeout = ServiceError::Timeout { timeout: limits::TOOL_QUESTION_TIME };
        assert!(unanswered(&timeout).contains("within 5 minutes"));
        assert!(unanswered(&ServiceError::TransportClosed).contains("could not ask the user"));
    }

    #[test]
    fn only_an_accepted_form_with_yes_confirms() {
        assert!(matches!(decided(&json!({ "action": "accept", "content": { "confirm": true } })), Confirmation::Given));
        for other in [
            json!({ "action": "accept", "content": { "confirm": false } }),
            json!({ "action": "decline", "content": { "confirm": true } }),
            json!({ "action": "accept" }),
            json!({}),
        ] {
            assert!(matches!(decided(&other), Confirmation::Refused(_)), "{other}");
        }
        let form = serde_json::to_value(form().expect("the form is valid")).expect("a form is JSON");
        assert_eq!(form["properties"][ANSWER]["title"], "Confirm");
    }
}
