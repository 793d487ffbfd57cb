//! Words that the glossary (`assets/docs/glossary.md`) replaces, rejected in code, tests, assets, settings and the
//! pages at the top.
//!
//! Comments, strings and names are searched alike: names are split at underscores and capitals, and lines are joined, so that
//! `looked_at`, `LookedAt` and a phrase across two lines of a comment are found.

use std::fs;
use std::path::PathBuf;

use super::none;
use super::source::{files, root, sources};

/// TABLE: the old word in lowercase, and what to write instead.
const OLD: &[(&str, &str)] = &[
    // People.
    ("stranger", "anyone, another user, an address that is not a contact"),
    ("strangers", "anyone, other users, addresses that are not contacts"),
    ("whoever", "the noun: a user, a recipient, a caller"),
    ("whomever", "the noun: a user, a recipient, a caller"),
    ("somebody", "a user, a contact or a recipient"),
    ("nobody", "no one, or a sentence with an active subject"),
    ("everybody", "every recipient, all contacts"),
    ("newcomer", "new contact"),
    ("newcomers", "new contacts"),
    // The API and environments.
    ("the interface", "the API"),
    ("this interface", "the API"),
    ("interface for programs", "API"),
    ("programming interface", "API"),
    ("worlds", "environments"),
    ("realms", "environments or databases"),
    // Verbs.
    ("looked", "checked, viewed, measured or polled"),
    ("looks at", "checks, views, measures or polls"),
    ("looking at", "checking, viewing, measuring or polling"),
    ("look again", "check, fetch or poll again"),
    ("heard of", "changed"),
    ("fn told", "the noun of what the function returns"),
    ("is told", "say who reports, returns or shows it"),
    ("are told", "say who reports, returns or shows it"),
    ("was told", "say who reported, returned or showed it"),
    ("were told", "say who reported, returned or showed it"),
    ("be told", "say who reports, returns or shows it"),
    ("told of", "say which event reports it"),
    ("tells of", "reports"),
    ("what becomes of", "its status"),
    ("is there already", "exists"),
    ("are there already", "exist"),
    ("begun", "started"),
    ("mended", "repaired"),
    ("goes on", "continues"),
    ("go on", "continue"),
    ("went on", "continued"),
    ("handed in", "imported or submitted"),
    ("handed on", "forwarded"),
    ("hand in", "import or submit"),
    ("hands in", "imports or submits"),
    ("take in", "accept or import"),
    ("takes in", "accepts or imports"),
    ("taken in", "accepted or imported"),
    ("taken on", "accepted or queued"),
    ("anew", "again"),
    ("for good", "permanently"),
    ("in doubt", "uncertain"),
    // Nouns of mail.
    ("way out", "transport"),
    ("ways out", "transports"),
    ("has way", "has a transport"),
    ("way to probe", "route to probe"),
    ("flying", "in flight"),
    ("stationery", "mailing context"),
    ("courier", "system mail"),
    ("ledger", "recipient rows, or the recipient writer"),
    ("takings", "revenue"),
    ("called spam", "spam complaint"),
    ("called it spam", "spam complaint"),
    ("deed", "activity or action"),
    ("deeds", "activities or actions"),
    ("mail client", "email client"),
    ("mail clients", "email clients"),
    ("mail program", "email client"),
    ("mail programs", "email clients"),
    // Other nouns.
    ("brand look", "brand theme"),
    ("certificate look", "certificate poll"),
    ("foreign form", "invalid form"),
    ("look-up", "lookup"),
    ("look-ups", "lookups"),
    ("small letters", "lowercase"),
    ("capital letters", "uppercase"),
    ("link to a new password", "password-reset link"),
    ("links to new passwords", "password-reset links"),
    ("whereof", "of which"),
    ("thereof", "of it"),
    ("therein", "in it"),
    ("whereby", "by which"),
    // British spellings. `cancelled` stays: it is a status of the API.
    ("colour", "color"),
    ("colours", "colors"),
    ("coloured", "colored"),
    ("behaviour", "behavior"),
    ("behaviours", "behaviors"),
    ("favourite", "favorite"),
    ("favourites", "favorites"),
    ("normalise", "normalize"),
    ("normalised", "normalized"),
    ("normalises", "normalizes"),
    ("recognise", "recognize"),
    ("recognised", "recognized"),
    ("recognises", "recognizes"),
    ("authorise", "authorize"),
    ("authorised", "authorized"),
    ("organisation", "organization"),
    ("grey", "gray"),
    ("labelled", "labeled"),
    ("cancelling", "canceling"),
    ("afterwards", "afterward"),
];

