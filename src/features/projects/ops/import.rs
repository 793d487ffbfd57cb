//! Imports a brand from the URLs of its web pages. The import runs in the background.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::base::text::Name;
use crate::engine::api::{Caller, Command, Created, Failure, Operation, Replay, Spec, needs};
use crate::engine::outbox::{self, NewEvent};
use crate::engine::store::{Read, Result as StoreResult, WriteTx};
use crate::features::projects::overrides::BrandOverrides;
use crate::features::projects::{Logos, Project, ProjectStatus, Site, importing, require_room, store, with_site};
use crate::vocab::codes::Code;
use crate::vocab::ids::ProjectId;
use crate::vocab::limits;
use crate::vocab::permissions::Permission;
use crate::vocab::rates::RouteGroup;
use crate::vocab::webhook_events::WebhookEvent;

pub struct Import;

/// The brand to import.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct NewProject {
    /// The brand's web pages, the home page first.
    #[schemars(length(min = 1, max = limits::PROJECT_URLS_MAX))]
    pub urls: Vec<Site>,
    /// The name of the brand. The default is the name on the website.
    pub name: Option<Name<{ limits::PROJECT_NAME_CHARACTERS_MAX }>>,
    /// The URLs of logos to use instead of logos that the import finds.
    pub logo_urls: Option<NewLogos>,
}

/// The URLs of logos that users set.
#[derive(Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NewLogos {
    pub primary: Option<Site>,
    pub secondary: Option<Site>,
    pub favicon: Option<Site>,
}

/// The response to an accepted import.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ImportAccepted {
    pub project_id: ProjectId,
    pub status: ProjectStatus,
    /// The host of the first address, without `www.`.
    pub domain: String,
    pub urls: Vec<String>,
    /// A message that tells the user what to do next.
    pub message: String,
}

impl Operation for Import {
    const SPEC: Spec = Spec::post("projects.import", "/v1/projects/import", needs(Permission::ProjectWrite))
        .client("projects.imports.create")
        .summary("Import a project from web pages")
        .about("Returns immediately; the import runs in the background. Emits project.import.started.")
        .rate(RouteGroup::Imports)
        .replay(Replay::Keyed)
        .fails(&[Code::LimitReached, Code::BrandExists]);
    type Input = NewProject;
    type Output = Created<ImportAccepted>;

    fn example() -> (Value, Self::Output) {
        let id = ProjectId::parse("66f1a2b3d4e5f60718293a4b").expect("the id has 24 hexadecimal characters");
        let accepted = ImportAccepted {
            project_id: id,
            status: ProjectStatus::Pending,
            domain: "acme.example".into(),
            urls: vec!["https://www.acme.example/".into()],
            message: message(id),
        };
        (json!({ "urls": ["https://www.acme.example"], "name": "Acme" }), Created(accepted))
    }
}

impl Command for Import {
    fn run(tx: &mut WriteTx<'_>, caller: &Caller, input: NewProject) -> Result<Self::Output, Failure> {
        let max = limits::PROJECT_URLS_MAX;
        if !(1..=max).contains(&input.urls.len()) {
            return Err(Failure::field("urls", format_args!("list 1 to {max} URLs; this list has {}", input.urls.len())));
        }
        let account = caller.account();
        let failed = match with_site(tx, account, input.urls[0].as_str())? {
            Some(known) if !has_failed(tx, &known)? => return Err(exists(&known)),
            failed => failed,
        };
        if failed.is_none() {
            require_room(tx, account, "Use an existing brand instead.")?;
        }
        let id = failed.as_ref().map_or_else(|| ProjectId::make(tx.now(), tx.random()), |failed| failed.id);
        let logos = logos(input.logo_urls.unwrap_or_default());
        let mut project = Project::pending(id, &input.urls, input.name.as_deref(), logos, tx.now());
        if let Some(failed) = failed {
            project.created_at = failed.created_at;
            project.sender = failed.sender;
            if project.logos == Logos::default() {
                project.logos = failed.logos;
            }
        }
        store::save(tx, account, &project);
        if let Some(name) = input.name {
            let overrides = BrandOverrides { name: Some(name.to_string()), ..store::overrides(tx, id)? };
            store::save_overrides(tx, id, &overrides);
        }
        importing::open(tx, account, &project)?;
        let data = json!({ "projectId": id, "urls": project.urls, "domain": project.domain });
        let kind = WebhookEvent::ProjectImportStarted;
        outbox::emit(tx, NewEvent { kind, account, project: Some(id), conversation: None, data });
        let Project { status, domain, urls, .. } = project;
        Ok(Created(ImportAccepted { project_id: id, status, domain, urls, message: message(id) }))
    }
}

/// Returns whether no import of a project has ever succeeded and none is running. If so, a new import of the same site replaces this
/// project, because its URLs may be the reason for the failure, for example if the site does not support HTTPS.
fn has_failed(tx: &impl Read, project: &Project) -> StoreResult<bool> {
    Ok(project.status == ProjectStatus::Error && store::brand(tx, project.id)?.is_none())
}

/// Returns the failure for a site that already belongs to a brand.
fn exists(known: &Project) -> Failure {
    let detail = format!("This site already belongs to the brand {}. Import that brand again to update it.", known.name);
    let data = json!({ "projectId": known.id, "name": known.name });
    let hint = format!("POST /v1/projects/import/{}/retry imports the site again and keeps the values that users set", known.id);
    Failure::because(Code::BrandExists, detail).in_field("urls").with(data).see("projects.import_retry", hint)
}

fn message(id: ProjectId) -> String {
    format!("The import was accepted. Check its progress with GET /v1/projects/import/{id}/status.")
}

fn logos(given: NewLogos) -> Logos {
    let text = |site: Option<Site>| site.map(|site| site.as_str().to_owned());
    Logos { primary: text(given.primary), secondary: text(given.secondary), favicon: text(given.favicon) }
}
