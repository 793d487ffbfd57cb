//! Rebuilds the search index while the current index serves searches.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::engine::api::{Async, Context, Done, Failure, Operation, Spec, operator};
use crate::features::contacts::indexing;
use crate::vocab::environment::Environment;

pub struct Reindex;

/// Selects the search index to rebuild.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ReindexRequest {
    /// The environment whose index is rebuilt. If absent, both indexes are rebuilt.
    pub environment: Option<Environment>,
}

/// The rebuilt indexes, which are now in use.
#[derive(Serialize, JsonSchema)]
pub struct Indexes {
    pub indexes: Vec<IndexView>,
}

/// A rebuilt search index.
#[derive(Serialize, JsonSchema)]
pub struct IndexView {
    pub environment: Environment,
    /// The number of contacts in the index.
    pub contacts: u64,
}

impl Operation for Reindex {
    const SPEC: Spec = Spec::post("system.reindex", "/admin/reindex", operator())
        .summary("Rebuild the search index")
        .about("Returns when the new index is in use. Until then, the current index serves searches.")
        .on_any_node();
    type Input = ReindexRequest;
    type Output = Done<Indexes>;

    fn example() -> (Value, Self::Output) {
        let indexes = vec![IndexView { environment: Environment::Live, contacts: 1_000 }];
        (json!({ "environment": "live" }), Done(Indexes { indexes }))
    }
}

impl Async for Reindex {
    async fn run(context: Context, input: ReindexRequest) -> Result<Self::Output, Failure> {
        let mut indexes = Vec::new();
        for environment in Environment::ALL.into_iter().filter(|one| input.environment.is_none_or(|wanted| wanted == *one)) {
            let data = context.engine.data(environment).clone();
            let contacts = tokio::task::spawn_blocking(move || indexing::rebuild(&data)).await.map_err(Failure::internal)?;
            indexes.push(IndexView { environment, contacts: contacts.map_err(Failure::internal)? });
        }
        Ok(Done(Indexes { indexes }))
    }
}
