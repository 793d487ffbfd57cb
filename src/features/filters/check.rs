//! Checks a filter tree and converts it to a filter that can be evaluated. Parses every value, and reports the first error with its path.

use std::ops::Bound;

use sha2::{Digest, Sha256};

use super::activity::{ActivityTest, When};
use super::compare::{self, Test, TextPosition, TextTest};
use super::event::{EventSpan, EventTest};
use super::tree::{
    ActivityCondition, ActivityMode, EventCondition, EventMode, FieldCondition, FilterTree, Match, Mode, Operand, Unit,
    Validation,
};
use crate::base::clock::Timestamp;
use crate::base::period::Period;
use crate::base::text::fold;
use crate::engine::api::Failure;
use crate::features::contact_records::fields::name_refusal;
use crate::vocab::contact_fields::{CONTACT_FIELDS, FieldSource, ProfileField};
use crate::vocab::contact_status::Status;
use crate::vocab::ids::{TagId, TopicId};
use crate::vocab::limits;

/// A checked filter on contacts, ready to be evaluated.
#[derive(Clone, Debug)]
pub struct Filter {
    pub(super) root: Node,
    /// A hash that is the same for equal filters.
    pub(super) digest: [u8; 32],
    pub(super) depends_on_now: bool,
    /// Whether the result depends on what was sent to contacts and what they did in response.
    pub(super) uses_activity: bool,
    pub(super) uses_events: bool,
    /// Whether the result depends on topics and on contacts' topic choices.
    pub(super) uses_topics: bool,
}

#[derive(Clone, Debug)]
pub(super) enum Node {
    All(Vec<Node>),
    Any(Vec<Node>),
    /// The contact has at least one of these tags.
    Tagged(Vec<TagId>),
    /// The contact has none of these tags.
    Untagged(Vec<TagId>),
    /// The contact is subscribed to at least one of these topics.
    Topics(Vec<TopicId>),
    /// The contact is subscribed to none of these topics.
    NoTopics(Vec<TopicId>),
    /// The contact has one of these statuses.
    Status(Vec<Status>),
    Validation(Validation),
    Created(Period),
    Updated(Period),
    Field(FieldTest),
    Activity(ActivityTest),
    Event(EventTest),
}

#[derive(Clone, Debug)]
pub(super) struct FieldTest {
    pub field: Field,
    pub test: Test,
    /// Whether the test is inverted. A contact that lacks the field passes an inverted test.
    pub negated: bool,
}

/// A field whose value is stored in a contact's row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Field {
    Email,
    Profile(ProfileField),
    Custom(String),
}

/// The contact data that the key of a field condition selects.
enum Target {
    Field(Field),
    Status,
    Created,
    Updated,
}

fn target(key: &str) -> Target {
    let known = CONTACT_FIELDS.iter().find(|field| field.filterable && field.key == key);
    match known.map(|field| field.place) {
        Some(FieldSource::Email) => Target::Field(Field::Email),
        Some(FieldSource::Profile(field)) => Target::Field(Field::Profile(field)),
        Some(FieldSource::Status) => Target::Status,
        Some(FieldSource::CreatedAt) => Target::Created,
        Some(FieldSource::UpdatedAt) => Target::Updated,
        Some(FieldSource::Id | FieldSource::Tags | FieldSource::UnsubscribedAt) | None => {
            Target::Field(Field::Custom(key.strip_prefix("customFields.").unwrap_or(key).to_owned()))
        }
    }
}

impl FilterTree {
    /// Checks the whole filter tree, which is at `path` in the request.
    pub fn check(&self, path: &str) -> Result<Filter, Failure> {
        let mut check = Check::default();
        let root = check.group(self, path, 0)?;
        if check.conditions > limits::SEGMENT_CONDITIONS_MAX {
            let (max, found) = (limits::SEGMENT_CONDITIONS_MAX, check.conditions);
            return Err(Failure::field(path, format_args!("use at most {max} conditions in total, not {found}")));
        }
        let written = serde_json::to_vec(self).expect("a filter tree can be written as JSON");
        let digest = Sha256::digest(written).into();
        let Check { depends_on_now, uses_activity, uses_events, uses_topics, .. } = check;
        Ok(Filter { root, digest, depends_on_now, uses_activity, uses_events, uses_topics })
    }
}

