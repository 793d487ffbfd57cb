//! Country and language codes.
//!
//! A code is a small value without heap memory, because there are millions of contacts and each can have a country and a language. This
//! module does not contain the names of countries and languages.

use std::borrow::Cow;
use std::fmt;
use std::str::FromStr;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::serde_str;

/// The officially assigned codes of ISO 3166-1 alpha-2.
const COUNTRIES: &str = "\
    AD AE AF AG AI AL AM AO AQ AR AS AT AU AW AX AZ BA BB BD BE BF BG BH BI BJ BL BM BN BO BQ BR BS BT BV BW BY BZ \
    CA CC CD CF CG CH CI CK CL CM CN CO CR CU CV CW CX CY CZ DE DJ DK DM DO DZ EC EE EG EH ER ES ET FI FJ FK FM FO FR \
    GA GB GD GE GF GG GH GI GL GM GN GP GQ GR GS GT GU GW GY HK HM HN HR HT HU ID IE IL IM IN IO IQ IR IS IT \
    JE JM JO JP KE KG KH KI KM KN KP KR KW KY KZ LA LB LC LI LK LR LS LT LU LV LY \
    MA MC MD ME MF MG MH MK ML MM MN MO MP MQ MR MS MT MU MV MW MX MY MZ NA NC NE NF NG NI NL NO NP NR NU NZ OM \
    PA PE PF PG PH PK PL PM PN PR PS PT PW PY QA RE RO RS RU RW SA SB SC SD SE SG SH SI SJ SK SL SM SN SO SR SS ST SV SX SY SZ \
    TC TD TF TG TH TJ TK TL TM TN TO TR TT TV TW TZ UA UG UM US UY UZ VA VC VE VG VI VN VU WF WS YE YT ZA ZM ZW";

/// The two-letter codes of ISO 639-1.
const LANGUAGES: &str = "\
    AA AB AE AF AK AM AN AR AS AV AY AZ BA BE BG BI BM BN BO BR BS CA CE CH CO CR CS CU CV CY DA DE DV DZ EE EL EN EO ES ET EU \
    FA FF FI FJ FO FR FY GA GD GL GN GU GV HA HE HI HO HR HT HU HY HZ IA ID IE IG II IK IO IS IT IU JA JV \
    KA KG KI KJ KK KL KM KN KO KR KS KU KV KW KY LA LB LG LI LN LO LT LU LV MG MH MI MK ML MN MR MS MT MY \
    NA NB ND NE NG NL NN NO NR NV NY OC OJ OM OR OS PA PI PL PS PT QU RM RN RO RU RW \
    SA SC SD SE SG SI SK SL SM SN SO SQ SR SS ST SU SV SW TA TE TG TH TI TK TL TN TO TR TS TT TW TY \
    UG UK UR UZ VE VI VO WA WO XH YI YO ZA ZH ZU";

static COUNTRY_TABLE: PairTable = PairTable::of(COUNTRIES);
static LANGUAGE_TABLE: PairTable = PairTable::of(LANGUAGES);

/// A set of two-letter codes. For each first letter, the set has one bit for each second letter.
struct PairTable([u32; 26]);

impl PairTable {
    const fn of(codes: &str) -> Self {
        let codes = codes.as_bytes();
        let mut rows = [0; 26];
        let mut index = 0;
        while index < codes.len() {
            rows[(codes[index] - b'A') as usize] |= 1 << (codes[index + 1] - b'A');
            index += 3;
        }
        Self(rows)
    }

    /// Returns a regular expression that matches the codes regardless of case, such as `[Aa][DdEe]|[Bb][Aa]`.
    fn pattern(&self) -> String {
        let both = |letter: usize| {
            let capital = char::from(b'A' + letter as u8);
            [capital, capital.to_ascii_lowercase()]
        };
        let row = |(first, seconds): (usize, &u32)| {
            let seconds: String = (0..26).filter(|second| seconds >> second & 1 == 1).flat_map(both).collect();
            format!("[{}][{seconds}]", String::from_iter(both(first)))
        };
        self.0.iter().enumerate().filter(|(_, seconds)| **seconds != 0).map(row).collect::<Vec<_>>().join("|")
    }

    fn contains(&self, code: [u8; 2]) -> bool {
        let [first, second] = code.map(|letter| letter.to_ascii_uppercase().wrapping_sub(b'A'));
        second < 26 && self.0.get(usize::from(first)).is_some_and(|row| row >> second & 1 == 1)
    }
}

/// A country's ISO 3166-1 alpha-2 code, in uppercase.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CountryCode([u8; 2]);

