//! One import, export or change of many contacts, in short: for whoever has its id alone.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use super::jobs::ContactJob;
use crate::engine::api::{Done, Failure, Operation, Query, Spec, View, needs};
use crate::features::contacts::jobs;
use crate::vocab::codes::Code;
use crate::vocab::ids::JobId;
use crate::vocab::permissions::Permission;

/// `contacts.job`
pub struct Job;

/// Which job.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct JobRef {
    /// As it was answered when the job began.
    pub id: JobId,
}

impl Operation for Job {
    const SPEC: Spec = Spec::get("contacts.job", "/v1/contacts/jobs/{id}", needs(Permission::AudienceRead))
        .summary("Tell what an import, an export or a change of many contacts is, and whose")
        .about("A finished job is told about for 30 days. The operations on each kind say more of it.")
        .fails(&[Code::NotFound]);
    type Input = JobRef;
    type Output = Done<ContactJob>;

    fn example() -> (Value, Self::Output) {
        let job = ContactJob::sample();
        (json!({ "id": job.id }), Done(job))
    }
}

impl Query for Job {
    fn run(view: &View<'_>, input: JobRef) -> Result<Self::Output, Failure> {
        Ok(Done(jobs::of_account(view.tx, view.caller.account(), input.id, None)?.into()))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use crate::testing::TestApp;

    #[test]
    fn a_job_is_told_of_as_the_list_does() {
        let app = TestApp::new();
        app.post_in("/v1/contacts/exports", json!({})).data();
        let listed = app.get("/v1/contacts/jobs").data()["jobs"][0].clone();
        let id = listed["id"].as_str().expect("an id");
        assert_eq!(app.get(&format!("/v1/contacts/jobs/{id}")).data(), listed);
        assert_eq!(listed["projectId"], json!(app.project.to_string()));
        assert_eq!(app.get("/v1/contacts/jobs/66f1a2b3e5f60718293a4b5c").refusal().0, 404);
    }
}
