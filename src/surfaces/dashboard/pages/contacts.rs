//! The page on which users search contacts, add a contact, and change many contacts at a time.

use serde::Serialize;
use serde_json::{Map, Value, json};

use super::audience::{self, Audience, AudienceContext, SegmentName};
use super::contact_form::{CustomRow, ProfileRow, STATUSES, custom_rows, custom_sent, profile_rows, read_profile};
use crate::engine::api::page::Pagination;
use crate::engine::api::{Created, Done};
use crate::features::contact_records::ContactView;
use crate::features::contacts;
use crate::features::contacts::ops::bulk_change::ChangeResult;
use crate::surfaces::dashboard::forms::Fields;
use crate::surfaces::dashboard::template::page_context;
use crate::surfaces::dashboard::visit::{PageError, PageResponse, Visit};
use crate::vocab::codes::Code;
use crate::vocab::ids::JobId;
use crate::vocab::permissions::Permission;

/// The number of contacts on a page.
const PER_PAGE: u64 = 50;
/// The query parameters that filter and sort the list.
const FILTERS: [&str; 5] = ["search", "status", "tag", "segment", "sort"];
#[derive(Serialize)]
pub struct ContactsPage {
    #[serde(flatten)]
    audience: AudienceContext,
    search: String,
    status: String,
    tag: String,
    segment: String,
    sort: String,
    pages_base: String,
    /// Whether the list shows only the contacts that match a filter.
    narrowed: bool,
    contacts: Vec<ContactView>,
    pagination: Pagination,
    counts: Vec<StatusCount>,
    statuses: &'static [(&'static str, &'static str)],
    segments: Vec<SegmentName>,
    tags: Vec<String>,
    /// Whether the list of tags contains every tag of the brand.
    all_tags: bool,
    changed: u64,
    failed: String,
    bulk_tag: String,
    bulk_status: String,
    which: String,
    chosen: Vec<String>,
}

/// The label of a contact status, and the number of contacts with that status.
#[derive(Serialize)]
struct StatusCount {
    label: &'static str,
    count: u64,
}

page_context!(ContactsPage, "contacts.html", {
    let contact = ContactView::sample;
    let tags = |many: usize| (0..many).map(|index| format!("tag {index}")).collect();
    let page = |contacts: Vec<ContactView>, many| Self {
        audience: AudienceContext::sample("Contacts"),
        search: String::new(),
        status: String::new(),
        tag: "vip".into(),
        segment: String::new(),
        sort: "oldest".into(),
        pages_base: "/test/contacts?".into(),
        narrowed: contacts.is_empty(),
        chosen: contacts.iter().map(|one| format!("{} {}", one.id, one.email)).collect(),
        contacts,
        pagination: Pagination::sample(),
        counts: vec![StatusCount { label: "All", count: many }],
        statuses: &STATUSES,
        segments: Vec::new(),
        tags: vec!["vip".into()],
        all_tags: many > 1,
        changed: 2,
        failed: "1".into(),
        bulk_tag: String::new(),
        bulk_status: String::new(),
        which: "all".into(),
    };
    let bare = ContactView { first_name: None, last_name: None, tags: tags(6), ..contact() };
    let one = Pagination { total: 1, offset: 0, has_more: false, ..Pagination::sample() };
    vec![
        page(vec![contact(), bare], 2),
        Self { pagination: one, ..page(vec![contact()], 1) },
        page(Vec::new(), 2),
        page(Vec::new(), 0),
    ]
});

#[derive(Serialize)]
pub struct NewContactPage {
    #[serde(flatten)]
    audience: AudienceContext,
    email: String,
    status: String,
    tags: String,
    profile: Vec<ProfileRow>,
    custom: Vec<CustomRow>,
    statuses: &'static [(&'static str, &'static str)],
    tag_names: Vec<String>,
}

page_context!(NewContactPage, "contact_new.html", {
    vec![Self {
        audience: AudienceContext::sample("New contact"),
        email: "ada@example.com".into(),
        status: String::new(),
        tags: String::new(),
        profile: profile_rows(|_| ""),
        custom: CustomRow::samples(),
        statuses: &STATUSES,
        tag_names: vec!["vip".into()],
    }]
});

pub async fn show(visit: &Visit) -> Result<PageResponse, PageError> {
    let Some(audience) = Audience::of(visit).await? else { return Ok(audience::none("Contacts")) };
    page(visit, &audience, &visit.query, None).await
}

