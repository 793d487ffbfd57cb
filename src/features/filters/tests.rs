//! Compares the planner with the reference evaluation on random filters and contacts, and checks that errors contain the path.

use std::collections::BTreeMap;

use proptest::prelude::*;
use proptest::sample::select;
use roaring::RoaringBitmap;
use serde_json::{Value, json};

use super::*;
use crate::base::bounded::Bounded;
use crate::base::clock::{ManualClock, Timestamp};
use crate::base::random::SeededRandom;
use crate::engine::api::response::WireTime;
use crate::engine::store::{Options, Store, WriteTx};
use crate::features::contact_records::activity::{self, Action, Activity};
use crate::features::contact_records::fields::FieldValue;
use crate::features::contact_records::{self, Contact};
use crate::features::contact_sets::{self, Facet};
use crate::features::customer_events::{EventName, EventWriter, NewEvent};
use crate::features::topics::{Topic, TopicDefault, TopicVisibility};
use crate::vocab::contact_fields::{Profile, ProfileField};
use crate::vocab::contact_status::Status;
use crate::vocab::ids::{CampaignId, ContactId, MailingId, TagId, TopicId};
use crate::vocab::limits;
use crate::vocab::tables::DatabaseKind;

const PROJECT: ProjectId = ProjectId::from_bytes([5; 12]);
const START: Timestamp = Timestamp(1_767_225_600_000);
const DAY_MS: i64 = 86_400_000;
/// The number of contacts, which is large enough for the scan to use several threads.
const CONTACTS: u32 = 6_000;
const CAMPAIGNS: [CampaignId; 2] = [CampaignId::from_bytes([1; 12]), CampaignId::from_bytes([2; 12])];
const MAILING: MailingId = MailingId::from_bytes([4; 12]);
const NAMES: [&str; 8] = ["Ann", "ANNA", "Zoë", "zoe\u{308}", "ŽANETA", "Bob", "annabel", "o"];
const DOMAINS: [&str; 3] = ["example.com", "Example.ORG", "mail.example"];
const PLANS: [&str; 5] = ["free", "pro", "PRO", "pro plus", "7"];
const EVENTS: [&str; 3] = ["cart.added", "Purchase.Completed", "login"];
const DATES: [&str; 5] = ["2026-01-02", "2026-01-02T12:00:00Z", "2026-01-03T01:00:00+02:00", "soon", "2025-12-31"];

/// A seeded random number generator, so that tests are repeatable.
struct Dice(u64);

impl Dice {
    fn below(&mut self, bound: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) % bound
    }

    fn of<'a, T: ?Sized>(&mut self, choices: &[&'a T]) -> &'a T {
        choices[self.below(choices.len() as u64) as usize]
    }

    fn maybe(&mut self, choices: &[&str]) -> Option<String> {
        (self.below(3) > 0).then(|| self.of(choices).to_owned())
    }
}

fn score(dice: &mut Dice) -> FieldValue {
    let number = dice.below(20) as i64 - 5;
    match dice.below(8) {
        0 => FieldValue::Null,
        1 => FieldValue::Bool(number > 0),
        2 => FieldValue::Number(number as f64 / 2.0),
        3 => FieldValue::Text(format!(" {number}.5 ")),
        4 => FieldValue::List(vec![FieldValue::Whole(number), FieldValue::Text("pro".into()), FieldValue::List(vec![])]),
        5 => FieldValue::Map(BTreeMap::from([("deep".into(), FieldValue::Whole(number))])),
        _ => FieldValue::Whole(number * 1_000),
    }
}

