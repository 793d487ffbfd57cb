//! Extracts a draft of the brand from the fetched files. This module uses no store, clock or network.

use url::Url;

use super::model::{File, FileRole};
use super::plan;
use crate::features::projects::reading::{self, Draft, Raw, Sources};

/// Extracts a draft of the brand from these files.
pub fn draft(files: &[File]) -> Draft {
    let addresses: Vec<Option<Url>> = files.iter().map(|file| file.found_at.parse().ok()).collect();
    let fetched = |kinds: &[FileRole]| {
        let mut found: Vec<Raw<'_>> = Vec::new();
        for kind in kinds {
            for (file, url) in files.iter().zip(&addresses).filter(|(file, _)| file.kind == *kind) {
                let raw = url.as_ref().and_then(|url| plan::raw(file, url));
                // If several addresses redirect to the same page, include the page only once.
                found.extend(raw.filter(|raw| !found.iter().any(|other| other.url == raw.url)));
            }
        }
        found
    };
    let sources = Sources {
        pages: fetched(&[FileRole::Given, FileRole::Page]),
        styles: fetched(&[FileRole::Style]),
        manifests: fetched(&[FileRole::Manifest]),
    };
    let mut draft = reading::read(&sources);
    let rules = plan::rules(files);
    let may = |url: &str| url.parse::<Url>().is_ok_and(|url| plan::allows(&rules, &url));
    let before = draft.sights.len() + draft.brand.logos.len();
    draft.sights.retain(|sight| may(&sight.url));
    draft.brand.logos.retain(|logo| may(&logo.url));
    let left_out = before - draft.sights.len() - draft.brand.logos.len();
    if left_out > 0 {
        draft.notes.push(format!("Images skipped because the site's robots.txt disallows them: {left_out}."));
    }
    draft
}
