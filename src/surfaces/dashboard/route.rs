//! Page routes: the path, the required sign-in, and the functions that render a page and handle its forms.

use std::future::Future;
use std::pin::Pin;

use super::visit::{Outcome, PageError, Visit};
use crate::vocab::limits;

/// The result of a page's function.
pub type HandlerFuture<'v> = Pin<Box<dyn Future<Output = Result<Outcome, PageError>> + Send + 'v>>;

/// A page's function.
pub type Handler = for<'v> fn(&'v Visit) -> HandlerFuture<'v>;

/// Who may see a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Auth {
    /// Everyone.
    Open,
    /// Signed-in users; others are sent to sign in first and return.
    Closed,
}

/// A page, and the target of its forms.
pub struct Route {
    pub path: &'static str,
    pub auth: Auth,
    pub get: Option<Handler>,
    pub post: Option<Handler>,
    /// The maximum size of a form.
    pub form_bytes_max: usize,
    /// Whether its form may contain files.
    pub takes_files: bool,
    /// Whether only the token of its form is read here; the rest is streamed to an operation.
    pub streams: bool,
}

/// Creates a page for everyone.
pub const fn open(path: &'static str) -> Route {
    Route {
        path,
        auth: Auth::Open,
        get: None,
        post: None,
        form_bytes_max: limits::DASHBOARD_FORM_BYTES_MAX,
        takes_files: false,
        streams: false,
    }
}

/// Creates a page for signed-in users.
pub const fn closed(path: &'static str) -> Route {
    Route { auth: Auth::Closed, ..open(path) }
}

impl Route {
    /// Adds the function that renders it.
    pub const fn get(mut self, run: Handler) -> Self {
        self.get = Some(run);
        self
    }

    /// Adds the function that handles its forms.
    pub const fn post(mut self, run: Handler) -> Self {
        self.post = Some(run);
        self
    }

    /// Adds a form whose token comes first and whose rest, a file of any size, is streamed to an operation.
    pub const fn stream(mut self) -> Self {
        self.streams = true;
        self
    }

    /// Allows forms with files, up to this many bytes in total. They are held in memory.
    pub const fn files(mut self, bytes_max: usize) -> Self {
        self.form_bytes_max = bytes_max;
        self.takes_files = true;
        self
    }
}