/// Renders the list of contacts that match `filters`.
async fn page(
    visit: &Visit,
    audience: &Audience,
    filters: &Fields,
    error: Option<&PageError>,
) -> Result<PageResponse, PageError> {
    let project = &audience.id;
    let mut input = json!({
        "projectId": project, "search": filters.some("search"), "status": filters.some("status"),
        "segmentId": filters.some("segment"), "limit": PER_PAGE, "offset": audience::offset(visit, PER_PAGE),
    });
    if let Some(tag) = filters.some("tag") {
        input["tags"] = json!([tag]);
    }
    match filters.get("sort") {
        "oldest" => (input["sortBy"], input["sortOrder"]) = ("createdAt".into(), "asc".into()),
        "changed" => input["sortBy"] = "updatedAt".into(),
        _ => {}
    }
    let found = visit.ask::<contacts::ops::list::List>(input).await?;
    let (tags, all_tags) = audience::tag_names(visit, project).await?;
    let pairs = FILTERS.map(|name| (name, filters.get(name)));
    let filter = |name: &str| filters.get(name).to_owned();
    let sent = |name: &str| visit.form.get(name).to_owned();
    let context = ContactsPage {
        audience: audience.context(visit, "Contacts"),
        search: filter("search"),
        status: filter("status"),
        tag: filter("tag"),
        segment: filter("segment"),
        sort: filter("sort"),
        pages_base: audience.pages_base(visit, &pairs),
        narrowed: pairs[..4].iter().any(|(_, value)| !value.is_empty()),
        pagination: found.pagination(),
        contacts: found.items,
        counts: counts(visit, project).await?,
        statuses: &STATUSES,
        segments: audience::segments(visit, project).await?,
        tags,
        all_tags,
        changed: visit.query.get("changed").parse().unwrap_or_default(),
        failed: visit.query.get("failed").to_owned(),
        bulk_tag: sent("bulk_tag"),
        bulk_status: sent("bulk_status"),
        which: sent("which"),
        chosen: visit.form.all("contact").into_iter().map(str::to_owned).collect(),
    };
    Ok(audience.finish(visit, PageResponse::draw_with(&context, error)))
}

/// Returns the number of contacts in total and per status. The store keeps these counts.
async fn counts(visit: &Visit, project: &str) -> Result<Vec<StatusCount>, PageError> {
    let mut counts = Vec::new();
    for (status, label) in [("", "All")].into_iter().chain(STATUSES) {
        let status = Some(status).filter(|status| !status.is_empty());
        let input = json!({ "projectId": project, "status": status, "limit": 1 });
        let found = visit.ask::<contacts::ops::list::List>(input).await?;
        counts.push(StatusCount { label, count: found.total });
    }
    Ok(counts)
}

/// Applies a bulk action to the selected contacts, or to all contacts that match the filters.
pub async fn send(visit: &Visit) -> Result<PageResponse, PageError> {
    let Some(audience) = Audience::of(visit).await? else { return Err(PageError::not_found()) };
    match act(visit, &audience).await {
        Ok(response) => Ok(response),
        Err(error) if audience::can_correct(&error) => page(visit, &audience, &visit.form, Some(&error)).await,
        Err(error) => Err(error),
    }
}

async fn act(visit: &Visit, audience: &Audience) -> Result<PageResponse, PageError> {
    let form = &visit.form;
    // The value of each selected row is the contact's ID and email address, separated by a space.
    let chosen: Vec<(&str, &str)> = form.all("contact").into_iter().filter_map(|row| row.split_once(' ')).collect();
    let all = form.get("which") == "all";
    if !all && chosen.is_empty() {
        return Err(wrong("contact", "Select at least one contact, or choose all contacts."));
    }
    let filters = if all { conditions(visit, audience).await? } else { json!({}) };
    if form.get("act") == "export" {
        let emails: Vec<&str> = chosen.iter().map(|(_, email)| *email).collect();
        let filters = match all {
            true => filters,
            false => json!({ "filters": { "fields": [{ "key": "email", "mode": "is", "values": emails }] } }),
        };
        let Done(job) = visit.ask::<contacts::ops::export::Export>(with(filters, &audience.id)).await?;
        return Ok(to_job(visit, audience, "export", Some(job.job_id)));
    }
    let mut input = match all {
        true => with(filters, &audience.id),
        false => json!({ "projectId": audience.id, "ids": chosen.iter().map(|(id, _)| *id).collect::<Vec<_>>() }),
    };
    input["all"] = all.into();
    change(form, &mut input)?;
    let Done(done) = visit.ask::<contacts::ops::bulk_change::BulkChange>(input).await?;
    if all {
        return Ok(to_job(visit, audience, "change", done.job_id));
    }
    let mut pairs: Vec<(&str, &str)> = FILTERS.iter().map(|name| (*name, form.get(name))).collect();
    let count = |of: fn(&ChangeResult) -> u64| done.result.as_ref().map_or(0, of).to_string();
    let (changed, failed) = (count(|result| result.changed), count(|result| result.failed));
    pairs.extend([("done", form.get("act")), ("changed", changed.as_str()), ("failed", failed.as_str())]);
    Ok(PageResponse::redirect(audience.path(&visit.path, &pairs)))
}

