//! Shows a starter design in a brand's theme.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use super::create::conversation;
use crate::engine::api::http_types::Reply;
use crate::engine::api::operation::Media;
use crate::engine::api::{Bare, Context, Failure, Operation, Raw, RawRequest, Spec, needs_one, untrusted_html};
use crate::engine::store::ReadTx;
use crate::features::emails::generation::context::date;
use crate::features::emails::{READERS, designs, outputs};
use crate::features::projects;
use crate::vocab::codes::Code;
use crate::vocab::ids::{ConversationId, ProjectId};
use crate::vocab::placeholders;
use crate::vocab::rates::RouteGroup;

/// The operation `emails.design_html`.
pub struct DesignHtml;

/// The design, the project whose brand determines the theme, and whether to load remote images.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct DesignRef {
    /// The name of the design.
    #[schemars(schema_with = "designs::name_schema")]
    pub design: String,
    pub project_id: ProjectId,
    /// Whether to load remote images through this service. If false or absent, only images that this service stores are shown.
    pub images: Option<bool>,
}

impl Operation for DesignHtml {
    const SPEC: Spec = Spec::get("emails.design_html", "/v1/emails/designs/{design}/html", needs_one(READERS))
        .client("emails.designs.html")
        .summary("Show a starter design as a page")
        .about("Renders the design in the theme of the project's brand, in the same way as `POST /v1/emails`.")
        .rate(RouteGroup::Emails)
        .fails(&[Code::NotFound]);
    type Input = DesignRef;
    type Output = Bare;

    fn example() -> (Value, Self::Output) {
        (json!({ "design": "welcome", "projectId": "66f1a2b3d4e5f60718293a4b" }), Bare)
    }
}

impl Raw for DesignHtml {
    const MEDIA: Media = Media::gives("text/html; charset=utf-8");

    async fn run(context: Context, input: DesignRef, _: RawRequest) -> Result<Reply, Failure> {
        let (account, now) = (context.caller.account(), context.now());
        let query = move |tx: &ReadTx| {
            projects::require(tx, account, input.project_id)?;
            let document = designs::written(tx, account, input.project_id, &input.design, None, date(now))?;
            // The seed can be 0: it usually selects the layout of a conversation's emails, but every design sets its own layout.
            let made =
                conversation(ConversationId::from_bytes([0; 12]), input.project_id, &document, Default::default(), (0, now));
            Ok(outputs::render_texts(tx, account, &made, &document)?.texts.html)
        };
        let html = placeholders::preview(&context.read(query).await?);
        let engine = &context.engine;
        let html = if input.images == Some(true) { projects::images_through_here(engine, html).await? } else { html };
        Ok(untrusted_html::document(&html, "private, no-store", untrusted_html::Images::Here(engine.base_url())))
    }
}
