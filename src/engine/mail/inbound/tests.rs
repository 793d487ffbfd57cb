//! Returned mail in the formats of real servers and users, and the expected results of parsing. The samples were written for these tests,
//! modeled on Postfix, Exim, Exchange, qmail, Sendmail, Domino and the large providers.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use super::{Action, Envelope, Mark, MessageKind, ReplyClass, read};

const TOKEN: &str = "aefk3m2qz7x4w5yhbn6tcrd2jsvgl3upoi5kq7aeyz4m";

enum Is {
    /// A report: its action, its class, its recipient and its status code.
    Report(Action, ReplyClass, &'static str, Option<&'static str>),
    Complaint(Option<&'static str>),
    Automatic,
    Other,
}

use Action::{Delayed, Delivered, Failed};
use ReplyClass::{Content, Hard, Policy, Soft};

const ADA: &str = "ada@example.org";

/// TABLE: all samples.
#[rustfmt::skip]
const SAMPLES: &[(&str, Is)] = &[
    ("arf-not-spam",                    Is::Other),
    ("arf-redacted",                    Is::Complaint(None)),
    ("arf-yahoo",                       Is::Complaint(Some("ada@yahoo.example"))),
    ("complaint-microsoft",             Is::Complaint(Some("ada@hotmail.example"))),
    ("delivered-receipt",               Is::Report(Delivered, ReplyClass::Unknown, ADA, Some("2.0.0"))),
    ("domino-not-listed",               Is::Report(Failed, Hard, ADA, Some("5.1.1"))),
    ("exchange-online-edge-blocked",    Is::Report(Failed, Hard, ADA, Some("5.4.1"))),
    ("exchange-online-not-found",       Is::Report(Failed, Hard, ADA, Some("5.1.10"))),
    ("exchange-quota",                  Is::Report(Failed, Soft, ADA, Some("5.2.2"))),
    ("exchange-restricted-group",       Is::Report(Failed, Policy, "team@example.org", Some("5.7.133"))),
    ("exim-old-prose",                  Is::Report(Failed, Soft, ADA, None)),
    ("exim-report",                     Is::Report(Failed, Hard, ADA, Some("5.0.0"))),
    ("gmail-over-quota",                Is::Report(Failed, Soft, "ada@gmail.example", Some("4.2.2"))),
    ("gmail-spam-content",              Is::Report(Failed, Content, "ada@gmail.example", Some("5.7.1"))),
    ("gmail-unauthenticated",           Is::Report(Failed, Policy, "ada@gmail.example", Some("5.7.26"))),
    ("gmail-unknown-user",              Is::Report(Failed, Hard, "ada@gmail.example", Some("5.1.1"))),
    ("outlook-com-blocked",             Is::Report(Failed, Policy, "ada@outlook.example", Some("5.7.1"))),
    ("outlook-com-mailbox-unavailable", Is::Report(Failed, Hard, "ada@hotmail.example", Some("5.5.0"))),
    ("outlook-com-unauthenticated",     Is::Report(Failed, Policy, "ada@outlook.example", Some("5.7.515"))),
    ("person-unsubscribes",             Is::Other),
    ("person-writes",                   Is::Other),
    ("postfix-delayed",                 Is::Report(Delayed, Soft, ADA, Some("4.4.1"))),
    ("postfix-expired",                 Is::Report(Failed, Soft, ADA, Some("4.4.1"))),
    ("postfix-no-domain",               Is::Report(Failed, Hard, "ada@exmaple.org", Some("5.4.4"))),
    ("postfix-too-large",               Is::Report(Failed, Content, ADA, Some("5.3.4"))),
    ("postfix-unknown-user",            Is::Report(Failed, Hard, ADA, Some("5.1.1"))),
    ("qmail-no-mailbox",                Is::Report(Failed, Hard, ADA, Some("5.1.1"))),
    ("qmail-over-quota",                Is::Report(Failed, Soft, ADA, None)),
    ("read-receipt",                    Is::Automatic),
    ("sendmail-user-unknown",           Is::Report(Failed, Hard, ADA, Some("5.1.1"))),
    ("spamhaus-listed",                 Is::Report(Failed, Policy, ADA, Some("5.7.1"))),
    ("ticket-opened",                   Is::Automatic),
    ("vacation-exchange",               Is::Automatic),
    ("vacation-german-bare",            Is::Automatic),
    ("vacation-sieve",                  Is::Automatic),
    ("virus-found",                     Is::Report(Failed, Content, ADA, Some("5.0.0"))),
    ("yahoo-no-account",                Is::Report(Failed, Hard, "ada@yahoo.example", None)),
    ("yahoo-policy",                    Is::Report(Failed, Policy, "ada@yahoo.example", Some("5.7.9"))),
];

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/samples/bounces")
}

