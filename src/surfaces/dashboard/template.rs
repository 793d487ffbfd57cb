//! Templates and their data.

use serde::Serialize;
use serde_json::Value;

/// The name and the source of a template.
#[derive(Clone, Copy, Debug)]
pub struct Template {
    pub name: &'static str,
    pub source: &'static str,
}

/// Returns the template with this name from `assets/dashboard`.
macro_rules! template {
    ($name:literal) => {
        $crate::surfaces::dashboard::template::Template {
            name: $name,
            source: include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/assets/dashboard/", $name)),
        }
    };
}
pub(super) use template;

/// Makes a struct the context of a template, with the samples that a test renders.
macro_rules! page_context {
    ($context:ty, $name:literal, $samples:block) => {
        impl $crate::surfaces::dashboard::template::Context for $context {
            const TEMPLATE: $crate::surfaces::dashboard::template::Template =
                $crate::surfaces::dashboard::template::template!($name);

            #[cfg(test)]
            fn samples() -> Vec<Self> $samples
        }
    };
}
pub(super) use page_context;

/// The data of a template, in addition to the layout's data.
pub trait Context: Serialize {
    const TEMPLATE: Template;

    /// Returns contexts that reach the template's branches. A test renders each context.
    #[cfg(test)]
    fn samples() -> Vec<Self>
    where
        Self: Sized;
}

/// Converts the context to the JSON that templates read.
pub fn context(context: &impl Serialize) -> Value {
    serde_json::to_value(context).unwrap_or_default()
}
