//! Creates the files of an export.

use tokio::time::Instant;

use super::translate::translate_for;
use super::views::{EmailExport, ExportEmails, FileView};
use super::{Format, Target};
use crate::base::secret::sha256;
use crate::engine::api::response::WireTime;
use crate::engine::api::{Context, Failure, Spec};
use crate::engine::store::blobs::{self, Head};
use crate::engine::store::{ReadTx, WriteTx};
use crate::features::emails::{self, ReadyEmail};
use crate::vocab::codes::Code;
use crate::vocab::ids::{BlobId, EmailId};

/// An exported file. It is stored at the end of the export, unless it is already stored.
struct File {
    email: EmailId,
    name: String,
    blob: BlobId,
    /// The content of the file; `None` if the file is already stored.
    bytes: Option<Vec<u8>>,
    /// The merge fields that were removed because the platform does not support them.
    untranslated: Vec<String>,
}

/// Exports a conversation's finished emails as files, in one format or for one platform.
pub async fn export(
    context: &Context,
    spec: &'static Spec,
    wanted: ExportEmails,
    target: Target,
) -> Result<EmailExport, Failure> {
    let (started, id) = (Instant::now(), wanted.conversation_id);
    let finished = finished(context, wanted).await?;
    let mut files = Vec::with_capacity(finished.len());
    for email in finished {
        files.push(file(context, email, target).await?);
    }
    let mut views = Vec::with_capacity(files.len());
    for file in &files {
        let (url, expires_at) = context.engine.file_link(file.blob);
        views.push(FileView {
            filename: file.name.clone(),
            url,
            format: target.format().word(),
            email_id: file.email,
            untranslated: Some(file.untranslated.clone()).filter(|fields| !fields.is_empty()),
            expires_at: Some(WireTime(expires_at)),
            platform: None,
        });
    }
    let expires_at = views.first().and_then(|view| view.expires_at.as_ref()).map(|at| at.0);
    let keep = move |tx: &mut WriteTx<'_>| -> Result<(), Failure> {
        for File { name, blob, bytes, .. } in files {
            match bytes {
                Some(bytes) => {
                    let content_type = target.format().content_type().to_owned();
                    let head = Head { complete: true, bytes: 0, content_type, name, expires_at };
                    blobs::put_as(tx, blob, head, &bytes);
                }
                None => blobs::keep_until(tx, blob, expires_at)?,
            }
        }
        Ok(())
    };
    context.write(spec, keep).await?;
    let execution_time = started.elapsed().as_millis() as u64;
    Ok(EmailExport { conversation_id: id, files: views, execution_time, export_type: target.word() })
}

/// Returns the finished emails to export. Returns an error if there are none.
pub async fn finished(context: &Context, wanted: ExportEmails) -> Result<Vec<ReadyEmail>, Failure> {
    let ExportEmails { conversation_id, email_id, project_id } = wanted;
    let account = context.caller.account();
    let query = move |tx: &ReadTx| emails::finished(tx, account, conversation_id, email_id, project_id);
    let none = match email_id {
        Some(_) => "This email is not finished. Check its status.",
        None => "No email in this conversation is finished. Check the conversation's status.",
    };
    let finished = context.read(query).await?;
    if finished.is_empty() { Err(Failure::because(Code::NotExportable, none)) } else { Ok(finished) }
}

async fn file(context: &Context, email: ReadyEmail, target: Target) -> Result<File, Failure> {
    let id = email.id;
    let (format, blob) = (target.format(), blob_id(&email, target));
    if let Target::Platform(kind) = target {
        let translation = translate_for(&email.html, kind, &email.subject);
        let name = format!("{}-{}.{}", email.file_name(), kind.provider().alias(), format.word());
        let bytes = Some(translation.html.into_bytes());
        return Ok(File { email: id, name, blob, bytes, untranslated: translation.untranslated });
    }
    let name = format!("{}.{}", email.file_name(), format.word());
    let of = |blob, bytes| File { email: id, name, blob, bytes, untranslated: Vec::new() };
    if let (Format::Png, Some(blob)) = (format, email.screenshot) {
        return Ok(of(blob, None));
    }
    if blobs::head(&context.data().store.read(), blob)?.is_some() {
        return Ok(of(blob, None));
    }
    let bytes = match format {
        Format::Html => email.html.into_bytes(),
        Format::Mjml => {
            let none = "An email of this conversation was imported as HTML, so it has no MJML; export it as HTML.";
            email.mjml.ok_or_else(|| Failure::because(Code::NotExportable, none))?.into_bytes()
        }
        Format::Png => emails::draw_png(&context.engine, &email.html).await?,
        Format::Pdf => emails::draw_pdf(&context.engine, &email.html, &email.subject).await?,
    };
    Ok(of(blob, Some(bytes)))
}

/// Returns the file ID for an email version and a target. An earlier export is reused unless the HTML has changed, for example because it
/// contains a new postal address of the brand.
fn blob_id(email: &ReadyEmail, target: Target) -> BlobId {
    let kind = if let Target::Platform(kind) = target { kind.word() } else { "file" };
    let name = format!("export {} {} {} {kind} {}", email.id, email.version, target.word(), email.html);
    BlobId::from_bytes(sha256(name.as_bytes())[..12].try_into().expect("a SHA-256 digest has at least 12 bytes"))
}
