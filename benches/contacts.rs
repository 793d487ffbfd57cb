//! The speed of contact imports, from the first byte of the upload until the last row can be found by search, compared with the embedded
//! engine alone inserting the same rows in order; and the cost in memory and CPU time, per thread.
//!
//! `IMPORT_ROWS` sets the number of rows (20,000 by default; published figures use 1,000,000).

mod shared;

use std::collections::HashMap;
use std::io::{BufWriter, Read, Write};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use bytes::Bytes;
use http::Method;
use mailmill::engine::api::EnvironmentData;
use mailmill::engine::api::http_types::{Body, BodyError};
use mailmill::features::contacts::{indexing, jobs};
use mailmill::vocab::environment::Environment;
use mailmill::vocab::ids::ProjectId;
use redb::{Database, TableDefinition};
use serde_json::json;

use self::shared::BenchApp;

/// A random number generator (xorshift64*) with a fixed seed: every run has the same rows.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, end: u64) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        (self.0.wrapping_mul(0x2545_F491_4F6C_DD1D) >> 33) % end
    }
}

const FIRST: [&str; 16] = [
    "Maria", "Jonas", "Ada", "Grace", "Linus", "Chloé", "Zoran", "Aiko", "Peter", "Anna", "José", "Ingrid", "Omar", "Lea", "Tom",
    "Noor",
];
const LAST: [&str; 16] = [
    "Müller", "Smith", "Garcia", "Kowalski", "Tanaka", "Rossi", "Novak", "Jensen", "Dubois", "Silva", "Kim", "Haddad", "Ivanov",
    "O'Brien", "Lopez", "Berg",
];
const HOSTS: [&str; 8] =
    ["gmail.com", "yahoo.com", "outlook.com", "icloud.com", "web.de", "example.org", "mail.example.net", "acme.example"];
const COUNTRIES: [&str; 8] = ["DE", "US", "FR", "JP", "BR", "PL", "NO", "GB"];
const TAGS: [&str; 8] = ["newsletter", "vip", "customer", "lead", "webinar", "beta", "partner", "trial"];
const CITIES: [&str; 8] = ["Berlin", "New York", "Paris", "Tokyo", "São Paulo", "Warszawa", "Oslo", "London"];
const PLANS: [&str; 4] = ["gold", "silver", "basic", "enterprise"];
const BOUNDARY: &str = "a-boundary-that-is-in-no-row";

