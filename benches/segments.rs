//! The speed of filters on contacts: sets alone, and walks over rows, over made-up contacts (a fixed seed).
//!
//! `SEGMENT_CONTACTS` sets the number of contacts (20,000 by default; published figures use 1,000,000). The store has the default amount of
//! memory.

use std::collections::BTreeMap;
use std::hint::black_box;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use criterion::{Criterion, criterion_group, criterion_main};
use mailmill::base::clock::{ManualClock, Timestamp};
use mailmill::base::random::SeededRandom;
use mailmill::engine::store::{Error, Options, Store, WriteTx};
use mailmill::features::contact_records::fields::FieldValue;
use mailmill::features::contact_records::{self, Contact};
use mailmill::features::contact_sets::{self, Facet};
use mailmill::features::filters::{Filter, FilterTree};
use mailmill::features::tags;
use mailmill::vocab::contact_fields::Profile;
use mailmill::vocab::contact_status::Status;
use mailmill::vocab::ids::{ContactId, ProjectId, TagId};
use mailmill::vocab::tables::DatabaseKind;
use serde_json::{Value, json};

const PROJECT: ProjectId = ProjectId::from_bytes([5; 12]);
const START: Timestamp = Timestamp(1_767_225_600_000);
const BATCH: u32 = 10_000;
const NAMES: [&str; 12] =
    ["Maria", "Anna", "Zoë", "Ivan", "José", "Li", "Kenji", "Fatima", "John", "Aleksandra", "Søren", "Ngozi"];
const DOMAINS: [&str; 5] = ["gmail.com", "example.com", "mail.example", "outlook.com", "company.example"];

/// A random number generator (xorshift64*) with a fixed seed: every run has the same numbers.
struct Random(u64);

impl Random {
    fn below(&mut self, end: usize) -> usize {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        (self.0.wrapping_mul(0x2545_F491_4F6C_DD1D) >> 33) as usize % end
    }
}

fn contact(tx: &WriteTx<'_>, number: u32, tags: &[TagId], random: &mut Random) -> Contact {
    let status = Status::ALL[[0, 0, 0, 0, 0, 0, 1, 1, 2, 3][random.below(10)]];
    let first = NAMES[random.below(NAMES.len())];
    Contact {
        id: ContactId::numbered(tx.now(), number, tx.random()),
        status,
        email: format!("{}.{number}@{}", first.to_lowercase(), DOMAINS[random.below(DOMAINS.len())]),
        profile: Profile {
            first_name: Some(first.to_owned()),
            last_name: Some(NAMES[random.below(NAMES.len())].to_owned()),
            phone: (random.below(3) == 0).then(|| format!("+44 20 7946 {number:04}")),
            country: Some(["GB", "DE", "US", "CH"][random.below(4)].to_owned()),
            language: Some(["en", "de-CH", "fr"][random.below(3)].to_owned()),
            ..Profile::default()
        },
        tags: tags.iter().enumerate().filter(|(rank, _)| random.below(2 + rank * 4) == 0).map(|(_, tag)| tag.number()).collect(),
        custom_fields: BTreeMap::from([
            ("plan".to_owned(), FieldValue::Text(["free", "pro", "team"][random.below(3)].to_owned())),
            ("orders".to_owned(), FieldValue::Whole(random.below(100) as i64)),
        ]),
        created_at: tx.now(),
        updated_at: tx.now(),
        unsubscribed_at: (status == Status::Unsubscribed).then(|| tx.now()),
    }
}

fn fill(store: &Store, clock: &ManualClock, count: u32) -> Vec<TagId> {
    let made = store.write_blocking(|tx| {
        let make = |number: u32| tags::create(tx, PROJECT, &format!("tag {number}")).map(|tag| tag.expect("room").id);
        (0..10).map(make).collect::<Result<Vec<TagId>, Error>>()
    });
    let tags = made.expect("written").expect("no refusal");
    for first in (0..count).step_by(BATCH as usize) {
        clock.advance_ms(1_000);
        let (tags, numbers) = (tags.clone(), first..count.min(first + BATCH));
        let written = store.write_blocking(move |tx| {
            contact_sets::next_number(tx, PROJECT, Facet::NextContact, numbers.len() as u32)?;
            contact_records::change(tx, PROJECT, |tx, changes| {
                let mut random = Random(u64::from(numbers.start) + 1);
                for number in numbers {
                    let contact = contact(tx, number, &tags, &mut random);
                    changes.add(tx, &contact, contact_records::email_digest(&contact.email));
                }
                Ok::<_, Error>(())
            })
        });
        written.expect("written").expect("no refusal");
    }
    tags
}

