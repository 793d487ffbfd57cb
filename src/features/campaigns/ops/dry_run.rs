//! Reports what sending a campaign now would do, without sending it.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Value, json};

use super::{CampaignRef, same_in_every_language};
use crate::engine::api::{Done, Failure, Operation, Query, Spec, View, needs};
use crate::engine::store::Read;
use crate::features::campaigns::launch::{self, LaunchContext};
use crate::features::campaigns::model::{Action, Campaign, CampaignStatus, Plan};
use crate::features::campaigns::warnings::{self, CampaignWarning, EmailTexts};
use crate::features::campaigns::{allowed, require};
use crate::features::checks::model::{CheckFinding, Scores};
use crate::features::emails::checking::CheckSummary;
use crate::features::emails::{self, ReadyEmail};
use crate::features::projects;
use crate::features::sending::quota::QuotaLeft;
use crate::features::sending::{self, MailingKind};
use crate::features::suppressions::Digester;
use crate::vocab::codes::Code;
use crate::vocab::ids::{CampaignId, EmailId};
use crate::vocab::permissions::Permission;
use crate::vocab::rates::RouteGroup;

pub struct DryRun;

/// The result of a dry run.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct CampaignDryRun {
    pub campaign_id: CampaignId,
    /// Whether the campaign can be sent without changes.
    pub ready: bool,
    /// The number of contacts in the audience.
    pub total: u64,
    /// The number of contacts who would receive the campaign.
    pub recipients: u64,
    /// The number of contacts who would be skipped.
    pub skipped: u64,
    /// The number of skipped contacts for each reason.
    pub skipped_reasons: BTreeMap<&'static str, u64>,
    /// For each merge field without a default, the number of contacts who would be skipped because they have no value for it. A
    /// contact is counted only for the first field that it lacks.
    pub missing_fields: BTreeMap<String, u64>,
    /// The number of recipients for each language of the email.
    pub languages: Vec<LanguageShare>,
    /// The scores and the worst findings of each email, in the order of `languages`.
    pub checks: Vec<EmailCheckSummary>,
    /// Warnings, and problems to fix before sending.
    pub warnings: Vec<CampaignWarning>,
    /// The number of seconds that sending takes at the rate of the account's plan; absent if the plan has no rate limit, or if its rate is
    /// zero.
    pub estimated_seconds: Option<u64>,
}

/// The recipients of one language's email.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct LanguageShare {
    /// The language of the email. The first email in the list also goes to recipients whose language is not in the list.
    pub language: String,
    pub email_id: EmailId,
    pub recipients: u64,
}

/// A summary of the checks of one of the campaign's emails.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct EmailCheckSummary {
    pub email_id: EmailId,
    pub language: String,
    /// The scores of the email; absent if its current version has not been checked yet.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub scores: Option<Scores>,
    /// The worst findings, worst first: at most three about the email, three about signs of spam in the campaign's own subject, three about
    /// the spelling of that subject, and three about the spelling of the campaign's own preheader. Ignored findings are left out.
    pub worst_findings: Vec<CheckFinding>,
    /// Whether the URLs of the links were requested.
    pub links_requested: bool,
}

fn checks_of(tx: &impl Read, context: LaunchContext<'_>, plan: &Plan, email: &ReadyEmail) -> Result<EmailCheckSummary, Failure> {
    let (scores, worst_findings, links_requested) = match launch::checked(tx, context, plan, email)? {
        Some(CheckSummary { scores, worst, links_requested, .. }) => (Some(scores), worst, links_requested),
        None => (None, Vec::new(), false),
    };
    Ok(EmailCheckSummary { email_id: email.id, language: email.language.clone(), scores, worst_findings, links_requested })
}

impl Operation for DryRun {
    const SPEC: Spec = Spec::get("campaigns.dry_run", "/v1/campaigns/{id}/dry-run", needs(Permission::CampaignRead))
        .summary("Preview the outcome of sending a campaign")
        .about("Checks every recipient as sending does, but sends no email. Changes to the data before you send can change the result.")
        .rate(RouteGroup::Campaigns)
        .blocking()
        .fails(&[Code::NotFound, Code::WrongState]);
    type Input = CampaignRef;
    type Output = Done<CampaignDryRun>;

    fn example() -> (Value, Self::Output) {
        let id = CampaignId::parse("66f1a2b3d4e5f60718293a60").expect("the sample ID is valid");
        let warning = CampaignWarning::notice(
            "MISSING_FIELDS",
            "1 contact has no value for the merge field firstName and would be skipped.",
        );
        let outlook = CampaignDryRun {
            campaign_id: id,
            ready: true,
            total: 325,
            recipients: 318,
            skipped: 7,
            skipped_reasons: BTreeMap::from([("missing_field", 1), ("unsubscribed", 6)]),
            missing_fields: BTreeMap::from([("firstName".into(), 1)]),
            languages: vec![LanguageShare {
                language: "en".into(),
                email_id: EmailId::parse("66f1a2b3d4e5f60718293a4e").expect("the sample ID is valid"),
                recipients: 318,
            }],
            checks: vec![EmailCheckSummary {
                email_id: EmailId::parse("66f1a2b3d4e5f60718293a4e").expect("the sample ID is valid"),
                language: "en".into(),
                scores: Some(Scores::sample()),
                worst_findings: vec![CheckFinding::sample()],
                links_requested: true,
            }],
            warnings: vec![warning],
            estimated_seconds: Some(32),
        };
        (json!({ "id": id }), Done(outlook))
    }
}

