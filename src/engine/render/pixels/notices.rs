//! The notices that every copy of this program must contain for third-party work: the fonts, the dashboard's editor, ported code in the
//! rendering engine, and the data that email checks use.

use super::fonts;

/// The parts of the rendering engine that were ported from other projects, with the notices that their licenses require.
const ENGINE: [(&str, &str); 5] = [
    ("Chromium (Blink and Skia)", include_str!("../../../../assets/licences/LICENSE-CHROMIUM")),
    ("ICU", include_str!("../../../../assets/licences/LICENSE-ICU")),
    ("emoji-segmenter", include_str!("../../../../assets/licences/LICENSE-EMOJI-SEGMENTER")),
    ("krilla", include_str!("../../../../assets/licences/LICENSE-KRILLA")),
    ("subsetter", include_str!("../../../../assets/licences/LICENSE-SUBSETTER")),
];

/// The licenses of the packages in the editor's script.
const EDITOR: &str = include_str!("../../../../assets/licences/LICENSE-PROSEMIRROR");

/// The notices for the data that email checks use.
const DATA: [(&str, &str); 14] = [
    ("The support tables of caniemail.com", include_str!("../../../../assets/email_clients/README.md")),
    ("The dictionaries of the spelling check", include_str!("../../../../assets/spelling/dictionaries/README.md")),
    ("The dictionary en_US", include_str!("../../../../assets/spelling/dictionaries/en_US.license.txt")),
    ("The dictionary en_GB", include_str!("../../../../assets/spelling/dictionaries/en_GB.license.txt")),
    ("The dictionary nl_NL", include_str!("../../../../assets/spelling/dictionaries/nl_NL.license.txt")),
    ("The dictionary fr_FR", include_str!("../../../../assets/spelling/dictionaries/fr_FR.license.txt")),
    ("The dictionary es_ES", include_str!("../../../../assets/spelling/dictionaries/es_ES.license.txt")),
    ("The dictionary pt_BR", include_str!("../../../../assets/spelling/dictionaries/pt_BR.license.txt")),
    ("The dictionary pt_PT", include_str!("../../../../assets/spelling/dictionaries/pt_PT.license.txt")),
    ("The dictionary ru_RU", include_str!("../../../../assets/spelling/dictionaries/ru_RU.license.txt")),
    ("The dictionary da_DK", include_str!("../../../../assets/spelling/dictionaries/da_DK.license.txt")),
    ("The dictionary pl_PL", include_str!("../../../../assets/spelling/dictionaries/pl_PL.license.txt")),
    ("The counts of words next to each other", include_str!("../../../../assets/spelling/pairs.license.txt")),
    ("The word classes of English (the Brill tagger's lexicon)", include_str!("../../../../assets/spelling/classes.license.txt")),
];

pub fn notices() -> String {
    let mut out = "Third-party fonts and sources in this program, and their licenses.\n".to_owned();
    out.push_str("\nThis software is based in part on the work of the Independent JPEG Group.\n");
    for notice in fonts::NOTICES {
        out.push_str(&format!("\n{}\n\n{}\n", "=".repeat(80), notice.trim()));
    }
    out.push_str(&format!("\n{}\n\nProseMirror, in the editor of emails:\n\n{}\n", "=".repeat(80), EDITOR.trim()));
    for (name, notice) in ENGINE {
        out.push_str(&format!(
            "\n{}\n\n{name}, ported within the rendering engine takumi:\n\n{}\n",
            "=".repeat(80),
            notice.trim()
        ));
    }
    for (name, notice) in DATA {
        out.push_str(&format!("\n{}\n\n{name}:\n\n{}\n", "=".repeat(80), notice.trim()));
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_part_is_named() {
        let notices = notices();
        for part in [
            "Liberation",
            "DejaVu",
            "Twemoji",
            "Chromium",
            "ICU",
            "krilla",
            "subsetter",
            "emoji-segmenter",
            "caniemail.com",
            "pl_PL",
        ] {
            assert!(notices.contains(part), "{part}");
        }
    }
}
