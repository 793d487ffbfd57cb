//! The reserved operation for exports to platform B. It always fails, because this version cannot connect to platform accounts.

use super::{Platform, Slot, slot};
use crate::engine::api::Spec;

/// The operation `exports.platform_b`.
pub type PlatformB = Platform<SlotB>;

/// The [`Slot`] of platform B.
pub struct SlotB;

impl Slot for SlotB {
    const NAME: &'static str = "platform_b";
    const SPEC: Spec = slot("exports.platform_b", "/v1/export/platform_b/{conversationId}", "Export emails to platform B");
}
