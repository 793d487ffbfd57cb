//! The page that imports contacts from a connected account: the user chooses a connection and sources, can preview the changes and map
//! fields, and imports once or on a schedule. The progress is on the pages of imports and scheduled imports.

use serde::Serialize;
use serde_json::{Map, Value, json};

use super::audience::{self, Audience, AudienceContext};
use super::scheduled_imports::EVERY;
use crate::engine::api::{Created, Done};
use crate::features::connections::ops::{import, list, preview, sources};
use crate::features::connections::views::{ConnectionView, SourceView};
use crate::features::scheduled_imports::ops::create;
use crate::surfaces::dashboard::template::page_context;
use crate::surfaces::dashboard::visit::{PageError, PageResponse, Visit};
use crate::vocab::contact_fields::ProfileField;
use crate::vocab::limits;

#[derive(Serialize)]
pub struct PlatformImportPage {
    #[serde(flatten)]
    audience: AudienceContext,
    connections: Vec<ConnectionView>,
    /// The ID of the chosen connection; empty if none is chosen.
    connection: String,
    sources: Vec<Choice>,
    all: bool,
    sources_max: usize,
    /// The import intervals that the user can choose; an empty value stands for a single import.
    schedules: Vec<(&'static str, &'static str)>,
    every: String,
    preview: Option<preview::ImportPreview>,
    mapped: Vec<MappedField>,
    /// The contact fields that the user can choose for a platform's field.
    targets: Vec<(&'static str, &'static str)>,
}

/// A platform's field, with the contact field chosen for it.
#[derive(Serialize)]
struct MappedField {
    name: String,
    sample: String,
    /// The target: the key of a profile field, `custom`, or empty if the field is not imported.
    to: String,
    /// The name of the custom field if `to` is `custom`.
    custom: String,
}

impl From<&preview::PreviewField> for MappedField {
    fn from(field: &preview::PreviewField) -> Self {
        let (name, sample) = (field.name.clone(), field.sample.clone());
        match field.to.as_deref().map(|to| (to, to.strip_prefix(CUSTOM_FIELDS))) {
            None => Self { name, sample, to: String::new(), custom: String::new() },
            Some((_, Some(custom))) => Self { name, sample, to: "custom".into(), custom: custom.into() },
            Some((to, None)) => Self { name, sample, to: to.into(), custom: String::new() },
        }
    }
}

/// The prefix of custom field keys in a mapping.
const CUSTOM_FIELDS: &str = "customFields.";

fn targets() -> Vec<(&'static str, &'static str)> {
    let own = ProfileField::ALL.iter().map(|field| (field.spec().key, field.spec().label));
    own.chain([("custom", "Custom field")]).collect()
}

fn schedules() -> Vec<(&'static str, &'static str)> {
    [("", "Once")].into_iter().chain(EVERY).collect()
}

#[derive(Serialize)]
struct Choice {
    #[serde(flatten)]
    source: SourceView,
    /// The value of the check box: the source as JSON.
    value: String,
    chosen: bool,
}

page_context!(PlatformImportPage, "import_platform.html", {
    let choice = |chosen, count| Choice {
        source: SourceView { count, ..SourceView::sample() },
        value: "{\"id\":\"Y6nRLr\"}".into(),
        chosen,
    };
    let page = |connections, connection: &str, sources| Self {
        audience: AudienceContext::sample("Import from a platform"),
        connections,
        connection: connection.into(),
        sources,
        all: true,
        sources_max: 25,
        schedules: schedules(),
        every: String::new(),
        preview: None,
        mapped: Vec::new(),
        targets: targets(),
    };
    let previewed = |connection: ConnectionView, id: &str| {
        let shown = preview::ImportPreview::sample();
        let mapped = shown.fields.iter().map(MappedField::from).collect();
        Self { preview: Some(shown), mapped, every: "24".into(), ..page(vec![connection], id, vec![choice(true, None)]) }
    };
    let connection = ConnectionView::sample();
    let id = connection.id.to_string();
    vec![
        page(Vec::new(), "", Vec::new()),
        page(vec![connection.clone(), connection.clone()], "", Vec::new()),
        page(vec![connection.clone()], &id, vec![choice(true, None), choice(false, Some(1_200))]),
        previewed(connection.clone(), &id),
        page(vec![connection], &id, Vec::new()),
    ]
});

/// Shows the connections, and the sources of the chosen connection.
pub async fn show(visit: &Visit) -> Result<PageResponse, PageError> {
    let Some(audience) = Audience::of(visit).await? else { return Ok(audience::none("Import from a platform")) };
    page(visit, &audience, None, None).await
}

