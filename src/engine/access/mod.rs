//! Who may do what, how often, and whether it was done already.

pub mod audit;
pub mod budgets;
pub mod jwt;
pub mod keys;
pub mod last_writes;
pub mod links;
pub mod people;
pub mod replays;
pub mod throttle;
pub mod token;
pub mod visits;
