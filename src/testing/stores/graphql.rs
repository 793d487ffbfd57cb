//! A subset of GraphQL: parses an operation, checks it against a schema, and extracts the selected fields from a value.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

/// A type's name, and its fields with their types. Types that the schema does not define are scalars.
pub type Type = (&'static str, &'static [(&'static str, &'static str)]);

/// A selected field with its arguments and subfields.
#[derive(Clone, Debug)]
pub struct Field {
    pub name: String,
    pub arguments: BTreeMap<String, Value>,
    pub fields: Vec<Field>,
}

fn words(text: &str) -> Vec<String> {
    let (mut words, mut chars) = (Vec::new(), text.chars().peekable());
    while let Some(first) = chars.next() {
        match first {
            '"' => {
                let text: String = chars.by_ref().take_while(|c| *c != '"').collect();
                words.push(format!("\"{text}"));
            }
            c if c.is_alphanumeric() || matches!(c, '_' | '$' | '.') => {
                let mut word = c.to_string();
                while let Some(next) = chars.next_if(|c| c.is_alphanumeric() || matches!(c, '_' | '.')) {
                    word.push(next);
                }
                words.push(word);
            }
            c if c.is_whitespace() || c == ',' => {}
            c => words.push(c.to_string()),
        }
    }
    words
}

struct Reader<'a> {
    words: &'a [String],
    at: usize,
    variables: &'a Value,
    declared: Vec<String>,
}

impl Reader<'_> {
    fn peek(&self) -> &str {
        self.words.get(self.at).map_or("", String::as_str)
    }

    fn take(&mut self) -> String {
        self.at += 1;
        self.words.get(self.at - 1).cloned().unwrap_or_default()
    }

    fn expect(&mut self, word: &str) -> Result<(), String> {
        let found = self.take();
        if found == word { Ok(()) } else { Err(format!("expected {word}, found {found}")) }
    }

    fn value(&mut self) -> Result<Value, String> {
        let word = self.take();
        if let Some(name) = word.strip_prefix('$') {
            if !self.declared.iter().any(|known| known == name) {
                return Err(format!("the variable {name} is not declared"));
            }
            return Ok(self.variables[name].clone());
        }
        match word.strip_prefix('"') {
            Some(text) => Ok(text.into()),
            None => Ok(word.parse::<i64>().map_or_else(|_| word.clone().into(), Value::from)),
        }
    }

    fn selection(&mut self) -> Result<Vec<Field>, String> {
        self.expect("{")?;
        let mut fields = Vec::new();
        while self.peek() != "}" {
            let mut name = self.take();
            if name.is_empty() {
                return Err("the operation ends early".to_owned());
            }
            if name == "..." {
                self.expect("on")?;
                name = format!("... on {}", self.take());
            }
            let mut arguments = BTreeMap::new();
            if self.peek() == "(" {
                self.take();
                while self.peek() != ")" {
                    let argument = self.take();
                    self.expect(":")?;
                    arguments.insert(argument, self.value()?);
                }
                self.take();
            }
            let inner = if self.peek() == "{" { self.selection()? } else { Vec::new() };
            fields.push(Field { name, arguments, fields: inner });
        }
        self.take();
        Ok(fields)
    }
}

/// Parses an operation and checks it against a schema. Returns the selected fields.
pub fn parse(text: &str, variables: &Value, schema: &[Type]) -> Result<Vec<Field>, String> {
    let words = words(text);
    let mut reader = Reader { words: &words, at: 0, variables, declared: Vec::new() };
    let root = match reader.peek() {
        "mutation" => "Mutation",
        "query" | "{" => "QueryRoot",
        other => return Err(format!("unexpected {other}")),
    };
    if reader.peek() != "{" {
        reader.take();
        if reader.peek() != "{" && reader.peek() != "(" {
            reader.take();
        }
        if reader.peek() == "(" {
            reader.take();
            while reader.peek() != ")" {
                let word = reader.take();
                if let Some(name) = word.strip_prefix('$') {
                    reader.declared.push(name.to_owned());
                }
            }
            reader.take();
        }
    }
    let fields = reader.selection()?;
    check(&fields, root, schema)?;
    Ok(fields)
}

/// Returns the type of `field` in the type `of`.
pub fn type_of(schema: &[Type], of: &str, field: &str) -> Option<&'static str> {
    let (_, fields) = schema.iter().find(|(name, _)| *name == of)?;
    fields.iter().find(|(name, _)| *name == field).map(|(_, kind)| *kind)
}

fn check(fields: &[Field], of: &str, schema: &[Type]) -> Result<(), String> {
    for field in fields {
        if let Some(on) = field.name.strip_prefix("... on ") {
            check(&field.fields, on, schema)?;
            continue;
        }
        let kind =
            type_of(schema, of, &field.name).ok_or_else(|| format!("Field '{}' doesn't exist on type '{of}'", field.name))?;
        let is_object = schema.iter().any(|(name, _)| *name == kind);
        if is_object == field.fields.is_empty() {
            return Err(format!("Field '{}' of type '{kind}' has a wrong selection", field.name));
        }
        check(&field.fields, kind, schema)?;
    }
    Ok(())
}

/// Returns only the selected fields of a value.
pub fn pick(value: &Value, fields: &[Field]) -> Value {
    match value {
        Value::Array(items) => items.iter().map(|item| pick(item, fields)).collect(),
        Value::Object(_) if !fields.is_empty() => {
            let mut picked = Map::new();
            for field in fields {
                if field.name.starts_with("... on ") {
                    if let Value::Object(inner) = pick(value, &field.fields) {
                        picked.extend(inner);
                    }
                } else {
                    picked.insert(field.name.clone(), pick(&value[&field.name], &field.fields));
                }
            }
            Value::Object(picked)
        }
        other => other.clone(),
    }
}
