//! Writes the counts of confused words and their neighbors.

use std::collections::{BTreeMap, HashSet};

use mailmill::engine::spelling::pairs::{COUNT_MIN, STEPS, hash, words};
use mailmill::engine::spelling::word_hash::HASH_BYTES;

/// Writes `assets/spelling/pairs.counts` from a list of lines with two words and their count.
pub fn train(list: &str) {
    let wanted: HashSet<&str> = words().collect();
    let mut counts: BTreeMap<[u8; HASH_BYTES], u8> = BTreeMap::new();
    for line in list.trim_start_matches('\u{feff}').lines() {
        let mut parts = line.split_whitespace();
        let (Some(first), Some(second), Some(count)) = (parts.next(), parts.next(), parts.next()) else { continue };
        let count: u64 = count.parse().expect("the count is a number");
        if wanted.contains(first) || wanted.contains(second) {
            let points = (1.0 + count as f64 / COUNT_MIN as f64).ln();
            counts.insert(hash(first, second), (points * STEPS).round() as u8);
        }
    }
    let hashes = counts.keys().flatten().copied();
    let bytes: Vec<u8> = hashes.chain(counts.values().copied()).collect();
    println!("{} pairs of words, {} bytes", counts.len(), bytes.len());
    std::fs::write(concat!(env!("CARGO_MANIFEST_DIR"), "/assets/spelling/pairs.counts"), bytes).expect("a writable file");
}