fn contact(tx: &mut WriteTx<'_>, number: u32, tags: &[TagId], dice: &mut Dice) -> Contact {
    let mut custom_fields = BTreeMap::new();
    if dice.below(2) == 0 {
        custom_fields.insert("plan".to_owned(), FieldValue::Text(dice.of(&PLANS).to_owned()));
        custom_fields.insert("joined".to_owned(), FieldValue::Text(dice.of(&DATES).to_owned()));
    }
    if dice.below(2) == 0 {
        custom_fields.insert("score".to_owned(), score(dice));
        // Add a custom field with the same name as a standard field, because a filter must not confuse the two.
        custom_fields.insert("email".to_owned(), FieldValue::Text("none".into()));
    }
    let status = Status::ALL[dice.below(4) as usize];
    Contact {
        id: ContactId::numbered(tx.now(), number, tx.random()),
        status,
        email: format!("{}{number}@{}", dice.of(&NAMES), dice.of(&DOMAINS)),
        profile: Profile::from_fn(|field| match field {
            ProfileField::Phone => dice.maybe(&["+44 20 7946 0958", "112"]),
            ProfileField::Country => dice.maybe(&["GB", "CH"]),
            ProfileField::Language => dice.maybe(&["en", "de-CH"]),
            _ => dice.maybe(&NAMES),
        }),
        tags: tags.iter().filter(|_| dice.below(3) == 0).map(TagId::number).collect(),
        custom_fields,
        created_at: tx.now(),
        updated_at: tx.now(),
        unsubscribed_at: (status == Status::Unsubscribed).then(|| tx.now()),
    }
}

/// A store with contacts, some of which were changed or deleted, and with a deleted tag that contacts' rows still contain.
struct Scene {
    _folder: tempfile::TempDir,
    store: Store,
    tags: Vec<TagId>,
    topics: Vec<TopicId>,
    contacts: Vec<(Contact, Vec<TagId>)>,
    activity_rows: Vec<(u32, Activity)>,
    reported: Vec<(u32, EventFact)>,
    now: Timestamp,
}

fn scene() -> Scene {
    let folder = tempfile::tempdir().expect("a temporary folder can be created");
    let clock = std::sync::Arc::new(ManualClock::at(START));
    let options = Options { database_kind: DatabaseKind::Environment, cache_bytes: 4 * 1024 * 1024 };
    let random = std::sync::Arc::new(SeededRandom::new(7));
    let store = Store::open(&folder.path().join("world.redb"), &options, clock.clone(), random).expect("the store is created");
    let tags = write(&store, |tx| {
        let mut make = |name: &str| tags::create(tx, PROJECT, name).map(|tag| tag.expect("the project has room for a tag").id);
        ["vip", "news", "old"].map(|name| make(name).expect("the write succeeds")).to_vec()
    });
    let mut dice = Dice(0x9E37_79B9_7F4A_7C15);
    for batch in 0..CONTACTS / 500 {
        clock.advance_ms(DAY_MS / 3);
        let (tags, seed) = (tags.clone(), dice.below(u64::MAX));
        write(&store, move |tx| add(tx, batch * 500..(batch + 1) * 500, &tags, &mut Dice(seed)));
    }
    clock.advance_ms(DAY_MS);
    write(&store, change_some);
    let gone = tags[2];
    write(&store, move |tx| {
        let tag = tags::by_id(tx, PROJECT, gone).expect("the store is readable").expect("the row exists");
        tags::delete(tx, PROJECT, &tag).expect("the write succeeds");
    });
    let now = START.plus_ms(6 * DAY_MS);
    let topics = choose(&store, &mut dice);
    let (contacts, activity_rows) = recorded(&store, now, &mut dice);
    let reported = report(&store, now, &mut dice);
    Scene { _folder: folder, store, tags, topics, contacts, activity_rows, reported, now }
}

/// Creates three topics, stores contacts' choices for these topics, and deletes the last topic. Some of the choices belong to deleted
/// contacts.
fn choose(store: &Store, dice: &mut Dice) -> Vec<TopicId> {
    let seed = dice.below(u64::MAX);
    write(store, move |tx| {
        let mut dice = Dice(seed);
        let mut ids = Vec::new();
        for default_subscription in [TopicDefault::OptIn, TopicDefault::OptOut, TopicDefault::OptIn] {
            let topic = topic(tx, default_subscription);
            topics::save(tx, PROJECT, &topic).expect("the write succeeds");
            for number in 0..CONTACTS {
                if dice.below(3) > 0 {
                    topics::choose(tx, PROJECT, topic.id, number, dice.below(2) == 0).expect("the write succeeds");
                }
            }
            ids.push(topic.id);
        }
        topics::delete(tx, PROJECT, ids[2]).expect("the write succeeds");
        ids
    })
}

