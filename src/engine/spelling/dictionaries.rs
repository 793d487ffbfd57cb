//! Loads dictionaries on first use, shares them between checks, and releases them when no check has used them for a while, or when too many
//! are loaded.
//!
//! Ten dictionaries are embedded in the program (`assets/spelling/dictionaries`). Others are read from folders of Hunspell files, such as
//! `de_DE.aff` and `de_DE.dic`. The operator's folder takes precedence over the embedded dictionaries, which take precedence over the
//! system's folder.

use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use icu_normalizer::ComposingNormalizerBorrowed;

/// The maximum number of dictionaries in memory. The largest, Brazilian Portuguese, takes 30 MB.
const LOADED_MAX: usize = 4;

/// The maximum size of a dictionary file; larger files are ignored. The largest known file is 9 MB.
const FILE_BYTES_MAX: u64 = 32 * 1024 * 1024;

/// The maximum length of a word that is checked. Longer words are very rare, and checking a compound takes quadratic time.
pub(super) const WORD_CHARACTERS_MAX: usize = 48;

/// The folder in which Debian's packages install dictionaries.
const SYSTEM_FOLDER: &str = "/usr/share/hunspell";

/// An embedded dictionary, compressed with Brotli.
struct Embedded {
    name: &'static str,
    affixes: &'static [u8],
    words: &'static [u8],
}

macro_rules! embedded {
    ($($name:literal),*) => {
        [$(Embedded {
            name: $name,
            affixes: include_bytes!(concat!(env!("CARGO_MANIFEST_DIR"), "/assets/spelling/dictionaries/", $name, ".aff.br")),
            words: include_bytes!(concat!(env!("CARGO_MANIFEST_DIR"), "/assets/spelling/dictionaries/", $name, ".dic.br")),
        }),*]
    };
}

static EMBEDDED: [Embedded; 10] =
    embedded!("en_US", "en_GB", "nl_NL", "fr_FR", "es_ES", "pt_BR", "pt_PT", "ru_RU", "da_DK", "pl_PL");

/// The dictionaries for language codes without a region. For languages that are not listed, the region is the language code in uppercase.
const DEFAULT_NAMES: [(&str, &str); 10] = [
    ("en", "en_US"),
    ("pt", "pt_BR"),
    ("da", "da_DK"),
    ("sv", "sv_SE"),
    ("nb", "nb_NO"),
    ("cs", "cs_CZ"),
    ("uk", "uk_UA"),
    ("el", "el_GR"),
    ("sl", "sl_SI"),
    ("et", "et_EE"),
];

/// Regions that use the spelling of another region.
const REGIONS: [(&str, &str); 8] = [
    ("en_AU", "en_GB"),
    ("en_NZ", "en_GB"),
    ("en_IE", "en_GB"),
    ("en_ZA", "en_GB"),
    ("en_IN", "en_GB"),
    ("en_CA", "en_GB"),
    ("pt_AO", "pt_PT"),
    ("pt_MZ", "pt_PT"),
];

pub struct Dictionary {
    name: String,
    words: spellbook::Dictionary,
}

impl Dictionary {
    /// Returns the name of the dictionary's files, such as `en_US`.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns whether the dictionary contains this word. Returns true for words over the length limit.
    pub fn has(&self, word: &str) -> bool {
        if word.chars().take(WORD_CHARACTERS_MAX + 1).count() > WORD_CHARACTERS_MAX {
            return true;
        }
        if word.chars().any(|c| ('\u{300}'..='\u{36F}').contains(&c)) {
            return self.words.check(&ComposingNormalizerBorrowed::new_nfc().normalize(word));
        }
        self.words.check(word)
    }
}

/// A place that is filled once, with a dictionary or, if no usable dictionary was found, with `None`.
type Place = Arc<OnceLock<Option<Arc<Dictionary>>>>;

struct Slot {
    name: String,
    used: i64,
    place: Place,
}

/// Loads dictionaries and keeps them in memory. Times are in seconds since a fixed time, which must be the same for all calls.
pub struct Dictionaries {
    folder: Option<PathBuf>,
    idle_seconds: i64,
    slots: Mutex<Vec<Slot>>,
}

impl Dictionaries {
    /// Creates an empty set. `folder` is the operator's folder of dictionaries. A dictionary is released after it has been idle for
    /// `idle_minutes`.
    pub fn new(folder: Option<PathBuf>, idle_minutes: u32) -> Self {
        Self { folder, idle_seconds: i64::from(idle_minutes) * 60, slots: Mutex::new(Vec::new()) }
    }

    /// Returns the dictionary of a language such as `en` or `pt-PT`, or `None` if there is none.
    pub fn get(&self, language: &str, now: i64) -> Option<Arc<Dictionary>> {
        file_names(language).into_iter().find_map(|name| self.load(&name, now))
    }

    /// For English and Portuguese without a region (`en`, `pt`), returns the dictionary of a second accepted spelling.
    pub fn get_variant(&self, language: &str, now: i64) -> Option<Arc<Dictionary>> {
        match language {
            "en" => self.load("en_GB", now),
            "pt" => self.load("pt_PT", now),
            _ => None,
        }
    }

