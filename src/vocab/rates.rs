//! The groups of operations that share one request budget.
//!
//! How many requests a group allows is a setting of the account's plan; how they are counted is the limiter's business.

use std::fmt;

/// Operations whose requests are counted together, per account.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum RouteGroup {
    General,
    Sending,
    Emails,
    Campaigns,
    Imports,
}

/// All groups in the order of their declaration: the key in the settings, and what belongs to it.
#[rustfmt::skip]
const TABLE: [(RouteGroup, &str, &str); 5] = [
    (RouteGroup::General,   "general",   "Everything that is in no other group."),
    (RouteGroup::Sending,   "sending",   "Direct sends."),
    (RouteGroup::Emails,    "emails",    "Reading and editing emails, and test sends."),
    (RouteGroup::Campaigns, "campaigns", "Campaigns."),
    (RouteGroup::Imports,   "imports",   "Expensive work: imports of projects, and imports and exports of contacts."),
];

impl RouteGroup {
    /// All groups, in the order of their declaration.
    pub const ALL: [Self; 5] = [Self::General, Self::Sending, Self::Emails, Self::Campaigns, Self::Imports];

    /// The group's key under `[plans.NAME.budgets]`.
    pub const fn word(self) -> &'static str {
        TABLE[self as usize].1
    }

    /// What belongs to the group, as one sentence.
    pub const fn covers(self) -> &'static str {
        TABLE[self as usize].2
    }
}

impl fmt::Display for RouteGroup {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.word())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_stands_in_the_order_of_declaration() {
        for (index, group) in RouteGroup::ALL.into_iter().enumerate() {
            assert_eq!((group as usize, TABLE[index].0), (index, group));
        }
    }
}