fn topic(tx: &WriteTx<'_>, default_subscription: TopicDefault) -> Topic {
    Topic {
        id: TopicId::make(tx.now(), tx.random()),
        name: "News".into(),
        description: None,
        default_subscription,
        visibility: TopicVisibility::Public,
        display_order: 0,
        is_active: true,
        created_at: tx.now(),
        updated_at: tx.now(),
    }
}

fn write<T: Send + 'static>(store: &Store, command: impl FnOnce(&mut WriteTx<'_>) -> T + Send + 'static) -> T {
    store.write_blocking(move |tx| Ok::<T, ()>(command(tx))).expect("the store works").expect("the command succeeds")
}

fn add(tx: &mut WriteTx<'_>, numbers: std::ops::Range<u32>, tags: &[TagId], dice: &mut Dice) {
    let taken = contact_sets::next_number(tx, PROJECT, Facet::NextContact, numbers.len() as u32).expect("numbers are left");
    assert_eq!(taken, numbers.start);
    contact_records::change(tx, PROJECT, |tx, changes| {
        for number in numbers {
            let contact = contact(tx, number, tags, dice);
            changes.add(tx, &contact, contact_records::email_digest(&contact.email));
        }
        Ok::<_, crate::engine::store::Error>(())
    })
    .expect("the write succeeds");
}

fn change_some(tx: &mut WriteTx<'_>) {
    contact_records::change(tx, PROJECT, |tx, changes| {
        for number in (0..CONTACTS).step_by(7) {
            let before = contact_records::by_number(tx, PROJECT, number)?.expect("the row exists");
            if number % 2 == 0 {
                changes.remove(tx, &before, contact_records::email_digest(&before.email))?;
                continue;
            }
            let mut after = before.clone();
            after.updated_at = tx.now();
            after.set_status(Status::Bounced, tx.now());
            after.tags.reverse();
            after.tags.pop();
            changes.replace(tx, &before, &after);
        }
        Ok::<_, crate::engine::store::Error>(())
    })
    .expect("the write succeeds");
}

type Recorded = (Vec<(Contact, Vec<TagId>)>, Vec<(u32, Activity)>);

fn recorded(store: &Store, now: Timestamp, dice: &mut Dice) -> Recorded {
    let tx = store.read();
    let mut activity_rows = Vec::new();
    let mut contacts = Vec::new();
    for number in 0..CONTACTS {
        let Some(contact) = contact_records::by_number(&tx, PROJECT, number).expect("the store is readable") else { continue };
        for _ in 0..dice.below(3) {
            let action = *dice.of(&[&Action::Sent, &Action::Opened, &Action::Clicked]);
            let campaign = Some(CAMPAIGNS[dice.below(2) as usize]);
            activity_rows.push((
                number,
                Activity { action, mailing: MAILING, campaign, at: now.plus_ms(-(dice.below(10 * DAY_MS as u64) as i64)) },
            ));
        }
        let ids = tag_ids(&tx, PROJECT, &contact).expect("the store is readable");
        contacts.push((contact, ids));
    }
    let activities = activity_rows.clone();
    write(store, move |tx| activity::note(tx, PROJECT, &activities)).expect("the write succeeds");
    (contacts, activity_rows)
}

fn report(store: &Store, now: Timestamp, dice: &mut Dice) -> Vec<(u32, EventFact)> {
    let mut reported = Vec::new();
    for number in 0..CONTACTS {
        for _ in 0..dice.below(3) {
            let at = now.plus_ms(-(dice.below(10 * DAY_MS as u64) as i64));
            reported.push((number, EventFact { name: dice.of(&EVENTS).to_lowercase(), at }));
        }
    }
    let event_facts = reported.clone();
    write(store, move |tx| {
        let mut writer = EventWriter::new(tx, PROJECT, 0, Vec::new()).expect("the store is readable");
        for (number, event) in event_facts {
            assert!(writer.accepts_name(tx, &event.name).expect("the store is readable"));
            let new = NewEvent { name: event.name, occurred_at: Some(event.at), ..NewEvent::default() };
            writer.note(tx, number, new).expect("the write succeeds");
        }
        writer.finish(tx).expect("the write succeeds");
    });
    reported
}

