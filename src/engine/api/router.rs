//! Maps a method and a path to an operation. A literal path segment is reserved for all methods: `/v1/emails/test` does not match
//! `/v1/emails/{emailId}`.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

use http::Method;

use super::failure::Failure;
use super::input::Arguments;
use super::operation::Entry;
use super::spec::{Access, Verb};
use crate::vocab::codes::Code;

pub enum Route<'a> {
    /// The operation was found; `path` contains the path parameters.
    Found {
        entry: &'static Entry,
        path: Vec<(&'a str, Cow<'a, str>)>,
    },
    /// The path exists, but only with these methods.
    OtherMethods(String),
    Unknown,
}

pub struct Router {
    pub operations: &'static [Entry],
    nodes: matchit::Router<Node>,
}

#[derive(Default, Clone)]
struct Node {
    entries: [Option<&'static Entry>; Verb::ALL.len()],
    /// For each path parameter, in order: the literal segments of other paths at the same position. None of them is a valid value of the
    /// parameter.
    reserved: Vec<BTreeSet<&'static str>>,
}

impl Router {
    /// Builds the router for a table of operations. Panics if two operations have the same method and path, which is a mistake in the
    /// table.
    pub fn new(operations: &'static [Entry]) -> Self {
        let mut nodes: matchit::Router<Node> = matchit::Router::new();
        let mut places: BTreeMap<&'static str, Node> = BTreeMap::new();
        for entry in operations {
            for path in std::iter::once(&entry.spec.path).chain(entry.spec.aliases) {
                let slot = &mut places.entry(path).or_default().entries[entry.spec.verb as usize];
                assert!(slot.is_none(), "{} {path} is declared twice", entry.spec.verb.name());
                *slot = Some(entry);
            }
        }
        let literals = literals(places.keys().copied());
        for (path, mut node) in places {
            let names = path.match_indices("/{").map(|(end, _)| literals.get(&path[..end]).cloned().unwrap_or_default());
            node.reserved = names.collect();
            nodes.insert(path, node).unwrap_or_else(|error| panic!("the path {path} cannot be routed: {error}"));
        }
        Self { operations, nodes }
    }

