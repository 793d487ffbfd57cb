//! Measures the check on development sets: how many seeded errors it finds, and how many of its findings are right.
//!
//! The first set was written before the rules were tuned, and the second after them. In both, `wrong` lists the words to find.

use mailmill::engine::spelling::dictionaries::Dictionaries;
use mailmill::engine::spelling::{Options, check_html};
use serde::Deserialize;

const PRECISION_MIN: f64 = 0.90;
const FOUND_MIN: f64 = 0.85;

#[derive(Deserialize)]
struct Set {
    error: Vec<Sample>,
    clean: Vec<Sample>,
}

#[derive(Deserialize)]
struct Sample {
    text: String,
    #[serde(default)]
    wrong: String,
    /// Whether the check cannot find the mistake, because it requires a dictionary that is not embedded, or a context that rules do not
    /// use. The sample is measured like the others.
    #[serde(default)]
    #[expect(dead_code, reason = "a note for readers")]
    miss: bool,
}

#[derive(Default)]
struct Totals {
    seeded: usize,
    found: usize,
    false_alarms: usize,
    clean_alarms: usize,
}

impl Totals {
    fn add(&mut self, other: &Self) {
        self.seeded += other.seeded;
        self.found += other.found;
        self.false_alarms += other.false_alarms;
        self.clean_alarms += other.clean_alarms;
    }

    fn precision(&self) -> f64 {
        self.found as f64 / (self.found + self.false_alarms).max(1) as f64
    }

    fn share_found(&self) -> f64 {
        self.found as f64 / self.seeded.max(1) as f64
    }
}

fn measure(name: &str, source: &str, dictionaries: &Dictionaries) -> Totals {
    let set: Set = toml::from_str(source).expect(name);
    let options = Options { grammar: true, ..Options::default() };
    let mut totals = Totals::default();
    for sample in set.error.iter().chain(&set.clean) {
        let html = format!("<html><body><p>{}</p></body></html>", sample.text.replace('&', "&amp;"));
        let report = check_html(&html, &options, dictionaries, 0);
        let mut wanted: Vec<&str> = sample.wrong.split(';').filter(|wrong| !wrong.is_empty()).collect();
        totals.seeded += wanted.len();
        for finding in &report.errors {
            let hit = wanted
                .iter()
                .position(|wrong| finding.word == *wrong || finding.word.contains(*wrong) || wrong.contains(&finding.word));
            match hit {
                Some(at) => {
                    wanted.remove(at);
                    totals.found += 1;
                }
                None => {
                    totals.false_alarms += 1;
                    totals.clean_alarms += usize::from(sample.wrong.is_empty());
                    println!("{name}: false: {} {:?} ({}) in: {}", finding.word, finding.suggestions, finding.rule, sample.text);
                }
            }
        }
        for missed in wanted {
            println!("{name}: missed: {missed} in: {}", sample.text);
        }
    }
    println!(
        "{name}: {} errors, {} found ({:.3}), {} false alarms of which {} in {} clean samples; precision {:.3}",
        totals.seeded,
        totals.found,
        totals.share_found(),
        totals.false_alarms,
        totals.clean_alarms,
        set.clean.len(),
        totals.precision()
    );
    totals
}

#[test]
fn the_check_finds_most_errors_and_few_names() {
    let dictionaries = Dictionaries::new(None, 10);
    let first = measure("first", include_str!("../samples/validation/spelling/first.toml"), &dictionaries);
    let second = measure("second", include_str!("../samples/validation/spelling/second.toml"), &dictionaries);
    let mut all = Totals::default();
    for (name, totals) in [("first", &first), ("second", &second)] {
        all.add(totals);
        assert!(totals.precision() >= PRECISION_MIN, "{name}: precision {:.3}", totals.precision());
        assert!(totals.share_found() >= FOUND_MIN, "{name}: found {:.3}", totals.share_found());
    }
    println!("all: found {:.3}, precision {:.3}", all.share_found(), all.precision());
}
