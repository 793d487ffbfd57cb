//! Changes the description or tags of an image.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use super::images_add::{ImageDescription, ImageTag, checked_tags};
use crate::base::patch::Patch;
use crate::engine::api::{Caller, Command, Done, Failure, Operation, Spec, needs};
use crate::engine::store::{Read, WriteTx};
use crate::features::projects::images::{self, ProjectImage};
use crate::features::projects::views::ProjectImageView;
use crate::features::projects::{Site, require};
use crate::vocab::codes::Code;
use crate::vocab::ids::ProjectId;
use crate::vocab::limits::IMAGE_TAGS_MAX;
use crate::vocab::permissions::Permission;

pub struct ImagesUpdate;

/// The changes to an image. Omitted fields stay unchanged, and `null` restores the automatic value.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ImagePatch {
    pub project_id: ProjectId,
    /// The URL of the image.
    pub image_url: Site,
    /// A description of what the image shows.
    #[serde(default)]
    pub description: Patch<ImageDescription>,
    /// Tags for finding the image.
    #[serde(default)]
    #[schemars(length(max = IMAGE_TAGS_MAX))]
    pub tags: Patch<Vec<ImageTag>>,
}

impl Operation for ImagesUpdate {
    const SPEC: Spec = Spec::put("projects.images_update", "/v1/projects/{projectId}/images", needs(Permission::ProjectWrite))
        .client("projects.images.update")
        .summary("Change an image's description and tags")
        .fails(&[Code::NotFound]);
    type Input = ImagePatch;
    type Output = Done<ProjectImageView>;

    fn example() -> (Value, Self::Output) {
        let image = ProjectImageView::sample();
        let input = json!({
            "projectId": "66f1a2b3d4e5f60718293a4b", "imageUrl": image.url, "description": image.description,
        });
        (input, Done(image))
    }
}

impl Command for ImagesUpdate {
    fn run(tx: &mut WriteTx<'_>, caller: &Caller, input: ImagePatch) -> Result<Self::Output, Failure> {
        let (account, project) = (caller.account(), input.project_id);
        require(tx, account, project)?;
        let mut picture = find(tx, project, &input.image_url)?;
        match input.description.map(|text| text.to_string()) {
            Patch::Absent => {}
            Patch::Value(text) if !text.is_empty() => (picture.image.description, picture.own_description) = (Some(text), true),
            Patch::Value(_) | Patch::Null => (picture.image.description, picture.own_description) = (None, false),
        }
        match input.tags {
            Patch::Absent => {}
            Patch::Value(tags) => (picture.image.tags, picture.own_tags) = (checked_tags(tags)?, true),
            Patch::Null => (picture.image.tags, picture.own_tags) = (Vec::new(), false),
        }
        if picture.image.description.is_none() || !picture.own_tags && picture.image.tags.is_empty() {
            images::request_analysis(tx, (account, project), picture.id, None);
        }
        images::save(tx, project, &picture);
        Ok(Done(picture.into()))
    }
}

/// Returns the image with this URL, or a not-found failure.
pub fn find(tx: &impl Read, project: ProjectId, url: &Site) -> Result<ProjectImage, Failure> {
    let absent =
        || Failure::because(Code::NotFound, "The brand has no image with this URL. List the brand's images to get their URLs.");
    images::at(tx, project, url.as_str())?.ok_or_else(absent)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::TestApp;

    #[test]
    fn only_given_fields_change() {
        let app = TestApp::new();
        let path = format!("/v1/projects/{}/images", app.project);
        app.post(&path, json!({ "url": "https://acme.example/a.jpg", "description": "A cup", "tags": ["cup"] })).data();
        let changed = app.put(&path, json!({ "imageUrl": "https://acme.example/a.jpg", "tags": ["mug"] })).data();
        assert_eq!((&changed["description"], &changed["tags"]), (&json!("A cup"), &json!(["mug"])));
        let cleared = app.put(&path, json!({ "imageUrl": "https://acme.example/a.jpg", "description": null })).data();
        assert_eq!((&cleared["description"], &cleared["tags"]), (&json!(null), &json!(["mug"])));
        assert_eq!(app.put(&path, json!({ "imageUrl": "https://acme.example/b.jpg" })).refusal().0, 404);
    }
}
