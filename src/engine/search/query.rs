//! Parses and runs a search. There is no query language: the text is split into parts, and their words, whose number is bounded, become
//! lookups and ranges in the term dictionary.
//!
//! Every part must match, unless the parts together match as one phone number. The quality of a match is a [`Tier`], and the rank of a
//! document is the sum of the tiers of its matches. Among documents with equal ranks, the newest one (with the highest number) comes first.
//! All sets are bitmaps: a word that matches a million documents costs a few operations on 125 kB instead of a million scores.
//!
//! Typing errors are tolerated only if the text as written has few matches, and none of them matches whole words or prefixes. Otherwise,
//! the results would include contacts that contain only a similar word.

use roaring::RoaringBitmap;

use super::fold::{Folder, cut};
use super::reader::{NumberCollector, Segment, Snapshot};
use super::tokens::{
    PHONE_GROUP, PLAIN, PROVIDERS, RUNGS, Space, WORD_CHARS_MAX, char_count, digits, groups, plain_rungs, rung, term, words,
};
use super::typo::Typo;
use super::{Hits, Scope, SearchError};
use crate::vocab::limits;

const WORDS_MAX: usize = limits::SEARCH_TERMS_MAX;
/// The minimum number of characters for infix search, which looks up groups of this many characters.
const INFIX_CHARS_MIN: usize = 3;
/// If the text as written has at least this many matches, typing errors are not considered.
const ENOUGH: u64 = 20;

/// The quality of a match, best first.
#[derive(Clone, Copy)]
enum Tier {
    /// The match is a complete email address.
    Email,
    /// The match is a complete word of the address or the name, or a complete phone number.
    Word,
    WordInLabel,
    WordInValue,
    Prefix,
    PrefixInLabel,
    PrefixInValue,
    /// The match is inside the local part, the domain or the phone number.
    Infix,
    /// The match has typing errors.
    Typo,
}

const TIERS: usize = Tier::Typo as usize + 1;
type Tiers = [RoaringBitmap; TIERS];

/// A part of the query. Spaces separate parts.
#[derive(Debug, PartialEq)]
enum Part {
    /// A part with an `@`: the text before and after it.
    Address { local: String, domain: String },
    /// Any other part: the complete part (as in `ann.smith`), its words (`ann`, `smith`), and its digits if it looks like a phone number.
    Plain { whole: String, words: Vec<String>, digits: Option<String> },
}

#[derive(Debug, PartialEq)]
struct Parsed {
    parts: Vec<Part>,
    /// All digits of the text, if several parts together look like one phone number.
    phone: Option<String>,
}

pub(super) fn matching(snapshot: &Snapshot, scope: &Scope, text: &str) -> Result<RoaringBitmap, SearchError> {
    Ok(Lookup { snapshot, scope }.answer(&parse(text))?.all)
}

/// Returns the documents of `scope` that match `text` and are `allowed`, ranked.
pub(super) fn ranked(
    snapshot: &Snapshot,
    scope: &Scope,
    text: &str,
    allowed: &RoaringBitmap,
    (offset, limit): (usize, usize),
) -> Result<Hits, SearchError> {
    let answer = Lookup { snapshot, scope }.answer(&parse(text))?;
    let found = answer.all & allowed;
    let total = found.len();
    if offset as u64 >= total || limit == 0 {
        return Ok(Hits { numbers: Vec::new(), total });
    }
    let mut numbers = Vec::new();
    let mut skip = offset as u64;
    for level in levels(found, &answer.parts, answer.phone) {
        let size = level.len();
        let wanted = (limit - numbers.len()) as u64;
        // `select` skips whole containers, so deep pages cost hardly more than the first page.
        numbers.extend((skip..size.min(skip + wanted)).filter_map(|nth| level.select((size - 1 - nth) as u32)));
        skip = skip.saturating_sub(size);
        if numbers.len() == limit {
            break;
        }
    }
    Ok(Hits { numbers, total })
}

/// The documents that match a search text and, for each part of the text, the documents in each tier.
struct MatchedDocuments {
    all: RoaringBitmap,
    parts: Vec<Tiers>,
    phone: RoaringBitmap,
}

