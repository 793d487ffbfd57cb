//! Accepts or rejects changes that a repeated import found.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use super::import_changes::ImportChangesView;
use crate::base::text::Name;
use crate::engine::api::{Caller, Command, Done, Failure, Operation, Spec, needs};
use crate::engine::store::WriteTx;
use crate::features::projects::importing::changes::{self, ChangeState, ImportChange};
use crate::features::projects::store::imports;
use crate::features::projects::{Project, not_found, store, stored_products};
use crate::vocab::codes::Code;
use crate::vocab::ids::{AccountId, ProjectId};
use crate::vocab::limits::SITE_IMPORT_CHANGES_MAX;
use crate::vocab::permissions::Permission;

pub struct ImportDecide;

type ChangeName = Name<100>;

/// The decisions. Changes that are in neither list stay pending.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Decisions {
    pub project_id: ProjectId,
    /// The IDs of the changes to accept.
    #[serde(default)]
    #[schemars(length(max = SITE_IMPORT_CHANGES_MAX))]
    pub accept: Vec<ChangeName>,
    /// The IDs of the changes to reject. The current values are then treated as set by a user.
    #[serde(default)]
    #[schemars(length(max = SITE_IMPORT_CHANGES_MAX))]
    pub keep: Vec<ChangeName>,
}

impl Operation for ImportDecide {
    const SPEC: Spec =
        Spec::post("projects.import_decide", "/v1/projects/import/{projectId}/changes", needs(Permission::ProjectWrite))
            .client("projects.imports.decide")
            .summary("Accept or reject the changes found by a repeated import")
            .about("Returns the remaining changes. A rejected change is not proposed again by later imports.")
            .fails(&[Code::NotFound]);
    type Input = Decisions;
    type Output = Done<ImportChangesView>;

    fn example() -> (Value, Self::Output) {
        let input = json!({ "projectId": "66f1a2b3d4e5f60718293a4b", "accept": ["tagline"], "keep": ["palette.primary"] });
        (input, Done(ImportChangesView::sample()))
    }
}

impl Command for ImportDecide {
    fn run(tx: &mut WriteTx<'_>, caller: &Caller, input: Decisions) -> Result<Self::Output, Failure> {
        let (account, id) = (caller.account(), input.project_id);
        let project = store::find(tx, account, id)?.ok_or_else(not_found)?;
        let Some(mut found) = imports::changes(tx, id)? else { return Ok(Done(ImportChangesView::from(None))) };
        for (names, field, accepts) in [(input.accept, "accept", true), (input.keep, "keep", false)] {
            if names.len() > SITE_IMPORT_CHANGES_MAX {
                return Err(Failure::field(
                    field,
                    format_args!("list at most {SITE_IMPORT_CHANGES_MAX} changes per request; this list has {}", names.len()),
                ));
            }
            for (index, name) in names.iter().enumerate() {
                let is_named = |change: &ImportChange| change.id() == **name && change.state() == ChangeState::Pending;
                let Some(place) = found.changes.iter().position(is_named) else {
                    let message =
                        "no pending change has this ID; list the changes again, because a user may already have decided on it";
                    return Err(Failure::field(&format!("{field}[{index}]"), message));
                };
                decide(tx, id, found.changes.remove(place), accepts)?;
            }
        }
        // Delete the list once no change is pending.
        let is_open = found.changes.iter().any(|change| change.state() == ChangeState::Pending);
        imports::save_changes(tx, id, is_open.then_some(&found));
        rename(tx, account, project)?;
        Ok(Done(ImportChangesView::from(is_open.then_some(found))))
    }
}

fn decide(tx: &mut WriteTx<'_>, project: ProjectId, change: ImportChange, accepts: bool) -> Result<(), Failure> {
    match change {
        ImportChange::Field { field, now, .. } if accepts => {
            let brand = store::brand(tx, project)?.unwrap_or_default();
            store::save_brand(tx, project, &changes::accept(brand, &field, &now));
            let overrides = store::overrides(tx, project)?;
            store::save_overrides(tx, project, &changes::forget(overrides, &field));
        }
        ImportChange::Field { field, before, now, .. } => {
            let overrides = store::overrides(tx, project)?;
            store::save_overrides(tx, project, &changes::keep(overrides, &field, &before, &now));
        }
        ImportChange::Product { id, change } => {
            let known = stored_products::all(tx, project)?;
            let decided = if accepts { change.applied(&known, id) } else { change.rejected(&known, id) };
            match decided {
                Some(product) => stored_products::save(tx, project, &product),
                None => stored_products::delete(tx, project, id),
            }
        }
    }
    Ok(())
}

/// Renames the project to the name of its brand.
fn rename(tx: &mut WriteTx<'_>, account: AccountId, mut project: Project) -> Result<(), Failure> {
    let name = crate::features::projects::corrected(tx, project.id)?.name;
    if let Some(name) = name {
        project.name = name;
    }
    project.updated_at = tx.now();
    store::save(tx, account, &project);
    Ok(())
}