fn change(form: &Fields, input: &mut Value) -> Result<(), PageError> {
    let tags = audience::names(form.get("bulk_tag"));
    match form.get("act") {
        "tag" | "untag" if tags.is_empty() => return Err(wrong("bulk_tag", "Enter a tag first.")),
        "tag" => input["addTags"] = json!(tags),
        "untag" => input["removeTags"] = json!(tags),
        "status" if form.get("bulk_status").is_empty() => return Err(wrong("bulk_status", "Choose a status first.")),
        "status" => input["status"] = form.get("bulk_status").into(),
        "delete" if form.get("sure").is_empty() => {
            return Err(wrong("sure", "To delete the contacts, select “Permanently delete these contacts”."));
        }
        "delete" => input["delete"] = true.into(),
        _ => return Err(PageError::unknown_action()),
    }
    Ok(())
}

fn wrong(field: &str, message: &str) -> PageError {
    PageError { field: field.into(), ..PageError::plain(http::StatusCode::BAD_REQUEST, message) }
}

fn with(mut input: Value, project: &str) -> Value {
    input["projectId"] = project.into();
    input
}

fn to_job(visit: &Visit, audience: &Audience, kind: &str, id: Option<JobId>) -> PageResponse {
    let id = id.map(|id| id.to_string()).unwrap_or_default();
    PageResponse::redirect(audience.path(&format!("/{}/contacts/jobs/{kind}/{id}", visit.environment), &[]))
}

/// Converts the filters in the list's URL to the filters of a contact job.
async fn conditions(visit: &Visit, audience: &Audience) -> Result<Value, PageError> {
    let form = &visit.form;
    let mut filters = Map::new();
    if let Some(search) = form.some("search") {
        filters.insert("search".into(), search.into());
    }
    if let Some(status) = form.some("status") {
        filters.insert("status".into(), status.into());
    }
    if let Some(name) = form.some("tag") {
        let tag = audience::tag_named(visit, &audience.id, name).await?;
        let absent = || wrong("tag", &format!("The tag “{name}” doesn't exist, so nothing was done. Choose another tag."));
        let tag = tag.ok_or_else(absent)?;
        filters.insert("tags".into(), json!([tag.id]));
    }
    Ok(json!({ "filters": filters, "segmentId": form.some("segment") }))
}

pub async fn new(visit: &Visit) -> Result<PageResponse, PageError> {
    visit.need(Permission::AudienceWrite)?;
    let Some(audience) = Audience::of(visit).await? else { return Ok(audience::none("New contact")) };
    form(visit, &audience, None).await
}

async fn form(visit: &Visit, audience: &Audience, error: Option<&PageError>) -> Result<PageResponse, PageError> {
    let sent = |name: &str| visit.form.get(name).to_owned();
    let context = NewContactPage {
        audience: audience.context(visit, "New contact"),
        email: sent("email"),
        status: sent("status"),
        tags: sent("tags"),
        profile: profile_rows(|key| visit.form.get(key)),
        custom: custom_rows(visit, &audience.id, &Value::Null).await?,
        statuses: &STATUSES,
        tag_names: audience::tag_names(visit, &audience.id).await?.0,
    };
    Ok(audience.finish(visit, PageResponse::draw_with(&context, error)))
}

pub async fn add(visit: &Visit) -> Result<PageResponse, PageError> {
    let Some(audience) = Audience::of(visit).await? else { return Err(PageError::not_found()) };
    let fields = &visit.form;
    let asked = match custom_sent(fields, &Value::Null) {
        Ok(custom) => {
            let mut input = json!({
                "projectId": audience.id, "email": fields.get("email"), "status": fields.some("status"),
                "tags": audience::names(fields.get("tags")), "customFields": custom,
            });
            read_profile(fields, &mut input);
            visit.ask::<contacts::ops::create::Create>(input).await
        }
        Err(error) => Err(error),
    };
    match asked {
        Ok(Created(made)) => {
            let path = format!("/{}/contacts/{}", visit.environment, made.id);
            Ok(PageResponse::redirect(audience.path(&path, &[("done", "added")])))
        }
        Err(error) if audience::can_correct(&error) => {
            let field = if error.code == Some(Code::ContactExists) { "email".to_owned() } else { error.field.clone() };
            form(visit, &audience, Some(&PageError { field, ..error })).await
        }
        Err(error) => Err(error),
    }
}
