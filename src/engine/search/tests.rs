//! Tests the index from a user's perspective: matches, order and durability.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;

use proptest::prelude::*;
use roaring::RoaringBitmap;

use super::*;

const SCOPE: Scope = *b"project-one!";
const OTHER: Scope = *b"project-two!";
const OPTIONS: Options = Options { writer_bytes: 30_000_000 };

fn open(dir: &Path) -> Index {
    Index::open(dir, OPTIONS).expect("the index opens")
}

fn person(number: u32, email: &str, name: &str) -> Document {
    Document::new(SCOPE, number).with(TextKind::Address, email).with(TextKind::Name, name)
}

/// Creates an index of these documents, committed at position 1, in a temporary folder.
fn index_of(documents: impl IntoIterator<Item = Document>) -> (tempfile::TempDir, Index) {
    let dir = tempfile::tempdir().expect("a temporary folder can be created");
    let index = open(dir.path());
    index.apply(documents.into_iter().map(Change::Add).collect()).expect("the changes are applied");
    index.commit(1).expect("the commit succeeds");
    (dir, index)
}

fn found(index: &Index, text: &str) -> Vec<u32> {
    let hits = index.search(&SCOPE, text, &RoaringBitmap::full(), 0, 1_000).expect("the search succeeds");
    let matching = index.matching(&SCOPE, text).expect("the search succeeds");
    assert_eq!(matching, hits.numbers.iter().copied().collect(), "both methods find the same contacts for {text:?}");
    assert_eq!(matching.len(), hits.total, "the total is the number of contacts found for {text:?}");
    hits.numbers
}

fn people() -> (tempfile::TempDir, Index) {
    index_of([
        person(0, "joann.smith@example.com", "Joann Smith"),
        person(1, "x@google.com", "Xaver Müller"),
        person(2, "mueller@web.de", "Greta Mueller"),
        person(3, "ann@smith.org", "Ann O'Brien").with(TextKind::Phone, "+1 (555) 123-4567"),
        person(4, "zed@example.com", "Zed").with(TextKind::Label, "Ann fans").with(TextKind::Value, "Gold tier 2024"),
        person(5, "eva@example.com", "Eva").with(TextKind::Value, "ann").with(TextKind::Phone, "+49 171 5551239"),
        person(6, "anna-lena@example.com", "Anna-Lena Иванов"),
    ])
}

#[test]
fn ranks_whole_words_before_prefixes_and_names_before_tags_before_values() {
    let (_dir, index) = people();
    // Contact 3 matches by name and whole local part, 4 by a tag, 5 by a value, 6 by the prefix of a name, and 0 inside the local part.
    assert_eq!(found(&index, "ann"), [3, 4, 5, 6, 0]);
    assert_eq!(found(&index, "ann smi"), [3, 0]);
}

#[test]
fn ranks_the_whole_email_first_and_newest_first_among_equals() {
    let (_dir, index) = index_of([
        person(0, "ann@x.io", "A"),
        person(1, "ann@x.io.example", "B"),
        person(2, "bo.ann@x.io", "C"),
        person(3, "ann@x.io.example", "D"),
        person(4, "joann@x.io", "E"),
    ]);
    assert_eq!(found(&index, "ann@x.io"), [0, 3, 1, 4, 2]);
    assert_eq!(found(&index, "ANN@X.IO"), [0, 3, 1, 4, 2]);
    assert_eq!(found(&index, "@x.i"), [4, 3, 2, 1, 0]);
}

#[test]
fn finds_inside_local_part_and_domain() {
    let (_dir, index) = people();
    assert_eq!(found(&index, "oogle"), [1]);
    assert_eq!(found(&index, "ann.sm"), [0]);
    assert_eq!(found(&index, "joann.smith@exam"), [0]);
    assert_eq!(found(&index, "smith@example"), [0]);
    assert_eq!(found(&index, "mith.or"), [3]);
}

#[test]
fn finds_inside_the_domains_of_large_providers_too() {
    let (_dir, index) =
        index_of([person(0, "a@hotmail.com", "A"), person(1, "b@gmail.com", "B"), person(2, "c@airmail.org", "C")]);
    assert_eq!(found(&index, "mail"), [2, 1, 0]);
    assert_eq!(found(&index, "otmail.co"), [0]);
}

