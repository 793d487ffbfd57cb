//! Measures the accuracy of brand imports field by field, with websites of different kinds that are served on loopback.
//!
//! The websites are in `sites/`. The `site.json` of each contains its server's behavior, and the facts that a person reads on its
//! pages. `cargo test --test it sites -- --nocapture` prints the table.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{Cursor, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use flate2::Compression;
use flate2::write::GzEncoder;
use image::{ImageFormat, Rgba, RgbaImage};
use serde_json::{Value, json};

use super::support::server::BOUNDLESS;
use super::support::{Client, Server};

const SITES: [&str; 10] = ["shop", "saas", "cafe", "newspaper", "spa", "carpenter", "bakery", "outfitter", "clinic", "studio"];
/// Websites in the styles of the most common systems: Shopify, WooCommerce, Tailwind without structured data, Squarespace, and a
/// restaurant's pages written by hand.
const STYLES: [&str; 5] = ["pottery", "wool", "timebook", "florist", "osteria"];
/// The fields that are checked on [`STYLES`] in addition.
const MORE_FIELDS: [&str; 4] = ["list prices", "hero", "web fonts", "noise"];
const FIELDS: [&str; 30] = [
    "name",
    "tagline",
    "description",
    "languages",
    "logo",
    "favicon",
    "background",
    "text",
    "primary",
    "accent",
    "button",
    "button text",
    "heading font",
    "body font",
    "corners",
    "products",
    "images",
    "alternative text",
    "social",
    "company",
    "address",
    "email",
    "phone",
    "person",
    "formality",
    "emoji",
    "recurring words",
    "knowledge",
    "notes",
    "status",
];
const LOOK: Duration = Duration::from_millis(50);
const PATIENCE: Duration = Duration::from_secs(600);

/// Settings that allow imports from this machine.
pub fn settings() -> String {
    format!("{BOUNDLESS}\n[outbound]\nallow_networks = [\"127.0.0.0/8\"]\n")
}

/// A website's folder, and its `site.json`.
struct Site {
    folder: PathBuf,
    about: Value,
    origin: String,
}

/// Serves a website on a free port until the tests end.
pub fn serve(name: &str) -> (SocketAddr, Value) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/sites").join(name);
    let about = std::fs::read_to_string(folder.join("site.json")).unwrap_or_else(|error| panic!("{name}: {error}"));
    let about: Value = serde_json::from_str(&about).unwrap_or_else(|error| panic!("{name}/site.json: {error}"));
    let listener = TcpListener::bind("127.0.0.1:0").expect("loopback");
    let address = listener.local_addr().expect("bound");
    let site = Arc::new(Site { folder, about: about.clone(), origin: format!("http://{address}") });
    let accept = move || {
        for stream in listener.incoming().flatten() {
            let site = site.clone();
            // The thread ends when its connection ends, at the latest with the process.
            let _ = std::thread::Builder::new().name("site".into()).spawn(move || drop(talk(&site, stream)));
        }
    };
    std::thread::Builder::new().name(format!("site {name}")).spawn(accept).expect("a thread");
    (address, about)
}

fn talk(site: &Site, mut stream: TcpStream) -> std::io::Result<()> {
    let mut head = Vec::new();
    let mut buffer = [0; 4096];
    while !head.windows(4).any(|end| end == b"\r\n\r\n") {
        let count = stream.read(&mut buffer)?;
        if count == 0 {
            return Ok(());
        }
        head.extend_from_slice(&buffer[..count]);
    }
    let head = String::from_utf8_lossy(&head).into_owned();
    let target = head.split(' ').nth(1).unwrap_or("/");
    let path = target.split('?').next().unwrap_or("/");
    let (status, content_type, body) = answer(site, path);
    write!(
        stream,
        "HTTP/1.1 {status}\r\ncontent-type: {content_type}\r\ncontent-length: {}\r\nconnection: close\r\n\r\n",
        body.len()
    )?;
    stream.write_all(&body)
}

