//! The gallery: starter designs in a brand's theme, and the brand's saved blocks.

use serde::Serialize;
use serde_json::json;

use super::super::emails::{EmailForm, prepare};
use crate::engine::api::Created;
use crate::features::emails::ops::create::Create;
use crate::features::emails::ops::design_html::DesignHtml;
use crate::features::emails::ops::designs::{DesignView, Designs};
use crate::features::saved_blocks::ops::{delete, list, update};
use crate::features::saved_blocks::views::SavedBlockView;
use crate::surfaces::dashboard::files::files;
use crate::surfaces::dashboard::template::page_context;
use crate::surfaces::dashboard::visit::{PageError, PageResponse, Visit};
use crate::vocab::limits;
use crate::vocab::permissions::Permission;

#[derive(Serialize)]
pub struct GalleryPage {
    #[serde(flatten)]
    form: EmailForm,
    designs: Vec<DesignView>,
    blocks: Vec<BlockRow>,
    name_max: usize,
    editor_style: String,
}

#[derive(Serialize)]
struct BlockRow {
    id: String,
    name: String,
    kind: String,
}

impl From<SavedBlockView> for BlockRow {
    fn from(saved: SavedBlockView) -> Self {
        let kind = saved.block["type"].as_str().unwrap_or_default().to_owned();
        Self { id: saved.id.to_string(), name: saved.name, kind }
    }
}

page_context!(GalleryPage, "email_designs.html", {
    use crate::engine::api::Operation;

    let page = |blocks: Vec<BlockRow>| Self {
        form: EmailForm::sample(),
        designs: Designs::example().1.0.designs,
        blocks,
        name_max: limits::SAVED_BLOCK_NAME_CHARACTERS_MAX,
        editor_style: "/assets/editor.css".into(),
    };
    vec![page(vec![SavedBlockView::sample().into()]), page(Vec::new())]
});

pub async fn show(visit: &Visit) -> Result<PageResponse, PageError> {
    visit.need(Permission::EmailWrite)?;
    draw(visit, None).await
}

async fn draw(visit: &Visit, error: Option<PageError>) -> Result<PageResponse, PageError> {
    let form = prepare(visit).await?;
    let blocks = match form.brand.is_empty() {
        true => Vec::new(),
        false => {
            let wanted = json!({ "projectId": form.brand, "limit": limits::SAVED_BLOCKS_MAX });
            visit.ask::<list::List>(wanted).await?.items.into_iter().map(BlockRow::from).collect()
        }
    };
    let context = GalleryPage {
        form,
        designs: visit.ask::<Designs>(json!({})).await?.0.designs,
        blocks,
        name_max: limits::SAVED_BLOCK_NAME_CHARACTERS_MAX,
        editor_style: files().editor_style.path.clone(),
    };
    Ok(PageResponse::draw_with(&context, error.as_ref()))
}

/// Creates an email from a design, or renames or deletes a saved block.
pub async fn send(visit: &Visit) -> Result<PageResponse, PageError> {
    let (form, brand) = (&visit.form, visit.form.get("brand"));
    let block = || form.get("block");
    let asked = match form.get("act") {
        "rename" => {
            let input = json!({ "projectId": brand, "blockId": block(), "name": form.get("name") });
            visit.ask::<update::Update>(input).await.map(|_| "renamed")
        }
        "delete" => visit.ask::<delete::Delete>(json!({ "projectId": brand, "blockId": block() })).await.map(|_| "deleted"),
        "use" => {
            let Created(made) = visit.ask::<Create>(json!({ "projectId": brand, "design": form.get("design") })).await?;
            let path = format!("/{}/emails/{}/document?done=created", visit.environment, made.email.id);
            return Ok(PageResponse::redirect(path));
        }
        _ => return Err(PageError::unknown_action()),
    };
    match asked {
        Ok(done) => Ok(PageResponse::redirect(format!("{}?brand={brand}&done={done}#blocks", visit.path))),
        Err(error) if matches!(error.status.as_u16(), 400 | 409) => draw(visit, Some(error)).await,
        Err(error) => Err(error),
    }
}

/// Serves a preview of a design in the brand's theme, for a frame.
pub async fn frame(visit: &Visit) -> Result<PageResponse, PageError> {
    let (design, project) = (visit.path_parameter("design"), visit.path_parameter("id"));
    let wanted = json!({ "design": design, "projectId": project, "images": visit.wants_images() });
    visit.forward::<DesignHtml>(wanted).await
}
