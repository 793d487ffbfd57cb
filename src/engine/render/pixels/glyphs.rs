//! Finds the characters for which a font file has glyphs, and names the scripts of characters.
//!
//! The font files are untrusted: an invalid file is treated as a font without glyphs.

use std::collections::BTreeSet;

pub struct Glyphs<'a> {
    map: Map<'a>,
}

enum Map<'a> {
    Nothing,
    /// A `cmap` subtable of format 4: segments of 16-bit characters.
    Segments(&'a [u8]),
    /// A `cmap` subtable of format 12: groups of characters of any plane.
    Groups(&'a [u8]),
}

fn u16_at(bytes: &[u8], at: usize) -> Option<u16> {
    Some(u16::from_be_bytes(bytes.get(at..at + 2)?.try_into().ok()?))
}

fn u32_at(bytes: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_be_bytes(bytes.get(at..at.checked_add(4)?)?.try_into().ok()?))
}

impl<'a> Glyphs<'a> {
    /// Reads the character map of a TrueType or OpenType file, or of the first font in a collection.
    pub fn of(file: &'a [u8]) -> Self {
        Self { map: find_map(file).unwrap_or(Map::Nothing) }
    }

    pub fn has(&self, character: char) -> bool {
        let code = u32::from(character);
        match self.map {
            Map::Nothing => false,
            Map::Segments(table) => in_segments(table, code).unwrap_or(false),
            Map::Groups(table) => in_groups(table, code).unwrap_or(false),
        }
    }
}

fn find_map(file: &[u8]) -> Option<Map<'_>> {
    let start = if file.starts_with(b"ttcf") { u32_at(file, 12)? as usize } else { 0 };
    let tables = usize::from(u16_at(file, start.checked_add(4)?)?);
    let record = (0..tables).map(|number| start + 12 + number * 16).find(|at| file.get(*at..at + 4) == Some(b"cmap"))?;
    let cmap = file.get(u32_at(file, record + 8)? as usize..)?;
    let mut best = None;
    for number in 0..usize::from(u16_at(cmap, 2)?) {
        let at = u32_at(cmap, 4 + number * 8 + 4)? as usize;
        let Some(table) = cmap.get(at..) else { continue };
        match u16_at(table, 0) {
            Some(12) => return Some(Map::Groups(table)),
            Some(4) => best = Some(Map::Segments(table)),
            _ => {}
        }
    }
    best
}

fn in_groups(table: &[u8], code: u32) -> Option<bool> {
    let (mut low, mut high) = (0, u32_at(table, 12)? as usize);
    while low < high {
        let middle = low + (high - low) / 2;
        let at = 16 + middle.checked_mul(12)?;
        let (first, last) = (u32_at(table, at)?, u32_at(table, at + 4)?);
        if code < first {
            high = middle;
        } else if code > last {
            low = middle + 1;
        } else {
            return Some(u32_at(table, at + 8)?.wrapping_add(code - first) != 0);
        }
    }
    Some(false)
}

fn in_segments(table: &[u8], code: u32) -> Option<bool> {
    let code = u16::try_from(code).ok()?;
    let segments = usize::from(u16_at(table, 6)?) / 2;
    let (ends, starts) = (14, 16 + segments * 2);
    let (deltas, offsets) = (starts + segments * 2, starts + segments * 4);
    for number in 0..segments {
        if code > u16_at(table, ends + number * 2)? {
            continue;
        }
        let first = u16_at(table, starts + number * 2)?;
        if code < first {
            return Some(false);
        }
        let (delta, offset) = (u16_at(table, deltas + number * 2)?, usize::from(u16_at(table, offsets + number * 2)?));
        let glyph = match offset {
            0 => code.wrapping_add(delta),
            _ => u16_at(table, offsets + number * 2 + offset + usize::from(code - first) * 2)?,
        };
        return Some(glyph != 0);
    }
    Some(false)
}

/// Returns whether a character needs no glyph: white space, and invisible and private-use characters.
fn is_silent(character: char) -> bool {
    character.is_whitespace()
        || character.is_control()
        || matches!(u32::from(character),
            0xAD | 0x34F | 0x61C | 0x115F..=0x1160 | 0x17B4..=0x17B5 | 0x180B..=0x180F | 0x200B..=0x200F | 0x202A..=0x202E
            | 0x2060..=0x206F | 0x3164 | 0xFE00..=0xFE0F | 0xFEFF | 0xFFA0 | 0xFFF0..=0xFFFC | 0xE000..=0xF8FF | 0xE0000..=0xE0FFF)
}