/// TABLE: prefixes of type names that are no longer used, and what to write instead. The case matters: as ordinary words, some of
/// them are correct.
const OLD_NAMES: &[(&str, &str)] = &[
    ("Accomplished", "Empty"),
    ("Belongs", "OwningProject"),
    ("Cutter", "Tokenizer"),
    ("Deed", "Activity or ReaderStep"),
    ("Door", "Auth"),
    ("Doubt", "UnknownReason"),
    ("Errand", "FetchTask"),
    ("Glance", "ImportPreview"),
    ("Guest", "LinkVisit"),
    ("HandedIn", "Imported"),
    ("Happening", "DeliveryEvent"),
    ("Lacking", "MissingRecord"),
    ("Ledger", "RecipientWriter"),
    ("LetterWish", "ImportedEmail"),
    ("LookPatch", "ThemePatch"),
    ("LookView", "ThemeView"),
    ("Manner", "RenderMode"),
    ("Meant", "ResolvedTime"),
    ("Mistake", "TemplateError"),
    ("ModelPeer", "FakeModel"),
    ("Newcomer", "NewContact"),
    ("Outward", "Async"),
    ("Posted", "SentMessage"),
    ("Realm", "Database"),
    ("Shelf", "RecordingHandler"),
    ("Stationery", "MailingContext"),
    ("Stranger", "Untrusted"),
    ("Takings", "Revenue"),
    ("Tally", "FieldCounts"),
    ("Told", "Verbatim"),
    ("Tongue", "Language"),
    ("Trouble", "PageError"),
    ("Wanted", "a name of the operation, such as ListTags"),
];

/// TABLE: participles that are no names of types. As names of variants and at the start of sentences, they are correct.
const OLD_TYPES: [&str; 22] = [
    "Accepted",
    "Asked",
    "Chosen",
    "Discarded",
    "Edited",
    "Finished",
    "Fixed",
    "Gathered",
    "Identified",
    "Inherited",
    "Kept",
    "Marked",
    "Matched",
    "Opened",
    "Painted",
    "Polled",
    "Removed",
    "Retried",
    "Seen",
    "Submitted",
    "Taken",
    "Verified",
];

/// TABLE: names of files and modules that are no longer used, and what to write instead.
const OLD_FILES: &[(&str, &str)] = &[
    ("asking", "internal_call"),
    ("choosing", "resolve"),
    ("colour", "color"),
    ("courier", "system_mail"),
    ("delivering", "dispatch"),
    ("drawing", "outputs"),
    ("erasing", "erasure"),
    ("fetching", "fetch"),
    ("foreign", "imported_html or untrusted_html"),
    ("happenings", "delivery_events"),
    ("intake", "write, create, ingest or input"),
    ("ledger", "recipient_writer"),
    ("leaving", "unsubscribe"),
    ("look", "theme"),
    ("looked", "doctor_check"),
    ("looking", "dns_check or image_analysis"),
    ("looks", "computed_style"),
    ("measuring", "measure"),
    ("newcomer", "upsert_by_email"),
    ("opening", "create or header"),
    ("people_store", "user_store"),
    ("people_views", "user_views"),
    ("permit", "preflight"),
    ("pictures", "image_files"),
    ("redelivering", "redelivery"),
    ("ring", "api_keys"),
    ("roll", "upsert_by_email"),
    ("sendable", "eligibility"),
    ("settling", "attribution"),
    ("shell", "layout"),
    ("sight", "image_stats"),
    ("signing_in", "authenticate"),
    ("standing", "status or subscription"),
    ("strangers", "noncontact_clicks"),
    ("stretches", "time_buckets"),
    ("takings", "revenue"),
    ("tame", "harden_html"),
    ("told", "verbatim"),
    ("turns", "send_queue"),
    ("visitors", "link_visit"),
    ("words", "tokens or translations"),
];

