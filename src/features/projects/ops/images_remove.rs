//! Removes an image from a project.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use super::images_update::find;
use crate::engine::api::{Caller, Command, Done, Failure, Operation, Spec, needs};
use crate::engine::store::WriteTx;
use crate::features::projects::views::RemovalResult;
use crate::features::projects::{Site, image_files, images, require};
use crate::vocab::codes::Code;
use crate::vocab::ids::ProjectId;
use crate::vocab::permissions::Permission;

pub struct ImagesRemove;

/// Identifies an image in a project.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ImageRef {
    pub project_id: ProjectId,
    /// The URL of the image to remove.
    pub image_url: Site,
}

impl Operation for ImagesRemove {
    const SPEC: Spec = Spec::delete("projects.images_remove", "/v1/projects/{projectId}/images", needs(Permission::ProjectWrite)).client("projects.images.delete")
        .summary("Remove an image from a project")
        .about(
            "An uploaded file is kept for another year for the emails that contain it. An image from the site does not return when the \
             site is imported again; to use the image again, add it by its URL.",
        )
        .fails(&[Code::NotFound]);
    type Input = ImageRef;
    type Output = Done<RemovalResult>;

    fn example() -> (Value, Self::Output) {
        let url = "https://www.acme.example/images/roastery.jpg";
        let input = json!({ "projectId": "66f1a2b3d4e5f60718293a4b", "imageUrl": url });
        (input, Done(RemovalResult { message: message(url) }))
    }
}

impl Command for ImagesRemove {
    fn run(tx: &mut WriteTx<'_>, caller: &Caller, input: ImageRef) -> Result<Self::Output, Failure> {
        require(tx, caller.account(), input.project_id)?;
        let picture = find(tx, input.project_id, &input.image_url)?;
        images::remove(tx, input.project_id, &picture);
        image_files::let_go(tx, &caller.engine, &picture.image.url)?;
        Ok(Done(RemovalResult { message: message(&picture.image.url) }))
    }
}

fn message(url: &str) -> String {
    format!("The image {url} was removed from the brand.")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::TestApp;

    #[test]
    fn a_removed_image_is_gone() {
        let app = TestApp::new();
        let path = format!("/v1/projects/{}/images", app.project);
        app.post(&path, json!({ "url": "https://acme.example/a.jpg" })).data();
        let remove = || app.delete(&format!("{path}?imageUrl=https%3A%2F%2Facme.example%2Fa.jpg"));
        assert!(remove().data()["message"].as_str().is_some_and(|text| text.contains("a.jpg")));
        assert_eq!((remove().refusal().0, &app.get(&path).data()["total"]), (404, &json!(0)));
    }
}
