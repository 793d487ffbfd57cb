//! Register an agent that requests an API key from a member (`assets/docs/authentication.md`, step 1).

use http::StatusCode;
use schemars::{JsonSchema, Schema};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::base::email::{ADDRESS_BYTES_MAX, EmailAddress};
use crate::base::network::site_of;
use crate::base::text::{Name, is_invisible};
use crate::engine::access::throttle::Counted;
use crate::engine::api::wire::Reply;
use crate::engine::api::{Bare, Context, Failure, Media, Operation, Raw, RawRequest, Spec, guesses, public};
use crate::features::accounts::agents::wire::{self, Word};
use crate::features::accounts::agents::{self, Registration, model};
use crate::features::accounts::sessions;
use crate::vocab::codes::Code;
use crate::vocab::limits;
use crate::vocab::permissions::{Permission, PermissionSet};

/// `accounts.agent_identity`
pub struct AgentIdentity;

/// What the agent says of itself and of what it wants.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
#[serde(default)]
#[schemars(rename = "AgentRegistration", transform = describe)]
pub struct Asked {
    /// `service_auth`: the only type there is.
    pub r#type: String,
    /// The email of the person who shall grant the key.
    pub login_hint: String,
    /// What the agent calls itself, in one line without invisible characters; the person sees it.
    pub agent_name: String,
    /// Permissions separated by spaces. Absent: reading contacts, emails, campaigns, webhooks and domains.
    pub scope: Option<String>,
}

/// What is refused in OAuth's own words, and so is read as any text.
fn describe(schema: &mut Schema) {
    let permissions = Permission::ALL.map(Permission::word).join("|");
    wire::require(
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
    let scope = schema.get_mut("properties").and_then(|fields| fields.get_mut("scope")).expect("a field of the type");
    scope["pattern"] = format!("^ *((all|{permissions})([ ,]+(all|{permissions}))*)? *$").into();
}

impl Operation for AgentIdentity {
    const SPEC: Spec = Spec::post("accounts.agent_identity", "/agent/identity", public())
        .summary("Ask a person for a key")
        .about(
            "The answer has no envelope: claim_token, which the agent keeps to itself, and claim with user_code, verification_uri, \
                verification_uri_complete, expires_in and interval. Nobody learns whether somebody has an account. A wrong request is 400 \
                with error and error_description. Ten an hour from one address (a /64 of IPv6 counts as one) and for one \
                person.",
        )
        .speaks_oauth()
        .fails(&[Code::RateLimitExceeded, Code::PayloadTooLarge]);
    type Input = Asked;
    type Output = Bare;

    fn example() -> (Value, Self::Output) {
        let input = json!({ "type": "service_auth", "login_hint": "ada@example.com", "agent_name": "Shop helper", "scope": "audience:read" });
        (input, Bare)
    }
}

impl Raw for AgentIdentity {
    const MEDIA: Media = Media::JSON;

    async fn run(context: Context, _: Asked, request: RawRequest) -> Result<Reply, Failure> {
        let asked: Asked = match wire::fields(request).await? {
            Ok(asked) => asked,
            Err(reply) => return Ok(reply),
        };
        let wanted = match read(asked) {
            Ok(wanted) => wanted,
            Err((word, description)) => return Ok(wire::refusal(word, description)),
        };
        count(&context, &wanted.login_hint).await?;
        let Some(registered) = agents::register(&context, wanted).await? else {
            return Err(
                Failure::because(Code::Unavailable, "Too many agents wait for people; try again later.").after_seconds(60)
            );
        };
        let claim = agents::told(&context, &registered.claim, &registered.code);
        Ok(wire::reply(StatusCode::OK, &json!({ "claim_token": registered.token, "claim": claim })))
    }
}

fn read(asked: Asked) -> Result<Registration, (Word, String)> {
    if asked.r#type != "service_auth" {
        return Err((Word::InvalidRequest, "type: only service_auth is supported".to_owned()));
    }
    let login_hint =
        EmailAddress::parse(&asked.login_hint).map_err(|error| (Word::InvalidRequest, format!("login_hint: {error}")))?;
    let agent_name = Name::<{ limits::AGENT_NAME_CHARACTERS_MAX }>::parse(&asked.agent_name)
        .map_err(|error| (Word::InvalidRequest, format!("agent_name: {error}")))?;
    // A stranger's text, shown where somebody decides: nothing in it may hide letters or turn around what stands beside it.
    if let Some(hidden) = agent_name.chars().find(|letter| is_invisible(*letter)) {
        let description =
            format!("agent_name: The text contains the invisible character U+{:04X}; remove it.", u32::from(hidden));
        return Err((Word::InvalidRequest, description));
    }
    let scope: PermissionSet = match asked.scope.as_deref().map(str::trim).filter(|scope| !scope.is_empty()) {
        None => model::DEFAULT_SCOPE,
        Some(scope) => scope.parse().map_err(|error| (Word::InvalidScope, format!("scope: {error}")))?,
    };
    Ok(Registration { agent_name: agent_name.to_string(), login_hint, wanted: scope })
}

async fn count(context: &Context, person: &EmailAddress) -> Result<(), Failure> {
    let peer = context.caller.peer;
    let site = sessions::address(peer).and_then(site_of).map(|site| site.to_string());
    let names = [
        (&agents::BY_ADDRESS, sessions::counted(peer)),
        (&agents::BY_SITE, site),
        (&agents::BY_PERSON, Some(person.normalised())),
    ];
    let names: Vec<Counted> = names.into_iter().filter_map(|(rule, name)| Some((rule, name?))).collect();
    guesses::count(&context.engine, &names).await
}
