//! TABLE: the pages of the documentation, in navigation order.

pub struct Chapter {
    pub title: &'static str,
    pub pages: &'static [File],
}

pub struct File {
    /// The file's name without extension, which is also the page's name in the URL.
    pub name: &'static str,
    pub text: &'static str,
}

macro_rules! pages {
    ($($name:literal),* $(,)?) => {
        &[$(File { name: $name, text: include_str!(concat!("../../../assets/docs/", $name, ".md")) }),*]
    };
}

macro_rules! pictures {
    ($($name:literal),* $(,)?) => {
        &[$(($name, include_str!(concat!("../../../assets/docs/pictures/", $name)))),*]
    };
}

/// The name of the documentation's start page.
pub const INDEX: &str = "README";
/// The page about errors, to which `remedies.rs` adds the list of error codes.
pub const ERRORS: &str = "errors";
/// The title of the chapter with the API reference.
pub const API: &str = "API";

pub const CHAPTERS: &[Chapter] = &[
    Chapter { title: "Start", pages: pages!["README", "tutorial", "api-tutorial"] },
    Chapter {
        title: "Guides",
        pages: pages![
            "brands",
            "briefs-and-models",
            "editing",
            "checks",
            "audience",
            "sending-domains",
            "campaigns",
            "webhooks-guide",
            "revenue",
            "platforms",
            "agents",
            "mcp",
            "operating",
            "cluster",
            "growth",
            "upgrading",
            "troubleshooting",
        ],
    },
    Chapter { title: "Programs", pages: pages!["clients", "node", "python", "command-line"] },
    Chapter { title: "Concepts", pages: pages!["how-it-works", "test-and-live", "delivery"] },
    Chapter { title: API, pages: &[] },
    Chapter {
        title: "Reference",
        pages: pages![
            "api-conventions",
            "authentication",
            "errors",
            "rate-limits",
            "idempotency",
            "projects",
            "emails",
            "validation",
            "contacts",
            "scheduled-imports",
            "connections",
            "storefront",
            "sending",
            "webhooks",
            "incoming-webhooks",
            "mail-services",
            "attribution",
            "glossary",
        ],
    },
];

/// The pictures on the pages, each with its file name and its SVG source.
pub const PICTURES: &[(&str, &str)] = pictures!["email.svg", "environments.svg", "message.svg", "attribution.svg", "records.svg"];

/// The changelog, which is in the root folder of the source tree.
pub const CHANGELOG: File = File { name: "changelog", text: include_str!("../../../CHANGELOG.md") };
