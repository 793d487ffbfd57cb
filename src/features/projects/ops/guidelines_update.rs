//! Sets the guidelines for a brand's emails.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::base::patch::Patch;
use crate::base::text::LongText;
use crate::engine::api::{Caller, Command, Done, Failure, Operation, Spec, needs};
use crate::engine::store::WriteTx;
use crate::features::projects::brand::BrandGuidelines;
use crate::features::projects::{require, store};
use crate::vocab::codes::Code;
use crate::vocab::ids::ProjectId;
use crate::vocab::limits::GUIDELINES_CHARACTERS_MAX;
use crate::vocab::permissions::Permission;

pub struct GuidelinesUpdate;

/// The rules to change. Omitted fields stay unchanged, and `null` or an empty string clears a rule.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct NewGuidelines {
    pub project_id: ProjectId,
    /// Rules for the design and the wording of emails.
    #[serde(default)]
    pub design_rules: Patch<LongText<GUIDELINES_CHARACTERS_MAX>>,
    /// Rules for the style of images.
    #[serde(default)]
    pub image_style: Patch<LongText<GUIDELINES_CHARACTERS_MAX>>,
}

/// The guidelines after the change.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct KeptGuidelines {
    pub brand_guidelines: BrandGuidelines,
}

impl Operation for GuidelinesUpdate {
    const SPEC: Spec = Spec::put(
        "projects.guidelines_update",
        "/v1/projects/{projectId}/brand-guidelines",
        needs(Permission::ProjectWrite),
    )
    .client("projects.update_guidelines")
    .summary("Set a project's brand guidelines")
    .about(
        "Language models follow the guidelines when they write emails for the project after the change. The built-in composer does not \
         use them.",
    )
    .fails(&[Code::NotFound]);
    type Input = NewGuidelines;
    type Output = Done<KeptGuidelines>;

    fn example() -> (Value, Self::Output) {
        let rules = "Short sentences. One button per email.";
        let brand_guidelines = BrandGuidelines { design_rules: Some(rules.into()), image_style: None };
        let input = json!({ "projectId": "66f1a2b3d4e5f60718293a4b", "designRules": rules });
        (input, Done(KeptGuidelines { brand_guidelines }))
    }
}

impl Command for GuidelinesUpdate {
    fn run(tx: &mut WriteTx<'_>, caller: &Caller, input: NewGuidelines) -> Result<Self::Output, Failure> {
        require(tx, caller.account(), input.project_id)?;
        let mut kept = store::guidelines(tx, input.project_id)?;
        input.design_rules.map(|text| text.to_string()).apply(&mut kept.design_rules);
        input.image_style.map(|text| text.to_string()).apply(&mut kept.image_style);
        kept.design_rules = kept.design_rules.filter(|text| !text.is_empty());
        kept.image_style = kept.image_style.filter(|text| !text.is_empty());
        store::save_guidelines(tx, input.project_id, &kept);
        Ok(Done(KeptGuidelines { brand_guidelines: kept }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::TestApp;

    #[test]
    fn only_given_fields_change_and_the_project_shows_them() {
        let app = TestApp::new();
        let path = format!("/v1/projects/{}", app.project);
        let put = |body| app.put(&format!("{path}/brand-guidelines"), body).data()["brandGuidelines"].clone();
        put(json!({ "designRules": "Short.", "imageStyle": "Warm light." }));
        assert_eq!(put(json!({ "imageStyle": "" })), json!({ "designRules": "Short." }));
        assert_eq!(app.get(&path).data()["brand"]["guidelines"]["designRules"], "Short.");
    }
}
