//! Runs the fuzz target with the name of this binary under libFuzzer.

#![no_main]

use std::sync::LazyLock;

use mailmill::fuzzing::{TARGETS, Target};

static TARGET: LazyLock<&Target> = LazyLock::new(|| {
    let name = env!("CARGO_BIN_NAME");
    TARGETS.iter().find(|target| target.name == name).expect("every binary is named after a target")
});

libfuzzer_sys::fuzz_target!(|data: &[u8]| (TARGET.run)(data));