#[test]
fn folds_case_diacritics_and_apostrophes() {
    let (_dir, index) = people();
    assert_eq!(found(&index, "MÜLLER"), [1]);
    assert_eq!(found(&index, "muller"), [1]);
    assert_eq!(found(&index, "obrien"), [3]);
    assert_eq!(found(&index, "o’br"), [3]);
    assert_eq!(found(&index, "ИВАН"), [6]);
    assert_eq!(found(&index, "anna-lena"), [6]);
    assert_eq!(found(&index, "lena anna"), [6]);
}

#[test]
fn tolerates_typing_errors_if_nothing_matches_as_written() {
    let (_dir, index) = people();
    assert_eq!(found(&index, "smiht"), [3, 0]);
    assert_eq!(found(&index, "zmith joann"), [0]);
    assert_eq!(found(&index, "gogle.com"), [1]);
    assert_eq!(found(&index, "jaonn.smiht@example.com"), [0]);
    assert_eq!(found(&index, "joann.smith@exmaple.com"), [0]);
    assert_eq!(found(&index, "zde"), [0_u32; 0], "typo correction needs more than three characters");
}

#[test]
fn a_transliterated_umlaut_is_a_typing_error() {
    let (_dir, index) = index_of([person(7, "x@google.com", "Xaver Müller")]);
    assert_eq!(found(&index, "mueller"), [7]);
}

#[test]
fn finds_phone_numbers_in_any_notation() {
    let (_dir, index) = people();
    assert_eq!(found(&index, "+15551234567"), [3]);
    assert_eq!(found(&index, "1 555-123-4567"), [3]);
    assert_eq!(found(&index, "4567"), [3]);
    assert_eq!(found(&index, "456"), [3]);
    assert_eq!(found(&index, "+4"), [5], "the first digits of a number match");
    assert_eq!(found(&index, "+1 5"), [3]);
    assert_eq!(found(&index, "567"), [3], "the last three digits match");
    assert_eq!(found(&index, "0171 555"), [5]);
    assert_eq!(found(&index, "555 123"), [5, 3]);
    assert_eq!(found(&index, "ann 555"), [3, 5]);
}

#[test]
fn every_word_must_match_somewhere() {
    let (_dir, index) = people();
    assert_eq!(found(&index, "zed gold fans"), [4]);
    assert_eq!(found(&index, "zed silver"), [0_u32; 0]);
    assert_eq!(found(&index, "2024 gol"), [4]);
}

#[test]
fn pages_of_allowed_numbers_join_to_the_whole_list() {
    let (_dir, index) =
        index_of((0..300).map(|n| person(n, &format!("user{n}@example.com"), if n % 7 == 0 { "User" } else { "U" })));
    let allowed: RoaringBitmap = (0..300).filter(|n| n % 2 == 0).collect();
    let page = |offset, limit| index.search(&SCOPE, "user", &allowed, offset, limit).expect("the search succeeds");
    let whole = page(0, 1_000).numbers;
    assert_eq!(whole.len(), 150);
    assert_eq!(whole[..3], [294, 280, 266], "whole words first, newest first");
    assert!((0..150).step_by(40).flat_map(|offset| page(offset, 40).numbers).eq(whole.iter().copied()));
    assert_eq!(page(1_000, 10), Hits { numbers: vec![], total: 150 });
    assert_eq!(page(0, 0).total, 150);
}

#[test]
fn scopes_are_isolated() {
    let dir = tempfile::tempdir().expect("a temporary folder can be created");
    let index = open(dir.path());
    let foreign = Document::new(OTHER, 0).with(TextKind::Address, "bob@foreign.io");
    index.apply(vec![Change::Add(person(0, "ann@y.io", "Ann")), Change::Add(foreign)]).expect("the changes are applied");
    index.commit(1).expect("the commit succeeds");
    assert_eq!(found(&index, "bob@foreign.io"), [0_u32; 0]);
    assert_eq!(index.matching(&OTHER, "bob").expect("the search succeeds"), [0].into());
    index.apply(vec![Change::Remove { scope: OTHER, number: 0 }]).expect("the changes are applied");
    index.commit(2).expect("the commit succeeds");
    assert_eq!(found(&index, "ann"), [0]);
    assert!(index.matching(&OTHER, "bob").expect("the search succeeds").is_empty());
}

