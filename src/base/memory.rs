//! The memory of the process: the allocator, and giving back to the machine what nobody uses any more.

#[global_allocator]
static MEMORY: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// The allocator's delay before it gives back what is free, in milliseconds. The binding has no name for it.
const PURGE_DELAY: libmimalloc_sys::mi_option_t = 15;

/// Give back what is free at once. By itself the allocator waits for a moment, and then for the next time that the same thread frees
/// something: threads that have done their part of an import kept a third of the process. It costs nothing that can be measured.
pub fn set_up() {
    // SAFETY: setting an option touches no memory that anybody has.
    unsafe { libmimalloc_sys::mi_option_set(PURGE_DELAY, 0) };
}

/// Give back what is free. The allocator does so by itself only while memory is being asked for or freed: after an import or a large
/// query it would keep what they needed at most.
pub fn give_back() {
    // SAFETY: the call may be made by any thread at any time; it touches only memory that is free.
    unsafe { libmimalloc_sys::mi_collect(true) };
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
    fn the_option_without_a_name_is_the_one_that_is_meant() {
        // SAFETY: reading an option touches nothing.
        let delay = || unsafe { libmimalloc_sys::mi_option_get(PURGE_DELAY) };
        assert!(matches!(delay(), 0 | 1000), "0 as another test has set it, or the allocator's default of a second: {}", delay());
        set_up();
        assert_eq!(delay(), 0);
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
