//! Giving memory back to the system.
//!
//! The allocator keeps what was freed in case it is needed again, and looks at it only when something else is freed: after an import a
//! service at rest would hold fifty megabytes that nobody uses.

// Of the allocator's own interface; the crate offers it only together with much else.
unsafe extern "C" {
    fn mi_collect(force: bool);
}

/// Give back what was freed by any thread of this process.
pub fn give_back() {
    // SAFETY: the function takes no memory of ours, and may be called at any time from any thread.
    unsafe { mi_collect(true) };
}

#[cfg(test)]
mod tests {
    use super::*;

    fn resident_kib() -> u64 {
        let status = std::fs::read_to_string("/proc/self/status").expect("Linux tells it");
        let line = status.lines().find(|line| line.starts_with("RssAnon:")).expect("it is among that");
        line.split_ascii_whitespace().nth(1).and_then(|number| number.parse().ok()).expect("a number")
    }

    #[test]
    fn what_was_freed_goes_back() {
        const MIB: usize = 1024 * 1024;
        let goes_back = || {
            let blocks: Vec<Vec<u8>> = (0..1_000).map(|_| vec![1; 128 * 1024]).collect();
            let full = resident_kib();
            assert_eq!(blocks.iter().map(Vec::len).sum::<usize>(), 125 * MIB);
            drop(blocks);
            give_back();
            resident_kib() + 60 * 1024 < full
        };
        // Other tests run beside this one, and may take as much in the same moment.
        assert!((0..5).any(|_| goes_back()));
    }
}
