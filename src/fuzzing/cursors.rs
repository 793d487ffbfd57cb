//! The fuzz target for cursors. A cursor is a position in a list; clients get it in a response and send it back to get the next page.

use super::Target;
use crate::features::{campaigns, events, tracking};

pub const CURSOR: Target = Target {
    name: "cursor",
    run: cursor,
    seeds: &[],
    words: &[
        ".",
        "-",
        "--",
        "9223372036854775807",
        "-9223372036854775808",
        "18446744073709551616",
        "66f1a2b3d4e5f60718293a4b",
        "+1",
    ],
};

/// Checks that an accepted cursor has the same position after it is written again, and that any other text causes a client error.
fn cursor(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else { return };
    let read_again = [
        events::ops::list::reread_cursor(text),
        tracking::ops::logs::reread_cursor(text),
        tracking::ops::timeline::reread_cursor(text),
        campaigns::ops::logs::reread_cursor(text),
    ];
    for read in read_again {
        match read {
            Ok(is_same) => assert!(is_same, "another position: {text}"),
            Err(failure) => assert!(failure.cause.is_none(), "an invalid cursor is a client error: {text}"),
        }
    }
}
