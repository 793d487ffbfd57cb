//! Hostile and large inputs: the work of each check is bounded, and no check panics.

mod compatibility;
mod deliverability;
mod files;
mod spelling;

/// Debug builds are about ten times slower, so they check a tenth of each large input.
const SHARE: usize = if cfg!(debug_assertions) { 10 } else { 1 };

/// Returns a text of many equal parts.
fn many(part: &str, count: usize) -> String {
    part.repeat(count / SHARE)
}
