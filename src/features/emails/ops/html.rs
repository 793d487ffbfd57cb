//! Shows an email as a page, as a recipient might see the email.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::engine::api::http_types::Reply;
use crate::engine::api::operation::Media;
use crate::engine::api::{Bare, Context, Failure, Operation, Raw, RawRequest, Spec, needs_one, untrusted_html};
use crate::engine::store::ReadTx;
use crate::features::emails::model::Part;
use crate::features::emails::{READERS, postal_address, require_email, store};
use crate::features::projects;
use crate::vocab::codes::Code;
use crate::vocab::ids::EmailId;
use crate::vocab::placeholders;
use crate::vocab::rates::RouteGroup;

pub struct Html;

/// The email to show, whether to load remote images, and whether to show the colors for dark mode.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct EmailHtmlRef {
    pub email_id: EmailId,
    /// Whether to load remote images through this service. If false or absent, only images that this service stores are shown.
    pub images: Option<bool>,
    /// Whether to show the email's colors for dark mode. If absent, the device decides.
    pub dark: Option<bool>,
}

impl Operation for Html {
    const SPEC: Spec = Spec::get("emails.html", "/v1/emails/{emailId}/html", needs_one(READERS))
        .summary("Show an email as a page")
        .about(
            "Merge fields show their defaults or, without a default, their names. The page runs no scripts and sends no data. It loads no \
             remote images unless `images` is true. Its links open in a new window.",
        )
        .rate(RouteGroup::Emails)
        .fails(&[Code::NotFound]);
    type Input = EmailHtmlRef;
    type Output = Bare;

    fn example() -> (Value, Self::Output) {
        (json!({ "emailId": "66f1a2b3d4e5f60718293a4e" }), Bare)
    }
}

impl Raw for Html {
    const MEDIA: Media = Media::gives("text/html; charset=utf-8");

    async fn run(context: Context, input: EmailHtmlRef, _: RawRequest) -> Result<Reply, Failure> {
        let account = context.caller.account();
        let query = move |tx: &ReadTx| {
            let email = require_email(tx, account, input.email_id, None)?;
            let html = store::text(tx, email.id, email.version, Part::Html)?;
            Ok(html.map(|html| postal_address::in_markup(tx, email.project, html)).transpose()?)
        };
        let html = context.read(query).await?.unwrap_or_default();
        let (html, engine) = (in_mode(placeholders::preview(&html), input.dark), &context.engine);
        let html = if input.images == Some(true) { projects::images_through_here(engine, html).await? } else { html };
        Ok(untrusted_html::document(&html, "private, no-store", untrusted_html::Images::Here(engine.base_url())))
    }
}

/// Returns the HTML, changed so that its styles for dark mode always apply (`true`) or never apply (`false`). Returns the HTML unchanged
/// for `None`.
fn in_mode(html: String, dark: Option<bool>) -> String {
    match dark {
        Some(true) => html.replace("@media (prefers-color-scheme:dark)", "@media all"),
        Some(false) => html.replace("@media (prefers-color-scheme:dark)", "@media not all"),
        None => html,
    }
}
