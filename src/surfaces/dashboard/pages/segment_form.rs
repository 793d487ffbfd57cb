//! A segment's filter as a form with one row per group or condition, in the order of the page.
//!
//! Each row submits the same fields, so the form can be read without its previous state. Buttons name the row that they change. This
//! module converts the API's filter tree to rows and back; the path in an API error identifies the row with the error.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use super::audience::{in_one, names};
use crate::surfaces::dashboard::forms::Fields;
use crate::vocab::contact_fields::{CONTACT_FIELDS, ContactField};

/// A row of the form: a group or a condition.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Row {
    /// The nesting depth of the row; the root group has depth 0.
    pub depth: usize,
    /// `all` or `any` for a group; empty for a condition.
    pub combine: String,
    /// The condition's kind: a contact field, a custom field, an activity, an event, a tag or a topic.
    pub what: String,
    /// The name of the custom field or customer event that the condition tests.
    pub name: String,
    pub mode: String,
    pub value: String,
    /// The end of a range that starts at `value`.
    pub more: String,
    pub unit: String,
    /// The campaign that an activity condition is limited to. The form cannot change it.
    pub campaign: String,
}

/// Returns the contact field with this key, if conditions can test it.
fn own_field(key: &str) -> Option<&'static ContactField> {
    CONTACT_FIELDS.iter().find(|field| field.filterable && field.key == key)
}

/// The kinds of email activity that a condition can test.
const ACTIVITIES: [&str; 3] = ["sent", "opened", "clicked"];

impl Row {
    fn group(depth: usize, combine: &str) -> Self {
        Self { depth, combine: combine.to_owned(), ..Self::default() }
    }

    /// Returns a new condition without a value.
    pub fn fresh(depth: usize) -> Self {
        Self { depth, what: "email".into(), mode: "contains".into(), unit: "days".into(), ..Self::default() }
    }

    pub fn is_group(&self) -> bool {
        !self.combine.is_empty()
    }

    /// Returns the modes (comparisons) that this kind of condition offers, with their labels, most common first.
    pub fn modes(&self) -> Vec<(&'static str, &'static str)> {
        const WORDS: [(&str, &str); 6] = [
            ("is", "is"),
            ("is_not", "is not"),
            ("contains", "contains"),
            ("not_contains", "does not contain"),
            ("starts_with", "starts with"),
            ("ends_with", "ends with"),
        ];
        const DATES: [(&str, &str); 4] =
            [("date_after", "is after"), ("date_before", "is before"), ("date_on", "is on"), ("date_between", "is between")];
        const NUMBERS: [(&str, &str); 5] = [
            ("number_gt", "is more than"),
            ("number_gte", "is at least"),
            ("number_lt", "is less than"),
            ("number_lte", "is at most"),
            ("number_between", "is between (numbers)"),
        ];
        const ACTIVITY: [(&str, &str); 4] =
            [("within", "in the last"), ("before", "more than … ago"), ("never", "never"), ("between", "between two days")];
        const EVENTS: [(&str, &str); 6] = [
            ("within", "happened in the last"),
            ("not_within", "did not happen in the last"),
            ("ever", "ever happened"),
            ("never", "never happened"),
            ("between", "happened between"),
            ("not_between", "did not happen between"),
        ];
        match self.what.as_str() {
            "status" => WORDS[..2].to_vec(),
            "tag" => vec![("is", "has any of"), ("is_not", "has none of")],
            "topic" => vec![("is", "is subscribed to"), ("is_not", "is not subscribed to")],
            "createdAt" | "updatedAt" => DATES.to_vec(),
            "event" => EVENTS.to_vec(),
            "validation" => WORDS[..1].to_vec(),
            what if ACTIVITIES.contains(&what) => ACTIVITY.to_vec(),
            what if own_field(what).is_some_and(ContactField::is_text) => WORDS.to_vec(),
            _ => [&WORDS[..], &NUMBERS[..], &DATES[..]].concat(),
        }
    }

