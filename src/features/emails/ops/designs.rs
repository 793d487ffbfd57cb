//! Lists the starter designs.

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Value, json};

use crate::engine::api::{Done, Failure, NoInput, Operation, Query, Spec, View, needs_one};
use crate::features::emails::{READERS, designs};
use crate::vocab::rates::RouteGroup;

/// The operation `emails.designs`.
pub struct Designs;

/// The starter designs, in the order of the gallery.
#[derive(Debug, Serialize, JsonSchema)]
pub struct DesignList {
    pub designs: Vec<DesignView>,
}

/// A starter design.
#[derive(Debug, Serialize, JsonSchema)]
pub struct DesignView {
    /// The name of the design, for `design` in `POST /v1/emails`.
    pub name: String,
    /// The title of the design, as users see it.
    pub title: String,
    /// A one-sentence description of the content.
    pub about: String,
}

impl Operation for Designs {
    const SPEC: Spec = Spec::get("emails.designs", "/v1/emails/designs", needs_one(READERS)).client("emails.designs.list")
        .summary("List starter designs")
        .about(
            "A design is an email without facts about a brand. Text that users must replace is in brackets. The design uses the brand's \
             colors, fonts, images and products.",
        )
        .rate(RouteGroup::Emails);
    type Input = NoInput;
    type Output = Done<DesignList>;

    fn example() -> (Value, Self::Output) {
        let design = DesignView {
            name: "welcome".into(),
            title: "Welcome".into(),
            about: "A greeting, what to expect, and a first step.".into(),
        };
        (json!({}), Done(DesignList { designs: vec![design] }))
    }
}

impl Query for Designs {
    fn run(_: &View<'_>, NoInput {}: NoInput) -> Result<Self::Output, Failure> {
        let view = |design: &designs::Design| DesignView {
            name: design.name.to_owned(),
            title: design.title.clone(),
            about: design.about.clone(),
        };
        Ok(Done(DesignList { designs: designs::all().iter().map(view).collect() }))
    }
}
