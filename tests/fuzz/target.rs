//! Runs the fuzz target that the variable `FUZZ_TARGET` names under libFuzzer.

#![no_main]

use std::sync::LazyLock;

use mailmill::fuzzing::{TARGETS, Target};

static TARGET: LazyLock<&Target> = LazyLock::new(|| {
    let name = std::env::var("FUZZ_TARGET").unwrap_or_default();
    TARGETS.iter().find(|target| target.name == name).unwrap_or_else(|| {
        let names: Vec<&str> = TARGETS.iter().map(|target| target.name).collect();
        panic!("FUZZ_TARGET is {name:?}; set it to one of {}", names.join(", "))
    })
});

libfuzzer_sys::fuzz_target!(
    // The panic hook of libfuzzer-sys aborts on every panic, even one that the service catches, as it does for the MJML parser. Without
    // the hook, only a panic that leaves the target is a crash: libfuzzer-sys then aborts.
    init: drop(std::panic::take_hook()),
    |data: &[u8]| (TARGET.run)(data)
);
