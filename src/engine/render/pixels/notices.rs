//! The notices of others whose work is part of every copy of this program: fonts, and the drawing engine's own sources.

use super::fonts;

/// The engine's parts that were ported from elsewhere, with what their licences want to be told.
const ENGINE: [(&str, &str); 5] = [
    ("Chromium (Blink and Skia)", include_str!("../../../../assets/licences/LICENSE-CHROMIUM")),
    ("ICU", include_str!("../../../../assets/licences/LICENSE-ICU")),
    ("emoji-segmenter", include_str!("../../../../assets/licences/LICENSE-EMOJI-SEGMENTER")),
    ("krilla", include_str!("../../../../assets/licences/LICENSE-KRILLA")),
    ("subsetter", include_str!("../../../../assets/licences/LICENSE-SUBSETTER")),
];

/// All of them, as one text.
pub fn notices() -> String {
    let mut out = "Fonts and sources of others within this program, and their licences.\n".to_owned();
    out.push_str("\nThis software is based in part on the work of the Independent JPEG Group.\n");
    for notice in fonts::NOTICES {
        out.push_str(&format!("\n{}\n\n{}\n", "=".repeat(80), notice.trim()));
    }
    for (name, notice) in ENGINE {
        out.push_str(&format!("\n{}\n\n{name}, ported within the drawing engine takumi:\n\n{}\n", "=".repeat(80), notice.trim()));
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_part_is_named() {
        let notices = notices();
        for part in ["Liberation", "DejaVu", "Twemoji", "Chromium", "ICU", "krilla", "subsetter", "emoji-segmenter"] {
            assert!(notices.contains(part), "{part}");
        }
    }
}
