//! The fonts for rendering emails: the built-in fonts, which are also used under the names of the fonts that they replace, and additional
//! fonts from a folder.
//!
//! System fonts are not used: a fresh server has none, and screenshots must not depend on the machine.

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io::Read;
use std::path::Path;

use takumi::prelude::{FontError, FontOverride, FontResource, FontSource, Fonts, GenericFamily};

use super::glyphs::{Glyphs, is_pictorial, missing};
use crate::vocab::limits::{FONT_FILE_BYTES_MAX, FONT_FILES_MAX};

/// The font faces of one family, and the names of the families that it replaces because their metrics are equal or similar.
struct Family {
    faces: &'static [&'static [u8]],
    names: &'static [&'static str],
    generic: &'static [GenericFamily],
}

const SANS: Family = Family {
    faces: &[
        include_bytes!("../../../../assets/fonts/LiberationSans-Regular.ttf"),
        include_bytes!("../../../../assets/fonts/LiberationSans-Bold.ttf"),
        include_bytes!("../../../../assets/fonts/LiberationSans-Italic.ttf"),
        include_bytes!("../../../../assets/fonts/LiberationSans-BoldItalic.ttf"),
    ],
    names: &["Liberation Sans", "Arial", "Helvetica", "Helvetica Neue", "Segoe UI", "Roboto", "Tahoma", "-apple-system"],
    generic: &[GenericFamily::SANS_SERIF, GenericFamily::SYSTEM_UI, GenericFamily::UI_SANS_SERIF],
};
const SERIF: Family = Family {
    faces: &[
        include_bytes!("../../../../assets/fonts/LiberationSerif-Regular.ttf"),
        include_bytes!("../../../../assets/fonts/LiberationSerif-Bold.ttf"),
        include_bytes!("../../../../assets/fonts/LiberationSerif-Italic.ttf"),
        include_bytes!("../../../../assets/fonts/LiberationSerif-BoldItalic.ttf"),
    ],
    names: &["Liberation Serif", "Times New Roman", "Times", "Georgia"],
    generic: &[GenericFamily::SERIF, GenericFamily::UI_SERIF],
};
const MONO: Family = Family {
    faces: &[
        include_bytes!("../../../../assets/fonts/LiberationMono-Regular.ttf"),
        include_bytes!("../../../../assets/fonts/LiberationMono-Bold.ttf"),
    ],
    names: &["Liberation Mono", "Courier New", "Courier"],
    generic: &[GenericFamily::MONOSPACE, GenericFamily::UI_MONOSPACE],
};
const WIDE: Family = Family {
    faces: &[
        include_bytes!("../../../../assets/fonts/DejaVuSans.ttf"),
        include_bytes!("../../../../assets/fonts/DejaVuSans-Bold.ttf"),
    ],
    names: &["DejaVu Sans", "Verdana", "Geneva"],
    generic: &[],
};
const EMOJI: Family = Family {
    faces: &[include_bytes!("../../../../assets/fonts/Twemoji.ttf")],
    names: &["Twemoji Mozilla", "Twemoji"],
    generic: &[GenericFamily::EMOJI],
};

/// Returns the names, files and generic names of each family. The first name is the family's own; the others, including the generic names,
/// are the names of the fonts that it replaces.
pub fn families() -> impl Iterator<Item = (&'static [&'static str], &'static [&'static [u8]], &'static [&'static str])> {
    let generic: [&'static [&'static str]; 5] = [&["sans-serif", "system-ui"], &["serif"], &["monospace"], &[], &["emoji"]];
    [&SANS, &SERIF, &MONO, &WIDE, &EMOJI].into_iter().zip(generic).map(|(family, generic)| (family.names, family.faces, generic))
}

/// The license notices that must accompany the fonts, and therefore this program.
pub const NOTICES: [&str; 3] = [
    include_str!("../../../../assets/fonts/LICENCE-LIBERATION.txt"),
    include_str!("../../../../assets/fonts/LICENCE-DEJAVU.txt"),
    include_str!("../../../../assets/fonts/LICENCE-TWEMOJI.txt"),
];

/// The fonts for an email's text, and the characters without a glyph in any of these fonts.
pub struct ChosenFonts {
    pub fonts: Fonts,
    pub missing: BTreeSet<char>,
}