/// Splits `found` into sets of documents with equal rank, best first.
fn levels(found: RoaringBitmap, parts: &[Tiers], phone: RoaringBitmap) -> Vec<RoaringBitmap> {
    // If all parts together form a phone number, documents that match only this number rank as if each part matched inside a word.
    let (by_parts, only_phone) = if phone.is_empty() {
        (found, phone)
    } else {
        let by_parts = &found & intersection(parts, TIERS);
        let only_phone = found - &by_parts;
        (by_parts, only_phone)
    };
    let mut levels = vec![by_parts];
    for tiers in parts {
        let mut next: Vec<RoaringBitmap> = vec![RoaringBitmap::new(); levels.len() + TIERS - 1];
        for (rank, level) in levels.iter().enumerate().filter(|(_, level)| !level.is_empty()) {
            for (tier, set) in tiers.iter().enumerate().filter(|(_, set)| !set.is_empty()) {
                next[rank + tier] |= level & set;
            }
        }
        levels = next;
    }
    levels[Tier::Infix as usize * parts.len()] |= only_phone;
    levels
}

fn union(sets: &[RoaringBitmap]) -> RoaringBitmap {
    sets.iter().filter(|set| !set.is_empty()).fold(RoaringBitmap::new(), |all, set| all | set)
}

/// Reads the terms of one scope in one snapshot.
struct Lookup<'a> {
    snapshot: &'a Snapshot,
    scope: &'a Scope,
}

