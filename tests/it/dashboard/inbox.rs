//! Tests the built-in inbox as users see it.

use serde_json::{Value, json};

use crate::delivery::until;
use crate::peers::verify;
use crate::support::browser::Browser;
use crate::support::name_server::NameServer;
use crate::support::server::BOUNDLESS;
use crate::users::owned;

const EVIL: &str = "<script>alert(1)</script>\"'><img src=x onerror=alert(1)>";

fn send(from: &str, to: &str, subject: &str) -> Value {
    let template = "<!doctype html><html><head><title>x</title></head><body><p>Hello</p>\
                    <p><a href=\"https://shop.example/spring\">Shop</a></p><script>alert(1)</script></body></html>";
    json!({
        "recipientType": "email", "recipientEmail": to, "from": from, "fromName": "Acme", "subject": subject, "template": template,
        "transactional": true,
    })
}

#[tokio::test(flavor = "multi_thread")]
async fn messages_are_found_shown_in_a_sandboxed_frame_and_deleted() {
    let names = NameServer::start();
    let server = owned(&format!("{BOUNDLESS}\n[mail]\ndns = \"{}\"\n", names.address));
    let client = server.client("test", "all");
    verify(&client, &names, "acme.example").await;
    let mut browser = Browser::new(&server);
    browser.sign_in("/test/inbox").await;
    let empty = browser.get("/test/inbox").await;
    assert!(empty.status == 200 && empty.text.contains("No messages yet") && empty.text.contains("curl "), "{}", empty.text);

    for (from, to, subject) in
        [("hello@acme.example", "ada@example.com", "Spring & more"), ("hello@other.example", "grace@example.com", EVIL)]
    {
        client.data("sending.send", send(from, to, subject)).await;
    }
    let listed = async || client.data("sending.inbox_list", json!({})).await;
    until(async || listed().await["total"] == 2).await;

    let list = browser.get("/test/inbox").await;
    assert!(list.text.contains("Spring &amp; more") && list.text.contains("&lt;script&gt;alert(1)"), "{}", list.text);
    assert!(!list.text.contains("<img src=x"), "{}", list.text);
    let found = browser.get("/test/inbox?search=ADA%40").await;
    assert!(found.text.contains("Spring &amp; more") && !found.text.contains("grace@"), "{}", found.text);
    assert!(browser.get("/test/inbox?search=unknown").await.text.contains("No messages found for “unknown”"));
    assert!(browser.get("/live/inbox").await.text.contains("No messages yet"));

    let all = listed().await;
    let id = |to: &str| {
        let message = all["messages"].as_array().expect("a list").iter().find(|message| message["to"] == to);
        message.expect("it is there")["id"].as_str().expect("an id").to_owned()
    };
    let path = format!("/test/inbox/{}", id("ada@example.com"));
    let page = browser.get(&path).await;
    assert!(page.text.contains("<iframe class=\"mail\"") && page.text.contains("sandbox=\"allow-popups"), "{}", page.text);
    assert!(!page.text.contains("shop.example"), "untrusted content is in the frame only");
    assert_eq!(page.text.matches("tag good\">pass").count(), 2, "both signatures are valid: {}", page.text);
    assert!(page.text.contains("rsa-sha256") && page.text.contains("ed25519-sha256"), "{}", page.text);
    let frame = browser.get(&format!("{path}/mail")).await;
    let policy = frame.headers["content-security-policy"].to_str().expect("ASCII");
    assert!(policy.starts_with("sandbox allow-popups ") && policy.contains("default-src 'none'"), "{policy}");
    assert!(!policy.contains("allow-scripts") && !policy.contains("allow-same-origin"), "{policy}");
    assert!(frame.text.contains("<base target=\"_blank\">") && frame.text.contains("Hello"), "{}", frame.text);
    assert!(browser.get(&format!("{path}?view=text")).await.text.contains("Hello"));
    assert!(browser.get(&format!("{path}?view=headers")).await.text.contains("List-Unsubscribe"), "all headers are listed");
    let source = browser.get(&format!("{path}/source")).await;
    assert!(
        source.headers["content-disposition"].to_str().expect("ASCII").starts_with("attachment") && source.text.contains("DKIM-")
    );
    let unsigned = browser.get(&format!("/test/inbox/{}", id("grace@example.com"))).await;
    assert!(
        unsigned.text.contains("wasn't a verified sending domain") && !unsigned.text.contains("<script>alert"),
        "{}",
        unsigned.text
    );
    assert_eq!(browser.get(&path.replace("/test/", "/live/")).await.status, 404, "it is in the other environment");

    let csrf = page.csrf().to_owned();
    assert_eq!(browser.post(&path, &[("csrf", &csrf), ("act", "delete")]).await.location(), "/test/inbox?done=deleted");
    assert_eq!(browser.get(&path).await.status, 404);
}

