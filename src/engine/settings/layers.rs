//! Layers of settings, flattened to dotted keys with their origins.
//!
//! So each error can name the key, the origin, and the remedy. The known keys are those of the defaults. The meaning of keys, and rules
//! between values, are not known here.

use std::collections::BTreeMap;
use std::path::Path;

use serde::Deserialize;
use toml::de::{DeTable, DeValue};
use toml::{Table, Value};

use super::{Origin, SettingsError, VARIABLE_PREFIX};
use crate::vocab::settings::Settings;

/// Tables whose entries the operator names; every entry has the same keys.
const NAMED_TABLES: [&str; 1] = ["plans"];

/// The values of all layers so far.
pub(super) struct Layers {
    /// The known keys, with defaults as examples of their types, text last. Names in named tables are `*`.
    known: BTreeMap<String, Vec<Value>>,
    /// Invariant: every key matches one of `known`, with a value of one of its types.
    values: BTreeMap<String, (Value, Origin)>,
}

impl Layers {
    /// The first layer, which defines the known keys.
    pub(super) fn of_defaults(text: &str) -> Result<Self, SettingsError> {
        let (table, _) = read(Path::new("default.toml"), text)?;
        let leaves = flatten(&table);
        let mut known: BTreeMap<String, Vec<Value>> = BTreeMap::new();
        for (key, value) in &leaves {
            let examples = known.entry(pattern(key)).or_default();
            if !examples.iter().any(|example| example.same_type(value)) {
                examples.push(value.clone());
                // Any text parses as text, so other types are tried first.
                examples.sort_by_key(Value::is_str);
            }
        }
        let values = leaves.into_iter().map(|(key, value)| (key, (value, Origin::Default))).collect();
        Ok(Self { known, values })
    }

    /// Adds a file's values.
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

    /// Adds a variable's value. `name` starts with the prefix.
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

    /// Adds a value given as text: the key's type decides how it is parsed.
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
                Err(SettingsError::WrongType { key: key.to_owned(), origin, found, expected: type_name(&examples[0]) })
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
        // A price of 3 means 3.0.
        let value = match (&value, &examples[0]) {
            (Value::Integer(whole), Value::Float(_)) => Value::Float(*whole as f64),
            // A list of one value may be written as that value, and an empty list as empty text.
            (Value::String(one), Value::Array(_)) => {
                Value::Array(Some(value.clone()).filter(|_| !one.trim().is_empty()).into_iter().collect())
            }
            _ => value,
        };
        // All our lists are lists of strings.
        let has_wrong_item = value.as_array().is_some_and(|items| !items.iter().all(Value::is_str));
        if !examples.iter().any(|example| value.same_type(example)) || has_wrong_item {
            let found = if has_wrong_item { "a list of other values" } else { type_name(&value) };
            return Err(SettingsError::WrongType { key, origin, found: found.to_owned(), expected: type_name(&examples[0]) });
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
            let reason = format!("{name} as a name in {table} must consist of lowercase letters, digits and single underscores");
            return SettingsError::Invalid { key: key.to_owned(), origin, reason };
        }
        SettingsError::UnknownKey { key: key.to_owned(), origin, nearest: self.nearest(key) }
    }

    /// The most similar known key. The last part counts most: a key in the wrong table is a frequent mistake.
    fn nearest(&self, key: &str) -> String {
        let mut candidates: Vec<&str> = self.values.keys().map(String::as_str).collect();
        // An unknown table is most similar to another table.
        candidates.extend(self.values.keys().filter_map(|known| known.rsplit_once('.')).map(|(table, _)| table));
        let last = |key: &str| key.rsplit('.').next().unwrap_or_default().to_owned();
        let distance = |known: &&str| {
            let in_last_word = strsim::damerau_levenshtein(&last(known), &last(key));
            let in_all = strsim::damerau_levenshtein(known, key);
            in_all.min(in_last_word * 2 + 1)
        };
        candidates.into_iter().min_by_key(distance).unwrap_or_default().to_owned()
    }

    /// All values in their types.
    pub(super) fn settings(&self) -> Result<Settings, SettingsError> {
        let mut root = Table::new();
        for (key, (value, _)) in &self.values {
            put(&mut root, key, value.clone());
        }
        serde_path_to_error::deserialize(Value::Table(root)).map_err(|error| {
            let reason = error.inner().message().trim_end_matches('.').to_owned();
            self.invalid(&error.path().to_string(), reason)
        })
    }

    /// The error for a value, with its origin.
    pub(super) fn invalid(&self, path: &str, reason: String) -> SettingsError {
        // Errors inside a list or a table name the list's key, or the first key of the table.
        let holder = |key: &&String| path == key.as_str() || path.starts_with(&format!("{key}["));
        let inside = |key: &&String| key.starts_with(&format!("{path}."));
        let keys = || self.values.keys();
        let found = keys().find(holder).or_else(|| keys().find(inside));
        let origin = found.map_or(Origin::Default, |key| self.values[key].1.clone());
        SettingsError::Invalid { key: path.to_owned(), origin, reason }
    }
}