fn operands(choices: &'static [&'static str]) -> impl Strategy<Value = Vec<Operand>> {
    prop::collection::vec(select(choices).prop_map(Operand::of), 1..3)
}

fn field_condition() -> impl Strategy<Value = FieldCondition> {
    let texts = &["ann", "ANNA", "zoë", "o", "pro", "7", "true", "@EXAMPLE", "example.org", "ž", "1000", "+44", "gb", "none"];
    let keys = ["email", "firstName", "lastName", "phone", "country", "language", "plan", "customFields.score", "nothing"];
    let modes = [Mode::Is, Mode::IsNot, Mode::StartsWith, Mode::EndsWith, Mode::Contains, Mode::NotContains];
    let text = (select(keys.to_vec()), select(modes.to_vec()), operands(texts));
    let words = operands(&["subscribed", "Bounced", "non-subscribed"]);
    let status = (Just("status"), select(vec![Mode::Is, Mode::IsNot]), words);
    let dates = &["2026-01-02", "2026-01-03", "2026-01-02T10:00:00Z", "2026-01-06"];
    let modes = [Mode::DateAfter, Mode::DateBefore, Mode::DateOn];
    let one = prop::collection::vec(select(dates.as_slice()).prop_map(Operand::of), 1);
    let date = (select(vec!["createdAt", "updatedAt", "joined", "plan"]), select(modes.to_vec()), one);
    let between = Just(vec![Operand::of("2026-01-02"), Operand::of("2026-01-04T12:00:00Z")]);
    let dates = (select(vec!["createdAt", "updatedAt", "joined"]), Just(Mode::DateBetween), between);
    let modes = [Mode::NumberGt, Mode::NumberGte, Mode::NumberLt, Mode::NumberLte];
    let one = prop::collection::vec(select(vec!["0", "2.5", "-1", "3000"]).prop_map(Operand::of), 1);
    let number = (select(vec!["score", "plan", "joined"]), select(modes.to_vec()), one);
    let between = Just(vec![Operand::of("-1"), Operand::of("3000")]);
    let numbers = (Just("score"), Just(Mode::NumberBetween), between);
    prop_oneof![4 => text, 1 => status, 2 => date, 1 => dates, 2 => number, 1 => numbers]
        .prop_map(|(key, mode, values)| FieldCondition { key: key.to_owned(), mode, values })
}

fn activity_condition() -> impl Strategy<Value = ActivityCondition> {
    let action = select(vec![Action::Sent, Action::Opened, Action::Clicked]);
    let modes = vec![ActivityMode::Within, ActivityMode::Before, ActivityMode::Never, ActivityMode::Between];
    let campaign = prop::option::of(select(CAMPAIGNS.to_vec()));
    (action, select(modes), 1..8_u32, campaign).prop_map(|(action, mode, days, campaign_id)| {
        let ago = matches!(mode, ActivityMode::Within | ActivityMode::Before);
        let between = mode == ActivityMode::Between;
        ActivityCondition {
            action,
            mode,
            unit: ago.then_some(Unit::Days),
            amount: ago.then(|| Bounded::new(days.into()).expect("the number of days is valid")),
            from: between.then(|| WireTime(START.plus_ms(DAY_MS))),
            to: between.then(|| WireTime(START.plus_ms(i64::from(days + 1) * DAY_MS))),
            campaign_id,
        }
    })
}

