//! Checks a domain's DNS records immediately.

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Value, json};

use super::get::DomainRef;
use crate::engine::api::{Async, Context, Done, Failure, Operation, Spec, needs};
use crate::features::domains::dns_check::{check, save_check};
use crate::features::domains::installation::Installation;
use crate::features::domains::model::Status;
use crate::features::domains::views::{DomainView, RecordView, records};
use crate::features::domains::{find, store};
use crate::vocab::codes::Code;
use crate::vocab::permissions::Permission;

pub struct Verify;

/// The result of a domain's DNS check.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct DomainVerification {
    pub domain: String,
    pub status: Status,
    /// Why the domain is not verified, or a problem that may soon affect its verification.
    pub status_reason: Option<String>,
    /// The DNS records that the domain should have, with the result of the check.
    pub dns_records: Vec<RecordView>,
}

impl Operation for Verify {
    const SPEC: Spec = Spec::post("domains.verify", "/v1/domains/{domain}/verify", needs(Permission::DomainWrite))
        .summary("Check a domain's DNS records now")
        .about(
            "A domain is verified once DNS has one of its DKIM records. A record whose lookup fails gets the status `unreachable`, \
             which does not affect verification. For a failed domain that was never verified, a call restarts the three-day \
             verification window.",
        )
        .fails(&[Code::NotFound]);
    type Input = DomainRef;
    type Output = Done<DomainVerification>;

    fn example() -> (Value, Self::Output) {
        let DomainView { domain, status, status_reason, dns_records, .. } = DomainView::sample();
        (json!({ "domain": domain }), Done(DomainVerification { domain, status, status_reason, dns_records }))
    }
}

impl Async for Verify {
    async fn run(context: Context, input: DomainRef) -> Result<Self::Output, Failure> {
        let account = context.caller.account();
        let name = input.domain.as_str().to_owned();
        let domain_name = name.clone();
        let domain = context.read(move |tx| find(tx, account, &domain_name)).await?;
        let installation = Installation::of(&context.engine.settings);
        let check = check(&context.engine.dns, &domain, &installation).await;
        let settled = context.write(&Self::SPEC, move |tx| {
            let before = find(tx, account, &name)?;
            let mut waiting = before.clone();
            waiting.restart_verification(tx.now());
            store::save(tx, account, Some(&before), &waiting);
            save_check(tx, account, &name, check)?.ok_or_else(|| Failure::new(Code::NotFound))
        });
        let domain = settled.await?;
        let dns_records = records(&domain, &installation);
        Ok(Done(DomainVerification { domain: domain.name, status: domain.status, status_reason: domain.reason, dns_records }))
    }
}
