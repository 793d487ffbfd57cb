//! Sets a project's logos.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::base::patch::Patch;
use crate::engine::api::{Caller, Command, Done, Failure, Operation, Spec, needs};
use crate::engine::store::WriteTx;
use crate::features::projects::views::{self, LogosView};
use crate::features::projects::{Site, images, not_found, store};
use crate::vocab::codes::Code;
use crate::vocab::ids::{PictureId, ProjectId};
use crate::vocab::permissions::Permission;

pub struct LogosUpdate;

/// The logos to set. Omitted fields stay unchanged, and `null` removes your logo, so that a logo found on the site is used, if there is
/// one.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct LogosPatch {
    pub project_id: ProjectId,
    /// The URL of the logo in the header of emails.
    #[serde(default)]
    pub primary: Patch<Site>,
    /// The URL of a variant of the logo, for example for dark backgrounds.
    #[serde(default)]
    pub secondary: Patch<Site>,
    /// The URL of the small square icon.
    #[serde(default)]
    pub favicon: Patch<Site>,
}

/// The logos after the change.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct LogosUpdateResult {
    pub logo_urls: LogosView,
}

impl Operation for LogosUpdate {
    const SPEC: Spec = Spec::put("projects.logos_update", "/v1/projects/{projectId}/logos", needs(Permission::ProjectWrite))
        .client("projects.update_logos")
        .summary("Set a project's logos")
        .about("Logos that you set take precedence over logos found on the project's sites, even after the sites are imported again.")
        .fails(&[Code::NotFound]);
    type Input = LogosPatch;
    type Output = Done<LogosUpdateResult>;

    fn example() -> (Value, Self::Output) {
        let url = "https://www.acme.example/logo.png";
        let logo_urls = LogosView { primary: Some(url.to_owned()).into(), secondary: None.into(), favicon: None.into() };
        (json!({ "projectId": "66f1a2b3d4e5f60718293a4b", "primary": url }), Done(LogosUpdateResult { logo_urls }))
    }
}

impl Command for LogosUpdate {
    fn run(tx: &mut WriteTx<'_>, caller: &Caller, input: LogosPatch) -> Result<Self::Output, Failure> {
        let account = caller.account();
        let mut project = store::find(tx, account, input.project_id)?.ok_or_else(not_found)?;
        let before = project.logos.clone();
        let text = |patch: Patch<Site>| patch.map(|site| site.as_str().to_owned());
        text(input.primary).apply(&mut project.logos.primary);
        text(input.secondary).apply(&mut project.logos.secondary);
        text(input.favicon).apply(&mut project.logos.favicon);
        if project.logos != before {
            project.updated_at = tx.now();
            store::save(tx, account, &project);
            for url in project.logos.all().filter(|url| !before.all().any(|other| other == *url)) {
                let id = PictureId::make(tx.now(), tx.random());
                images::request_analysis(tx, (account, project.id), id, Some(url.to_owned()));
            }
        }
        let brand = store::brand(tx, project.id)?.unwrap_or_default();
        Ok(Done(LogosUpdateResult { logo_urls: views::logos(project.logos, &brand) }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::TestApp;

    #[test]
    fn only_given_logos_change_and_the_brand_lists_them_first() {
        let app = TestApp::new();
        let path = format!("/v1/projects/{}", app.project);
        let put = |body| app.put(&format!("{path}/logos"), body).data()["logoUrls"].clone();
        put(json!({ "primary": "https://acme.example/a.png", "favicon": "https://acme.example/f.png" }));
        let logos = put(json!({ "favicon": null }));
        assert_eq!((&logos["primary"], &logos["favicon"]), (&json!("https://acme.example/a.png"), &json!(null)));
        let brand = app.get(&path).data()["brand"].clone();
        let first = &brand["logos"][0];
        assert_eq!((&first["url"], &first["source"]), (&json!("https://acme.example/a.png"), &json!("given")));
    }
}
