//! Previews with the service as shipped: confined worker processes draw the devices, also across `kill -9`.

use std::collections::HashMap;
use std::io::{Read, Write};
use std::net::TcpListener;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use http::StatusCode;
use serde_json::{Value, json};

use super::sites;
use super::support::client::Call;
use super::support::fixtures::until;
use super::support::{Client, Server, operation};

/// Starts a site that serves images: a dark image on a transparent background for paths with `dark`, otherwise a red one. Returns
/// its address, and the number of requests.
fn images() -> (String, Arc<AtomicUsize>) {
    let png = |picture: image::DynamicImage| {
        let mut out = std::io::Cursor::new(Vec::new());
        picture.write_to(&mut out, image::ImageFormat::Png).expect("a picture");
        out.into_inner()
    };
    let red = png(image::RgbImage::from_pixel(300, 100, image::Rgb([255, 0, 0])).into());
    let logo = |x: u32, _| if x % 10 < 3 { image::Rgba([10, 10, 10, 255]) } else { image::Rgba([0; 4]) };
    let dark = png(image::RgbaImage::from_fn(120, 40, logo).into());
    let listener = TcpListener::bind("127.0.0.1:0").expect("loopback");
    let address = listener.local_addr().expect("bound");
    let requests = Arc::new(AtomicUsize::new(0));
    let count = requests.clone();
    let serve = move || {
        for mut stream in listener.incoming().flatten() {
            count.fetch_add(1, Ordering::Relaxed);
            let mut head = [0; 2048];
            let length = stream.read(&mut head).unwrap_or_default();
            let is_dark = String::from_utf8_lossy(&head[..length]).split(' ').nth(1).is_some_and(|path| path.contains("dark"));
            let file = if is_dark { &dark } else { &red };
            let head = format!("HTTP/1.1 200 OK\r\ncontent-type: image/png\r\ncontent-length: {}\r\n\r\n", file.len());
            let _ = stream.write_all(&[head.as_bytes(), file].concat());
        }
    };
    std::thread::Builder::new().name("images".into()).spawn(serve).expect("a thread");
    (format!("http://{address}"), requests)
}

fn email(images: &str, paragraphs: usize) -> String {
    let text =
        "<p style=\"border-radius:4px\">Twenty words are enough for an email that its readers understand without any images.</p>";
    format!(
        "<html lang=en><body><img src=\"{images}/a.png\" width=300 height=100 alt=Red>{}</body></html>",
        text.repeat(paragraphs)
    )
}

async fn finished(client: &Client, preview: &Value) -> Value {
    let id = &preview["previewId"];
    until(async || {
        let status = client.data("previews.status", json!({ "previewId": id })).await;
        (status["status"] != "PROCESSING").then_some(())
    })
    .await;
    client.data("previews.get", json!({ "previewId": id })).await
}

async fn picture(client: &Client, url: &Value) -> image::RgbImage {
    let url: http::Uri = url.as_str().expect("a link").parse().expect("a URL");
    let (file, token) =
        (url.path().rsplit('/').next().expect("an ID"), url.query().expect("a token").trim_start_matches("token="));
    // The content type of a file is not in any declaration.
    let call = Call::new(operation("system.file"), json!({ "fileId": file, "token": token }));
    let reply = client.try_send(call).await.expect("the server answers");
    image::load_from_memory(&reply.bytes).expect("a picture").into_rgb8()
}

fn red_pixels(picture: &image::RgbImage) -> usize {
    picture.pixels().filter(|pixel| pixel.0 == [255, 0, 0]).count()
}

#[tokio::test]
async fn the_shipped_service_draws_devices_and_fetches_each_image_once() {
    let server = Server::start(&sites::settings());
    let client = server.client("test", "email:preview");
    let (images, requests) = images();
    let html = email(&images, 3);
    let made = client.data("previews.create", json!({ "html": html })).await;
    assert_eq!(made["devices"].as_array().map(Vec::len), Some(10));
    let done = finished(&client, &made).await;
    assert_eq!((&done["status"], &done["metadata"]["completedDevices"]), (&json!("COMPLETED"), &json!(10)), "{done}");
    assert_eq!(requests.load(Ordering::Relaxed), 1, "the devices share the image");
    let devices: HashMap<&str, &Value> =
        done["devices"].as_array().expect("a list").iter().map(|one| (one["deviceKey"].as_str().expect("a key"), one)).collect();
    for (key, device) in &devices {
        assert!(red_pixels(&picture(&client, &device["screenshotUrl"]).await) >= 300 * 100, "{key}");
    }
    assert_eq!(devices["outlook.windows"]["cuts"][0]["slug"], "css-border-radius");
    let blocked = client.data("previews.create", json!({ "html": html, "devices": ["gmail.desktop-webmail.no-images"] })).await;
    let blocked = finished(&client, &blocked).await;
    assert_eq!(red_pixels(&picture(&client, &blocked["devices"][0]["screenshotUrl"]).await), 0);
    let again = client.data("previews.create", json!({ "html": html })).await;
    assert_eq!((&again["cached"], &again["status"]), (&json!(true), &json!("COMPLETED")));
    assert_eq!(requests.load(Ordering::Relaxed), 1);
}

