//! Unsubscribes a contact.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use super::set_status::{StatusChangeResult, contact_with, retag, save};
use crate::base::email::EmailKey;
use crate::engine::api::{Caller, Command, Done, Failure, Operation, Spec, needs};
use crate::engine::store::WriteTx;
use crate::features::contacts::subscription;
use crate::features::contacts::webhook_events::{self, Action, Source};
use crate::features::tags::TagName;
use crate::vocab::codes::Code;
use crate::vocab::ids::ProjectId;
use crate::vocab::permissions::Permission;

pub struct Unsubscribe;

/// The contact, and the scope of the unsubscription.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct UnsubscribeRequest {
    /// The contact's email.
    pub email: EmailKey,
    /// The ID of the contact's project.
    pub project_id: ProjectId,
    /// If true or absent, unsubscribes the contact from all mail except transactional messages. If false, only removes `tags` from the
    /// contact.
    pub all_lists: Option<bool>,
    /// Names of tags to remove when `allLists` is false.
    pub tags: Option<Vec<TagName>>,
}

impl Operation for Unsubscribe {
    const SPEC: Spec = Spec::post("contacts.unsubscribe", "/v1/subscribers/unsubscribe", needs(Permission::AudienceWrite))
        .also_at(&["/v1/contacts/unsubscribe"])
        .summary("Unsubscribe a contact")
        .takes_tokens()
        .about(
            "Emits subscriber.unsubscribed with action \"unsubscribed\", or \"tags_left\" if only tags are removed. Repeating the \
             request changes nothing and emits no event.",
        )
        .fails(&[Code::NotFound]);
    type Input = UnsubscribeRequest;
    type Output = Done<StatusChangeResult>;

    fn example() -> (Value, Self::Output) {
        let input = json!({ "email": "ada@example.com", "projectId": "66f1a2b3d4e5f60718293a4b", "allLists": true });
        (input, Done(StatusChangeResult { success: true }))
    }
}

impl Command for Unsubscribe {
    fn run(tx: &mut WriteTx<'_>, caller: &Caller, input: UnsubscribeRequest) -> Result<Self::Output, Failure> {
        let project = input.project_id;
        let before = contact_with(tx, caller, project, &input.email)?;
        let names = input.tags.unwrap_or_default();
        let mut after = before.clone();
        if !input.all_lists.unwrap_or(true) {
            if names.is_empty() {
                return Err(Failure::field("tags", "list the tags to remove, or set `allLists` to true"));
            }
            retag(tx, project, &mut after, &names, false)?;
            if after.differs(&before) {
                webhook_events::unsubscribed(tx, (caller.account(), project), &after, Action::TagsLeft, Source::of(caller));
            }
            save(tx, project, &before, after)?;
            return Ok(Done(StatusChangeResult { success: true }));
        }
        subscription::unsubscribe(tx, (caller.account(), project), &before, Source::of(caller))?;
        Ok(Done(StatusChangeResult { success: true }))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use crate::engine::api::Failure;
    use crate::features::contact_records::{self, Contact, email_digest};
    use crate::testing::TestApp;
    use crate::vocab::ids::ContactId;

    /// Adds a contact whose address contains an invisible character, as was possible in earlier versions; returns the contact's ID.
    fn add_older(app: &TestApp, email: &'static str) -> String {
        let made = app.post_in("/v1/contacts", json!({ "email": "was@example.com" })).data()["id"].clone();
        let id = made.as_str().and_then(ContactId::parse).expect("the contact has an id");
        let (project, tables) = (app.project, app.data().store.clone());
        let written = tables.write(move |tx| {
            let before = contact_records::find(tx, project, id)?.expect("the row exists");
            contact_records::change(tx, project, |tx, changes| changes.remove(tx, &before, email_digest(&before.email)))?;
            let after = Contact { email: email.into(), ..before };
            contact_records::change(tx, project, |tx, changes| {
                changes.add(tx, &after, email_digest(email));
                Ok::<_, Failure>(())
            })
        });
        app.wait(written).expect("the store works").expect("the write succeeds");
        id.to_string()
    }

    fn status(app: &TestApp, id: &str) -> Value {
        app.get_in(&format!("/v1/contacts/{id}")).data()["status"].clone()
    }

    #[test]
    fn a_contact_with_an_address_that_is_rejected_today_can_be_unsubscribed_and_deleted_by_email() {
        const OLDER: &str = "ad\u{200d}a@example.com";
        let app = TestApp::new();
        let other = app.post_in("/v1/contacts", json!({ "email": "ada@example.com" })).data()["id"].clone();
        let id = add_older(&app, OLDER);
        app.post_in("/v1/contacts/unsubscribe", json!({ "email": OLDER })).data();
        assert_eq!(status(&app, &id), "unsubscribed");
        app.post_in("/v1/contacts/status", json!({ "email": OLDER, "status": "subscribed" })).data();
        assert_eq!(status(&app, &id), "subscribed");
        let deleted = app.post_in("/v1/contacts/bulk-delete", json!({ "emails": ["bob@example.com", OLDER] })).data();
        assert_eq!((&deleted["deleted"], &deleted["notFound"]), (&json!(1), &json!(["bob@example.com"])));
        assert_eq!(
            status(&app, other.as_str().expect("the contact has an id")),
            "subscribed",
            "the address without the joiner belongs to a different contact"
        );

        // If no contact has this address, the error describes the problem with the address.
        for (path, body, field) in [
            ("/v1/contacts/unsubscribe", json!({ "email": OLDER }), "email"),
            ("/v1/contacts/status", json!({ "email": OLDER, "status": "subscribed" }), "email"),
            ("/v1/contacts/bulk-delete", json!({ "emails": ["bob@example.com", OLDER] }), "emails[1]"),
        ] {
            let refused = app.post_in(path, body);
            let (status, _, message) = refused.refusal();
            assert!(status == 400 && message.starts_with(&format!("{field}: ")) && message.contains("U+200D"), "{refused:?}");
            assert_eq!(refused.body["data"]["field"], field);
        }
    }
}
