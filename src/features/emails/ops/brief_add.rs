//! Adds text from an email to the email's brief, so that the email may contain the text.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::base::text::{LongText, SOME_TEXT};
use crate::engine::api::{Caller, Command, Done, Failure, Operation, Spec, needs};
use crate::engine::store::WriteTx;
use crate::features::emails::brief::{self, Brief, Fact, FactKind, Part};
use crate::features::emails::document::Email as Document;
use crate::features::emails::finding::Finding;
use crate::features::emails::generation::context;
use crate::features::emails::model::Stage;
use crate::features::emails::writing::material;
use crate::features::emails::{require_email, store};
use crate::features::projects::brand::Brand;
use crate::vocab::codes::Code;
use crate::vocab::ids::EmailId;
use crate::vocab::limits;
use crate::vocab::permissions::Permission;
use crate::vocab::rates::RouteGroup;

/// The operation `emails.brief_add`.
pub struct BriefAdd;

/// The email and the text to add to its brief.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct AddToBrief {
    pub email_id: EmailId,
    /// The text to add: the `accept` value of a warning, or other text that the email must contain from now on, such as its subject, its
    /// preheader, a URL that it links to, or a sentence.
    #[schemars(extend("pattern" = SOME_TEXT))]
    pub text: LongText<{ limits::PROMPT_CHARACTERS_MAX }>,
}

impl Operation for BriefAdd {
    const SPEC: Spec = Spec::post("emails.brief_add", "/v1/emails/{emailId}/brief", needs(Permission::EmailWrite))
        .client("emails.add_to_brief")
        .summary("Add text to the brief of an email")
        .about(
            "Returns the brief. Values in the added text are no longer reported as missing from the brief. The emails in a series and \
                the languages of an email share a brief.",
        )
        .rate(RouteGroup::Emails)
        .fails(&[Code::NotFound, Code::WrongState, Code::LimitReached]);
    type Input = AddToBrief;
    type Output = Done<Brief>;

    fn example() -> (Value, Self::Output) {
        let input = json!({ "emailId": "66f1a2b3d4e5f60718293a4e", "text": "Only £15 until Sunday." });
        let today = jiff::civil::date(2026, 11, 16);
        let mut brief = brief::parse("20% off everything until 30 November with code LOFT20.", &Brand::default(), None, today);
        brief.facts.push(fact("Only £15 until Sunday."));
        (input, Done(brief))
    }
}

impl Command for BriefAdd {
    fn run(tx: &mut WriteTx<'_>, caller: &Caller, input: AddToBrief) -> Result<Self::Output, Failure> {
        let account = caller.account();
        let text = input.text.trim();
        if text.is_empty() {
            return Err(Failure::field("text", "must not be empty; enter text from the email"));
        }
        let email = require_email(tx, account, input.email_id, None)?;
        let conversation = store::conversation(tx, account, email.conversation)?;
        let mut conversation =
            conversation.ok_or_else(|| Failure::internal("the conversation of an email is missing; report this bug"))?;
        let (document, version) = (context::document(tx, &email)?, store::version(tx, email.id, email.version)?);
        let (Some(document), Some(mut version), Some(mut brief), Stage::Ready) =
            (document, version, conversation.wanted.brief.clone(), &email.stage)
        else {
            let detail =
                "This email has no brief to add text to. Only finished emails generated from a prompt or a brief have one.";
            return Err(Failure::because(Code::WrongState, detail).with(json!({ "status": email.stage.word() })));
        };
        add(&mut brief, &document, text)?;
        conversation.wanted.brief = Some(brief.clone());
        store::save_conversation(tx, account, &conversation);
        let material = material::gather(tx, account, email.project, &conversation.wanted)?;
        let found = context::brief(tx, account, &conversation, &email)?.warnings(&document, &material);
        let holds = |warning: &Finding| found.iter().any(|own| (own.kind, &own.text) == (warning.kind, &warning.text));
        version.warnings.retain(|warning| !warning.kind.binds_edits() || holds(warning));
        version.brief = Some(brief.clone());
        store::save_version(tx, email.id, &version);
        Ok(Done(brief))
    }
}

/// Adds text to the brief: as the prescribed subject or preheader, as a link, or as a statement.
fn add(brief: &mut Brief, document: &Document, text: &str) -> Result<(), Failure> {
    let part = || Some(Part { text: text.to_owned(), span: None });
    if document.subject.as_str().trim() == text {
        brief.subject = part();
    } else if document.preheader.as_str().trim() == text {
        brief.preheader = part();
    } else if brief.facts.iter().all(|fact| fact.text != text) {
        if brief.facts.len() >= limits::BRIEF_PARTS_MAX {
            let detail = format!(
                "The brief already has the maximum of {} facts. Remove the text from the email instead.",
                brief.facts.len()
            );
            return Err(Failure::because(Code::LimitReached, detail));
        }
        brief.facts.push(fact(text));
    }
    Ok(())
}

fn fact(text: &str) -> Fact {
    let is_address = ["https://", "http://"].iter().any(|start| text.starts_with(start)) && !text.contains(' ');
    let kind = if is_address { FactKind::Link } else { FactKind::Sentence };
    Fact { kind, role: None, text: text.to_owned(), value: None, story: None, span: None }
}
