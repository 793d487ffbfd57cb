//! Lists the audit log: the changes to an account, or the changes to the account's data in one environment.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::base::clock::Timestamp;
use crate::engine::access::audit::{self, AuditPlace, AuditRecord};
use crate::engine::api::response::WireTime;
use crate::engine::api::{Done, Failure, Limit, Operation, Query, Spec, View, manager};
use crate::engine::store::ReadTx;
use crate::features::accounts;
use crate::features::accounts::api_keys::short_id;
use crate::features::accounts::store;
use crate::vocab::environment::Environment;
use crate::vocab::ids::AccountId;

pub struct AuditList;

/// The part of the log to return.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ListAudit {
    /// `test` or `live` returns changes to the data in that environment. If absent, changes to the account are returned.
    pub r#in: Option<Environment>,
    #[serde(default)]
    pub limit: Limit,
    /// Returns only entries that are older than the one at this cursor, which is the `next` value of the previous page.
    pub before: Option<String>,
}

/// A page of the audit log.
#[derive(Serialize, JsonSchema)]
pub struct AuditLog {
    pub entries: Vec<AuditEntry>,
    /// The value of `before` for the next page; absent on the last page.
    pub next: Option<String>,
}

/// An entry of the audit log: one change.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct AuditEntry {
    pub at: WireTime,
    /// The ID of the operation, such as `contacts.create`.
    pub operation: String,
    pub by: AuditActor,
    /// The email of the member or former member who made the change; absent for keys and the operator.
    pub who: Option<String>,
    /// The first 8 characters of the ID of the key that made the change; `keyName` is the key's name.
    pub key_id: Option<String>,
    pub key_name: Option<String>,
    /// The `requestId` of the response to the request that made the change.
    pub request_id: String,
}

/// The kind of actor that made a change.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum AuditActor {
    Member,
    /// A member who has since been removed.
    FormerMember,
    /// A program that uses an API key.
    Key,
    /// The operator, who uses the command line.
    Operator,
}

impl Operation for AuditList {
    const SPEC: Spec = Spec::get("accounts.audit_list", "/v1/account/audit", manager())
        .summary("List the audit log")
        .about(
            "Lists changes of the last 90 days, newest first. Without `in`: members, keys and sign-ins. With `in`: changes to the \
             data in one environment.",
        )
        .blocking();
    type Input = ListAudit;
    type Output = Done<AuditLog>;

    fn example() -> (Value, Self::Output) {
        let entry = AuditEntry {
            at: WireTime::sample(),
            operation: "contacts.create".into(),
            by: AuditActor::Key,
            who: None,
            key_id: Some("9c1185a5".into()),
            key_name: Some("Shop".into()),
            request_id: "req_000000ab000000000012".into(),
        };
        (json!({ "in": "live" }), Done(AuditLog { entries: vec![entry], next: None }))
    }
}

impl Query for AuditList {
    fn run(view: &View<'_>, input: ListAudit) -> Result<Self::Output, Failure> {
        let before = input.before.as_deref().map(place).transpose()?;
        let account = view.caller.account();
        // If the entry for an operator's action has no account, it belongs to the installation's own account.
        let is_first = accounts::is_installations(view.tx, account)?;
        let limit = usize::try_from(input.limit.0).unwrap_or(1);
        let is_own = |act: &AuditRecord| act.account.map_or(is_first, |owner| owner == account);
        let (found, next) = match input.r#in {
            Some(environment) => audit::newest(&view.caller.engine.data(environment).store.read(), before, limit, is_own)?,
            None => audit::newest(view.tx, before, limit, is_own)?,
        };
        let next = next.map(|(at, number)| format!("{}-{number}", at.0));
        Ok(Done(AuditLog { entries: entries(view.tx, account, found)?, next }))
    }
}

/// Parses a cursor: the position of the last entry of the previous page.
fn place(text: &str) -> Result<AuditPlace, Failure> {
    let parts = text.split_once('-').and_then(|(at, number)| Some((Timestamp(at.parse().ok()?), number.parse().ok()?)));
    parts.ok_or_else(|| Failure::field("before", "is not a cursor of this list; use the value of `next` from the previous page"))
}

fn entries(control: &ReadTx, account: AccountId, found: Vec<audit::AuditRow>) -> Result<Vec<AuditEntry>, Failure> {
    let mut keys = store::keys(control)?;
    keys.retain(|key| key.account == account);
    let mut entries = Vec::with_capacity(found.len());
    for ((at, _), act) in found {
        let (by, who) = actor(control, &act)?;
        let key_name = keys.iter().find(|key| Some(key.id) == act.key).map(|key| key.name.clone());
        let key_id = act.key.map(short_id);
        entries.push(AuditEntry {
            at: WireTime(at),
            operation: act.operation,
            by,
            who,
            key_id,
            key_name,
            request_id: act.request,
        });
    }
    Ok(entries)
}

fn actor(control: &ReadTx, act: &AuditRecord) -> Result<(AuditActor, Option<String>), Failure> {
    let Some(user) = act.user else {
        return Ok((if act.key.is_some() { AuditActor::Key } else { AuditActor::Operator }, None));
    };
    Ok(match store::user(control, user)? {
        Some(user) => (AuditActor::Member, Some(user.email)),
        None => (AuditActor::FormerMember, store::former_member(control, user)?.map(|former| former.email)),
    })
}
