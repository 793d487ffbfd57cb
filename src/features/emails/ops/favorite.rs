//! Adds an email to the favorites or removes it from the favorites.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::engine::api::{Caller, Command, Done, Failure, Operation, Spec, needs};
use crate::engine::store::WriteTx;
use crate::features::emails::views::slot_uuid;
use crate::features::emails::{require_email, store};
use crate::vocab::codes::Code;
use crate::vocab::ids::{ConversationId, EmailId, ProjectId};
use crate::vocab::permissions::Permission;
use crate::vocab::rates::RouteGroup;

pub struct Favorite;

/// The email and whether it becomes a favorite.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct FavoriteEmail {
    pub email_id: EmailId,
    /// If given, the email must belong to the project with this ID.
    pub project_id: Option<ProjectId>,
    pub favorite: bool,
}

/// The email and whether it is now a favorite.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct FavoriteResult {
    pub email_id: EmailId,
    pub favorite: bool,
    pub conversation_id: ConversationId,
    pub slot_uuid: String,
}

impl Operation for Favorite {
    const SPEC: Spec = Spec::put("emails.favorite", "/v1/emails/{emailId}/favorite", needs(Permission::EmailWrite))
        .summary("Mark or unmark an email as a favorite")
        .rate(RouteGroup::Emails)
        .fails(&[Code::NotFound]);
    type Input = FavoriteEmail;
    type Output = Done<FavoriteResult>;

    fn example() -> (Value, Self::Output) {
        let marked = FavoriteResult {
            email_id: EmailId::parse("66f1a2b3d4e5f60718293a4e").expect("the sample ID is valid"),
            favorite: true,
            conversation_id: ConversationId::parse("66f1a2b3d4e5f60718293a4d").expect("the sample ID is valid"),
            slot_uuid: "0d3f1f9a-6c1e-8b7a-9f63-0a7f6a3c2d11".into(),
        };
        (json!({ "emailId": "66f1a2b3d4e5f60718293a4e", "favorite": true }), Done(marked))
    }
}

impl Command for Favorite {
    fn run(tx: &mut WriteTx<'_>, caller: &Caller, input: FavoriteEmail) -> Result<Self::Output, Failure> {
        let account = caller.account();
        let mut email = require_email(tx, account, input.email_id, input.project_id)?;
        if email.favorite != input.favorite {
            email.favorite = input.favorite;
            store::save_email(tx, account, &email);
        }
        let slot_uuid = slot_uuid(email.conversation, email.slot);
        Ok(Done(FavoriteResult { email_id: email.id, favorite: email.favorite, conversation_id: email.conversation, slot_uuid }))
    }
}
