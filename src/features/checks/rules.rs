//! The IDs of the rules of all checks, such as `links/broken`.

use super::accessibility;
use super::links::findings as links;
use super::report::Check;
use super::spelling::UNKNOWN_WORD;
use crate::engine::clients::features::TABLE;
use crate::engine::deliverability::observations::RULES;

/// The rules for links that do not work, each named after a link status.
const LINK_STATUSES: [&str; 4] = ["broken", "invalid", "blocked", "unreachable"];
/// The maximum length of an unknown ID that is compared with known IDs. No known ID is longer.
const COMPARED_BYTES_MAX: usize = 80;

/// Returns whether a rule with this ID can exist. Each language has its own spelling rules, so only the form of a spelling rule's name is
/// checked.
pub fn is_known(id: &str) -> bool {
    match id.split_once('/') {
        Some(("spelling", rule)) => {
            !rule.is_empty() && rule.bytes().all(|byte| byte.is_ascii_uppercase() || byte.is_ascii_digit() || byte == b'_')
        }
        _ => all().iter().any(|known| known == id),
    }
}

/// Returns the known ID that is most similar to an unknown ID, if they differ in fewer than half of the unknown ID's letters. The unknown
/// ID may lack the name of the check.
pub fn nearest(unknown: &str) -> Option<String> {
    let unknown = Some(unknown).filter(|unknown| unknown.len() <= COMPARED_BYTES_MAX)?.to_lowercase();
    let distance = |known: &str| {
        let known = known.to_lowercase();
        let rule = known.split_once('/').map_or(known.as_str(), |(_, rule)| rule);
        strsim::damerau_levenshtein(&known, &unknown).min(strsim::damerau_levenshtein(rule, &unknown))
    };
    let nearest = all().into_iter().map(|known| (distance(&known), known)).min()?;
    Some(nearest).filter(|(distance, _)| distance * 2 < unknown.len()).map(|(_, known)| known)
}

/// Returns the IDs of all rules, except most spelling rules.
fn all() -> Vec<String> {
    let of = |check: Check, rule: &str| format!("{}/{rule}", check.word());
    let mut all = vec![of(Check::Spelling, UNKNOWN_WORD), of(Check::Compatibility, "clipped")];
    all.extend(TABLE.entries.iter().map(|entry| of(Check::Compatibility, &entry.slug)));
    all.extend(LINK_STATUSES.into_iter().chain(links::rule_ids()).map(|rule| of(Check::Links, rule)));
    all.extend(RULES.iter().map(|rule| of(Check::Deliverability, &rule.id)));
    all.extend(accessibility::rule_ids().map(|rule| of(Check::Accessibility, rule)));
    all
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::features::checks::report::{Results, ValidationReport};
    use crate::features::checks::results;

    #[test]
    fn the_rules_of_all_checks_are_known() {
        let report = ValidationReport::sample();
        let results = Results {
            compatibility: report.compatibility,
            links: report.link_analysis,
            spelling: report.spelling,
            accessibility: report.accessibility,
            ..Results::default()
        };
        for finding in results::checks(&results, true).findings {
            let id = format!("{}/{}", finding.check.word(), finding.rule);
            assert!(is_known(&id), "{id}");
        }
        assert!(is_known("deliverability/address_missing") && is_known("spelling/PLURAL_NEEDED"));
        for unknown in ["foo/bar", "address_missing", "links/unsubscribe", "spelling/", "spelling/unknown_word"] {
            assert!(!is_known(unknown), "{unknown}");
        }
    }

    #[test]
    fn the_nearest_rule_of_an_unknown_one_is_found() {
        for (unknown, known) in [
            ("address_missing", Some("deliverability/address_missing")),
            ("links/brokn", Some("links/broken")),
            ("spelling/unknown_word", Some("spelling/UNKNOWN_WORD")),
            ("foo/bar", None),
        ] {
            assert_eq!(nearest(unknown).as_deref(), known, "{unknown}");
        }
    }
}
