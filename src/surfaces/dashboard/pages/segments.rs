//! The pages about segments: the list, and the filter editor with a live count of matching contacts.

use std::collections::BTreeMap;

use http::StatusCode;
use serde::Serialize;
use serde_json::{Value, json};

use super::audience::{self, Audience, AudienceContext};
use super::contact_form::STATUSES;
use super::segment_form::{self, BuiltFilter, Row, TagIds};
use crate::engine::api::page::Pagination;
use crate::engine::api::{Created, Done};
use crate::features::contact_records::ContactView;
use crate::features::segments::views::SegmentView;
use crate::features::{contacts, events, segments, tags};
use crate::surfaces::dashboard::template::{self, page_context};
use crate::surfaces::dashboard::visit::{PageError, PageResponse, Visit};
use crate::vocab::codes::Code;
use crate::vocab::contact_fields::CONTACT_FIELDS;
use crate::vocab::limits;

const PER_PAGE: u64 = 20;
/// The maximum number of rows: all allowed conditions, and as many groups.
const ROWS_MAX: usize = 2 * limits::SEGMENT_CONDITIONS_MAX;
/// The number of matching contacts that the page lists below the count.
const MEMBERS: u64 = 5;
/// The number of recent contacts whose custom fields are suggested.
const CONTACTS_EXAMINED: u64 = 2_000;

#[derive(Serialize)]
pub struct SegmentsPage {
    #[serde(flatten)]
    audience: AudienceContext,
    pages_base: String,
    counted: bool,
    count_path: String,
    segments: Vec<SegmentView>,
    pagination: Pagination,
}

page_context!(SegmentsPage, "segments.html", {
    use crate::engine::api::Operation;

    let segments = || segments::ops::list::List::example().1.items;
    let page = |segments, counted| Self {
        audience: AudienceContext::sample("Segments"),
        pages_base: "/test/segments?".into(),
        counted,
        count_path: "/test/segments?count=1".into(),
        segments,
        pagination: Pagination::sample(),
    };
    let uncounted = segments().into_iter().map(|one| SegmentView { count: None, description: None, ..one }).collect();
    vec![page(segments(), true), page(uncounted, false), page(Vec::new(), false)]
});

#[derive(Serialize)]
pub struct SegmentPage {
    #[serde(flatten)]
    audience: AudienceContext,
    is_new: bool,
    id: String,
    name: String,
    description: String,
    rows: Vec<RowView>,
    count: Option<MemberCount>,
    own_fields: Vec<(&'static str, &'static str)>,
    custom_fields: Vec<String>,
    event_names: Vec<String>,
    tag_names: Vec<String>,
    topics: Vec<(String, String)>,
    statuses: &'static [(&'static str, &'static str)],
    levels_max: usize,
}

/// A row of the form, with the additional values that the template needs.
#[derive(Serialize)]
struct RowView {
    stray: Option<String>,
    depth: usize,
    combine: String,
    what: String,
    name: String,
    mode: String,
    value: String,
    more: String,
    unit: String,
    campaign: String,
    input: &'static str,
    modes: Vec<(&'static str, &'static str)>,
    has_error: bool,
}

/// The number of matching contacts with a few examples, or why they cannot be counted.
#[derive(Clone, Default, Serialize)]
struct MemberCount {
    error: String,
    count: u64,
    contacts: Vec<ContactView>,
}

page_context!(SegmentPage, "segment_edit.html", {
    let tree = json!({ "match": "all", "groups": [] });
    let topics = vec![("66f1a2b3000000015c3e9d71".to_owned(), "Updates".to_owned())];
    let whats = ["email", "status", "validation", "createdAt", "tag", "topic", "custom", "opened", "event"];
    let mut rows = segment_form::rows_of(&tree, &BTreeMap::new());
    for what in whats {
        rows.push(Row { what: what.into(), ..Row::fresh(1) }.settled());
    }
    let number = Row { what: "custom".into(), mode: "number_between".into(), ..Row::fresh(1) };
    rows.extend([Row { mode: "number_gt".into(), ..number.clone() }, number]);
    let page = |rows: &[Row], count| Self {
        audience: AudienceContext::sample("New segment"),
        is_new: true,
        id: String::new(),
        name: "Readers".into(),
        description: String::new(),
        rows: rows.iter().enumerate().map(|(at, row)| drawn(row, at == 1, &topics)).collect(),
        count,
        own_fields: own_fields(),
        custom_fields: vec!["plan".into()],
        event_names: vec!["purchase.completed".into()],
        tag_names: vec!["vip".into()],
        topics: topics.clone(),
        statuses: &STATUSES,
        levels_max: limits::SEGMENT_LEVELS_MAX,
    };
    let members = MemberCount { error: String::new(), count: 2, contacts: vec![ContactView::sample()] };
    let unfinished = MemberCount { error: "Enter a tag.".into(), ..MemberCount::default() };
    vec![
        page(&rows, Some(members)),
        page(&rows[..1], Some(unfinished)),
        Self { is_new: false, id: "66f1a2b3d4e5f60718293a4b".into(), ..page(&rows, None) },
    ]
});