/// Writes an upload form: email, firstName, lastName, phone, country, two tags and two custom fields in each row.
fn write_form(path: &Path, project: &str, rows: u64) {
    let mut out = BufWriter::new(std::fs::File::create(path).expect("a temporary file"));
    let part = |name: &str| format!("--{BOUNDARY}\r\nContent-Disposition: form-data; name=\"{name}\"");
    write!(out, "{}\r\n\r\n{project}\r\n", part("projectId")).expect("written");
    let map = json!({
        "email": "Email", "firstName": "First", "lastName": "Last", "phone": "Phone", "country": "Country", "tags": "Tags",
        "customFields": { "city": "City", "plan": "Plan" },
    });
    write!(out, "{}\r\n\r\n{map}\r\n", part("columnMap")).expect("written");
    write!(out, "{}; filename=\"people.csv\"\r\nContent-Type: text/csv\r\n\r\n", part("file")).expect("written");
    out.write_all(b"Email,First,Last,Phone,Country,Tags,City,Plan\r\n").expect("written");
    let mut numbers = Numbers(0x5eed);
    for row in 0..rows {
        let mut pick = |from: &[&'static str]| from[numbers.below(from.len() as u64) as usize];
        let (first, last, host, country) = (pick(&FIRST), pick(&LAST), pick(&HOSTS), pick(&COUNTRIES));
        let (one, two, city, plan) = (pick(&TAGS), pick(&TAGS), pick(&CITIES), pick(&PLANS));
        let plain = |name: &str| name.chars().filter(char::is_ascii_alphabetic).collect::<String>().to_lowercase();
        let phone = 1_000_000 + numbers.below(9_000_000);
        let email = format!("{}.{}{row}@{host}", plain(first), plain(last));
        write!(out, "{email},{first},{last},+49 30 {phone},{country},{one};{two},{city},{plan}\r\n").expect("written");
    }
    write!(out, "\r\n--{BOUNDARY}--\r\n").expect("written");
    out.flush().expect("written");
}

/// Returns the file as a body that arrives in chunks, as from a socket.
fn stream(path: &Path) -> Body {
    let file = std::fs::File::open(path).expect("just written");
    let declared_bytes = Some(file.metadata().expect("just written").len());
    let chunks = futures_util::stream::unfold(file, |mut file| async move {
        let mut part = vec![0; 64 * 1024];
        let count = file.read(&mut part).expect("readable");
        part.truncate(count);
        (count > 0).then(|| (Ok::<_, BodyError>(Bytes::from(part)), file))
    });
    Body::Stream { declared_bytes, chunks: Box::pin(chunks) }
}

/// The CPU time of each thread so far, by name; threads that have ended keep their last value.
#[derive(Default)]
struct Threads(HashMap<u32, (String, u64)>);

impl Threads {
    fn look(&mut self) {
        let Ok(tasks) = std::fs::read_dir("/proc/self/task") else { return };
        for task in tasks.flatten() {
            let Ok(stat) = std::fs::read_to_string(task.path().join("stat")) else { continue };
            let (Some(open), Some(close)) = (stat.find('('), stat.rfind(')')) else { continue };
            let fields: Vec<&str> = stat[close + 1..].split_whitespace().collect();
            let ticks: u64 = fields[11..13].iter().map(|field| field.parse::<u64>().expect("a number")).sum();
            let id = task.file_name().to_string_lossy().parse().expect("a number");
            self.0.insert(id, (stat[open + 1..close].to_owned(), ticks * 10));
        }
    }

    fn summary(&self) -> String {
        let mut sums: HashMap<&str, u64> = HashMap::new();
        for (name, ms) in self.0.values() {
            *sums.entry(name).or_default() += ms;
        }
        let mut sums: Vec<(&str, u64)> = sums.into_iter().filter(|(_, ms)| *ms >= 20).collect();
        sums.sort_by_key(|(_, ms)| std::cmp::Reverse(*ms));
        sums.iter().map(|(name, ms)| format!("{name} {:.2} s", *ms as f64 / 1e3)).collect::<Vec<_>>().join(", ")
    }
}

fn resident(field: &str) -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").expect("the file exists");
    let line = status.lines().find(|line| line.starts_with(field)).unwrap_or_default();
    line.split_whitespace().nth(1).and_then(|kib| kib.parse::<u64>().ok()).unwrap_or_default() / 1024
}

