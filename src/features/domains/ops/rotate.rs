//! Rotates a domain's DKIM keys.

use serde_json::{Value, json};

use super::get::DomainRef;
use crate::engine::api::{Async, Context, Done, Failure, Operation, Replay, Spec, needs};
use crate::features::domains::installation::Installation;
use crate::features::domains::key_pairs::{keys, make_pairs};
use crate::features::domains::views::{DomainView, domain_view};
use crate::features::domains::{find, store};
use crate::vocab::codes::Code;
use crate::vocab::permissions::Permission;

pub struct Rotate;

impl Operation for Rotate {
    const SPEC: Spec = Spec::post("domains.rotate", "/v1/domains/{domain}/rotate", needs(Permission::DomainWrite))
        .summary("Rotate a domain's DKIM keys")
        .about(
            "The current keys continue to sign until the records of the new keys are in DNS. Then keep the old records for another seven \
             days (removeAfter), because mail signed with the old keys may still be in transit. Until the records of the new keys are \
             found, repeated calls create no additional keys.",
        )
        .replay(Replay::Keyed)
        .fails(&[Code::NotFound]);
    type Input = DomainRef;
    type Output = Done<DomainView>;

    fn example() -> (Value, Self::Output) {
        (json!({ "domain": "acme.example" }), Done(DomainView { rotating: true, ..DomainView::sample() }))
    }
}

impl Async for Rotate {
    async fn run(context: Context, input: DomainRef) -> Result<Self::Output, Failure> {
        let account = context.caller.account();
        let name = input.domain.as_str().to_owned();
        let domain_name = name.clone();
        let mut domain = context.read(move |tx| find(tx, account, &domain_name)).await?;
        if !domain.is_rotating() {
            let pairs = make_pairs().await?;
            let engine = context.engine.clone();
            let write = context.write(&Self::SPEC, move |tx| {
                let before = find(tx, account, &name)?;
                let mut domain = before.clone();
                if !domain.is_rotating() {
                    domain.add_keys(keys(&engine.seal, account, &name, &pairs, tx.random()), tx.now());
                    store::save(tx, account, Some(&before), &domain);
                }
                Ok(domain)
            });
            domain = write.await?;
        }
        Ok(Done(domain_view(&domain, &Installation::of(&context.engine.settings))))
    }
}
