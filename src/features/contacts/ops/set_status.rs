//! Changes a contact's status.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::base::email::EmailKey;
use crate::engine::api::{Caller, Command, Done, Failure, Operation, Spec, needs};
use crate::engine::store::WriteTx;
use crate::features::contact_records::{self, Contact};
use crate::features::contacts::webhook_events::{self, Action, Source};
use crate::features::contacts::write;
use crate::features::projects;
use crate::features::tags::{self, TagName};
use crate::vocab::codes::Code;
use crate::vocab::contact_status::Status;
use crate::vocab::ids::ProjectId;
use crate::vocab::permissions::Permission;

pub struct SetStatus;

/// The contact, and the change of its status or tags.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct NewStatus {
    /// The ID of the contact's project.
    pub project_id: ProjectId,
    /// The contact's email.
    pub email: EmailKey,
    pub status: Status,
    /// If true, or if both this and `tags` are absent, changes the contact's status. Otherwise, adds `tags` to the contact if `status` is
    /// `subscribed`, and removes them from the contact if not.
    pub all_lists: Option<bool>,
    /// Names of tags to add or remove instead of changing the status.
    pub tags: Option<Vec<TagName>>,
}

/// The result of a status change.
#[derive(Debug, Serialize, JsonSchema)]
pub struct StatusChangeResult {
    /// Always true; a failed change returns an error instead.
    pub success: bool,
}

impl Operation for SetStatus {
    const SPEC: Spec = Spec::post("contacts.set_status", "/v1/contacts/status", needs(Permission::AudienceWrite))
        .also_at(&["/v1/subscribers/status"])
        .summary("Change a contact's status")
        .about(
            "Every change of the status is allowed; for example, this can resubscribe a contact who unsubscribed or bounced. Emits \
             subscriber.unsubscribed with action \"status_changed\" when the contact becomes unsubscribed, and with action \
             \"tags_left\" when only tags are removed; no other change emits an event.",
        )
        .fails(&[Code::NotFound, Code::LimitReached]);
    type Input = NewStatus;
    type Output = Done<StatusChangeResult>;

    fn example() -> (Value, Self::Output) {
        let input = json!({ "projectId": "66f1a2b3d4e5f60718293a4b", "email": "ada@example.com", "status": "unsubscribed" });
        (input, Done(StatusChangeResult { success: true }))
    }
}

impl Command for SetStatus {
    fn run(tx: &mut WriteTx<'_>, caller: &Caller, input: NewStatus) -> Result<Self::Output, Failure> {
        let project = input.project_id;
        let before = contact_with(tx, caller, project, &input.email)?;
        let names = input.tags.unwrap_or_default();
        let mut after = before.clone();
        if input.all_lists.unwrap_or(names.is_empty()) {
            after.set_status(input.status, tx.now());
        } else if names.is_empty() {
            return Err(Failure::field("tags", "list the tags to add or remove, or set `allLists` to true"));
        } else {
            let joins = input.status == Status::Subscribed;
            retag(tx, project, &mut after, &names, joins)?;
            if !joins && after.differs(&before) {
                webhook_events::unsubscribed(tx, (caller.account(), project), &after, Action::TagsLeft, Source::of(caller));
            }
        }
        webhook_events::status_changed(tx, (caller.account(), project), Source::of(caller), &before, &after);
        save(tx, project, &before, after)?;
        Ok(Done(StatusChangeResult { success: true }))
    }
}

/// Returns the project's contact with this email. Fails if the caller has no such project or the project has no such contact.
pub fn contact_with(tx: &WriteTx<'_>, caller: &Caller, project: ProjectId, email: &EmailKey) -> Result<Contact, Failure> {
    projects::require(tx, caller.account(), project)?;
    let unknown = || {
        let detail = "The brand has no contact with this email. Check the email and the brand, or create the contact first.";
        Failure::because(Code::NotFound, detail).in_field("email")
    };
    let failure = || email.problem().map_or_else(unknown, |problem| Failure::field("email", problem));
    contact_records::find_by_email(tx, project, &email.normalized())?.ok_or_else(failure)
}

