//! Layers of settings, flattened to dotted keys, each with the origin of its value.
//!
//! An error about a value can therefore name the key, the origin and the remedy. The known keys are the keys of the defaults. This file
//! neither interprets keys nor checks rules that involve several values.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use serde::Deserialize;
use toml::de::{DeTable, DeValue};
use toml::{Table, Value};

use super::{Origin, SettingsError, VARIABLE_PREFIX};
use crate::base::serde_str;
use crate::vocab::settings::Settings;

/// Tables whose entries the operator names. All entries of a table have the same keys.
const NAMED_TABLES: [&str; 2] = ["models", "plans"];
/// The named tables whose entries inherit missing keys from the built-in entry.
const TABLES_WITH_DEFAULTS: [&str; 1] = ["models"];
/// The settings whose values are names of plans. A plan can be named "unlimited"; as the value of other settings, this word is a limit.
const PLAN_NAMES: [&str; 2] = ["accounts.owner_plan", "accounts.plan"];

/// The values of all layers that have been added.
pub(super) struct Layers {
    /// The known keys. The values of a key are its defaults, which serve as examples of its types; a string comes last. A limit that is
    /// "unlimited" by default also has a number as an example. Names in named tables are replaced by `*`.
    known: BTreeMap<String, Vec<Value>>,
    /// The current values. Invariant: every key matches a key in `known`, and its value has one of the types of that key.
    values: BTreeMap<String, (Value, Origin)>,
}

impl Layers {
    /// Reads the first layer, which defines the known keys.
    pub(super) fn of_defaults(text: &str) -> Result<Self, SettingsError> {
        let (table, _) = read(Path::new("default.toml"), text)?;
        let leaves = flatten(&table);
        let mut known: BTreeMap<String, Vec<Value>> = BTreeMap::new();
        for (key, value) in &leaves {
            let examples = known.entry(pattern(key)).or_default();
            let is_limit = value.as_str() == Some("unlimited") && !PLAN_NAMES.contains(&key.as_str());
            for example in std::iter::once(value.clone()).chain(is_limit.then_some(Value::Integer(0))) {
                if !examples.iter().any(|other| other.same_type(&example)) {
                    examples.push(example);
                }
            }
            // Any text parses as a string, so other types are tried first.
            examples.sort_by_key(Value::is_str);
        }
        let values = leaves.into_iter().map(|(key, value)| (key, (value, Origin::Default))).collect();
        Ok(Self { known, values })
    }

    pub(super) fn add_file(&mut self, path: &Path, text: &str) -> Result<(), SettingsError> {
        let (table, lines) = read(path, text)?;
        for (key, value) in flatten(&table) {
            let origin = Origin::File { path: path.to_owned(), line: lines.get(&key).copied().unwrap_or(1) };
            if value.as_table().is_some_and(Table::is_empty) && self.is_table(&key) {
                continue;
            }
            self.add(key, value, origin)?;
        }
        Ok(())
    }

    /// Adds the value of an environment variable, whose `name` starts with the prefix.
    pub(super) fn add_variable(&mut self, name: &str, text: &str) -> Result<(), SettingsError> {
        let origin = Origin::Variable(name.to_owned());
        let rest = &name[VARIABLE_PREFIX.len()..];
        let exact = rest.to_ascii_lowercase().replace("__", ".");
        if self.known.contains_key(&pattern(&exact)) {
            return self.add_text(&exact, text, origin);
        }
        let flat = exact.replace('.', "_");
        let candidates: Vec<String> = self.values.keys().filter(|key| key.replace('.', "_") == flat).cloned().collect();
        match candidates.as_slice() {
            [key] => self.add_text(key, text, origin),
            [] => {
                let nearest = variable_name(&self.nearest(&exact));
                Err(SettingsError::UnknownKey { key: name.to_owned(), origin, nearest })
            }
            [_, _, ..] => Err(SettingsError::AmbiguousVariable { name: name.to_owned(), candidates }),
        }
    }

