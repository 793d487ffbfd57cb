//! Creates the files of an export.

use tokio::time::Instant;

use super::Format;
use super::views::{EmailExport, ExportEmails, FileView};
use crate::base::secret::sha256;
use crate::engine::api::response::WireTime;
use crate::engine::api::{Context, Failure, Spec};
use crate::engine::store::blobs::{self, Head};
use crate::engine::store::{ReadTx, WriteTx};
use crate::features::emails::{self, Finished};
use crate::vocab::codes::Code;
use crate::vocab::ids::{BlobId, EmailId};

/// An exported file to store.
struct File {
    email: EmailId,
    name: String,
    blob: BlobId,
    /// The content of the file; `None` if the file is already stored.
    bytes: Option<Vec<u8>>,
}

/// Exports a conversation's finished emails in one format.
pub async fn export(
    context: &Context,
    spec: &'static Spec,
    wanted: ExportEmails,
    format: Format,
) -> Result<EmailExport, Failure> {
    let started = Instant::now();
    let (account, id) = (context.caller.account(), wanted.conversation_id);
    let query = move |tx: &ReadTx| emails::finished(tx, account, id, wanted.email_id, wanted.project_id);
    let finished = context.read(query).await?;
    if finished.is_empty() {
        return Err(Failure::because(
            Code::NotExportable,
            "No email in this conversation is finished. Check the conversation's status.",
        ));
    }
    let mut files = Vec::with_capacity(finished.len());
    for email in finished {
        files.push(file(context, email, format).await?);
    }
    let mut views = Vec::with_capacity(files.len());
    for file in &files {
        let (url, expires_at) = context.engine.file_link(file.blob);
        let (filename, email_id) = (file.name.clone(), file.email);
        views.push(FileView { filename, url, format: format.word(), email_id, expires_at: WireTime(expires_at) });
    }
    let expires_at = views.first().map(|view| view.expires_at.0);
    let keep = move |tx: &mut WriteTx<'_>| -> Result<(), Failure> {
        for File { name, blob, bytes, .. } in files {
            match bytes {
                Some(bytes) => {
                    let content_type = format.content_type().to_owned();
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
    Ok(EmailExport { conversation_id: id, files: views, execution_time, export_type: format.word() })
}

async fn file(context: &Context, email: Finished, format: Format) -> Result<File, Failure> {
    let id = email.id;
    let name = format!("{}.{}", email.file_name(), format.word());
    if let (Format::Png, Some(blob)) = (format, email.screenshot) {
        return Ok(File { email: id, name, blob, bytes: None });
    }
    let blob = blob_id(&email, format);
    if blobs::head(&context.data().store.read(), blob)?.is_some() {
        return Ok(File { email: id, name, blob, bytes: None });
    }
    let bytes = match format {
        Format::Html => email.html.into_bytes(),
        Format::Mjml => {
            let none = "This email was imported as HTML, so it has no MJML; export it as HTML.";
            email.mjml.ok_or_else(|| Failure::because(Code::NotExportable, none))?.into_bytes()
        }
        Format::Png => emails::draw_png(&context.engine, &email.html).await?,
        Format::Pdf => emails::draw_pdf(&context.engine, &email.html, &email.subject).await?,
    };
    Ok(File { email: id, name, blob, bytes: Some(bytes) })
}

/// Returns the file ID for an email version in a format. An export is used again unless the HTML has changed, for example with the postal
/// address of the brand.
fn blob_id(email: &Finished, format: Format) -> BlobId {
    let name = format!("export {} {} {} {}", email.id, email.version, format.word(), email.html);
    BlobId::from_bytes(sha256(name.as_bytes())[..12].try_into().expect("a SHA-256 digest has at least 12 bytes"))
}
