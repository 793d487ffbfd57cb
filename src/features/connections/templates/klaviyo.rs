//! Klaviyo's templates and images. The request and response formats are those of Klaviyo's OpenAPI description for the pinned revision.

use data_encoding::BASE64;
use http::Method;
use serde::Deserialize;
use serde_json::json;

use super::{Draft, Image, Remote, TemplateKind, TemplatePort};
use crate::base::clock::Timestamp;
use crate::features::connections::client::Client;
use crate::features::connections::error::PlatformError;
use crate::features::connections::model::Connection;
use crate::features::connections::platform::segment;

pub struct Klaviyo;

#[derive(Deserialize)]
struct Listed<T> {
    data: Vec<T>,
}

#[derive(Deserialize)]
struct One<T> {
    data: T,
}

#[derive(Deserialize)]
struct Template {
    id: String,
}

#[derive(Deserialize)]
struct KlaviyoImage {
    attributes: ImageAttributes,
}

#[derive(Deserialize)]
struct ImageAttributes {
    image_url: String,
}

/// Returns a filter by name. Names contain no quotation marks or backslashes, so they need no escaping.
fn named(name: &str) -> String {
    format!("equals(name,\"{name}\")")
}

impl TemplatePort for Klaviyo {
    async fn find(client: &Client<'_>, draft: &Draft, _: Timestamp) -> Result<Option<String>, PlatformError> {
        let filter = named(&draft.name);
        let query = [("filter", filter.as_str()), ("fields[template]", "name"), ("sort", "-created")];
        let found: Listed<Template> = client.get("/api/templates", &query).await?;
        Ok(found.data.into_iter().next().map(|template| template.id))
    }

    async fn create(client: &Client<'_>, draft: &Draft) -> Result<String, PlatformError> {
        let editor = if draft.kind == TemplateKind::KlaviyoHybrid { "USER_DRAGGABLE" } else { "CODE" };
        let attributes = json!({ "name": draft.name, "editor_type": editor, "html": draft.html, "text": draft.text });
        let body = client.json(Some(&json!({ "data": { "type": "template", "attributes": attributes } })));
        let made: One<Template> = client.create("/api/templates", &body).await?;
        Ok(made.data.id)
    }

    async fn update(client: &Client<'_>, _: &Connection, draft: &Draft, id: &str) -> Result<Remote, PlatformError> {
        let attributes = json!({ "name": draft.name, "html": draft.html, "text": draft.text });
        let body = client.json(Some(&json!({ "data": { "type": "template", "id": id, "attributes": attributes } })));
        let updated: One<Template> = client.change(Method::PATCH, &format!("/api/templates/{}", segment(id)?), &body).await?;
        let url = format!("https://www.klaviyo.com/email-editor/{}/edit", segment(&updated.data.id)?);
        Ok(Remote { id: updated.data.id, url })
    }

    async fn find_image(client: &Client<'_>, image: &Image<'_>) -> Result<Option<String>, PlatformError> {
        let filter = named(&image.name);
        let query = [("filter", filter.as_str()), ("fields[image]", "name,image_url")];
        let found: Listed<KlaviyoImage> = client.get("/api/images", &query).await?;
        Ok(found.data.into_iter().next().map(|image| image.attributes.image_url))
    }

    async fn upload_image(client: &Client<'_>, image: &Image<'_>) -> Result<String, PlatformError> {
        let url = format!("data:{};base64,{}", image.content_type, BASE64.encode(image.bytes));
        let attributes = json!({ "name": image.name, "import_from_url": url });
        let body = client.json(Some(&json!({ "data": { "type": "image", "attributes": attributes } })));
        let made: One<KlaviyoImage> = client.create("/api/images", &body).await?;
        Ok(made.data.attributes.image_url)
    }
}