/// A remote image reveals to its server who opens the email, when and from where.
#[tokio::test(flavor = "multi_thread")]
async fn remote_images_load_after_a_click_and_through_the_service() {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("loopback");
    let host = listener.local_addr().expect("bound");
    let mut picture = std::io::Cursor::new(Vec::new());
    image::RgbImage::new(3, 2).write_to(&mut picture, image::ImageFormat::Png).expect("memory");
    let picture = picture.into_inner();
    let asked = std::sync::Arc::new(std::sync::Mutex::new(Vec::new()));
    let (seen, body) = (asked.clone(), picture.clone());
    let answer = move || {
        for mut stream in listener.incoming().flatten() {
            let mut head = [0; 4096];
            let count = std::io::Read::read(&mut stream, &mut head).unwrap_or(0);
            seen.lock().expect("whole").push(String::from_utf8_lossy(&head[..count]).into_owned());
            let head = format!(
                "HTTP/1.1 200 OK\r\ncontent-type: text/html\r\ncontent-length: {}\r\nconnection: close\r\n\r\n",
                body.len()
            );
            let _ = std::io::Write::write_all(&mut stream, &[head.as_bytes(), &body].concat());
        }
    };
    std::thread::Builder::new().name("image host".into()).spawn(answer).expect("a thread");

    let server = owned(&crate::sites::settings());
    let client = server.client("test", "all");
    let mut email = send("hello@acme.example", "ada@example.com", "Spring");
    email["template"] = format!("<p>Hello<img src=\"http://{host}/open.png?who=ada&amp;when=now\"></p>").into();
    client.data("sending.send", email).await;
    until(async || client.data("sending.inbox_list", json!({})).await["total"] == 1).await;
    let all = client.data("sending.inbox_list", json!({})).await;
    let path = format!("/test/inbox/{}", all["messages"][0]["id"].as_str().expect("an id"));

    let mut browser = Browser::new(&server);
    browser.sign_in(&path).await;
    let page = browser.get(&path).await;
    assert!(page.text.contains("Remote images aren't loaded."), "{}", page.text);
    assert!(page.text.contains(&format!("href=\"{path}?view=mail&amp;images=yes\"")), "{}", page.text);
    let frame = browser.get(&format!("{path}/mail")).await;
    let policy = frame.headers["content-security-policy"].to_str().expect("ASCII");
    let images = policy.split("img-src ").nth(1).and_then(|rest| rest.split(';').next()).expect("a rule for images");
    assert_eq!(images, format!("http://{}/v1/images/ data:", server.address()), "no other server's images load: {policy}");
    assert!(policy.contains("font-src data:;"), "{policy}");
    assert!(asked.lock().expect("whole").is_empty());

    let page = browser.get(&format!("{path}?images=yes")).await;
    assert!(page.text.contains(&format!("src=\"{path}/mail?images=yes\"")), "{}", page.text);
    let frame = browser.get(&format!("{path}/mail?images=yes")).await;
    assert!(!frame.text.contains(&format!("\"http://{host}")), "{}", frame.text);
    let link = frame.text.split("<img src=\"").nth(1).and_then(|rest| rest.split('"').next()).expect("an image");
    let link = link.strip_prefix(&format!("http://{}", server.address())).expect("ours");
    // Request the image without a cookie, as a frame does.
    let mut anonymous = Browser::new(&server);
    let image = anonymous.get(link).await;
    assert_eq!((image.status, image.headers["content-type"].to_str().expect("ASCII")), (200, "image/png"));
    let forged = link.replace("who%3Dada", "who%3Deve");
    assert!(forged != link && anonymous.get(&forged).await.status == 404, "{forged}");
    let asked = asked.lock().expect("whole");
    assert!(asked.len() == 1 && asked[0].starts_with("GET /open.png?who=ada&when=now "), "{asked:?}");
    assert!(!asked[0].to_ascii_lowercase().contains("cookie") && !asked[0].to_ascii_lowercase().contains("referer"), "{asked:?}");
}