#[test]
fn hostile_texts_match_nothing_or_little() {
    let (_dir, index) = people();
    let texts = [
        String::new(),
        "\0\u{1}\u{7f}".to_owned(),
        "(".repeat(3_000),
        "[{(\"*?:^~\\".repeat(500),
        "a AND (b OR".to_owned(),
        "field:ann".to_owned(),
        "@".repeat(10_000),
        "é".repeat(100_000),
        "\u{202e}\u{10ffff}\u{0}".repeat(1_000),
        (0..10_000).map(|n| format!("{n} ")).collect(),
        "q-".repeat(10_000),
        "qqq.".repeat(64),
        "x@".to_owned(),
        "@x".to_owned(),
        "......@......".to_owned(),
    ];
    for text in texts {
        assert!(found(&index, &text).len() <= 1, "{:?}", text.chars().take(20).collect::<String>());
    }
}

#[test]
fn uncommitted_changes_are_gone_after_reopening() {
    let dir = tempfile::tempdir().expect("a temporary folder can be created");
    let index = open(dir.path());
    index.apply(vec![Change::Add(person(0, "ann@x.io", "Ann"))]).expect("the changes are applied");
    index.commit(41).expect("the commit succeeds");
    index
        .apply(vec![Change::Add(person(1, "bob@x.io", "Bob")), Change::Remove { scope: SCOPE, number: 0 }])
        .expect("the changes are applied");
    assert_eq!(found(&index, "bob"), [0_u32; 0]);
    drop(index);
    let index = open(dir.path());
    assert_eq!(index.position(), 41);
    assert_eq!(found(&index, "ann"), [0]);
    assert_eq!(found(&index, "bob"), [0_u32; 0]);
}

#[test]
fn a_damaged_index_starts_empty_at_position_0() {
    type Damage = fn(&Path);
    let damages: [(&str, Damage); 4] = [
        ("meta.json", |file| std::fs::write(file, "{\"segments\": [").expect("the write succeeds")),
        ("term", |file| {
            let mut bytes = std::fs::read(file).expect("the read succeeds");
            bytes[20] ^= 0x55;
            std::fs::write(file, bytes).expect("the write succeeds");
        }),
        ("idx", |file| std::fs::write(file, b"short").expect("the write succeeds")),
        ("fast", |file| std::fs::remove_file(file).expect("the file can be removed")),
    ];
    for (ending, damage) in damages {
        let (dir, index) = people();
        drop(index);
        let current = std::fs::read_to_string(dir.path().join("CURRENT")).expect("the read succeeds");
        let files = std::fs::read_dir(dir.path().join(current)).expect("the folder can be listed");
        let mut hit = 0;
        for file in files.flatten().filter(|file| file.file_name().to_string_lossy().ends_with(ending)) {
            damage(&file.path());
            hit += 1;
        }
        assert_eq!(hit, 1, "one file ends with {ending}");
        let index = open(dir.path());
        assert_eq!((index.position(), found(&index, "ann").len()), (0, 0), "{ending}");
        index.apply(vec![Change::Add(person(0, "ann@x.io", "Ann"))]).expect("the changes are applied");
        index.commit(1).expect("the commit succeeds");
        assert_eq!(found(&index, "ann"), [0], "{ending}");
    }
}

#[test]
fn an_index_of_another_version_or_an_unreadable_pointer_starts_empty() {
    for pointer in ["v0-1", "../elsewhere", "", "v1-9999"] {
        let (dir, index) = people();
        drop(index);
        std::fs::write(dir.path().join("CURRENT"), pointer).expect("the write succeeds");
        let index = open(dir.path());
        assert_eq!((index.position(), found(&index, "ann").len()), (0, 0), "{pointer:?}");
        assert_eq!(
            std::fs::read_dir(dir.path()).expect("the folder can be listed").count(),
            2,
            "only the pointer and its generation remain"
        );
    }
}

