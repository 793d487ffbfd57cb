//! The set-up page in its three states, without scripts or external resources, and with a policy that forbids both.

use std::sync::LazyLock;

use crate::base::random::Random;
use crate::engine::api::http_types::{Reply, ReplyBody};
use crate::engine::render::Pages;
use crate::vocab::limits::{PASSWORD_CHARACTERS_MAX, PASSWORD_CHARACTERS_MIN};
use data_encoding::HEXLOWER;
use http::StatusCode;
use http::header::{CACHE_CONTROL, CONTENT_LENGTH, CONTENT_SECURITY_POLICY, CONTENT_TYPE, HeaderMap, HeaderValue};
use serde::Serialize;

const SETUP: &str = "setup.html";

static PAGES: LazyLock<Pages> = LazyLock::new(|| {
    Pages::new(&[
        ("page.html", include_str!("../../../assets/dashboard/page.html")),
        ("page.css", include_str!("../../../assets/dashboard/page.css")),
        (SETUP, include_str!("../../../assets/dashboard/setup.html")),
    ])
});

/// The entered values and their errors.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Form {
    pub email: String,
    pub email_error: Option<String>,
    pub password_error: Option<String>,
}

/// The states of the page.
#[derive(Serialize)]
#[serde(tag = "state", rename_all = "lowercase")]
pub enum Page {
    /// The form, empty or with errors.
    Form(Form),
    /// The owner was created.
    Done { email: String },
    /// The link does not work (any more).
    Gone,
}

#[derive(Serialize)]
struct Context<'a> {
    /// The CSP nonce that allows the page's own style and no other.
    nonce: &'a str,
    password_min: usize,
    password_max: usize,
    #[serde(flatten)]
    page: &'a Page,
}

impl Page {
    /// Returns the page as a response.
    pub fn reply(&self, random: &dyn Random) -> Reply {
        let nonce = HEXLOWER.encode(&random.bytes::<16>());
        let body = self.draw(&nonce);
        let policy =
            format!("default-src 'none'; style-src 'nonce-{nonce}'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'");
        let mut headers = HeaderMap::with_capacity(4);
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("text/html; charset=utf-8"));
        headers.insert(CONTENT_LENGTH, HeaderValue::from(body.len()));
        headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
        headers.insert(CONTENT_SECURITY_POLICY, HeaderValue::from_str(&policy).expect("the policy is ASCII"));
        Reply { status: self.status(), headers, body: ReplyBody::Whole(body.into()) }
    }

    fn draw(&self, nonce: &str) -> String {
        let context = Context { nonce, password_min: PASSWORD_CHARACTERS_MIN, password_max: PASSWORD_CHARACTERS_MAX, page: self };
        PAGES.draw(SETUP, &context)
    }

    fn status(&self) -> StatusCode {
        match self {
            Page::Form(Form { email_error: None, password_error: None, .. }) => StatusCode::OK,
            Page::Form(_) => StatusCode::BAD_REQUEST,
            Page::Done { .. } => StatusCode::OK,
            Page::Gone => StatusCode::NOT_FOUND,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::random::SeededRandom;

    fn samples() -> [Page; 4] {
        let wrong = Form {
            email: "\"><script>".into(),
            email_error: Some("The email is wrong.".into()),
            password_error: Some("The password is too short.".into()),
        };
        [Page::Form(Form::default()), Page::Form(wrong), Page::Done { email: "ada@example.com".into() }, Page::Gone]
    }

    #[test]
    fn every_state_has_its_status_and_no_script() {
        let statuses = samples().map(|page| {
            let drawn = page.draw("abc");
            assert!(!drawn.contains("<script") && drawn.contains("<style nonce=\"abc\">"), "{drawn}");
            assert!(!drawn.contains("//") && !drawn.contains("style=\""), "no external resources, no styles besides the sheet");
            page.status().as_u16()
        });
        assert_eq!(statuses, [200, 400, 200, 404]);
    }

    #[test]
    fn an_invalid_form_keeps_the_email_and_links_each_message_to_its_field() {
        let drawn = samples()[1].draw("abc");
        assert!(drawn.contains("value=\"&quot;&gt;&lt;script&gt;\""), "{drawn}");
        assert!(drawn.contains("id=\"email-error\"") && drawn.contains("aria-describedby=\"email-error\""), "{drawn}");
    }

    #[test]
    fn the_policy_allows_only_the_style_of_this_response() {
        let random = SeededRandom::new(1);
        let policies = [Page::Gone.reply(&random), Page::Gone.reply(&random)].map(|reply| {
            let policy = reply.headers[CONTENT_SECURITY_POLICY].to_str().expect("ASCII").to_owned();
            assert!(policy.starts_with("default-src 'none'; style-src 'nonce-"), "{policy}");
            policy
        });
        assert_ne!(policies[0], policies[1]);
    }
}
