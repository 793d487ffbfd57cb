//! Mailchimp's templates, campaign drafts, and images. The paths and parameters are those of Mailchimp's API description for version 3.0.
//!
//! Mailchimp keeps deleted templates and marks them as inactive.

use data_encoding::BASE64;
use http::Method;
use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::{Value, json};

use super::{Draft, Image, Remote, TemplateKind, TemplatePort};
use crate::base::clock::Timestamp;
use crate::features::connections::client::Client;
use crate::features::connections::error::PlatformError;
use crate::features::connections::model::Connection;
use crate::features::connections::platform::segment;

pub struct Mailchimp;

/// The maximum number of objects on a page.
const COUNT: &str = "1000";

#[derive(Deserialize)]
struct Templates {
    templates: Vec<Template>,
}

#[derive(Deserialize)]
struct Template {
    id: u64,
    #[serde(default)]
    name: String,
    #[serde(default = "yes")]
    active: bool,
}

fn yes() -> bool {
    true
}

#[derive(Deserialize)]
struct Campaigns {
    campaigns: Vec<Campaign>,
}

#[derive(Deserialize)]
struct Campaign {
    id: String,
    /// The ID of the campaign in the URLs of Mailchimp's pages.
    web_id: u64,
    /// The state of the campaign: `save` for a draft.
    status: String,
    #[serde(default)]
    settings: CampaignSettings,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct CampaignSettings {
    title: String,
    subject_line: Option<String>,
    preview_text: Option<String>,
    from_name: Option<String>,
    reply_to: Option<String>,
}

impl CampaignSettings {
    /// Returns whether the campaign already has the name, subject and preview text of the draft.
    fn are_of(&self, draft: &Draft) -> bool {
        let is_same = |own: &Option<String>, new: &str| own.as_deref().unwrap_or_default() == new;
        self.title == draft.name && is_same(&self.subject_line, &draft.subject) && is_same(&self.preview_text, &draft.preheader)
    }
}

#[derive(Deserialize)]
struct Files {
    files: Vec<File>,
}

#[derive(Deserialize)]
struct File {
    #[serde(default)]
    name: String,
    full_size_url: String,
}

impl TemplatePort for Mailchimp {
    async fn find(client: &Client<'_>, draft: &Draft, since: Timestamp) -> Result<Option<String>, PlatformError> {
        let since = since.to_string();
        if draft.kind == TemplateKind::MailchimpCampaign {
            let fields = "campaigns.id,campaigns.web_id,campaigns.status,campaigns.settings.title";
            let query = [("count", COUNT), ("status", "save"), ("since_create_time", since.as_str()), ("fields", fields)];
            let found: Campaigns = client.get("/3.0/campaigns", &query).await?;
            return Ok(found.campaigns.into_iter().find(|found| found.settings.title == draft.name).map(|found| found.id));
        }
        let fields = "templates.id,templates.name,templates.active";
        let query = [("count", COUNT), ("type", "user"), ("since_date_created", since.as_str()), ("fields", fields)];
        let found: Templates = client.get("/3.0/templates", &query).await?;
        let is_it = |found: &Template| found.active && found.name == draft.name;
        Ok(found.templates.into_iter().find(is_it).map(|found| found.id.to_string()))
    }

    async fn create(client: &Client<'_>, draft: &Draft) -> Result<String, PlatformError> {
        if draft.kind == TemplateKind::MailchimpCampaign {
            let body = json!({ "type": "regular", "settings": settings(draft) });
            let made: Campaign = client.create("/3.0/campaigns", &client.json(Some(&body))).await?;
            return Ok(made.id);
        }
        let body = json!({ "name": draft.name, "html": draft.html });
        let made: Template = client.create("/3.0/templates", &client.json(Some(&body))).await?;
        Ok(made.id.to_string())
    }

    async fn update(client: &Client<'_>, _: &Connection, draft: &Draft, id: &str) -> Result<Remote, PlatformError> {
        if draft.kind == TemplateKind::MailchimpCampaign {
            return update_campaign(client, draft, id).await;
        }
        let body = client.json(Some(&json!({ "name": draft.name, "html": draft.html })));
        let updated: Template = client.change(Method::PATCH, &format!("/3.0/templates/{}", segment(id)?), &body).await?;
        if !updated.active {
            return Err(PlatformError::Missing);
        }
        Ok(Remote { id: id.to_owned(), url: page(client, &format!("templates/edit?id={}", updated.id)) })
    }

    async fn find_image(client: &Client<'_>, image: &Image<'_>) -> Result<Option<String>, PlatformError> {
        let fields = "files.name,files.full_size_url";
        let query = [("count", COUNT), ("type", "image"), ("sort_field", "added_date"), ("sort_dir", "DESC"), ("fields", fields)];
        let found: Files = client.get("/3.0/file-manager/files", &query).await?;
        Ok(found.files.into_iter().find(|file| file.name == image.name).map(|file| file.full_size_url))
    }

    async fn upload_image(client: &Client<'_>, image: &Image<'_>) -> Result<String, PlatformError> {
        let body = json!({ "name": image.name, "file_data": BASE64.encode(image.bytes) });
        let made: File = client.create("/3.0/file-manager/files", &client.json(Some(&body))).await?;
        Ok(made.full_size_url)
    }
}

fn settings(draft: &Draft) -> Value {
    json!({ "title": draft.name, "subject_line": draft.subject, "preview_text": draft.preheader })
}

async fn update_campaign(client: &Client<'_>, draft: &Draft, id: &str) -> Result<Remote, PlatformError> {
    let path = format!("/3.0/campaigns/{}", segment(id)?);
    let campaign: Campaign = client.get(&path, &[("fields", "id,web_id,status,settings")]).await?;
    if campaign.status != "save" {
        return Err(PlatformError::Missing);
    }
    if !campaign.settings.are_of(draft) {
        let mut changed = settings(draft);
        // Mailchimp's API description requires the sender in every change. A draft without an audience may have no sender yet.
        for (name, own) in [("from_name", &campaign.settings.from_name), ("reply_to", &campaign.settings.reply_to)] {
            if let Some(own) = own.as_deref().filter(|own| !own.is_empty()) {
                changed[name] = own.into();
            }
        }
        let body = client.json(Some(&json!({ "settings": changed })));
        let _: IgnoredAny = client.change(Method::PATCH, &path, &body).await?;
    }
    let body = client.json(Some(&json!({ "html": draft.html, "plain_text": draft.text })));
    let _: IgnoredAny = client.change(Method::PUT, &format!("{path}/content"), &body).await?;
    Ok(Remote { id: campaign.id, url: page(client, &format!("campaigns/edit?id={}", campaign.web_id)) })
}

/// Returns the URL of a page in Mailchimp. The host contains the account's data center.
fn page(client: &Client<'_>, path: &str) -> String {
    format!("https://{}.admin.mailchimp.com/{path}", client.region)
}