#[test]
fn a_rebuild_replaces_the_index_only_when_it_has_caught_up() {
    let (dir, index) = people();
    let early = index.rebuild().expect("the rebuild starts");
    early.apply(vec![Change::Add(person(0, "new@x.io", "New"))]).expect("the changes are applied");
    early.commit(0, CommitMode::Calm).expect("the commit succeeds");
    assert!(matches!(index.adopt(early), Err(SearchError::Behind { rebuilt: 0, present: 1 })));
    assert_eq!(found(&index, "zed"), [4]);

    let rebuild = index.rebuild().expect("the rebuild starts again");
    rebuild.apply(vec![Change::Add(person(9, "new@x.io", "New"))]).expect("the changes are applied");
    rebuild.commit(7, CommitMode::Calm).expect("the commit succeeds");
    assert_eq!(found(&index, "zed"), [4], "the current index serves searches until it is replaced");
    index.adopt(rebuild).expect("the index is replaced");
    assert_eq!((index.position(), found(&index, "zed"), found(&index, "new")), (7, vec![], vec![9]));
    index.apply(vec![Change::Add(person(10, "newer@x.io", "Newer"))]).expect("the changes are applied");
    index.commit(8).expect("the commit succeeds");
    drop(index);
    assert_eq!(found(&open(dir.path()), "new"), [9, 10]);
}

#[test]
fn an_abandoned_rebuild_keeps_the_current_index() {
    let (dir, index) = people();
    let rebuild = index.rebuild().expect("the rebuild starts");
    rebuild.apply(vec![Change::Add(person(9, "new@x.io", "New"))]).expect("the changes are applied");
    rebuild.commit(7, CommitMode::Calm).expect("the commit succeeds");
    drop((rebuild, index));
    let index = open(dir.path());
    assert_eq!((index.position(), found(&index, "zed")), (1, vec![4]));
    assert_eq!(std::fs::read_dir(dir.path()).expect("the folder can be listed").count(), 2);
}

#[test]
fn clearing_during_a_rebuild_affects_neither() {
    let (dir, index) = people();
    let rebuild = index.rebuild().expect("the rebuild starts");
    index.clear().expect("the index is cleared");
    rebuild.apply(vec![Change::Add(person(9, "new@x.io", "New"))]).expect("the changes are applied");
    rebuild.commit(7, CommitMode::Calm).expect("the commit succeeds");
    index.adopt(rebuild).expect("the index is replaced");
    drop(index);
    let index = open(dir.path());
    assert_eq!((index.position(), found(&index, "new")), (7, vec![9]));
}

#[test]
fn clearing_deletes_everything_durably() {
    let (dir, index) = people();
    index.clear().expect("the index is cleared");
    assert_eq!((index.position(), found(&index, "ann").len()), (0, 0));
    drop(index);
    assert_eq!(open(dir.path()).position(), 0);
}

#[test]
fn the_folder_is_for_its_owner_only() {
    use std::os::unix::fs::PermissionsExt;
    let dir = tempfile::tempdir().expect("a temporary folder can be created");
    let path = dir.path().join("search");
    let _index = open(&path);
    assert_eq!(std::fs::metadata(&path).expect("the file exists").permissions().mode() & 0o777, 0o700);
}

#[tokio::test]
async fn waiting_ends_with_the_commit_or_the_timeout() {
    let (_dir, index) = people();
    assert!(index.caught_up(1, Duration::ZERO).await);
    assert!(!index.caught_up(2, Duration::from_millis(5)).await);
    let (reached, ()) =
        tokio::join!(index.caught_up(2, Duration::from_secs(30)), async { index.commit(2).expect("the commit succeeds") });
    assert!(reached);
}

#[test]
fn large_batches_and_many_segments_lose_nothing() {
    let dir = tempfile::tempdir().expect("a temporary folder can be created");
    let index = open(dir.path());
    for part in 0..20_u32 {
        let documents =
            (part * 600..part * 600 + 600).map(|n| Change::Add(person(n, &format!("user{n:05}@example.com"), "Same")));
        index.apply(documents.collect()).expect("the changes are applied");
        index.commit(u64::from(part)).expect("the commit succeeds");
    }
    assert_eq!(index.matching(&SCOPE, "same").expect("the search succeeds").len(), 12_000);
    assert_eq!(index.matching(&SCOPE, "user011").expect("the search succeeds").len(), 100);
    assert_eq!(index.matching(&SCOPE, "er0102").expect("the search succeeds").len(), 10);
    index.settle().expect("the index settles");
    assert_eq!(index.matching(&SCOPE, "xample").expect("the search succeeds").len(), 12_000);
}

