//! Checks the links in an email.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};
use tokio::time::Instant;

use crate::base::bounded::Bounded;
use crate::base::text::NOT_BLANK;
use crate::engine::api::{Async, BodySize, Context, Done, Failure, Operation, Spec, needs};
use crate::features::checks::CheckContext;
use crate::features::checks::links::analyze;
use crate::features::checks::links::check::LinkOptions;
use crate::features::checks::links::views::LinkAnalysis;
use crate::features::validation::input;
use crate::vocab::codes::Code;
use crate::vocab::ids::EmailId;
use crate::vocab::limits;
use crate::vocab::permissions::Permission;
use crate::vocab::rates::RouteGroup;

pub struct Links;

/// The email whose links are checked: either `html` or `emailId`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schemars(extend("anyOf" = input::one_source()))]
pub struct CheckLinks {
    /// The email's HTML.
    #[schemars(extend("pattern" = NOT_BLANK))]
    pub html: Option<String>,
    /// The ID of a stored email, instead of `html`.
    pub email_id: Option<EmailId>,
    /// The time limit for each link in milliseconds. The default is 10,000.
    pub timeout: Option<Bounded<{ limits::LINK_CHECK_MS_MIN }, { limits::LINK_CHECK_MS_MAX }>>,
    /// Whether redirects are followed. The default is true. If false, a link that redirects has the status `redirected`, and its target is
    /// not checked.
    pub follow_redirects: Option<bool>,
}

impl Operation for Links {
    const SPEC: Spec = Spec::post("validation.links", "/v1/emails/validate/links", needs(Permission::EmailValidate))
        .summary("Check the links in an email")
        .about(
            "Requests the URLs of the email with HEAD and, if that fails, with GET for one byte. After a server error, or after a pause \
             that the server requests, the GET request is repeated. URLs that could change something, such as an unsubscribe or \
             confirmation link, get only HEAD requests. Requests, including those after redirects, are sent only to public addresses and \
             to networks that the operator has allowed. At most 200 URLs are requested, at most two at the same time per domain. If the \
             check reaches its time limit, the remaining URLs have the status `skipped`, and `metadata.complete` is false. Results are \
             cached for 60 seconds.",
        )
        .rate(RouteGroup::Emails)
        .body(BodySize::Bulk)
        .fails(&[Code::NotFound, Code::WrongState]);
    type Input = CheckLinks;
    type Output = Done<LinkAnalysis>;

    fn example() -> (Value, Self::Output) {
        let html = "<html lang=\"en\"><body><a href=\"https://shop.example.com/spring\">See the spring sale</a></body></html>";
        (json!({ "html": html, "timeout": 5_000, "followRedirects": true }), Done(LinkAnalysis::sample()))
    }
}

impl Async for Links {
    async fn run(context: Context, input: CheckLinks) -> Result<Self::Output, Failure> {
        let start = Instant::now();
        let email = input::load(&context, input.html, input.email_id).await?;
        let each = input.timeout.map_or(limits::LINK_CHECK_TIME, |timeout| std::time::Duration::from_millis(timeout.get()));
        let all = input::time_limit(&context, limits::LINKS_CHECK_TIME).saturating_sub(start.elapsed());
        let options = LinkOptions { follows: input.follow_redirects.unwrap_or(true), each, all };
        analyze(&CheckContext::from(&context), &email, Some(options)).await.map(Done)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::TestApp;
    use crate::testing::site::Site;

    fn app() -> TestApp {
        TestApp::with(|settings| settings.outbound.allow_networks = vec!["127.0.0.0/8".parse().expect("the value is a network")])
    }

    #[test]
    fn links_are_checked_and_reported_with_their_places() {
        let site = Site::start(vec![("/ok", 200, "text/html", b"x".to_vec()), ("/a.png", 200, "image/png", b"x".to_vec())]);
        let url = site.url();
        let html = format!(
            "<p>Hi</p>\n<a href=\"{url}ok\">Shop</a> <a href=\"{url}gone\">Old</a>\n<img src=\"{url}a.png\" alt=x><a href=\"{url}ok\">Shop</a>\
             <a href=\"{{{{ unsubscribe_url }}}}\">Unsubscribe</a>"
        );
        let data = app().post("/v1/emails/validate/links", json!({ "html": html })).data();
        let statuses: Vec<&str> =
            data["checkedLinks"].as_array().expect("a list").iter().map(|one| one["status"].as_str().expect("a word")).collect();
        assert_eq!(statuses, ["ok", "broken", "ok", "skipped"]);
        let first = &data["checkedLinks"][0];
        assert_eq!((&first["count"], &first["occurrences"][1]["line"], &first["text"]), (&json!(2), &json!(3), &json!("Shop")));
        assert_eq!((&data["totalLinks"], &data["totalOccurrences"]), (&json!(4), &json!(5)));
        assert_eq!((&data["summary"]["brokenLinks"], &data["metadata"]["linksChecked"]), (&json!(1), &json!(3)));
        assert_eq!((&data["recommendations"][0], &data["metadata"]["complete"]), (&json!("Repair 1 broken link."), &json!(true)));
        // A broken link is requested twice: with HEAD and with GET.
        assert_eq!(site.asked().iter().filter(|path| path.as_str() == "/gone").count(), 2);
    }

    #[test]
    fn an_input_without_or_with_two_emails_is_refused() {
        let app = TestApp::new();
        for (body, field) in [
            (json!({}), "html: "),
            (json!({ "html": " " }), "html: "),
            (json!({ "html": "<p>", "emailId": "66f1a2b3d4e5f60718293a4e" }), "emailId: "),
            (json!({ "html": "<p>", "timeout": 5 }), "timeout: "),
            (json!({ "html": "<div>".repeat(5_000) }), "html: "),
        ] {
            let answer = app.post("/v1/emails/validate/links", body);
            let (status, code, detail) = answer.refusal();
            assert_eq!((status, code), (400, "INVALID_REQUEST"), "{detail}");
            assert!(detail.starts_with(field), "{detail}");
        }
        let unknown = app.post("/v1/emails/validate/links", json!({ "emailId": "66f1a2b3d4e5f60718293a4e" }));
        assert_eq!(unknown.refusal().1, "RESOURCE_NOT_FOUND");
    }
}
