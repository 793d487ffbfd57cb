//! The page with an email's exports: download files in each format, and templates or drafts in connected accounts.

use http::StatusCode;
use serde::Serialize;
use serde_json::{Value, json};

use super::{EmailHead, email, is_shown};
use crate::engine::api::response::WireTime;
use crate::engine::api::{Done, Operation};
use crate::features::emails::views::EmailDetails;
use crate::features::exports;
use crate::features::exports::views::{EmailExport, FileView, PlatformObject};
use crate::surfaces::dashboard::pages::emails::own;
use crate::surfaces::dashboard::template::page_context;
use crate::surfaces::dashboard::visit::{PageError, PageResponse, Visit};
use crate::vocab::providers::{ConnectionUse, Provider};

#[derive(Serialize)]
pub struct ExportsPage {
    #[serde(flatten)]
    head: EmailHead,
    formats: Vec<FormatRow>,
    files: Vec<FileLink>,
    platforms: Vec<PlatformRow>,
    exported: Vec<ExportedRow>,
}

#[derive(Serialize)]
struct FormatRow {
    name: &'static str,
    label: String,
    about: &'static str,
    why_not: Option<String>,
}

#[derive(Serialize)]
struct FileLink {
    name: String,
    path: Option<String>,
    expires: Option<WireTime>,
    untranslated: Vec<String>,
    platform: Option<PlatformObject>,
    /// The name of the platform on which the export created a template or draft.
    platform_label: Option<&'static str>,
}

/// An export platform, with the connected accounts on it.
#[derive(Serialize)]
struct PlatformRow {
    name: &'static str,
    label: &'static str,
    accounts: Vec<AccountOption>,
    /// The objects that an export can create on the platform, such as a template, with their labels.
    types: &'static [(&'static str, &'static str)],
    connect: String,
}

#[derive(Serialize)]
struct AccountOption {
    id: String,
    name: String,
    why_not: Option<String>,
}

#[derive(Serialize)]
struct ExportedRow {
    platform: &'static str,
    name: String,
    url: String,
    at: WireTime,
    /// Whether the email has changed since this export.
    is_outdated: bool,
}

page_context!(ExportsPage, "email_exports.html", {
    let format = |why_not: Option<&str>| FormatRow {
        name: "html",
        label: "HTML".into(),
        about: "One file for each email",
        why_not: why_not.map(str::to_owned),
    };
    let file = || FileLink {
        name: "a.html".into(),
        path: Some("/v1/files/a".into()),
        expires: Some(WireTime::sample()),
        untranslated: vec!["{{ tags }}".into()],
        platform: None,
        platform_label: None,
    };
    let template = |created| FileLink {
        name: "Welcome (1a2b3c4d)".into(),
        path: Some("https://www.klaviyo.com/email-editor/XyZ123/edit".into()),
        expires: None,
        untranslated: Vec::new(),
        platform: Some(PlatformObject {
            id: "XyZ123".into(),
            kind: "html",
            created,
            left_images: Some(vec!["https://acme.example/a.svg".into()]),
        }),
        platform_label: Some("Klaviyo"),
    };
    let platform = |accounts| PlatformRow {
        name: "platform_a",
        label: "Klaviyo",
        accounts,
        types: types(Provider::Klaviyo),
        connect: "/test/settings/connections?provider=klaviyo".into(),
    };
    let account =
        |why_not: Option<&str>| AccountOption { id: "a".into(), name: "Shop".into(), why_not: why_not.map(str::to_owned) };
    let earlier = |is_outdated| ExportedRow {
        platform: "Klaviyo",
        name: "Welcome (1a2b3c4d)".into(),
        url: "https://www.klaviyo.com/email-editor/XyZ123/edit".into(),
        at: WireTime::sample(),
        is_outdated,
    };
    let page = |files, platforms, exported| Self {
        head: EmailHead::sample("exports", "ready"),
        formats: vec![format(None), format(Some("Not finished."))],
        files,
        platforms,
        exported,
    };
    vec![
        page(Vec::new(), vec![platform(Vec::new())], Vec::new()),
        page(vec![file()], vec![platform(vec![account(None)])], vec![earlier(true), earlier(false)]),
        page(
            vec![template(true)],
            vec![platform(vec![account(None), account(Some("reconnect required"))])],
            vec![earlier(false)],
        ),
        page(vec![template(false), template(true)], vec![platform(vec![account(Some("reconnect required"))])], Vec::new()),
    ]
});

/// Returns the objects that an export can create on a platform, with their labels.
fn types(provider: Provider) -> &'static [(&'static str, &'static str)] {
    match provider {
        Provider::Klaviyo => &[("html", "HTML template"), ("hybrid", "Hybrid template (with a drag-and-drop region)")],
        Provider::Mailchimp => &[("template", "Template with editable regions"), ("campaign", "Draft campaign")],
        Provider::HubSpot => &[("template", "Coded template"), ("email", "Draft marketing email")],
    }
}

async fn ask<T: Operation<Output = Done<EmailExport>>>(visit: &Visit, input: Value) -> Result<Vec<FileView>, PageError> {
    Ok(visit.ask::<T>(input).await?.0.files)
}

