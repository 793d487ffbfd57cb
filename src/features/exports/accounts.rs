//! Exports emails into a connected account.

use serde_json::{Map, Value};
use tokio::time::Instant;

use super::Format;
use super::files::finished;
use super::translate::{Translation, translate_for, translate_text};
use super::views::{EmailExport, ExportEmails, FileView, ImageHosting, PlatformObject};
use crate::engine::api::{Context, Failure, Spec};
use crate::features::connections::ConnectionChoice;
use crate::features::connections::templates::{Draft, Publication, Published, TemplateKind, publish};
use crate::features::emails::ReadyEmail;
use crate::vocab::ids::{ConnectionId, EmailId};
use crate::vocab::limits;
use crate::vocab::providers::ConnectionUse;

/// The account into which emails are exported, and the kind of object to create there.
pub struct AccountExport {
    pub kind: TemplateKind,
    pub connection: Option<ConnectionId>,
    pub images: ImageHosting,
    /// Additional fields for the request to the platform.
    pub options: Map<String, Value>,
}

/// Exports a conversation's finished emails into a connected account.
pub async fn export(
    context: &Context,
    spec: &'static Spec,
    wanted: ExportEmails,
    to: AccountExport,
) -> Result<EmailExport, Failure> {
    let (started, conversation_id) = (Instant::now(), wanted.conversation_id);
    let AccountExport { kind, connection, images, options } = to;
    let provider = kind.provider();
    let finished = finished(context, wanted).await?;
    let project = finished
        .first()
        .map(|email| email.project)
        .ok_or_else(|| Failure::internal("an export to a platform has no emails; report this bug"))?;
    let (account, purpose) = (context.caller.account(), ConnectionUse::Exports);
    let choice = ConnectionChoice { account, provider, project, connection, purpose };
    let mut untranslated: Vec<(EmailId, Vec<String>)> = Vec::with_capacity(finished.len());
    let mut drafts = Vec::with_capacity(finished.len());
    for email in finished {
        let (draft, removed) = draft(email, kind, options.clone());
        untranslated.push((draft.email, removed));
        drafts.push(draft);
    }
    let publication = Publication { choice, drafts, uploads_images: images == ImageHosting::Upload };
    let published = publish(context, spec, publication).await?;
    let view = |published: Published| {
        let of = untranslated.iter().find(|(email, _)| *email == published.email);
        view(published, kind, of.map(|(_, fields)| fields.clone()))
    };
    let files = published.into_iter().map(view).collect();
    let execution_time = started.elapsed().as_millis() as u64;
    Ok(EmailExport { conversation_id, files, execution_time, export_type: provider.word() })
}

/// Returns an email translated into a platform's merge language, and the merge fields that were removed.
fn draft(email: ReadyEmail, kind: TemplateKind, options: Map<String, Value>) -> (Draft, Vec<String>) {
    let provider = kind.provider();
    let name = name(&email);
    let Translation { html, mut untranslated } = translate_for(&email.html, kind, &name);
    let mut plain = |text: &str| {
        let (text, removed) = translate_text(text, provider);
        for field in removed {
            if !untranslated.contains(&field) {
                untranslated.push(field);
            }
        }
        text
    };
    let (subject, preheader, text) = (plain(&email.subject), plain(&email.preheader), plain(&email.text));
    let (id, version) = (email.id, email.version);
    (Draft { email: id, version, kind, name, subject, preheader, html, text, options, serial: 0 }, untranslated)
}

/// Returns the email's name on the platform: the subject, followed by the end of the email's ID because several emails can have the same
/// subject.
fn name(email: &ReadyEmail) -> String {
    let is_plain = |c: &char| !c.is_control() && !matches!(c, '"' | '\\' | '{' | '}' | '<' | '>' | '|' | '*' | '%' | '&');
    let subject: String = email.subject.chars().filter(is_plain).take(limits::EXPORT_NAME_CHARACTERS_MAX).collect();
    let subject = subject.split_whitespace().collect::<Vec<_>>().join(" ");
    let id = email.id.to_string();
    let end = &id[id.len() - 8..];
    if subject.is_empty() { format!("Email {end}") } else { format!("{subject} ({end})") }
}

fn view(published: Published, kind: TemplateKind, untranslated: Option<Vec<String>>) -> FileView {
    let Published { email, name, external_id, url, is_new, left_images } = published;
    FileView {
        filename: name,
        url,
        format: Format::Html.word(),
        email_id: email,
        untranslated: untranslated.filter(|fields| !fields.is_empty()),
        expires_at: None,
        platform: Some(PlatformObject {
            id: external_id,
            kind: kind.word(),
            created: is_new,
            left_images: Some(left_images).filter(|images| !images.is_empty()),
        }),
    }
}
