//! Starts a campaign: checks the campaign and creates its mailing.

use std::borrow::Cow;

use serde_json::{Map, json};

use super::model::{Campaign, Plan, Recipients, Schedule, Unknown, check_minimum_score};
use crate::base::email::EmailAddress;
use crate::base::text::escaped;
use crate::engine::api::{Caller, Engine, Failure};
use crate::engine::store::{Read, WriteTx};
use crate::features::checks::spelling::check_line;
use crate::features::domains::{self, Stream};
use crate::features::emails::checking::CheckSummary;
use crate::features::emails::{self, ReadyEmail};
use crate::features::sending::template::{self, RenderMode};
use crate::features::sending::{self, Content, MailingKind, NewMailing, Policy, Sender, To, Tracking};
use crate::features::{segments, tags, topics};
use crate::vocab::codes::Code;
use crate::vocab::environment::Environment;
use crate::vocab::ids::{AccountId, ProjectId};

/// Checks that the campaign's segment or tag, and its topic, exist.
pub fn check_audience(tx: &impl Read, project: ProjectId, plan: &Plan) -> Result<(), Failure> {
    match plan.recipients {
        Recipients::Everyone => {}
        Recipients::Audience(id) | Recipients::Segment(id) => drop(segments::require(tx, project, id)?),
        Recipients::Tag(id) => {
            let absent = || {
                Failure::because(Code::NotFound, "The brand has no tag with this ID.")
                    .see("tags.list", "GET /v1/tags lists the tags")
            };
            tags::by_id(tx, project, id)?.ok_or_else(absent)?;
        }
    }
    if let Some(topic) = plan.topic {
        topics::find(tx, project, topic)?;
    }
    Ok(())
}

/// The engine, environment and account of a campaign that is checked or started.
#[derive(Clone, Copy)]
pub struct LaunchContext<'e> {
    pub engine: &'e Engine,
    pub environment: Environment,
    pub account: AccountId,
}

impl<'e> LaunchContext<'e> {
    pub fn of(caller: &'e Caller) -> Self {
        Self { engine: &caller.engine, environment: caller.environment(), account: caller.account() }
    }

    /// Returns the current versions of the campaign's emails, one per language.
    pub fn emails(self, tx: &impl Read, campaign: &Campaign) -> Result<Vec<ReadyEmail>, Failure> {
        emails::ready(tx, self.account, &campaign.plan.emails, Some(campaign.project))
    }
}

/// Checks that the campaign can start now. Returns the emails as they would be sent now.
pub fn check(tx: &impl Read, context: LaunchContext<'_>, campaign: &Campaign) -> Result<Vec<ReadyEmail>, Failure> {
    let plan = &campaign.plan;
    check_archive(campaign)?;
    check_audience(tx, campaign.project, plan)?;
    let emails = context.emails(tx, campaign)?;
    check_sender(tx, context, plan)?;
    let manner = RenderMode::of(tracking(tx, context, plan)?, false);
    for email in &emails {
        check_score(tx, context, plan, email)?;
        template::compile(&content(plan, email.clone()), manner.clone())?;
    }
    Ok(emails)
}

pub fn check_archive(campaign: &Campaign) -> Result<(), Failure> {
    match campaign.is_archived() {
        true => Err(Failure::because(Code::WrongState, "The campaign is archived. Unarchive it first.")),
        false => Ok(()),
    }
}

/// Returns the result of an email's checks. If the campaign has its own subject or preheader, the result also covers these texts.
pub fn checked(
    tx: &impl Read,
    context: LaunchContext<'_>,
    plan: &Plan,
    email: &ReadyEmail,
) -> Result<Option<CheckSummary>, Failure> {
    let Some(mut found) = emails::checking::summary(tx, email.id, email.version)? else { return Ok(None) };
    if let Some(subject) = &plan.subject {
        found = found.with_subject(&email.subject, subject);
    }
    let texts = [
        ("the campaign's subject", &plan.subject, &email.subject),
        ("the campaign's preheader", &plan.preheader, &email.preheader),
    ];
    for (part, own, checked) in texts {
        // Skip a text that equals the email's own subject or preheader, because the check of the email already covers it.
        if let Some(text) = own.as_ref().filter(|text| *text != checked) {
            let owner = (context.account, email.project);
            found = found.with_spelling(part, &check_line(tx, context.engine, owner, text, &email.language)?);
        }
    }
    Ok(Some(found))
}

