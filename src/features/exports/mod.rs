//! Exports finished emails as files, optionally in other platforms' merge languages, and into connected accounts on these platforms.
//!
//! A file is created on request and kept until its link expires. Exporting the same version in the same format again returns the same file,
//! unless its HTML has changed, for example because the brand's postal address changed. Exporting an email into the same account again
//! updates the object that the first export created, unless that object was deleted or sent.

mod accounts;
mod files;
pub mod ops;
mod regions;
#[cfg(test)]
mod tests;
mod translate;
pub mod views;

use crate::features::connections::templates::TemplateKind;
use crate::vocab::permissions::Permission;

/// The permission that each export needs. An export into a connected account also needs [`Permission::EmailWrite`].
const READER: Permission = Permission::EmailRead;

/// A file format for exported emails.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    Html,
    Mjml,
    Png,
    Pdf,
}

impl Format {
    /// All export formats.
    pub const ALL: [Self; 4] = [Self::Html, Self::Mjml, Self::Png, Self::Pdf];

    /// Returns the format's name in the API, which is also the file extension.
    pub fn word(self) -> &'static str {
        match self {
            Self::Html => "html",
            Self::Mjml => "mjml",
            Self::Png => "png",
            Self::Pdf => "pdf",
        }
    }

    /// Returns the format's description for users.
    pub fn about(self) -> &'static str {
        match self {
            Self::Html => "The email's HTML, with merge fields that are not filled in.",
            Self::Mjml => "The MJML source of the HTML. Emails imported as HTML have no MJML.",
            Self::Png => "An image of the whole email, 600 CSS pixels wide, with two image pixels per CSS pixel.",
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

/// The output of an export: a file in a format, or HTML in the merge language of a platform.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Target {
    Format(Format),
    Platform(TemplateKind),
}

impl Target {
    /// Returns the target's name in the API.
    fn word(self) -> &'static str {
        match self {
            Self::Format(format) => format.word(),
            Self::Platform(kind) => kind.provider().word(),
        }
    }

    /// Returns the format of the exported files.
    fn format(self) -> Format {
        match self {
            Self::Format(format) => format,
            Self::Platform(_) => Format::Html,
        }
    }
}
