//! Finds the fields that must have a value: those used neither with a default nor inside an `if` that checks them.

use std::collections::{HashMap, HashSet};

use super::ast::{Chain, Comparison, Condition, Node, Path};

/// Returns the fields that must have a value, each once, in order of use.
pub fn required_fields(nodes: &[Node]) -> Vec<Path> {
    let mut walk =
        RequiredWalk { found: Vec::new(), known: HashSet::new(), present: PresentFields::default(), locals: Vec::new() };
    walk.nodes(nodes);
    walk.found
}

struct RequiredWalk<'t> {
    found: Vec<Path>,
    /// The fields found so far, in snake case.
    known: HashSet<&'t str>,
    present: PresentFields<'t>,
    /// The names that loops define.
    locals: Vec<&'t str>,
}

impl<'t> RequiredWalk<'t> {
    fn nodes(&mut self, nodes: &'t [Node]) {
        for node in nodes {
            match node {
                Node::Literal(_) => {}
                Node::Output { chain, .. } => self.needs(chain),
                Node::If(branches) => {
                    let before = self.present.order.len();
                    for branch in branches {
                        let here = self.present.order.len();
                        if let Some(condition) = &branch.condition {
                            self.present.learn(condition, true);
                        }
                        self.nodes(&branch.nodes);
                        self.present.forget(here);
                        // The next branch is reached only if this condition was false.
                        if let Some(condition) = &branch.condition {
                            self.present.learn(condition, false);
                        }
                    }
                    self.present.forget(before);
                }
                Node::For { name, list, nodes } => {
                    self.needs(list);
                    self.locals.push(name);
                    self.nodes(nodes);
                    self.locals.pop();
                }
            }
        }
    }

    fn needs(&mut self, chain: &'t Chain) {
        let Some(path) = chain.path().filter(|_| !chain.has_default()) else { return };
        let first = &*path.words[0].given;
        // The name `loop` exists only inside loops.
        let is_local = self.locals.contains(&first) || (first == "loop" && !self.locals.is_empty());
        let is_present = self.present.times.contains_key(&*path.same);
        if !is_local && !is_present && self.known.insert(&path.same) {
            self.found.push(path.clone());
        }
    }
}

/// The fields that certainly have a value at one position in the template. Templates can use thousands of fields, so no method iterates
/// over all of them.
#[derive(Default)]
struct PresentFields<'t> {
    times: HashMap<&'t str, usize>,
    order: Vec<&'t str>,
}

impl<'t> PresentFields<'t> {
    /// Adds the fields that must have a value if `condition` evaluated to `outcome`.
    fn learn(&mut self, condition: &'t Condition, outcome: bool) {
        match (condition, outcome) {
            (Condition::Holds(chain) | Condition::Defined(chain), true) => self.has(chain),
            (Condition::Holds(_) | Condition::Defined(_), false) => {}
            (Condition::Not(inner), outcome) => self.learn(inner, !outcome),
            (Condition::All(all), true) => all.iter().for_each(|one| self.learn(one, true)),
            (Condition::Any(any), false) => any.iter().for_each(|one| self.learn(one, false)),
            (Condition::All(_), false) | (Condition::Any(_), true) => {}
            // If a value is missing, only `!=` is true. So if another comparison is true, or if `!=` is false, both values are present.
            (Condition::Compares(comparison, left, right), outcome) => {
                if (*comparison == Comparison::Unequal) != outcome {
                    self.has(left);
                    self.has(right);
                }
            }
        }
    }

    /// Records that a field has a value, and therefore also every map that contains the field.
    fn has(&mut self, chain: &'t Chain) {
        let Some(path) = chain.path().filter(|_| !chain.has_default()) else { return };
        let whole: &'t str = &path.same;
        let ends = whole.match_indices('.').map(|(at, _)| at).chain([whole.len()]);
        for part in ends.map(|end| &whole[..end]) {
            *self.times.entry(part).or_default() += 1;
            self.order.push(part);
        }
    }

    fn forget(&mut self, until: usize) {
        for part in self.order.drain(until..) {
            if let Some(times) = self.times.get_mut(part) {
                *times -= 1;
                if *times == 0 {
                    self.times.remove(part);
                }
            }
        }
    }
}
