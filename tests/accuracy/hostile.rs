//! Hostile and large inputs: the work of each check is bounded, and no check panics.

mod compatibility;
mod deliverability;
mod spelling;
