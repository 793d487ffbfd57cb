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
    // libFuzzer's hook aborts on every panic. The service turns panics of the MJML parser into errors, so only panics that the target does
    // not catch are crashes; the driver aborts on these by itself.
    init: drop(std::panic::take_hook()),
    |data: &[u8]| (TARGET.run)(data)
);
