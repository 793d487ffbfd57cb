//! Pages for scheduled imports from files and platforms, and for the results of their runs. The module `platform_imports` creates scheduled
//! imports from platforms.

use serde::Serialize;
use serde_json::{Map, Value, json};

use super::audience::{self, Audience, AudienceContext};
use crate::engine::api::{Created, Done};
use crate::features::contacts::jobs::ColumnMap;
use crate::features::scheduled_imports::ops::{create, delete, get, list, run, update};
use crate::features::scheduled_imports::views::ScheduledImportView;
use crate::surfaces::dashboard::template::page_context;
use crate::surfaces::dashboard::visit::{PageError, PageResponse, Visit};
use crate::vocab::providers::ConsentMode;

/// The intervals between runs that users can choose, in hours, with their labels.
pub const EVERY: [(&str, &str); 6] = [
    ("1", "Every hour"),
    ("3", "Every 3 hours"),
    ("6", "Every 6 hours"),
    ("12", "Every 12 hours"),
    ("24", "Every day"),
    ("168", "Every week"),
];
/// The options for rows without a status: the status that their contacts get, or an empty value to skip these rows.
const STATUSES: [(&str, &str); 5] = [
    ("", "Don't import these rows"),
    (NON_SUBSCRIBED, "Import as not subscribed"),
    ("subscribed", "Import as subscribed"),
    ("unsubscribed", "Import as unsubscribed"),
    ("bounced", "Import as bounced"),
];
const NON_SUBSCRIBED: &str = "non-subscribed";

#[derive(Default, Serialize)]
struct ScheduleForm {
    act: String,
    name: String,
    url: String,
    /// The kind of object that each row becomes: `contacts` or `events`.
    target: String,
    every: String,
    mapping: String,
    /// The name that all imported customer events get.
    event: String,
    tags: String,
    status: String,
    existing: String,
}

impl ScheduleForm {
    fn sent(visit: &Visit) -> Self {
        let get = |name: &str| visit.form.get(name).to_owned();
        Self {
            act: get("act"),
            name: get("name"),
            url: get("url"),
            target: get("target"),
            every: get("every"),
            mapping: get("mapping"),
            event: get("event"),
            tags: get("tags"),
            status: get("status"),
            existing: get("existing"),
        }
    }

    fn new() -> Self {
        Self { every: "24".into(), ..Self::default() }
    }

    fn of(row: &ScheduledImportView) -> Self {
        let status = match (row.status, row.consent_mode) {
            (Some(status), _) => status.word(),
            (None, Some(ConsentMode::IncludeAll)) => NON_SUBSCRIBED,
            (None, _) => "",
        };
        Self {
            act: String::new(),
            name: row.name.clone(),
            url: row.url.clone().unwrap_or_default(),
            target: row.target.to_owned(),
            every: row.every_hours.to_string(),
            mapping: match row.target {
                "events" => {
                    row.mapping.iter().map(|(field, header)| format!("{field} = {header}")).collect::<Vec<_>>().join("\n")
                }
                _ => row.column_map.as_ref().map(mapping_text).unwrap_or_default(),
            },
            event: row.event_name.clone().unwrap_or_default(),
            tags: row.tags.join(", "),
            status: status.to_owned(),
            existing: row.on_conflict.unwrap_or_default().to_owned(),
        }
    }
}

#[derive(Serialize)]
struct Choices {
    every: Vec<(String, String)>,
    statuses: &'static [(&'static str, &'static str)],
}

impl Choices {
    /// Returns the form's choices. If `hours` is not one of the standard intervals, it is added to them.
    fn including(hours: &str) -> Self {
        let mut every: Vec<(String, String)> = EVERY.map(|(hours, label)| (hours.to_owned(), label.to_owned())).into();
        if !hours.is_empty() && !every.iter().any(|(known, _)| known == hours) {
            every.push((hours.to_owned(), format!("Every {hours} hours")));
        }
        Self { every, statuses: &STATUSES }
    }
}

#[derive(Serialize)]
pub struct ScheduledImportsPage {
    #[serde(flatten)]
    audience: AudienceContext,
    form: ScheduleForm,
    choices: Choices,
    imports: Vec<ScheduledImportView>,
}

#[derive(Serialize)]
pub struct ScheduledImportPage {
    form: ScheduleForm,
    choices: Choices,
    import: ScheduledImportView,
    /// Whether the page reloads itself until the run ends.
    open: bool,
}

