//! Copies a brand from the test environment to the live environment.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::engine::api::{Async, Context, Done, Failure, Operation, Spec, manager};
use crate::features::contacts::Source;
use crate::features::go_live::crossing::ContactsWish;
use crate::features::go_live::{CopyReport, Crossing};
use crate::vocab::codes::Code;
use crate::vocab::ids::ProjectId;

pub struct Copy;

/// The brand to copy.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct CopyBrand {
    /// The project in the test environment.
    pub project_id: ProjectId,
    /// Whether to copy contacts, too.
    #[serde(default)]
    pub contacts: bool,
    /// The `contactsAfter` of an earlier response, to continue copying contacts where that request stopped. If given, only contacts are
    /// copied, and the counts include those of the earlier request. Ignored unless `contacts` is true.
    pub contacts_after: Option<u32>,
    /// The existing live project whose values the copy replaces. Required only for the first copy, and only if the live environment already
    /// has a project for the same site.
    pub live_project_id: Option<ProjectId>,
}

impl Operation for Copy {
    const SPEC: Spec = Spec::post("go_live.copy", "/v1/projects/{projectId}/go-live", manager())
        .summary("Copy a test project to the live environment")
        .about(
            "Copies the brand with its knowledge base, images, products, saved blocks, tags, topics, segments and finished \
             emails, and on request its contacts. A repeated copy updates what has changed in the test environment and creates no \
             duplicates; what has not changed is not copied again, even if the live copy was edited. Contacts are merged by email; \
             unsubscribed contacts stay unsubscribed. A request copies up to 20,000 contacts. Campaigns, webhooks, domains and \
             suppressions are not copied.",
        )
        .fails(&[Code::NotFound, Code::BrandExists]);
    type Input = CopyBrand;
    type Output = Done<CopyReport>;

    fn example() -> (Value, Self::Output) {
        (json!({ "projectId": "66f1a2b3d4e5f60718293a4b", "contacts": true }), Done(CopyReport::sample()))
    }
}

impl Async for Copy {
    async fn run(context: Context, input: CopyBrand) -> Result<Self::Output, Failure> {
        let (account, source) = (context.caller.account(), Source::of(&context.caller));
        let crossing = Crossing::new(&context.engine, account, input.project_id, source);
        let contacts = input.contacts.then_some(ContactsWish { after: input.contacts_after });
        let report = crossing.run(input.live_project_id, contacts).await?;
        // This empty write adds an entry for the copy to the account's audit log.
        context.write(&Self::SPEC, |_| Ok(())).await?;
        Ok(Done(report))
    }
}