impl CountryCode {
    /// Validates a country code in uppercase or lowercase.
    pub fn parse(given: &str) -> Result<Self, CountryError> {
        let given = given.trim();
        let &[first, second] = given.as_bytes() else {
            return Err(CountryError::NotTwoLetters);
        };
        let code = [first.to_ascii_uppercase(), second.to_ascii_uppercase()];
        if !code.iter().all(u8::is_ascii_uppercase) {
            return Err(CountryError::NotTwoLetters);
        }
        if COUNTRY_TABLE.contains(code) { Ok(Self(code)) } else { Err(CountryError::Unassigned(code)) }
    }

    /// Returns the code in uppercase.
    pub fn as_str(&self) -> &str {
        ascii(&self.0)
    }
}

/// Why a string is not a country code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CountryError {
    NotTwoLetters,
    Unassigned([u8; 2]),
}

impl fmt::Display for CountryError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotTwoLetters => f.write_str("The country is not a two-letter ISO 3166-1 code; use a code like DE or US."),
            // UK is by far the most frequent wrong code: it is reserved, but not assigned to the country.
            Self::Unassigned([b'U', b'K']) => f.write_str("UK is not an ISO 3166-1 country code; the United Kingdom is GB."),
            Self::Unassigned(code) => {
                write!(f, "{} is not an ISO 3166-1 country code; use a code like DE or US.", ascii(code))
            }
        }
    }
}

impl std::error::Error for CountryError {}

/// The maximum length of a language tag. RFC 5646 §4.4.1 recommends space for 35 characters; tags in use are far shorter.
pub const LANGUAGE_TAG_CHARACTERS_MAX: usize = 35;

/// A language by its ISO 639-1 code or BCP 47 tag, in the usual casing (`zh-Hant-TW`).
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct LanguageTag {
    /// Invariant: ASCII, and zero after the first `length` bytes, so that derived comparisons are correct.
    bytes: [u8; LANGUAGE_TAG_CHARACTERS_MAX],
    length: u8,
}

impl LanguageTag {
    /// Validates a language tag, ignoring case.
    pub fn parse(given: &str) -> Result<Self, LanguageError> {
        let given = given.trim();
        if given.len() > LANGUAGE_TAG_CHARACTERS_MAX {
            return Err(LanguageError::TooLong);
        }
        if given.contains('_') {
            return Err(LanguageError::Underscore);
        }
        let tag = oxilangtag::LanguageTag::parse_and_normalize(given).map_err(|_| LanguageError::NotATag)?;
        match *tag.primary_language().as_bytes() {
            [first, second] if !LANGUAGE_TABLE.contains([first, second]) => {
                return Err(LanguageError::Unassigned([first, second]));
            }
            [_, _] | [_, _, _] => {}
            _ => return Err(LanguageError::NotATag),
        }
        let text = tag.as_str().as_bytes();
        let mut bytes = [0; LANGUAGE_TAG_CHARACTERS_MAX];
        bytes.get_mut(..text.len()).ok_or(LanguageError::TooLong)?.copy_from_slice(text);
        Ok(Self { bytes, length: text.len() as u8 })
    }

    /// Returns the tag in the usual casing.
    pub fn as_str(&self) -> &str {
        ascii(&self.bytes[..usize::from(self.length)])
    }

    /// Returns the language alone, without script, region or variant.
    pub fn primary(&self) -> &str {
        self.as_str().split('-').next().unwrap_or_default()
    }
}

/// Returns the index in `offered` of the best language for a reader who wants the language `wanted`: the longest match according to RFC
/// 4647 §3.4 (`de-AT` finds `de`) or, if there is none, the first tag with the same language (`pt` finds `pt-BR`).
pub fn best_match(wanted: &str, offered: &[&str]) -> Option<usize> {
    let mut range = wanted;
    loop {
        if let Some(found) = offered.iter().position(|tag| tag.eq_ignore_ascii_case(range)) {
            return Some(found);
        }
        match range.rfind('-') {
            Some(end) => range = &range[..end],
            None => break,
        }
    }
    let is_same = |tag: &&str| tag.split('-').next().is_some_and(|primary| primary.eq_ignore_ascii_case(range));
    offered.iter().position(is_same)
}

/// Why a string is not a language tag.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LanguageError {
    NotATag,
    Underscore,
    TooLong,
    Unassigned([u8; 2]),
}

impl fmt::Display for LanguageError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotATag => f.write_str("The language is not an ISO 639-1 code or BCP 47 tag; use a code like en or pt-BR."),
            Self::Underscore => f.write_str("The language contains an underscore; separate its parts with hyphens, like pt-BR."),
            Self::TooLong => f.write_str("The language is longer than 35 characters; use a shorter tag, like zh-Hant-TW."),
            Self::Unassigned(code) => {
                write!(f, "{} is not an ISO 639-1 language code; use a code like en or pt-BR.", ascii(code))
            }
        }
    }
}