#[derive(Default)]
struct Check {
    conditions: usize,
    depends_on_now: bool,
    uses_activity: bool,
    uses_events: bool,
    uses_topics: bool,
}

impl Check {
    fn group(&mut self, group: &FilterTree, path: &str, level: usize) -> Result<Node, Failure> {
        if level > limits::SEGMENT_LEVELS_MAX {
            let max = limits::SEGMENT_LEVELS_MAX;
            return Err(Failure::field(
                path,
                format_args!("groups can be nested at most {max} levels deep; move these conditions into the enclosing group"),
            ));
        }
        let groups_path = format!("{path}.groups");
        count(&groups_path, "groups", group.groups.len(), limits::SEGMENT_GROUPS_PER_GROUP_MAX)?;
        let mut nodes = Vec::new();
        self.simple(group, path, &mut nodes)?;
        for (index, condition) in group.fields.iter().enumerate() {
            nodes.push(field(condition, &format!("{path}.fields[{index}]"))?);
        }
        for (index, condition) in group.activity.iter().enumerate() {
            let test = activity(condition, &format!("{path}.activity[{index}]"))?;
            self.depends_on_now |= test.depends_on_now();
            self.uses_activity = true;
            nodes.push(Node::Activity(test));
        }
        for (index, condition) in group.events.iter().enumerate() {
            let test = event(condition, &format!("{path}.events[{index}]"))?;
            self.depends_on_now |= test.depends_on_now();
            self.uses_events = true;
            nodes.push(Node::Event(test));
        }
        self.conditions += nodes.len();
        for (index, group) in group.groups.iter().enumerate() {
            nodes.push(self.group(group, &format!("{groups_path}[{index}]"), level + 1)?);
        }
        if nodes.is_empty() && level > 0 {
            return Err(Failure::field(path, "a group requires at least one condition; add a condition or remove the group"));
        }
        // An empty root matches every contact, even if its conditions are combined with `any`.
        Ok(if group.combine == Match::All || nodes.is_empty() { Node::All(nodes) } else { Node::Any(nodes) })
    }

    fn simple(&mut self, group: &FilterTree, path: &str, nodes: &mut Vec<Node>) -> Result<(), Failure> {
        let max = limits::SEGMENT_VALUES_PER_CONDITION_MAX;
        count(&format!("{path}.tags"), "tags", group.tags.len(), max)?;
        count(&format!("{path}.excludeTags"), "tags", group.exclude_tags.len(), max)?;
        count(&format!("{path}.topics"), "topics", group.topics.len(), max)?;
        count(&format!("{path}.excludeTopics"), "topics", group.exclude_topics.len(), max)?;
        if !group.tags.is_empty() {
            nodes.push(Node::Tagged(group.tags.clone()));
        }
        if !group.exclude_tags.is_empty() {
            nodes.push(Node::Untagged(group.exclude_tags.clone()));
        }
        if !group.topics.is_empty() {
            nodes.push(Node::Topics(group.topics.clone()));
        }
        if !group.exclude_topics.is_empty() {
            nodes.push(Node::NoTopics(group.exclude_topics.clone()));
        }
        self.uses_topics |= !group.topics.is_empty() || !group.exclude_topics.is_empty();
        nodes.extend(group.status.map(|status| Node::Status(vec![status])));
        nodes.extend(group.validation_status.map(Node::Validation));
        for (name, values) in &group.custom_fields {
            let path = format!("{path}.customFields.{name}");
            custom_name(name, &path)?;
            let test = Test::Text(TextTest { position: TextPosition::Whole, needles: needles(values, &path)? });
            nodes.push(Node::Field(FieldTest { field: Field::Custom(name.clone()), test, negated: false }));
        }
        Ok(())
    }
}

fn count(path: &str, what: &str, found: usize, max: usize) -> Result<(), Failure> {
    if found > max {
        return Err(Failure::field(path, format_args!("list at most {max} {what}; this list has {found}")));
    }
    Ok(())
}

