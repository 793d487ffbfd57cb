//! Adds an image to a project.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::base::text::{LongText, Name};
use crate::engine::api::{Caller, Command, Created, Failure, Operation, Replay, Spec, needs};
use crate::engine::render::images::ImageMeasurements;
use crate::engine::store::WriteTx;
use crate::features::projects::brand::BrandImage;
use crate::features::projects::images::{self, Origin, ProjectImage};
use crate::features::projects::views::ProjectImageView;
use crate::features::projects::{Site, require};
use crate::vocab::codes::Code;
use crate::vocab::ids::{AccountId, PictureId, ProjectId};
use crate::vocab::limits::{IMAGE_DESCRIPTION_CHARACTERS_MAX, IMAGE_TAG_CHARACTERS_MAX, IMAGE_TAGS_MAX, PROJECT_IMAGES_MAX};
use crate::vocab::permissions::Permission;

pub struct ImagesAdd;

pub type ImageTag = Name<IMAGE_TAG_CHARACTERS_MAX>;
pub type ImageDescription = LongText<IMAGE_DESCRIPTION_CHARACTERS_MAX>;

/// The image to add.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct NewImage {
    pub project_id: ProjectId,
    /// The URL of the image. The image file is not copied: it stays on its server.
    pub url: Site,
    /// A description of what the image shows. If absent, it is filled in automatically.
    pub description: Option<ImageDescription>,
    /// Tags for finding the image. If absent, they are filled in automatically.
    #[schemars(length(max = IMAGE_TAGS_MAX))]
    pub tags: Option<Vec<ImageTag>>,
}

impl Operation for ImagesAdd {
    const SPEC: Spec = Spec::post("projects.images_add", "/v1/projects/{projectId}/images", needs(Permission::ProjectWrite))
        .client("projects.images.create")
        .summary("Add an image to a project")
        .about("If the project already has an image with this URL, a new description and new tags replace the current ones.")
        .replay(Replay::Keyed)
        .fails(&[Code::NotFound, Code::LimitReached]);
    type Input = NewImage;
    type Output = Created<ProjectImageView>;

    fn example() -> (Value, Self::Output) {
        let image = ProjectImageView::sample();
        let input = json!({
            "projectId": "66f1a2b3d4e5f60718293a4b", "url": image.url, "description": image.description, "tags": image.tags,
        });
        (input, Created(image))
    }
}

impl Command for ImagesAdd {
    fn run(tx: &mut WriteTx<'_>, caller: &Caller, input: NewImage) -> Result<Self::Output, Failure> {
        let (account, project) = (caller.account(), input.project_id);
        require(tx, account, project)?;
        let given = GivenImage {
            url: input.url.as_str().to_owned(),
            description: input.description.map(|text| text.to_string()).filter(|text| !text.is_empty()),
            tags: input.tags.map(checked_tags).transpose()?,
            measured: None,
        };
        Ok(Created(add(tx, (account, project), given)?.into()))
    }
}

/// An image that a user adds to a project.
pub struct GivenImage {
    pub url: String,
    pub description: Option<String>,
    pub tags: Option<Vec<String>>,
    /// The measurements of the image, if it has been measured.
    pub measured: Option<ImageMeasurements>,
}