/// Returns the fonts for these characters. Additional files are read only if the built-in fonts lack characters.
pub fn choose(characters: &BTreeSet<char>, further: &FontFiles) -> Result<ChosenFonts, FontError> {
    let mut fonts = Fonts::default();
    for family in [&SANS, &SERIF, &MONO, &WIDE] {
        register(&mut fonts, family)?;
    }
    if characters.iter().any(|c| is_pictorial(*c)) {
        register(&mut fonts, &EMOJI)?;
    }
    let built_in = [SANS.faces[0], SERIF.faces[0], WIDE.faces[0], EMOJI.faces[0]].map(Glyphs::of);
    let mut missing = missing(characters, &built_in);
    further.0.iter().for_each(|file| add_file(&mut fonts, file, &mut missing));
    Ok(ChosenFonts { fonts, missing })
}

fn register(fonts: &mut Fonts, family: &Family) -> Result<(), FontError> {
    let generic = family.generic.iter().map(|generic| Some(*generic));
    for (number, name) in family.names.iter().enumerate() {
        // A registration has at most one generic name, so each generic name is registered with a different name of the family.
        let generic = generic.clone().nth(number).flatten();
        for face in family.faces {
            let named = FontOverride { family_name: Some((*name).into()), ..FontOverride::default() };
            let resource = FontResource::new(FontSource::from_static(face)).override_info(named);
            fonts.register(match generic {
                Some(generic) => resource.generic_family(generic),
                None => resource,
            })?;
        }
    }
    Ok(())
}

/// The open font files of a folder. A worker opens the files before it gives up the right to open files, and reads them when needed.
#[derive(Debug, Default)]
pub struct FontFiles(Vec<File>);

impl FontFiles {
    /// Opens the font files in a folder and its subfolders, up to a limit. The files of a folder are opened in the order of their names.
    /// Files that cannot be opened are skipped.
    pub fn open(folder: &Path) -> Self {
        let mut folders = vec![folder.to_owned()];
        let mut found = Vec::new();
        while let Some(folder) = folders.pop() {
            let Ok(entries) = fs::read_dir(&folder) else { continue };
            let mut entries: Vec<_> = entries.filter_map(Result::ok).collect();
            entries.sort_by_key(fs::DirEntry::file_name);
            for entry in entries {
                let Ok(kind) = entry.metadata() else { continue };
                let extension = entry.path().extension().map(|extension| extension.to_ascii_lowercase());
                let is_font = extension.is_some_and(|extension| ["ttf", "otf", "ttc"].iter().any(|known| extension == *known));
                if kind.is_dir() && folders.len() < FONT_FILES_MAX {
                    folders.push(entry.path());
                } else if kind.is_file() && is_font && kind.len() <= FONT_FILE_BYTES_MAX {
                    found.extend(File::open(entry.path()));
                }
                if found.len() >= FONT_FILES_MAX {
                    return Self(found);
                }
            }
        }
        Self(found)
    }
}

/// Adds a font file if it has glyphs for any of the missing characters, which are then removed from `missing`. A file that cannot be read
/// is skipped.
fn add_file(fonts: &mut Fonts, file: &File, missing: &mut BTreeSet<char>) {
    if missing.is_empty() {
        return;
    }
    let mut bytes = Vec::new();
    if file.take(FONT_FILE_BYTES_MAX).read_to_end(&mut bytes).is_err() {
        return;
    }
    let glyphs = Glyphs::of(&bytes);
    let found: Vec<char> = missing.iter().filter(|c| glyphs.has(**c)).copied().collect();
    if found.is_empty() || fonts.register(FontResource::new(bytes)).is_err() {
        return;
    }
    for c in found {
        missing.remove(&c);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn characters_missing_from_built_in_fonts_come_from_the_folder() {
        let characters: BTreeSet<char> = "Ünïcode ελλ 日".chars().collect();
        let chosen = choose(&characters, &FontFiles::default()).expect("the built-in fonts are valid");
        assert_eq!(chosen.missing, BTreeSet::from(['日']));
        let folder = tempfile::tempdir().expect("the folder can be created");
        let deeper = folder.path().join("a");
        fs::create_dir(&deeper).expect("the folder can be created");
        fs::write(folder.path().join("broken.ttf"), b"no font").expect("the file can be written");
        fs::write(deeper.join("Emoji.TTF"), EMOJI.faces[0]).expect("the file can be written");
        let files = FontFiles::open(folder.path()).0;
        assert_eq!(files.len(), 2, "{files:?}");
        let mut missing = BTreeSet::from(['😀', '日']);
        let mut fonts = Fonts::default();
        files.iter().for_each(|file| add_file(&mut fonts, file, &mut missing));
        assert_eq!(missing, BTreeSet::from(['日']));
    }

    #[test]
    fn the_notices_name_their_licenses() {
        for (notice, word) in NOTICES.iter().zip(["SIL OPEN FONT LICENSE", "Bitstream", "CC-BY 4.0"]) {
            assert!(notice.contains(word));
        }
    }
}
