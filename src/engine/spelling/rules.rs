//! Rules for grammar and confused words, one file per language (`assets/spelling/rules`).
//!
//! Each rule has examples that must match and examples that must not match, which a test checks.

use std::collections::HashMap;
use std::sync::LazyLock;

use serde::Deserialize;

use super::classes::Class;
use super::findings::FindingKind;
use super::inflection::{add_ed, add_ing, add_s, remove_ed, remove_ing, remove_s};
use super::patterns::{Classes, Hit, Members, Pattern};
use super::tokens::Token;

/// The rule files by language.
const SOURCES: [(&str, &str); 5] = [
    ("en", include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/assets/spelling/rules/en.toml"))),
    ("de", include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/assets/spelling/rules/de.toml"))),
    ("fr", include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/assets/spelling/rules/fr.toml"))),
    ("es", include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/assets/spelling/rules/es.toml"))),
    ("nl", include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/assets/spelling/rules/nl.toml"))),
];

static RULES: LazyLock<Vec<(&str, Rules)>> = LazyLock::new(|| {
    let parse = |(language, source)| (language, Rules::parse(source).expect("a test parses the embedded rules"));
    SOURCES.into_iter().map(parse).collect()
});

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Source {
    /// The words of each class, separated by spaces. The keys are the names of the classes. `@` before the name of another class includes
    /// the words of that class.
    #[serde(default)]
    classes: HashMap<String, String>,
    /// Words that may occur twice in a row.
    #[serde(default)]
    repeatable: String,
    rule: Vec<RuleSource>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RuleSource {
    id: String,
    #[serde(default)]
    kind: FindingKind,
    patterns: Vec<String>,
    #[serde(default)]
    except: Vec<String>,
    #[serde(default)]
    suggest: Vec<String>,
    /// For text that the rule finds, in lowercase, the suggestion that comes before those from `suggest`.
    #[serde(default)]
    replace: HashMap<String, String>,
    #[serde(default = "usual_confidence")]
    confidence: f32,
    #[cfg_attr(not(test), expect(dead_code, reason = "only tests read the examples"))]
    #[serde(rename = "match")]
    matches: Vec<String>,
    #[cfg_attr(not(test), expect(dead_code, reason = "only tests read the examples"))]
    pass: Vec<String>,
}

fn usual_confidence() -> f32 {
    0.9
}

struct Rule {
    id: String,
    kind: FindingKind,
    patterns: Vec<Pattern>,
    except: Vec<Pattern>,
    suggest: Vec<String>,
    replace: HashMap<String, String>,
    confidence: f32,
}

pub(super) struct Rules {
    rules: Vec<Rule>,
    repeatable: Vec<String>,
    /// For each word, the indexes of the rules whose core can start with it. Rules whose core can start with any word are in
    /// `any_first_word`.
    by_first_word: HashMap<String, Vec<usize>>,
    any_first_word: Vec<usize>,
}

#[derive(Debug, Clone, PartialEq)]
pub(super) struct RuleHit<'r> {
    pub hit: Hit,
    pub rule: &'r str,
    pub kind: FindingKind,
    pub suggestions: Vec<String>,
    pub confidence: f32,
}

impl Rules {
    /// Returns the rules of the language with a code such as `en`, if there are any.
    pub fn of(code: &str) -> Option<&'static Self> {
        RULES.iter().find(|(language, _)| *language == code).map(|(_, rules)| rules)
    }

    fn parse(source: &str) -> Result<Self, String> {
        let source: Source = toml::from_str(source).map_err(|error| error.to_string())?;
        let classes = classes(&source.classes)?;
        let mut rules =
            Self { rules: Vec::new(), repeatable: Vec::new(), by_first_word: HashMap::new(), any_first_word: Vec::new() };
        rules.repeatable = source.repeatable.split_whitespace().map(str::to_owned).collect();
        for rule in source.rule {
            let parse = |lines: &[String]| {
                let parsed = lines.iter().map(|line| Pattern::parse(line, &classes)).collect::<Result<Vec<_>, _>>();
                parsed.map_err(|error| format!("rule {}: {error}", rule.id))
            };
            let (patterns, except) = (parse(&rule.patterns)?, parse(&rule.except)?);
            let at = rules.rules.len();
            for pattern in &patterns {
                let Some(words) = pattern.first_words() else {
                    rules.any_first_word.push(at);
                    continue;
                };
                for word in words {
                    let entry = rules.by_first_word.entry(word.to_owned()).or_default();
                    if entry.last() != Some(&at) {
                        entry.push(at);
                    }
                }
            }
            let RuleSource { id, kind, suggest, replace, confidence, .. } = rule;
            rules.rules.push(Rule { id, kind, patterns, except, suggest, replace, confidence });
        }
        rules.any_first_word.dedup();
        Ok(rules)
    }

    pub fn is_repeatable(&self, word: &str) -> bool {
        self.repeatable.iter().any(|allowed| allowed == word)
    }

    /// Returns the findings of the rules, in text order. Findings do not overlap.
    pub fn find<'r>(&'r self, tokens: &[Token<'_>]) -> Vec<RuleHit<'r>> {
        let mut found = Vec::new();
        let mut at = 0;
        while let Some(token) = tokens.get(at) {
            let specific = self.by_first_word.get(&token.lower).map(Vec::as_slice).unwrap_or_default();
            let rules = specific.iter().chain(&self.any_first_word).filter_map(|rule| self.rules.get(*rule));
            let best = rules.filter_map(|rule| rule.find(tokens, at)).max_by(|a, b| a.confidence.total_cmp(&b.confidence));
            at = best.as_ref().map_or(at + 1, |best| best.hit.end);
            found.extend(best);
        }
        found
    }
}

/// Resolves classes that include other classes, up to four levels deep.
fn classes(sources: &HashMap<String, String>) -> Result<Classes, String> {
    fn add(name: &str, sources: &HashMap<String, String>, depth: usize, members: &mut Members) -> Result<(), String> {
        let source = sources.get(name).ok_or_else(|| format!("the class \"@{name}\" does not exist"))?;
        for word in source.split_whitespace() {
            match (word.strip_prefix('@'), word.strip_prefix('%')) {
                (Some(_), _) if depth == 0 => {
                    return Err(format!("the class \"@{name}\" is nested too deeply to include other classes"));
                }
                (Some(other), _) => add(other, sources, depth - 1, members)?,
                (_, Some(class)) => {
                    members.classes.push(Class::named(class).ok_or_else(|| format!("the class \"%{class}\" does not exist"))?);
                }
                _ => {
                    members.words.insert(word.to_owned());
                }
            }
        }
        Ok(())
    }
    let resolved = |name: &String| {
        let mut members = Members::default();
        add(name, sources, 4, &mut members)?;
        Ok((name.clone(), members))
    };
    sources.keys().map(resolved).collect()
}

impl Rule {
    fn find(&self, tokens: &[Token<'_>], at: usize) -> Option<RuleHit<'_>> {
        let hit = self.patterns.iter().find_map(|pattern| pattern.matches(tokens, at))?;
        if self.except.iter().any(|pattern| pattern.matches(tokens, at).is_some()) {
            return None;
        }
        let core = tokens.get(hit.first..hit.end)?;
        let found = core.iter().map(|token| token.lower.as_str()).collect::<Vec<_>>().join(" ");
        let filled = self.suggest.iter().map(|template| fill(template, core));
        let suggestions = self.replace.get(&found).cloned().into_iter().chain(filled).filter(|suggestion| *suggestion != found);
        let suggestions = suggestions.map(|suggestion| with_case_of(core, &suggestion)).collect();
        Some(RuleHit { hit, rule: &self.id, kind: self.kind, suggestions, confidence: self.confidence })
    }
}

/// Replaces references to tokens in a suggestion. `{2}` is the second token, `{2+s}` and `{2-s}` are the token with and without the ending
/// of the third person, `{2+ed}` and `{2-ed}` with and without the past-tense ending, and `{2+ing}` and `{2-ing}` with and without the
/// ending "ing". `{2-'s}` is the plural of a noun that is written with "'s", `{2-r}` is the token without its last letter, `{2-t+en}` is
/// the token with "en" instead of "t" at its end, and `{2-}` is the token in lowercase.
fn fill(template: &str, core: &[Token<'_>]) -> String {
    let mut filled = String::new();
    let mut rest = template;
    while let Some((text, after)) = rest.split_once('{') {
        filled.push_str(text);
        let Some((reference, tail)) = after.split_once('}') else { break };
        let number: String = reference.chars().take_while(char::is_ascii_digit).collect();
        let token = number.parse::<usize>().ok().and_then(|number| core.get(number.checked_sub(1)?));
        let word = token.map(|token| token.lower.as_str()).unwrap_or_default();
        filled.push_str(&match reference.get(number.len()..) {
            Some("+s") => add_s(word),
            Some("-s") => remove_s(word),
            Some("+ed") => add_ed(word),
            Some("-ed") => remove_ed(word),
            Some("+ing") => add_ing(word),
            Some("-ing") => remove_ing(word),
            Some("-'s") => add_s(word.strip_suffix("'s").unwrap_or(word)),
            Some("-r") => {
                let mut word = word.to_owned();
                word.pop();
                word
            }
            Some("-") => word.to_owned(),
            Some(change) if let Some((old, new)) = change.strip_prefix('-').and_then(|change| change.split_once('+')) => {
                format!("{}{new}", word.strip_suffix(old).unwrap_or(word))
            }
            _ => token.map(|token| token.text.to_owned()).unwrap_or_default(),
        });
        rest = tail;
    }
    filled.push_str(rest);
    filled
}

/// Capitalizes a suggestion like the text that it replaces.
pub(super) fn with_case_of(core: &[Token<'_>], suggestion: &str) -> String {
    let shouts = core
        .iter()
        .filter(|token| token.is_word())
        .all(|token| token.is_all_capitals() || token.text == "I" || token.text == "A");
    let letters = core.iter().map(|token| token.text.len()).sum::<usize>();
    if shouts && letters > 1 {
        return suggestion.to_uppercase();
    }
    match core.first() {
        Some(first) if first.is_capitalized() => capitalized(suggestion),
        _ => suggestion.to_owned(),
    }
}

pub(super) fn capitalized(text: &str) -> String {
    let mut characters = text.chars();
    characters.next().map(|first| first.to_uppercase().chain(characters).collect()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::super::tokens::tokens;
    use super::*;

    /// The minimum number of rules in the rule file of each language.
    const RULES_MIN: [(&str, usize); 4] = [("en", 60), ("de", 15), ("fr", 15), ("es", 15)];

    #[test]
    fn every_example_matches_or_passes_as_its_rule_says() {
        let mut wrong = Vec::new();
        for (language, source) in SOURCES {
            let rules = Rules::parse(source).expect(language);
            let source: Source = toml::from_str(source).expect(language);
            for rule in &source.rule {
                if rule.matches.len() < 3 || rule.pass.len() < 3 {
                    wrong.push(format!("{language} {}: fewer than three examples", rule.id));
                }
                let own = rules.rules.iter().find(|parsed| parsed.id == rule.id).expect("the rule");
                let finds = |text: &str| {
                    let tokens = tokens(text);
                    (0..tokens.len()).any(|at| own.find(&tokens, at).is_some())
                };
                wrong.extend(
                    rule.matches.iter().filter(|text| !finds(text)).map(|text| format!("{language} {} misses: {text}", rule.id)),
                );
                // No rule of the language may match an example that must pass.
                for text in &rule.pass {
                    let tokens = tokens(text);
                    wrong
                        .extend(rules.find(&tokens).iter().map(|hit| format!("{language} {} for {}: {text}", hit.rule, rule.id)));
                }
            }
        }
        assert!(wrong.is_empty(), "{} examples:\n{}", wrong.len(), wrong.join("\n"));
    }

    #[test]
    fn there_are_enough_rules_and_ids_are_unique() {
        let mut wrong = Vec::new();
        for (language, source) in SOURCES {
            let source: Source = toml::from_str(source).expect(language);
            let minimum = RULES_MIN.iter().find(|(name, _)| *name == language).map_or(0, |(_, minimum)| *minimum);
            assert!(source.rule.len() >= minimum, "{language} has {} rules", source.rule.len());
            for (at, rule) in source.rule.iter().enumerate() {
                if source.rule.iter().skip(at + 1).any(|other| other.id == rule.id) {
                    wrong.push(format!("{language} {}: two rules have this ID", rule.id));
                }
            }
        }
        assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    }

    #[test]
    fn suggestions_take_the_case_of_the_text() {
        let tokens = tokens("Its ITS its offer");
        for (at, expected) in [(0, "It's"), (1, "IT'S"), (2, "it's")] {
            assert_eq!(with_case_of(&tokens[at..=at], "it's"), expected);
        }
        assert_eq!(fill("{1+s} x {1-r}", &tokens[3..]), "offers x offe");
    }
}
