//! The reserved operation for exports to platform A. It always fails, because this version cannot connect to platform accounts.

use super::{Platform, Slot, slot};
use crate::engine::api::Spec;

/// The operation `exports.platform_a`.
pub type PlatformA = Platform<SlotA>;

/// The [`Slot`] of platform A.
pub struct SlotA;

impl Slot for SlotA {
    const NAME: &'static str = "platform_a";
    const SPEC: Spec = slot("exports.platform_a", "/v1/export/platform_a/{conversationId}", "Export emails to platform A");
}