fn custom_name(name: &str, path: &str) -> Result<(), Failure> {
    name_refusal(name).map_or(Ok(()), |reason| Err(Failure::field(path, reason)))
}

fn needles(values: &[Operand], path: &str) -> Result<Vec<String>, Failure> {
    if values.is_empty() {
        return Err(Failure::field(path, "add at least one value"));
    }
    count(path, "values", values.len(), limits::SEGMENT_VALUES_PER_CONDITION_MAX)?;
    values.iter().enumerate().map(|(index, value)| needle(value, &format!("{path}[{index}]"))).collect()
}

fn needle(value: &Operand, path: &str) -> Result<String, Failure> {
    let text = value.text();
    let max = limits::SEGMENT_VALUE_CHARACTERS_MAX;
    if text.is_empty() || text.chars().count() > max {
        return Err(Failure::field(path, format_args!("a value must have 1 to {max} characters")));
    }
    Ok(fold(&text))
}

/// The kind of comparison that a mode performs.
enum Comparison {
    Text { position: TextPosition, negated: bool },
    Date,
    Number,
}

fn comparison(mode: Mode) -> Comparison {
    match mode {
        Mode::Is => Comparison::Text { position: TextPosition::Whole, negated: false },
        Mode::IsNot => Comparison::Text { position: TextPosition::Whole, negated: true },
        Mode::StartsWith => Comparison::Text { position: TextPosition::Start, negated: false },
        Mode::EndsWith => Comparison::Text { position: TextPosition::End, negated: false },
        Mode::Contains => Comparison::Text { position: TextPosition::Anywhere, negated: false },
        Mode::NotContains => Comparison::Text { position: TextPosition::Anywhere, negated: true },
        Mode::DateAfter | Mode::DateBefore | Mode::DateOn | Mode::DateBetween => Comparison::Date,
        Mode::NumberGt | Mode::NumberGte | Mode::NumberLt | Mode::NumberLte | Mode::NumberBetween => Comparison::Number,
    }
}

fn field(condition: &FieldCondition, path: &str) -> Result<Node, Failure> {
    let values_path = format!("{path}.values");
    let values = condition.values.as_slice();
    let mode_is_wrong = |expected: &str| Failure::field(&format!("{path}.mode"), format_args!("{} {expected}", condition.key));
    match (target(&condition.key), comparison(condition.mode)) {
        (Target::Created, Comparison::Date) => Ok(Node::Created(dates(condition.mode, values, &values_path)?)),
        (Target::Updated, Comparison::Date) => Ok(Node::Updated(dates(condition.mode, values, &values_path)?)),
        (Target::Created | Target::Updated, _) => {
            Err(mode_is_wrong("is a time; use the mode `date_after`, `date_before`, `date_on` or `date_between`"))
        }
        (Target::Status, Comparison::Text { position: TextPosition::Whole, negated }) => statuses(values, negated, &values_path),
        (Target::Status, _) => Err(mode_is_wrong("has four possible values; use the mode `is` or `is_not`")),
        (Target::Field(field), Comparison::Text { position, negated }) => {
            if let Field::Custom(name) = &field {
                custom_name(name, &format!("{path}.key"))?;
            }
            let test = Test::Text(TextTest { position, needles: needles(values, &values_path)? });
            Ok(Node::Field(FieldTest { field, test, negated }))
        }
        (Target::Field(field @ Field::Custom(_)), asked) => {
            let Field::Custom(name) = &field else { unreachable!("the target is a custom field") };
            custom_name(name, &format!("{path}.key"))?;
            let test = match asked {
                Comparison::Date => Test::Time(dates(condition.mode, values, &values_path)?),
                _ => numbers(condition.mode, values, &values_path)?,
            };
            Ok(Node::Field(FieldTest { field, test, negated: false }))
        }
        (Target::Field(_), _) => {
            Err(mode_is_wrong("is text; use the mode `is`, `is_not`, `starts_with`, `ends_with`, `contains` or `not_contains`"))
        }
    }
}