page_context!(ScheduledImportsPage, "scheduled_imports.html", {
    let page = |imports| Self {
        audience: AudienceContext::sample("Scheduled imports"),
        form: ScheduleForm::new(),
        choices: Choices::including("5"),
        imports,
    };
    vec![
        page(vec![
            ScheduledImportView { last_run: None, ..ScheduledImportView::sample() },
            ScheduledImportView::sample_of_events(),
            ScheduledImportView::sample_of_platform(),
        ]),
        page(Vec::new()),
    ]
});

page_context!(ScheduledImportPage, "scheduled_import.html", {
    use crate::features::scheduled_imports::views::RunView;

    let page = |import: ScheduledImportView, open| Self {
        form: ScheduleForm::of(&import),
        choices: Choices::including("24"),
        import,
        open,
    };
    let sample = ScheduledImportView::sample;
    let failed = sample().last_run.map(|run| RunView { result: "failed", error: Some("The file is empty.".into()), ..run });
    let paused = ScheduledImportView {
        state: "paused",
        paused_reason: Some("The file is empty.".into()),
        next_run_at: None,
        last_run: failed,
        ..sample()
    };
    let running = ScheduledImportView { state: "running", next_run_at: None, last_run: None, ..sample() };
    let (events, platform) = (ScheduledImportView::sample_of_events(), ScheduledImportView::sample_of_platform());
    vec![page(sample(), false), page(paused, false), page(running, true), page(events, false), page(platform, false)]
});

/// Shows the scheduled imports of a brand and the form for a new one.
pub async fn show_all(visit: &Visit) -> Result<PageResponse, PageError> {
    match Audience::of(visit).await? {
        Some(audience) => all(visit, &audience, None).await,
        None => Ok(audience::none("Scheduled imports")),
    }
}

async fn all(visit: &Visit, audience: &Audience, error: Option<PageError>) -> Result<PageResponse, PageError> {
    let found = visit.ask::<list::List>(json!({ "limit": 100, "projectId": audience.id })).await?;
    let form = if error.is_some() { ScheduleForm::sent(visit) } else { ScheduleForm::new() };
    let context = ScheduledImportsPage {
        audience: audience.context(visit, "Scheduled imports"),
        choices: Choices::including(&form.every),
        form,
        imports: found.items,
    };
    Ok(audience.finish(visit, PageResponse::draw_with(&context, error.as_ref())))
}

pub async fn create(visit: &Visit) -> Result<PageResponse, PageError> {
    let Some(audience) = Audience::of(visit).await? else { return Err(PageError::not_found()) };
    let target = visit.form.get("target");
    let mut input = values(visit, target);
    (input["projectId"], input["target"]) =
        (audience.id.clone().into(), if target == "events" { target } else { "contacts" }.into());
    match visit.ask::<create::Create>(input).await {
        Ok(Created(made)) => Ok(PageResponse::redirect(format!("{}/{}", visit.path, made.id))),
        Err(error) if audience::can_correct(&error) => all(visit, &audience, Some(error)).await,
        Err(error) => Err(error),
    }
}

pub async fn show(visit: &Visit) -> Result<PageResponse, PageError> {
    one(visit, None).await
}

async fn one(visit: &Visit, error: Option<PageError>) -> Result<PageResponse, PageError> {
    let Done(import) = visit.ask::<get::Get>(json!({ "id": visit.path_parameter("id") })).await?;
    let act = visit.form.get("act").to_owned();
    let form = if act == "update" { ScheduleForm::sent(visit) } else { ScheduleForm { act, ..ScheduleForm::of(&import) } };
    // A due run starts within seconds, so a new import counts as running.
    let open = import.state == "running" || (import.state == "active" && import.last_run.is_none());
    let context = ScheduledImportPage { choices: Choices::including(&form.every), form, import, open };
    Ok(PageResponse::draw_with(&context, error.as_ref()))
}