fn answer(site: &Site, path: &str) -> (&'static str, String, Vec<u8>) {
    if let Some(picture) = site.about["pictures"].get(path) {
        return ("200 OK", "image/*".into(), draw(picture, path));
    }
    let relative = path.trim_start_matches('/');
    let file = site.folder.join(relative);
    let candidates = [file.clone(), file.join("index.html"), site.folder.join(relative.trim_end_matches(".gz"))];
    let found = candidates.iter().find(|file| file.is_file() && !file.ends_with("site.json"));
    let everything = site.about["everything"].as_str().map(|file| site.folder.join(file)).filter(|_| !path.ends_with(".ico"));
    let forbidden = path == "/robots.txt" && site.about["no robots"] == true;
    let Some(file) = found.cloned().or(everything).filter(|_| !forbidden) else {
        return ("404 Not Found", "text/html".into(), b"<h1>Not found</h1>".to_vec());
    };
    let text = std::fs::read_to_string(&file)
        .expect("a file of text")
        .replace("{{origin}}", &site.origin)
        .replace("{{host}}", site.origin.trim_start_matches("http://"));
    let charset = site.about["charset"].as_str().unwrap_or("utf-8");
    let encoding = encoding_rs::Encoding::for_label(charset.as_bytes()).expect("a charset");
    let mut body = encoding.encode(&text).0.into_owned();
    if path.ends_with(".gz") {
        let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
        encoder.write_all(&body).expect("memory");
        body = encoder.finish().expect("memory");
    }
    let content_type = match file.extension().and_then(|end| end.to_str()).unwrap_or_default() {
        "html" => "text/html",
        "css" => "text/css",
        "js" => "text/javascript",
        "svg" => "image/svg+xml",
        "xml" => "application/xml",
        "webmanifest" => "application/manifest+json",
        _ => "text/plain",
    };
    ("200 OK", content_type.into(), body)
}

/// Returns a picture of this size and color. If `clear` is set, the picture is transparent between its bars.
fn draw(picture: &Value, path: &str) -> Vec<u8> {
    let side = |place: usize| picture["size"][place].as_u64().expect("a side") as u32;
    let color: mailmill::base::text::Color = picture["color"].as_str().expect("a color").parse().expect("a color");
    let is_clear = picture["clear"] == true;
    let paint = |x: u32, _: u32| {
        let alpha = if is_clear && (x / 4).is_multiple_of(2) { 0 } else { 255 };
        Rgba([color.red, color.green, color.blue, alpha])
    };
    let drawn = RgbaImage::from_fn(side(0), side(1), paint);
    let mut bytes = Cursor::new(Vec::new());
    let end = path.rsplit('.').next().unwrap_or_default();
    let format = ImageFormat::from_extension(end).expect("a format");
    let drawn = image::DynamicImage::ImageRgba8(drawn);
    let drawn = if format == ImageFormat::Jpeg { drawn.to_rgb8().into() } else { drawn };
    drawn.write_to(&mut bytes, format).expect("memory");
    bytes.into_inner()
}

/// Imports `urls` and waits for the end; returns the state of the import.
pub async fn import(client: &Client, input: Value) -> (String, Value) {
    let project = client.data("projects.import", input).await["projectId"].as_str().expect("an id").to_owned();
    let ended = async {
        loop {
            let state = client.data("projects.import_status", json!({ "projectId": project })).await;
            if state["status"] == "active" || state["status"] == "error" {
                return state;
            }
            tokio::time::sleep(LOOK).await;
        }
    };
    let state = tokio::time::timeout(PATIENCE, ended).await.expect("an import ends");
    (project, state)
}