    /// Releases the dictionaries that have been idle for too long, and returns their number.
    pub fn release_idle(&self, now: i64) -> usize {
        let mut slots = self.slots.lock().unwrap_or_else(PoisonError::into_inner);
        let before = slots.len();
        slots.retain(|slot| now.saturating_sub(slot.used) < self.idle_seconds);
        before - slots.len()
    }

    /// Returns the names of the dictionaries in memory.
    pub fn loaded(&self) -> Vec<String> {
        let slots = self.slots.lock().unwrap_or_else(PoisonError::into_inner);
        slots.iter().filter(|slot| matches!(slot.place.get(), Some(Some(_)))).map(|slot| slot.name.clone()).collect()
    }

    fn load(&self, name: &str, now: i64) -> Option<Arc<Dictionary>> {
        let place = {
            let mut slots = self.slots.lock().unwrap_or_else(PoisonError::into_inner);
            match slots.iter_mut().find(|slot| slot.name == name) {
                Some(slot) => {
                    slot.used = slot.used.max(now);
                    slot.place.clone()
                }
                None => {
                    if !self.exists(name) {
                        return None;
                    }
                    if slots.len() >= LOADED_MAX
                        && let Some(oldest) = slots.iter().enumerate().min_by_key(|(_, slot)| slot.used).map(|(at, _)| at)
                    {
                        slots.remove(oldest);
                    }
                    let place = Place::default();
                    slots.push(Slot { name: name.to_owned(), used: now, place: place.clone() });
                    place
                }
            }
        };
        // Read outside the lock, because loading takes up to 250 ms and must not block other languages.
        place.get_or_init(|| self.read(name).map(Arc::new)).clone()
    }

    fn exists(&self, name: &str) -> bool {
        EMBEDDED.iter().any(|embedded| embedded.name == name) || self.folders().any(|folder| file(folder, name, "dic").is_file())
    }

    fn folders(&self) -> impl Iterator<Item = &Path> {
        self.folder.as_deref().into_iter().chain([Path::new(SYSTEM_FOLDER)])
    }

    fn read(&self, name: &str) -> Option<Dictionary> {
        let owned = self.folder.as_deref().and_then(|folder| read_folder(folder, name));
        let (affixes, words) = owned.or_else(|| read_embedded(name)).or_else(|| read_folder(Path::new(SYSTEM_FOLDER), name))?;
        let words =
            if affixes.lines().any(|line| line.trim_end() == "FLAG num") { without_malformed_flags(&words) } else { words };
        let words = spellbook::Dictionary::new(&affixes, &words).ok()?;
        Some(Dictionary { name: name.to_owned(), words })
    }
}

/// Returns the file names to try for a language, without extensions. A name contains only letters and `_`, so it cannot leave the folder.
fn file_names(language: &str) -> Vec<String> {
    let mut parts = language.split(['-', '_']);
    let code = parts.next().unwrap_or_default().to_ascii_lowercase();
    if !(2..=3).contains(&code.len()) || !code.bytes().all(|byte| byte.is_ascii_lowercase()) {
        return Vec::new();
    }
    let region = parts.find(|part| part.len() == 2 && part.bytes().all(|byte| byte.is_ascii_alphabetic()));
    let mut names = Vec::new();
    if let Some(region) = region {
        let name = format!("{code}_{}", region.to_ascii_uppercase());
        let like = REGIONS.iter().find(|(from, _)| *from == name).map(|(_, to)| (*to).to_owned());
        names.push(name);
        names.extend(like);
    }
    let default = DEFAULT_NAMES.iter().find(|(from, _)| *from == code).map(|(_, to)| (*to).to_owned());
    names.push(default.unwrap_or_else(|| format!("{code}_{}", code.to_ascii_uppercase())));
    names.push(code);
    names
}

/// Removes the words whose flags are not numbers. The Danish dictionary has a few, which would make the library reject the whole
/// dictionary.
fn without_malformed_flags(words: &str) -> String {
    let is_number = |flags: &str| {
        let flags = flags.split([' ', '\t']).next().unwrap_or_default();
        flags.split(',').all(|flag| flag.parse::<u16>().is_ok_and(|flag| flag > 0))
    };
    let mut kept = String::with_capacity(words.len());
    for (at, line) in words.lines().enumerate() {
        if at == 0 || line.split_once('/').is_none_or(|(_, flags)| is_number(flags)) {
            kept.push_str(line);
            kept.push('\n');
        }
    }
    kept
}

fn file(folder: &Path, name: &str, extension: &str) -> PathBuf {
    folder.join(format!("{name}.{extension}"))
}

fn read_embedded(name: &str) -> Option<(String, String)> {
    let embedded = EMBEDDED.iter().find(|embedded| embedded.name == name)?;
    let inflate = |bytes: &[u8]| {
        let mut text = String::new();
        brotli_decompressor::Decompressor::new(bytes, 16 * 1024).take(FILE_BYTES_MAX).read_to_string(&mut text).ok()?;
        Some(text)
    };
    Some((inflate(embedded.affixes)?, inflate(embedded.words)?))
}