/// Shows the list of segments. Counting contacts is slow, so the browser loads the counts separately.
pub async fn list(visit: &Visit) -> Result<PageResponse, PageError> {
    let Some(audience) = Audience::of(visit).await? else { return Ok(audience::none("Segments")) };
    let counted = visit.query.get("count") == "1";
    let offset = audience::offset(visit, PER_PAGE);
    let input = json!({ "projectId": audience.id, "limit": PER_PAGE, "offset": offset, "count": counted });
    let found = visit.ask::<segments::ops::list::List>(input).await?;
    let context = SegmentsPage {
        audience: audience.context(visit, "Segments"),
        pages_base: audience.pages_base(visit, &[]),
        counted,
        count_path: audience.path(&visit.path, &[("page", visit.query.get("page")), ("count", "1")]),
        pagination: found.pagination(),
        segments: found.items,
    };
    Ok(audience.finish(visit, PageResponse::draw(&context)))
}

pub async fn remove(visit: &Visit) -> Result<PageResponse, PageError> {
    let Some(audience) = Audience::of(visit).await? else { return Err(PageError::not_found()) };
    visit.ask::<segments::ops::delete::Delete>(json!({ "id": visit.form.get("id"), "projectId": audience.id })).await?;
    Ok(PageResponse::redirect(audience.path(&format!("/{}/segments", visit.environment), &[("done", "delete")])))
}

/// The content of the segment editor: the saved segment, or the user's unsaved input.
struct Draft {
    name: String,
    description: String,
    rows: Vec<Row>,
    /// The matching contacts, if they were counted.
    count: Option<MemberCount>,
}

/// Shows the editor for a new or saved segment.
pub async fn show(visit: &Visit) -> Result<PageResponse, PageError> {
    let is_new = visit.path_parameter("id").is_empty();
    let found = if is_new {
        Audience::of(visit).await?
    } else {
        Audience::having::<segments::ops::project::Project>(visit, |Done(it)| it.project_id).await?
    };
    let audience = match found {
        Some(audience) => audience,
        None if is_new => return Ok(audience::none("New segment")),
        None => return Err(PageError::not_found()),
    };
    let draft = match visit.path_parameter("id") {
        "" => {
            let rows = segment_form::rows_of(&json!({ "match": "all" }), &BTreeMap::new());
            let rows = rows.into_iter().chain([Row::fresh(1)]).collect();
            Draft { name: String::new(), description: String::new(), rows, count: None }
        }
        id => {
            let input = json!({ "id": id, "projectId": audience.id, "count": false });
            let Done(saved) = visit.ask::<segments::ops::get::Get>(input).await?;
            let filters = template::context(&saved.filters);
            let named = tag_names(visit, &audience.id, &filters).await?;
            let rows = segment_form::rows_of(&filters, &named);
            Draft { name: saved.name, description: saved.description.unwrap_or_default(), rows, count: None }
        }
    };
    draw(visit, &audience, &draft, None, None).await
}

async fn tag_names(visit: &Visit, project: &str, tree: &Value) -> Result<BTreeMap<String, String>, PageError> {
    let mut named = BTreeMap::new();
    for id in segment_form::ids_in(tree) {
        match visit.ask::<tags::ops::get::Get>(json!({ "id": id, "projectId": project })).await {
            Ok(Done(tag)) => drop(named.insert(id, tag.name)),
            // The tag was deleted after the filter was saved.
            Err(error) if error.status == StatusCode::NOT_FOUND => {}
            Err(error) => return Err(error),
        }
    }
    Ok(named)
}

