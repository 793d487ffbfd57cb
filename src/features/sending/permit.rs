//! Whether somebody may send now: a way out, a From address that is theirs, room in the plan.
//!
//! Asked when a mailing is taken on, so that what cannot be sent is refused at once and not found in a list of failures.

use serde_json::json;

use super::quota::{self, Room};
use super::transport;
use crate::base::clock::Timestamp;
use crate::base::email::EmailAddress;
use crate::engine::access::keys::SendingLimits;
use crate::engine::api::{Engine, Failure};
use crate::engine::store::Read;
use crate::features::domains::{self, Stream};
use crate::vocab::codes::Code;
use crate::vocab::environment::Environment;
use crate::vocab::ids::AccountId;
use crate::vocab::limits;

/// Refuse what could not leave: nothing is configured that carries mail, or the From address is at a domain that is not verified.
pub fn sender(
    tx: &impl Read,
    engine: &Engine,
    environment: Environment,
    account: AccountId,
    from: &EmailAddress,
    transactional: bool,
) -> Result<(), Failure> {
    transport::require(engine, environment)?;
    let mail = &engine.settings.mail;
    if environment == Environment::Test || mail.development || !mail.require_verified_domain {
        return Ok(());
    }
    let stream = if transactional { Stream::Transactional } else { Stream::Marketing };
    if domains::for_sender(tx, &engine.seal, account, from, stream)?.is_some() {
        return Ok(());
    }
    let domain = from.domain();
    let detail = format!(
        "from: the domain {domain} is not verified. Add it with POST /v1/domains {{\"domain\": \"{domain}\"}}, publish the DNS \
         records of the answer, and ask POST /v1/domains/{domain}/verify."
    );
    Err(Failure::because(Code::DomainNotVerified, detail).with(json!({ "domain": domain })))
}

/// How much an account may send.
pub fn plan(engine: &Engine, account: AccountId) -> SendingLimits {
    engine.keys.holder(account).map(|holder| holder.plan.load().sending).unwrap_or_default()
}

/// Refuse a direct send to `many` when the plan has no room for it or when too many wait already.
pub fn direct(tx: &impl Read, engine: &Engine, account: AccountId, many: u64, now: Timestamp) -> Result<(), Failure> {
    let plan = plan(engine, account);
    let waiting = quota::waiting(tx, account)?;
    let left = match quota::room(tx, account, plan, now)? {
        Room::Left(left) => left,
        Room::UsedUp { until } => return Err(used_up(now, until)),
    };
    if waiting + many > left {
        // What waits will use up the rest of the plan.
        return Err(used_up(now, quota::next_day(now)));
    }
    let per_second = plan.recipients_per_second.unwrap_or(limits::DIRECT_PER_SECOND_ASSUMED);
    let most = (per_second * limits::DIRECT_BACKLOG_SECONDS).max(limits::DIRECT_RECIPIENTS_MAX as u64);
    if waiting + many <= most {
        return Ok(());
    }
    let over = waiting + many - most;
    let retry_after_ms = (over * 1_000).div_ceil(per_second.max(1)).max(100);
    let detail = format!(
        "{waiting} direct sends are queued already. Repeat this request with the same Idempotency-Key after {retry_after_ms} ms."
    );
    let failure = Failure::because(Code::SendingCapacity, detail).with(json!({ "retryAfterMs": retry_after_ms }));
    Err(failure.after_seconds(retry_after_ms.div_ceil(1_000).max(1)))
}

/// Refuse a send to an audience when nothing of the plan is left. With some left it begins, and waits for the next day if need be.
pub fn group(tx: &impl Read, engine: &Engine, account: AccountId, now: Timestamp) -> Result<(), Failure> {
    match quota::room(tx, account, plan(engine, account), now)? {
        Room::Left(_) => Ok(()),
        Room::UsedUp { until } => Err(used_up(now, until)),
    }
}

fn used_up(now: Timestamp, until: Timestamp) -> Failure {
    let wait_ms = u64::try_from(until.ms_since(now)).unwrap_or(0);
    let detail = format!("The plan's emails are used up until {until}.");
    let failure = Failure::because(Code::QuotaExceeded, detail).with(json!({ "retryAfterMs": wait_ms }));
    failure.after_seconds(wait_ms.div_ceil(1_000).max(1))
}
