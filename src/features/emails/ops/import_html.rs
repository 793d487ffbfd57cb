//! Imports existing emails from HTML or whole messages.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use super::generate::AcceptedGeneration;
use crate::base::locale::LanguageTag;
use crate::base::text::{LongText, NOT_BLANK, ShortText};
use crate::engine::api::{Async, BodySize, Context, Created, Engine, Failure, Operation, Replay, Spec, needs};
use crate::engine::render::html_limits::megabytes;
use crate::engine::render::imported_html::ImportedHtml;
use crate::engine::render::pixels::RenderError;
use crate::engine::store::WriteTx;
use crate::features::emails::check_length;
use crate::features::emails::generation::embedded_images;
use crate::features::emails::generation::import::{self, SafeImport};
use crate::features::emails::imported::merge_fields;
use crate::features::emails::model::Visibility;
use crate::vocab::codes::Code;
use crate::vocab::ids::ProjectId;
use crate::vocab::limits;
use crate::vocab::permissions::Permission;
use crate::vocab::rates::RouteGroup;

pub struct ImportHtml;

/// The emails to import: one email in `html`, or several emails in `htmls`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schemars(extend("anyOf" = [
    { "required": ["html"], "properties": { "html": { "type": "string" }, "htmls": { "maxItems": 0 } } },
    { "required": ["htmls"], "properties": { "html": { "type": "null" }, "htmls": { "minItems": 1 } } },
]))]
pub struct ImportEmails {
    pub project_id: ProjectId,
    /// The email's HTML.
    #[schemars(extend("pattern" = NOT_BLANK))]
    pub html: Option<String>,
    /// The name of the email. It becomes the subject if the source has neither a subject nor a title.
    pub name: Option<ShortText<{ limits::EMAIL_SUBJECT_CHARACTERS_MAX }>>,
    /// The emails to import, instead of `html`.
    #[schemars(length(max = limits::HTML_IMPORTS_MAX))]
    #[serde(default)]
    pub htmls: Vec<NamedSource>,
    /// A list whose first item is the language of the emails; all other items are ignored. If the list is absent or empty, each email has
    /// the language that its HTML declares or, if it declares none, the brand's main language.
    #[schemars(length(max = limits::EMAIL_LANGUAGES_MAX))]
    #[serde(default)]
    pub languages: Vec<LanguageTag>,
    /// A change to make to each email, in plain words. The change becomes the first edit of each email, with its own version. If the change
    /// fails, the email is imported unchanged, with a warning that explains why.
    pub instruction: Option<LongText<{ limits::PROMPT_CHARACTERS_MAX }>>,
    /// Who may see the emails without an API key. The default is `private`.
    #[serde(default)]
    pub visibility: Visibility,
    /// Whether to generate images for the emails. This service cannot generate images, so `true` only adds a warning to each email.
    #[serde(default)]
    pub generate_media: bool,
}

/// An existing email to import.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NamedSource {
    /// The name of the file or the email. It becomes the subject if the source has none.
    pub name: ShortText<{ limits::EMAIL_SUBJECT_CHARACTERS_MAX }>,
    /// The source of the email: HTML, or a complete message with headers (.eml).
    #[schemars(extend("pattern" = NOT_BLANK))]
    pub source: String,
}

impl Operation for ImportHtml {
    const SPEC: Spec = Spec::post("emails.import_html", "/v1/projects/emails/import-html", needs(Permission::EmailWrite))
        .summary("Import emails as HTML")
        .about(
            "Removes scripts, forms, videos and other content that might not be safe, and conditional comments for Outlook in the \
             head. If any comment for Outlook outside the head contains text or links, removes these comments too. The warnings of each email list what was removed. The screenshots are rendered in the \
             background: poll the status as for a generation. Imported emails can be edited with prompts, shown, exported and sent \
             like generated emails, but have no document and no MJML.",
        )
        .rate(RouteGroup::Emails)
        .replay(Replay::Keyed)
        .body(BodySize::Bulk)
        .fails(&[Code::NotFound, Code::LimitReached]);
    type Input = ImportEmails;
    type Output = Created<AcceptedGeneration>;

    fn example() -> (Value, Self::Output) {
        let input = json!({
            "projectId": "66f1a2b3d4e5f60718293a4b", "html": "<html><body><h1>Hello</h1></body></html>", "name": "Hello",
        });
        (input, Created(AcceptedGeneration { count: Some(1), ..AcceptedGeneration::sample() }))
    }
}