fn read_folder(folder: &Path, name: &str) -> Option<(String, String)> {
    let read = |extension| {
        let mut bytes = Vec::new();
        File::open(file(folder, name, extension)).ok()?.take(FILE_BYTES_MAX + 1).read_to_end(&mut bytes).ok()?;
        (bytes.len() as u64 <= FILE_BYTES_MAX).then_some(bytes)
    };
    let (affixes, words) = (read("aff")?, read("dic")?);
    let encoding = encoding(&affixes);
    let decode = |bytes: &[u8]| encoding.decode(bytes).0.into_owned();
    Some((decode(&affixes), decode(&words)))
}

/// Returns the encoding in the `SET` line of an affix file. Hunspell's default is ISO 8859-1.
fn encoding(affixes: &[u8]) -> &'static encoding_rs::Encoding {
    let line = affixes.split(|byte| *byte == b'\n').map(<[u8]>::trim_ascii).find(|line| line.starts_with(b"SET "));
    let label = line.and_then(|line| line.get(4..)).unwrap_or(b"ISO8859-1").trim_ascii();
    let label = label.strip_prefix(b"microsoft-cp").map_or_else(|| label.to_vec(), |page| [b"windows-", page].concat());
    encoding_rs::Encoding::for_label(&label).unwrap_or(encoding_rs::WINDOWS_1252)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn loads_on_first_use_and_releases_after_the_idle_time() {
        let dictionaries = Dictionaries::new(None, 10);
        assert!(dictionaries.loaded().is_empty());
        let english = dictionaries.get("en", 0).expect("English");
        assert!(english.has("colour") != english.has("color") && english.has("color"));
        assert!(dictionaries.get("en-AU", 100).expect("Australian English").has("colour"));
        assert_eq!(dictionaries.loaded(), ["en_US", "en_GB"]);
        assert_eq!(dictionaries.release_idle(600), 1);
        assert_eq!(dictionaries.loaded(), ["en_GB"]);
        assert_eq!(dictionaries.release_idle(700), 1);
    }

    #[test]
    fn the_embedded_dictionaries_take_less_than_6_mb() {
        let bytes: usize = EMBEDDED.iter().map(|one| one.affixes.len() + one.words.len()).sum();
        assert!(bytes < 6 * 1024 * 1024, "{bytes}");
    }

    #[test]
    fn every_embedded_dictionary_loads_and_no_more_than_the_limit_stay() {
        let dictionaries = Dictionaries::new(None, 10);
        let samples = [
            ("en-US", "organize", "organizee"),
            ("en-GB", "colour", "coluor"),
            ("nl", "nieuwsbrief", "nieuwsbreif"),
            ("fr", "l'offre", "l'ofre"),
            ("es", "suscribir", "suscrivir"),
            ("pt-BR", "atualização", "atualizasão"),
            ("pt-PT", "autocarro", "autocaro"),
            ("ru", "скидка", "скитка"),
            ("da", "tilbud", "tilbbud"),
            ("pl", "zamówienie", "zamuwienie"),
        ];
        for (now, (language, right, wrong)) in (0..).zip(samples) {
            let dictionary = dictionaries.get(language, now).expect(language);
            assert!(dictionary.has(right), "{language}: {right}");
            assert!(!dictionary.has(wrong), "{language}: {wrong}");
            assert!(dictionaries.loaded().len() <= LOADED_MAX);
        }
    }

    #[test]
    fn a_language_without_dictionary_is_none_and_a_name_cannot_leave_the_folder() {
        let dictionaries = Dictionaries::new(Some(PathBuf::from("/nonexistent")), 10);
        for language in ["xx", "../../etc/passwd", "", "e", "en/../x", "tlh-QQ"] {
            assert!(dictionaries.get(language, 0).is_none(), "{language}");
        }
    }

    #[test]
    fn a_folder_can_add_languages_in_their_old_encodings() {
        let folder = std::env::temp_dir().join(format!("dictionaries-{}", std::process::id()));
        std::fs::create_dir_all(&folder).expect("a folder");
        std::fs::write(folder.join("de_DE.aff"), "SET ISO8859-1\nTRY esianrt\n").expect("an affix file");
        std::fs::write(folder.join("de_DE.dic"), b"2\nGr\xfc\xdfe\nHaus\n").expect("a word file");
        let dictionaries = Dictionaries::new(Some(folder.clone()), 10);
        let german = dictionaries.get("de-AT", 0).expect("German");
        assert!(german.has("Grüße") && german.has("Haus") && !german.has("Huas"));
        std::fs::remove_dir_all(folder).expect("removal");
    }

    #[test]
    fn decomposed_letters_are_the_same_letters() {
        let french = Dictionaries::new(None, 1).get("fr", 0).expect("French");
        assert!(french.has("e\u{301}te\u{301}"));
    }
}