/// Checks that the email's score is at least the campaign's minimum score. The message and data of the failure contain the worst findings.
pub fn check_score(tx: &impl Read, context: LaunchContext<'_>, plan: &Plan, email: &ReadyEmail) -> Result<(), Failure> {
    let Some(minimum) = plan.minimum_score else { return Ok(()) };
    let checked = checked(tx, context, plan, email)?;
    let score = checked.as_ref().and_then(|checked| checked.scores.overall);
    let Err(reason) = check_minimum_score(Some(minimum), score) else { return Ok(()) };
    let worst = checked.as_ref().map(|checked| checked.worst.as_slice()).unwrap_or_default();
    let named: Vec<&str> = worst.iter().map(|finding| finding.message.trim_end_matches('.')).collect();
    let named = if named.is_empty() { String::new() } else { format!(" Worst findings: {}.", named.join("; ")) };
    let data = json!({
        "minimumScore": minimum, "score": score, "scores": checked.as_ref().map(|checked| checked.scores), "emailId": email.id,
        "version": email.version, "findings": worst,
    });
    let failure = Failure::because(Code::NotValidated, format!("{reason}{named}")).in_field("minimumScore").with(data);
    Err(failure.see("emails.checks", "GET /v1/emails/{emailId}/checks lists all findings"))
}

/// Checks that the account may send mail from the campaign's From address.
pub fn check_sender(tx: &impl Read, context: LaunchContext<'_>, plan: &Plan) -> Result<(), Failure> {
    sending::preflight::sender(tx, context.engine, context.environment, context.account, &sender(plan), false)
}

/// Returns the content to send: the email's content, with the campaign's own subject and preheader if set.
pub fn content(plan: &Plan, email: ReadyEmail) -> Content {
    let html = match &plan.preheader {
        Some(preheader) => with_preheader(&email.html, &email.preheader, preheader).into_owned(),
        None => email.html.clone(),
    };
    let content = Content::from(ReadyEmail { html, ..email });
    Content { subject: plan.subject.clone().unwrap_or(content.subject), ..content }
}

/// Returns the HTML with the preheader `wanted` in place of the email's preheader `own`. If the HTML does not contain `own`, inserts
/// `wanted` before all content.
fn with_preheader<'h>(html: &'h str, own: &str, wanted: &str) -> Cow<'h, str> {
    // Quotation marks are not escaped, because merge fields can contain them.
    let (own, wanted) = (escaped(own), escaped(wanted));
    if own == wanted {
        return Cow::Borrowed(html);
    }
    let body = html.find("<body").unwrap_or(0);
    if !own.is_empty()
        && let Some(place) = html[body..].find(&own).map(|place| body + place)
    {
        return Cow::Owned(format!("{}{wanted}{}", &html[..place], &html[place + own.len()..]));
    }
    let hidden = format!(
        "<div style=\"display:none;font-size:1px;line-height:1px;max-height:0;max-width:0;opacity:0;overflow:hidden\">{wanted}</div>"
    );
    let opened = html[body..].find('>').filter(|_| html[body..].starts_with("<body")).map_or(0, |end| body + end + 1);
    Cow::Owned(format!("{}{hidden}{}", &html[..opened], &html[opened..]))
}

/// Converts the recipients to the form that a mailing stores.
pub fn to(recipients: Recipients) -> To {
    match recipients {
        Recipients::Everyone => To::Everyone,
        Recipients::Audience(id) | Recipients::Segment(id) => To::Segment(id),
        Recipients::Tag(id) => To::Tag(id),
    }
}

