//! Checks before a mailing is created: whether there is a transport, whether the domain of the From address is verified, and whether the
//! plan's quota is sufficient.

use serde_json::json;

use super::quota::{self, QuotaLeft};
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

/// Rejects a send that could not be delivered because no transport is configured or the domain of the From address is not verified.
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
    let hint = format!(
        "POST /v1/domains {{\"domain\": \"{domain}\"}} adds it; publish the DNS records in the response, then call \
         POST /v1/domains/{domain}/verify"
    );
    let failure = Failure::because(Code::DomainNotVerified, format!("The domain {domain} is not verified.")).in_field("from");
    Err(failure.see("domains.create", hint).with(json!({ "domain": domain })))
}

/// Returns the sending limits of an account's plan.
pub fn plan(engine: &Engine, account: AccountId) -> SendingLimits {
    engine.keys.account_limits(account).map(|holder| holder.plan.load().sending).unwrap_or_default()
}

/// Rejects a direct send to `many` recipients if the plan's remaining quota does not cover both them and the account's queued emails from
/// direct sends, or if too many such emails are queued.
pub fn direct(tx: &impl Read, engine: &Engine, account: AccountId, many: u64, now: Timestamp) -> Result<(), Failure> {
    let plan = plan(engine, account);
    let waiting = quota::waiting(tx, account)?;
    match quota::left(tx, account, plan, now)? {
        QuotaLeft::Left(left, _) if waiting + many <= left => {}
        QuotaLeft::Left(left, until) => {
            let emails = if left == 1 { "1 more email".to_owned() } else { format!("{left} more emails") };
            let detail = format!(
                "The plan's email quota allows {emails} until {until}, and {}. Wait until then, or send to fewer recipients if the quota \
                 allows it.",
                queued(waiting)
            );
            return Err(over_quota(detail, now, until));
        }
        QuotaLeft::UsedUp { until } => return Err(used_up(now, until)),
    }
    let per_second = plan.recipients_per_second.unwrap_or(limits::DIRECT_PER_SECOND_ASSUMED);
    let most = (per_second * limits::DIRECT_BACKLOG_SECONDS).max(limits::DIRECT_RECIPIENTS_MAX as u64);
    if waiting + many <= most {
        return Ok(());
    }
    let over = waiting + many - most;
    let retry_after_ms = (over * 1_000).div_ceil(per_second.max(1)).max(100);
    let seconds = retry_after_ms.div_ceil(1_000).max(1);
    let wait = if seconds == 1 { "1 second".to_owned() } else { format!("{seconds} seconds") };
    let detail = format!("Too many emails are queued: {waiting} from direct sends. Try again in {wait}.");
    let failure = Failure::because(Code::SendingCapacity, detail).with(json!({ "retryAfterMs": retry_after_ms }));
    Err(failure.after_seconds(seconds))
}

/// Rejects a send to an audience if the quota is used up. If the remaining quota is too small for all recipients, the send is accepted: it
/// starts now, and continues with the remaining recipients after the quota resets.
pub fn group(tx: &impl Read, engine: &Engine, account: AccountId, now: Timestamp) -> Result<(), Failure> {
    match quota::left(tx, account, plan(engine, account), now)? {
        QuotaLeft::Left(..) => Ok(()),
        QuotaLeft::UsedUp { until } => Err(used_up(now, until)),
    }
}

fn queued(waiting: u64) -> String {
    if waiting == 1 {
        "1 email from a direct send is already queued".to_owned()
    } else {
        format!("{waiting} emails from direct sends are already queued")
    }
}

fn used_up(now: Timestamp, until: Timestamp) -> Failure {
    over_quota(format!("The plan's email quota is used up; it resets at {until}."), now, until)
}

fn over_quota(detail: String, now: Timestamp, until: Timestamp) -> Failure {
    let wait_ms = u64::try_from(until.ms_since(now)).unwrap_or(0);
    let failure = Failure::because(Code::QuotaExceeded, detail).with(json!({ "retryAfterMs": wait_ms }));
    failure.after_seconds(wait_ms.div_ceil(1_000).max(1))
}