/// TABLE: phrases in which an old word is correct, and why.
const ALLOWED: &[(&str, &str)] = &[
    ("looked up", "the verb of a lookup"),
    ("\"ledger\"", "a value of the API"),
    ("`ledger`", "a value of the API"),
    ("courier new", "the name of a font"),
    ("\"courier\"", "the name of a font"),
    ("courier,", "the name of a font"),
    ("\"-u\", \"nobody\"", "the Unix user without privileges"),
    ("\"organisation\"", "the header of a column in customers' files"),
    ("\"gray\" | \"grey\"", "the names of a color in CSS"),
    ("the text colour", "an instruction of a user, in British English"),
    ("`favourites` in gb", "the British spelling itself"),
];

/// TABLE: files that may contain old words, and why.
const EXCEPT: &[(&str, &str)] = &[
    ("assets/composer/", "phrases for emails and the prompts that the composer understands"),
    ("assets/brief/", "the words of prompts"),
    ("assets/demo/", "texts of a shop"),
    ("assets/deliverability/", "phrases of spam and of other emails"),
    ("assets/fonts/", "license texts of others"),
    ("assets/spelling/", "words that the spelling check corrects, and license texts of others"),
    ("src/engine/spelling/agreement.rs", "pronouns of the emails that the spelling check reads"),
    ("src/engine/spelling/dictionaries.rs", "tests with words in British English"),
    ("src/engine/spelling/verb_forms.rs", "verbs of the emails that the spelling check reads"),
    ("tests/it/sites/", "websites of invented companies"),
    ("tests/samples/", "emails, feeds and bounces as others write them"),
    ("tests/tidy/words.rs", "lists the old words"),
];

/// The extensions of text files.
const TEXT: [&str; 8] = ["rs", "html", "css", "js", "md", "toml", "txt", "mjml"];

/// Returns the text in lowercase, on one line, with names split into words.
fn joined(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for line in text.lines() {
        let line = line.trim();
        let line = ["///", "//!", "//", "#", "*"].iter().find_map(|mark| line.strip_prefix(*mark)).unwrap_or(line);
        let line = line.strip_suffix('\\').unwrap_or(line).replace("\\n", " ").replace("\\t", " ");
        let mut before = ' ';
        for character in line.chars() {
            if character.is_uppercase() && (before.is_lowercase() || before.is_ascii_digit()) {
                out.push(' ');
            }
            let shown = if character == '_' { ' ' } else { character };
            out.extend(shown.to_lowercase());
            before = character;
        }
        out.push(' ');
    }
    out.split_whitespace().collect::<Vec<&str>>().join(" ")
}

/// Returns the text in the form of [`joined`], without allowed phrases.
fn normal(text: &str) -> String {
    ALLOWED.iter().fold(joined(text), |line, (phrase, _)| without(&line, phrase))
}

/// Returns `text` without `phrase`.
fn without(text: &str, phrase: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut end = 0;
    for at in places(text, phrase) {
        out.push_str(&text[end..at]);
        end = at + phrase.len();
    }
    out.push_str(&text[end..]);
    out
}

