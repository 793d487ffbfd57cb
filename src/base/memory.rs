//! The process's memory: configures the allocator, and returns unused memory to the operating system.

#[global_allocator]
static MEMORY: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// The number of the allocator's option that sets the delay, in milliseconds, before free memory is returned. The binding has no name
/// for this option.
const PURGE_DELAY: libmimalloc_sys::mi_option_t = 15;

/// Makes the allocator return free memory to the operating system immediately. By default, the allocator waits for a moment, and then until
/// the same thread frees more memory. With this default, threads that had finished their part of an import held a third of the process's
/// memory. Returning memory immediately costs too little to measure.
pub fn set_up() {
    // SAFETY: setting an option touches no memory in use.
    unsafe { libmimalloc_sys::mi_option_set(PURGE_DELAY, 0) };
}

/// Returns to the operating system the free memory that the allocator still holds, for example after an import or a large query.
pub fn give_back() {
    // SAFETY: any thread may make the call at any time; it touches only free memory.
    unsafe { libmimalloc_sys::mi_collect(true) };
}

#[cfg(test)]
mod tests {
    use super::*;

    fn resident_kib() -> u64 {
        let status = std::fs::read_to_string("/proc/self/status").expect("Linux has /proc/self/status");
        let line = status.lines().find(|line| line.starts_with("RssAnon:")).expect("Linux lists RssAnon");
        line.split_ascii_whitespace().nth(1).and_then(|number| number.parse().ok()).expect("RssAnon is a number")
    }

    #[test]
    fn the_unnamed_option_is_the_purge_delay() {
        // SAFETY: reading an option has no effect.
        let delay = || unsafe { libmimalloc_sys::mi_option_get(PURGE_DELAY) };
        assert!(
            matches!(delay(), 0 | 1000),
            "the delay is 0, as set by another test, or the allocator's default of a second: {}",
            delay()
        );
        set_up();
        assert_eq!(delay(), 0);
    }

    #[test]
    fn freed_memory_returns_to_the_machine() {
        const MIB: usize = 1024 * 1024;
        let goes_back = || {
            let blocks: Vec<Vec<u8>> = (0..1_000).map(|_| vec![1; 128 * 1024]).collect();
            let full = resident_kib();
            assert_eq!(blocks.iter().map(Vec::len).sum::<usize>(), 125 * MIB);
            drop(blocks);
            give_back();
            resident_kib() + 60 * 1024 < full
        };
        // Tests that run in parallel may allocate as much memory as this test frees, so one success in several attempts is enough.
        assert!((0..5).any(|_| goes_back()));
    }
}