/// Returns the API's data of an imported website, by the names of [`FIELDS`].
async fn imported(client: &Client, project: &str, state: &Value, origin: &str) -> BTreeMap<&'static str, Value> {
    let details = client.data("projects.get", json!({ "projectId": project })).await;
    let entries = client.data("projects.knowledge_list", json!({ "projectId": project, "limit": 100 })).await;
    let brand = &details["brand"];
    // The files that Mailmill itself serves have random names.
    let short = |url: &Value| match url.as_str() {
        Some(url) if url.contains("/v1/images/") => "(drawn)".into(),
        Some(url) => url.strip_prefix(origin).unwrap_or(url).into(),
        None => Value::Null,
    };
    let items = |list: &Value| list.as_array().cloned().unwrap_or_default();
    let logo = brand["logos"]
        .get(0)
        .map_or(Value::Null, |logo| json!([short(&logo["url"]), logo["width"], logo["height"], logo["background"]]));
    let products: Vec<Value> =
        items(&brand["products"]).iter().map(|product| json!([product["name"], product["price"], product["currency"]])).collect();
    let list_prices: BTreeMap<String, Value> = items(&brand["products"])
        .iter()
        .filter(|product| !product["priceBefore"].is_null())
        .map(|product| (product["name"].as_str().unwrap_or_default().to_owned(), product["priceBefore"].clone()))
        .collect();
    let images: BTreeMap<String, Value> = items(&brand["images"])
        .iter()
        .map(|image| (short(&image["url"]).as_str().unwrap_or_default().to_owned(), image["description"].clone()))
        .collect();
    let social: BTreeMap<String, Value> = items(&brand["social"])
        .iter()
        .map(|link| (link["network"].as_str().unwrap_or_default().to_owned(), link["url"].clone()))
        .collect();
    let titles: BTreeSet<String> =
        items(&entries["entries"]).iter().map(|entry| entry["title"].as_str().unwrap_or_default().to_owned()).collect();
    let (palette, contact, voice) = (&brand["palette"], &brand["contact"], &brand["voice"]);
    BTreeMap::from([
        ("name", details["name"].clone()),
        ("tagline", brand["tagline"].clone()),
        ("description", details["description"].clone()),
        ("languages", brand["languages"].clone()),
        ("logo", logo),
        ("favicon", short(&details["logoUrls"]["favicon"])),
        ("background", palette["background"].clone()),
        ("text", palette["text"].clone()),
        ("primary", palette["primary"].clone()),
        ("accent", palette["accent"].clone()),
        ("button", palette["button"].clone()),
        ("button text", palette["buttonText"].clone()),
        ("heading font", brand["fonts"]["heading"].clone()),
        ("body font", brand["fonts"]["body"].clone()),
        ("corners", brand["cornerRadius"].clone()),
        ("products", products.into()),
        ("list prices", json!(list_prices)),
        ("hero", short(&brand["images"][0]["url"])),
        ("web fonts", items(&brand["webFonts"]).iter().map(|font| font["url"].clone()).collect()),
        ("noise", voice["words"].clone()),
        ("images", json!(images.keys().collect::<Vec<_>>())),
        ("alternative text", json!(images)),
        ("social", json!(social)),
        ("company", contact["company"].clone()),
        ("address", contact["address"].clone()),
        ("email", contact["email"].clone()),
        ("phone", contact["phone"].clone()),
        ("person", voice["person"].clone()),
        ("formality", voice["formality"].clone()),
        ("emoji", voice["emoji"].clone()),
        ("recurring words", voice["words"].clone()),
        ("knowledge", json!(titles)),
        ("notes", state["importMetrics"]["notes"].clone()),
        ("status", state["status"].clone()),
    ])
}

fn sorted(list: &Value) -> Value {
    let mut items = list.as_array().cloned().unwrap_or_default();
    items.sort_by_key(Value::to_string);
    items.into()
}

