//! Copywriting patterns: what the parts of an email should contain, depending on the email's goal.

use std::collections::BTreeMap;
use std::sync::LazyLock;

/// The patterns, keyed by the goal's name in the typed brief.
static PATTERNS: LazyLock<BTreeMap<String, String>> = LazyLock::new(|| {
    serde_json::from_str(include_str!("../../../../assets/prompts/patterns.json")).expect("the patterns are texts by name")
});

/// Returns the pattern for the goal of a brief or the purpose of a document.
pub fn of(goal: &str) -> Option<&'static str> {
    let goal = match goal {
        "newsletter" => "digest",
        "cartReminder" => "cart",
        "winBack" => "win_back",
        "reviewRequest" => "review",
        other => other,
    };
    PATTERNS.get(goal).map(String::as_str)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::features::emails::brief::Goal;
    use crate::features::emails::document::Purpose;
    use crate::features::emails::writing::briefing::words_of;

    #[test]
    fn every_goal_and_every_purpose_has_a_short_pattern() {
        let mut goals = words_of::<Goal>();
        assert!(goals.len() > 25, "{goals:?}");
        goals.extend(Purpose::ALL.map(|purpose| json!(purpose).as_str().expect("a purpose is a word").to_owned()));
        for goal in goals {
            let pattern = of(&goal).unwrap_or_else(|| panic!("{goal} has no pattern"));
            assert!((80..=600).contains(&pattern.len()), "{goal}: {}", pattern.len());
        }
    }
}
