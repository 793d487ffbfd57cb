//! Predicts the folder into which mailbox providers will place an email.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::base::email::EmailAddress;
use crate::base::text::{NOT_BLANK, ShortText};
use crate::engine::api::{Async, BodySize, Context, Done, Failure, Operation, Spec, needs};
use crate::engine::deliverability::message::Input;
use crate::engine::deliverability::result::{Analysis, analyze};
use crate::features::checks::CheckContext;
use crate::features::checks::deliverability::{self, Envelope};
use crate::features::validation::input;
use crate::vocab::codes::Code;
use crate::vocab::ids::EmailId;
use crate::vocab::limits;
use crate::vocab::permissions::Permission;
use crate::vocab::rates::RouteGroup;

pub struct Deliverability;

/// The email to check: either `html` or `emailId`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schemars(extend("anyOf" = input::one_source()))]
pub struct CheckDeliverability {
    /// The email's HTML.
    #[schemars(extend("pattern" = NOT_BLANK))]
    pub html: Option<String>,
    /// The ID of a stored email, instead of `html`.
    pub email_id: Option<EmailId>,
    /// The subject of the email. If absent, the subject of the stored email.
    pub subject: Option<ShortText<{ limits::EMAIL_SUBJECT_CHARACTERS_MAX }>>,
    /// The sender's name.
    pub from_name: Option<ShortText<{ limits::EMAIL_SUBJECT_CHARACTERS_MAX }>>,
    /// The sender's address. The DNS records of its domain are checked. If absent, the default sender of the stored email's project is
    /// used.
    pub from_email: Option<EmailAddress>,
}

impl Operation for Deliverability {
    const SPEC: Spec = Spec::post("validation.deliverability", "/v1/emails/validate/deliverability", needs(Permission::EmailValidate))
        .summary("Predict the deliverability of an email")
        .about(
            "Judges the content with rules, compares its words with those of known mail, and checks the DNS records of the sender's \
             domain within 3 seconds. The content does not show the sender's reputation, which matters most, so `confidence` is at most \
             0.8. If the sender is unknown, `authentication` is absent. Records that could not be looked up in time do not affect the \
             score.",
        )
        .rate(RouteGroup::Emails)
        .body(BodySize::Bulk)
        .fails(&[Code::NotFound, Code::WrongState]);
    type Input = CheckDeliverability;
    type Output = Done<Analysis>;

    fn example() -> (Value, Self::Output) {
        let html = "<html lang=\"en\"><body><p>Our spring sale ends on Friday: 20% off all shoes.</p></body></html>";
        let input = json!({ "html": html, "subject": "Spring sale", "fromName": "Acme", "fromEmail": "news@acme.example" });
        let sample = Input {
            html,
            subject: Some("Spring sale"),
            from_name: Some("Acme"),
            from_email: Some("news@acme.example"),
            ..Input::default()
        };
        (input, Done(analyze(&sample, None)))
    }
}

impl Async for Deliverability {
    async fn run(context: Context, input: CheckDeliverability) -> Result<Self::Output, Failure> {
        let CheckDeliverability { html, email_id, subject, from_name, from_email } = input;
        let email = input::load(&context, html, email_id).await?;
        let envelope = Envelope {
            subject: subject.map(|subject| subject.to_string()),
            from_name: from_name.map(|name| name.to_string()),
            from_email,
        };
        let checked = deliverability::check(&CheckContext::from(&context), &email, envelope).await?;
        let late = || Failure::because(Code::Unavailable, "The deliverability check took too long; try again.").after_seconds(2);
        checked.map(Done).ok_or_else(late)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::TestApp;
    use crate::testing::name_server::NameServer;

    #[test]
    fn spam_and_a_plain_message_get_different_predictions() {
        let app = TestApp::new();
        let ask = |html: &str, subject: &str| {
            app.post("/v1/emails/validate/deliverability", json!({ "html": html, "subject": subject })).data()
        };
        let plain = ask("<p>Hello Ada, our workshop opens at nine on Saturday. See you there!</p>", "Saturday");
        let spam = ask(
            "<p>Dear friend, you have won! Claim your prize, 100% free. Act now!!! Viagra without a prescription.</p>",
            "YOU HAVE WON!!!",
        );
        assert_eq!(spam["prediction"]["category"], "spam");
        assert_ne!(plain["prediction"]["category"], "spam");
        let score = |data: &Value| data["prediction"]["score"].as_f64().expect("a score");
        assert!(
            score(&plain) > score(&spam)
                && plain["prediction"]["confidence"].as_f64().is_some_and(|confidence| confidence <= 0.8)
        );
        assert_eq!((plain.get("authentication"), &plain["metadata"]["analysisType"]), (None, &json!("rules+model")));
    }

    #[test]
    fn records_of_the_sender_are_checked_or_reported_as_not_checked() {
        let names = NameServer::start();
        names.txt("acme.example", "v=spf1 include:relay.example ~all");
        names.txt("relay.example", "v=spf1 ip4:192.0.2.0/24 ~all");
        names.txt("_dmarc.acme.example", "v=DMARC1; p=none; sp=reject");
        let address = names.address;
        let app = TestApp::with(move |settings| settings.mail.dns = Some(address));
        let body = json!({ "html": "<p>Hello Ada, see you on Saturday.</p>", "fromEmail": "news@acme.example" });
        let data = app.post("/v1/emails/validate/deliverability", body.clone()).data();
        let records = &data["authentication"];
        assert_eq!((&records["spf"], &records["spfLookups"], &records["dmarcPolicy"]), (&json!("ok"), &json!(1), &json!("none")));
        assert_eq!((&records["mx"], &data["metadata"]["analysisType"]), (&json!("missing"), &json!("rules+model+dns")));
        // A wildcard record is not a DMARC record, so the organizational domain's policy for subdomains applies.
        names.txt("_dmarc.news.acme.example", "v=spf1 -all");
        let below = json!({ "html": "<p>Hello Ada, see you on Saturday.</p>", "fromEmail": "ada@news.acme.example" });
        let data = app.post("/v1/emails/validate/deliverability", below).data();
        assert_eq!(data["authentication"]["dmarcPolicy"], "reject");
        names.fail(true);
        let other = json!({ "html": "<p>Hello Ada, see you on Saturday.</p>", "fromEmail": "news@other.example" });
        let data = app.post("/v1/emails/validate/deliverability", other).data();
        let records = &data["authentication"];
        for record in ["spf", "dkim", "dmarc", "mx", "bimi"] {
            assert_eq!(records[record], "not checked", "{record}: {records}");
        }
        assert_eq!((&records["problems"], &data["metadata"]["analysisType"]), (&json!([]), &json!("rules+model")));
        let wrong = json!({ "html": "<p>", "fromEmail": "nowhere" });
        assert_eq!(app.post("/v1/emails/validate/deliverability", wrong).refusal().0, 400);
    }
}
