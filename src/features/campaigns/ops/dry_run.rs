//! Say what would become of a campaign if it were sent now, without sending anything.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Value, json};

use super::WhichCampaign;
use crate::engine::api::{Done, Failure, Operation, Query, Spec, View, needs};
use crate::features::campaigns::advice::{self, Warning, Words};
use crate::features::campaigns::launch::{self, Place};
use crate::features::campaigns::model::{Action, Campaign};
use crate::features::campaigns::{allowed, require};
use crate::features::emails::{self, Finished};
use crate::features::projects;
use crate::features::sending::quota::Room;
use crate::features::sending::{self, Kind, Rehearsal};
use crate::features::suppressions::Digester;
use crate::vocab::codes::Code;
use crate::vocab::ids::CampaignId;
use crate::vocab::permissions::Permission;
use crate::vocab::rates::RouteGroup;

/// `campaigns.dry_run`
pub struct DryRun;

/// What would become of it.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "CampaignDryRun")]
pub struct Outlook {
    pub campaign_id: CampaignId,
    /// Whether it would be sent like this.
    pub ready: bool,
    /// Everybody it is for.
    pub total: u64,
    /// Those who would get it.
    pub recipients: u64,
    /// Those who would get nothing.
    pub skipped: u64,
    /// How many for each reason.
    pub skipped_reasons: BTreeMap<&'static str, u64>,
    /// How many lack each merge field that has no default.
    pub missing_fields: BTreeMap<String, u64>,
    /// What to know, and what must be put right.
    pub warnings: Vec<Warning>,
    /// How long sending takes at the rate of the account's plan; absent if the plan sends nothing.
    pub estimated_seconds: Option<u64>,
}

impl Operation for DryRun {
    const SPEC: Spec = Spec::get("campaigns.dry_run", "/v1/campaigns/{id}/dry-run", needs(Permission::CampaignRead))
        .summary("Say what would become of a campaign")
        .about("Judges every recipient as sending does, and sends nothing. What changes until it is sent can change the result.")
        .rate(RouteGroup::Campaigns)
        .heavy()
        .fails(&[Code::NotFound, Code::WrongState]);
    type Input = WhichCampaign;
    type Output = Done<Outlook>;

    fn example() -> (Value, Self::Output) {
        let id = CampaignId::parse("66f1a2b3d4e5f60718293a60").expect("24 hexadecimal characters");
        let warning = Warning::notice("MISSING_FIELDS", "1 recipient lacks the merge field firstName and would be skipped.");
        let outlook = Outlook {
            campaign_id: id,
            ready: true,
            total: 325,
            recipients: 318,
            skipped: 7,
            skipped_reasons: BTreeMap::from([("missing_field", 1), ("unsubscribed", 6)]),
            missing_fields: BTreeMap::from([("firstName".into(), 1)]),
            warnings: vec![warning],
            estimated_seconds: Some(32),
        };
        (json!({ "id": id }), Done(outlook))
    }
}

impl Query for DryRun {
    fn run(ask: &View<'_>, input: WhichCampaign) -> Result<Self::Output, Failure> {
        let place = Place::of(ask.caller);
        let campaign = require(ask.tx, place.account, input.id, input.project_id)?;
        let email = place.email(ask.tx, &campaign)?;
        launch::check_audience(ask.tx, campaign.project, &campaign.plan)?;
        let mut warnings = of_state(ask, place, &campaign)?;
        warnings.extend(of_email(ask, place, &campaign, &email)?);
        let to = (Kind::Campaign(campaign.id), launch::to(campaign.plan.recipients));
        let new = launch::mailing(ask.tx, place, &campaign, email, to)?;
        let digester = Digester::new(&place.engine.seal);
        let found = sending::rehearse(ask.tx, &digester, &new, ask.now)?;
        warnings.extend(of_recipients(&found));
        let plan = sending::permit::plan(place.engine, place.account);
        warnings.extend(of_plan(sending::quota::room(ask.tx, place.account, plan, ask.now)?, found.will_receive));
        Ok(Done(Outlook {
            campaign_id: campaign.id,
            ready: !warnings.iter().any(|warning| warning.stops),
            total: found.total,
            recipients: found.will_receive,
            skipped: found.total - found.will_receive,
            skipped_reasons: found.skipped,
            missing_fields: found.missing_fields,
            warnings,
            estimated_seconds: advice::seconds(found.will_receive, plan.recipients_per_second),
        }))
    }
}

/// What would stop it, as a send would say it.
fn of_state(ask: &View<'_>, place: Place<'_>, campaign: &Campaign) -> Result<Vec<Warning>, Failure> {
    let checks = [
        allowed(campaign.status, Action::Send).map(drop),
        launch::check_sender(ask.tx, place, &campaign.plan),
        place.email(ask.tx, campaign).and_then(|email| launch::check_score(&campaign.plan, &email)),
    ];
    let mut warnings = Vec::new();
    for failure in checks.into_iter().filter_map(Result::err) {
        let info = failure.code.info();
        if info.status >= 500 {
            return Err(failure);
        }
        warnings.push(Warning::stop(info.wire, failure.detail.as_deref().unwrap_or(info.message)));
    }
    Ok(warnings)
}

fn of_email(ask: &View<'_>, place: Place<'_>, campaign: &Campaign, email: &Finished) -> Result<Vec<Warning>, Failure> {
    let brand = projects::brand(ask.tx, place.account, campaign.project)?;
    Ok(advice::of_words(&Words {
        subject: campaign.plan.subject.as_deref().unwrap_or(&email.subject),
        html: &email.html,
        text: &email.text,
        names_address: emails::names_postal_address(ask.tx, place.account, email.id)?,
        brand_address: brand.as_ref().and_then(|(_, brand)| brand.contact.address.as_deref()),
    }))
}

fn of_recipients(found: &Rehearsal) -> Vec<Warning> {
    let mut warnings = Vec::new();
    if found.will_receive == 0 {
        warnings.push(Warning::notice("NO_RECIPIENTS", "Nobody would get it; skippedReasons says why."));
    }
    for (field, many) in &found.missing_fields {
        let message = format!(
            "{many} recipients lack the merge field {field} and would be skipped; give it a default, like \
             {{{{ {field} | default(\"there\") }}}}, or a value in variables."
        );
        warnings.push(Warning::notice("MISSING_FIELDS", message));
    }
    warnings
}

/// What the account's plan has to say to so many emails.
fn of_plan(room: Room, many: u64) -> Option<Warning> {
    let code = Code::QuotaExceeded.info().wire;
    match room {
        Room::Left(left) if left >= many => None,
        Room::Left(left) => {
            let message = format!("The plan has {left} emails left for this day or month; the others wait until there are more.");
            Some(Warning::notice(code, message))
        }
        Room::UsedUp { until } => {
            Some(Warning::notice(code, format!("The plan's emails are used up until {until}; sending begins then.")))
        }
    }
}