    /// Returns the kind of input control for the condition's value.
    pub fn input(&self) -> &'static str {
        match (self.what.as_str(), self.mode.as_str()) {
            ("status" | "validation", _) => "status",
            ("tag", _) => "tag",
            ("topic", _) => "topic",
            (what, "within" | "before" | "not_within") if what == "event" || ACTIVITIES.contains(&what) => "amount",
            (_, "between" | "not_between" | "date_between") => "dates",
            (_, "never" | "ever") => "nothing",
            (_, "number_between") => "numbers",
            (_, mode) if mode.starts_with("number_") => "number",
            (_, mode) if mode.starts_with("date_") => "date",
            _ => "text",
        }
    }

    /// Replaces a mode that the row's kind does not offer, and a missing amount, with defaults.
    pub fn settled(mut self) -> Self {
        let modes = self.modes();
        if !self.is_group() && !modes.iter().any(|(mode, _)| *mode == self.mode) {
            self.mode = modes[0].0.to_owned();
            (self.value, self.more) = (String::new(), String::new());
        }
        if self.input() == "amount" && self.value.is_empty() {
            (self.value, self.unit) = ("30".into(), "days".into());
        }
        self
    }
}

/// Returns at most `rows_max` submitted rows. If the form does not start with a group, returns only an empty root group.
pub fn sent(form: &Fields, rows_max: usize) -> Vec<Row> {
    let of = |name: &str| form.all(name);
    let (depths, combines, whats, fields) = (of("depth"), of("combine"), of("what"), of("name-of"));
    let (modes, values, mores, units, campaigns) = (of("mode"), of("value"), of("more"), of("unit"), of("campaign"));
    let text = |list: &[&str], at: usize| list.get(at).map_or_else(String::new, |text| text.trim().to_owned());
    let mut rows: Vec<Row> = Vec::new();
    for at in 0..depths.len().min(rows_max) {
        // A row can be at most one level deeper than the previous row if that is a group, and otherwise at most as deep as the previous
        // row.
        let deepest = rows.last().map_or(0, |row| if row.is_group() { row.depth + 1 } else { row.depth });
        let depth = text(&depths, at).parse().unwrap_or(0usize).min(deepest);
        let row = Row {
            depth: if rows.is_empty() { 0 } else { depth.max(1) },
            combine: text(&combines, at),
            what: text(&whats, at),
            name: text(&fields, at),
            mode: text(&modes, at),
            value: text(&values, at),
            more: text(&mores, at),
            unit: text(&units, at),
            campaign: text(&campaigns, at),
        };
        rows.push(if row.is_group() { row } else { row.settled() });
    }
    match rows.first() {
        Some(first) if first.is_group() => rows,
        _ => vec![Row::group(0, "all")],
    }
}

/// Applies a button: `add:3` adds a condition to the group in row 3, `group:3` adds a group to it, and `remove:3` removes row 3 with
/// everything in it.
pub fn press(rows: &mut Vec<Row>, button: &str) {
    let Some((act, Some(at))) = button.split_once(':').map(|(act, at)| (act, at.parse::<usize>().ok())) else { return };
    let Some(row) = rows.get(at) else { return };
    let depth = row.depth;
    let end = rows.iter().skip(at + 1).position(|row| row.depth <= depth).map_or(rows.len(), |after| at + 1 + after);
    match act {
        "add" if row.is_group() => rows.insert(end, Row::fresh(depth + 1)),
        "group" if row.is_group() => {
            let other = if row.combine == "all" { "any" } else { "all" };
            let group = [Row::group(depth + 1, other), Row::fresh(depth + 2)];
            rows.splice(end..end, group);
        }
        "remove" if at > 0 => drop(rows.drain(at..end)),
        _ => {}
    }
}

/// Maps the names of tags to their IDs.
pub type TagIds = BTreeMap<String, String>;