/// In an earlier version, a newly opened writer gave its first operation the number of the last commit. Merges that started before the next
/// commit treated a deletion with that number as already applied, so documents that were replaced right after a restart came back.
#[test]
fn documents_replaced_right_after_a_restart_stay_replaced() {
    let named = |number, name| Document::new(SCOPE, number).with(TextKind::Name, name);
    for round in 0..20 {
        let dir = tempfile::tempdir().expect("a temporary folder can be created");
        let change = |position: u64, changes: Vec<Change>| {
            let index = open(dir.path());
            index.apply(changes).expect("the changes are applied");
            index.commit(position).expect("the commit succeeds");
            index
        };
        drop(change(1, vec![Change::Add(named(0, "ann")), Change::Add(named(1, "bob")), Change::Add(named(2, "eve"))]));
        // A segment with deletions in a third of its documents is merged as soon as there is another segment.
        drop(change(2, vec![Change::Replace(named(0, "anna")), Change::Add(named(3, "dan")), Change::Add(named(4, "kim"))]));
        drop(open(dir.path()));
        let index =
            change(3, vec![Change::Replace(named(1, "robert")), Change::Add(named(5, "tom")), Change::Add(named(6, "liv"))]);
        index.apply(vec![Change::Add(named(7, "una")), Change::Replace(named(2, "eva"))]).expect("the changes are applied");
        index.commit(4).expect("the commit succeeds");
        assert_eq!(found(&index, "bob"), Vec::<u32>::new(), "round {round}");
    }
}

#[test]
fn opens_while_the_last_merge_of_a_dropped_writer_ends() {
    let dir = tempfile::tempdir().expect("a temporary folder can be created");
    for position in 1..=150 {
        let index = open(dir.path());
        assert_eq!(index.position(), position - 1);
        assert_eq!(index.matching(&SCOPE, "ann").expect("the search succeeds").len(), position - 1);
        // When a commit adds a sixth segment, tantivy starts a merge.
        let document = Document::new(SCOPE, position as u32).with(TextKind::Name, "ann");
        index.apply(vec![Change::Add(document)]).expect("the change is applied");
        index.commit(position).expect("the commit succeeds");
    }
}

/// Regression test: a process that was being started held a copy of the lock of a dropped writer, so the index was treated as damaged.
#[test]
fn opens_although_a_child_process_still_holds_the_lock_of_a_dropped_writer() {
    let (dir, index) = index_of([person(0, "ann@x.io", "Ann")]);
    drop(index);
    let folder = dir.path().join(std::fs::read_to_string(dir.path().join("CURRENT")).expect("the file is readable"));
    let lock = std::fs::File::open(folder.join(".tantivy-writer.lock")).expect("the file is readable");
    lock.lock().expect("the writer was dropped");
    std::thread::scope(|scope| {
        scope.spawn(move || {
            std::thread::sleep(std::time::Duration::from_millis(200));
            drop(lock);
        });
        let index = open(dir.path());
        assert_eq!((index.position(), found(&index, "ann")), (1, vec![0]));
    });
}