#[allow(clippy::too_many_lines, reason = "one run from the upload to the last look, in the order it happens")]
#[expect(clippy::disallowed_methods, reason = "a bench measures, and starts what it measures")]
fn import(rows: u64) -> Duration {
    let folder = tempfile::tempdir_in(".").expect("a temporary folder");
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().expect("a runtime");
    let app = Arc::new(BenchApp::open(folder.path(), Environment::Test, |_| {}));
    let project = runtime.block_on(app.project());
    let form = folder.path().join("form");
    write_form(&form, &project, rows);

    let (over, memory) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicU64::new(0)));
    let threads = std::thread::spawn({
        let (over, memory) = (over.clone(), memory.clone());
        move || {
            let mut threads = Threads::default();
            while !over.load(Ordering::Relaxed) {
                threads.look();
                memory.fetch_max(resident("RssAnon"), Ordering::Relaxed);
                std::thread::sleep(Duration::from_millis(50));
            }
            threads
        }
    });
    let worker = |name: &str, step: fn(&EnvironmentData) -> bool| {
        let (app, over) = (app.clone(), over.clone());
        let run = move || {
            while !over.load(Ordering::Relaxed) {
                if !step(app.api.0.data(Environment::Test)) {
                    std::thread::sleep(Duration::from_millis(2));
                }
            }
        };
        std::thread::Builder::new().name(name.to_owned()).spawn(run).expect("a thread")
    };
    let start = Instant::now();
    let workers = [
        worker("index-follow", |data| indexing::step(data).expect("indexes")),
        worker("jobs", |data| jobs::step(data).expect("works")),
    ];
    let content_type = format!("multipart/form-data; boundary={BOUNDARY}");
    let started = runtime.block_on(app.call(Method::POST, "/v1/contacts/imports", &content_type, stream(&form)));
    let uploaded = start.elapsed();
    let path = format!("/v1/contacts/imports/{}", started["id"].as_str().expect("an id"));
    let mut stored = None;
    loop {
        std::thread::sleep(Duration::from_millis(20));
        if stored.is_none() {
            let state = runtime.block_on(app.call(Method::GET, &path, "application/json", Body::Empty));
            if state["status"] == "completed" {
                assert_eq!(state["counts"]["created"], rows, "{state}");
                stored = Some(start.elapsed());
            }
        }
        if stored.is_some()
            && app.api.0.data(Environment::Test).search.position() == app.api.0.data(Environment::Test).store.feed_position()
        {
            break;
        }
    }
    let taken = start.elapsed();
    over.store(true, Ordering::Relaxed);
    workers.into_iter().for_each(|worker| worker.join().expect("no panic"));
    let threads = threads.join().expect("no panic");
    let found = runtime.block_on(app.call(
        Method::GET,
        &format!("/v1/contacts?projectId={project}&search=maria&limit=1"),
        "application/json",
        Body::Empty,
    ));
    println!(
        "import: {rows} rows in {taken:.2?}: {:.0} rows/s (uploaded after {uploaded:.2?}, stored after {:.2?}); \
         {} found; resident anonymous at most {} MiB, all {} MiB",
        rows as f64 / taken.as_secs_f64(),
        stored.unwrap_or_default(),
        found["total"],
        memory.load(Ordering::Relaxed),
        resident("VmHWM"),
    );
    println!("import: processor time: {}", threads.summary());
    let file = std::fs::metadata(folder.path().join("data/test.redb")).expect("there").len();
    println!("import: data file {} MiB", file >> 20);
    assert!(ProjectId::parse(&project).is_some());
    taken
}

/// Measures the engine alone: writes rows with the same number of bytes in order and, for each row, an entry with a random key into a
/// second table, sorted within each commit of 20,000 rows.
#[expect(clippy::disallowed_methods, reason = "a bench measures")]
fn engine_alone(rows: u64) -> Duration {
    const ROWS: TableDefinition<'static, &[u8], &[u8]> = TableDefinition::new("rows");
    const KEYS: TableDefinition<'static, &[u8], &[u8]> = TableDefinition::new("keys");
    let folder = tempfile::tempdir_in(".").expect("a temporary folder");
    let database = Database::create(folder.path().join("alone.redb")).expect("a new file");
    let mut numbers = Numbers(0x5eed);
    let row = [7_u8; 180];
    let start = Instant::now();
    for first in (0..rows).step_by(20_000) {
        let writing = database.begin_write().expect("writable");
        {
            let mut table = writing.open_table(ROWS).expect("a table");
            let last = rows.min(first + 20_000);
            for number in first..last {
                let mut key = [0; 16];
                key[12..].copy_from_slice(&(number as u32).to_be_bytes());
                table.insert(key.as_slice(), row.as_slice()).expect("put");
            }
            let mut keys: Vec<[u8; 28]> = (first..last)
                .map(|_| {
                    let mut key = [0; 28];
                    key[12..20].copy_from_slice(&(numbers.below(u64::MAX) << 31 | numbers.below(1 << 31)).to_be_bytes());
                    key[20..].copy_from_slice(&numbers.below(u64::MAX).to_be_bytes());
                    key
                })
                .collect();
            keys.sort_unstable();
            let mut table = writing.open_table(KEYS).expect("a table");
            for key in keys {
                table.insert(key.as_slice(), [1_u8; 4].as_slice()).expect("put");
            }
        }
        writing.commit().expect("durable");
    }
    let taken = start.elapsed();
    println!("engine alone: {rows} rows in {taken:.2?}: {:.0} rows/s", rows as f64 / taken.as_secs_f64());
    taken
}

#[expect(clippy::disallowed_methods, reason = "how large a bench is can only be said from outside")]
fn main() {
    let rows = std::env::var("IMPORT_ROWS").ok().and_then(|rows| rows.parse().ok()).unwrap_or(20_000);
    let import = import(rows);
    let alone = engine_alone(rows);
    println!("import: {:.2} times the engine alone", import.as_secs_f64() / alone.as_secs_f64());
}