impl Lookup<'_> {
    fn answer(&self, parsed: &Parsed) -> Result<MatchedDocuments, SearchError> {
        if parsed.parts.is_empty() {
            return Ok(MatchedDocuments { all: RoaringBitmap::new(), parts: Vec::new(), phone: RoaringBitmap::new() });
        }
        let phone = parsed.phone.as_deref().map_or_else(|| Ok(RoaringBitmap::new()), |digits| self.inside_phone(digits))?;
        let mut parts = parsed.parts.iter().map(|part| self.written(part)).collect::<Result<Vec<_>, _>>()?;
        let written = intersection(&parts, TIERS) | &phone;
        if written.len() < ENOUGH && intersection(&parts, Tier::Infix as usize).is_empty() {
            for (part, tiers) in parsed.parts.iter().zip(&mut parts) {
                let found = self.mistyped(part)? - union(&tiers[..]);
                tiers[Tier::Typo as usize] = found;
            }
        }
        let all = intersection(&parts, TIERS) | &phone;
        Ok(MatchedDocuments { all, parts, phone })
    }

    /// Finds the matches of `part` as written. The tiers are disjoint.
    fn written(&self, part: &Part) -> Result<Tiers, SearchError> {
        let mut tiers = Tiers::default();
        match part {
            Part::Address { local, domain } => self.written_address(local, domain, &mut tiers)?,
            Part::Plain { whole, words, digits } => {
                let single = words.len() == 1 && words[0] == *whole;
                let extra: &[Space] = if single { &[Space::Name] } else { &[] };
                tiers[Tier::Word as usize] =
                    self.exact(&[&[Space::Local, Space::Domain, Space::Phone], extra].concat(), whole)?;
                tiers[Tier::Prefix as usize] = self.prefix(&[&[Space::Local, Space::Domain], extra].concat(), whole)?;
                if single {
                    tiers[Tier::WordInLabel as usize] = self.exact(&[Space::Label], whole)?;
                    tiers[Tier::WordInValue as usize] = self.exact(&[Space::Value], whole)?;
                    tiers[Tier::PrefixInLabel as usize] = self.prefix(&[Space::Label], whole)?;
                    tiers[Tier::PrefixInValue as usize] = self.prefix(&[Space::Value], whole)?;
                } else {
                    self.written_words(words, &mut tiers)?;
                }
                tiers[Tier::Infix as usize] = self.inside(&[Space::InLocal, Space::InDomain], whole)?;
                if let Some(digits) = digits {
                    tiers[Tier::Word as usize] |= self.exact(&[Space::Phone], digits)?;
                    tiers[Tier::Infix as usize] |= self.inside_phone(digits)?;
                }
            }
        }
        let mut better = RoaringBitmap::new();
        for tier in tiers.iter_mut().filter(|tier| !tier.is_empty()) {
            *tier -= &better;
            better |= &*tier;
        }
        Ok(tiers)
    }

    fn written_address(&self, local: &str, domain: &str, tiers: &mut Tiers) -> Result<(), SearchError> {
        if local.is_empty() {
            tiers[Tier::Word as usize] = self.exact(&[Space::Domain], domain)?;
            tiers[Tier::Prefix as usize] = self.prefix(&[Space::Domain], domain)?;
            return Ok(());
        }
        let whole = self.exact(&[Space::Local], local)?;
        let ending = self.inside(&[Space::InLocal], local)?;
        if domain.is_empty() {
            tiers[Tier::Word as usize] = whole;
            tiers[Tier::Infix as usize] = ending;
            return Ok(());
        }
        if whole.is_empty() && ending.is_empty() {
            return Ok(());
        }
        let starting = self.prefix(&[Space::Domain], domain)?;
        tiers[Tier::Email as usize] = &whole & self.exact(&[Space::Domain], domain)?;
        tiers[Tier::Prefix as usize] = whole & &starting;
        tiers[Tier::Infix as usize] = ending & starting;
        Ok(())
    }

    /// Finds the matches of several words that were written together (`jean-luc`): the document must contain all of them, each at least as
    /// a prefix. The worst match determines the tier.
    fn written_words(&self, words: &[String], tiers: &mut Tiers) -> Result<(), SearchError> {
        let mut up_to: Vec<RoaringBitmap> = Vec::new();
        for (nth, word) in words.iter().enumerate() {
            let mut found = RoaringBitmap::new();
            for (at, tier) in [Tier::Word, Tier::WordInLabel, Tier::WordInValue, Tier::Prefix].into_iter().enumerate() {
                found |= match tier {
                    Tier::Word => self.exact(&[Space::Name], word)?,
                    Tier::WordInLabel => self.exact(&[Space::Label], word)?,
                    Tier::WordInValue => self.exact(&[Space::Value], word)?,
                    _ => self.prefix(&[Space::Name, Space::Label, Space::Value], word)?,
                };
                if nth == 0 { up_to.push(found.clone()) } else { up_to[at] &= &found }
            }
        }
        for (found, tier) in up_to.into_iter().zip([Tier::Word, Tier::WordInLabel, Tier::WordInValue, Tier::PrefixInValue]) {
            tiers[tier as usize] |= found;
        }
        Ok(())
    }

    /// Finds the matches of `part` with typing errors.
    fn mistyped(&self, part: &Part) -> Result<RoaringBitmap, SearchError> {
        match part {
            Part::Address { local, domain } if local.is_empty() => self.near(&[Space::Domain], domain, true),
            Part::Address { local, domain } if domain.is_empty() => self.near(&[Space::Local], local, false),
            Part::Address { local, domain } => {
                let local = self.exact(&[Space::Local], local)? | self.near(&[Space::Local], local, false)?;
                if local.is_empty() {
                    return Ok(local);
                }
                Ok(local & (self.prefix(&[Space::Domain], domain)? | self.near(&[Space::Domain], domain, true)?))
            }
            Part::Plain { whole, words, .. } if words.len() == 1 => {
                self.near(&[Space::Local, Space::Domain, Space::Name, Space::Label, Space::Value], whole, true)
            }
            Part::Plain { whole, words, .. } => {
                let spaces = [Space::Name, Space::Label, Space::Value];
                let mut all: Option<RoaringBitmap> = None;
                for word in words {
                    let found = self.prefix(&spaces, word)? | self.near(&spaces, word, true)?;
                    all = Some(all.map_or_else(|| found.clone(), |all| all & &found));
                }
                Ok(all.unwrap_or_default() | self.near(&[Space::Local, Space::Domain], whole, true)?)
            }
        }
    }

    fn exact(&self, spaces: &[Space], word: &str) -> Result<RoaringBitmap, SearchError> {
        let classes = [PLAIN, rung(char_count(word))];
        self.collect(&self.terms(spaces, &classes, word, true), Segment::exact)
    }

    fn prefix(&self, spaces: &[Space], word: &str) -> Result<RoaringBitmap, SearchError> {
        let chars = char_count(word);
        let classes = [rung(chars), PLAIN];
        // If the text is no longer than the indexed prefixes of plain words, class 0 does not need to be read.
        let class_count = |space| if chars <= plain_rungs(space) { 1 } else { 2 };
        let terms = |&space: &Space| self.terms(&[space], &classes[..class_count(space)], word, false);
        self.collect(&spaces.iter().flat_map(terms).collect::<Vec<_>>(), Segment::range)
    }

    fn terms(&self, spaces: &[Space], classes: &[u8], word: &str, end: bool) -> Vec<Vec<u8>> {
        let class_terms = |&space| classes.iter().map(move |&class| term(self.scope, space, class, word.as_bytes(), end));
        spaces.iter().flat_map(class_terms).collect()
    }

    fn collect(
        &self,
        terms: &[Vec<u8>],
        read: impl Fn(&Segment, &[u8], &mut NumberCollector) -> Result<(), SearchError>,
    ) -> Result<RoaringBitmap, SearchError> {
        let mut found = self.snapshot.collect();
        for segment in &self.snapshot.segments {
            for term in terms {
                read(segment, term, &mut found)?;
            }
        }
        Ok(found.finish())
    }

    fn inside(&self, spaces: &[Space], text: &str) -> Result<RoaringBitmap, SearchError> {
        if char_count(text) < INFIX_CHARS_MIN {
            return Ok(RoaringBitmap::new());
        }
        let mut found = self.snapshot.collect();
        for &space in spaces {
            let terms: Vec<Vec<u8>> = groups(text, 3).map(|group| term(self.scope, space, 0, group.as_bytes(), false)).collect();
            self.snapshot.segments.iter().try_for_each(|segment| segment.all(&terms, &mut found))?;
        }
        let mut found = found.finish();
        if spaces.contains(&Space::InDomain) {
            for provider in PROVIDERS.into_iter().filter(|provider| provider[1..].contains(text)) {
                found |= self.exact(&[Space::Domain], provider)?;
            }
        }
        Ok(found)
    }

    /// Finds the documents whose phone number contains `digits`, or `digits` without the leading zero of a national number. Fewer
    /// than `INFIX_CHARS_MIN` digits match only at the start of a phone number.
    fn inside_phone(&self, digits: &str) -> Result<RoaringBitmap, SearchError> {
        if digits.len() < INFIX_CHARS_MIN {
            let starting = term(self.scope, Space::Phone, digits.len() as u8, digits.as_bytes(), false);
            return self.collect(&[starting], Segment::exact);
        }
        let mut found = self.snapshot.collect();
        let mut forms = vec![digits, digits.trim_start_matches('0')];
        forms.dedup();
        for digits in forms.into_iter().filter(|digits| digits.len() >= INFIX_CHARS_MIN) {
            let of_group = |group: &str| term(self.scope, Space::InPhone, PLAIN, group.as_bytes(), false);
            if digits.len() < PHONE_GROUP {
                self.snapshot.segments.iter().try_for_each(|segment| segment.range(&of_group(digits), &mut found))?;
            } else {
                let terms: Vec<Vec<u8>> = groups(digits, PHONE_GROUP).map(of_group).collect();
                self.snapshot.segments.iter().try_for_each(|segment| segment.all(&terms, &mut found))?;
            }
        }
        Ok(found.finish())
    }

    /// Finds the documents with a word similar to `word` or, if `starting`, with a word whose prefix is similar to `word`.
    fn near(&self, spaces: &[Space], word: &str, starting: bool) -> Result<RoaringBitmap, SearchError> {
        let chars = char_count(word);
        let mut found = self.snapshot.collect();
        for typo in Typo::all(word, starting) {
            let rungs = rung(chars - typo.edits)..=rung((chars + typo.edits).min(WORD_CHARS_MAX));
            for &space in spaces {
                // Local parts are never in the class of plain words.
                let plain = (space != Space::Local).then_some(PLAIN);
                for class in plain.into_iter().chain(RUNGS.into_iter().filter(|rung| rungs.contains(rung))) {
                    let head = term(self.scope, space, class, typo.first.as_bytes(), false);
                    for segment in &self.snapshot.segments {
                        segment.accepted(typo.behind(&head), &mut found)?;
                    }
                }
            }
        }
        Ok(found.finish())
    }
}