fn event_condition() -> impl Strategy<Value = EventCondition> {
    use EventMode::{Between, Ever, Never, NotBetween, NotWithin, Within};
    let modes = vec![Within, NotWithin, Ever, Never, Between, NotBetween];
    (select(EVENTS.to_vec()), select(modes), 1..8_u32).prop_map(|(name, mode, days)| {
        let ago = matches!(mode, Within | NotWithin);
        let between = matches!(mode, Between | NotBetween);
        EventCondition {
            name: EventName::parse(name).expect("the name is valid"),
            mode,
            unit: ago.then_some(Unit::Days),
            amount: ago.then(|| Bounded::new(days.into()).expect("the number of days is valid")),
            from: between.then(|| WireTime(START.plus_ms(DAY_MS + 12_345))),
            to: between.then(|| WireTime(START.plus_ms(i64::from(days + 1) * DAY_MS))),
        }
    })
}

fn group(tags: &[TagId], topics: &[TopicId]) -> impl Strategy<Value = FilterTree> + use<> {
    // Include an ID that has never belonged to a tag.
    let ids: Vec<TagId> = tags.iter().copied().chain([TagId::from_bytes([9; 12])]).collect();
    let some = |ids: Vec<TagId>| prop_oneof![3 => Just(vec![]), 1 => prop::collection::vec(select(ids), 1..3)];
    let topic_ids: Vec<TopicId> = topics.iter().copied().chain([TopicId::from_bytes([9; 12])]).collect();
    let some_topics = |ids: Vec<TopicId>| prop_oneof![3 => Just(vec![]), 1 => prop::collection::vec(select(ids), 1..3)];
    let custom = prop_oneof![
        3 => Just(BTreeMap::new()),
        1 => operands(&["pro", "free"]).prop_map(|values| BTreeMap::from([("plan".to_owned(), values)])),
    ];
    let validation = select(vec![Validation::Unknown, Validation::Valid]);
    (
        select(vec![Match::All, Match::Any]),
        (some(ids.clone()), some(ids), some_topics(topic_ids.clone()), some_topics(topic_ids)),
        prop::option::weighted(0.2, select(Status::ALL.to_vec())),
        prop::option::weighted(0.1, validation),
        custom,
        prop::collection::vec(field_condition(), 1..4),
        (
            prop_oneof![3 => Just(vec![]), 1 => prop::collection::vec(activity_condition(), 1..2)],
            prop_oneof![3 => Just(vec![]), 1 => prop::collection::vec(event_condition(), 1..3)],
        ),
    )
        .prop_map(|(combine, named, status, validation_status, custom_fields, fields, (activity, events))| {
            let (tags, exclude_tags, topics, exclude_topics) = named;
            FilterTree {
                combine,
                groups: vec![],
                tags,
                exclude_tags,
                topics,
                exclude_topics,
                status,
                validation_status,
                custom_fields,
                fields,
                activity,
                events,
            }
        })
}

fn tree(tags: &[TagId], topics: &[TopicId]) -> impl Strategy<Value = FilterTree> + use<> {
    let bare = prop_oneof![9 => group(tags, topics), 1 => Just(FilterTree::default())];
    let inner = group(tags, topics).prop_recursive(3, 12, 3, {
        let group = group(tags, topics).boxed();
        move |inner| {
            (group.clone(), prop::collection::vec(inner, 1..3)).prop_map(|(group, groups)| FilterTree { groups, ..group })
        }
    });
    prop_oneof![1 => bare, 4 => inner]
}

