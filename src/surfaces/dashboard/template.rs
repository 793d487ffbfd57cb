//! The dashboard's templates, and the data that they render.

use serde::Serialize;
use serde_json::Value;

#[derive(Clone, Copy, Debug)]
pub struct Template {
    pub name: &'static str,
    pub source: &'static str,
}

/// Embeds the template with this file name from `assets/dashboard`.
macro_rules! template {
    ($name:literal) => {
        $crate::surfaces::dashboard::template::Template {
            name: $name,
            source: include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/assets/dashboard/", $name)),
        }
    };
}
pub(super) use template;

/// Implements `Context` for a struct, with its template and the samples that a test renders.
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

/// The data for a page's template, to which the layout's data is added.
pub trait Context: Serialize {
    const TEMPLATE: Template;

    /// Returns contexts that together cover the branches of the template. A test renders each of them.
    #[cfg(test)]
    fn samples() -> Vec<Self>
    where
        Self: Sized;
}

/// Converts the context to the JSON that templates read.
pub fn context(context: &impl Serialize) -> Value {
    serde_json::to_value(context).unwrap_or_default()
}
