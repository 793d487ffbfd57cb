//! Deletes a sending domain.

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Value, json};

use super::get::DomainRef;
use crate::engine::api::{Caller, Command, Done, Failure, Operation, Spec, needs};
use crate::engine::store::WriteTx;
use crate::features::domains::{find, store};
use crate::vocab::codes::Code;
use crate::vocab::permissions::Permission;

pub struct Delete;

/// The result of deleting a sending domain.
#[derive(Debug, Serialize, JsonSchema)]
pub struct DeletedDomain {
    /// The name of the deleted domain.
    pub domain: String,
    /// Always true in a successful response.
    pub deleted: bool,
}

impl Operation for Delete {
    const SPEC: Spec = Spec::delete("domains.delete", "/v1/domains/{domain}", needs(Permission::DomainWrite))
        .summary("Delete a sending domain")
        .about(
            "Also deletes the domain's DKIM keys; adding the domain again creates new keys. Afterward, live emails from the domain are \
             rejected unless another verified domain signs for them, or the server's settings allow unverified domains. Test emails can \
             still be sent.",
        )
        .fails(&[Code::NotFound]);
    type Input = DomainRef;
    type Output = Done<DeletedDomain>;

    fn example() -> (Value, Self::Output) {
        (json!({ "domain": "acme.example" }), Done(DeletedDomain { domain: "acme.example".into(), deleted: true }))
    }
}

impl Command for Delete {
    fn run(tx: &mut WriteTx<'_>, caller: &Caller, input: DomainRef) -> Result<Self::Output, Failure> {
        let domain = find(tx, caller.account(), input.domain.as_str())?;
        store::delete(tx, caller.account(), &domain);
        Ok(Done(DeletedDomain { domain: domain.name, deleted: true }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::TestApp;

    #[test]
    fn a_deleted_domain_is_not_found_and_gets_new_keys_when_added_again() {
        let app = TestApp::new();
        let first = app.post("/v1/domains", json!({ "domain": "acme.example" })).data();
        let gone = app.delete("/v1/domains/acme.example").data();
        assert_eq!(gone, json!({ "domain": "acme.example", "deleted": true }));
        assert_eq!(app.get("/v1/domains/acme.example").refusal().0, 404);
        assert_eq!(app.delete("/v1/domains/acme.example").refusal().1, "RESOURCE_NOT_FOUND");
        let due = store::due(&app.read(), crate::base::clock::Timestamp(i64::MAX), 9).expect("the data is readable");
        assert!(due.is_empty(), "the deleted domain is no longer checked");
        assert_ne!(app.post("/v1/domains", json!({ "domain": "acme.example" })).data()["dnsRecords"], first["dnsRecords"]);
    }
}