#[tokio::test]
async fn a_dark_logo_is_reported_in_dark_mode_only() {
    let server = Server::start(&sites::settings());
    let client = server.client("test", "email:preview");
    let (images, _) = images();
    let html = format!(
        "<body style=\"background:#ffffff\"><img src=\"{images}/dark.png\" alt=Logo><img src=\"{images}/red.png\" alt=Red>"
    );
    let devices = ["gmail.android", "gmail.android.dark"];
    let made = client.data("previews.create", json!({ "html": html, "devices": devices })).await;
    let done = finished(&client, &made).await;
    assert_eq!(done["devices"][0]["notes"], json!([]));
    let note = &done["devices"][1]["notes"][0];
    assert!(
        note["rule"] == "dark_image" && note["message"].as_str().is_some_and(|text| text.contains("/dark.png is dark")),
        "{note}"
    );
}

/// The server is killed while devices are drawn, several times. Afterward, the preview has all devices, and those that were drawn before
/// are not drawn again.
#[tokio::test]
async fn a_preview_continues_after_kill_9() {
    let mut server = Server::start(&sites::settings());
    let key = server.key("test", "email:preview");
    let client = Client::new(server.address(), Some(key.clone()));
    let (images, _) = images();
    let supported = client.data("previews.devices", json!({})).await;
    let keys: Vec<&Value> = supported["devices"].as_array().expect("a list").iter().map(|device| &device["key"]).collect();
    let made = client.data("previews.create", json!({ "html": email(&images, 60), "devices": keys })).await;
    let read = async |client: &Client| client.data("previews.get", json!({ "previewId": made["previewId"] })).await;
    let drawn = |preview: &Value| -> HashMap<String, Value> {
        let devices = preview["devices"].as_array().expect("a list").iter().filter(|device| device["status"] == "SUCCESSFUL");
        devices.map(|device| (device["deviceKey"].to_string(), device["processingTime"].clone())).collect()
    };
    let mut client = client;
    let mut before = HashMap::new();
    for _ in 0..2 {
        let known = before.len();
        before = until(async || Some(drawn(&read(&client).await)).filter(|drawn| drawn.len() > known)).await;
        server.kill();
        assert!(before.len() < keys.len(), "the server was killed while devices were waiting");
        server.serve();
        client = Client::new(server.address(), Some(key.clone()));
        let after = drawn(&read(&client).await);
        assert!(before.iter().all(|(key, time)| after.get(key) == Some(time)), "a stored device is lost");
    }
    let done = finished(&client, &made).await;
    assert_eq!((&done["status"], drawn(&done).len()), (&json!("COMPLETED"), keys.len()), "{}", done["metadata"]);
    assert!(before.iter().all(|(key, time)| drawn(&done).get(key) == Some(time)), "a stored device was drawn again");
}

#[tokio::test]
async fn hostile_emails_fail_or_are_drawn_and_the_service_stays_up() {
    let server = Server::start(&sites::settings());
    let client = server.client("test", "email:preview");
    let hostile = [
        "<div>".repeat(100_000),
        format!("<style>{}</style>", "@media screen{".repeat(50_000)),
        "<![CDATA[<!--[if mso]>".repeat(20_000),
        format!("<v:rect style=\"{}\"><v:fill src=x>", "width:9px;".repeat(20_000)),
        "<!--[if mso]><v:roundrect arcsize='9e9%' style='width:9e9px'>x</v:roundrect><![endif]-->".repeat(2_000),
        "<table><b>".repeat(20_000),
    ];
    for html in hostile {
        let start: String = html.chars().take(40).collect();
        let devices = ["outlook.windows.dark", "gmail.android.dark", "gmail.desktop-webmail.no-images", "plain.text"];
        let reply = client.call("previews.create", json!({ "html": html, "devices": devices })).await;
        assert_eq!(reply.status, StatusCode::CREATED, "{start}");
        let done = tokio::time::timeout(Duration::from_secs(300), finished(&client, &reply.json()["data"])).await;
        let done = done.unwrap_or_else(|_| panic!("{start}… is not finished"));
        for device in done["devices"].as_array().expect("a list") {
            assert!(device["status"] == "SUCCESSFUL" || device["error"].is_string(), "{start}: {device}");
        }
    }
    let sound = client.data("previews.create", json!({ "html": "<p>Hello", "devices": ["gmail.ios"] })).await;
    assert_eq!(finished(&client, &sound).await["status"], "COMPLETED");
}
