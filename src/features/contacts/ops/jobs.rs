//! Lists the newest imports, exports and bulk changes, so that users can return to them and notice failures.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::engine::api::response::WireTime;
use crate::engine::api::{Done, Failure, Limit, Operation, Query, Spec, View, needs};
use crate::features::contacts::jobs::{self, Job, State, Task};
use crate::features::projects;
use crate::vocab::codes::Code;
use crate::vocab::ids::{JobId, ProjectId};
use crate::vocab::permissions::Permission;

pub struct Jobs;

/// Selects the jobs to list.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ListJobs {
    /// Returns only jobs in this project.
    pub project_id: Option<ProjectId>,
    #[serde(default)]
    pub limit: Limit,
}

/// A list of jobs.
#[derive(Debug, Serialize, JsonSchema)]
pub struct ContactJobs {
    /// The jobs, newest first.
    pub jobs: Vec<ContactJob>,
}

/// A summary of a job.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ContactJob {
    pub id: JobId,
    pub project_id: ProjectId,
    #[schemars(extend("enum" = ["bulk", "import", "export", "change"]))]
    pub kind: &'static str,
    #[schemars(extend("enum" = ["pending", "processing", "completed", "failed", "uploaded"]))]
    pub status: &'static str,
    /// The number of rows or contacts that have been processed.
    pub processed: u64,
    /// The number of processed rows or contacts that were refused.
    pub failed: u64,
    /// Why the job failed, and what to do; absent if the job did not fail.
    pub error: Option<String>,
    /// Whether a user has acknowledged that the job failed.
    pub seen: bool,
    pub created_at: WireTime,
    pub completed_at: Option<WireTime>,
}

impl From<Job> for ContactJob {
    fn from(job: Job) -> Self {
        let kind = match job.task {
            Task::Bulk(_) => "bulk",
            Task::Import(_) | Task::Provider(_) => "import",
            Task::Export(_) => "export",
            Task::Change(_) => "change",
        };
        Self {
            id: job.id,
            project_id: job.project,
            kind,
            status: job.state.word(),
            processed: job.counts.total,
            failed: job.counts.failed,
            error: job.state.reason(),
            seen: matches!(job.state, State::Acknowledged(_)),
            created_at: WireTime(job.created_at),
            completed_at: job.completed_at.map(WireTime),
        }
    }
}

impl ContactJob {
    pub fn sample() -> Self {
        Self {
            id: JobId::parse("66f1a2b3d4e5f60718293a4c").expect("the id has 24 hexadecimal characters"),
            project_id: ProjectId::parse("66f1a2b3d4e5f60718293a4b").expect("the id has 24 hexadecimal characters"),
            kind: "import",
            status: "completed",
            processed: 1_000,
            failed: 2,
            error: None,
            seen: false,
            created_at: WireTime::sample(),
            completed_at: Some(WireTime::sample()),
        }
    }
}

impl Operation for Jobs {
    const SPEC: Spec = Spec::get("contacts.jobs", "/v1/contacts/jobs", needs(Permission::AudienceRead))
        .client("contacts.jobs.list")
        .summary("List the newest imports, exports and bulk changes")
        .about(
            "Lists jobs in any state. Finished jobs are deleted 30 days after they end. Uploaded files whose import has not started are \
             deleted after one day.",
        )
        .blocking()
        .fails(&[Code::NotFound]);
    type Input = ListJobs;
    type Output = Done<ContactJobs>;

    fn example() -> (Value, Self::Output) {
        let job = ContactJob::sample();
        (json!({ "projectId": "66f1a2b3d4e5f60718293a4b", "limit": 5 }), Done(ContactJobs { jobs: vec![job] }))
    }
}

impl Query for Jobs {
    fn run(view: &View<'_>, input: ListJobs) -> Result<Self::Output, Failure> {
        let account = view.caller.account();
        if let Some(project) = input.project_id {
            projects::require(view.tx, account, project)?;
        }
        let found = jobs::recent(view.tx, account, input.project_id, input.limit.0 as usize)?;
        Ok(Done(ContactJobs { jobs: found.into_iter().map(ContactJob::from).collect() }))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use crate::features::contacts::jobs;
    use crate::testing::TestApp;

    #[test]
    fn the_newest_jobs_come_first_in_any_state() {
        let app = TestApp::new();
        app.post_in("/v1/contacts/exports", json!({})).data();
        while jobs::step(app.data()).expect("the step succeeds") {}
        app.clock.advance_ms(1_000);
        let project = app.project.to_string();
        app.upload("/v1/contacts/imports", &[("projectId", project.as_str()), ("hold", "true")], b"email\n").data();
        app.clock.advance_ms(1_000);
        app.post_in("/v1/contacts/bulk-change", json!({ "all": true, "status": "subscribed" })).data();
        let listed = app.get_in("/v1/contacts/jobs").data();
        let shown: Vec<(&str, &str)> = listed["jobs"]
            .as_array()
            .expect("the value is an array")
            .iter()
            .map(|job| {
                (job["kind"].as_str().expect("the value is a string"), job["status"].as_str().expect("the value is a string"))
            })
            .collect();
        assert_eq!(shown, [("change", "pending"), ("import", "uploaded"), ("export", "completed")]);
    }
}
