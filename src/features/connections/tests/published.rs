//! Tests of the check that compares requests with the platforms' API descriptions (`testing/platforms/published.rs`).

use serde_json::{Value, json};

use crate::testing::platforms::PlatformRequest;
use crate::testing::platforms::published::objection;

fn asked(method: &str, target: &str, kind: &str, body: &str) -> PlatformRequest {
    let headers = [("content-type".to_owned(), kind.to_owned())].into();
    PlatformRequest { method: method.into(), target: target.into(), headers, body: body.into() }
}

fn read(target: &str) -> Option<String> {
    objection(&asked("GET", target, "application/json", ""))
}

fn write(method: &str, target: &str, body: &Value) -> Option<String> {
    objection(&asked(method, target, "application/json", &body.to_string()))
}

#[test]
fn a_request_with_an_undescribed_part_is_objected_to() {
    let profiles = "/api/lists/L1/profiles";
    let refused = |said: Option<String>, part: &str| assert!(said.as_deref().is_some_and(|said| said.contains(part)), "{said:?}");
    assert_eq!(read(&format!("{profiles}?page%5Bsize%5D=100&filter=greater-or-equal%28joined_group_at%2C2026%29")), None);
    refused(read("/api/coupons"), "no such call");
    refused(objection(&asked("DELETE", profiles, "", "")), "no such call");
    refused(read(&format!("{profiles}?size=100")), "the parameter size is unknown");
    refused(read(&format!("{profiles}?page%5Bsize%5D=101")), "page[size]=101 is not allowed");
    refused(read(&format!("{profiles}?filter=equals%28updated%2C2026%29")), "is not allowed");
    assert_eq!(read("/3.0/lists/a/segments/7/members?include_cleaned=true&offset=0"), None);
    refused(read("/3.0/lists/a/segments/7/members?include_cleaned=yes"), "include_cleaned=yes");
    assert_eq!(read("/cms/source-code/2026-03/published/metadata/mailmill/emails/a.html"), None, "a path has slashes");
}

#[test]
fn a_body_with_wrong_members_is_objected_to() {
    let refused = |said: Option<String>, part: &str| assert!(said.as_deref().is_some_and(|said| said.contains(part)), "{said:?}");
    let sender = json!({ "title": "a", "subject_line": "b", "from_name": "c", "reply_to": "d@acme.example" });
    let change = |settings: &Value| write("PATCH", "/3.0/campaigns/c1", &json!({ "settings": settings }));
    assert_eq!(change(&sender), None);
    refused(change(&json!({ "title": "a", "subject_line": "b" })), "the member settings.from_name is missing");
    let mut other = sender.clone();
    other["size"] = json!("large");
    refused(change(&other), "the member settings.size is unknown");
    refused(write("POST", "/3.0/campaigns", &json!({ "type": "letter" })), "the value letter of type");
    refused(objection(&asked("POST", "/3.0/campaigns", "text/plain", "{}")), "a body of the type text/plain");
    refused(objection(&asked("POST", "/3.0/campaigns", "application/json", "{")), "not JSON");
    refused(objection(&asked("POST", "/3.0/campaigns", "application/json", "")), "the body is missing");
    let statuses = "/communication-preferences/2026-03/statuses/batch/read";
    assert_eq!(write("POST", &format!("{statuses}?channel=EMAIL"), &json!({ "inputs": ["a@acme.example"] })), None);
    refused(write("POST", statuses, &json!({ "inputs": [] })), "the parameter channel is missing");
    let form = |name: &str| {
        let part =
            format!("--b\r\nContent-Disposition: form-data; name=\"{name}\"; filename=\"a\"\r\n\r\n<a; name=\"x\">\r\n--b--\r\n");
        objection(&asked("PUT", "/cms/source-code/2026-03/published/content/a.html", "multipart/form-data; boundary=b", &part))
    };
    assert_eq!(form("file"), None, "the contents of a part are not read");
    refused(form("text"), "the member text is unknown");
}
