//! The environment variables that the client reads, and the folder for its profiles.

use std::path::PathBuf;

use crate::base::secret::Secret;

/// TABLE: the client's environment variables that have Mailmill's prefix. They are not settings.
pub const VARIABLES: [&str; 4] = ["MAILMILL_KEY", "MAILMILL_URL", "MAILMILL_PROFILE", "MAILMILL_PROJECT"];

/// The values of the variables. An empty variable counts as not set.
#[derive(Debug, Default)]
pub struct Environment {
    pub key: Option<Secret>,
    pub url: Option<String>,
    pub profile: Option<String>,
    pub project: Option<String>,
    /// The folder `mailmill` in the configuration folder that the XDG Base Directory Specification defines or, on macOS without
    /// `XDG_CONFIG_HOME`, in `~/Library/Application Support`.
    pub folder: Option<PathBuf>,
    /// The program that opens web pages.
    pub browser: Option<String>,
    /// Whether the terminal and NO_COLOR (no-color.org) allow colors.
    pub allows_color: bool,
    /// The width of tables that are not shown on a terminal.
    pub columns: Option<usize>,
}

impl Environment {
    /// Reads the environment variables. `get` returns the value of a variable.
    pub fn read(get: impl Fn(&str) -> Option<String>) -> Self {
        let get = |name: &str| get(name).filter(|value| !value.is_empty());
        let home = || get("HOME").map(PathBuf::from);
        let folder = match cfg!(target_os = "macos") {
            true => home().map(|home| home.join("Library/Application Support")),
            false => None,
        };
        let folder = get("XDG_CONFIG_HOME").map(PathBuf::from).filter(|folder| folder.is_absolute()).or(folder);
        let folder = folder.or_else(|| home().map(|home| home.join(".config")));
        Self {
            key: get("MAILMILL_KEY").map(Secret::new),
            url: get("MAILMILL_URL"),
            profile: get("MAILMILL_PROFILE"),
            project: get("MAILMILL_PROJECT"),
            folder: folder.map(|folder| folder.join("mailmill")),
            browser: get("BROWSER"),
            allows_color: get("NO_COLOR").is_none() && get("TERM").is_none_or(|name| name != "dumb"),
            columns: get("COLUMNS").and_then(|text| text.parse().ok()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_configuration_folder_and_colors_follow_the_conventions() {
        let read = |set: &'static [(&'static str, &'static str)]| {
            Environment::read(move |name| set.iter().find(|(known, _)| *known == name).map(|(_, value)| (*value).to_owned()))
        };
        let usual = read(&[("HOME", "/home/ada"), ("NO_COLOR", "")]);
        assert_eq!((usual.folder.as_deref(), usual.allows_color), (Some("/home/ada/.config/mailmill".as_ref()), true));
        let moved = read(&[("HOME", "/home/ada"), ("XDG_CONFIG_HOME", "/etc/ada"), ("NO_COLOR", "1")]);
        assert_eq!((moved.folder.as_deref(), moved.allows_color), (Some("/etc/ada/mailmill".as_ref()), false));
        // The XDG Base Directory Specification requires programs to ignore relative paths.
        assert_eq!(read(&[("HOME", "/h"), ("XDG_CONFIG_HOME", "x")]).folder.as_deref(), Some("/h/.config/mailmill".as_ref()));
        assert!(!read(&[("TERM", "dumb")]).allows_color && read(&[]).folder.is_none());
    }
}
