//! Tests of the findings about links, with an email for each rule.

use super::super::findings::findings;
use super::*;

const UNSUBSCRIBE: &str = "<a href=\"{{ unsubscribe_url }}\">Unsubscribe</a>";
/// When the test certificate expires: at the start of 2090.
const EXPIRY: Timestamp = Timestamp(3_786_912_000_000);

/// Returns the rules that an email breaks. Sends no requests.
fn broken(html: &str) -> Vec<&'static str> {
    let links = inspect(html).expect("the HTML is small enough").links;
    let (fetch, probes) = (fetch(names(), Vec::new()), LinkProbes::default());
    let checker = LinkChecker { fetch: &fetch, probes: &probes, base: "https://mail.example.com", now: START };
    findings(&links, &checker.read(&links).urls, START).iter().map(|finding| finding.rule.id()).collect()
}

#[test]
fn each_rule_about_urls_and_texts_finds_what_breaks_it() {
    let long = format!("<a href=\"https://a.example/{}\">Shop</a>", "x".repeat(2_000));
    let partial = "<a href=\"https://a.example/1?utm_source=n&amp;utm_campaign=s\">One</a>\
                   <a href=\"https://a.example/2?utm_source=n\">Two</a>";
    for (content, rule) in [
        ("<a href=\"https://evil.example.net/\">www.acme.com</a>", "visible_url_differs"),
        ("<a href=\"#missing\">Go</a>", "anchor_target_missing"),
        ("<p id=top>x</p><a href=\"#top\">Up</a>", "anchor_support"),
        ("<a href=\"https://bit.ly/x\">Shop</a>", "shortener"),
        ("<a href=\"https://192.0.2.1/\">Shop</a>", "ip_host"),
        ("<a href=\"https://xn--mnchen-3ya.example/\">Shop</a>", "punycode_host"),
        ("<a href=\"http://a.example/\">Shop</a>", "insecure_http"),
        ("<a href=\"https://a.example/\"><img src=\"https://a.example/a.png\"></a>", "linked_image_without_alt"),
        ("<a href=\"https://a.example/1\">Shop</a><a href=\"https://a.example/2\">Shop</a>", "same_text_different_target"),
        ("<a href=\"https://a.example/1?utm_source=n\">One</a><a href=\"https://a.example/2\">Two</a>", "utm_missing"),
        (partial, "utm_missing"),
        ("<a href=\"https://a.example/?utm_source=n&amp;utm_source=m\">One</a>", "utm_duplicate"),
        (long.as_str(), "link_too_long"),
    ] {
        assert_eq!(broken(&format!("{content}{UNSUBSCRIBE}")), [rule], "{content}");
    }
    let sound = "<a href=\"https://shop.acme.com/?utm_source=n\">www.acme.com</a><a href=\"https://b.example/\">Our partner</a>\
                 <a href=\"https://acme.com/?utm_source=n&amp;utm_content=footer\">Shop</a>";
    assert_eq!(broken(&format!("{sound}{UNSUBSCRIBE}")), [""; 0]);
    assert_eq!(broken(sound), ["unsubscribe_missing"]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn each_rule_about_responses_finds_what_breaks_it() {
    let tasks = Tasks::new(Handle::current());
    let server = Arc::new(Misbehaving::default());
    let port = serve(&tasks, server.clone(), None, "127.0.0.1:0").await.port();
    let (root, tls) = certificate("good.test", 2025..2090);
    let secure = serve(&tasks, server, Some(tls), "127.0.0.1:0").await.port();
    let (fetch, probes) = (fetch(names(), vec![root]), LinkProbes::default());
    let site = format!("https://good.test:{secure}");
    let late = Timestamp(EXPIRY.0 - 5 * 24 * 60 * 60 * 1000);
    for (content, now, rule) in [
        (format!("<img src=\"{site}/soft404\" alt=Shoes>"), START, "not_an_image"),
        (format!("<img src=\"{site}/large\" alt=Shoes>"), START, "image_too_large"),
        (format!("<a href=\"{site}/moved\">Shop</a>"), START, "permanent_redirect"),
        (format!("<a href=\"{site}/to-plain/-{port}\">Shop</a>"), START, "insecure_redirect"),
        (format!("<a href=\"{site}/200\">Shop</a>"), late, "certificate_expires"),
    ] {
        let links = inspect(&format!("{content}{UNSUBSCRIBE}")).expect("the HTML is small enough").links;
        let checker = LinkChecker { fetch: &fetch, probes: &probes, base: "https://mail.example.com", now };
        let options = LinkOptions { follows: true, each: EACH, all: Duration::from_secs(20) };
        let found = findings(&links, &checker.check(&links, options).await.urls, now);
        let rules: Vec<&str> = found.iter().map(|finding| finding.rule.id()).collect();
        assert_eq!(rules, [rule], "{content}");
        if rule == "certificate_expires" {
            assert_eq!(found[0].message, "The certificate of good.test expires in 5 days.");
        }
    }
}
