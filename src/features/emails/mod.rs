//! Emails. An email is either a block document or imported HTML. A document is rendered in the brand's theme as MJML, HTML and plain text.
//! Imported HTML has no document.
//!
//! Invariant: a document contains no markup of an output format, so its outputs can be rendered again in a different theme.

pub mod benchmark;
pub mod brief;
pub mod checking;
pub mod composer;
pub mod contract;
pub mod copy;
mod corrections;
mod designs;
mod direct;
pub mod document;
mod edits;
pub mod finding;
pub mod generation;
mod given_brief;
mod imported;
mod merge_words;
mod model;
pub mod ops;
mod outputs;
mod postal_address;
pub mod render;
mod resolve;
mod store;
pub mod theme;
mod versions;
pub mod views;
pub mod worker;
mod writing;

use crate::engine::api::Failure;
use crate::engine::hold::OnHold;
use crate::engine::store::{self as rows, Read};
use crate::vocab::codes::Code;
use crate::vocab::ids::{AccountId, BlobId, ConversationId, EmailId, ProjectId};
use crate::vocab::permissions::Permission;
use model::{Email, Stage};

pub use outputs::{fetch_images, pdf as draw_pdf, png as draw_png};
pub use postal_address::MISSING as ADDRESS_MISSING;
pub use resolve::{
    EmailChoice, Headline, choose, headline, is_being_edited, languages, names_postal_address, ready, same_in_every_language,
};
pub use store::ROW_CHECKS;

/// The permissions that allow reading emails. An API key needs one of them. A key that may only send emails refers to an email by its ID
/// and cannot read it.
const READERS: &[Permission] = &[Permission::EmailRead, Permission::EmailWrite];

/// Returns the account's email with this ID. If a project is given, the email must belong to the project.
fn require_email(tx: &impl Read, account: AccountId, id: EmailId, project: Option<ProjectId>) -> Result<Email, Failure> {
    let found = store::email(tx, account, id)?.filter(|email| project.is_none_or(|project| email.project == project));
    found.ok_or_else(|| {
        let detail = match project {
            Some(_) => "The brand has no email with this ID.",
            None => "The account has no email with this ID.",
        };
        Failure::because(Code::NotFound, detail)
            .see("emails.list", "GET /v1/projects/emails lists the generations of a project, and their status lists the emails")
    })
}

/// Returns up to `limit` generations and edits that wait for the hold to end, each with its account, ID, and topic.
pub fn held(tx: &impl Read, hold: &OnHold, limit: usize) -> rows::Result<Vec<(AccountId, String, String)>> {
    let mut held = Vec::new();
    for (id, account) in store::open_conversations(tx, limit)? {
        let found = store::conversation(tx, account, id)?.filter(|found| hold.holds(found.hold_number));
        held.extend(found.map(|found| (account, id.to_string(), found.wanted.topic().to_owned())));
    }
    for id in store::open_edits(tx, limit - held.len())? {
        let found = store::any_edit(tx, id)?.filter(|found| hold.holds(found.hold_number));
        held.extend(found.map(|found| (found.account, id.to_string(), found.prompt)));
    }
    Ok(held)
}

fn check_length(field: &str, length: usize, max: usize) -> Result<(), Failure> {
    match length <= max {
        true => Ok(()),
        false => Err(Failure::field(field, format_args!("list at most {max} items; this list has {length}"))),
    }
}

/// Returns an error unless the account has this email and, if a project is given, the email belongs to the project.
pub fn require(tx: &impl Read, account: AccountId, id: EmailId, project: Option<ProjectId>) -> Result<(), Failure> {
    require_email(tx, account, id, project).map(drop)
}

/// Returns the failure for a conversation that does not exist in the project or, if no project is given, in the account.
fn conversation_not_found(project: Option<ProjectId>) -> Failure {
    let detail = match project {
        Some(_) => "The brand has no generation with this ID.",
        None => "The account has no generation with this ID.",
    };
    Failure::because(Code::NotFound, detail).see("emails.list", "GET /v1/projects/emails lists the generations of a project")
}

/// The current version of an email that is ready.
#[derive(Clone, Debug)]
pub struct ReadyEmail {
    pub id: EmailId,
    pub conversation: ConversationId,
    pub project: ProjectId,
    /// The email's slot in the series, starting at 0.
    pub slot: u8,
    pub language: String,
    pub version: u32,
    pub subject: String,
    /// The preview text that email clients show after the subject. The HTML contains the preheader too.
    pub preheader: String,
    pub html: String,
    pub text: String,
    /// The email's MJML; `None` for imported HTML.
    pub mjml: Option<String>,
    /// The screenshot of the whole email; `None` if there is none, or if it may show a former postal address of the brand.
    pub screenshot: Option<BlobId>,
}

impl ReadyEmail {
    /// Returns a base name for exported files: the email's subject in lowercase ASCII, its slot and its language.
    pub fn file_name(&self) -> String {
        const CHARACTERS_MAX: usize = 60;
        let mut name = String::new();
        for c in self.subject.chars() {
            match c.to_ascii_lowercase() {
                c if c.is_ascii_alphanumeric() => name.push(c),
                _ if !name.ends_with('-') => name.push('-'),
                _ => {}
            }
        }
        let name: String = name.trim_matches('-').chars().take(CHARACTERS_MAX).collect();
        let name = if name.is_empty() { "email" } else { name.trim_end_matches('-') };
        format!("{name}-{}-{}", self.slot + 1, self.language.to_ascii_lowercase())
    }
}

/// Returns the ready emails in a conversation, in order, or only the email with the given ID.
pub fn finished(
    tx: &impl Read,
    account: AccountId,
    conversation: ConversationId,
    only: Option<EmailId>,
    project: Option<ProjectId>,
) -> Result<Vec<ReadyEmail>, Failure> {
    let found = store::conversation(tx, account, conversation)?;
    found
        .filter(|found| project.is_none_or(|project| found.project == project))
        .ok_or_else(|| conversation_not_found(project))?;
    let emails = store::emails(tx, account, conversation)?;
    if only.is_some_and(|only| emails.iter().all(|email| email.id != only)) {
        return Err(Failure::because(Code::NotFound, "The conversation has no email with this ID."));
    }
    let wanted = emails.iter().filter(|email| email.stage == Stage::Ready && only.is_none_or(|only| email.id == only));
    wanted.map(|email| one_finished(tx, email)).collect()
}

fn one_finished(tx: &impl Read, email: &Email) -> Result<ReadyEmail, Failure> {
    let version = store::version(tx, email.id, email.version)?;
    let version = version.ok_or_else(|| Failure::internal("the version of a ready email is missing; report this bug"))?;
    let texts = versions::texts(tx, email.id, email.version)?;
    let screenshot = version.pictures.screenshot.filter(|_| !postal_address::follows_brand(&texts.html));
    let texts = postal_address::in_texts(tx, email.project, texts)?;
    Ok(ReadyEmail {
        id: email.id,
        conversation: email.conversation,
        project: email.project,
        slot: email.slot,
        language: email.language.clone(),
        version: email.version,
        subject: version.subject,
        preheader: version.preheader,
        html: texts.html,
        text: texts.text,
        mjml: texts.mjml,
        screenshot,
    })
}