/// Returns where `phrase` occurs in `text`, except inside longer words.
fn places(text: &str, phrase: &str) -> Vec<usize> {
    let in_word = |character: Option<char>| character.is_some_and(char::is_alphanumeric);
    let is_whole = |at: usize| !in_word(text[..at].chars().next_back()) && !in_word(text[at + phrase.len()..].chars().next());
    text.match_indices(phrase).map(|(at, _)| at).filter(|at| is_whole(*at)).collect()
}

/// Returns where a name in `text` starts with `beginning`.
fn named(text: &str, beginning: &str) -> Vec<usize> {
    let in_name = |character: Option<char>| character.is_some_and(|character| character.is_alphanumeric() || character == '_');
    let continues = |character: Option<char>| character.is_some_and(char::is_lowercase);
    let is_name = |at: usize| !in_name(text[..at].chars().next_back()) && !continues(text[at + beginning.len()..].chars().next());
    text.match_indices(beginning).map(|(at, _)| at).filter(|at| is_name(*at)).collect()
}

/// Returns the part of `text` around the word of `length` bytes at `at`.
fn excerpt(text: &str, at: usize, length: usize) -> String {
    const AROUND: usize = 30;
    let end = at + length;
    let from = text[..at].char_indices().rev().nth(AROUND).map_or(0, |(before, _)| before);
    let to = text[end..].char_indices().nth(AROUND).map_or(text.len(), |(after, _)| end + after);
    text[from..to].split_whitespace().collect::<Vec<&str>>().join(" ")
}

/// Returns the old words and names in `text`, each with the text around it.
fn findings(path: &str, text: &str) -> Vec<String> {
    let mut found = Vec::new();
    let line = normal(text);
    for (word, instead) in OLD {
        found.extend(
            places(&line, word).iter().map(|at| format!("{path}: {:?}: write {instead}", excerpt(&line, *at, word.len()))),
        );
    }
    for (name, instead) in OLD_NAMES {
        found.extend(named(text, name).iter().map(|at| format!("{path}: {:?}: write {instead}", excerpt(text, *at, name.len()))));
    }
    found
}

/// Returns the old word in the name of a Rust file or of one of its folders.
fn old_file(path: &str) -> Option<String> {
    let modules = path.strip_prefix("src/")?.strip_suffix(".rs")?;
    let (_, instead) = OLD_FILES.iter().find(|(old, _)| modules.split('/').any(|module| module == *old))?;
    Some(format!("{path}: name it {instead}"))
}

/// Returns the paths and texts of all files that are searched, and of those that are exempt.
fn texts() -> impl Iterator<Item = (String, String)> {
    let folders = ["src", "assets", "config", "tests", "benches"].into_iter().flat_map(|folder| files(&root().join(folder)));
    let pages = ["README.md", "CHANGELOG.md"].into_iter().map(|name| root().join(name));
    let is_text = |path: &PathBuf| path.extension().is_some_and(|extension| TEXT.iter().any(|text| extension == *text));
    folders.chain(pages).filter(is_text).map(|path| {
        let shown = path.strip_prefix(root()).expect("inside the root").to_string_lossy().replace('\\', "/");
        let text = String::from_utf8_lossy(&fs::read(&path).unwrap_or_else(|error| panic!("{shown}: {error}"))).into_owned();
        (shown, text)
    })
}

fn is_excepted(path: &str) -> bool {
    EXCEPT.iter().any(|(place, _)| path.starts_with(place))
}

#[test]
fn old_words_are_gone() {
    let mut found = Vec::new();
    for (path, text) in texts().filter(|(path, _)| !is_excepted(path)) {
        found.extend(findings(&path, &text));
        found.extend(old_file(&path));
    }
    none("words that assets/docs/glossary.md replaces", found);
}

