//! From method and path to an operation.

use std::borrow::Cow;

use http::Method;

use super::operation::Entry;
use super::spec::{Access, Verb};

/// What the router says of a request.
pub enum Route<'a> {
    /// This operation, with the names of the path. The last is whether the method was HEAD.
    Found { entry: &'static Entry, path: Vec<(&'a str, Cow<'a, str>)> },
    /// The path exists, with these methods.
    OtherMethods(String),
    /// No such path.
    Unknown,
}

/// Every path of every operation.
pub struct Router {
    nodes: matchit::Router<Node>,
}

#[derive(Default, Clone)]
struct Node {
    entries: [Option<&'static Entry>; Verb::ALL.len()],
}

impl Router {
    /// The router of a table. Two operations at one place are a mistake in the table, found at the first start of any test.
    pub fn new(operations: &'static [Entry]) -> Self {
        let mut nodes: matchit::Router<Node> = matchit::Router::new();
        let mut places: std::collections::BTreeMap<&'static str, Node> = std::collections::BTreeMap::new();
        for entry in operations {
            for path in std::iter::once(&entry.spec.path).chain(entry.spec.aliases) {
                let slot = &mut places.entry(path).or_default().entries[entry.spec.verb as usize];
                assert!(slot.is_none(), "{} {path} is declared twice", entry.spec.verb.name());
                *slot = Some(entry);
            }
        }
        for (path, node) in places {
            nodes.insert(path, node).unwrap_or_else(|error| panic!("the path {path} cannot be routed: {error}"));
        }
        Self { nodes }
    }

    /// Find the operation. `operator`: whether the request came in by the operator's own way.
    pub fn find<'a>(&'a self, method: &Method, path: &'a str, operator: bool) -> Route<'a> {
        let Ok(found) = self.nodes.at(path) else { return Route::Unknown };
        let visible = |entry: &&Entry| operator || entry.spec.access != Access::Operator;
        let entry = verb(method).and_then(|verb| found.value.entries[verb as usize]).filter(|entry| visible(entry));
        if let Some(entry) = entry {
            let Some(path) = found.params.iter().map(|(name, value)| Some((name, decoded(value)?))).collect() else {
                return Route::Unknown;
            };
            return Route::Found { entry, path };
        }
        let methods: Vec<&str> =
            found.value.entries.iter().flatten().copied().filter(visible).map(|entry| entry.spec.verb.name()).collect();
        if methods.is_empty() { Route::Unknown } else { Route::OtherMethods(allow(&methods)) }
    }
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

/// A path part with its %-escapes resolved; `None` if they do not make UTF-8.
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
