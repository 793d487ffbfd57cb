//! The operations on exports, one file each.

pub mod formats;
pub mod html;
pub mod mjml;
pub mod pdf;
pub mod platform_a;
pub mod platform_b;
pub mod platform_c;
pub mod png;
pub mod status;

use serde_json::json;

use super::views::Wanted;
use crate::engine::api::{Context, Failure};
use crate::features::emails;
use crate::vocab::codes::Code;

/// The slots of other platforms.
const PLATFORMS: [&str; 3] = ["platform_a", "platform_b", "platform_c"];

/// Why an export to a platform does not go: its conversation does not exist, or no account is connected.
async fn not_connected(context: &Context, wanted: Wanted, platform: &'static str) -> Failure {
    let account = context.caller.account();
    let Wanted { conversation_id, email_id, project_id } = wanted;
    let found = context.read(move |tx| emails::finished(tx, account, conversation_id, email_id, project_id)).await;
    if let Err(failure) = found {
        return failure;
    }
    let url = format!("{}/settings/connections?provider={platform}", context.engine.base_url());
    let detail = format!("No account of {platform} is connected; connect one at {url} and export again.");
    Failure::because(Code::ProviderNotConnected, detail).with(json!({ "connectUrl": url }))
}