/// Exports the email in this format and returns the files for download.
async fn export(visit: &Visit, format: &str, mut input: Value) -> Result<Vec<FileView>, PageError> {
    if format.parse::<Provider>().is_ok() {
        input["as"] = "file".into();
    }
    match format {
        "html" => ask::<exports::ops::html::Html>(visit, input).await,
        "mjml" => ask::<exports::ops::mjml::Mjml>(visit, input).await,
        "png" => ask::<exports::ops::png::Png>(visit, input).await,
        "pdf" => ask::<exports::ops::pdf::Pdf>(visit, input).await,
        "platform_a" => ask::<exports::ops::platform_a::PlatformA>(visit, input).await,
        "platform_b" => ask::<exports::ops::platform_b::PlatformB>(visit, input).await,
        "platform_c" => ask::<exports::ops::platform_c::PlatformC>(visit, input).await,
        _ => Err(PageError::not_found()),
    }
}

/// Lists the export formats and the connected accounts. If the query names a format, also creates the files.
pub async fn show(visit: &Visit) -> Result<PageResponse, PageError> {
    let details = email(visit).await?;
    let format = visit.query.get("format");
    let made = match format {
        "" => Ok(Vec::new()),
        _ => {
            // With the query parameter `all`, the export contains all emails of the generation request; otherwise, only this email.
            let input = input(&details, visit.query.some("all").is_some());
            export(visit, format, input).await
        }
    };
    draw(visit, details, made).await
}

pub async fn send(visit: &Visit) -> Result<PageResponse, PageError> {
    let (details, form) = (email(visit).await?, &visit.form);
    let mut input = input(&details, form.some("all").is_some());
    input["connectionId"] = form.get("connection").into();
    input["images"] = if form.some("upload").is_some() { "upload".into() } else { "hosted".into() };
    let kind = form.get("type");
    let made = match form.get("provider") {
        "platform_a" => {
            input["klaviyoType"] = kind.into();
            ask::<exports::ops::platform_a::PlatformA>(visit, input).await
        }
        "platform_b" => {
            input["mailchimpType"] = kind.into();
            ask::<exports::ops::platform_b::PlatformB>(visit, input).await
        }
        "platform_c" => {
            input["customOptions"] = json!({ "type": kind });
            ask::<exports::ops::platform_c::PlatformC>(visit, input).await
        }
        _ => return Err(PageError::unknown_action()),
    };
    draw(visit, details, made).await
}

fn input(details: &EmailDetails, all: bool) -> Value {
    let email = &details.email;
    if all {
        json!({ "conversationId": email.conversation_id })
    } else {
        json!({ "conversationId": email.conversation_id, "emailId": email.id })
    }
}

async fn draw(visit: &Visit, details: EmailDetails, made: Result<Vec<FileView>, PageError>) -> Result<PageResponse, PageError> {
    let (files, error) = match made {
        Ok(files) => (files, None),
        Err(error) if is_shown(&error) || error.status == StatusCode::SERVICE_UNAVAILABLE => (Vec::new(), Some(error)),
        Err(error) => return Err(error),
    };
    let Done(able) = visit.ask::<exports::ops::status::Status>(input(&details, false)).await?;
    let known = visit.ask::<exports::ops::formats::Formats>(json!({})).await?;
    let mut formats = Vec::new();
    for format in known.data.formats {
        let platform = format.name.parse::<Provider>().ok();
        let why_not = (!able.available_formats.contains(&format.name)).then(|| able.reason.clone());
        let label = platform.map_or_else(|| format.name.to_uppercase(), |provider| format!("{} file", provider.label()));
        let about = platform.map_or(format.description, file_about);
        formats.push(FormatRow { name: format.name, label, about, why_not });
    }
    let EmailDetails { email, series, .. } = details;
    let exported = able.exported.into_iter().map(|row| ExportedRow {
        platform: row.provider.label(),
        name: row.name,
        url: row.url,
        at: row.exported_at,
        is_outdated: row.version < email.version,
    });
    let platform_label = visit.form.get("provider").parse().ok().map(Provider::label);
    let link = |file: FileView| FileLink {
        path: if file.platform.is_some() { Some(file.url) } else { own(visit, Some(&file.url)) },
        name: file.filename,
        expires: file.expires_at,
        untranslated: file.untranslated.unwrap_or_default(),
        platform: file.platform,
        platform_label,
    };
    let context = ExportsPage {
        formats,
        files: files.into_iter().map(link).collect(),
        platforms: if able.can_export {
            able.platforms.into_iter().map(|state| platform_row(visit, state)).collect()
        } else {
            Vec::new()
        },
        exported: exported.collect(),
        head: EmailHead::new(&email, series, "exports"),
    };
    Ok(PageResponse::draw_with(&context, error.as_ref()))
}

/// Describes the file for a platform. The API's description also covers exports to an account, which the page shows separately.
fn file_about(provider: Provider) -> &'static str {
    match provider {
        Provider::Klaviyo => "HTML with Klaviyo's merge fields, ready to upload to Klaviyo.",
        Provider::Mailchimp => "HTML with Mailchimp's merge tags, ready to upload to Mailchimp.",
        Provider::HubSpot => "HTML with HubSpot's variables, ready to upload to HubSpot.",
    }
}

fn platform_row(visit: &Visit, state: exports::ops::status::PlatformState) -> PlatformRow {
    let accounts = state.connections.into_iter().map(|found| AccountOption {
        id: found.id.to_string(),
        name: if found.name == found.external_name { found.name } else { format!("{} ({})", found.name, found.external_name) },
        why_not: match found.status {
            "reconnect_required" => Some("reconnect required".to_owned()),
            _ if !found.uses.contains(&ConnectionUse::Exports) => Some("reconnect to allow exports".to_owned()),
            _ => None,
        },
    });
    PlatformRow {
        name: state.provider.word(),
        label: state.provider.label(),
        accounts: accounts.collect(),
        types: types(state.provider),
        connect: format!("/{}/settings/connections?provider={}", visit.environment, state.provider.alias()),
    }
}
