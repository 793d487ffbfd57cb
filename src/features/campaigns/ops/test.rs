//! Sends a campaign's email to a few test addresses.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::base::email::EmailAddress;
use crate::engine::api::{Caller, Command, Done, Failure, Operation, Replay, Spec, needs};
use crate::engine::store::WriteTx;
use crate::features::campaigns::launch::{self, LaunchContext};
use crate::features::campaigns::require;
use crate::features::sending::{Address, MailingKind, To, test_send};
use crate::vocab::ids::{CampaignId, MailingId, ProjectId};
use crate::vocab::limits;
use crate::vocab::permissions::Permission;
use crate::vocab::rates::RouteGroup;

pub struct Test;

/// The campaign and the test addresses.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct SendTest {
    /// The campaign's ID.
    pub id: CampaignId,
    /// If given, the campaign must belong to this project.
    pub project_id: Option<ProjectId>,
    /// The test addresses: 1 to 20.
    #[schemars(length(min = 1, max = limits::CAMPAIGN_TEST_ADDRESSES_MAX))]
    pub emails: Vec<EmailAddress>,
}

/// The test send.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct TestSent {
    pub campaign_id: CampaignId,
    /// The ID of the send that delivers the test email.
    pub send_id: MailingId,
    /// The status of the send: always `queued`.
    pub status: &'static str,
    pub emails: Vec<EmailAddress>,
}

impl Operation for Test {
    const SPEC: Spec = Spec::post("campaigns.test", "/v1/campaigns/{id}/test", needs(Permission::CampaignWrite))
        .summary("Send a test email of a campaign")
        .about(
            "Sends the email as it would go out now. Each test address gets the email in the language of the contact with this address. \
             Works in every campaign status. If one of the addresses cannot be emailed, no test is sent, and RECIPIENT_NOT_SENDABLE names \
             the address. Test emails are not counted in the campaign's statistics. Emits email.test.sent for each address.",
        )
        .rate(RouteGroup::Campaigns)
        .replay(Replay::Keyed)
        .fails(test_send::FAILS);
    type Input = SendTest;
    type Output = Done<TestSent>;

    fn example() -> (Value, Self::Output) {
        let emails = vec![EmailAddress::parse("ada@acme.example").expect("the address is valid")];
        let sent = TestSent {
            campaign_id: CampaignId::parse("66f1a2b3d4e5f60718293a60").expect("the sample ID is valid"),
            send_id: MailingId::parse("66f1a2b3d4e5f60718293a61").expect("the sample ID is valid"),
            status: "queued",
            emails,
        };
        (json!({ "id": sent.campaign_id, "emails": sent.emails }), Done(sent))
    }
}

impl Command for Test {
    fn run(tx: &mut WriteTx<'_>, caller: &Caller, input: SendTest) -> Result<Self::Output, Failure> {
        let max = limits::CAMPAIGN_TEST_ADDRESSES_MAX;
        if !(1..=max).contains(&input.emails.len()) {
            return Err(Failure::field("emails", format!("list 1 to {max} addresses; this list has {}", input.emails.len())));
        }
        let campaign = require(tx, caller.account(), input.id, input.project_id)?;
        let context = LaunchContext::of(caller);
        let emails = context.emails(tx, &campaign)?;
        let addresses = input.emails.iter().map(|email| Address { email: email.as_str().to_owned(), name: None }).collect();
        let new = launch::mailing(tx, context, &campaign, emails, (MailingKind::Test, To::Addresses(addresses)))?;
        let send_id = test_send::create_test(tx, caller, new, "emails")?;
        Ok(Done(TestSent { campaign_id: campaign.id, send_id, status: "queued", emails: input.emails }))
    }
}
