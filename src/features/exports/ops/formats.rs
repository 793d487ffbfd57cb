//! Lists the export formats.

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Value, json};

use crate::engine::api::{Counted, Failure, NoInput, Operation, Query, Spec, View, needs};
use crate::features::connections::templates::TemplateKind;
use crate::features::exports::{Format, READER};
use crate::vocab::providers::Provider;

pub struct Formats;

/// The formats in which emails can be exported.
#[derive(Debug, Serialize, JsonSchema)]
pub struct FormatsView {
    pub formats: Vec<FormatView>,
    pub total: usize,
}

/// A file format, or a platform that emails can be exported for.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct FormatView {
    pub name: &'static str,
    pub description: &'static str,
    /// The extensions of the files that an export can create.
    pub supported_formats: Vec<&'static str>,
    /// What an export for a platform can create in a connected account; absent for file formats.
    pub types: Option<Vec<&'static str>>,
    /// `simple` for a file format, or `complex` for a platform.
    #[serde(rename = "type")]
    #[schemars(extend("enum" = ["simple", "complex"]))]
    pub kind: &'static str,
}

fn all() -> Counted<FormatsView> {
    let format = |format: Format| FormatView {
        name: format.word(),
        description: format.about(),
        supported_formats: vec![format.word()],
        types: None,
        kind: "simple",
    };
    let platform = |provider: Provider| FormatView {
        name: provider.word(),
        description: match provider {
            Provider::Klaviyo => "A template in a connected account, or a file to upload: HTML with Klaviyo's merge fields.",
            Provider::Mailchimp => {
                "A template or draft campaign in a connected account, or a file to upload: HTML with Mailchimp's merge tags."
            }
            Provider::HubSpot => {
                "A coded template or draft email in a connected account, or a file to upload: HTML with HubSpot's variables."
            }
        },
        supported_formats: vec![Format::Html.word()],
        types: Some(TemplateKind::ALL.into_iter().filter(|kind| kind.provider() == provider).map(TemplateKind::word).collect()),
        kind: "complex",
    };
    let mut formats: Vec<FormatView> = Format::ALL.into_iter().map(format).collect();
    formats.extend(Provider::ALL.map(platform));
    let count = formats.len();
    Counted { data: FormatsView { formats, total: count }, count }
}

impl Operation for Formats {
    const SPEC: Spec = Spec::get("exports.formats", "/v1/export/formats", needs(READER)).summary("List export formats");
    type Input = NoInput;
    type Output = Counted<FormatsView>;

    fn example() -> (Value, Self::Output) {
        (json!({}), all())
    }
}

impl Query for Formats {
    fn run(_: &View<'_>, _: NoInput) -> Result<Self::Output, Failure> {
        Ok(all())
    }
}
