//! The operations on exports, one file per operation.

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

use super::accounts::{self, AccountExport};
use super::views::{Destination, EmailExport, ExportEmails};
use super::{Target, files};
use crate::engine::api::{Context, Failure, Spec};
use crate::vocab::codes::Code;
use crate::vocab::permissions::Permission;

/// The description of exports to a platform.
const ABOUT: &str = "Creates a template or draft in the connected account for each finished email in the conversation; with \
                     emailId, only for that email. Merge fields and unsubscribe links are in the platform's syntax. \
                     Exporting an email again updates what the first export created, unless it was deleted or sent. Also requires \
                     email:write, except with as=file, which creates files to upload and needs no connected account. Merge \
                     fields that the platform doesn't support are removed, and listed in `untranslated`.";

/// The error codes of exports to a platform.
const FAILURES: [Code; 6] = [
    Code::NotFound,
    Code::NotExportable,
    Code::IntegrationAccountRequired,
    Code::ProviderNotConnected,
    Code::ProviderReconnectRequired,
    Code::ProviderUnavailable,
];

/// Exports a conversation's finished emails for a platform: as files or into a connected account.
async fn export_for(
    context: &Context,
    spec: &'static Spec,
    (wanted, destination): (ExportEmails, Option<Destination>),
    to: AccountExport,
) -> Result<EmailExport, Failure> {
    if destination == Some(Destination::File) {
        return files::export(context, spec, wanted, Target::Platform(to.kind)).await;
    }
    if !context.caller.principal.permissions().contains(Permission::EmailWrite) {
        let detail = "An export into a connected account needs the permission email:write. With as=file, email:read is enough.";
        let denied = Failure::because(Code::InsufficientPermissions, detail);
        return Err(denied.with(json!({ "permission": Permission::EmailWrite.word() })));
    }
    accounts::export(context, spec, wanted, to).await
}