pub fn tags_of(rows: &[Row]) -> Vec<String> {
    rows.iter().filter(|row| row.what == "tag").flat_map(|row| names(&row.value)).collect()
}

/// A filter tree for the API. `paths` maps each path in the tree to the row that it comes from.
pub struct BuiltFilter {
    pub tree: Value,
    paths: Vec<(String, usize)>,
}

impl BuiltFilter {
    /// Returns the row that an API error belongs to. `path` is the path in the error, such as `filters.groups[0].fields[1].values[0]`.
    pub fn row_of(&self, path: &str) -> Option<usize> {
        let within = |prefix: &str| path.strip_prefix(prefix).is_some_and(|rest| rest.is_empty() || rest.starts_with(['.', '[']));
        let matching = self.paths.iter().filter(|(prefix, _)| within(prefix));
        matching.max_by_key(|(prefix, _)| prefix.len()).map(|(_, row)| *row)
    }
}

/// Converts rows to a filter tree and omits empty groups. `ids` maps the names of tags to their IDs.
pub fn build(rows: &[Row], ids: &TagIds) -> BuiltFilter {
    let mut built = BuiltFilter { tree: Value::Null, paths: Vec::new() };
    built.tree = group(rows, 0, "filters", ids, &mut built.paths);
    built
}

fn group(rows: &[Row], at: usize, path: &str, ids: &TagIds, paths: &mut Vec<(String, usize)>) -> Value {
    let depth = rows[at].depth;
    let mut parts: BTreeMap<&str, Vec<Value>> = BTreeMap::new();
    let mut tree = Map::new();
    tree.insert("match".into(), rows[at].combine.as_str().into());
    paths.push((path.to_owned(), at));
    let inside = rows.iter().enumerate().skip(at + 1).take_while(|(_, row)| row.depth > depth);
    for (index, row) in inside.filter(|(_, row)| row.depth == depth + 1) {
        let place =
            |list: &str, parts: &BTreeMap<&str, Vec<Value>>| format!("{path}.{list}[{}]", parts.get(list).map_or(0, Vec::len));
        if row.is_group() {
            let nested = group(rows, index, &place("groups", &parts), ids, paths);
            if nested.as_object().is_some_and(|nested| nested.len() > 1) {
                parts.entry("groups").or_default().push(nested);
            }
            continue;
        }
        let (list, value) = condition(row, ids);
        match list {
            // A list matches contacts with any of its items, so a second condition of the same kind needs a separate group.
            "tags" | "excludeTags" | "topics" | "excludeTopics" if tree.contains_key(list) => {
                paths.push((place("groups", &parts), index));
                parts.entry("groups").or_default().push(json!({ "match": "all", (list): value }));
            }
            "tags" | "excludeTags" | "topics" | "excludeTopics" | "validationStatus" => {
                paths.push((format!("{path}.{list}"), index));
                tree.insert(list.into(), value);
            }
            list => {
                paths.push((place(list, &parts), index));
                parts.entry(list).or_default().push(value);
            }
        }
    }
    tree.extend(parts.into_iter().map(|(list, values)| (list.to_owned(), values.into())));
    tree.into()
}