#[test]
fn old_words_are_found_in_a_file() {
    let text = "//! A message. Whoever\n//! opens it.\n// Nothing is\n    // told\nfn looked_at() {}\nstruct LookedAt;\n\
                struct WantedTags;\nlet text = \"first\\nnobody\";\n// Rows are handed \\\n   in.";
    let found = findings("src/made_up.rs", text);
    let has = |word: &str| found.iter().any(|finding| finding.starts_with("src/made_up.rs: ") && finding.contains(word));
    for word in ["whoever", "is told", "fn looked at", "struct looked at", "WantedTags", "nobody", "handed in"] {
        assert!(has(word), "{word}: {found:#?}");
    }
    assert_eq!(found.len(), 7, "{found:#?}");
    assert_eq!(
        old_file("src/features/sending/courier.rs").as_deref(),
        Some("src/features/sending/courier.rs: name it system_mail")
    );
    assert!(old_file("src/engine/render/foreign/mod.rs").is_some());
}

#[test]
fn other_words_are_not_found() {
    let text = "// It was wanted, and looked up by its name. A realm, behind the interfaces. Untold, unlooked.\n\
                struct UnwantedTags;\nlet font = \"Courier New\";\n// The `ledger` of the API.";
    assert_eq!(findings("src/made_up.rs", text), Vec::<String>::new());
    assert_eq!(old_file("src/features/sending/string.rs"), None);
}

#[test]
fn types_have_the_names_of_things() {
    let mut found = Vec::new();
    for source in sources(&["src", "tests", "benches"]) {
        for keyword in ["struct ", "enum ", "type "] {
            let names =
                source.text.split(keyword).skip(1).filter_map(|rest| rest.split(|letter: char| !letter.is_alphanumeric()).next());
            let old = names.filter(|name| OLD_TYPES.contains(name));
            found.extend(old.map(|name| format!("{}: {keyword}{name}", source.path)));
        }
    }
    none("types named by a participle: use the noun of what they are", found);
}

/// Returns whether a text calls a brand a project, outside the paths, names and values in it.
fn says_project(text: &str) -> bool {
    let bare = |part: &str| part.trim_matches(|letter: char| !letter.is_alphanumeric()).to_lowercase();
    let is_project = |part: &str| !part.starts_with('{') && ["project", "projects", "project's"].contains(&bare(part).as_str());
    text.contains(' ') && text.split_whitespace().any(is_project)
}

/// Pages show the messages of failures, so messages use the word of the pages. Descriptions and hints are for programs, and causes
/// are for the log.
#[test]
fn messages_say_brand() {
    const NOT_ON_PAGES: [&str; 5] = [".summary(", ".about(", "\"projectId\",", "Failure::internal(", "Error::Io("];
    const VERBS: [&str; 5] = ["GET ", "POST ", "PATCH ", "PUT ", "DELETE "];
    let mut found = Vec::new();
    for source in sources(&["src/features", "src/vocab"]).iter().filter(|source| source.path != "src/vocab/tables.rs") {
        for (before, text) in source.literals() {
            let is_elsewhere = NOT_ON_PAGES.iter().any(|call| before.trim_end().ends_with(call));
            let is_hint = VERBS.iter().any(|verb| text.starts_with(verb));
            if says_project(text) && !is_elsewhere && !is_hint {
                found.push(format!("{}: {text:?}: write brand", source.path));
            }
        }
    }
    assert!(says_project("The project's ID") && !says_project("See /v1/projects and {project}"));
    none("messages that call a brand a project", found);
}

#[test]
fn every_exception_is_needed() {
    let paths: Vec<String> = texts().map(|(path, _)| path).collect();
    for (place, why) in EXCEPT {
        assert!(paths.iter().any(|path| path.starts_with(place)), "there is no file {place} ({why}): remove the exception");
    }
    let lines: Vec<String> = texts().filter(|(path, _)| !is_excepted(path)).map(|(_, text)| joined(&text)).collect();
    for (phrase, why) in ALLOWED {
        let is_used = lines.iter().any(|line| !places(line, phrase).is_empty());
        assert!(is_used, "no file contains {phrase:?} ({why}): remove the exception");
    }
}