async fn draw(
    visit: &Visit,
    audience: &Audience,
    draft: &Draft,
    error: Option<&PageError>,
    error_row: Option<usize>,
) -> Result<PageResponse, PageError> {
    let is_new = visit.path_parameter("id").is_empty();
    let wanted = json!({ "projectId": audience.id, "examine": CONTACTS_EXAMINED });
    let Done(catalog) = visit.ask::<contacts::ops::field_catalog::FieldCatalog>(wanted).await?;
    let custom = catalog.entries.into_iter().filter(|entry| !entry.auto).map(|entry| entry.key);
    let wanted = json!({ "projectId": audience.id, "limit": limits::PAGE_LIMIT_MAX });
    let Done(events) = visit.ask::<events::ops::names::Names>(wanted).await?;
    let topics = audience::topics(visit, &audience.id).await?;
    let context = SegmentPage {
        audience: audience.context(visit, if is_new { "New segment" } else { &draft.name }),
        is_new,
        id: visit.path_parameter("id").to_owned(),
        name: draft.name.clone(),
        description: draft.description.clone(),
        rows: draft.rows.iter().enumerate().map(|(at, row)| drawn(row, error_row == Some(at), &topics)).collect(),
        count: draft.count.clone(),
        own_fields: own_fields(),
        custom_fields: custom.take(100).collect(),
        event_names: events.names,
        tag_names: audience::tag_names(visit, &audience.id).await?.0,
        topics,
        statuses: &STATUSES,
        levels_max: limits::SEGMENT_LEVELS_MAX,
    };
    Ok(audience.finish(visit, PageResponse::draw_with(&context, error)))
}

/// Returns the contact fields that conditions can test, with their labels.
fn own_fields() -> Vec<(&'static str, &'static str)> {
    CONTACT_FIELDS.iter().filter(|field| field.filterable).map(|field| (field.key, field.label)).collect()
}

fn drawn(row: &Row, has_error: bool, topics: &[(String, String)]) -> RowView {
    RowView {
        stray: stray(row, topics),
        input: row.input(),
        modes: row.modes(),
        has_error,
        depth: row.depth,
        combine: row.combine.clone(),
        what: row.what.clone(),
        name: row.name.clone(),
        mode: row.mode.clone(),
        value: row.value.clone(),
        more: row.more.clone(),
        unit: row.unit.clone(),
        campaign: row.campaign.clone(),
    }
}

/// Returns a label for a topic value that the select does not offer: several topics, or a deleted topic.
fn stray(row: &Row, topics: &[(String, String)]) -> Option<String> {
    let ids: Vec<&str> = row.value.split(',').collect();
    let is_id = |id: &&str| id.len() == 24 && id.bytes().all(|byte| byte.is_ascii_hexdigit());
    let name = |id: &str| topics.iter().find(|(known, _)| known == id).map(|(_, name)| name.as_str());
    let is_odd = row.what == "topic" && ids.iter().all(is_id) && (ids.len() > 1 || name(ids[0]).is_none());
    is_odd.then(|| ids.iter().map(|id| name(id).unwrap_or("a deleted topic")).collect::<Vec<_>>().join(" or "))
}

/// Handles the segment form: adds or removes rows, counts matching contacts, or saves or deletes the segment.
pub async fn send(visit: &Visit) -> Result<PageResponse, PageError> {
    let Some(audience) = Audience::of(visit).await? else { return Err(PageError::not_found()) };
    let form = &visit.form;
    let mut rows = segment_form::sent(form, ROWS_MAX);
    segment_form::press(&mut rows, form.get("do"));
    rows.truncate(ROWS_MAX);
    let (name, description) = (form.get("name").to_owned(), form.get("description").to_owned());
    let mut draft = Draft { name, description, rows, count: None };
    let asked = match form.get("do") {
        "count" => counted(visit, &audience, &mut draft).await.map(|()| None),
        "save" => save(visit, &audience, &draft).await.map(Some),
        "delete" => return remove_this(visit, &audience).await,
        _ => Ok(None),
    };
    match asked {
        Ok(Some(response)) => Ok(response),
        Ok(None) => draw(visit, &audience, &draft, None, None).await,
        Err((error, row)) if audience::can_correct(&error) => {
            if form.get("do") != "count" {
                return draw(visit, &audience, &draft, Some(&error), row).await;
            }
            // The user is still editing, so the page reports an incomplete filter without an HTTP error status.
            draft.count = Some(MemberCount { error: error.message.clone(), ..MemberCount::default() });
            let unfinished = PageError { status: StatusCode::OK, ..error };
            draw(visit, &audience, &draft, Some(&unfinished), row).await
        }
        Err((error, _)) => Err(error),
    }
}