    /// Adds a value that is given as text. The types of the key determine how the text is parsed.
    pub(super) fn add_text(&mut self, key: &str, text: &str, origin: Origin) -> Result<(), SettingsError> {
        let Some(examples) = self.known.get(&pattern(key)) else {
            return Err(self.unknown(key, origin));
        };
        let text = text.trim();
        let value = examples.iter().find_map(|example| match example {
            Value::Integer(_) => text.replace('_', "").parse().ok().map(Value::Integer),
            Value::Float(_) => text.parse().ok().map(Value::Float),
            Value::Boolean(_) => text.parse().ok().map(Value::Boolean),
            Value::Array(_) if text.starts_with('[') => text.parse().ok(),
            Value::Array(_) => Some(split_list(text)),
            _ => Some(Value::from(text)),
        });
        match value {
            Some(value) => self.add(key.to_owned(), value, origin),
            None => {
                let found = format!("{:?}", text.chars().take(60).collect::<String>());
                Err(SettingsError::WrongType { key: key.to_owned(), origin, found, expected: accepted(examples) })
            }
        }
    }

    fn add(&mut self, key: String, value: Value, origin: Origin) -> Result<(), SettingsError> {
        let Some(examples) = self.known.get(&pattern(&key)) else {
            if self.is_table(&key) {
                let found = type_name(&value).to_owned();
                return Err(SettingsError::WrongType { key, origin, found, expected: "a table" });
            }
            return Err(self.unknown(&key, origin));
        };
        // Where a fraction is expected, a whole number is accepted, such as 3 for a price of 3.0.
        let value = match (&value, &examples[0]) {
            (Value::Integer(whole), Value::Float(_)) => Value::Float(*whole as f64),
            // A list with one value may be written as that value, and an empty list as an empty string.
            (Value::String(one), Value::Array(_)) => {
                Value::Array(Some(value.clone()).filter(|_| !one.trim().is_empty()).into_iter().collect())
            }
            _ => value,
        };
        // All lists in the settings are lists of strings.
        let has_wrong_item = value.as_array().is_some_and(|items| !items.iter().all(Value::is_str));
        if !examples.iter().any(|example| value.same_type(example)) || has_wrong_item {
            let found = if has_wrong_item { "a list that contains other values" } else { type_name(&value) };
            return Err(SettingsError::WrongType { key, origin, found: found.to_owned(), expected: accepted(examples) });
        }
        self.values.insert(key, (value, origin));
        Ok(())
    }

    fn is_table(&self, key: &str) -> bool {
        let start = format!("{}.", pattern(key));
        self.known.keys().any(|known| known.starts_with(&start))
    }

    fn unknown(&self, key: &str, origin: Origin) -> SettingsError {
        if let Some((table, name)) = misnamed(key) {
            let reason =
                format!("the name {name} in {table} must consist of 1 to 40 lowercase letters, digits and single underscores");
            return SettingsError::Invalid { key: key.to_owned(), origin, reason };
        }
        SettingsError::UnknownKey { key: key.to_owned(), origin, nearest: self.nearest(key) }
    }

    /// Returns the known key or table that is most similar to `key`. The last part of the key has the most weight, because a key in the
    /// wrong table is a frequent mistake.
    fn nearest(&self, key: &str) -> String {
        let mut candidates: Vec<&str> = self.values.keys().map(String::as_str).collect();
        // The key can belong to an unknown table, so the known tables are candidates too.
        candidates.extend(self.values.keys().filter_map(|known| known.rsplit_once('.')).map(|(table, _)| table));
        let last = |key: &str| key.rsplit('.').next().unwrap_or_default().to_owned();
        let distance = |known: &&str| {
            let in_last_word = strsim::damerau_levenshtein(&last(known), &last(key));
            let in_all = strsim::damerau_levenshtein(known, key);
            in_all.min(in_last_word * 2 + 1)
        };
        candidates.into_iter().min_by_key(distance).unwrap_or_default().to_owned()
    }