pub async fn send(visit: &Visit) -> Result<PageResponse, PageError> {
    let id = visit.path_parameter("id");
    let act = visit.form.get("act");
    let result = match act {
        "update" => {
            let Done(import) = visit.ask::<get::Get>(json!({ "id": id })).await?;
            let mut input = match import.provider {
                Some(_) => json!({ "name": visit.form.get("name"), "everyHours": hours(visit) }),
                None => values(visit, import.target),
            };
            input["id"] = id.into();
            visit.ask::<update::Update>(input).await.map(drop)
        }
        "run" => visit.ask::<run::Run>(json!({ "id": id })).await.map(drop),
        "on" | "off" => visit.ask::<update::Update>(json!({ "id": id, "active": act == "on" })).await.map(drop),
        "delete" => {
            visit.ask::<delete::Delete>(json!({ "id": id })).await?;
            return Ok(PageResponse::redirect(format!("/{}/contacts/scheduled-imports?done=delete", visit.environment)));
        }
        _ => return Err(PageError::unknown_action()),
    };
    match result {
        Ok(()) => Ok(PageResponse::redirect(format!("{}?done={act}", visit.path))),
        Err(error) if audience::can_correct(&error) => one(visit, Some(error)).await,
        Err(error) => Err(error),
    }
}

fn hours(visit: &Visit) -> Value {
    let text = visit.form.get("every");
    text.parse::<u64>().map_or_else(|_| text.into(), Value::from)
}

/// Returns the form's values as the input for an import from a file.
fn values(visit: &Visit, target: &str) -> Value {
    let form = &visit.form;
    let mut values = json!({ "name": form.get("name"), "url": form.get("url"), "everyHours": hours(visit) });
    if target == "events" {
        let fields = lines(form.get("mapping")).map(|(field, header)| (field.to_owned(), header.into()));
        values["mapping"] =
            Some(fields.collect::<Map<_, _>>()).filter(|fields| !fields.is_empty()).map_or(Value::Null, Value::Object);
        values["eventName"] = form.some("event").map_or(Value::Null, Value::from);
        return values;
    }
    values["tags"] = audience::names(form.get("tags")).into();
    values["onConflict"] = if form.get("existing") == "skip" { "skip" } else { "upsert" }.into();
    values["columnMap"] = mapping(form.get("mapping"));
    let mode = match form.get("status") {
        "" => Some(ConsentMode::SubscribedOnly),
        NON_SUBSCRIBED => Some(ConsentMode::IncludeAll),
        _ => None,
    };
    match mode {
        Some(mode) => (values["status"], values["consentMode"]) = (Value::Null, json!(mode)),
        None => values["status"] = form.get("status").into(),
    }
    values
}

/// Parses lines of `field = header`.
fn lines(text: &str) -> impl Iterator<Item = (&str, &str)> {
    text.lines().map(str::trim).filter(|line| !line.is_empty()).map(|line| {
        let (field, header) = line.split_once('=').unwrap_or((line, ""));
        (field.trim(), header.trim())
    })
}

/// The prefix of custom field names in a mapping.
const CUSTOM_FIELDS: &str = "customFields.";

/// Parses the mapping in a text field: one `field = header` per line. Returns null if the text is empty.
fn mapping(text: &str) -> Value {
    let (mut fields, mut custom) = (Map::new(), Map::new());
    for (field, header) in lines(text) {
        match field.strip_prefix(CUSTOM_FIELDS) {
            Some(name) => custom.insert(name.to_owned(), header.into()),
            None => fields.insert(field.to_owned(), header.into()),
        };
    }
    if !custom.is_empty() {
        fields.insert("customFields".to_owned(), custom.into());
    }
    if fields.is_empty() { Value::Null } else { fields.into() }
}

/// Formats a mapping as text that [`mapping`] parses.
fn mapping_text(map: &ColumnMap) -> String {
    let mut lines = Vec::new();
    for (field, header) in json!(map).as_object().into_iter().flatten() {
        match header {
            Value::String(header) => lines.push(format!("{field} = {header}")),
            Value::Object(custom) => {
                lines.extend(
                    custom.iter().filter_map(|(name, header)| Some(format!("{CUSTOM_FIELDS}{name} = {}", header.as_str()?))),
                );
            }
            _ => {}
        }
    }
    lines.join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mapping_reads_back_from_its_text() {
        let text = "email = E-mail\nfirstName = First name\ncustomFields.plan = Plan = tier";
        let map: ColumnMap = serde_json::from_value(mapping(text)).expect("a mapping");
        assert_eq!((map.email.as_str(), map.custom_fields["plan"].as_str()), ("E-mail", "Plan = tier"));
        assert_eq!(serde_json::from_value::<ColumnMap>(mapping(&mapping_text(&map))).expect("a mapping"), map);
        assert_eq!(mapping(" \n"), Value::Null);
        assert_eq!(mapping("email"), json!({ "email": "" }));
    }
}