fn statuses(values: &[Operand], negated: bool, path: &str) -> Result<Node, Failure> {
    let given = needles(values, path)?;
    let known = |word: &String| Status::ALL.iter().any(|status| status.word() == word);
    if let Some(index) = given.iter().position(|word| !known(word)) {
        let words = Status::ALL.map(Status::word).join(", ");
        return Err(Failure::field(&format!("{path}[{index}]"), format_args!("must be one of {words}")));
    }
    let wanted = Status::ALL.into_iter().filter(|status| given.iter().any(|word| word == status.word()) != negated);
    Ok(Node::Status(wanted.collect()))
}

/// Parses exactly `N` values. `expected` completes the error message about an invalid value.
fn exactly<const N: usize, T>(
    values: &[Operand],
    path: &str,
    expected: &str,
    parse: impl Fn(&str) -> Option<T>,
) -> Result<[T; N], Failure> {
    if values.len() != N {
        let wanted = if N == 1 { "one value".to_owned() } else { format!("{N} values (from and to)") };
        return Err(Failure::field(path, format_args!("the condition's mode requires exactly {wanted}; found {}", values.len())));
    }
    let mut parsed = Vec::with_capacity(N);
    for (index, value) in values.iter().enumerate() {
        let one = parse(&value.text());
        parsed.push(one.ok_or_else(|| Failure::field(&format!("{path}[{index}]"), format_args!("must be {expected}")))?);
    }
    Ok(parsed.try_into().unwrap_or_else(|_| unreachable!("the number of values was checked above")))
}

fn dates(mode: Mode, values: &[Operand], path: &str) -> Result<Period, Failure> {
    let expected = "a date like 2026-01-31 or a date-time like 2026-01-31T09:30:00Z";
    if mode == Mode::DateBetween {
        let [first, last] = exactly(values, path, expected, compare::period)?;
        let period = Period { from: first.from, to: last.to };
        if period.to <= period.from {
            return Err(Failure::field(path, "the first date is later than the second; put the earlier date first"));
        }
        return Ok(period);
    }
    let [given] = exactly(values, path, expected, compare::period)?;
    Ok(match mode {
        Mode::DateAfter => Period { from: given.to, ..Period::ALWAYS },
        Mode::DateBefore => Period { to: given.from, ..Period::ALWAYS },
        _ => compare::day_of(given.from),
    })
}

fn numbers(mode: Mode, values: &[Operand], path: &str) -> Result<Test, Failure> {
    let expected = "a number like 12 or 2.5, from -9007199254740991 to 9007199254740991";
    if mode == Mode::NumberBetween {
        let [low, high] = exactly(values, path, expected, compare::bound)?;
        if low > high {
            return Err(Failure::field(path, "the first number is larger than the second; put the smaller number first"));
        }
        return Ok(Test::Number(Bound::Included(low), Bound::Included(high)));
    }
    let [given] = exactly(values, path, expected, compare::bound)?;
    Ok(match mode {
        Mode::NumberGt => Test::Number(Bound::Excluded(given), Bound::Unbounded),
        Mode::NumberGte => Test::Number(Bound::Included(given), Bound::Unbounded),
        Mode::NumberLt => Test::Number(Bound::Unbounded, Bound::Excluded(given)),
        _ => Test::Number(Bound::Unbounded, Bound::Included(given)),
    })
}

fn activity(condition: &ActivityCondition, path: &str) -> Result<ActivityTest, Failure> {
    let ActivityCondition { action, mode, unit, amount, from, to, campaign_id } = condition;
    let ago = matches!(mode, ActivityMode::Within | ActivityMode::Before);
    let between = *mode == ActivityMode::Between;
    parameters(path, (unit.is_some(), amount.is_some(), ago), (from.is_some(), to.is_some(), between))?;
    let ago_ms = |amount: u64, unit| ago_ms((amount, unit), limits::SEGMENT_ACTIVITY_DAYS_MAX, path);
    let when = match (mode, amount, unit, from, to) {
        (ActivityMode::Within, Some(amount), Some(unit), ..) => When::WithinMs(ago_ms(amount.get(), *unit)?),
        (ActivityMode::Before, Some(amount), Some(unit), ..) => When::BeforeMs(ago_ms(amount.get(), *unit)?),
        (ActivityMode::Between, _, _, Some(from), Some(to)) => When::During(period_between(from.0, to.0, path)?),
        _ => When::Never,
    };
    Ok(ActivityTest { action: *action, campaign: *campaign_id, when })
}