/// Returns the documents that match every part in one of its first `tiers` tiers.
fn intersection(parts: &[Tiers], tiers: usize) -> RoaringBitmap {
    let mut unions = parts.iter().map(|part| union(&part[..tiers]));
    let first = unions.next().unwrap_or_default();
    unions.fold(first, |all, found| all & found)
}

fn parse(text: &str) -> Parsed {
    let mut folder = Folder::new();
    let text = folder.fold(text, limits::SEARCH_CHARACTERS_MAX);
    let mut parts: Vec<Part> = Vec::new();
    let mut left = WORDS_MAX;
    for piece in text.split_whitespace() {
        let Some(part) = parse_part(piece, left) else { continue };
        if parts.contains(&part) {
            continue;
        }
        left -= if let Part::Plain { words, .. } = &part { words.len() } else { 1 };
        parts.push(part);
        if left == 0 {
            break;
        }
    }
    let phone = if parts.len() > 1 { phone_digits(text) } else { None };
    Parsed { parts, phone }
}

fn parse_part(piece: &str, words_max: usize) -> Option<Part> {
    if let Some((local, domain)) = piece.rsplit_once('@') {
        let bare = |text: &str| {
            let text = text.trim_matches(|c: char| !c.is_alphanumeric() && !matches!(c, '_' | '-' | '+' | '.'));
            cut(text, WORD_CHARS_MAX).to_owned()
        };
        let (local, domain) = (bare(local), bare(domain));
        return (!local.is_empty() || !domain.is_empty()).then_some(Part::Address { local, domain });
    }
    let whole = cut(piece.trim_matches(|c: char| !c.is_alphanumeric()), WORD_CHARS_MAX).to_owned();
    let mut words: Vec<String> = words(&whole).take(words_max).map(str::to_owned).collect();
    words.dedup();
    (!words.is_empty()).then(|| Part::Plain { digits: phone_digits(piece), whole, words })
}

