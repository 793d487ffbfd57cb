//! The mail that the weights are trained on and measured with. The repository does not contain it;
//! `assets/deliverability/model-card.md` says where it is from.

use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};

use mail_parser::{Message as Mail, MessageParser};

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Source {
    /// Spam of the SpamAssassin corpus.
    Spam,
    /// Legitimate mail of the SpamAssassin corpus.
    EasyLegitimate,
    /// Legitimate mail of the SpamAssassin corpus that resembles spam.
    HardLegitimate,
    /// Templates, and emails that Mailmill generated.
    Template,
    /// Subscribed mail of 2019 that Gmail put into the inbox.
    GmailInbox,
    GmailPromotions,
    GmailSpam,
}

pub struct Document {
    pub source: Source,
    pub name: String,
    /// The fold, from 0 to 9. All mail of one sender, or of one kind of template, is in one fold.
    pub fold: u8,
    pub html: String,
    pub subject: String,
    pub from_name: String,
    pub from_email: String,
}

/// Returns the folder of the corpus, if there is one.
#[expect(clippy::disallowed_methods, reason = "a test has no settings")]
pub fn folder() -> Option<PathBuf> {
    std::env::var("DELIVERABILITY_CORPUS").ok().map(PathBuf::from).filter(|folder| folder.join("package/data").is_dir())
}

pub fn load(folder: &Path) -> Vec<Document> {
    let mut documents = Vec::new();
    for (name, source) in [
        ("spam-1", Source::Spam),
        ("spam-2", Source::Spam),
        ("easy-ham-1", Source::EasyLegitimate),
        ("easy-ham-2", Source::EasyLegitimate),
        ("hard-ham-1", Source::HardLegitimate),
    ] {
        for path in files(&folder.join("package/data").join(name), "txt") {
            let file = path.file_name().and_then(|name| name.to_str()).unwrap_or_default().to_owned();
            // Messages whose hash starts with a letter are reserved for an acceptance test, so they are not read.
            let hash = file.split('.').nth(1).and_then(|hash| hash.chars().next());
            let Some(fold) = hash.and_then(|first| first.to_digit(10)) else { continue };
            let bytes = fs::read(&path).expect("a readable message");
            documents.extend(MessageParser::default().parse(&bytes).map(|mail| document(&mail, source, file, fold as u8)));
        }
    }
    templates(folder, &mut documents);
    gmail(folder, &mut documents);
    documents
}

fn files(folder: &Path, ending: &str) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        let Ok(entries) = fs::read_dir(&folder) else { continue };
        for entry in entries.flatten() {
            let path = entry.path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|found| found == ending) {
                found.push(path);
            }
        }
    }
    found.sort();
    found
}

fn document(mail: &Mail<'_>, source: Source, name: String, fold: u8) -> Document {
    let from = mail.from().and_then(|from| from.first());
    Document {
        source,
        name,
        fold,
        html: mail.body_html(0).unwrap_or_default().into_owned(),
        subject: mail.subject().unwrap_or_default().to_owned(),
        from_name: from.and_then(|from| from.name()).unwrap_or_default().to_owned(),
        from_email: from.and_then(|from| from.address()).unwrap_or_default().to_owned(),
    }
}

fn templates(folder: &Path, documents: &mut Vec<Document>) {
    for path in files(&folder.join("templates"), "html").into_iter().chain(files(&folder.join("generated"), "html")) {
        let html = fs::read_to_string(&path).unwrap_or_default();
        let parent = path.parent().and_then(Path::file_name).and_then(|name| name.to_str()).unwrap_or_default();
        let stem = path.file_stem().and_then(|name| name.to_str()).unwrap_or_default();
        // Variants of one template share a fold.
        let kind = if stem == "content" { parent } else { stem };
        let title =
            html.split_once("<title>").and_then(|(_, rest)| rest.split_once('<')).map(|(title, _)| title.trim().to_owned());
        documents.push(Document {
            source: Source::Template,
            name: format!("{parent}/{stem}"),
            fold: fold(kind),
            subject: title.filter(|title| !title.is_empty()).unwrap_or_else(|| kind.replace(['-', '_'], " ")),
            from_name: String::new(),
            from_email: String::new(),
            html,
        });
    }
}

fn fold(name: &str) -> u8 {
    u8::try_from(mailmill::engine::deliverability::tokens::hash(name) / 7 % 10).unwrap_or_default()
}

/// Reads the mailbox with Gmail's labels.
fn gmail(folder: &Path, documents: &mut Vec<Document>) {
    let Ok(packed) = fs::read(folder.join("markup-2019-10-28.mbox.gz")) else { return };
    let mut bytes = Vec::new();
    flate2::read::GzDecoder::new(packed.as_slice()).read_to_end(&mut bytes).expect("a readable mailbox");
    for (number, part) in split(&bytes).into_iter().enumerate() {
        let Some(mail) = MessageParser::default().parse(part) else { continue };
        let labels = mail.header_raw("X-Gmail-Labels").unwrap_or_default();
        let source = match labels {
            labels if labels.contains("Sent") || labels.contains("Drafts") || labels.contains("Trash") => continue,
            labels if labels.contains("Spam") => Source::GmailSpam,
            labels if labels.contains("Category Promotions") => Source::GmailPromotions,
            labels if labels.contains("Inbox") => Source::GmailInbox,
            _ => continue,
        };
        let mut found = document(&mail, source, format!("gmail-{number}"), 0);
        let domain = found.from_email.rsplit('@').next().unwrap_or_default().to_lowercase();
        found.fold = fold(psl::domain_str(&domain).unwrap_or(&domain));
        documents.push(found);
    }
}

/// Splits a mailbox at its lines "From ".
fn split(bytes: &[u8]) -> Vec<&[u8]> {
    let mut starts: Vec<usize> = if bytes.starts_with(b"From ") { vec![0] } else { Vec::new() };
    starts.extend(bytes.windows(6).enumerate().filter(|(_, window)| *window == b"\nFrom ").map(|(at, _)| at + 1));
    starts.push(bytes.len());
    starts
        .windows(2)
        .filter_map(|pair| {
            let part = bytes.get(pair[0]..pair[1])?;
            let line = part.iter().position(|byte| *byte == b'\n')?;
            part.get(line + 1..)
        })
        .collect()
}
