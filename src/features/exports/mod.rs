//! Exports: finished emails as files. Users carry them to other platforms themselves: connecting an account is not supported yet.
//!
//! A file is created on request and kept as long as its link works. The same version in the same format always gives the same file.

mod files;
pub mod ops;
mod views;

use crate::vocab::permissions::Permission;

/// The permission to export: exports only show what reading emails shows.
const READER: Permission = Permission::EmailRead;

/// A format that emails can be exported in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    Html,
    Mjml,
    Png,
    Pdf,
}

impl Format {
    /// All formats.
    pub const ALL: [Self; 4] = [Self::Html, Self::Mjml, Self::Png, Self::Pdf];

    /// The wire name, which is also the extension of the file name.
    pub fn word(self) -> &'static str {
        match self {
            Self::Html => "html",
            Self::Mjml => "mjml",
            Self::Png => "png",
            Self::Pdf => "pdf",
        }
    }

    /// A description for users.
    pub fn about(self) -> &'static str {
        match self {
            Self::Html => "The email's HTML as it is sent, with merge fields unfilled.",
            Self::Mjml => "The MJML that the HTML was made from. Emails imported as HTML have none.",
            Self::Png => "An image of the whole email, 600 pixels wide, at twice the resolution.",
            Self::Pdf => "The email on one long page, with searchable text and working links.",
        }
    }

    fn content_type(self) -> &'static str {
        match self {
            Self::Html => "text/html; charset=utf-8",
            Self::Mjml => "text/plain; charset=utf-8",
            Self::Png => "image/png",
            Self::Pdf => "application/pdf",
        }
    }
}