/// Returns the digits of text that looks like a phone number or a part of one.
fn phone_digits(text: &str) -> Option<String> {
    let written_so = text.chars().all(|c| c.is_ascii_digit() || matches!(c, ' ' | '+' | '-' | '(' | ')' | '.' | '/'));
    let digits = if written_so { digits(text) } else { String::new() };
    (!digits.is_empty()).then_some(digits)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parses_a_text() {
        let plain = |whole: &str, words: &[&str], digits: Option<&str>| Part::Plain {
            whole: whole.to_owned(),
            words: words.iter().map(|&word| word.to_owned()).collect(),
            digits: digits.map(str::to_owned),
        };
        assert_eq!(
            parse("  (Ann) ann.SMITH, ann ").parts,
            [plain("ann", &["ann"], None), plain("ann.smith", &["ann", "smith"], None)]
        );
        let address = Part::Address { local: "ann".to_owned(), domain: "x.io".to_owned() };
        assert_eq!(parse("<Ann@X.io>").parts, [address]);
        assert_eq!(parse("+1 (555) 123").phone.as_deref(), Some("1555123"));
        assert_eq!(parse("555-123").parts, [plain("555-123", &["555", "123"], Some("555123"))]);
        assert_eq!(parse("555-123").phone, None);
    }

    #[test]
    fn hostile_texts_become_few_words_or_none() {
        for text in ["", " ", "@", "@@@", "((((((", "\0\u{1}", "-- .. //", "\u{200d}"] {
            assert_eq!(parse(text).parts, [], "{text:?}");
        }
        assert_eq!(parse(&"(".repeat(3_000)).parts, []);
        let many: String = (0..5_000).map(|n| format!("{n} ")).collect();
        assert!(parse(&many).parts.len() <= WORDS_MAX);
        let joined: String = (0..5_000).map(|n| format!("{n}-")).collect();
        let Part::Plain { words, whole, .. } = &parse(&joined).parts[0] else { panic!("no address") };
        assert!(words.len() <= WORDS_MAX && whole.len() <= WORD_CHARS_MAX);
    }
}