impl std::error::Error for LanguageError {}

fn ascii(bytes: &[u8]) -> &str {
    str::from_utf8(bytes).expect("a language tag has only ASCII letters, digits and hyphens")
}

impl FromStr for CountryCode {
    type Err = CountryError;

    fn from_str(given: &str) -> Result<Self, CountryError> {
        Self::parse(given)
    }
}

impl FromStr for LanguageTag {
    type Err = LanguageError;

    fn from_str(given: &str) -> Result<Self, LanguageError> {
        Self::parse(given)
    }
}

impl fmt::Display for CountryCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl fmt::Debug for CountryCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl fmt::Display for LanguageTag {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl fmt::Debug for LanguageTag {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl Serialize for CountryCode {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}

impl Serialize for LanguageTag {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}

impl<'de> Deserialize<'de> for CountryCode {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        serde_str::deserialize(deserializer, "a country code, like DE")
    }
}

impl<'de> Deserialize<'de> for LanguageTag {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        serde_str::deserialize(deserializer, "a language tag, like pt-BR")
    }
}

impl JsonSchema for CountryCode {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "CountryCode".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        // The pattern ignores case, which `enum` could not express.
        json_schema!({ "type": "string", "pattern": format!("^({})$", COUNTRY_TABLE.pattern()) })
    }
}

impl JsonSchema for LanguageTag {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "LanguageTag".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        // The pattern covers language, script, region and a variant: the parts of BCP 47 in use. [`LanguageTag::parse`] also accepts rarer
        // parts.
        let variant = "[A-Za-z0-9]{5,8}|[0-9][A-Za-z0-9]{3}";
        let language = format!("{}|[A-Za-z]{{3}}", LANGUAGE_TABLE.pattern());
        let pattern = format!("^({language})(-[A-Za-z]{{4}})?(-([A-Za-z]{{2}}|[0-9]{{3}}))?(-({variant}))?$");
        json_schema!({ "type": "string", "pattern": pattern, "maxLength": LANGUAGE_TAG_CHARACTERS_MAX })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn size(table: &PairTable) -> u32 {
        table.0.iter().map(|row| row.count_ones()).sum()
    }

    #[test]
    fn the_tables_are_complete_sorted_and_without_repeats() {
        for (codes, table, count) in [(COUNTRIES, &COUNTRY_TABLE, 249), (LANGUAGES, &LANGUAGE_TABLE, 183)] {
            let codes: Vec<_> = codes.split(' ').collect();
            assert!(codes.is_sorted() && codes.iter().all(|code| code.len() == 2));
            assert_eq!((codes.len(), size(table)), (count, count as u32));
        }
    }

    #[test]
    fn a_country_is_stored_in_uppercase() {
        assert_eq!(CountryCode::parse(" de ").map(|code| code.to_string()), Ok("DE".to_owned()));
        assert_eq!(size_of::<CountryCode>(), 2);
    }

    #[test]
    fn rejects_text_that_is_not_a_country() {
        for wrong in ["", "D", "DEU", "é", "1A", "D-", "Germany"] {
            assert_eq!(CountryCode::parse(wrong), Err(CountryError::NotTwoLetters), "{wrong}");
        }
        assert_eq!(CountryCode::parse("zz"), Err(CountryError::Unassigned(*b"ZZ")));
        let sentence = CountryCode::parse("uk").expect_err("a reserved code is rejected").to_string();
        assert!(sentence.ends_with("the United Kingdom is GB."), "{sentence}");
    }

    #[test]
    fn a_language_is_stored_in_the_usual_casing() {
        for (given, kept, primary) in [
            ("EN", "en", "en"),
            ("pt-br", "pt-BR", "pt"),
            ("ZH-hant-tw", "zh-Hant-TW", "zh"),
            ("de-1996", "de-1996", "de"),
            ("haw", "haw", "haw"),
            ("es-419", "es-419", "es"),
        ] {
            let tag = LanguageTag::parse(given).expect(given);
            assert_eq!((tag.as_str(), tag.primary()), (kept, primary));
        }
    }

    #[test]
    fn rejects_text_that_is_not_a_language() {
        assert_eq!(LanguageTag::parse("xx"), Err(LanguageError::Unassigned(*b"xx")));
        assert_eq!(LanguageTag::parse("en_US"), Err(LanguageError::Underscore));
        for wrong in ["", "e", "english", "en-", "en--US", "i-klingon", "x-private", "en US", "ñu", "en-US-en-US"] {
            assert_eq!(LanguageTag::parse(wrong), Err(LanguageError::NotATag), "{wrong}");
        }
        assert_eq!(LanguageTag::parse(&format!("en-x-{}", "abcdefgh-".repeat(4))), Err(LanguageError::TooLong));
    }
}