/// Returns the sample as a server delivers it, and its envelope sender.
fn sample(name: &str, line_end: &str) -> (Vec<u8>, String) {
    let text = fs::read_to_string(folder().join(name).with_extension("eml")).expect("the sample can be read");
    let sender = text.lines().find_map(|line| line.strip_prefix("Return-Path: ")).unwrap_or("<ada@example.org>");
    let sender = sender.trim_matches(['<', '>']).to_owned();
    (text.replace('\n', line_end).into_bytes(), sender)
}

fn check(name: &str, expected: &Is, line_end: &str) {
    let (raw, sender) = sample(name, line_end);
    let envelope = Envelope { sender: &sender, recipient: "abuse@acme.example" };
    let nature = read(&raw, &envelope).expect("the message can be read").nature;
    match (expected, &nature) {
        (Is::Report(action, class, recipient, status), MessageKind::Report(outcomes)) => {
            let [outcome] = outcomes.as_slice() else { panic!("{name}: {outcomes:?}") };
            let found = (outcome.action, outcome.class, outcome.recipient.as_deref(), outcome.status.as_deref());
            assert_eq!(found, (*action, *class, Some(*recipient), *status), "{name}: {outcome:?}");
            assert!(!outcome.diagnostic.is_empty() && !outcome.diagnostic.contains('\n'), "{name}: {outcome:?}");
        }
        (Is::Complaint(recipient), MessageKind::Complaint(complaint)) => {
            assert_eq!((complaint.kind.as_str(), complaint.recipient.as_deref()), ("abuse", *recipient), "{name}");
        }
        (Is::Automatic, MessageKind::Automatic) | (Is::Other, MessageKind::Other) => {}
        _ => panic!("{name} was read as {nature:?}"),
    }
}

#[test]
fn every_sample_is_classified() {
    let kept: BTreeSet<String> = fs::read_dir(folder())
        .expect("the folder of samples can be read")
        .map(|entry| {
            entry.expect("the folder can be read").path().file_stem().expect("the file has a name").to_string_lossy().into_owned()
        })
        .collect();
    assert_eq!(kept, SAMPLES.iter().map(|(name, _)| (*name).to_owned()).collect(), "every sample is in the table");
    for (name, expected) in SAMPLES {
        check(name, expected, "\r\n");
        check(name, expected, "\n");
    }
}

#[test]
fn our_token_is_found_wherever_it_remains() {
    for (name, _) in SAMPLES.iter().filter(|(_, is)| matches!(is, Is::Report(..) | Is::Complaint(_))) {
        let (raw, sender) = sample(name, "\r\n");
        let read =
            |recipient: &str| read(&raw, &Envelope { sender: &sender, recipient }).expect("the message can be read").tokens;
        let found = read("postmaster@acme.example");
        assert!(found.iter().any(|token| token.mark == Mark::Bounce && token.text == TOKEN), "{name}: {found:?}");
        let other = "zzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzz";
        assert_eq!(
            read(&format!("B+{}@bounces.acme.example", other.to_uppercase()))[0].text,
            other,
            "the token in the envelope comes first"
        );
    }
}

#[test]
fn a_message_truncated_anywhere_is_parsed_or_rejected_without_a_panic() {
    for (name, _) in SAMPLES {
        let (raw, sender) = sample(name, "\r\n");
        for end in (0..raw.len()).step_by(7) {
            let _ = read(&raw[..end], &Envelope { sender: &sender, recipient: "x@acme.example" });
        }
    }
}

#[test]
fn a_report_about_many_recipients_has_an_outcome_for_each() {
    let (raw, _) = sample("postfix-unknown-user", "\r\n");
    let text = String::from_utf8(raw).expect("the message is UTF-8");
    let more = "\r\nFinal-Recipient: rfc822; bob@example.org\r\nAction: delayed\r\nStatus: 4.4.7 (expired)\r\n\r\n--BOUND/1\r\nContent-Description: Und";
    let text = text.replacen("\r\n--BOUND/1\r\nContent-Description: Und", more, 1);
    let MessageKind::Report(outcomes) =
        read(text.as_bytes(), &Envelope { sender: "", recipient: "x" }).expect("the message can be read").nature
    else {
        panic!("the message is not a report")
    };
    assert_eq!(outcomes.len(), 2);
    assert_eq!((outcomes[1].action, outcomes[1].status.as_deref()), (Delayed, Some("4.4.7")));
}
