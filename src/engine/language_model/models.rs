//! The models that the settings enable.

use std::sync::Arc;

use super::Client;
use crate::base::random::Random;
use crate::engine::fetch::Fetch;
use crate::vocab::settings::{COMPOSER, Model, Settings};

/// The enabled language models, sorted by name.
pub struct Models {
    clients: Vec<Arc<Client>>,
    default: Option<Arc<Client>>,
}

impl Models {
    pub fn new(settings: &Settings, fetch: &Arc<Fetch>, random: &Arc<dyn Random>) -> Self {
        let client = |(name, model): (&String, &Model)| Client::new(name, model, fetch.clone(), random.clone()).map(Arc::new);
        let clients: Vec<Arc<Client>> = settings.models.iter().filter_map(client).collect();
        let default = match settings.language_model.default.as_deref() {
            None => clients.first(),
            Some(name) => clients.iter().find(|client| client.name() == name),
        };
        Self { default: default.cloned(), clients }
    }

    pub fn find(&self, name: &str) -> Option<&Arc<Client>> {
        self.clients.iter().find(|client| client.name() == name)
    }

    /// Returns the model that writes an email if the request names no model; `None` if the composer writes it.
    pub fn default(&self) -> Option<&Arc<Client>> {
        self.default.as_ref()
    }

    /// Returns the name of the model that writes an email if the request names no model.
    pub fn default_name(&self) -> &str {
        self.default().map_or(COMPOSER, |client| client.name())
    }

    /// Returns the model that describes images: the default model if it accepts images, otherwise the first model that does.
    pub fn seeing(&self) -> Option<&Arc<Client>> {
        self.default.iter().chain(&self.clients).find(|client| client.sees())
    }

    /// Returns all names that a request can use. The last name is the composer's.
    pub fn names(&self) -> Vec<&str> {
        self.clients.iter().map(|client| client.name()).chain([COMPOSER]).collect()
    }
}