/// Returns the characters without a glyph in any of these fonts.
pub fn missing(characters: &BTreeSet<char>, fonts: &[Glyphs<'_>]) -> BTreeSet<char> {
    let lacks = |character: &&char| !is_silent(**character) && !fonts.iter().any(|font| font.has(**character));
    characters.iter().filter(lacks).copied().collect()
}

/// Returns whether a character needs an emoji font.
pub fn is_pictorial(character: char) -> bool {
    matches!(u32::from(character), 0x203C | 0x2049 | 0x20E3 | 0x2122 | 0x2139 | 0x2194..=0x21AA | 0x231A..=0x23FF | 0x24C2
        | 0x25AA..=0x25FE | 0x2600..=0x27BF | 0x2934..=0x2935 | 0x2B05..=0x2B55 | 0x3030 | 0x303D | 0x3297 | 0x3299 | 0xFE0F
        | 0x1F000..=0x1FAFF)
}

/// Returns the common name of a character's script.
pub fn script(character: char) -> &'static str {
    match u32::from(character) {
        0x0370..=0x03FF | 0x1F00..=0x1FFF => "Greek",
        0x0400..=0x052F => "Cyrillic",
        0x0530..=0x058F => "Armenian",
        0x0590..=0x05FF => "Hebrew",
        0x0600..=0x06FF | 0x0750..=0x077F | 0x08A0..=0x08FF | 0xFB50..=0xFDFF | 0xFE70..=0xFEFF => "Arabic",
        0x0700..=0x074F => "Syriac",
        0x0780..=0x07BF => "Thaana",
        0x0900..=0x097F => "Devanagari",
        0x0980..=0x09FF => "Bengali",
        0x0A00..=0x0A7F => "Gurmukhi",
        0x0A80..=0x0AFF => "Gujarati",
        0x0B00..=0x0B7F => "Odia",
        0x0B80..=0x0BFF => "Tamil",
        0x0C00..=0x0C7F => "Telugu",
        0x0C80..=0x0CFF => "Kannada",
        0x0D00..=0x0D7F => "Malayalam",
        0x0D80..=0x0DFF => "Sinhala",
        0x0E00..=0x0E7F => "Thai",
        0x0E80..=0x0EFF => "Lao",
        0x0F00..=0x0FFF => "Tibetan",
        0x1000..=0x109F => "Burmese",
        0x10A0..=0x10FF => "Georgian",
        0x1100..=0x11FF | 0xA960..=0xA97F | 0xAC00..=0xD7FF => "Korean",
        0x1200..=0x139F => "Ethiopic",
        0x1780..=0x17FF => "Khmer",
        0x1800..=0x18AF => "Mongolian",
        0x2E80..=0x2FDF
        | 0x3000..=0x303F
        | 0x3100..=0x31EF
        | 0x3200..=0x9FFF
        | 0xF900..=0xFAFF
        | 0xFE30..=0xFE4F
        | 0xFF00..=0xFFEF
        | 0x20000..=0x3FFFF => "Chinese, Japanese or Korean",
        0x3040..=0x30FF => "Japanese",
        0x1F000..=0x1FAFF => "emoji",
        _ => "other symbols",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_maps_of_the_built_in_fonts_are_read() {
        let sans = Glyphs::of(include_bytes!("../../../../assets/fonts/LiberationSans-Regular.ttf"));
        let wide = Glyphs::of(include_bytes!("../../../../assets/fonts/DejaVuSans.ttf"));
        let emoji = Glyphs::of(include_bytes!("../../../../assets/fonts/Twemoji.ttf"));
        assert!("aZé€ЖΩ".chars().all(|character| sans.has(character)) && !sans.has('ب') && !sans.has('😀'));
        assert!(wide.has('ب') && wide.has('א') && !wide.has('漢'));
        assert!(emoji.has('😀') && emoji.has('🛒') && !emoji.has('ب'));
    }

    #[test]
    fn missing_characters_are_found_and_named() {
        let fonts = [Glyphs::of(include_bytes!("../../../../assets/fonts/DejaVuSans.ttf"))];
        let characters: BTreeSet<char> = "a \u{200b}\u{34f}漢ไहб".chars().collect();
        let missing = missing(&characters, &fonts);
        let scripts: Vec<&str> = missing.iter().map(|character| script(*character)).collect();
        assert_eq!(scripts, ["Devanagari", "Thai", "Chinese, Japanese or Korean"]);
    }

    #[test]
    fn an_invalid_file_has_no_glyphs() {
        let file = include_bytes!("../../../../assets/fonts/LiberationMono-Bold.ttf");
        for end in [0, 3, 4, 11, 100, 400, 2_000] {
            Glyphs::of(&file[..end]).has('a');
        }
        let mut torn = file.to_vec();
        for at in (0..4_000).step_by(7) {
            torn[at] ^= 0xff;
            Glyphs::of(&torn).has('a');
        }
    }
}
