//! A page: its path, whether users must sign in, its functions, and its templates.

use std::future::Future;
use std::pin::Pin;

use super::template::{Context, Template};
use super::visit::{PageError, PageResponse, Visit};
use crate::engine::api::{Operation, Spec};

pub type HandlerFuture<'v> = Pin<Box<dyn Future<Output = Result<PageResponse, PageError>> + Send + 'v>>;

/// A function that handles requests for a page.
pub type Handler = for<'v> fn(&'v Visit) -> HandlerFuture<'v>;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Auth {
    /// Everyone may open the page.
    Open,
    /// Only signed-in users may open the page. Other users sign in first, and then return to the page.
    Closed,
}

/// A template, and the sample data that tests render the template with.
#[derive(Clone, Copy)]
pub struct PageTemplate {
    pub template: Template,
    #[cfg(test)]
    pub samples: fn() -> Vec<serde_json::Value>,
}

/// Returns this context's template and samples.
pub const fn page_template<T: Context>() -> PageTemplate {
    PageTemplate {
        template: T::TEMPLATE,
        #[cfg(test)]
        samples: || T::samples().iter().map(super::template::context).collect(),
    }
}

struct Of<T>(std::marker::PhantomData<T>);

impl<T: Operation> Of<T> {
    const SPEC: &'static Spec = &T::SPEC;
}

pub const fn spec<T: Operation>() -> &'static Spec {
    Of::<T>::SPEC
}

/// A page, which is also the target of its forms.
#[derive(Clone, Copy)]
pub struct Page {
    pub path: &'static str,
    pub auth: Auth,
    /// The operations that the page requires. Only users with permission to call all of them see the page.
    pub calls: &'static [&'static Spec],
    /// The heading and the label of the page in the navigation. The first pages have no heading.
    pub menu: Option<(&'static str, &'static str)>,
    pub get: Option<Handler>,
    pub post: Option<Handler>,
    /// The templates that the page's functions render.
    pub templates: &'static [PageTemplate],
    /// The maximum total size in bytes of the files in a form, which are held in memory. If `None`, the page's forms have no files.
    pub files: Option<usize>,
    /// Whether the page's function streams the form to an operation. If so, only the form's token is read before the function runs.
    pub streams: bool,
}

/// Creates a page that everyone may open.
pub const fn open(path: &'static str) -> Page {
    Page { path, auth: Auth::Open, calls: &[], menu: None, get: None, post: None, templates: &[], files: None, streams: false }
}

/// Creates a page for signed-in users.
pub const fn closed(path: &'static str) -> Page {
    Page { auth: Auth::Closed, ..open(path) }
}