#[test]
fn the_planner_finds_exactly_the_matching_contacts() {
    let scene = scene();
    let tx = scene.store.read();
    let activities_of = |number: u32| -> Vec<Activity> {
        scene.activity_rows.iter().filter(|(of, _)| *of == number).map(|(_, activity)| *activity).collect()
    };
    let event_facts_of = |number: u32| -> Vec<EventFact> {
        scene.reported.iter().filter(|(of, _)| *of == number).map(|(_, event)| event.clone()).collect()
    };
    let did = |number: u32| (activities_of(number), event_facts_of(number));
    let gets = |contact: &Contact| topic_ids(&tx, PROJECT, contact).expect("the store is readable");
    let of = |(contact, _): &(Contact, Vec<TagId>)| (did(contact.id.number()), gets(contact));
    let activities = scene.contacts.iter().map(of).collect::<Vec<_>>();
    let config = ProptestConfig { failure_persistence: None, cases: 300, ..ProptestConfig::default() };
    let mut runner = proptest::test_runner::TestRunner::new(config);
    let selective = std::cell::Cell::new(0);
    runner
        .run(&tree(&scene.tags, &scene.topics), |tree| {
            let filter = tree.check("filters").expect("the generator creates valid trees");
            let planned = filter.select(&tx, PROJECT, scene.now).expect("the store is readable");
            let meets = scene.contacts.iter().zip(&activities).filter(|((contact, tags), ((activity, events), topics))| {
                filter.matches(&ContactFacts { contact, tags, topics, activity, events, now: scene.now })
            });
            let plain: RoaringBitmap = meets.map(|((contact, _), _)| contact.id.number()).collect();
            prop_assert_eq!(&planned, &plain);
            let is_selective = !plain.is_empty() && plain.len() < scene.contacts.len() as u64;
            selective.set(selective.get() + u32::from(is_selective));
            // Serializing and parsing a tree does not change its meaning.
            let written = serde_json::to_string(&tree).expect("a filter tree can be written as JSON");
            prop_assert_eq!(serde_json::from_str::<FilterTree>(&written).expect("the JSON is a filter tree"), tree);
            Ok(())
        })
        .unwrap_or_else(|error| panic!("{error}"));
    assert!(selective.get() > 50, "only {} filters selected some but not all contacts", selective.get());
}

#[test]
fn a_write_sees_its_own_contacts_and_one_thread_finds_the_same() {
    let scene = scene();
    let tree: FilterTree = read(json!({ "fields": [{ "key": "plan", "mode": "is", "values": ["pro"] }] }));
    let filter = tree.check("filters").expect("the input is valid");
    let outside = filter.select(&scene.store.read(), PROJECT, scene.now).expect("the store is readable").len();
    let tags = scene.tags.clone();
    let inside = write(&scene.store, move |tx| {
        let before = filter.select(tx, PROJECT, START).expect("the store is readable").len();
        add(tx, CONTACTS..CONTACTS + 100, &tags, &mut Dice(3));
        (before, filter.select(tx, PROJECT, START).expect("the store is readable").len())
    });
    assert_eq!(inside.0, outside);
    assert!(inside.1 > outside && inside.1 < outside + 100, "{inside:?}");
}

#[test]
fn a_cached_set_is_dropped_when_a_contact_changes() {
    let scene = scene();
    let filter = read(json!({ "status": "bounced" })).check("filters").expect("the input is valid");
    let count = || filter.count(&scene.store.read(), PROJECT, scene.now).expect("the store is readable");
    let before = count();
    let first = filter.members(&scene.store.read(), PROJECT, scene.now).expect("the store is readable");
    let again = filter.members(&scene.store.read(), PROJECT, scene.now.plus_ms(DAY_MS)).expect("the store is readable");
    assert!(std::sync::Arc::ptr_eq(&first, &again), "the result is cached regardless of the time");
    write(&scene.store, |tx| {
        contact_records::change(tx, PROJECT, |tx, changes| {
            let before = contact_records::by_number(tx, PROJECT, 1)?.expect("the row exists");
            let mut after = before.clone();
            let other = if before.status == Status::Bounced { Status::Subscribed } else { Status::Bounced };
            after.set_status(other, tx.now());
            changes.replace(tx, &before, &after);
            Ok::<_, crate::engine::store::Error>(())
        })
        .expect("the write succeeds");
    });
    assert_eq!(count().abs_diff(before), 1);
}