/// Converts a row to a condition. Returns the name of the list that the condition belongs to, and the condition.
fn condition(row: &Row, ids: &TagIds) -> (&'static str, Value) {
    let amount = || row.value.parse::<u64>().map_or_else(|_| json!(row.value), |number| json!(number));
    let moment = |day: &str| if day.len() == 10 { json!(format!("{day}T00:00:00Z")) } else { json!(day) };
    let timed = |mut value: Value| {
        match row.input() {
            "amount" => (value["amount"], value["unit"]) = (amount(), row.unit.as_str().into()),
            "dates" => (value["from"], value["to"]) = (moment(&row.value), moment(&row.more)),
            _ => {}
        }
        value
    };
    match row.what.as_str() {
        "tag" => {
            let known = names(&row.value).into_iter().filter_map(|name| ids.get(&name).cloned());
            (if row.mode == "is_not" { "excludeTags" } else { "tags" }, known.collect::<Vec<_>>().into())
        }
        "topic" => {
            (if row.mode == "is_not" { "excludeTopics" } else { "topics" }, row.value.split(',').collect::<Vec<_>>().into())
        }
        "validation" => ("validationStatus", row.value.as_str().into()),
        "event" => ("events", timed(json!({ "name": row.name, "mode": row.mode }))),
        what if ACTIVITIES.contains(&what) => {
            let mut value = timed(json!({ "action": what, "mode": row.mode }));
            if !row.campaign.is_empty() {
                value["campaignId"] = row.campaign.as_str().into();
            }
            ("activity", value)
        }
        what => {
            let key = if what == "custom" { format!("customFields.{}", row.name) } else { what.to_owned() };
            let values = match row.input() {
                "dates" | "numbers" => vec![row.value.clone(), row.more.clone()],
                "text" => match names(&row.value) {
                    // An empty value makes the API report that a value is required.
                    none if none.is_empty() => vec![String::new()],
                    several => several,
                },
                _ => vec![row.value.clone()],
            };
            ("fields", json!({ "key": key, "mode": row.mode, "values": values }))
        }
    }
}

/// Converts a filter tree to rows. `named` maps the IDs of tags to their names.
pub fn rows_of(tree: &Value, named: &BTreeMap<String, String>) -> Vec<Row> {
    let mut rows = Vec::new();
    add_group(tree, 0, named, &mut rows);
    rows
}

pub fn ids_in(tree: &Value) -> Vec<String> {
    let list = |name: &str| tree[name].as_array().into_iter().flatten().filter_map(Value::as_str).map(str::to_owned);
    let nested = tree["groups"].as_array().into_iter().flatten().flat_map(ids_in);
    list("tags").chain(list("excludeTags")).chain(nested).collect()
}

fn add_group(tree: &Value, depth: usize, named: &BTreeMap<String, String>, rows: &mut Vec<Row>) {
    rows.push(Row::group(depth, tree["match"].as_str().unwrap_or("all")));
    let (start, inside) = (rows.len(), depth + 1);
    let text = |value: &Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    for (list, mode) in [("tags", "is"), ("excludeTags", "is_not")] {
        if let Some(ids) = tree[list].as_array() {
            let name = |id: &Value| named.get(id.as_str()?).map(String::as_str);
            let value = in_one(ids.iter().filter_map(name));
            rows.push(Row { depth: inside, what: "tag".into(), mode: mode.into(), value, ..Row::default() });
        }
    }
    for (list, mode) in [("topics", "is"), ("excludeTopics", "is_not")] {
        if let Some(ids) = tree[list].as_array() {
            let value = ids.iter().filter_map(Value::as_str).collect::<Vec<_>>().join(",");
            rows.push(Row { depth: inside, what: "topic".into(), mode: mode.into(), value, ..Row::default() });
        }
    }
    for (field, what) in [("status", "status"), ("validationStatus", "validation")] {
        if let Some(value) = tree[field].as_str() {
            rows.push(Row { depth: inside, what: what.into(), mode: "is".into(), value: value.into(), ..Row::default() });
        }
    }
    for (name, values) in tree["customFields"].as_object().into_iter().flatten() {
        let values: Vec<String> = values.as_array().into_iter().flatten().map(text).collect();
        let value = in_one(values.iter().map(String::as_str));
        rows.push(Row { depth: inside, what: "custom".into(), name: name.clone(), mode: "is".into(), value, ..Row::default() });
    }
    for condition in tree["fields"].as_array().into_iter().flatten() {
        rows.push(field_row(condition, inside));
    }
    for condition in tree["activity"].as_array().into_iter().flatten() {
        rows.push(timed_row(condition, Row { depth: inside, what: text(&condition["action"]), ..Row::default() }));
    }
    for condition in tree["events"].as_array().into_iter().flatten() {
        rows.push(timed_row(
            condition,
            Row { depth: inside, what: "event".into(), name: text(&condition["name"]), ..Row::default() },
        ));
    }
    for nested in tree["groups"].as_array().into_iter().flatten() {
        let at = rows.len();
        add_group(nested, inside, named, rows);
        // A group with a single condition is replaced with that condition.
        if rows.len() == at + 2 && !rows[at + 1].is_group() {
            rows.remove(at);
            rows[at].depth = inside;
        }
    }
    debug_assert!(rows[start..].iter().all(|row| row.depth > depth), "the rows in a group are nested deeper than the group");
}