impl Query for DryRun {
    fn run(view: &View<'_>, input: CampaignRef) -> Result<Self::Output, Failure> {
        let context = LaunchContext::of(view.caller);
        let campaign = require(view.tx, context.account, input.id, input.project_id)?;
        let emails = context.emails(view.tx, &campaign)?;
        launch::check_audience(view.tx, campaign.project, &campaign.plan)?;
        let mut warnings = of_state(view, context, &campaign, &emails)?;
        for email in &emails {
            let of_email = of_email(view, context, &campaign, email)?;
            let in_language = |warning: CampaignWarning| match emails.len() {
                1 => warning,
                _ => CampaignWarning { message: format!("In {}: {}", email.language, warning.message), ..warning },
            };
            warnings.extend(of_email.into_iter().map(in_language));
        }
        let same = same_in_every_language(&campaign.plan, &emails);
        warnings.extend(same.into_iter().map(|same| CampaignWarning::notice(same.code, same.message)));
        let checks =
            emails.iter().map(|email| checks_of(view.tx, context, &campaign.plan, email)).collect::<Result<Vec<_>, _>>()?;
        let languages: Vec<_> = emails.iter().map(|email| (email.language.clone(), email.id)).collect();
        let to = (MailingKind::Campaign(campaign.id), launch::to(campaign.plan.recipients));
        let new = launch::mailing(view.tx, context, &campaign, emails, to)?;
        let digester = Digester::new(&context.engine.seal);
        let found = sending::dry_run(view.tx, &digester, &new, view.now)?;
        warnings.extend(of_recipients(&found));
        let plan = sending::preflight::plan(context.engine, context.account);
        warnings.extend(of_plan(sending::quota::left(view.tx, context.account, plan, view.now)?, found.will_receive));
        Ok(Done(CampaignDryRun {
            campaign_id: campaign.id,
            ready: !warnings.iter().any(|warning| warning.stops),
            total: found.total,
            recipients: found.will_receive,
            skipped: found.total - found.will_receive,
            skipped_reasons: found.skipped,
            missing_fields: found.missing_fields,
            languages: languages
                .into_iter()
                .zip(found.translations)
                .map(|((language, email_id), recipients)| LanguageShare { language, email_id, recipients })
                .collect(),
            checks,
            warnings,
            estimated_seconds: warnings::seconds(found.will_receive, plan.recipients_per_second),
        }))
    }
}

/// Checks the campaign's status, sender and scores, and whether it is archived. Returns each problem that blocks sending, with the code of
/// the error that sending would return. Adds a notice if a hold keeps the scheduled campaign from starting.
fn of_state(
    view: &View<'_>,
    context: LaunchContext<'_>,
    campaign: &Campaign,
    emails: &[ReadyEmail],
) -> Result<Vec<CampaignWarning>, Failure> {
    let checks = [
        allowed(campaign, Action::Send).map(drop),
        launch::check_archive(campaign),
        launch::check_sender(view.tx, context, &campaign.plan),
        emails.iter().try_for_each(|email| launch::check_score(view.tx, context, &campaign.plan, email)),
    ];
    let mut warnings = Vec::new();
    for failure in checks.into_iter().filter_map(Result::err) {
        if failure.code.info().status >= 500 {
            return Err(failure);
        }
        warnings.push(CampaignWarning::of(&failure));
    }
    if campaign.status == CampaignStatus::Scheduled && context.engine.hold.holds(campaign.hold_number) {
        warnings.push(CampaignWarning::notice(
            Code::OnHold.info().wire,
            "The campaign was scheduled before this data was restored, exported or copied, so the original installation may already have \
             sent it.",
        ));
    }
    Ok(warnings)
}

fn of_email(
    view: &View<'_>,
    context: LaunchContext<'_>,
    campaign: &Campaign,
    email: &ReadyEmail,
) -> Result<Vec<CampaignWarning>, Failure> {
    let brand = projects::brand(view.tx, context.account, campaign.project)?;
    Ok(warnings::text_warnings(&EmailTexts {
        subject: campaign.plan.subject.as_deref().unwrap_or(&email.subject),
        html: &email.html,
        text: &email.text,
        names_address: emails::names_postal_address(view.tx, context.account, email.id)?,
        brand_address: brand.as_ref().and_then(|(_, brand)| brand.contact.address.as_deref()),
    }))
}

fn of_recipients(found: &sending::DryRun) -> Vec<CampaignWarning> {
    let mut warnings = Vec::new();
    if found.will_receive == 0 {
        warnings.push(CampaignWarning::notice(
            "NO_RECIPIENTS",
            "No contact would receive the campaign: the audience is empty, or all its contacts would be skipped.",
        ));
    }
    for (field, many) in &found.missing_fields {
        let contacts = if *many == 1 { "contact has" } else { "contacts have" };
        let message = format!(
            "{many} {contacts} no value for the merge field {field} and would be skipped. Add a default, like \
             {{{{ {field} | default(\"there\") }}}}, or a value for all contacts."
        );
        warnings.push(CampaignWarning::notice("MISSING_FIELDS", message));
    }
    warnings
}

/// Returns a warning if the rest of the plan's email quota does not cover `many` emails.
fn of_plan(room: QuotaLeft, many: u64) -> Option<CampaignWarning> {
    let code = Code::QuotaExceeded.info().wire;
    match room {
        QuotaLeft::Left(left, _) if left >= many => None,
        QuotaLeft::Left(left, _) => {
            let message = format!(
                "The plan's quota for this day or month allows only {left} of the {many} emails. The remaining emails wait until the \
                 quota resets."
            );
            Some(CampaignWarning::notice(code, message))
        }
        QuotaLeft::UsedUp { until } => Some(CampaignWarning::notice(
            code,
            format!("The plan's email quota is used up. Sending starts at {until}, when the quota resets."),
        )),
    }
}
