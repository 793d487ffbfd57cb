//! Returns a summary of one import, export or bulk change, for callers that know only its ID.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use super::jobs::ContactJob;
use crate::engine::api::{Done, Failure, Operation, Query, Spec, View, needs};
use crate::features::contacts::jobs;
use crate::vocab::codes::Code;
use crate::vocab::ids::JobId;
use crate::vocab::permissions::Permission;

pub struct Job;

/// Selects a job.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct JobRef {
    /// The job's ID, as returned when the job was started.
    pub id: JobId,
}

impl Operation for Job {
    const SPEC: Spec = Spec::get("contacts.job", "/v1/contacts/jobs/{id}", needs(Permission::AudienceRead))
        .client("contacts.jobs.get")
        .summary("Get the kind, project and status of a contacts job")
        .about("Returns finished jobs until 30 days after they end. The operations for each kind of job return more details.")
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
    fn a_job_looks_the_same_as_in_the_list() {
        let app = TestApp::new();
        app.post_in("/v1/contacts/exports", json!({})).data();
        let listed = app.get("/v1/contacts/jobs").data()["jobs"][0].clone();
        let id = listed["id"].as_str().expect("the job has an id");
        assert_eq!(app.get(&format!("/v1/contacts/jobs/{id}")).data(), listed);
        assert_eq!(listed["projectId"], json!(app.project.to_string()));
        assert_eq!(app.get("/v1/contacts/jobs/66f1a2b3e5f60718293a4b5c").refusal().0, 404);
    }
}