fn field_row(condition: &Value, depth: usize) -> Row {
    let key = condition["key"].as_str().unwrap_or_default();
    let (what, name) =
        if own_field(key).is_some() { (key, "") } else { ("custom", key.strip_prefix("customFields.").unwrap_or(key)) };
    let mode = condition["mode"].as_str().unwrap_or_default().to_owned();
    let text = |value: &Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    let values: Vec<String> = condition["values"].as_array().into_iter().flatten().map(text).collect();
    let row = Row { depth, what: what.into(), name: name.into(), mode, ..Row::default() };
    let first = values.first().cloned().unwrap_or_default();
    match row.input() {
        "dates" | "numbers" => Row { value: first, more: values.get(1).cloned().unwrap_or_default(), ..row },
        "text" => Row { value: in_one(values.iter().map(String::as_str)), ..row },
        _ => Row { value: first, ..row },
    }
}

fn timed_row(condition: &Value, row: Row) -> Row {
    let text = |name: &str| condition[name].as_str().unwrap_or_default().to_owned();
    // The form accepts dates without a time, so the time of a midnight timestamp is removed.
    let day = |name: &str| {
        let moment = text(name);
        moment.strip_suffix("T00:00:00.000Z").or(moment.strip_suffix("T00:00:00Z")).map_or(moment.clone(), str::to_owned)
    };
    let row = Row { mode: text("mode"), unit: text("unit"), campaign: text("campaignId"), ..row };
    match row.input() {
        "amount" => Row { value: condition["amount"].to_string(), ..row },
        "dates" => Row { value: day("from"), more: day("to"), ..row },
        _ => row,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tags() -> (TagIds, BTreeMap<String, String>) {
        let ids = TagIds::from([("vip".into(), "1".into()), ("a, b".into(), "2".into())]);
        let named = ids.iter().map(|(name, id)| (id.clone(), name.clone())).collect();
        (ids, named)
    }

    #[test]
    fn a_tree_survives_the_conversion_to_rows_and_back() {
        let (ids, named) = tags();
        let tree = json!({
            "match": "all", "tags": ["1", "2"], "excludeTags": ["2"], "topics": ["7", "8"], "excludeTopics": ["9"],
            "fields": [
                { "key": "email", "mode": "ends_with", "values": ["@a.co", "@b.co"] },
                { "key": "customFields.age", "mode": "number_between", "values": ["18", "30"] },
                { "key": "createdAt", "mode": "date_after", "values": ["2026-01-31"] },
                { "key": "status", "mode": "is", "values": ["subscribed"] },
            ],
            "activity": [{ "action": "opened", "mode": "within", "amount": 30, "unit": "days", "campaignId": "c" }],
            "events": [
                { "name": "purchase.completed", "mode": "never" },
                { "name": "cart", "mode": "between", "from": "2026-01-01T00:00:00Z", "to": "2026-02-01T00:00:00Z" },
            ],
            "groups": [{ "match": "any", "fields": [{ "key": "country", "mode": "is", "values": ["CH"] }],
                "activity": [{ "action": "clicked", "mode": "never" }] }],
        });
        let rows = rows_of(&tree, &named);
        assert_eq!(build(&rows, &ids).tree, tree);
        assert_eq!(ids_in(&tree), ["1", "2", "2"]);
    }

    #[test]
    fn a_second_condition_on_tags_gets_a_group_and_comes_back_as_a_condition() {
        let (ids, named) = tags();
        let tag = |name: &str| Row { depth: 1, what: "tag".into(), mode: "is".into(), value: in_one([name]), ..Row::default() };
        let rows = vec![Row::group(0, "all"), tag("vip"), tag("a, b")];
        let built = build(&rows, &ids);
        assert_eq!(built.tree, json!({ "match": "all", "tags": ["1"], "groups": [{ "match": "all", "tags": ["2"] }] }));
        assert_eq!(built.row_of("filters.groups[0].tags[0]"), Some(2));
        assert_eq!(rows_of(&built.tree, &named), rows);
    }

    #[test]
    fn two_conditions_on_topics_stay_two() {
        let topic = |id: &str| Row { depth: 1, what: "topic".into(), mode: "is".into(), value: id.into(), ..Row::default() };
        let rows = vec![Row::group(0, "all"), topic("7"), topic("8")];
        let built = build(&rows, &TagIds::new());
        assert_eq!(built.tree, json!({ "match": "all", "topics": ["7"], "groups": [{ "match": "all", "topics": ["8"] }] }));
        assert_eq!(rows_of(&built.tree, &BTreeMap::new()), rows);
    }

    #[test]
    fn an_error_is_found_in_its_row_although_empty_groups_are_omitted() {
        let field = |depth, value: &str| Row { value: value.into(), mode: "is".into(), unit: String::new(), ..Row::fresh(depth) };
        let rows =
            vec![Row::group(0, "any"), Row::group(1, "all"), Row::group(1, "all"), field(2, "a"), field(2, "b"), field(1, "c")];
        let built = build(&rows, &TagIds::new());
        assert_eq!(built.tree["groups"].as_array().map(Vec::len), Some(1));
        assert_eq!(built.row_of("filters.groups[0].fields[1].values[0]"), Some(4));
        assert_eq!(built.row_of("filters.fields[0].mode"), Some(5));
        assert_eq!(built.row_of("filters"), Some(0));
        assert_eq!(built.row_of("name"), None);
    }

    #[test]
    fn buttons_add_and_remove_rows_in_place() {
        let mut rows = vec![Row::group(0, "all")];
        press(&mut rows, "add:0");
        press(&mut rows, "group:0");
        press(&mut rows, "add:2");
        press(&mut rows, "add:0");
        let shape = |rows: &[Row]| rows.iter().map(|row| (row.depth, row.combine.clone())).collect::<Vec<_>>();
        let group = |depth, word: &str| (depth, word.to_owned());
        let all = vec![group(0, "all"), group(1, ""), group(1, "any"), group(2, ""), group(2, ""), group(1, "")];
        assert_eq!(shape(&rows), all);
        press(&mut rows, "remove:2");
        assert_eq!(shape(&rows), [group(0, "all"), group(1, ""), group(1, "")]);
        for nonsense in ["remove:0", "remove:9", "add:1", "add:x", "save", ""] {
            press(&mut rows, nonsense);
        }
        assert_eq!(rows.len(), 3);
    }

    #[test]
    fn any_submitted_form_becomes_valid_rows() {
        let read = |text: &str| sent(&Fields::read(text.as_bytes()), 50);
        assert_eq!(read(""), [Row::group(0, "all")]);
        assert_eq!(read("depth=0&combine=&what=email"), [Row::group(0, "all")], "the first row is a group");
        let rows = read("depth=7&combine=any&depth=9&combine=&what=status&mode=within&value=x&depth=0&combine=all");
        assert_eq!(rows.iter().map(|row| row.depth).collect::<Vec<_>>(), [0, 1, 1]);
        assert_eq!(rows[1].mode, "is", "a mode that belongs to a different field is corrected");
        assert_eq!(read(&"depth=1&combine=all&".repeat(80)).len(), 50);
    }
}
