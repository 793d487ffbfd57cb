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

libfuzzer_sys::fuzz_target!(|data: &[u8]| (TARGET.run)(data));