fn event(condition: &EventCondition, path: &str) -> Result<EventTest, Failure> {
    let EventCondition { name, mode, unit, amount, from, to } = condition;
    let ago = matches!(mode, EventMode::Within | EventMode::NotWithin);
    let between = matches!(mode, EventMode::Between | EventMode::NotBetween);
    parameters(path, (unit.is_some(), amount.is_some(), ago), (from.is_some(), to.is_some(), between))?;
    let span = match (amount, unit, from, to) {
        (Some(amount), Some(unit), ..) => EventSpan::LastMs(ago_ms((amount.get(), *unit), limits::EVENT_KEPT_DAYS, path)?),
        (_, _, Some(from), Some(to)) => EventSpan::During(period_between(from.0, to.0, path)?),
        _ => EventSpan::During(Period::ALWAYS),
    };
    let wanted = matches!(mode, EventMode::Within | EventMode::Ever | EventMode::Between);
    Ok(EventTest { name: name.folded(), span, wanted })
}

/// Returns an error if one of `unit`, `amount`, `from` and `to` is missing although the mode requires it, or present although the mode does
/// not use it.
fn parameters(
    path: &str,
    (has_unit, has_amount, ago): (bool, bool, bool),
    (has_from, has_to, between): (bool, bool, bool),
) -> Result<(), Failure> {
    let rules = [
        ("unit", has_unit, ago, "use `hours` or `days`"),
        ("amount", has_amount, ago, "set the number of units"),
        ("from", has_from, between, "set the start of the period, such as 2026-01-31T09:30:00Z"),
        ("to", has_to, between, "set the end of the period, such as 2026-02-28T09:30:00Z"),
    ];
    for (name, given, wanted, remedy) in rules {
        let path = format!("{path}.{name}");
        match (given, wanted) {
            (false, true) => return Err(Failure::field(&path, format_args!("the condition's mode requires `{name}`; {remedy}"))),
            (true, false) => {
                return Err(Failure::field(&path, format_args!("the condition's mode does not use `{name}`; remove this field")));
            }
            _ => {}
        }
    }
    Ok(())
}

fn period_between(from: Timestamp, to: Timestamp, path: &str) -> Result<Period, Failure> {
    if to <= from {
        return Err(Failure::field(&format!("{path}.to"), "must be later than `from`"));
    }
    Ok(Period { from, to })
}

fn ago_ms((amount, unit): (u64, Unit), days_max: u32, path: &str) -> Result<i64, Failure> {
    let hours = match unit {
        Unit::Hours => 1,
        Unit::Days => 24,
    };
    let max = days_max * 24 / hours;
    let amount = u32::try_from(amount).unwrap_or(u32::MAX);
    if amount > max {
        return Err(Failure::field(&format!("{path}.amount"), format_args!("must be a number from 1 to {max}")));
    }
    Ok(i64::from(amount) * i64::from(hours) * 60 * 60 * 1000)
}

impl Filter {
    /// Returns the evaluation time of this filter for a query at `now`. This is `now` rounded down to the minute if the result depends on
    /// time, and a constant otherwise, so that repeated queries can use the cache.
    pub(super) fn as_of(&self, now: Timestamp) -> Timestamp {
        const MINUTE_MS: i64 = 60_000;
        if self.depends_on_now { Timestamp(now.0.div_euclid(MINUTE_MS) * MINUTE_MS) } else { Timestamp(0) }
    }

    /// Returns all tags and topics that the filter mentions.
    pub(super) fn names(&self) -> (Vec<TagId>, Vec<TopicId>) {
        let mut found = (Vec::new(), Vec::new());
        collect(&self.root, &mut found);
        found
    }
}

fn collect(node: &Node, found: &mut (Vec<TagId>, Vec<TopicId>)) {
    match node {
        Node::All(nodes) | Node::Any(nodes) => nodes.iter().for_each(|node| collect(node, found)),
        Node::Tagged(ids) | Node::Untagged(ids) => found.0.extend(ids),
        Node::Topics(ids) | Node::NoTopics(ids) => found.1.extend(ids),
        _ => {}
    }
}