/// The file's values, and the line of each key.
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

/// Every value with its dotted key; of tables, only those without entries.
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
    // A quoted key may contain dots; shown quoted, it is not mistaken for a path.
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
            put(inner.as_table_mut().expect("no known key continues another"), rest, value);
        }
    }
}

/// The key with `*` for a name that the operator chose.
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

/// The table and the name, if the operator chose an invalid name.
fn misnamed(key: &str) -> Option<(&str, &str)> {
    let (table, rest) = key.split_once('.')?;
    let (name, _) = rest.split_once('.')?;
    (NAMED_TABLES.contains(&table) && !is_name(name)).then_some((table, name))
}

/// Names must be usable as part of a variable's name.
fn is_name(name: &str) -> bool {
    let is_letter = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_';
    (1..=40).contains(&name.len()) && name.bytes().all(is_letter) && !name.contains("__")
}

/// The variable that sets a key.
pub(super) fn variable_name(key: &str) -> String {
    format!("{VARIABLE_PREFIX}{}", key.replace('.', "__").to_ascii_uppercase())
}

fn type_name(value: &Value) -> &'static str {
    match value {
        Value::String(_) => "text",
        Value::Integer(_) => "a whole number",
        Value::Float(_) => "a number with a fraction",
        Value::Boolean(_) => "true or false",
        Value::Datetime(_) => "a date or time",
        Value::Array(_) => "a list of texts",
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
        // The types reject an extra key; removing each key shows that it is required.
        for gone in keys.keys() {
            let layers = Layers {
                known: BTreeMap::new(),
                values: keys
                    .iter()
                    .filter(|(key, _)| *key != gone)
                    .map(|(k, v)| (k.clone(), (v.clone(), Origin::Default)))
                    .collect(),
            };
            let error = layers.settings().expect_err("incomplete").to_string();
            let last = gone.rsplit('.').next().expect("a word");
            // Without its only key, a table is missing too.
            let table = gone.split('.').next().expect("a word");
            let is_named = |word: &str| error.contains(&format!("missing field `{word}`"));
            assert!(is_named(last) || is_named(table), "{gone}: {error}");
        }
        let mut layers = Layers::of_defaults(DEFAULT).expect("the defaults are TOML");
        layers.values.insert("server.more".to_owned(), (Value::from(1), Origin::Default));
        assert!(layers.settings().expect_err("an extra key").to_string().contains("unknown field `more`"));
    }

    #[test]
    fn every_default_is_explained() {
        let mut previous = "";
        let mut explained = 0;
        for line in DEFAULT.lines() {
            if line.contains(" = ") && !line.starts_with('#') {
                assert!(previous.starts_with("# "), "no comment above: {line}");
                explained += 1;
            }
            previous = line;
        }
        assert_eq!(explained, default_keys().len());
    }
}