    pub(super) fn settings(&self) -> Result<Settings, SettingsError> {
        let mut root = Table::new();
        for (key, value) in self.entry_defaults() {
            put(&mut root, &key, value);
        }
        for (key, (value, _)) in &self.values {
            put(&mut root, key, value.clone());
        }
        serde_path_to_error::deserialize(Value::Table(root)).map_err(|error| {
            let (path, reason) = (error.path().to_string(), serde_str::plain(error.inner().message().trim_end_matches('.')));
            let address = || {
                // The value can be a port without its address, such as "8090" or ":8090".
                let given = self.values.get(&path).and_then(|(value, _)| value.as_str()).unwrap_or_default();
                let port: u16 = given.trim_start_matches(':').parse().unwrap_or(8080);
                format!("must be an address with its port, such as 127.0.0.1:{port}")
            };
            let reason = if reason == "invalid socket address syntax" { address() } else { reason };
            self.invalid(&path, reason)
        })
    }

    /// For each entry of the tables in [`TABLES_WITH_DEFAULTS`], returns the default of every key.
    fn entry_defaults(&self) -> Vec<(String, Value)> {
        let named = |key: &String| {
            let mut levels = key.split('.');
            let (table, name) = (levels.next()?, levels.next()?);
            TABLES_WITH_DEFAULTS.contains(&table).then(|| format!("{table}.{name}."))
        };
        let entries: BTreeSet<String> = self.values.keys().filter_map(named).collect();
        let mut found = Vec::new();
        for (known, examples) in &self.known {
            let Some((table, key)) = known.split_once(".*.") else { continue };
            let own = entries.iter().filter(|entry| entry.starts_with(&format!("{table}.")));
            found.extend(own.map(|entry| (format!("{entry}{key}"), examples[0].clone())));
        }
        found
    }

    /// Creates the error for an invalid value, with the origin of the value.
    pub(super) fn invalid(&self, path: &str, reason: String) -> SettingsError {
        // An error inside a list or a table has the origin of the list, or of the first key of the table.
        let holder = |key: &&String| path == key.as_str() || path.starts_with(&format!("{key}["));
        let inside = |key: &&String| key.starts_with(&format!("{path}."));
        let keys = || self.values.keys();
        let found = keys().find(holder).or_else(|| keys().find(inside));
        let origin = found.map_or(Origin::Default, |key| self.values[key].1.clone());
        SettingsError::Invalid { key: path.to_owned(), origin, reason }
    }
}

/// Reads the values of a file, and the line of each key.
fn read(path: &Path, text: &str) -> Result<(Table, BTreeMap<String, usize>), SettingsError> {
    let syntax = |error: toml::de::Error| SettingsError::Syntax { path: path.to_owned(), message: error.to_string() };
    let spanned = DeTable::parse(text).map_err(syntax)?;
    let mut lines = BTreeMap::new();
    find_lines(spanned.get_ref(), "", text, &mut lines);
    let table = Table::deserialize(toml::Deserializer::parse(text).map_err(syntax)?).map_err(syntax)?;
    Ok((table, lines))
}

fn find_lines(table: &DeTable<'_>, path: &str, text: &str, lines: &mut BTreeMap<String, usize>) {
    for (key, value) in table {
        let path = join(path, key.get_ref());
        if let DeValue::Table(inner) = value.get_ref() {
            find_lines(inner, &path, text, lines);
        }
        let before = &text.as_bytes()[..key.span().start];
        lines.insert(path, before.iter().filter(|&&byte| byte == b'\n').count() + 1);
    }
}

/// Returns every value with its dotted key. A table is returned as a value only if it has no entries.
fn flatten(table: &Table) -> Vec<(String, Value)> {
    let mut leaves = Vec::new();
    let mut open: Vec<(String, &Table)> = vec![(String::new(), table)];
    while let Some((path, table)) = open.pop() {
        for (key, value) in table {
            let path = join(&path, key);
            match value {
                Value::Table(inner) if !inner.is_empty() => open.push((path, inner)),
                leaf => leaves.push((path, leaf.clone())),
            }
        }
    }
    leaves
}

fn join(path: &str, key: &str) -> String {
    // A quoted key may contain dots; it is shown in quotes, so that it is not mistaken for a path.
    let is_plain = !key.is_empty() && key.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-'));
    let key = if is_plain { key.to_owned() } else { format!("{key:?}") };
    if path.is_empty() { key } else { format!("{path}.{key}") }
}