impl Async for ImportHtml {
    async fn run(context: Context, input: ImportEmails) -> Result<Self::Output, Failure> {
        let account = context.caller.account();
        check_length("languages", input.languages.len(), limits::EMAIL_LANGUAGES_MAX)?;
        let (project, visibility) = (input.project_id, input.visibility);
        let language = input.languages.first().map(|language| language.as_str().to_owned());
        let instruction = input.instruction.as_ref().map(|text| text.to_string()).unwrap_or_default();
        let wants_images = input.generate_media;
        let model = context.engine.models.default_name().to_owned();
        let on_failure = context.engine.settings.language_model.on_failure;
        let mut emails = Vec::new();
        for (field, name, source) in sources(input)? {
            check_size(&field, "the email", &source)?;
            if source.trim_matches(|c: char| c.is_whitespace() || c == '\u{feff}').is_empty() {
                return Err(Failure::field(
                    &field,
                    "must not be empty; send the email's HTML, or a complete message with headers (.eml)",
                ));
            }
            // A complete message (.eml) is a copy of an email that was already sent, so its merge fields are already filled in.
            let (source, untranslated) =
                if is_message(&source) { (source, Vec::new()) } else { merge_fields::translated(&source) };
            check_size(&field, "with its merge fields translated, the email", &source)?;
            let mut imported_html = clean(&context.engine, &source).await.map_err(|fault| refused(&field, fault))?;
            let listed = |field: String| format!("merge field {field}, which has no counterpart in Mailmill");
            imported_html.removed.extend(untranslated.into_iter().map(listed));
            let images = embedded_images::convert(&context.engine, &imported_html.html).await;
            let images = images.map_err(|fault| refused(&field, fault))?;
            emails.push(SafeImport { name, imported_html, images });
        }
        let batch = import::ImportBatch { emails, language, visibility, instruction, wants_images, model, on_failure };
        let engine = context.engine.clone();
        let open = move |tx: &mut WriteTx<'_>| import::open(tx, &engine, (account, project), batch);
        let conversation = context.write(&Self::SPEC, open).await?;
        Ok(Created(AcceptedGeneration::of(&conversation, context.engine.base_url())))
    }
}

/// Returns an error if a source is too long. `what` names the source in the error.
fn check_size(field: &str, what: &str, source: &str) -> Result<(), Failure> {
    let max = limits::HTML_IMPORT_BYTES_MAX;
    if source.len() <= max {
        return Ok(());
    }
    let (size, max) = (megabytes(source.len()), megabytes(max));
    Err(Failure::field(field, format_args!("{what} is {size}; shorten it to at most {max}")))
}

/// Returns the sources of the emails, each with its input field and name.
fn sources(input: ImportEmails) -> Result<Vec<(String, String, String)>, Failure> {
    match (input.html, input.htmls) {
        (Some(html), htmls) if htmls.is_empty() => {
            let name = input.name.map(|name| name.to_string()).unwrap_or_default();
            Ok(vec![("html".to_owned(), name, html)])
        }
        (None, htmls) if !htmls.is_empty() => {
            check_length("htmls", htmls.len(), limits::HTML_IMPORTS_MAX)?;
            let numbered = htmls.into_iter().enumerate();
            Ok(numbered.map(|(index, one)| (format!("htmls[{index}].source"), one.name.to_string(), one.source)).collect())
        }
        (Some(_), _) => Err(Failure::field("htmls", "set either `html` or `htmls`, not both")),
        (None, _) => Err(Failure::field("html", "set `html` to the HTML of one email, or `htmls` to the HTML of several emails")),
    }
}

/// Sanitizes a source. A source that starts with headers is a whole message; any other source is HTML.
async fn clean(engine: &Engine, source: &str) -> Result<ImportedHtml, RenderError> {
    match is_message(source) {
        true => engine.pixels.clean_mail(source.as_bytes()).await,
        false => engine.pixels.clean_html(source).await,
    }
}

/// Returns whether the first line of a source is a header field (RFC 5322 §2.2).
fn is_message(source: &str) -> bool {
    let name = source.trim_start_matches('\u{feff}').split(':').next().unwrap_or_default();
    source.contains(':') && !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_graphic() && byte != b'<')
}

fn refused(field: &str, fault: RenderError) -> Failure {
    match fault {
        RenderError::Busy => Failure::because(Code::Unavailable, fault.to_string()).after_seconds(2),
        RenderError::Misused(_) | RenderError::Unavailable(_) => Failure::internal(fault),
        RenderError::Refused(_) | RenderError::Image(_) | RenderError::TooCostly | RenderError::Failed(_) => {
            Failure::field(field, fault)
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use crate::features::emails::generation;
    use crate::testing::TestApp;
    use crate::vocab::environment::Environment;
    use crate::vocab::limits::HTML_IMPORT_BYTES_MAX;

    #[test]
    fn merge_fields_of_another_platform_are_translated_and_others_are_listed() {
        let app = TestApp::new();
        let html = "<html><body><p>Hi *|FNAME|*, *|REWARDS|*</p><a href=\"*|UNSUB|*\">Stop</a></body></html>";
        let made = app.post_in("/v1/projects/emails/import-html", json!({ "html": html })).data();
        while app.wait(generation::step(app.engine().clone(), Environment::Test)).expect("the stage succeeds") {}
        let path = format!("/v1/projects/emails/{}/status", made["conversationId"].as_str().expect("an ID"));
        let email = app.get(&path).data()["result"]["emails"][0].clone();
        let own = email["html"].as_str().expect("the email has HTML");
        for part in ["Hi {{ first_name | default(", "href=\"{{ unsubscribe_url }}\""] {
            assert!(own.contains(part) && !own.contains("*|"), "{own}");
        }
        assert!(email["warnings"].to_string().contains("merge field *|REWARDS|*"), "{email}");
    }

    #[test]
    fn an_email_that_is_too_large_only_when_translated_is_refused_with_the_reason() {
        let app = TestApp::new();
        for (html, start) in [
            ("*|FNAME|*".repeat(50_000), "html: with its merge fields translated, the email is "),
            ("x".repeat(HTML_IMPORT_BYTES_MAX + 1), "html: the email is "),
        ] {
            let answer = app.post_in("/v1/projects/emails/import-html", json!({ "html": html }));
            let (status, _, detail) = answer.refusal();
            assert!(status == 400 && detail.starts_with(start), "{detail}");
        }
    }
}
