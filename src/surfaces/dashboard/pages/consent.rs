//! The choices of a user who approves access for an agent or a program: which permissions to grant, and whether for test or live data.

use std::collections::BTreeSet;

use data_encoding::HEXLOWER;
use serde::Serialize;

use crate::base::secret::{same, sha256};
use crate::features::accounts::agents::views::ScopeView;
use crate::surfaces::dashboard::visit::Visit;
use crate::vocab::environment::Environment;
use crate::vocab::permissions::PermissionSet;

/// The user's choices, preserved when the form is shown again after an error or a password confirmation.
pub struct Choice {
    pub permissions: PermissionSet,
    pub environment: Environment,
}

impl Choice {
    /// Reads the user's choices from the form. Invalid values are ignored.
    pub fn sent(visit: &Visit) -> Self {
        let words: BTreeSet<&str> = visit.form.all("permission").into_iter().collect();
        let permissions = words.iter().filter_map(|word| word.parse().ok()).fold(PermissionSet::NONE, PermissionSet::and);
        Self { permissions, environment: visit.form.get("environment").parse().unwrap_or(Environment::Test) }
    }

    /// Reads the user's choices from the URL; `name` is the parameter with the permissions. Links from outside the dashboard, such as an
    /// agent's link, can only deselect permissions. Live data is accepted only if the URL contains the dashboard's [`Choice::mark`] for
    /// `subject`.
    pub fn returned(visit: &Visit, name: &str, subject: &str) -> Option<Self> {
        // The permissions in the URL are selected; an empty value selects no permission.
        let chosen = visit.query.all(name).into_iter().next()?;
        let mut choice = Self { permissions: chosen.parse().unwrap_or(PermissionSet::NONE), environment: Environment::Live };
        let is_own = same(choice.mark(visit, subject).as_bytes(), visit.query.get("mark").as_bytes());
        if !is_own || visit.query.get("environment") != Environment::Live.word() {
            choice.environment = Environment::Test;
        }
        Some(choice)
    }

    /// Returns a hash of `subject` and these choices. A link with this hash was created by the dashboard: the hash includes the browser's
    /// CSRF token, so other sites cannot compute it.
    pub fn mark(&self, visit: &Visit, subject: &str) -> String {
        let text = format!("agent\0{}\0{subject}\0{}\0{}", visit.csrf, self.permissions, self.environment);
        HEXLOWER.encode(&sha256(text.as_bytes())[..16])
    }
}

/// A requested permission, and whether its check box is selected.
#[derive(Serialize)]
pub struct Scope {
    #[serde(flatten)]
    scope: ScopeView,
    chosen: bool,
}

/// Returns the requested permissions. Only permissions that the user has can be selected; without `choice`, all of these are selected.
pub fn scopes(scopes: Vec<ScopeView>, choice: Option<&Choice>) -> Vec<Scope> {
    let scope = |scope: ScopeView| {
        let is_chosen = choice.is_none_or(|choice| choice.permissions.contains(scope.permission));
        Scope { chosen: scope.yours && is_chosen, scope }
    };
    scopes.into_iter().map(scope).collect()
}