/// Returns `right`, `wrong` or `missing`, or `–` if the website has no value and the import invented none.
fn verdict(field: &str, expected: &Value, found: &Value) -> &'static str {
    let texts = |value: &Value| -> Vec<String> {
        value
            .as_array()
            .map(|items| items.iter().map(|item| item.as_str().unwrap_or_default().to_owned()).collect())
            .unwrap_or_default()
    };
    let is_right = match field {
        "images" | "products" | "knowledge" => sorted(expected) == sorted(found),
        "alternative text" => expected.as_object().is_none_or(|map| map.iter().all(|(url, text)| found.get(url) == Some(text))),
        // These words are so common that they say nothing about a brand.
        "noise" => !texts(expected).iter().any(|word| texts(found).contains(word)),
        "recurring words" => texts(expected).iter().all(|word| texts(found).contains(word)),
        "notes" => texts(expected).iter().all(|part| texts(found).iter().any(|note| note.contains(part.as_str()))),
        _ => expected == found,
    };
    let is_nothing = |value: &Value| match value {
        Value::Null => true,
        Value::Array(items) => items.is_empty(),
        Value::Object(fields) => fields.is_empty(),
        _ => false,
    };
    match (is_right, is_nothing(expected), is_nothing(found)) {
        (true, true, _) => "–",
        (true, _, _) => "right",
        (false, false, true) => "missing",
        (false, _, _) => "wrong",
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn websites_of_different_kinds_are_read_correctly() {
    check(&SITES, &FIELDS).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn websites_of_the_most_common_systems_are_read_correctly() {
    let values = check(&STYLES, &[&FIELDS[..], &MORE_FIELDS[..]].concat()).await;
    for (site, found) in STYLES.iter().zip(values) {
        println!("\n{site}");
        found.iter().for_each(|(field, value)| println!("  {field:18}{value}"));
    }
}

/// Imports the websites and compares these fields with the facts that a person reads on the pages; returns the found values.
async fn check(sites: &[&'static str], fields: &[&'static str]) -> Vec<BTreeMap<&'static str, Value>> {
    let server = Server::start(&settings());
    let client = server.all();
    let mut table: BTreeMap<&str, Vec<&'static str>> = BTreeMap::new();
    let (mut complaints, mut values) = (Vec::new(), Vec::new());
    for name in sites {
        let (address, about) = serve(name);
        let origin = format!("http://{address}");
        let (project, state) = import(&client, json!({ "urls": [origin] })).await;
        let found = imported(&client, &project, &state, &origin).await;
        let mut expected = about["expected"].clone();
        expected["status"] = "active".into();
        expected["notes"] = about["notes"].clone();
        for field in fields {
            let verdict = verdict(field, &expected[field], &found[field]);
            table.entry(field).or_default().push(verdict);
            if matches!(verdict, "wrong" | "missing") {
                complaints.push(format!("{name}: {field}: expected {} found {}", expected[field], found[field]));
            }
        }
        println!("{name}: {}", state["importMetrics"]);
        values.push(found);
    }
    print_table(sites, fields, &table);
    assert!(complaints.is_empty(), "\n{}", complaints.join("\n"));
    values
}

fn print_table(sites: &[&str], fields: &[&str], table: &BTreeMap<&str, Vec<&'static str>>) {
    println!("\n{:18}{}", "", sites.iter().map(|site| format!("{site:>11}")).collect::<String>());
    let mut counts: BTreeMap<&str, u32> = BTreeMap::new();
    for field in fields {
        let cells = &table[field];
        println!("{field:18}{}", cells.iter().map(|cell| format!("{cell:>11}")).collect::<String>());
        cells.iter().for_each(|cell| *counts.entry(cell).or_default() += 1);
    }
    println!("\n{counts:?}");
}

/// A website that does not respond at one path until it is released.
struct Held {
    address: SocketAddr,
    asked: std::sync::mpsc::Receiver<()>,
    open: Arc<std::sync::atomic::AtomicBool>,
}

fn serve_held(held: &'static str) -> Held {
    use std::sync::atomic::{AtomicBool, Ordering};
    let listener = TcpListener::bind("127.0.0.1:0").expect("loopback");
    let address = listener.local_addr().expect("bound");
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/sites/cafe");
    let about = std::fs::read_to_string(folder.join("site.json")).expect("a description");
    let about = serde_json::from_str(&about).expect("JSON");
    let site = Arc::new(Site { folder, about, origin: format!("http://{address}") });
    let (held_sender, asked) = std::sync::mpsc::channel();
    let open = Arc::new(AtomicBool::new(false));
    let is_open = open.clone();
    let accept = move || {
        for stream in listener.incoming().flatten() {
            let mut start = [0; 256];
            let count = stream.peek(&mut start).unwrap_or(0);
            let is_held = String::from_utf8_lossy(&start[..count]).starts_with(&format!("GET {held} "));
            if is_held && !is_open.load(Ordering::SeqCst) {
                let _ = held_sender.send(());
                // The connection stays open and silent for the lifetime of this process.
                std::mem::forget(stream);
                continue;
            }
            let site = site.clone();
            let _ = std::thread::Builder::new().name("site".into()).spawn(move || drop(talk(&site, stream)));
        }
    };
    std::thread::Builder::new().name("held site".into()).spawn(accept).expect("a thread");
    Held { address, asked, open }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_import_continues_after_a_kill_while_it_fetches_and_while_it_measures() {
    for held in ["/robots.txt", "/", "/photos/gateau.jpg"] {
        let site = serve_held(held);
        let mut server = Server::start(&settings());
        let key = server.key("test", "all");
        let client = Client::new(server.address(), Some(key.clone()));
        let origin = format!("http://{}", site.address);
        let project =
            client.data("projects.import", json!({ "urls": [origin] })).await["projectId"].as_str().expect("an id").to_owned();
        let wait = move || site.asked.recv_timeout(PATIENCE).map(|()| site.open);
        let open = tokio::task::spawn_blocking(wait).await.expect("no panic").expect("it asks for the page");
        server.kill();
        open.store(true, std::sync::atomic::Ordering::SeqCst);
        server.serve();
        let client = Client::new(server.address(), Some(key));
        let ended = async {
            loop {
                let state = client.data("projects.import_status", json!({ "projectId": project })).await;
                if state["status"] == "active" || state["status"] == "error" {
                    return state;
                }
                tokio::time::sleep(LOOK).await;
            }
        };
        let state = tokio::time::timeout(PATIENCE, ended).await.expect("an import ends");
        assert_eq!((&state["status"], &state["name"]), (&json!("active"), &json!("Le Lilas Blanc")), "{held}: {state}");
        let details = client.data("projects.get", json!({ "projectId": project })).await;
        let images = details["brand"]["images"].as_array().map_or(0, Vec::len);
        assert_eq!((images, &details["brand"]["contact"]["email"]), (2, &json!("bonjour@lelilasblanc.fr")), "{held}");
    }
}