pub fn mailing(
    tx: &impl Read,
    context: LaunchContext<'_>,
    campaign: &Campaign,
    emails: Vec<ReadyEmail>,
    (kind, to): (MailingKind, To),
) -> Result<NewMailing, Failure> {
    let plan = &campaign.plan;
    Ok(NewMailing {
        account: context.account,
        project: Some(campaign.project),
        kind,
        contents: emails.into_iter().map(|email| content(plan, email)).collect(),
        from: Sender { address: plan.from.clone(), name: Some(plan.from_name.clone()), reply_to: plan.reply_to.clone() },
        to,
        transactional: false,
        topic: plan.topic,
        variables: variables(plan),
        tracking: tracking(tx, context, plan)?,
        utm: plan.utm.clone(),
        campaign_name: Some(plan.name.clone()),
        unknown: match plan.unknown {
            Some(Unknown::Hold) => Policy::Hold,
            Some(Unknown::Resend) => Policy::Resend,
            None => context.engine.settings.mail.unknown.into(),
        },
        local: campaign.schedule.as_ref().and_then(Schedule::local_time),
    })
}

/// Returns whether to track opens and clicks, as set for the domain that signs for the sender. If no verified domain signs for the sender,
/// both are tracked.
fn tracking(tx: &impl Read, context: LaunchContext<'_>, plan: &Plan) -> Result<Tracking, Failure> {
    let domain = domains::for_sender(tx, &context.engine.seal, context.account, &sender(plan), Stream::Marketing)?;
    Ok(domain.map_or(Tracking { opens: true, clicks: true }, |domain| Tracking {
        opens: domain.tracking.opens,
        clicks: domain.tracking.clicks,
    }))
}

fn sender(plan: &Plan) -> EmailAddress {
    EmailAddress::stored(&plan.from).expect("only checked addresses are stored")
}

/// Returns the merge variables that all messages of the campaign share.
pub fn variables(plan: &Plan) -> Map<String, serde_json::Value> {
    serde_json::from_str(&plan.variables).expect("`variables` is stored as a JSON object")
}

/// The error codes that starting a campaign can return, in addition to the codes of every operation.
pub const FAILS: &[Code] =
    &[Code::NotFound, Code::WrongState, Code::NotValidated, Code::TransportNotConfigured, Code::DomainNotVerified];

/// Starts sending a campaign. The mailing keeps the current content; its audience is selected when planning starts. The caller has already
/// set the new status.
pub fn start(tx: &mut WriteTx<'_>, context: LaunchContext<'_>, campaign: &mut Campaign) -> Result<(), Failure> {
    let emails = check(tx, context, campaign)?;
    let to = (MailingKind::Campaign(campaign.id), to(campaign.plan.recipients));
    let new = mailing(tx, context, campaign, emails, to)?;
    campaign.mailing = Some(sending::create(tx, new)?);
    campaign.started_at = Some(tx.now());
    campaign.check_at = None;
    campaign.error = None;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_preheader_replaces_the_emails_own() {
        let html =
            "<html><head><title>Tea &amp; cake</title></head><body class=\"x\"><div>Tea &amp; cake</div><p>Tea</p></body></html>";
        let other = with_preheader(html, "Tea & cake", "Only <today>");
        assert_eq!(
            other,
            "<html><head><title>Tea &amp; cake</title></head><body class=\"x\"><div>Only &lt;today&gt;</div><p>Tea</p></body></html>"
        );
        assert_eq!(with_preheader(html, "Tea & cake", "Tea & cake"), html);
    }

    #[test]
    fn html_without_a_preheader_gets_a_hidden_one_at_the_start() {
        let shown = with_preheader("<body class=\"x\"><p>Hi</p></body>", "", "Only {{ name | default(\"you\") }}");
        assert!(shown.starts_with("<body class=\"x\"><div style=\"display:none"), "{shown}");
        assert!(shown.contains(">Only {{ name | default(\"you\") }}</div><p>Hi</p>"), "{shown}");
        assert!(with_preheader("<p>Hi</p>", "", "Now").ends_with(">Now</div><p>Hi</p>"));
    }
}
