//! Returns whether a conversation's emails can be exported and in which formats.

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Value, json};

use crate::engine::api::response::WireTime;
use crate::engine::api::{Done, Failure, Operation, Query, Spec, View, needs};
use crate::features::connections;
use crate::features::connections::templates::{EarlierExport, earlier};
use crate::features::connections::views::ConnectionView;
use crate::features::emails::{self, ReadyEmail};
use crate::features::exports::views::ExportEmails;
use crate::features::exports::{Format, READER};
use crate::vocab::codes::Code;
use crate::vocab::ids::{ConversationId, EmailId, ProjectId};
use crate::vocab::limits;
use crate::vocab::providers::{ConnectionUse, Provider};

pub struct Status;

/// Whether a conversation's emails can be exported and in which formats.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ExportStatusView {
    pub conversation_id: ConversationId,
    pub can_export: bool,
    pub available_formats: Vec<&'static str>,
    /// Why the emails cannot be exported, or why some formats are unavailable; empty if every format is available.
    pub reason: String,
    /// The platforms, each with the connected accounts that the project can use.
    pub platforms: Vec<PlatformState>,
    /// The templates and drafts that earlier exports created on platforms. Exporting an email again updates its template or draft.
    pub exported: Vec<EarlierView>,
}

/// A platform, and whether emails can be exported into an account there.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct PlatformState {
    pub provider: Provider,
    /// Whether at least one of the connections works and may be used for exports.
    pub is_connected: bool,
    /// The connections that the project can use.
    pub connections: Vec<ConnectionView>,
    /// The URL of the page where users connect and reconnect accounts.
    pub connect_url: String,
}

/// A template or draft that an earlier export created on a platform.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct EarlierView {
    pub email_id: EmailId,
    pub provider: Provider,
    #[serde(rename = "type")]
    #[schemars(extend("enum" = ["html", "hybrid", "template", "campaign", "email"]))]
    pub kind: &'static str,
    /// The name of the template or draft on the platform.
    pub name: String,
    /// The URL of the template or draft on the platform.
    pub url: String,
    /// The number of the email version that was exported last.
    pub version: u32,
    pub exported_at: WireTime,
}

impl Operation for Status {
    const SPEC: Spec = Spec::get("exports.status", "/v1/export/status/{conversationId}", needs(READER))
        .summary("Get the status of an export")
        .fails(&[Code::NotFound]);
    type Input = ExportEmails;
    type Output = Done<ExportStatusView>;

    fn example() -> (Value, Self::Output) {
        let conversation_id = ConversationId::parse("66f1a2b3d4e5f60718293a4d").expect("the sample ID is valid");
        let platforms = Provider::ALL.map(|provider| PlatformState {
            provider,
            is_connected: provider == Provider::Klaviyo,
            connections: if provider == Provider::Klaviyo { vec![ConnectionView::sample()] } else { Vec::new() },
            connect_url: format!("https://mail.example.com/test/settings/connections?provider={}", provider.alias()),
        });
        let view = ExportStatusView {
            conversation_id,
            can_export: true,
            available_formats: names(&Format::ALL),
            reason: String::new(),
            platforms: platforms.into(),
            exported: Vec::new(),
        };
        (json!({ "conversationId": conversation_id }), Done(view))
    }
}

impl Query for Status {
    fn run(view: &View<'_>, input: ExportEmails) -> Result<Self::Output, Failure> {
        let account = view.caller.account();
        let ExportEmails { conversation_id, email_id, project_id } = input;
        let finished = emails::finished(view.tx, account, conversation_id, email_id, project_id)?;
        let has_mjml = finished.iter().all(|email| email.mjml.is_some());
        let formats: Vec<Format> = Format::ALL.into_iter().filter(|format| *format != Format::Mjml || has_mjml).collect();
        let (available_formats, reason) = match finished.is_empty() {
            true if email_id.is_some() => (Vec::new(), "This email is not finished. Check its status."),
            true => (Vec::new(), "No email in this conversation is finished. Check the conversation's status."),
            false if has_mjml => (names(&formats), ""),
            false => (names(&formats), "The MJML format is unavailable, because emails imported as HTML have no MJML."),
        };
        let project = finished.first().map(|email| email.project).or(project_id);
        Ok(Done(ExportStatusView {
            conversation_id,
            can_export: !available_formats.is_empty(),
            available_formats,
            reason: reason.into(),
            platforms: platforms(view, project)?,
            exported: exported(view, &finished)?,
        }))
    }
}

/// Returns the names of these formats and of all platforms. An export for a platform can always create a file.
fn names(formats: &[Format]) -> Vec<&'static str> {
    formats.iter().map(|format| format.word()).chain(Provider::ALL.map(Provider::word)).collect()
}

fn platforms(view: &View<'_>, project: Option<ProjectId>) -> Result<Vec<PlatformState>, Failure> {
    let all = connections::usable(view.tx, view.caller.account(), project, view.now)?;
    let state = |provider: Provider| {
        let connections: Vec<ConnectionView> = all.iter().filter(|found| found.provider == provider).cloned().collect();
        PlatformState {
            provider,
            is_connected: connections
                .iter()
                .any(|found| found.status != "reconnect_required" && found.uses.contains(&ConnectionUse::Exports)),
            connections,
            connect_url: connections::connect_url(&view.caller.engine, view.caller.environment(), provider),
        }
    };
    Ok(Provider::ALL.map(state).into())
}

fn exported(view: &View<'_>, finished: &[ReadyEmail]) -> Result<Vec<EarlierView>, Failure> {
    let mut all = Vec::new();
    for email in finished {
        for found in earlier(view.tx, view.caller.account(), email.id, limits::EARLIER_EXPORTS_MAX)? {
            let EarlierExport { provider, kind, name, url, version, exported_at } = found;
            let exported_at = WireTime(exported_at);
            all.push(EarlierView { email_id: email.id, provider, kind: kind.word(), name, url, version, exported_at });
        }
    }
    Ok(all)
}
