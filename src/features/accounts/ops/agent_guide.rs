//! Returns a Markdown guide with the content of [`super::agent_metadata`]. It explains to agents how to get a key, with commands that they
//! can run unchanged.

use http::StatusCode;
use http::header::{CACHE_CONTROL, CONTENT_LENGTH, CONTENT_TYPE, HeaderMap, HeaderValue};
use serde_json::{Value, json};

use crate::engine::api::http_types::{Reply, ReplyBody};
use crate::engine::api::{Bare, Context, Engine, Failure, Media, NoInput, Operation, Raw, RawRequest, Spec, public};
use crate::features::accounts::agents;
use crate::features::accounts::agents::model::{DEFAULT_SCOPE, SENSITIVE};
use crate::vocab::limits;
use crate::vocab::permissions::Permission;

pub struct AgentGuide;

const GUIDE: &str = include_str!("../../../../assets/agents/auth.md");
const MINUTE_MS: i64 = 60 * 1000;

impl Operation for AgentGuide {
    const SPEC: Spec = Spec::get("accounts.agent_guide", "/auth.md", public()).summary("Get the guide for agents").about(
        "Returns Markdown text about registration, polling, errors, permissions and limits, with the URLs of this installation.",
    );
    type Input = NoInput;
    type Output = Bare;

    fn example() -> (Value, Self::Output) {
        (json!({}), Bare)
    }
}

impl Raw for AgentGuide {
    const MEDIA: Media = Media::gives("text/markdown; charset=utf-8");

    async fn run(context: Context, _: NoInput, _: RawRequest) -> Result<Reply, Failure> {
        let body = guide(&context.engine);
        let mut headers = HeaderMap::with_capacity(8);
        headers.insert(CONTENT_TYPE, HeaderValue::from_static(Self::MEDIA.gives));
        headers.insert(CONTENT_LENGTH, HeaderValue::from(body.len()));
        headers.insert(CACHE_CONTROL, HeaderValue::from_static("public, max-age=300"));
        Ok(Reply { status: StatusCode::OK, headers, body: ReplyBody::Whole(body.into()) })
    }
}

/// Returns the guide with this installation's URLs and limits filled in.
fn guide(engine: &Engine) -> String {
    let permission = |permission: Permission| format!("| `{permission}` | {} |", permission.allows());
    let facts = [
        ("base", engine.base_url().to_owned()),
        ("grant_type", agents::grant_type(engine)),
        ("default_scope", DEFAULT_SCOPE.to_string()),
        ("name_characters", limits::AGENT_NAME_CHARACTERS_MAX.to_string()),
        ("code_seconds", (limits::CLAIM_CODE_MS / 1000).to_string()),
        ("code_minutes", (limits::CLAIM_CODE_MS / MINUTE_MS).to_string()),
        ("claim_minutes", (limits::CLAIM_MS / MINUTE_MS).to_string()),
        ("interval", limits::CLAIM_POLL_SECONDS.to_string()),
        ("codes", limits::CLAIM_CODES_MAX.to_string()),
        ("per_hour", limits::CLAIMS_PER_HOUR.to_string()),
        ("polls", limits::CLAIM_POLLS_PER_MINUTE.to_string()),
        ("grave", SENSITIVE.map(|permission| format!("`{permission}`")).join(" and ")),
        ("permissions", Permission::ALL.map(permission).join("\n")),
    ];
    facts.iter().fold(GUIDE.to_owned(), |text, (name, value)| text.replace(&format!("{{{name}}}"), value))
}