fn put(table: &mut Table, key: &str, value: Value) {
    match key.split_once('.') {
        None => {
            table.insert(key.to_owned(), value);
        }
        Some((first, rest)) => {
            let inner = table.entry(first).or_insert_with(|| Value::Table(Table::new()));
            put(inner.as_table_mut().expect("no setting's key continues another setting's key"), rest, value);
        }
    }
}

/// Returns the key with `*` in place of a name that the operator chose.
fn pattern(key: &str) -> String {
    let mut levels: Vec<&str> = key.split('.').collect();
    if let [first, name, ..] = levels.as_mut_slice()
        && NAMED_TABLES.contains(first)
        && is_name(name)
    {
        *name = "*";
    }
    levels.join(".")
}

fn split_list(text: &str) -> Value {
    Value::Array(text.split(',').map(str::trim).filter(|item| !item.is_empty()).map(Value::from).collect())
}

/// If the operator chose an invalid name for an entry of a named table, returns the table and the name.
fn misnamed(key: &str) -> Option<(&str, &str)> {
    let (table, rest) = key.split_once('.')?;
    let (name, _) = rest.split_once('.')?;
    (NAMED_TABLES.contains(&table) && !is_name(name)).then_some((table, name))
}

/// Returns whether `name` can be used as a part of an environment variable's name.
fn is_name(name: &str) -> bool {
    let is_letter = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_';
    (1..=40).contains(&name.len()) && name.bytes().all(is_letter) && !name.contains("__")
}

pub(super) fn variable_name(key: &str) -> String {
    format!("{VARIABLE_PREFIX}{}", key.replace('.', "__").to_ascii_uppercase())
}

/// Describes the values that a key with these examples accepts, for an error message.
fn accepted(examples: &[Value]) -> &'static str {
    match &examples[0] {
        // Where a fraction is expected, a whole number is also accepted.
        Value::Float(_) => "a number",
        _ if examples.iter().any(Value::is_integer) && examples.iter().any(Value::is_str) => "a whole number or \"unlimited\"",
        first => type_name(first),
    }
}

fn type_name(value: &Value) -> &'static str {
    match value {
        Value::String(_) => "text",
        Value::Integer(_) => "a whole number",
        Value::Float(_) => "a number with a fraction",
        Value::Boolean(_) => "true or false",
        Value::Datetime(_) => "a date or time",
        Value::Array(_) => "a list of strings",
        Value::Table(_) => "a table",
    }
}

#[cfg(test)]
mod tests {
    use super::super::DEFAULT;
    use super::*;

    fn default_keys() -> BTreeMap<String, Value> {
        let (table, _) = read(Path::new("default.toml"), DEFAULT).expect("the defaults are TOML");
        flatten(&table).into_iter().collect()
    }

    #[test]
    fn every_setting_has_a_default_and_every_default_is_a_setting() {
        let keys = default_keys();
        // Remove each key in turn: the types require every key of the defaults. They also reject additional keys, as checked below.
        for gone in keys.keys() {
            let layers = Layers {
                known: BTreeMap::new(),
                values: keys
                    .iter()
                    .filter(|(key, _)| *key != gone)
                    .map(|(k, v)| (k.clone(), (v.clone(), Origin::Default)))
                    .collect(),
            };
            let error = layers.settings().expect_err("the settings are incomplete").to_string();
            let last = gone.rsplit('.').next().expect("the key has several parts");
            // If the only key of a table is removed, the table is missing too.
            let table = gone.split('.').next().expect("the key has several parts");
            let is_named = |word: &str| error.contains(&format!("missing field `{word}`"));
            assert!(is_named(last) || is_named(table), "{gone}: {error}");
        }
        let mut layers = Layers::of_defaults(DEFAULT).expect("the defaults are TOML");
        layers.values.insert("server.more".to_owned(), (Value::from(1), Origin::Default));
        assert!(layers.settings().expect_err("the key is unknown").to_string().contains("unknown field `more`"));
    }

    #[test]
    fn every_default_is_explained() {
        let mut previous = "";
        let mut explained = 0;
        for line in DEFAULT.lines() {
            if line.contains(" = ") && !line.starts_with('#') {
                assert!(previous.starts_with("# "), "there is no comment above this line: {line}");
                explained += 1;
            }
            previous = line;
        }
        assert_eq!(explained, default_keys().len());
    }
}
