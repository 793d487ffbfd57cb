//! Finds the features of an email that a client does not support. The report and the transform both use these findings, so they agree.

use std::collections::HashMap;
use std::sync::{Arc, LazyLock};

use super::conditions::{self, Applies, Condition};
use super::css::Owner;
use super::data::{Data, DataError, Feature, SupportLevel};
use super::fallback;
use super::features::detect::{Site, Use};
use super::features::{Effect, FeatureId, TABLE};
use super::profile::{self, DARK_QUERY, DarkMode, Drop, Profile};
use super::side::{Hit, REACH_MAX, Side};
use super::view::Texts;
use crate::base::source::Span;

/// The support of a feature in a client.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize, schemars::JsonSchema)]
#[serde(rename_all = "lowercase")]
#[schemars(rename = "CompatibilitySupport")]
pub enum Support {
    None,
    Partial,
    Unknown,
}

/// A feature that one or more clients do not fully support.
#[derive(Clone, Debug)]
pub struct Finding {
    pub feature: FeatureId,
    pub support: Support,
    pub effect: Effect,
    /// The notes that may apply, each with its number, its text, and whether it applies to at least one of the uses.
    pub notes: Vec<(u16, Arc<str>, Applies)>,
    pub hits: Vec<Hit>,
    /// The number of affected elements.
    pub reach: usize,
    /// Whether only rules that match no element are affected.
    pub is_unused: bool,
    /// Whether all hits are in style elements.
    pub is_in_sheets: bool,
    /// The replacement that the email has for clients that do not support the feature.
    pub fallback: Option<&'static str>,
}

impl Finding {
    /// Returns whether the finding says that the client does not read `style` elements at all.
    pub fn is_style_element(&self) -> bool {
        self.effect != Effect::DropsStyleElement && TABLE.entry(self.feature).is_some_and(|entry| entry.slug == "html-style")
    }

    /// Returns whether the finding applies to at least one of its hits.
    pub fn applies(&self) -> Applies {
        self.hits.iter().map(|hit| hit.applies).max().unwrap_or(Applies::False)
    }

    /// Returns the effect of the finding on a client's readers.
    pub fn effect_in(&self, profile: &Profile) -> Effect {
        let slug = TABLE.entry(self.feature).map_or("", |entry| &entry.slug);
        // A client without a dark mode does not apply rules for dark mode. In any other client, the loss of such rules changes the design.
        let is_unneeded = slug == DARK_QUERY && profile.dark == DarkMode::None;
        profile.effects.get(slug).copied().unwrap_or(if is_unneeded { Effect::Nothing } else { self.effect })
    }
}

/// The support tables with the profiles of all clients.
#[derive(Debug)]
pub struct Checker {
    pub data: Data,
    pub profiles: Vec<Profile>,
    /// The position of each feature of [`TABLE`] in [`Data::features`].
    rows: Vec<Option<usize>>,
    /// For each feature in [`Data::features`], the conditions of its notes.
    conditions: Vec<Vec<Option<&'static Condition>>>,
}

impl Checker {
    /// Returns the checker with the tables that are embedded in the program.
    pub fn embedded() -> &'static Self {
        static CHECKER: LazyLock<Checker> = LazyLock::new(|| Checker::new(Data::embedded().clone()));
        &CHECKER
    }

    /// Creates a checker from the content of a newer `caniemail.json`.
    pub fn parse(bytes: &[u8]) -> Result<Self, DataError> {
        Data::parse(bytes).map(Self::new)
    }

    fn new(data: Data) -> Self {
        let slugs: HashMap<&str, usize> =
            data.features.iter().enumerate().map(|(index, feature)| (&*feature.slug, index)).collect();
        let rows = TABLE.entries.iter().map(|entry| slugs.get(&*entry.slug).copied()).collect();
        let of_feature =
            |feature: &Feature| feature.notes.iter().map(|note| conditions::of_note(feature, note.number)).collect::<Vec<_>>();
        let conditions = data.features.iter().map(of_feature).collect();
        Self { profiles: profile::all(&data), rows, conditions, data }
    }

    /// Returns the row of a feature in the tables.
    pub fn feature(&self, id: FeatureId) -> Option<&Feature> {
        self.data.features.get((*self.rows.get(usize::from(id.0))?)?)
    }

    fn condition(&self, id: FeatureId, number: u16) -> Option<&'static Condition> {
        let row = (*self.rows.get(usize::from(id.0))?)?;
        let note = self.data.features.get(row)?.notes.iter().position(|note| note.number == number)?;
        *self.conditions.get(row)?.get(note)?
    }

    /// Returns the profile of the client with this key or alias.
    pub fn profile(&self, key: &str) -> Option<&Profile> {
        self.profiles.iter().find(|profile| profile.is(key))
    }
}

