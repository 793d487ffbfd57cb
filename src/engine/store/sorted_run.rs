//! Runs. A run is the concatenated bytes of sorted entries of equal width, each of which starts with a hash. If such entries were written
//! directly to an index, they would go to random positions. Instead, a run is stored as one row, and is later merged into the index
//! together with other runs.

/// Returns the number of entries of `WIDTH` bytes whose hash is less than `digest`. The search starts near the front, because a caller that
/// looks up many digests in order passes only the rest of the run each time.
pub fn lower_bound<const WIDTH: usize>(run: &[u8], digest: &[u8; 16]) -> usize {
    let below = |at: usize| run[at * WIDTH..][..16] < digest[..];
    let count = run.len() / WIDTH;
    let mut end = 1;
    while end < count && below(end) {
        end *= 2;
    }
    let (mut low, mut high) = (end / 2, end.min(count));
    while low < high {
        let middle = low + (high - low) / 2;
        if below(middle) { low = middle + 1 } else { high = middle }
    }
    low
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_below_a_digest_are_counted_at_any_position() {
        for many in 0..40_u8 {
            let run: Vec<u8> = (0..many).flat_map(|number| [[number * 2 + 1; 16].as_slice(), &[9, 9]].concat()).collect();
            for wanted in 0..=many * 2 + 1 {
                let expected = (0..many).filter(|number| number * 2 + 1 < wanted).count();
                assert_eq!(lower_bound::<18>(&run, &[wanted; 16]), expected, "{wanted} among {many}");
            }
        }
    }
}
