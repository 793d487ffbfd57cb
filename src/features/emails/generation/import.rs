//! Creates imported emails. Imported emails skip the writing stage and, without an instruction, the rendering stage.

use super::embedded_images::{self, EmbeddedImage};
use super::stages::new_email;
use crate::engine::api::{Engine, Failure};
use crate::engine::render::imported_html::ImportedHtml;
use crate::engine::store::WriteTx;
use crate::features::emails::finding::Finding;
use crate::features::emails::imported;
use crate::features::emails::model::{
    Conversation, GenerationRequest, Origin, Source, Stage, State, Texts, Version, VersionScreenshots, Visibility,
};
use crate::features::emails::ops::generate;
use crate::features::emails::{store, versions, views};
use crate::features::projects;
use crate::vocab::ids::{AccountId, ProjectId};
use crate::vocab::limits;
use crate::vocab::settings::OnFailure;

/// An imported and sanitized email.
pub struct SafeImport {
    /// The caller's name for the email. It can be empty.
    pub name: String,
    pub imported_html: ImportedHtml,
    /// The images in the HTML that are to be stored.
    pub images: Vec<EmbeddedImage>,
}

/// The emails that one request imports.
pub struct ImportBatch {
    pub emails: Vec<SafeImport>,
    /// The language that the caller specifies.
    pub language: Option<String>,
    pub visibility: Visibility,
    /// The instruction to apply to each email right after the import. It can be empty.
    pub instruction: String,
    pub wants_images: bool,
    /// The model that applies the instruction.
    pub model: String,
    /// What happens if the model cannot apply the instruction.
    pub on_failure: OnFailure,
}

/// The warning for callers who request images.
const NO_IMAGES: &str = "No image was generated: this service cannot generate images. Edit the email to use other images.";

/// Adds a conversation of imported emails. Their screenshots are rendered later.
pub fn open(
    tx: &mut WriteTx<'_>,
    engine: &Engine,
    (account, project): (AccountId, ProjectId),
    batch: ImportBatch,
) -> Result<Conversation, Failure> {
    let own = projects::brand(tx, account, project)?.and_then(|(_, brand)| brand.languages.into_iter().next());
    let language = |imported_html: &ImportedHtml| {
        let said = imported_html.language.as_ref().and_then(|said| crate::base::locale::LanguageTag::parse(said).ok());
        let said = said.map(|said| said.as_str().to_owned());
        batch.language.clone().or(said).or_else(|| own.clone()).unwrap_or_else(|| "en".into())
    };
    let first = batch.emails.first().expect("the caller has rejected an empty list");
    let wanted = GenerationRequest {
        prompt: batch.instruction.clone(),
        model: batch.model.clone(),
        on_failure: batch.on_failure,
        languages: vec![language(&first.imported_html)],
        count: Some(batch.emails.len() as u8),
        images: Vec::new(),
        brief: None,
        reference: None,
        web: false,
        pages: Vec::new(),
        visibility: batch.visibility,
        source: Source::Html,
    };
    let title = subject(first);
    let mut conversation = generate::open(tx, account, project, wanted)?;
    conversation.title = Some(title);
    conversation.state = State::Processing;
    store::save_conversation(tx, account, &conversation);
    for (slot, mut item) in batch.emails.into_iter().enumerate() {
        let html = std::mem::take(&mut item.imported_html.html);
        item.imported_html.html = embedded_images::linked(tx, engine, project, html, &item.images);
        let language = language(&item.imported_html);
        let mut email = new_email(tx, &conversation, slot as u8, &language, None);
        // The instruction is applied before the email becomes ready.
        email.stage = if batch.instruction.is_empty() { Stage::Rendered } else { Stage::Written };
        (email.version, email.versions) = (1, 1);
        store::place(tx, account, slot as u16, &email);
        let mut version = version(&item, tx);
        if batch.wants_images {
            version.warnings.push(Finding::note(NO_IMAGES));
        }
        store::save_version(tx, email.id, &version);
        let ImportedHtml { html, text, .. } = item.imported_html;
        versions::save_texts(tx, email.id, 1, Texts { html, mjml: None, text });
    }
    Ok(conversation)
}

/// Returns the subject of the message or the title of the page. If both are missing, returns the email's name or, without a name, a
/// placeholder.
fn subject(item: &SafeImport) -> String {
    let SafeImport { name, imported_html, .. } = item;
    let subject = imported_html.subject.clone().filter(|subject| !subject.is_empty()).unwrap_or_else(|| name.clone());
    let subject: String = subject.chars().take(limits::EMAIL_SUBJECT_CHARACTERS_MAX).collect();
    if subject.is_empty() { views::UNTITLED.to_owned() } else { subject }
}

fn version(item: &SafeImport, tx: &WriteTx<'_>) -> Version {
    let imported_html = &item.imported_html;
    Version {
        number: 1,
        origin: Origin::Imported,
        brief: None,
        document: None,
        written_by: None,
        subject: subject(item),
        preheader: imported::preheader(imported_html),
        warnings: imported::warnings(imported_html),
        pictures: VersionScreenshots::default(),
        facts: imported::facts(imported_html),
        created_at: tx.now(),
    }
}
