//! Removes an address from the suppression list.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::base::email::EmailKey;
use crate::engine::api::{Caller, Command, Done, Failure, Operation, Spec, needs};
use crate::engine::store::WriteTx;
use crate::features::suppressions::store::{self, Digester};
use crate::vocab::codes::Code;
use crate::vocab::permissions::Permission;

pub struct Delete;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SuppressionRef {
    pub email: EmailKey,
}

/// The result of removing an address from the suppression list.
#[derive(Debug, Serialize, JsonSchema)]
pub struct DeletedSuppression {
    /// The removed address.
    pub email: String,
    /// Always true; a failed removal returns an error instead.
    pub deleted: bool,
}

impl Operation for Delete {
    const SPEC: Spec = Spec::delete("suppressions.delete", "/v1/suppressions/{email}", needs(Permission::AudienceWrite))
        .summary("Remove an address from the suppression list")
        .about(
            "Remove an address if the recipient wants email again or a mail server rejected the address by mistake. The contact's status \
             does not change.",
        )
        .fails(&[Code::NotFound]);
    type Input = SuppressionRef;
    type Output = Done<DeletedSuppression>;

    fn example() -> (Value, Self::Output) {
        (json!({ "email": "ada@example.com" }), Done(DeletedSuppression { email: "ada@example.com".into(), deleted: true }))
    }
}

impl Command for Delete {
    fn run(tx: &mut WriteTx<'_>, caller: &Caller, input: SuppressionRef) -> Result<Self::Output, Failure> {
        let digester = Digester::new(&caller.engine.seal);
        let email = input.email.normalized();
        let absent = || match input.email.problem() {
            Some(problem) => Failure::field("email", problem),
            None => Failure::because(Code::NotFound, "This address is not on the suppression list."),
        };
        store::delete(tx, &digester, caller.account(), &email)?.ok_or_else(absent)?;
        Ok(Done(DeletedSuppression { email, deleted: true }))
    }
}
