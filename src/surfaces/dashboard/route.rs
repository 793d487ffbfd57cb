//! What a page is: where it stands, who may see it, and the functions that draw it and do what its forms ask.

use std::future::Future;
use std::pin::Pin;

use super::visit::{Outcome, PageError, Visit};
use crate::vocab::limits;

/// What a page's function comes to.
pub type HandlerFuture<'v> = Pin<Box<dyn Future<Output = Result<Outcome, PageError>> + Send + 'v>>;

/// A page's function.
pub type Handler = for<'v> fn(&'v Visit) -> HandlerFuture<'v>;

/// Who may see a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Auth {
    /// Anybody.
    Open,
    /// Who is signed in; others are sent to sign in first and come back.
    Closed,
}

/// A page, or what one of its forms sends to.
pub struct Route {
    pub path: &'static str,
    pub auth: Auth,
    pub get: Option<Handler>,
    pub post: Option<Handler>,
    /// How large a form may be.
    pub form_bytes_max: usize,
    /// Whether its form may carry files.
    pub takes_files: bool,
    /// Whether its form is not read at all but for its token: what follows is there for an operation that reads it as it arrives.
    pub streams: bool,
}

/// A page for anybody.
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

/// A page for those who are signed in.
pub const fn closed(path: &'static str) -> Route {
    Route { auth: Auth::Closed, ..open(path) }
}

impl Route {
    /// With what draws it.
    pub const fn get(mut self, run: Handler) -> Self {
        self.get = Some(run);
        self
    }

    /// With what does what its forms ask.
    pub const fn post(mut self, run: Handler) -> Self {
        self.post = Some(run);
        self
    }

    /// With a form whose token comes first and whose rest, a file of any size, an operation takes as it arrives.
    pub const fn stream(mut self) -> Self {
        self.streams = true;
        self
    }

    /// With forms that carry files, together of at most so many bytes. They are held in memory.
    pub const fn files(mut self, bytes_max: usize) -> Self {
        self.form_bytes_max = bytes_max;
        self.takes_files = true;
        self
    }
}