    /// Finds the operation for a method and path. `operator` is true if the operator of the machine sent the request.
    pub fn find<'a>(&'a self, method: &Method, path: &'a str, operator: bool) -> Route<'a> {
        let Ok(found) = self.nodes.at(path) else { return Route::Unknown };
        let named = found.params.iter().map(|(name, value)| Some((name, decoded(value)?)));
        let Some(path) = named.collect::<Option<Vec<(&str, Cow<'_, str>)>>>() else { return Route::Unknown };
        let Node { entries, reserved } = found.value;
        if path.iter().zip(reserved).any(|((_, value), reserved)| reserved.contains(value.as_ref())) {
            return Route::Unknown;
        }
        let visible = |entry: &&Entry| operator || entry.spec.access != Access::Operator;
        let entry = verb(method).and_then(|verb| entries[verb as usize]).filter(|entry| visible(entry));
        if let Some(entry) = entry {
            return Route::Found { entry, path };
        }
        let others = entries.iter().flatten().copied().filter(visible).filter(|entry| takes(entry, &path));
        let methods: Vec<&str> = others.map(|entry| entry.spec.verb.name()).collect();
        if methods.is_empty() { Route::Unknown } else { Route::OtherMethods(allow(&methods)) }
    }

    /// Returns the failure for a path that does not exist.
    pub fn unknown(&self, path: &str) -> Failure {
        let detail = match self.similar(path).as_slice() {
            [] => "This path does not exist; see /openapi.json.".to_owned(),
            [similar] => format!("This path does not exist; a similar path is {similar}. See /openapi.json."),
            similar => format!("This path does not exist; similar paths are {}. See /openapi.json.", similar.join(", ")),
        };
        Failure::because(Code::NotFound, detail)
    }

    /// Returns the paths that differ from an unknown path in at most one segment, most similar first. If the segment comes after the noun,
    /// it may be completely different, such as another format of an export, or empty. If it is the noun or comes before the noun, it must
    /// be spelled almost the same.
    fn similar(&self, unknown: &str) -> Vec<&'static str> {
        let given: Vec<&str> = unknown.split('/').collect();
        // Anyone can request unknown paths, so an edit distance is computed only for short segments of paths with the same
        // number of segments.
        let with_distance = |path: &'static str| {
            let own: Vec<&str> = path.split('/').collect();
            if own.len() != given.len() {
                return None;
            }
            let agrees = |own: &str, given: &str| if own.starts_with('{') { !given.is_empty() } else { own == given };
            let mut differ = own.iter().zip(&given).enumerate().filter(|(_, (own, given))| !agrees(own, given));
            let Some((position, (word, typed))) = differ.next() else { return Some((0, path)) };
            if differ.next().is_some() {
                return None;
            }
            let is_short = typed.len() <= COMPARED_BYTES_MAX;
            let distance = if is_short { strsim::damerau_levenshtein(word, typed) } else { typed.len() };
            (position > NOUN_POSITION || distance * 3 <= word.len()).then_some((distance, path))
        };
        let visible = self.operations.iter().filter(|entry| entry.spec.access != Access::Operator);
        let similar: BTreeSet<(usize, &'static str)> = visible.filter_map(|entry| with_distance(entry.spec.path)).collect();
        similar.into_iter().map(|(_, path)| path).take(SIMILAR_PATHS_MAX).collect()
    }
}

/// The maximum number of similar paths in an error message. A longer list would not help the caller.
const SIMILAR_PATHS_MAX: usize = 8;

/// The maximum length, in bytes, of a segment whose spelling is compared. No known segment is longer.
const COMPARED_BYTES_MAX: usize = 48;

/// The position of the noun among the segments of a path such as `/v1/emails/{emailId}`. The text before the first slash is segment 0.
const NOUN_POSITION: usize = 2;

/// Returns the literal segments that follow each path prefix.
fn literals(paths: impl Iterator<Item = &'static str>) -> BTreeMap<&'static str, BTreeSet<&'static str>> {
    let mut literals: BTreeMap<&'static str, BTreeSet<&'static str>> = BTreeMap::new();
    for path in paths {
        for (end, _) in path.match_indices('/') {
            let segment = path[end + 1..].split('/').next().unwrap_or_default();
            if !segment.starts_with('{') {
                literals.entry(&path[..end]).or_default().insert(segment);
            }
        }
    }
    literals
}

/// Returns whether the operation accepts these values of the path parameters. Errors in other fields are ignored.
fn takes(entry: &Entry, path: &[(&str, Cow<'_, str>)]) -> bool {
    let arguments = Arguments { spec: entry.spec, path: path.to_vec(), query: "", body: b"{}", given: None };
    let Err(failure) = (entry.reads)(&arguments) else { return true };
    !path.iter().any(|(name, _)| failure.field.as_deref() == Some(name))
}

fn allow(methods: &[&str]) -> String {
    let head = if methods.contains(&"GET") { "HEAD, " } else { "" };
    format!("{head}{}", methods.join(", "))
}

fn verb(method: &Method) -> Option<Verb> {
    match *method {
        Method::GET | Method::HEAD => Some(Verb::Get),
        Method::POST => Some(Verb::Post),
        Method::PUT => Some(Verb::Put),
        Method::PATCH => Some(Verb::Patch),
        Method::DELETE => Some(Verb::Delete),
        _ => None,
    }
}

/// Returns a path segment with its percent-escapes decoded; `None` if an escape is invalid or the result is not UTF-8.
fn decoded(part: &str) -> Option<Cow<'_, str>> {
    if !part.contains('%') {
        return Some(Cow::Borrowed(part));
    }
    let mut bytes = Vec::with_capacity(part.len());
    let mut rest = part.as_bytes();
    while let Some((&byte, tail)) = rest.split_first() {
        if byte != b'%' {
            bytes.push(byte);
            rest = tail;
            continue;
        }
        let (pair, tail) = tail.split_first_chunk::<2>()?;
        let digits = std::str::from_utf8(pair).ok()?;
        bytes.push(u8::from_str_radix(digits, 16).ok()?);
        rest = tail;
    }
    String::from_utf8(bytes).ok().map(Cow::Owned)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use crate::testing::TestApp;

    #[test]
    fn an_unknown_path_names_similar_ones() {
        let app = TestApp::new();
        for (path, similar) in [
            ("/v1/emails//edit", "/v1/emails/{emailId}/edit"),
            ("/v1/emails/x/edti", "/v1/emails/{emailId}/edit"),
            ("/v1/campaigns//send", "/v1/campaigns/{id}/send"),
            ("/v1/domain", "/v1/domains"),
        ] {
            let refused = app.post(path, json!({}));
            assert!(refused.refusal().0 == 404 && refused.refusal().2.contains(similar), "{path}: {refused:?}");
        }
        for path in ["/v1/nothing/like/this/at/all", "/v1/nothing"] {
            let refused = app.post(path, json!({}));
            assert!(refused.refusal().0 == 404 && !refused.refusal().2.contains("similar"), "{path}: {refused:?}");
        }
    }
}
