//! HubSpot's coded templates, marketing email drafts, and images. The request and response formats are those of HubSpot's API descriptions
//! for the pinned version.
//!
//! A coded template is a file with a path, so writing it twice creates one file. Each draft has its own template.

use http::Method;
use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::{Value, json};

use super::{Draft, Image, Remote, TemplateKind, TemplatePort};
use crate::base::clock::Timestamp;
use crate::features::connections::client::{Client, FormFile};
use crate::features::connections::error::PlatformError;
use crate::features::connections::model::Connection;
use crate::features::connections::platform::hubspot::Paging;
use crate::features::connections::platform::segment;
use crate::vocab::limits;

pub struct HubSpot;

const EMAILS: &str = "/marketing/emails/2026-03";
const FILES: &str = "/cms/source-code/2026-03/published";

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Details {
    ui_domain: String,
}

#[derive(Deserialize)]
struct Emails {
    results: Vec<Email>,
    #[serde(default)]
    paging: Paging,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Email {
    id: String,
    #[serde(default)]
    name: String,
    #[serde(default)]
    is_published: bool,
}

#[derive(Deserialize)]
struct File {
    url: String,
}

impl TemplatePort for HubSpot {
    async fn find(client: &Client<'_>, draft: &Draft, since: Timestamp) -> Result<Option<String>, PlatformError> {
        if draft.kind == TemplateKind::HubSpotTemplate {
            return Ok(None);
        }
        let since = since.to_string();
        let mut after: Option<String> = None;
        for _ in 0..limits::PROVIDER_EXPORT_PAGES_MAX {
            let mut query = vec![("createdAfter", since.as_str()), ("isPublished", "false"), ("limit", "100")];
            query.extend(after.as_deref().map(|after| ("after", after)));
            let page: Emails = client.get(EMAILS, &query).await?;
            if let Some(found) = page.results.into_iter().find(|email| email.name == draft.name && !email.is_published) {
                return Ok(Some(found.id));
            }
            after = page.paging.next.map(|next| next.after);
            if after.is_none() {
                break;
            }
        }
        Ok(None)
    }

    async fn create(client: &Client<'_>, draft: &Draft) -> Result<String, PlatformError> {
        let path = path(draft);
        write_template(client, draft, &path).await?;
        if draft.kind == TemplateKind::HubSpotTemplate {
            return Ok(path);
        }
        let mut body = draft.options.clone();
        body.extend(members(draft, &path));
        let made: Email = client.create(EMAILS, &client.json(Some(&Value::Object(body)))).await?;
        Ok(made.id)
    }

    async fn update(client: &Client<'_>, used: &Connection, draft: &Draft, id: &str) -> Result<Remote, PlatformError> {
        let portal = segment(&used.external_id)?;
        if draft.kind == TemplateKind::HubSpotTemplate {
            let _: IgnoredAny = client.get(&format!("{FILES}/metadata/{id}"), &[]).await?;
            write_template(client, draft, id).await?;
            return Ok(Remote { id: id.to_owned(), url: page(client, &format!("design-manager/{portal}")).await? });
        }
        let at = format!("{EMAILS}/{}", segment(id)?);
        let email: Email = client.get(&at, &[]).await?;
        if email.is_published {
            return Err(PlatformError::Missing);
        }
        let path = path(draft);
        write_template(client, draft, &path).await?;
        let mut body = draft.options.clone();
        body.extend(members(draft, &path));
        let _: IgnoredAny = client.change(Method::PATCH, &at, &client.json(Some(&Value::Object(body)))).await?;
        Ok(Remote { url: page(client, &format!("email/{portal}/edit/{}/settings", email.id)).await?, id: email.id })
    }

    async fn find_image(_: &Client<'_>, _: &Image<'_>) -> Result<Option<String>, PlatformError> {
        // There is no need to search for an earlier upload: an image with the same name in the same folder replaces it.
        Ok(None)
    }

    async fn upload_image(client: &Client<'_>, image: &Image<'_>) -> Result<String, PlatformError> {
        let options = json!({ "access": "PUBLIC_NOT_INDEXABLE", "overwrite": true }).to_string();
        let fields = [("fileName", image.name.as_str()), ("folderPath", "/mailmill"), ("options", options.as_str())];
        let file = FormFile { name: &image.name, content_type: image.content_type, bytes: image.bytes };
        let made: File = client.create("/files/2026-03/files", &client.form(&fields, &file)).await?;
        Ok(made.url)
    }
}

/// Returns the path of a coded template. A new draft gets a new template, so that emails that were already sent do not change.
fn path(draft: &Draft) -> String {
    match (draft.kind, draft.serial) {
        (TemplateKind::HubSpotTemplate, _) => format!("mailmill/{}.html", draft.email),
        (_, serial) => format!("mailmill/emails/{}-{}.html", draft.email, serial + 1),
    }
}

async fn write_template(client: &Client<'_>, draft: &Draft, path: &str) -> Result<(), PlatformError> {
    let file = FormFile { name: "template.html", content_type: "text/html; charset=utf-8", bytes: draft.html.as_bytes() };
    let at = format!("{FILES}/content/{path}");
    client.change::<IgnoredAny>(Method::PUT, &at, &client.form(&[], &file)).await.map(|_| ())
}

fn members(draft: &Draft, path: &str) -> serde_json::Map<String, Value> {
    let content = json!({ "templatePath": path, "plainTextVersion": draft.text });
    let members = json!({ "name": draft.name, "subject": draft.subject, "content": content });
    members.as_object().cloned().unwrap_or_default()
}

/// Returns the URL of a page in HubSpot. The host depends on where the account's data is stored.
async fn page(client: &Client<'_>, path: &str) -> Result<String, PlatformError> {
    let host = client
        .page_host
        .get_or_try_init(async || {
            let details: Details = client.get("/account-info/2026-03/details", &[]).await?;
            let is_host = !details.ui_domain.is_empty()
                && details.ui_domain.bytes().all(|byte| byte.is_ascii_alphanumeric() || b".-".contains(&byte));
            if is_host {
                Ok(details.ui_domain)
            } else {
                Err(PlatformError::Malformed("the domain of the account's pages is invalid".to_owned()))
            }
        })
        .await?;
    Ok(format!("https://{host}/{path}"))
}
