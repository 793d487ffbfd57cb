//! Exports: finished emails as files. Into other platforms they are carried by people: no account of one can be connected yet.
//!
//! A file is made when it is asked for and kept as long as its link works. The same version in the same format is the same file,
//! however often it is asked for.

mod files;
pub mod ops;
mod views;

use crate::vocab::permissions::Permission;

/// What lets a key export: exports only show what reading emails shows.
const READER: Permission = Permission::EmailRead;

/// What an email can be exported as.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    Html,
    Mjml,
    Png,
    Pdf,
}

impl Format {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::Html, Self::Mjml, Self::Png, Self::Pdf];

    /// The word on the wire, which is also the ending of the file's name.
    pub fn word(self) -> &'static str {
        match self {
            Self::Html => "html",
            Self::Mjml => "mjml",
            Self::Png => "png",
            Self::Pdf => "pdf",
        }
    }

    /// What one gets, for people.
    pub fn about(self) -> &'static str {
        match self {
            Self::Html => "The email's HTML as it is sent, with merge fields unfilled.",
            Self::Mjml => "The MJML that the HTML was made from. Emails that were handed in as HTML have none.",
            Self::Png => "A picture of the whole email, 600 pixels wide, at twice the resolution.",
            Self::Pdf => "The email on one long page, with text that can be searched and links that work.",
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
