//! The speed of the full-text index: adding documents, and search as you type, over made-up contacts (a fixed seed) and over the worst
//! case, addresses that all have the same prefix.
//!
//! `SEARCH_DOCUMENTS` sets the number of documents (20,000 by default; published figures use 1,000,000).

use std::hint::black_box;
use std::time::{Duration, Instant};

use criterion::{BenchmarkId, Criterion, criterion_group, criterion_main};
use mailmill::engine::search::{Change, Document, Index, Options, Scope, TextKind};
use roaring::RoaringBitmap;

const SCOPE: Scope = *b"bench-scope!";

/// The queries of each data set, named after what they exercise.
const REALISTIC: [(&str, &str); 12] = [
    ("one character", "a"),
    ("two characters", "ma"),
    ("three characters", "mar"),
    ("rare prefix", "zor"),
    ("word", "maria"),
    ("infix", "oogl"),
    ("common infix", "mail"),
    ("typing error", "zoramisq"),
    ("two words", "maria ka"),
    ("three short words", "m k g"),
    ("email", "maria.kalo17@gmail.com"),
    ("email being typed", "maria.ka@g"),
];
const ALIKE: [(&str, &str); 8] = [
    ("one character", "u"),
    ("common prefix", "user0"),
    ("longer prefix", "user000"),
    ("rare prefix", "user00012"),
    ("common infix", "ser0"),
    ("infix", "00123"),
    ("typing error", "usre001234"),
    ("email", "user001234@example.com"),
];

/// A random number generator (xorshift64*) with a fixed seed: every run has the same numbers.
struct Random(u64);

impl Random {
    fn below(&mut self, end: usize) -> usize {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        (self.0.wrapping_mul(0x2545_F491_4F6C_DD1D) >> 33) as usize % end
    }

    /// Returns small results far more often than large ones, like the frequencies of real names.
    fn skewed(&mut self, end: usize) -> usize {
        let fine = 1 << 20;
        let (one, two, three) = (self.below(fine), self.below(fine), self.below(fine));
        ((one as u64 * two as u64 / fine as u64) * three as u64 / fine as u64) as usize * end / fine
    }
}

/// Returns the `nth` name of a vocabulary: pronounceable, all different.
fn name(nth: usize) -> String {
    const STARTS: [&str; 24] = [
        "ma", "ka", "jo", "an", "pe", "li", "so", "to", "ra", "mi", "el", "da", "ba", "ste", "chri", "no", "wil", "har", "gre",
        "o", "u", "i", "zo", "qui",
    ];
    const MIDDLES: [&str; 20] =
        ["ri", "lo", "nn", "ta", "re", "mi", "s", "ll", "do", "ne", "ck", "va", "li", "th", "be", "gu", "ro", "sse", "ni", "k"];
    const ENDS: [&str; 16] = ["a", "o", "e", "er", "son", "en", "ia", "us", "ez", "ski", "mann", "ini", "y", "is", "ov", "ard"];
    let mut name = format!("{}{}{}", STARTS[nth % 24], MIDDLES[nth / 24 % 20], ENDS[nth / 480 % 16]);
    let rest = nth / 7_680;
    if rest > 0 {
        name.push_str(MIDDLES[rest % 20]);
        name.push_str(ENDS[rest / 20 % 16]);
    }
    name
}

fn realistic(count: usize) -> impl Iterator<Item = Document> {
    const HOSTS: [&str; 6] = ["gmail.com", "yahoo.com", "outlook.com", "icloud.com", "web.de", "hotmail.co.uk"];
    const TAGS: [&str; 8] = ["newsletter", "vip", "customer", "lead", "webinar-2024", "beta", "partner", "trial"];
    const CITIES: [&str; 8] = ["Berlin", "Hamburg", "New York", "Paris", "Madrid", "London", "Oslo", "Wien"];
    const PLANS: [&str; 4] = ["gold", "silver", "basic", "enterprise"];
    let mut random = Random(0x5eed);
    (0..count).map(move |number| {
        let (first, last) = (name(random.skewed(6_000)), name(random.skewed(100_000)));
        let host = match random.below(10) {
            0..7 => HOSTS[random.skewed(6)].to_owned(),
            _ => format!("{}.com", name(random.skewed(100_000))),
        };
        let email = match random.below(3) {
            0 => format!("{first}.{last}{}@{host}", random.below(100)),
            1 => format!("{first}{}@{host}", random.below(10_000)),
            _ => format!("{}{last}{}@{host}", &first[..1], random.below(1_000)),
        };
        Document::new(SCOPE, number as u32)
            .with(TextKind::Address, &email)
            .with(TextKind::Name, &first)
            .with(TextKind::Name, &last)
            .with(TextKind::Label, TAGS[random.skewed(8)])
            .with(TextKind::Label, TAGS[random.below(8)])
            .with(TextKind::Value, CITIES[random.below(8)])
            .with(TextKind::Value, PLANS[random.below(4)])
    })
}

fn alike(count: usize) -> impl Iterator<Item = Document> {
    (0..count).map(|number| {
        Document::new(SCOPE, number as u32)
            .with(TextKind::Address, &format!("user{number:06}@example.com"))
            .with(TextKind::Name, "First")
            .with(TextKind::Name, "Last")
            .with(TextKind::Label, "newsletter")
            .with(TextKind::Label, "customer")
            .with(TextKind::Value, "Berlin")
            .with(TextKind::Value, "gold")
    })
}