/// Adds an image to a project, or updates the project's image with the same URL.
pub fn add(tx: &mut WriteTx<'_>, (account, project): (AccountId, ProjectId), new: GivenImage) -> Result<ProjectImage, Failure> {
    let (removed, all): (Vec<ProjectImage>, Vec<ProjectImage>) =
        images::all_with_removed(tx, project)?.into_iter().partition(|picture| picture.origin == Origin::Removed);
    for picture in removed.iter().filter(|picture| picture.image.url == new.url) {
        images::delete(tx, project, picture.id);
    }
    let known = all.iter().find(|picture| picture.image.url == new.url).cloned();
    let given = all.iter().filter(|picture| picture.origin == Origin::Given).count();
    if known.is_none() && given >= PROJECT_IMAGES_MAX {
        let detail = format!("A brand can have at most {PROJECT_IMAGES_MAX} added images. Remove an added image first.");
        return Err(Failure::because(Code::LimitReached, detail));
    }
    let mut picture = known.unwrap_or_else(|| ProjectImage {
        id: PictureId::make(tx.now(), tx.random()),
        image: BrandImage { url: new.url, ..BrandImage::default() },
        origin: Origin::Given,
        context: None,
        own_description: false,
        own_tags: false,
        problem: None,
        created_at: tx.now(),
    });
    // Mark the image as added by a user, so that it is kept when the site is imported again.
    picture.origin = Origin::Given;
    if let Some(description) = new.description {
        picture.image.description = Some(description);
        picture.own_description = true;
    }
    if let Some(tags) = new.tags {
        picture.image.tags = tags;
        picture.own_tags = true;
    }
    let is_measured = new.measured.is_some() || picture.image.width.is_some();
    if let Some(measured) = new.measured {
        (picture.image.width, picture.image.height) = (Some(measured.width), Some(measured.height));
        picture.image.colors = measured.colors.iter().map(ToString::to_string).collect();
    }
    images::save(tx, project, &picture);
    if !is_measured || picture.image.description.is_none() || !picture.own_tags && picture.image.tags.is_empty() {
        images::request_analysis(tx, (account, project), picture.id, None);
    }
    Ok(picture)
}

/// Returns the tags without duplicates. Returns an error if there are too many tags.
pub fn checked_tags(given: Vec<ImageTag>) -> Result<Vec<String>, Failure> {
    if given.len() > IMAGE_TAGS_MAX {
        return Err(Failure::field("tags", format_args!("list at most {IMAGE_TAGS_MAX} tags; this list has {}", given.len())));
    }
    let mut tags: Vec<String> = Vec::with_capacity(given.len());
    for tag in given {
        if !tags.iter().any(|other| *other == *tag) {
            tags.push(tag.to_string());
        }
    }
    Ok(tags)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::TestApp;

    fn path(app: &TestApp) -> String {
        format!("/v1/projects/{}/images", app.project)
    }

    #[test]
    fn an_added_image_is_in_the_list_and_in_the_brand() {
        let app = TestApp::new();
        let body = json!({ "url": "https://acme.example/a.jpg", "description": "A cup", "tags": ["cup", "coffee", "cup"] });
        let made = app.post(&path(&app), body).data();
        assert_eq!((&made["description"], &made["tags"]), (&json!("A cup"), &json!(["cup", "coffee"])));
        let listed = app.get(&path(&app)).data();
        assert_eq!((&listed["total"], &listed["images"][0]), (&json!(1), &made));
        let brand = app.get(&format!("/v1/projects/{}", app.project)).data()["brand"].clone();
        assert_eq!(brand["images"][0]["url"], "https://acme.example/a.jpg");
    }

    #[test]
    fn adding_the_same_url_again_replaces_the_description() {
        let app = TestApp::new();
        app.post(&path(&app), json!({ "url": "https://acme.example/a.jpg", "description": "A cup", "tags": ["cup"] })).data();
        let again = app.post(&path(&app), json!({ "url": "https://acme.example/a.jpg", "description": "A mug" })).data();
        assert_eq!((&again["description"], &again["tags"]), (&json!("A mug"), &json!(["cup"])));
        assert_eq!(app.get(&path(&app)).data()["total"], 1);
    }

    #[test]
    fn values_above_the_limits_are_rejected() {
        let app = TestApp::new();
        let tags: Vec<String> = (0..11).map(|number| format!("tag {number}")).collect();
        for (field, value) in [("tags", json!(tags)), ("tags", json!(["x".repeat(51)])), ("description", json!("x".repeat(1001)))]
        {
            let answer = app.post(&path(&app), json!({ "url": "https://acme.example/a.jpg", field: value }));
            let (status, _, detail) = answer.refusal();
            assert!(status == 400 && detail.contains(field), "{detail}");
        }
    }
}
