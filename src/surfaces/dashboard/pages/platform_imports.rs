//! The import of contacts from a connected account: the user chooses the connection and the sources, then the page of imports shows the
//! progress.

use serde::Serialize;
use serde_json::{Value, json};

use super::audience::{self, Audience, AudienceContext};
use crate::engine::api::{Created, Done};
use crate::features::connections::ops::{import, list, sources};
use crate::features::connections::views::{ConnectionView, SourceView};
use crate::surfaces::dashboard::template::page_context;
use crate::surfaces::dashboard::visit::{Outcome, PageError, Visit};
use crate::vocab::limits;

/// The data of the page that chooses what to import.
#[derive(Serialize)]
pub struct PlatformImportPage {
    #[serde(flatten)]
    audience: AudienceContext,
    connections: Vec<ConnectionView>,
    /// The ID of the chosen connection; empty if there is none.
    connection: String,
    sources: Vec<Choice>,
    all: bool,
    sources_max: usize,
}

#[derive(Serialize)]
struct Choice {
    #[serde(flatten)]
    source: SourceView,
    /// The source as the form sends it.
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
    };
    let connection = ConnectionView::sample();
    let id = connection.id.to_string();
    vec![
        page(Vec::new(), "", Vec::new()),
        page(vec![connection.clone(), connection.clone()], "", Vec::new()),
        page(vec![connection.clone()], &id, vec![choice(true, None), choice(false, Some(1_200))]),
        page(vec![connection], &id, Vec::new()),
    ]
});

/// Shows the connections and the sources of the chosen one.
pub async fn show(visit: &Visit) -> Result<Outcome, PageError> {
    let Some(audience) = Audience::of(visit).await? else { return Ok(audience::none("Import from a platform")) };
    page(visit, &audience, None).await
}

async fn page(visit: &Visit, audience: &Audience, error: Option<PageError>) -> Result<Outcome, PageError> {
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
    };
    Ok(audience.finish(visit, Outcome::draw_with(&context, error.as_ref())))
}

/// Starts the import.
pub async fn start(visit: &Visit) -> Result<Outcome, PageError> {
    let Some(audience) = Audience::of(visit).await? else { return Err(PageError::not_found()) };
    let form = &visit.form;
    let listed = visit.ask::<list::List>(json!({ "projectId": audience.id })).await?.data.connections;
    let connection = listed.into_iter().find(|connection| connection.id.to_string() == form.get("connection"));
    let Some(connection) = connection else { return Err(PageError::not_found()) };
    let chosen: Vec<Value> = form.all("source").into_iter().filter_map(|source| serde_json::from_str(source).ok()).collect();
    let input = json!({
        "provider": connection.provider, "projectId": audience.id, "connectionId": connection.id, "sources": chosen,
        "consentMode": if form.get("all") == "yes" { "include-all" } else { "subscribed-only" },
    });
    match visit.ask::<import::Import>(input).await {
        Ok(Created(started)) => {
            let path = format!("/{}/contacts/import/{}", visit.environment, started.id);
            Ok(Outcome::go(audience.path(&path, &[])))
        }
        Err(error) if audience::can_correct(&error) => page(visit, &audience, Some(error)).await,
        Err(error) => Err(error),
    }
}