async fn page(
    visit: &Visit,
    audience: &Audience,
    preview: Option<preview::ImportPreview>,
    error: Option<PageError>,
) -> Result<PageResponse, PageError> {
    let connections = visit.ask::<list::List>(json!({ "projectId": audience.id })).await?.data.connections;
    let wanted = visit.form.some("connection").or(visit.query.some("connection"));
    let chosen = match (wanted, connections.as_slice()) {
        (Some(id), all) => all.iter().find(|connection| connection.id.to_string() == id),
        (None, [only]) => Some(only),
        (None, _) => None,
    };
    let (mut found, mut error) = (Vec::new(), error);
    if let Some(connection) = chosen {
        let input = json!({ "provider": connection.provider, "projectId": audience.id, "connectionId": connection.id });
        match visit.ask::<sources::Sources>(input).await {
            Ok(Done(listed)) => found = listed.sources,
            Err(failed) if matches!(failed.status.as_u16(), 409 | 503) => error = Some(failed),
            Err(failed) => return Err(failed),
        }
    }
    let sent = visit.form.all("source");
    let choice = |source: SourceView| {
        let value = json!({ "id": source.id, "type": source.kind, "name": source.name }).to_string();
        Choice { chosen: sent.contains(&value.as_str()), value, source }
    };
    let context = PlatformImportPage {
        audience: audience.context(visit, "Import from a platform"),
        connection: chosen.map(|connection| connection.id.to_string()).unwrap_or_default(),
        connections,
        sources: found.into_iter().map(choice).collect(),
        all: visit.form.get("all") == "yes",
        sources_max: limits::PROVIDER_IMPORT_SOURCES_MAX,
        schedules: schedules(),
        every: visit.form.get("every").to_owned(),
        mapped: match &preview {
            Some(preview) => preview.fields.iter().map(MappedField::from).collect(),
            None => sent_fields(visit),
        },
        preview,
        targets: targets(),
    };
    Ok(audience.finish(visit, PageResponse::draw_with(&context, error.as_ref())))
}

fn sent_fields(visit: &Visit) -> Vec<MappedField> {
    let form = &visit.form;
    let rows = form.all("field").into_iter().zip(form.all("to")).zip(form.all("custom"));
    rows.map(|((name, to), custom)| MappedField {
        name: name.to_owned(),
        sample: String::new(),
        to: to.to_owned(),
        custom: custom.trim().to_owned(),
    })
    .collect()
}

/// Returns the submitted mapping as an operation's input. A custom field without a name gets the name of the platform's field.
fn field_map(visit: &Visit) -> Value {
    let to = |field: MappedField| {
        let own = if field.custom.is_empty() { field.name.clone() } else { field.custom };
        let to = match field.to.as_str() {
            "" => Value::Null,
            "custom" => format!("{CUSTOM_FIELDS}{own}").into(),
            key => key.into(),
        };
        (field.name, to)
    };
    Value::Object(sent_fields(visit).into_iter().map(to).collect::<Map<_, _>>())
}

/// Previews the import, starts it once, or creates its schedule.
pub async fn start(visit: &Visit) -> Result<PageResponse, PageError> {
    let Some(audience) = Audience::of(visit).await? else { return Err(PageError::not_found()) };
    let form = &visit.form;
    let listed = visit.ask::<list::List>(json!({ "projectId": audience.id })).await?.data.connections;
    let connection = listed.into_iter().find(|connection| connection.id.to_string() == form.get("connection"));
    let Some(connection) = connection else { return Err(PageError::not_found()) };
    let chosen: Vec<Value> = form.all("source").into_iter().filter_map(|source| serde_json::from_str(source).ok()).collect();
    let mut input = json!({
        "provider": connection.provider, "projectId": audience.id, "connectionId": connection.id, "sources": chosen,
        "consentMode": if form.get("all") == "yes" { "include-all" } else { "subscribed-only" }, "fieldMap": field_map(visit),
    });
    let result = match (form.get("act"), form.some("every")) {
        ("preview", _) => match visit.ask::<preview::Preview>(input).await {
            Ok(Done(shown)) => return page(visit, &audience, Some(shown), None).await,
            Err(error) => Err(error),
        },
        (_, Some(hours)) => {
            let hours = hours.parse::<u64>().map_or_else(|_| hours.into(), Value::from);
            (input["name"], input["everyHours"]) = (connection.name.into(), hours);
            let made = visit.ask::<create::Create>(input).await;
            made.map(|Created(made)| format!("/{}/contacts/scheduled-imports/{}", visit.environment, made.id))
        }
        (_, None) => {
            let started = visit.ask::<import::Import>(input).await;
            started.map(|Created(started)| format!("/{}/contacts/import/{}", visit.environment, started.id))
        }
    };
    match result {
        Ok(path) => Ok(PageResponse::redirect(audience.path(&path, &[]))),
        Err(error) if audience::can_correct(&error) => page(visit, &audience, None, Some(error)).await,
        Err(error) => Err(error),
    }
}