/// An email that was parsed for Word and for other clients.
pub struct Analysis<'a> {
    pub checker: &'a Checker,
    pub source: &'a str,
    all: Side<'a>,
    word: Option<Side<'a>>,
}

impl<'a> Analysis<'a> {
    pub fn new(checker: &'a Checker, texts: &'a Texts<'_>) -> Self {
        let all = Side::new(texts.source);
        let word = texts.word().map(|text| Side::for_word(text, &all));
        Self { checker, source: texts.source, all, word }
    }

    /// Returns the email as clients other than Word read it.
    pub fn all(&self) -> &Side<'a> {
        &self.all
    }

    /// Returns the email as the client of this profile reads it.
    pub fn side(&self, profile: &Profile) -> &Side<'a> {
        self.word.as_ref().filter(|_| profile.word).unwrap_or(&self.all)
    }
}

/// Everything that a finding about a feature depends on: the HTML (Word's or the other clients'), the feature, the client's support with
/// its notes, and the assumption about the reader.
#[derive(PartialEq, Eq, Hash)]
struct Key<'c> {
    word: bool,
    feature: FeatureId,
    refuses: bool,
    notes: &'c [u16],
    foreign_account: Option<bool>,
}

/// The findings so far. Clients with the same support for a feature share its finding.
#[derive(Default)]
pub struct Findings<'c> {
    known: HashMap<Key<'c>, Option<Arc<Finding>>>,
    style_limits: HashMap<(bool, usize), Option<Arc<Finding>>>,
    drops: HashMap<bool, Option<Arc<Finding>>>,
}

impl<'c> Findings<'c> {
    /// Returns the findings for a client, and the features that were not tested in the client.
    pub fn of(&mut self, analysis: &Analysis<'c>, profile: &Profile) -> (Vec<Arc<Finding>>, Vec<FeatureId>) {
        let side = analysis.side(profile);
        let (mut found, mut untested) = (Vec::new(), Vec::new());
        for (feature, uses) in &side.groups {
            let Some(row) = analysis.checker.feature(*feature) else { continue };
            let Some(cell) = row.cells.get(profile.column) else { continue };
            let refuses = match cell.answer {
                SupportLevel::Yes => continue,
                SupportLevel::Unknown => {
                    untested.push(*feature);
                    continue;
                }
                SupportLevel::No => true,
                SupportLevel::Partly => false,
            };
            let foreign_account = profile.assumptions.foreign_account;
            let key = Key { word: profile.word, feature: *feature, refuses, notes: &cell.notes, foreign_account };
            let finding = self.known.entry(key).or_insert_with(|| {
                let group = Group { checker: analysis.checker, side, row, uses, profile, refuses, notes: &cell.notes };
                group.finding(*feature).map(Arc::new)
            });
            found.extend(finding.clone());
        }
        found.extend(self.style_limit(side, profile));
        if profile.drops.contains(&Drop::NestedAtRule) {
            found.extend(self.drops.entry(profile.word).or_insert_with(|| nested_at_rules(side).map(Arc::new)).clone());
        }
        (found, untested)
    }