#[test]
fn a_cached_set_of_subscribers_is_dropped_when_a_choice_or_a_topic_changes() {
    let scene = scene();
    let topic = scene.topics[0];
    let count = |condition: &str| {
        let filter = read(json!({ (condition): [topic] })).check("filters").expect("the input is valid");
        filter.count(&scene.store.read(), PROJECT, scene.now).expect("the store is readable")
    };
    let all = scene.contacts.len() as u64;
    let choose =
        |subscribed: bool| write(&scene.store, move |tx| topics::choose(tx, PROJECT, topic, 1, subscribed)).expect("written");
    choose(true);
    let before = count("topics");
    assert_eq!(count("excludeTopics"), all - before);
    choose(false);
    assert_eq!((count("topics"), count("excludeTopics")), (before - 1, all - before + 1));
    write(&scene.store, move |tx| {
        let topic = topics::look_up(tx, PROJECT, topic).expect("the store is readable").expect("the row exists");
        topics::save(tx, PROJECT, &Topic { default_subscription: TopicDefault::OptOut, ..topic }).expect("the write succeeds");
    });
    assert!(count("topics") < before - 100, "only contacts that chose the topic remain");
    write(&scene.store, move |tx| topics::delete(tx, PROJECT, topic)).expect("the write succeeds");
    assert_eq!((count("topics"), count("excludeTopics")), (0, all));
}

#[test]
fn tags_and_topics_that_the_project_does_not_have_are_refused() {
    let scene = scene();
    let (tag, topic) = (scene.tags[2], scene.topics[2]);
    for (tree, wanted) in [
        (json!({ "groups": [{ "excludeTags": [tag] }] }), format!("filters: the brand has no tag with the ID {tag}")),
        (json!({ "groups": [{ "topics": [topic] }] }), format!("filters: the brand has no topic with the ID {topic}")),
        (json!({ "excludeTopics": [topic] }), format!("filters: the brand has no topic with the ID {topic}")),
    ] {
        let refused =
            read(tree).check("filters").expect("the input is valid").check_names(&scene.store.read(), PROJECT, "filters");
        let detail = refused.expect_err("the filter is refused").text();
        assert!(detail.starts_with(&wanted), "{detail}");
    }
    let known = read(json!({ "tags": [scene.tags[0]], "excludeTopics": [scene.topics[0], scene.topics[1]] }));
    assert!(known.check("filters").expect("the input is valid").check_names(&scene.store.read(), PROJECT, "filters").is_ok());
}

fn read(json: Value) -> FilterTree {
    serde_json::from_value(json).expect("the JSON is a filter tree")
}

fn refusal(json: Value) -> String {
    read(json).check("filters").expect_err("the filter is refused").text()
}

#[test]
fn errors_name_their_path_and_a_remedy() {
    let field = |key: &str, mode: &str, values: Value| json!({ "fields": [{ "key": key, "mode": mode, "values": values }] });
    let activity = |rest: Value| {
        let mut condition = json!({ "action": "opened" });
        condition.as_object_mut().expect("an object").extend(rest.as_object().expect("an object").clone());
        json!({ "activity": [condition] })
    };
    for (tree, wanted) in [
        (
            json!({ "groups": [{ "fields": [
                { "key": "plan", "mode": "is", "values": ["pro"] }, { "key": "createdAt", "mode": "date_on", "values": ["soon"] },
            ] }] }),
            "filters.groups[0].fields[1].values[0]: must be a date like 2026-01-31",
        ),
        (field("createdAt", "is", json!(["2026-01-31"])), "filters.fields[0].mode: createdAt is a time; use the mode `date_"),
        (field("email", "number_gt", json!([1])), "filters.fields[0].mode: email is text; use the mode `is`"),
        (field("status", "contains", json!(["sub"])), "filters.fields[0].mode: status has four possible values"),
        (field("status", "is", json!(["active"])), "filters.fields[0].values[0]: must be one of subscribed"),
        (field("plan", "is", json!([])), "filters.fields[0].values: add at least one value"),
        (field("plan", "contains", json!([""])), "filters.fields[0].values[0]: a value must have 1 to 500 characters"),
        (field("customFields.", "is", json!(["x"])), "filters.fields[0].key: a field name is blank"),
        (field("age", "number_between", json!([1])), "filters.fields[0].values: the condition's mode requires exactly 2"),
        (field("age", "number_between", json!([2, 1])), "filters.fields[0].values: the first number is larger"),
        (field("age", "number_gt", json!(["old"])), "filters.fields[0].values[0]: must be a number like 12"),
        (
            field("joined", "date_between", json!(["2026-02-01", "2026-01-01"])),
            "filters.fields[0].values: the first date is later",
        ),
        (json!({ "groups": [{}] }), "filters.groups[0]: a group requires at least one condition"),
        (json!({ "customFields": { "plan": [] } }), "filters.customFields.plan: add at least one value"),
        (activity(json!({ "mode": "within", "unit": "days" })), "filters.activity[0].amount: the condition's mode requires"),
        (
            activity(json!({ "mode": "within", "unit": "days", "amount": 3651 })),
            "filters.activity[0].amount: must be a number from 1 to 3650",
        ),
        (activity(json!({ "mode": "never", "amount": 3 })), "filters.activity[0].amount: the condition's mode does not use"),
        (
            activity(json!({ "mode": "between", "from": "2026-01-02", "to": "2026-01-01" })),
            "filters.activity[0].to: must be later than `from`",
        ),
    ] {
        let found = refusal(tree);
        assert!(found.starts_with(wanted), "{found}\n  wanted {wanted}");
    }
}

