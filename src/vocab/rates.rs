//! The groups of operations that share a request budget.
//!
//! The account's plan sets the number of requests for each group; the rate limiter counts them.

use std::fmt;

/// A group of operations with a common request budget per account.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum RouteGroup {
    General,
    Sending,
    Emails,
    Campaigns,
    Imports,
}

/// All groups in the order of declaration, with the key in the settings and a description of the operations.
#[rustfmt::skip]
const TABLE: [(RouteGroup, &str, &str); 5] = [
    (RouteGroup::General,   "general",   "All other operations."),
    (RouteGroup::Sending,   "sending",   "Direct sends."),
    (RouteGroup::Emails,    "emails",    "Emails and saved blocks, with their edits, checks, previews and test sends."),
    (RouteGroup::Campaigns, "campaigns", "Campaigns."),
    (RouteGroup::Imports,   "imports",   "Imports of brands and contacts, and exports of contacts."),
];

impl RouteGroup {
    pub const ALL: [Self; 5] = [Self::General, Self::Sending, Self::Emails, Self::Campaigns, Self::Imports];

    /// Returns the group's key under `[plans.NAME.budgets]`.
    pub const fn word(self) -> &'static str {
        TABLE[self as usize].1
    }

    /// Returns a description of the operations in the group, as one sentence.
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
    fn the_table_is_in_the_order_of_declaration() {
        for (index, group) in RouteGroup::ALL.into_iter().enumerate() {
            assert_eq!((group as usize, TABLE[index].0), (index, group));
        }
    }
}