fn open(path: &Path, clock: &Arc<ManualClock>) -> Store {
    let options = Options { database_kind: DatabaseKind::Environment, cache_bytes: 48 * 1024 * 1024 };
    Store::open(path, &options, clock.clone(), Arc::new(SeededRandom::new(7))).expect("a store")
}

/// The filters, named after what they exercise.
fn conditions(tags: &[TagId]) -> Vec<(&'static str, Value)> {
    let field = |key: &str, mode: &str, values: Value| json!({ "key": key, "mode": mode, "values": values });
    let email = field("email", "ends_with", json!(["@example.com"]));
    let nested = json!({
        "match": "any",
        "groups": [
            { "tags": [tags[3]], "fields": [email] },
            { "status": "bounced", "fields": [field("plan", "is", json!(["pro", "team"])), field("orders", "number_gte", json!([90]))] },
        ],
    });
    vec![
        ("sets: status and tag", json!({ "status": "subscribed", "tags": [tags[0]] })),
        (
            "sets: tags, without tags, in any order",
            json!({ "match": "any", "tags": [tags[1], tags[2]], "excludeTags": [tags[0]] }),
        ),
        ("created since", json!({ "fields": [field("createdAt", "date_after", json!(["2026-01-01T00:00:30Z"]))] })),
        ("updated since", json!({ "fields": [field("updatedAt", "date_after", json!(["2026-01-01T00:00:30Z"]))] })),
        ("rows: end of the email", json!({ "fields": [email] })),
        ("rows: part of the email", json!({ "fields": [field("email", "contains", json!(["zaneta"]))] })),
        ("rows: part of a name beyond ASCII", json!({ "fields": [field("firstName", "contains", json!(["ë"]))] })),
        ("rows: custom number", json!({ "fields": [field("orders", "number_gt", json!([50]))] })),
        ("rows: custom text, is not", json!({ "fields": [field("plan", "is_not", json!(["free"]))] })),
        ("rows of a tenth: tag and email", json!({ "tags": [tags[2]], "fields": [email] })),
        (
            "rows of a few: rare tag and email",
            json!({ "tags": [tags[9]], "excludeTags": [tags[0], tags[1], tags[2]], "fields": [email] }),
        ),
        ("two groups with three fields", nested),
    ]
}

#[expect(clippy::disallowed_methods, reason = "a benchmark reads its size from the environment and the machine's own time")]
fn benches(criterion: &mut Criterion) {
    let count = std::env::var("SEGMENT_CONTACTS").ok().and_then(|text| text.parse().ok()).unwrap_or(20_000);
    let folder = tempfile::tempdir().expect("a temporary folder");
    let clock = Arc::new(ManualClock::at(START));
    let path = folder.path().join("world.redb");
    let store = open(&path, &clock);
    let began = Instant::now();
    let tags = fill(&store, &clock, count);
    println!("{count} contacts written in {:.1?}", began.elapsed());
    store.close();
    let store = open(&path, &clock);
    let mut group = criterion.benchmark_group(format!("segments of {count}"));
    group.sample_size(20).measurement_time(Duration::from_secs(4)).warm_up_time(Duration::from_millis(500));
    for (name, tree) in conditions(&tags) {
        let tree: FilterTree = serde_json::from_value(tree).expect("a filter tree");
        let filter: Filter = tree.check("filters").expect("a valid filter");
        let found = filter.select(&store.read(), PROJECT, START).expect("readable").len();
        println!("{name}: {found} contacts");
        group.bench_function(name, |bencher| {
            bencher.iter(|| black_box(filter.select(&store.read(), PROJECT, START)).expect("readable").len());
        });
    }
    let tree: FilterTree = serde_json::from_value(conditions(&tags)[4].1.clone()).expect("a filter tree");
    group.bench_function("remembered count, from the JSON on", |bencher| {
        bencher.iter(|| {
            let filter = tree.check("filters").expect("a valid filter");
            black_box(filter.count(&store.read(), PROJECT, START)).expect("readable")
        });
    });
    group.finish();
    store.close();
}

criterion_group!(segments, benches);
criterion_main!(segments);