    fn style_limit(&mut self, side: &Side<'_>, profile: &Profile) -> Option<Arc<Finding>> {
        let limit = profile.style_bytes.filter(|limit| *limit > 0)?;
        let finding = self.style_limits.entry((profile.word, limit));
        finding.or_insert_with(|| style_limit(side, limit).map(Arc::new)).clone()
    }
}

/// The uses of a feature, with the row of the feature in the tables.
struct Group<'g, 'a> {
    checker: &'g Checker,
    side: &'g Side<'a>,
    row: &'g Feature,
    uses: &'g [Use],
    profile: &'g Profile,
    refuses: bool,
    notes: &'g [u16],
}

impl Group<'_, '_> {
    fn finding(&self, feature: FeatureId) -> Option<Finding> {
        let effect = TABLE.entry(feature)?.effect();
        let numbers: Vec<(u16, Option<&'static Condition>)> =
            self.notes.iter().map(|number| (*number, self.checker.condition(feature, *number))).collect();
        let mut strongest = vec![Applies::False; numbers.len()];
        let mut support = if self.refuses { Support::None } else { Support::Partial };
        let mut hits = Vec::new();
        for used in self.uses {
            let mut hit = Hit { used: *used, applies: Applies::False, effect, cuts: self.refuses };
            let mut excused = false;
            for ((_, condition), strongest) in numbers.iter().zip(&mut strongest) {
                let applies = condition
                    .map_or(Applies::Unknown, |condition| condition.applies(&self.side.view, used, self.profile.assumptions));
                *strongest = (*strongest).max(applies);
                hit.applies = hit.applies.max(applies);
                excused |= condition.is_some_and(|condition| condition.excuses) && applies == Applies::False;
                let Some(condition) = condition.filter(|_| applies == Applies::True) else { continue };
                hit.effect = hit.effect.max(condition.effect.unwrap_or(effect));
                hit.cuts |= condition.cuts;
                if condition.is_account() {
                    support = Support::None;
                }
            }
            if self.refuses {
                if excused {
                    continue;
                }
                hit.applies = Applies::True;
            } else if numbers.is_empty() && !self.refuses {
                hit.applies = Applies::Unknown;
            }
            if hit.applies != Applies::False {
                hits.push(hit);
            }
        }
        let notes = numbers.iter().zip(strongest);
        let notes = notes.filter_map(|((number, condition), applies)| {
            let is_relevant = applies != Applies::False || (self.refuses && condition.is_none());
            is_relevant.then_some((*number, Arc::from(self.row.note(*number)?), applies))
        });
        finish(self.side, feature, support, notes.collect(), hits)
    }
}

/// Completes a finding. Returns `None` if it has no hits.
fn finish(
    side: &Side<'_>,
    feature: FeatureId,
    support: Support,
    notes: Vec<(u16, Arc<str>, Applies)>,
    hits: Vec<Hit>,
) -> Option<Finding> {
    let effect = hits.iter().map(|hit| hit.effect).max()?;
    let reach = reach(side, &hits);
    let in_rules = |hit: &Hit| match hit.used.site {
        Site::Declaration(index) => {
            side.view.sheets.declarations.get(index as usize).is_some_and(|one| matches!(one.owner, Owner::Rule(_)))
        }
        Site::Selector(..) | Site::Rule(_) => true,
        _ => false,
    };
    let is_unused = reach == 0 && hits.iter().all(in_rules);
    let is_in_sheets = hits.iter().all(|hit| in_rules(hit) || matches!(hit.used.site, Site::AtRule(_)));
    // A client that drops the whole `style` attribute or `style` element also drops the replacement.
    let drops = matches!(effect, Effect::DropsAttribute | Effect::DropsStyleElement);
    let fallback = if drops { None } else { fallback::of(side, feature, &hits) };
    Some(Finding { feature, support, effect, notes, hits, reach, is_unused, is_in_sheets, fallback })
}

fn reach(side: &Side<'_>, hits: &[Hit]) -> usize {
    let view = &side.view;
    let mut touched = vec![false; view.document.elements.len()];
    let mut others = 0;
    let mark = |touched: &mut Vec<bool>, index: u32| {
        if let Some(mark) = touched.get_mut(index as usize) {
            *mark = true;
        }
    };
    let mark_rule = |touched: &mut Vec<bool>, rule: u32| {
        for index in view.reach.get(rule as usize).map_or(&[][..], |reach| &reach.elements).iter().take(REACH_MAX) {
            mark(touched, *index);
        }
    };
    let mut rules_marked = std::collections::HashSet::new();
    for hit in hits {
        let span = match hit.used.site {
            Site::Element(index) => match view.element(index) {
                Some(element) if element.name == "style" => Some(element.content()),
                _ => {
                    mark(&mut touched, index);
                    None
                }
            },
            Site::Attribute(index, _) => {
                mark(&mut touched, index);
                None
            }
            Site::Declaration(index) => {
                match view.sheets.declarations.get(index as usize).map(|one| one.owner) {
                    Some(Owner::Rule(rule)) if rules_marked.insert(rule) => mark_rule(&mut touched, rule),
                    Some(Owner::Element(element)) => mark(&mut touched, element),
                    Some(Owner::AtRule(_)) => others = 1,
                    _ => {}
                }
                None
            }
            Site::Selector(rule, _) | Site::Rule(rule) => {
                if rules_marked.insert(rule) {
                    mark_rule(&mut touched, rule);
                }
                None
            }
            Site::AtRule(index) => view.sheets.at_rules.get(index as usize).map(|at_rule| {
                others |= usize::from(!at_rule.has_block || at_rule.name.of(view.source).len() > "@supports".len());
                at_rule.span
            }),
            Site::CssComment(_) | Site::Document => None,
        };
        let Some(span) = span else { continue };
        let first = view.sheets.rules.partition_point(|rule| rule.span.start < span.start);
        let inside = view.sheets.rules.iter().enumerate().skip(first).take_while(|(_, rule)| rule.span.start < span.end);
        for (rule, _) in inside {
            let rule = u32::try_from(rule).unwrap_or(u32::MAX);
            if rules_marked.insert(rule) {
                mark_rule(&mut touched, rule);
            }
        }
    }
    let shown = touched.iter().zip(&side.hidden).filter(|(touched, hidden)| **touched && !**hidden);
    shown.count() + others
}

/// Returns a finding about the `style` elements that a client drops.
fn dropped_styles(side: &Side<'_>, note: &str, hits: Vec<Span>) -> Option<Finding> {
    let feature = TABLE.get("html-style")?;
    let element = |span: Span| {
        let found =
            side.view.style_elements.iter().find(|index| side.view.element(**index).is_some_and(|one| one.span().contains(span)));
        found.copied()
    };
    let hits = hits.into_iter().filter_map(|span| {
        let used = Use { feature, span, site: Site::Element(element(span)?) };
        Some(Hit { used, applies: Applies::True, effect: Effect::DropsStyleElement, cuts: true })
    });
    finish(side, feature, Support::None, vec![(0, note.into(), Applies::True)], hits.take(64).collect())
}

fn nested_at_rules(side: &Side<'_>) -> Option<Finding> {
    let nested = side.view.sheets.at_rules.iter().filter(|at_rule| at_rule.at_rule.is_some());
    dropped_styles(
        side,
        "The client drops a style element that contains nested at-rules.",
        nested.map(|one| one.name).take(64).collect(),
    )
}

/// Returns a finding about the `style` elements beyond a client's size limit.
fn style_limit(side: &Side<'_>, limit: usize) -> Option<Finding> {
    let mut bytes = 0;
    let mut past = Vec::new();
    for element in side.view.style_elements.iter().filter_map(|index| side.view.element(*index)) {
        bytes += element.content().of(side.view.source).len();
        if bytes > limit {
            past.push(element.start_tag);
        }
    }
    dropped_styles(
        side,
        "The client keeps only a limited number of bytes of style elements, and drops the elements beyond the limit.",
        past,
    )
}
