//! The page about API keys: creating a key, which is shown once, and revoking keys.

use serde::Serialize;
use serde_json::{Value, json};

use super::{PermissionChoice, permissions};
use crate::engine::api::{Created, Done};
use crate::features::accounts;
use crate::features::accounts::key_management::CreatedKeyView;
use crate::features::accounts::ops::key_usage::{KeyUsageDay, UsageOfKey};
use crate::features::accounts::views::KeyView;
use crate::surfaces::dashboard::charts::{self, Chart, Series, Shape};
use crate::surfaces::dashboard::template::page_context;
use crate::surfaces::dashboard::visit::{PageError, PageResponse, Visit};

#[derive(Serialize)]
pub struct KeysPage {
    name: String,
    environment: String,
    keys: Vec<UsedKey>,
    usage: Option<UsageChart>,
    permissions: Vec<PermissionChoice>,
    made: Option<CreatedKeyView>,
}

/// An API key with its daily requests as a sparkline, and the number of its requests in the last 30 days.
#[derive(Clone, Serialize)]
struct UsedKey {
    #[serde(flatten)]
    key: KeyView,
    recent: u64,
    spark: String,
}

#[derive(Serialize)]
struct UsageChart {
    key: UsedKey,
    chart: Value,
}

page_context!(KeysPage, "keys.html", {
    use crate::base::clock::Timestamp;
    use crate::engine::api::Operation;
    use crate::engine::api::response::WireTime;

    let usage = accounts::ops::key_usage::KeyUsage::example().1.0.keys;
    let key = KeyView { id: usage[0].id.clone(), ..KeyView::sample() };
    let gone = KeyView { revoked_at: Some(WireTime(Timestamp(0))), ..key.clone() };
    let keys = || vec![with_usage(key.clone(), &usage), with_usage(gone.clone(), &[])];
    let full = || Self {
        name: "Shop".into(),
        environment: String::new(),
        usage: chart(&key.id, &keys(), &usage),
        keys: keys(),
        permissions: permissions(|_| true),
        made: Some(CreatedKeyView::sample().1),
    };
    vec![full(), Self { keys: Vec::new(), usage: None, made: None, environment: "live".into(), ..full() }]
});

pub async fn show(visit: &Visit) -> Result<PageResponse, PageError> {
    page(visit, None, None).await
}

async fn page(visit: &Visit, made: Option<CreatedKeyView>, error: Option<PageError>) -> Result<PageResponse, PageError> {
    let Done(data) = visit.ask::<accounts::ops::key_list::KeyList>(json!({})).await?;
    let Done(usage) = visit.ask::<accounts::ops::key_usage::KeyUsage>(json!({})).await?;
    let keys: Vec<UsedKey> = data.keys.into_iter().map(|key| with_usage(key, &usage.keys)).collect();
    // After success, the form is empty again, so that the user does not submit it twice.
    let chosen = if made.is_some() { Vec::new() } else { visit.form.all("permission") };
    let entered = |name: &str| if made.is_some() { String::new() } else { visit.form.get(name).to_owned() };
    let context = KeysPage {
        name: entered("name"),
        environment: entered("environment"),
        usage: chart(visit.query.get("usage"), &keys, &usage.keys),
        keys,
        permissions: permissions(|permission| chosen.contains(&permission.word())),
        made,
    };
    Ok(PageResponse::draw_with(&context, error.as_ref()))
}

fn days<'u>(id: &str, used: &'u [UsageOfKey]) -> &'u [KeyUsageDay] {
    used.iter().find(|usage| usage.id == id).map_or(&[][..], |usage| &usage.days)
}

fn with_usage(key: KeyView, used: &[UsageOfKey]) -> UsedKey {
    let requests: Vec<u64> = days(&key.id, used).iter().map(|day| day.requests).collect();
    UsedKey { key, recent: requests.iter().sum(), spark: charts::spark(&requests) }
}

/// Returns the usage chart of the key with this ID; `None` if there is no such key.
fn chart(id: &str, keys: &[UsedKey], used: &[UsageOfKey]) -> Option<UsageChart> {
    let key = keys.iter().find(|one| one.key.id == id)?;
    let days = days(id, used);
    let values = days.iter().map(|day| day.requests as f64).collect();
    let dates = days.iter().map(|day| day.date.clone()).collect();
    let series = vec![Series { label: "Requests".into(), values }];
    let chart = Chart { id: "usage", title: "Requests by day", unit: "", shape: Shape::Bars, dates, series };
    Some(UsageChart { key: key.clone(), chart: chart.draw() })
}

/// Creates or revokes a key.
pub async fn send(visit: &Visit) -> Result<PageResponse, PageError> {
    let form = &visit.form;
    if form.get("act") == "revoke" {
        visit.ask::<accounts::ops::key_revoke::KeyRevoke>(json!({ "id": form.get("id") })).await?;
        return Ok(PageResponse::redirect(format!("{}?done=revoked", visit.path)));
    }
    let input =
        json!({ "name": form.get("name"), "environment": form.get("environment"), "permissions": form.all("permission") });
    match visit.ask::<accounts::ops::key_create::KeyCreate>(input).await {
        Ok(Created(made)) => page(visit, Some(made), None).await,
        Err(error) if error.status == http::StatusCode::BAD_REQUEST => page(visit, None, Some(error)).await,
        Err(error) => Err(error),
    }
}