/// Returns the CPU time of this process, all threads.
fn processor_time() -> Duration {
    let stat = std::fs::read_to_string("/proc/self/stat").expect("the kernel tells");
    let fields: Vec<&str> = stat.rsplit(')').next().expect("a name in brackets").split_whitespace().collect();
    let ticks: u64 = fields[11..13].iter().map(|field| field.parse::<u64>().expect("a number")).sum();
    Duration::from_millis(ticks * 10)
}

/// Returns the CPU time of this thread: on a shared machine it is more precise than the clock.
fn thread_time() -> Duration {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the call writes one timespec, which lives on this stack.
    assert_eq!(unsafe { libc::clock_gettime(libc::CLOCK_THREAD_CPUTIME_ID, &mut time) }, 0);
    Duration::new(time.tv_sec as u64, time.tv_nsec as u32)
}

fn resident_mib() -> String {
    let status = std::fs::read_to_string("/proc/self/status").expect("the kernel tells");
    let lines: Vec<&str> = status.lines().filter(|line| line.starts_with("Rss") || line.starts_with("VmRSS")).collect();
    lines.join(" ").replace('\t', "")
}

#[expect(clippy::disallowed_methods, reason = "a bench measures")]
fn fill(name: &str, index: &Index, count: usize, documents: impl Iterator<Item = Document>) {
    // Creating the data is not measured; it is created in slices, so that it does not fill the memory.
    let mut documents = documents.peekable();
    let (mut taken, mut busy) = (Duration::ZERO, Duration::ZERO);
    while documents.peek().is_some() {
        let slice: Vec<Change> = documents.by_ref().take(10_000).map(Change::Add).collect();
        let (start, cpu) = (Instant::now(), processor_time());
        index.apply(slice).expect("applies");
        taken += start.elapsed();
        busy += processor_time() - cpu;
    }
    let (start, cpu) = (Instant::now(), processor_time());
    index.commit(1).expect("commits");
    taken += start.elapsed();
    busy += processor_time() - cpu;
    println!("{name}: {:.0} documents/s, processor {busy:?} (without merges that continue)", count as f64 / taken.as_secs_f64());
    let cpu = processor_time();
    std::thread::sleep(Duration::from_secs(3 + count as u64 / 250_000));
    index.settle().expect("settles");
    println!("{name}: merges after the commit took {:?}; {}", processor_time() - cpu, resident_mib());
}

fn percentiles(name: &str, index: &Index, queries: &[(&str, &str)], allowed: &RoaringBitmap) {
    for (what, text) in queries {
        let mut times = Vec::new();
        let mut total = 0;
        for _ in 0..300 {
            let start = thread_time();
            total = black_box(index.search(&SCOPE, text, allowed, 0, 50).expect("searches")).total;
            times.push(thread_time() - start);
        }
        times.sort_unstable();
        println!("{name}: {what} {text:?}: {total} found, median {:?}, p99 {:?}", times[150], times[297]);
    }
    println!("{name}: {}", resident_mib());
}

#[expect(clippy::disallowed_methods, reason = "a bench reads its own size")]
fn search(c: &mut Criterion) {
    let count = std::env::var("SEARCH_DOCUMENTS").ok().and_then(|count| count.parse().ok()).unwrap_or(20_000);
    let allowed: RoaringBitmap = (0..count as u32).collect();
    for (name, queries) in [("realistic", &REALISTIC[..]), ("alike", &ALIKE[..])] {
        let dir = tempfile::tempdir().expect("a temporary folder");
        let index = Index::open(dir.path(), Options::default()).expect("opens");
        match name {
            "realistic" => fill(name, &index, count, realistic(count)),
            _ => fill(name, &index, count, alike(count)),
        }
        let files = walk(dir.path());
        println!("{name}: {:.1} MiB in {} files", files.iter().sum::<u64>() as f64 / 1048576.0, files.len());
        percentiles(name, &index, queries, &allowed);
        let mut group = c.benchmark_group(name);
        for (what, text) in queries {
            group.bench_with_input(BenchmarkId::from_parameter(what), text, |b, text| {
                b.iter(|| index.search(&SCOPE, text, &allowed, 0, 50).expect("searches"));
            });
        }
        let mut position = 1;
        group.bench_function("replace one and commit", |b| {
            b.iter(|| {
                position += 1;
                let number = (position * 7_919 % count as u64) as u32;
                let document =
                    Document::new(SCOPE, number).with(TextKind::Address, "changed@example.com").with(TextKind::Name, "Changed");
                index.apply(vec![Change::Replace(document)]).expect("applies");
                index.commit(position).expect("commits");
            });
        });
        group.finish();
    }
}

fn walk(dir: &std::path::Path) -> Vec<u64> {
    let entries = std::fs::read_dir(dir).expect("lists").flatten();
    entries
        .flat_map(
            |entry| if entry.path().is_dir() { walk(&entry.path()) } else { vec![entry.metadata().map_or(0, |data| data.len())] },
        )
        .collect()
}

criterion_group! {
    name = benches;
    config = Criterion::default().sample_size(20).warm_up_time(Duration::from_millis(300)).measurement_time(Duration::from_secs(1));
    targets = search
}
criterion_main!(benches);