async fn remove_this(visit: &Visit, audience: &Audience) -> Result<PageResponse, PageError> {
    visit.ask::<segments::ops::delete::Delete>(json!({ "id": visit.path_parameter("id"), "projectId": audience.id })).await?;
    Ok(PageResponse::redirect(audience.path(&format!("/{}/segments", visit.environment), &[("done", "delete")])))
}

/// An error, and the index of the row that caused it, if known.
type RowError = (PageError, Option<usize>);

/// Converts the rows to a filter tree, after looking up the IDs of the tags in the rows.
async fn build(visit: &Visit, audience: &Audience, rows: &[Row]) -> Result<BuiltFilter, RowError> {
    let mut ids = TagIds::new();
    let at = |row: usize| move |error: PageError| (error, Some(row));
    for (index, row) in rows.iter().enumerate().filter(|(_, row)| row.what == "tag" && !row.is_group()) {
        let wrong = |message: &str| (PageError::plain(StatusCode::BAD_REQUEST, message), Some(index));
        let named = segment_form::tags_of(std::slice::from_ref(row));
        if named.is_empty() {
            return Err(wrong("Enter a tag."));
        }
        for name in named {
            let tag = audience::tag_named(visit, &audience.id, &name).await.map_err(at(index))?;
            let tag = tag.ok_or_else(|| wrong(&format!("The tag “{name}” doesn't exist. Enter an existing tag.")))?;
            ids.insert(name, tag.id.to_string());
        }
    }
    for (index, row) in rows.iter().enumerate().filter(|(_, row)| ["custom", "event"].contains(&row.what.as_str())) {
        if row.name.is_empty() && !row.is_group() {
            let message = if row.what == "event" { "Enter an event name." } else { "Enter a custom field name." };
            return Err((PageError::plain(StatusCode::BAD_REQUEST, message), Some(index)));
        }
    }
    if let Some(index) = rows.iter().position(|row| !row.is_group() && row.input() != "nothing" && row.value.is_empty()) {
        return Err((PageError::plain(StatusCode::BAD_REQUEST, "Enter a value, or remove the condition."), Some(index)));
    }
    Ok(segment_form::build(rows, &ids))
}

/// Returns the error with the index of the row to which the error's path belongs.
fn located(error: PageError, built: &BuiltFilter) -> RowError {
    let row = built.row_of(&error.field).filter(|row| *row > 0);
    (error, row)
}

async fn counted(visit: &Visit, audience: &Audience, draft: &mut Draft) -> Result<(), RowError> {
    let built = build(visit, audience, &draft.rows).await?;
    let input = json!({ "projectId": audience.id, "filters": built.tree, "limit": MEMBERS });
    let found = visit.ask::<segments::ops::preview::Preview>(input).await.map_err(|error| located(error, &built))?;
    draft.count = Some(MemberCount { error: String::new(), count: found.0.count, contacts: found.0.contacts });
    Ok(())
}

async fn save(visit: &Visit, audience: &Audience, draft: &Draft) -> Result<PageResponse, RowError> {
    let built = build(visit, audience, &draft.rows).await?;
    let mut input = json!({
        "projectId": audience.id, "name": draft.name, "description": draft.description, "filters": built.tree,
    });
    let saved = match visit.path_parameter("id") {
        "" => visit.ask::<segments::ops::create::Create>(input).await.map(|Created(segment)| segment.id),
        id => {
            input["id"] = id.into();
            visit.ask::<segments::ops::update::Update>(input).await.map(|Done(segment)| segment.id)
        }
    };
    let saved = saved.map_err(|error| match error.code {
        Some(Code::NameTaken) => (PageError { field: "name".into(), ..error }, None),
        _ => located(error, &built),
    })?;
    let path = format!("/{}/segments/{}", visit.environment, saved);
    Ok(PageResponse::redirect(audience.path(&path, &[("done", "save")])))
}
