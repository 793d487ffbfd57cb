//! Registers an agent that requests an API key from a member (`assets/docs/authentication.md`, step 1).

use http::StatusCode;
use schemars::{JsonSchema, Schema};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::base::email::{ADDRESS_BYTES_MAX, EmailAddress};
use crate::base::network::site_of;
use crate::base::text::{Name, is_invisible};
use crate::engine::access::throttle::ThrottleKey;
use crate::engine::api::http_types::Reply;
use crate::engine::api::{Bare, Context, Failure, Media, Operation, Raw, RawRequest, Spec, attempts, public};
use crate::features::accounts::agents::oauth::{self, ErrorCode};
use crate::features::accounts::agents::{self, Registration, model};
use crate::features::accounts::sessions;
use crate::vocab::codes::Code;
use crate::vocab::limits;
use crate::vocab::permissions::{Permission, PermissionSet};

pub struct AgentIdentity;

/// An agent's request for an API key.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(default)]
#[schemars(transform = describe)]
pub struct RegisterAgent {
    /// Always `service_auth`, the only supported type.
    pub r#type: String,
    /// The email of the user who is asked to grant the key.
    pub login_hint: String,
    /// The name that the agent chose, on one line and without invisible characters. The user sees this name.
    pub agent_name: String,
    /// The requested permissions, separated by spaces. If absent, the agent requests permission to read contacts, emails, campaigns,
    /// webhooks and domains.
    pub scope: Option<String>,
}

/// Adds the rules for the fields to the schema. The Rust type accepts any string, so that invalid values get OAuth errors.
fn describe(schema: &mut Schema) {
    let permissions = Permission::ALL.map(Permission::word).join("|");
    oauth::require(
        schema,
        &[
            ("type", json!({ "const": "service_auth" })),
            ("login_hint", json!({ "format": "idn-email", "maxLength": ADDRESS_BYTES_MAX })),
            (
                "agent_name",
                json!({
                    "minLength": 1, "maxLength": limits::AGENT_NAME_CHARACTERS_MAX,
                    "pattern": concat!(
                        r"^[^\x00-\x1f\x7f-\x9f\u00ad\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff]*",
                        r"[^\s\x00-\x1f\x7f-\x9f\u00ad\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff]",
                        r"[^\x00-\x1f\x7f-\x9f\u00ad\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff]*$",
                    ),
                }),
            ),
        ],
    );
    let scope = schema.get_mut("properties").and_then(|fields| fields.get_mut("scope")).expect("the type has the field scope");
    scope["pattern"] = format!("^ *((all|{permissions})([ ,]+(all|{permissions}))*)? *$").into();
}

impl Operation for AgentIdentity {
    const SPEC: Spec = Spec::post("accounts.agent_identity", "/agent/identity", public())
        .summary("Request a key from a user")
        .about(
            "The response has no envelope. It contains claim_token, a secret, and claim with user_code, verification_uri, \
                verification_uri_complete, expires_in and interval. The response never reveals whether the user exists. Invalid requests \
                return 400 \
                with error and error_description. Each IP address (or IPv6 /64 network) and each user can have at most ten registrations \
                per hour.",
        )
        .speaks_oauth()
        .fails(&[Code::RateLimitExceeded, Code::PayloadTooLarge]);
    type Input = RegisterAgent;
    type Output = Bare;

    fn example() -> (Value, Self::Output) {
        let input = json!({ "type": "service_auth", "login_hint": "ada@example.com", "agent_name": "Shop helper", "scope": "audience:read" });
        (input, Bare)
    }
}

impl Raw for AgentIdentity {
    const MEDIA: Media = Media::JSON;

    async fn run(context: Context, _: RegisterAgent, request: RawRequest) -> Result<Reply, Failure> {
        let input: RegisterAgent = match oauth::fields(request).await? {
            Ok(input) => input,
            Err(reply) => return Ok(reply),
        };
        let registration = match read(input) {
            Ok(registration) => registration,
            Err((word, description)) => return Ok(oauth::refusal(word, description)),
        };
        count(&context, &registration.login_hint).await?;
        let Some(new) = agents::register(&context, registration).await? else {
            return Err(
                Failure::because(Code::Unavailable, "Too many agent requests are pending; try again later.").after_seconds(60)
            );
        };
        let claim = agents::code_answer(&context, &new.claim, &new.code);
        Ok(oauth::reply(StatusCode::OK, &json!({ "claim_token": new.token, "claim": claim })))
    }
}

fn read(input: RegisterAgent) -> Result<Registration, (ErrorCode, String)> {
    if input.r#type != "service_auth" {
        return Err((ErrorCode::InvalidRequest, "type: must be service_auth".to_owned()));
    }
    let login_hint =
        EmailAddress::parse(&input.login_hint).map_err(|error| (ErrorCode::InvalidRequest, format!("login_hint: {error}")))?;
    let agent_name = Name::<{ limits::AGENT_NAME_CHARACTERS_MAX }>::parse(&input.agent_name)
        .map_err(|error| (ErrorCode::InvalidRequest, format!("agent_name: {error}")))?;
    // Reject hidden characters: the user decides on the basis of this untrusted name, so it must not hide or reverse adjacent text.
    if let Some(hidden) = agent_name.chars().find(|character| is_invisible(*character)) {
        let description =
            format!("agent_name: The name contains the invisible character U+{:04X}; remove that character.", u32::from(hidden));
        return Err((ErrorCode::InvalidRequest, description));
    }
    let scope: PermissionSet = match input.scope.as_deref().map(str::trim).filter(|scope| !scope.is_empty()) {
        None => model::DEFAULT_SCOPE,
        Some(scope) => scope.parse().map_err(|error| (ErrorCode::InvalidScope, format!("scope: {error}")))?,
    };
    Ok(Registration { agent_name: agent_name.to_string(), login_hint, requested: scope })
}

async fn count(context: &Context, person: &EmailAddress) -> Result<(), Failure> {
    let peer = context.caller.peer;
    let site = sessions::address(peer).and_then(site_of).map(|site| site.to_string());
    let names = [
        (&agents::BY_ADDRESS, sessions::throttle_name(peer)),
        (&agents::BY_SITE, site),
        (&agents::BY_PERSON, Some(person.normalized())),
    ];
    let names: Vec<ThrottleKey> = names.into_iter().filter_map(|(rule, name)| Some((rule, name?))).collect();
    attempts::count(&context.engine, &names).await
}
