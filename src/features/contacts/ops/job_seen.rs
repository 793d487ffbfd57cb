//! Acknowledges that an import, export or bulk change failed.

use serde_json::{Value, json};

use super::import_status::ImportRef;
use super::jobs::ContactJob;
use crate::engine::api::{Caller, Command, Done, Failure, Operation, Spec, needs};
use crate::engine::store::WriteTx;
use crate::features::contacts::jobs;
use crate::vocab::codes::Code;
use crate::vocab::permissions::Permission;

pub struct JobSeen;

impl Operation for JobSeen {
    const SPEC: Spec = Spec::post("contacts.job_seen", "/v1/contacts/jobs/{id}/seen", needs(Permission::AudienceWrite))
        .client("contacts.jobs.mark_seen")
        .summary("Acknowledge a failed import, export or bulk change")
        .about("The job stays in the list but no longer needs attention. Repeating the request changes nothing.")
        .fails(&[Code::NotFound, Code::WrongState]);
    type Input = ImportRef;
    type Output = Done<ContactJob>;

    fn example() -> (Value, Self::Output) {
        let error = Some("The uploaded file no longer exists. Upload the file again.".to_owned());
        let job = ContactJob { status: "failed", error, seen: true, ..ContactJob::sample() };
        (json!({ "id": job.id }), Done(job))
    }
}

impl Command for JobSeen {
    fn run(tx: &mut WriteTx<'_>, caller: &Caller, input: ImportRef) -> Result<Self::Output, Failure> {
        let job = jobs::of_account(tx, caller.account(), input.id, input.project_id)?;
        Ok(Done(jobs::acknowledge(tx, job)?.into()))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use crate::features::contacts::jobs;
    use crate::testing::TestApp;

    #[test]
    fn a_failure_is_listed_before_and_after_it_is_acknowledged() {
        let app = TestApp::new();
        let project = app.project.to_string();
        let upload = |file: &[u8]| {
            let started = app.upload("/v1/contacts/imports", &[("projectId", project.as_str())], file).data();
            while jobs::step(app.data()).expect("the step succeeds") {}
            app.clock.advance_ms(1_000);
            started["id"].as_str().expect("the job has an id").to_owned()
        };
        let failed =
            upload(&[b"email\n\"".to_vec(), vec![b'x'; crate::vocab::limits::CONTACT_IMPORT_ROW_BYTES_MAX + 1]].concat());
        let done = upload(b"email\nada@example.com\n");
        let listed = || app.get("/v1/contacts/jobs").data()["jobs"].clone();
        assert_eq!((&listed()[0]["id"], &listed()[0]["status"]), (&json!(done), &json!("completed")));
        let (first, reason) = (listed()[1].clone(), app.get(&format!("/v1/contacts/imports/{failed}")).data()["error"].clone());
        assert_eq!((&first["id"], &first["status"], &first["seen"]), (&json!(failed), &json!("failed"), &json!(false)));
        assert!(first["error"].is_string() && first["error"] == reason && first["projectId"] == json!(project), "{first}");
        for _ in 0..2 {
            let seen = app.post(&format!("/v1/contacts/jobs/{failed}/seen"), json!({})).data();
            assert_eq!((&seen["seen"], &seen["status"]), (&json!(true), &json!("failed")));
        }
        let after = listed()[1].clone();
        assert_eq!((&after["seen"], &after["status"], &after["error"]), (&json!(true), &json!("failed"), &reason));
        assert_eq!(app.get(&format!("/v1/contacts/imports/{failed}")).data()["status"], "failed");
        assert_eq!(app.post(&format!("/v1/contacts/jobs/{done}/seen"), json!({})).refusal().0, 409);
    }
}
