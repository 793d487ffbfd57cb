//! Starts a preview of an email on devices. The devices are drawn in the background.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::base::text::{NOT_BLANK, ShortText};
use crate::engine::api::{BodySize, Caller, Command, Created, Engine, Failure, Operation, Replay, Spec, needs};
use crate::engine::clients::devices::{self, Device};
use crate::engine::store::WriteTx;
use crate::features::emails;
use crate::features::previews::model::{DrawnWith, Preview, Source};
use crate::features::previews::views::{PreviewView, Viewer};
use crate::features::previews::{lifecycle, retention, store};
use crate::features::validation::input;
use crate::vocab::codes::Code;
use crate::vocab::ids::{AccountId, EmailId, PreviewId};
use crate::vocab::limits;
use crate::vocab::permissions::Permission;
use crate::vocab::rates::RouteGroup;

/// The default subject of a preview.
const SUBJECT: &str = "Email Preview";

pub struct Create;

/// The email to show, as either `html` or `emailId`, with the devices and a name.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schemars(extend("anyOf" = input::one_source()))]
pub struct NewPreview {
    /// The email's HTML.
    #[schemars(extend("pattern" = NOT_BLANK))]
    pub html: Option<String>,
    /// The ID of a stored email, instead of `html`.
    pub email_id: Option<EmailId>,
    /// The subject. If absent, the subject of the stored email is used or, without a stored email, `Email Preview`.
    pub subject: Option<ShortText<{ limits::EMAIL_PREVIEW_SUBJECT_CHARACTERS_MAX }>>,
    /// The keys of the devices, such as `gmail.ios` or `outlook.windows.dark`. If empty or absent, ten common devices are used.
    #[schemars(length(max = limits::EMAIL_PREVIEW_DEVICES_MAX), extend("items" = devices::key_schema()))]
    #[serde(default)]
    pub devices: Vec<String>,
    /// A name for the preview.
    pub name: Option<ShortText<{ limits::EMAIL_PREVIEW_NAME_CHARACTERS_MAX }>>,
}

impl Operation for Create {
    const SPEC: Spec = Spec::post("previews.create", "/v1/emails/previews", needs(Permission::EmailPreview))
        .summary("Preview an email on devices")
        .about(
            "Returns immediately; the devices are drawn in the background, within seconds. Each picture is a simulation: a browser \
             engine draws the parts of the email that the client keeps. A picture of the same content on the same device can be reused \
             for a day; if it is reused, `cached` is true. Previews are kept for at most a week.",
        )
        .rate(RouteGroup::Emails)
        .replay(Replay::Keyed)
        .body(BodySize::Bulk)
        .fails(&[Code::NotFound, Code::WrongState, Code::LimitReached, Code::Unavailable]);
    type Input = NewPreview;
    type Output = Created<PreviewView>;

    fn example() -> (Value, Self::Output) {
        let html = "<html lang=\"en\"><body><p style=\"border-radius:4px\">Hello</p></body></html>";
        (json!({ "html": html, "devices": ["outlook.windows"], "name": "Spring sale" }), Created(PreviewView::sample(true)))
    }
}

impl Command for Create {
    fn run(tx: &mut WriteTx<'_>, caller: &Caller, input: NewPreview) -> Result<Self::Output, Failure> {
        let account = caller.account();
        let chosen = chosen(&input.devices)?;
        let (content, subject) = content(tx, account, input.html, input.email_id)?;
        let given = input.subject.map(|subject| subject.to_string()).filter(|subject| !subject.is_empty());
        let preview = Preview {
            id: PreviewId::make(tx.now(), tx.random()),
            name: input.name.map(|name| name.to_string()).filter(|name| !name.is_empty()),
            subject: given.or(subject).unwrap_or_else(|| SUBJECT.to_owned()),
            email: input.email_id,
            source: None,
            devices: Vec::new(),
            bytes: 0,
            attempts: 0,
            created_at: tx.now(),
            finished_at: None,
            expires_at: tx.now().plus_ms(limits::EMAIL_PREVIEW_KEPT_MS),
        };
        let preview = lifecycle::assign(tx, account, preview, &content, &chosen, drawn_with(&caller.engine))?;
        if preview.finished_at.is_none() {
            check_queue(tx, account)?;
        }
        retention::make_space(tx, account)?;
        store::open(tx, account, &preview);
        Viewer { engine: &caller.engine, tx, account }.preview(&preview).map(Created)
    }
}

fn drawn_with(engine: &Engine) -> DrawnWith {
    DrawnWith { engine: engine.settings.rendering.engine.word(), tables: engine.pixels.tables_digest() }
}

/// Returns the devices with these keys, without duplicates. If there are no keys, returns the common devices.
fn chosen(keys: &[String]) -> Result<Vec<&'static Device>, Failure> {
    let max = limits::EMAIL_PREVIEW_DEVICES_MAX;
    if keys.len() > max {
        return Err(Failure::field("devices", format_args!("list at most {max} devices; this list has {}", keys.len())));
    }
    if keys.is_empty() {
        return Ok(devices::all().iter().filter(|device| device.is_common).collect());
    }
    let mut chosen: Vec<&Device> = Vec::new();
    for (index, key) in keys.iter().enumerate() {
        let Some(device) = devices::find(key) else {
            let nearest = devices::nearest(key).join(", ");
            let problem = format!("{key:?} is not a device; the most similar devices are {nearest}");
            return Err(Failure::field(&format!("devices[{index}]"), problem)
                .see("previews.devices", "GET /v1/emails/devices/supported lists the devices"));
        };
        if !chosen.iter().any(|known| known.key == device.key) {
            chosen.push(device);
        }
    }
    Ok(chosen)
}

/// Returns the email that a request specifies with exactly one of `html` and `emailId`. For a stored email, also returns the subject.
fn content(
    tx: &WriteTx<'_>,
    account: AccountId,
    html: Option<String>,
    email: Option<EmailId>,
) -> Result<(Source, Option<String>), Failure> {
    match (html, email) {
        (Some(html), None) => {
            input::check_html(&html)?;
            Ok((Source { html, text: None }, None))
        }
        (None, Some(id)) => {
            let found = emails::ready(tx, account, &[id], None)?.into_iter().next();
            let email = found.ok_or_else(|| Failure::internal("a ready email was not found; report this bug"))?;
            let text = Some(email.text).filter(|text| !text.trim().is_empty());
            Ok((Source { html: email.html, text }, Some(email.subject)))
        }
        (Some(_), Some(_)) => Err(input::both_sources()),
        (None, None) => Err(input::no_source()),
    }
}

/// Returns an error if too many previews of the account or of all accounts are waiting.
fn check_queue(tx: &WriteTx<'_>, account: AccountId) -> Result<(), Failure> {
    let queue = store::queued(tx)?;
    let own = queue.iter().filter(|(_, other)| *other == account).count();
    if own >= limits::EMAIL_PREVIEWS_WAITING_PER_ACCOUNT_MAX {
        let detail =
            format!("{own} previews for this account are waiting or being rendered. Try again when one of them is finished.");
        return Err(Failure::because(Code::LimitReached, detail));
    }
    if queue.len() >= limits::EMAIL_PREVIEWS_WAITING_MAX {
        let detail = "Too many previews are waiting. Try again in a few seconds.";
        return Err(Failure::because(Code::Unavailable, detail).after_seconds(5));
    }
    Ok(())
}