#[test]
fn trees_are_limited_in_size_and_depth() {
    let leaf = json!({ "status": "bounced" });
    let nested = |levels: usize| (0..levels).fold(leaf.clone(), |inner, _| json!({ "groups": [inner] }));
    assert!(read(nested(limits::SEGMENT_LEVELS_MAX)).check("filters").is_ok());
    let found = refusal(nested(limits::SEGMENT_LEVELS_MAX + 1));
    assert!(found.starts_with("filters.groups[0].groups[0].groups[0].groups[0]: groups can be nested at most 3"), "{found}");
    let wide = |groups: usize| json!({ "groups": vec![leaf.clone(); groups] });
    assert!(read(wide(limits::SEGMENT_GROUPS_PER_GROUP_MAX)).check("filters").is_ok());
    assert!(refusal(wide(limits::SEGMENT_GROUPS_PER_GROUP_MAX + 1)).starts_with("filters.groups: list at most 10 groups"));
    let many = |conditions: usize| {
        let condition = json!({ "key": "plan", "mode": "is", "values": ["pro"] });
        json!({ "match": "any", "fields": vec![condition; conditions] })
    };
    assert!(read(many(limits::SEGMENT_CONDITIONS_MAX)).check("filters").is_ok());
    assert!(refusal(many(limits::SEGMENT_CONDITIONS_MAX + 1)).starts_with("filters: use at most 50 conditions"));
}

#[test]
fn unknown_words_are_refused_when_they_are_read() {
    for wrong in [
        json!({ "matches": "all" }),
        json!({ "fields": [{ "key": "plan", "mode": "like", "values": ["x"] }] }),
        json!({ "fields": [{ "key": "plan", "mode": "is", "values": [["x"]] }] }),
        json!({ "fields": [{ "key": "plan", "mode": "is", "values": ["x"], "case": true }] }),
        json!({ "status": "active" }),
        json!({ "tags": ["vip"] }),
        json!({ "topics": ["news"] }),
    ] {
        assert!(serde_json::from_value::<FilterTree>(wrong.clone()).is_err(), "{wrong}");
    }
}

#[test]
fn the_schema_accepts_exactly_the_valid_trees() {
    let schema = serde_json::to_value(schemars::schema_for!(FilterTree)).expect("a schema can be written as JSON");
    let validator = jsonschema::validator_for(&schema).expect("the schema is a valid JSON Schema");
    let deep = json!({
        "match": "any", "tags": ["66f1a2b300000001aabbccdd"], "customFields": { "plan": ["pro", 7, true] },
        "groups": [{ "groups": [{ "fields": [{ "key": "email", "mode": "ends_with", "values": ["@example.com"] }] }] }],
        "activity": [{ "action": "clicked", "mode": "within", "unit": "days", "amount": 30 }],
    });
    assert!(validator.is_valid(&deep));
    read(deep);
    assert!(!validator.is_valid(&json!({ "groups": [{ "groups": [{ "hue": "red" }] }] })));
    assert!(!validator.is_valid(&json!({ "fields": [{ "key": "email", "mode": "like", "values": ["x"] }] })));
}