/// Adds the tags to `contact` if `joins` is true, and removes them otherwise. Removing a tag that does not exist changes nothing. Does not
/// save the contact.
pub fn retag(
    tx: &mut WriteTx<'_>,
    project: ProjectId,
    contact: &mut Contact,
    names: &[TagName],
    joins: bool,
) -> Result<(), Failure> {
    if joins {
        let mut numbers = tags::TagNumbers::new(project);
        let wanted = numbers.of(tx, names.iter().map(|name| &**name))?;
        let wanted = wanted.map_err(write::tag_limit_reached)?;
        return Ok(write::add_tags(tx, project, &mut contact.tags, wanted)?);
    }
    for name in names {
        if let Some(number) = tags::number(tx, project, name)? {
            contact.tags.retain(|tag| *tag != number);
        }
    }
    Ok(())
}

/// Saves the contact if `after` differs from `before`.
pub fn save(tx: &mut WriteTx<'_>, project: ProjectId, before: &Contact, mut after: Contact) -> Result<(), Failure> {
    if !after.differs(before) {
        return Ok(());
    }
    after.updated_at = tx.now();
    contact_records::change(tx, project, |tx, changes| {
        changes.replace(tx, before, &after);
        Ok::<_, Failure>(())
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::TestApp;
    use crate::vocab::limits::{TAGS_PER_CONTACT_MAX, TAGS_PER_PROJECT_MAX};

    fn names(from: usize, count: usize) -> Vec<String> {
        (from..from + count).map(|number| format!("tag {number}")).collect()
    }

    fn join(app: &TestApp, tags: &[String]) -> crate::testing::TestResponse {
        let body = json!({ "email": "ada@example.com", "status": "subscribed", "allLists": false, "tags": tags });
        app.post_in("/v1/contacts/status", body)
    }

    fn shown(app: &TestApp) -> Value {
        app.get_in("/v1/contacts").data()["contacts"][0]["tags"].clone()
    }

    #[test]
    fn a_contact_cannot_exceed_the_tag_limit() {
        let app = TestApp::new();
        app.post_in("/v1/contacts", json!({ "email": "ada@example.com" })).data();
        join(&app, &names(0, TAGS_PER_CONTACT_MAX)).data();
        let refused = join(&app, &names(500, 1));
        assert_eq!(refused.refusal().0, 400);
        assert!(refused.refusal().2.starts_with("tags: "), "{refused:?}");
        assert_eq!(shown(&app).as_array().map(Vec::len), Some(TAGS_PER_CONTACT_MAX));
    }

    #[test]
    fn a_tag_beyond_the_limit_of_the_project_is_refused_with_a_declared_code() {
        let app = TestApp::new();
        app.post_in("/v1/contacts", json!({ "email": "ada@example.com" })).data();
        let project = app.project;
        let fill = move |tx: &mut WriteTx<'_>| {
            (0..TAGS_PER_PROJECT_MAX).try_for_each(|number| tags::create(tx, project, &format!("tag {number}")).map(drop))
        };
        app.data().store.write_blocking(fill).expect("the store works").expect("the write succeeds");
        let refused = join(&app, &names(TAGS_PER_PROJECT_MAX, 1));
        assert_eq!((refused.refusal().0, refused.refusal().1), (409, "LIMIT_REACHED"));
        assert!(SetStatus::SPEC.codes().contains(&Code::LimitReached));
    }

    #[test]
    fn deleted_tags_make_room_for_others() {
        let app = TestApp::new();
        app.post_in("/v1/contacts", json!({ "email": "ada@example.com", "tags": names(0, TAGS_PER_CONTACT_MAX) })).data();
        let listed = app.get_in("/v1/tags?limit=100").data();
        for tag in listed["tags"].as_array().expect("the value is an array") {
            app.delete_in(&format!("/v1/tags/{}", tag["id"].as_str().expect("the tag has an id"))).data();
        }
        let rows = json!([{ "email": "ada@example.com", "tags": ["fresh"] }]);
        let taken = app.post_in("/v1/contacts/bulk", json!({ "subscribers": rows })).data();
        assert_eq!(taken["failed"], 0, "{taken}");
        assert_eq!(shown(&app), json!(["fresh"]));
    }
}