/// Regression test: a failed commit left behind its file of deletions, and later commits failed because they wrote a file with the same
/// name.
#[test]
fn a_file_of_a_failed_commit_does_not_stop_the_next_one() {
    let (dir, index) = index_of([person(0, "ann@x.io", "Ann"), person(1, "bob@x.io", "Bob")]);
    drop(index);
    let folder = dir.path().join(std::fs::read_to_string(dir.path().join("CURRENT")).expect("the file is readable"));
    let files = || -> BTreeMap<String, Vec<u8>> {
        let entries =
            std::fs::read_dir(&folder).expect("the folder is readable").map(|entry| entry.expect("the entry is readable"));
        let file = |entry: std::fs::DirEntry| std::fs::read(entry.path()).expect("the file is readable");
        entries.map(|entry| (entry.file_name().to_string_lossy().into_owned(), file(entry))).collect()
    };
    let change = || {
        let index = open(dir.path());
        index.apply(vec![Change::Replace(person(1, "robert@x.io", "Robert"))]).expect("the change is applied");
        index.commit(2).expect("the commit succeeds");
        assert_eq!((found(&index, "bob"), found(&index, "robert")), (vec![], vec![1]));
    };
    let before = files();
    change();
    // Put the folder into the state in which a commit leaves it if the commit fails after writing the deletions.
    for name in files().into_keys().filter(|name| !name.ends_with(".del") && name != ".managed.json") {
        std::fs::remove_file(folder.join(name)).expect("the file can be removed");
    }
    for (name, bytes) in before.iter().filter(|(name, _)| *name != ".managed.json") {
        std::fs::write(folder.join(name), bytes).expect("the file can be written");
    }
    assert!(files().into_keys().any(|name| name.ends_with(".del")));
    assert_eq!(open(dir.path()).position(), 1);
    change();
}

#[derive(Clone, Debug)]
enum Step {
    Put(u32, usize, usize),
    Remove(u32),
    Commit,
    Reopen,
}

const WORDS: [&str; 12] = ["ann", "anna", "annabel", "bob", "bo", "b", "smith", "smithers", "äpfel", "apfelbaum", "r2d2", "r2"];

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let step = prop_oneof![
        8 => (0..40_u32, 0..WORDS.len(), 0..WORDS.len()).prop_map(|(number, one, two)| Step::Put(number, one, two)),
        2 => (0..40_u32).prop_map(Step::Remove),
        2 => Just(Step::Commit),
        1 => Just(Step::Reopen),
    ];
    prop::collection::vec(step, 1..60)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(12))]

    /// Compares the index with a plain map after random changes, and after restarts, which lose uncommitted changes.
    #[test]
    fn finds_the_content_of_a_plain_map(steps in steps()) {
        let dir = tempfile::tempdir().expect("a temporary folder can be created");
        let mut index = open(dir.path());
        let mut committed: BTreeMap<u32, [&str; 2]> = BTreeMap::new();
        let mut map = committed.clone();
        let mut pending = Vec::new();
        let mut position = 0;
        for step in steps {
            match step {
                Step::Put(number, one, two) => {
                    let document = Document::new(SCOPE, number).with(TextKind::Name, WORDS[one]).with(TextKind::Value, WORDS[two]);
                    let known = map.insert(number, [WORDS[one], WORDS[two]]).is_some();
                    pending.push(if known { Change::Replace(document) } else { Change::Add(document) });
                }
                Step::Remove(number) => {
                    map.remove(&number);
                    pending.push(Change::Remove { scope: SCOPE, number });
                }
                Step::Commit => {
                    position += 1;
                    index.apply(std::mem::take(&mut pending)).expect("the changes are applied");
                    index.commit(position).expect("the commit succeeds");
                    committed = map.clone();
                }
                Step::Reopen => {
                    index.apply(std::mem::take(&mut pending)).expect("the changes are applied");
                    drop(index);
                    index = open(dir.path());
                    map = committed.clone();
                    prop_assert_eq!(index.position(), position);
                }
            }
        }
        for word in WORDS {
            let plain = word.replace('ä', "a");
            let holds = |test: &dyn Fn(&str) -> bool| -> Vec<u32> {
                let words = |words: &[&str; 2]| words.iter().any(|word| test(&word.replace('ä', "a")));
                committed.iter().filter(|(_, held)| words(held)).map(|(number, _)| *number).collect()
            };
            // Typing errors are considered only if no word has this prefix.
            let prefixed = holds(&|held| held.starts_with(&plain));
            if !prefixed.is_empty() {
                let hits = index.search(&SCOPE, word, &RoaringBitmap::full(), 0, 100).expect("the search succeeds");
                let mut sorted = hits.numbers.clone();
                sorted.sort_unstable();
                prop_assert_eq!(&sorted, &prefixed);
                let whole = holds(&|held| held == plain);
                let mut first = hits.numbers[..whole.len()].to_vec();
                first.sort_unstable();
                prop_assert_eq!(first, whole, "whole words come before prefixes");
            }
        }
    }
}
