//! The notices for third-party work in every copy of this program: for the fonts, the dashboard's editor, and sources within the drawing
//! engine.

use super::fonts;

/// The parts of the drawing engine that were ported from other projects, with the notices that their licenses require.
const ENGINE: [(&str, &str); 5] = [
    ("Chromium (Blink and Skia)", include_str!("../../../../assets/licences/LICENSE-CHROMIUM")),
    ("ICU", include_str!("../../../../assets/licences/LICENSE-ICU")),
    ("emoji-segmenter", include_str!("../../../../assets/licences/LICENSE-EMOJI-SEGMENTER")),
    ("krilla", include_str!("../../../../assets/licences/LICENSE-KRILLA")),
    ("subsetter", include_str!("../../../../assets/licences/LICENSE-SUBSETTER")),
];

/// The licenses of the packages in the editor's script.
const EDITOR: &str = include_str!("../../../../assets/licences/LICENSE-PROSEMIRROR");

/// Returns all notices as one text.
pub fn notices() -> String {
    let mut out = "Third-party fonts and sources in this program, and their licenses.\n".to_owned();
    out.push_str("\nThis software is based in part on the work of the Independent JPEG Group.\n");
    for notice in fonts::NOTICES {
        out.push_str(&format!("\n{}\n\n{}\n", "=".repeat(80), notice.trim()));
    }
    out.push_str(&format!("\n{}\n\nProseMirror, in the editor of emails:\n\n{}\n", "=".repeat(80), EDITOR.trim()));
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
