//! Profiles: servers and their keys, in a file that only its owner can read.
//!
//! The keys are not in the system's keyring: servers, containers and CI machines often have no keyring, and a file with mode 0600 is
//! equally safe from other users.

use std::collections::BTreeMap;
use std::fs;
use std::io::Write;
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};

use clap::ArgMatches;
use serde::{Deserialize, Serialize};
use serde_json::json;
use url::Url;

use super::super::problem::{Exit, Problem};
use super::super::terminal::note;
use super::arguments::one;
use super::environment::Environment;
use super::output::Output;
use crate::base::secret::Secret;

const FILE: &str = "profiles.toml";
/// The name of a profile if the user does not choose a name.
pub const DEFAULT: &str = "default";
/// The maximum length of a profile's name in characters, because users type it on the command line.
const NAME_CHARACTERS_MAX: usize = 40;

/// A server, a key for the server, and the user's default project on the server.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Profile {
    pub url: String,
    pub key: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub project: Option<String>,
}

/// The file with all profiles.
#[derive(Debug, Default, Serialize, Deserialize)]
pub struct Profiles {
    /// The profile that commands use by default: the profile of the last login, or a profile that the user selected.
    pub default: Option<String>,
    #[serde(default)]
    pub profiles: BTreeMap<String, Profile>,
}

/// The server that a command uses, with the key and the default project.
#[derive(Debug)]
pub struct Target {
    pub url: Url,
    pub key: Option<Secret>,
    pub project: Option<String>,
}

impl Target {
    /// Returns the key. Fails if there is no key, or if the key contains a character that keys never contain.
    pub fn key(&self) -> Result<Secret, Problem> {
        let is_valid = |key: &Secret| !key.expose().is_empty() && key.expose().bytes().all(|byte| byte.is_ascii_graphic());
        if self.key.as_ref().is_some_and(|key| !is_valid(key)) {
            return Err(Problem::misused(
                "the key is empty or contains a space, a line break or another character that keys never contain; copy the key \
                 again",
            ));
        }
        self.key.clone().ok_or_else(|| {
            let url = &self.url;
            let message = format!("there is no key for {url}; sign in with `mailmill login {url}`, or set MAILMILL_KEY");
            Problem::new(Exit::Denied, message)
        })
    }
}

impl Profiles {
    /// Reads the file, applies `change` to the profiles, and replaces the file. A lock ensures that no changes by other processes are lost.
    pub fn change<T>(
        environment: &Environment,
        change: impl FnOnce(&mut Self) -> Result<T, Problem>,
    ) -> Result<(T, PathBuf), Problem> {
        let path = path(environment)
            .ok_or_else(|| Problem::failed("there is no folder for the profiles; set HOME or XDG_CONFIG_HOME"))?;
        let failed = |error: std::io::Error| {
            Problem::failed(format_args!(
                "cannot write {}: {error}; check that its folder is writable and that the disk has free space",
                path.display()
            ))
        };
        let folder = path.parent().expect("the file is in a folder");
        fs::DirBuilder::new().recursive(true).mode(0o700).create(folder).map_err(failed)?;
        let lock = fs::OpenOptions::new().create(true).truncate(false).write(true).mode(0o600).open(path.with_extension("lock"));
        let lock = lock.map_err(failed)?;
        lock.lock().map_err(failed)?;
        let mut profiles = Self::load(environment)?;
        let changed = change(&mut profiles)?;
        profiles.save(&path).map_err(failed)?;
        Ok((changed, path))
    }

    /// Reads the file. A missing file contains no profiles.
    pub fn load(environment: &Environment) -> Result<Self, Problem> {
        let Some(path) = path(environment) else { return Ok(Self::default()) };
        let text = match fs::read_to_string(&path) {
            Ok(text) => text,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Self::default()),
            Err(error) if error.kind() == std::io::ErrorKind::InvalidData => {
                return Err(Problem::failed(format_args!(
                    "the profiles in {} are invalid: the file is not UTF-8 text; correct or delete the file",
                    path.display()
                )));
            }
            Err(error) => {
                return Err(Problem::failed(format_args!(
                    "cannot read the profiles in {}: {error}; check the file's permissions",
                    path.display()
                )));
            }
        };
        check_modes(&path)?;
        toml::from_str(&text).map_err(|error| {
            let reason = error.message();
            Problem::failed(format_args!("the profiles in {} are invalid: {reason}; correct or delete the file", path.display()))
        })
    }

    /// Replaces the file. A crash leaves either the old or the new file, and other users can read neither.
    fn save(&self, path: &Path) -> std::io::Result<()> {
        let text = toml::to_string(self).map_err(std::io::Error::other)?;
        // The path may be a symbolic link into a folder with other configuration files. Keep the link, and replace the file to which it
        // points.
        let path = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
        let new = path.with_extension(format!("{}.new", std::process::id()));
        let written = fs::OpenOptions::new().create_new(true).write(true).mode(0o600).open(&new).and_then(|mut file| {
            file.write_all(text.as_bytes())?;
            file.sync_all()
        });
        written.and_then(|()| fs::rename(&new, &path)).inspect_err(|_| {
            let _ = fs::remove_file(&new);
        })
    }

    /// Returns the server, key and project that a command with these options uses. Options override variables, and variables override the
    /// profile.
    pub fn target(&self, named: Option<String>, server: Option<String>, environment: &Environment) -> Result<Target, Problem> {
        let wanted = named.as_ref().or(environment.profile.as_ref());
        let profile = match wanted.or(self.default.as_ref()) {
            Some(name) => Some(self.find(name)?),
            None => None,
        };
        // A key belongs to one server. If the option or the variable names a server other than the profile's, the profile's key is not sent
        // to it.
        let own = server.or_else(|| if named.is_some() { None } else { environment.url.clone() });
        let url = own.clone().or_else(|| profile.map(|profile| profile.url.clone()));
        let url = url.ok_or_else(|| {
            let message = match self.profiles.is_empty() {
                true => "no server is set; sign in with `mailmill login URL`, or set MAILMILL_URL and MAILMILL_KEY",
                false => "no profile is selected; choose one with `mailmill profiles use NAME` or --profile",
            };
            Problem::new(Exit::Denied, message)
        })?;
        let url = server_url(&url)?;
        let profile = profile.filter(|profile| own.is_none() || server_url(&profile.url).is_ok_and(|other| other == url));
        let key = if named.is_some() { None } else { environment.key.clone() };
        // If the user names a profile, the profile's project takes precedence over the variable's, which may belong to a different server.
        let (own, variable) = (profile.and_then(|profile| profile.project.clone()), environment.project.clone());
        Ok(Target {
            url,
            key: key.or_else(|| profile.map(|profile| Secret::new(profile.key.clone()))),
            project: if named.is_some() { own.or(variable) } else { variable.or(own) },
        })
    }

    /// Returns the profile with this name. Fails if there is none.
    pub fn find(&self, name: &str) -> Result<&Profile, Problem> {
        self.profiles.get(name).ok_or_else(|| unknown(name))
    }
}

fn unknown(name: &str) -> Problem {
    Problem::misused(format_args!("there is no profile \"{name}\"; run `mailmill profiles` to see the profiles"))
}

fn path(environment: &Environment) -> Option<PathBuf> {
    environment.folder.as_ref().map(|folder| folder.join(FILE))
}

/// Fails if other users can read the file with the keys, or can replace it with a file that names a different server.
fn check_modes(path: &Path) -> Result<(), Problem> {
    let mode = |path: &Path| fs::metadata(path).map_or(0, |found| found.permissions().mode());
    if mode(path) & 0o077 != 0 {
        let path = path.display();
        return Err(Problem::failed(format_args!("other users have access to the keys in {path}; run `chmod 600 {path}`")));
    }
    match path.parent() {
        Some(folder) if mode(folder) & 0o022 != 0 => {
            let folder = folder.display();
            Err(Problem::failed(format_args!("other users can replace the files in {folder}; run `chmod 700 {folder}`")))
        }
        _ => Ok(()),
    }
}

/// Parses the address of a server. The scheme is `https` if the address has none. Removes the query and a final `/v1`.
pub fn server_url(text: &str) -> Result<Url, Problem> {
    let with_scheme = if text.contains("://") { text.to_owned() } else { format!("https://{text}") };
    let url: Option<Url> = with_scheme.parse().ok();
    let url = url.filter(|url| matches!(url.scheme(), "http" | "https") && url.has_host());
    let mut url = url.ok_or_else(|| {
        Problem::misused(format_args!("\"{text}\" is not the URL of a server; use a URL like https://mail.example.com"))
    })?;
    if !url.username().is_empty() || url.password().is_some() {
        return Err(Problem::misused("remove the user name and password from the server's URL; sign in with `mailmill login`"));
    }
    url.set_query(None);
    url.set_fragment(None);
    // `MAILMILL_URL` can end with the API's path, because the SDKs also read this variable.
    let path = url.path().trim_end_matches('/').trim_end_matches("/v1").to_owned();
    url.set_path(&path);
    Ok(url)
}

/// Checks the name of a new profile.
pub fn check_name(name: &str) -> Result<(), Problem> {
    let is_valid = |character: char| character.is_ascii_alphanumeric() || matches!(character, '-' | '_' | '.');
    match (1..=NAME_CHARACTERS_MAX).contains(&name.len()) && name.chars().all(is_valid) {
        true => Ok(()),
        false => Err(Problem::misused(format_args!(
            "\"{name}\" is not a valid profile name; use 1 to {NAME_CHARACTERS_MAX} ASCII letters, digits, hyphens, underscores \
             and dots"
        ))),
    }
}

pub fn environment_of(key: &str) -> &'static str {
    if key.starts_with("sk_live_") { "live" } else { "test" }
}

/// Runs `mailmill profiles`: lists the profiles, or makes a profile the default.
pub fn manage(matches: &ArgMatches, environment: &Environment, output: &Output) -> Result<u8, Problem> {
    match matches.subcommand() {
        Some(("use", matches)) => {
            let name = one(matches, "name").unwrap_or_default();
            Profiles::change(environment, |profiles| {
                let profile = profiles.profiles.get_mut(&name).ok_or_else(|| unknown(&name))?;
                if let Some(project) = one(matches, "project") {
                    profile.project = Some(project).filter(|project| !project.is_empty());
                }
                profiles.default = Some(name.clone());
                Ok(())
            })?;
            if output.notes {
                note(&format!("Commands now use the profile {name}."));
            }
        }
        _ => {
            let profiles = Profiles::load(environment)?;
            let rows = profiles.profiles.iter().map(|(name, profile)| {
                json!({
                    "name": name,
                    "url": profile.url,
                    "environment": environment_of(&profile.key),
                    "project": profile.project,
                    "default": profiles.default.as_ref() == Some(name),
                })
            });
            output.data(&rows.collect());
            if output.notes && profiles.profiles.is_empty() {
                note("`mailmill login URL` creates a profile.");
            }
        }
    }
    Ok(0)
}

/// Runs `mailmill logout`: removes a profile, including its key.
pub fn remove(matches: &ArgMatches, environment: &Environment, output: &Output) -> Result<u8, Problem> {
    let ((name, profile, needs_choice), _) = Profiles::change(environment, |profiles| {
        let name = one(matches, "profile").or_else(|| environment.profile.clone()).or_else(|| profiles.default.clone());
        let name = name.ok_or_else(|| match profiles.profiles.is_empty() {
            true => Problem::misused("there is no profile to remove; `mailmill login URL` creates one"),
            false => Problem::misused("no profile is selected; use --profile NAME to choose the profile to remove"),
        })?;
        let profile = profiles.profiles.remove(&name).ok_or_else(|| unknown(&name))?;
        // Do not make another profile the default, because a command that sends must never silently use a different server.
        profiles.default.take_if(|default| *default == name);
        Ok((name, profile, profiles.default.is_none() && !profiles.profiles.is_empty()))
    })?;
    if output.notes {
        let choice = if needs_choice { " Choose another profile with `mailmill profiles use NAME`." } else { "" };
        note(&format!(
            "Removed the profile {name} and its key from this machine. The key still works. To revoke it, open {} and go to API keys.{choice}",
            profile.url.trim_end_matches('/')
        ));
    }
    Ok(0)
}

#[cfg(test)]
mod tests {
    use clap::Command;

    use super::super::commands;
    use super::*;

    fn environment(folder: &Path) -> Environment {
        Environment { folder: Some(folder.join("mailmill")), ..Environment::default() }
    }

    fn matches(line: &[&str]) -> ArgMatches {
        Command::new("mailmill").args(commands::general()).no_binary_name(true).get_matches_from(line)
    }

    fn profiles() -> Profiles {
        let profile = |url: &str, key: &str| Profile { url: url.into(), key: key.into(), project: Some("leaf".into()) };
        let named = [("a", profile("https://a.example", "sk_live_a")), ("b", profile("https://b.example/", "sk_test_b"))];
        let profiles = named.into_iter().map(|(name, profile)| (name.to_owned(), profile)).collect();
        Profiles { default: Some("a".into()), profiles }
    }

    fn target_of(profiles: &Profiles, line: &[&str], environment: &Environment) -> Result<Target, Problem> {
        let found = matches(line);
        profiles.target(one(&found, "profile"), one(&found, "server"), environment)
    }

    #[test]
    fn the_file_is_only_for_its_owner() {
        let folder = tempfile::tempdir().expect("a temporary folder can be created");
        let environment = environment(folder.path());
        assert!(Profiles::load(&environment).expect("there is no file yet").profiles.is_empty());
        let stored = |other: &mut Profiles| {
            *other = profiles();
            Ok(())
        };
        let (_, path) = Profiles::change(&environment, stored).expect("the file can be written");
        let mode = |path: &Path| fs::metadata(path).expect("it exists").permissions().mode() & 0o777;
        assert_eq!((mode(&path), mode(path.parent().expect("a folder"))), (0o600, 0o700));
        let loaded = Profiles::load(&environment).expect("the file is valid");
        assert_eq!((loaded.default.as_deref(), &loaded.profiles), (Some("a"), &profiles().profiles));
        fs::set_permissions(&path, fs::Permissions::from_mode(0o644)).expect("our own file");
        let refused = Profiles::load(&environment).expect_err("others can read the file").to_string();
        assert!(refused.contains("chmod 600"), "{refused}");
        fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).expect("our own file");
        let parent = path.parent().expect("a folder");
        fs::set_permissions(parent, fs::Permissions::from_mode(0o777)).expect("our own folder");
        let refused = Profiles::load(&environment).expect_err("others can replace the file").to_string();
        assert!(refused.contains("chmod 700"), "{refused}");
    }

    #[test]
    fn changes_at_the_same_time_are_all_kept_and_a_link_stays_a_link() {
        let folder = tempfile::tempdir().expect("a temporary folder can be created");
        let environment = environment(folder.path());
        let place = environment.folder.clone().expect("it is set");
        fs::DirBuilder::new().mode(0o700).create(&place).expect("a new folder");
        let target = folder.path().join("dotfile.toml");
        fs::OpenOptions::new().create_new(true).write(true).mode(0o600).open(&target).expect("a new file");
        std::os::unix::fs::symlink(&target, place.join(FILE)).expect("a new link");
        std::thread::scope(|scope| {
            for number in 0..12 {
                let environment = &environment;
                scope.spawn(move || {
                    let added = |profiles: &mut Profiles| {
                        let profile = Profile { url: "https://a.example".into(), key: "sk_test_a".into(), project: None };
                        profiles.profiles.insert(format!("p{number}"), profile);
                        Ok(())
                    };
                    Profiles::change(environment, added).expect("the file can be written");
                });
            }
        });
        assert_eq!(Profiles::load(&environment).expect("the file is valid").profiles.len(), 12);
        assert!(fs::symlink_metadata(place.join(FILE)).expect("it exists").is_symlink());
    }

    #[test]
    fn removing_the_default_profile_selects_no_other() {
        let folder = tempfile::tempdir().expect("a temporary folder can be created");
        let environment = environment(folder.path());
        let stored = |other: &mut Profiles| {
            *other = profiles();
            Ok(())
        };
        Profiles::change(&environment, stored).expect("the file can be written");
        let found = matches(&[]);
        remove(&found, &environment, &Output::new(&found, &environment)).expect("there is a default");
        let left = Profiles::load(&environment).expect("the file is valid");
        assert_eq!((left.default.as_deref(), left.profiles.len()), (None, 1));
        let refused = left.target(None, None, &environment).expect_err("no profile is selected").to_string();
        assert!(refused.contains("profiles use"), "{refused}");
    }

    #[test]
    fn options_override_variables_and_variables_override_the_profile() {
        let (profiles, mut environment) = (profiles(), Environment::default());
        let target = |line: &[&str], environment: &Environment| {
            let target = target_of(&profiles, line, environment).expect("there is a server");
            (target.url.to_string(), target.key.map(|key| key.expose().clone()), target.project)
        };
        let with = |url: &str, key: &str| (url.to_owned(), Some(key.to_owned()), Some("leaf".to_owned()));
        assert_eq!(target(&[], &environment), with("https://a.example/", "sk_live_a"));
        assert_eq!(target(&["--profile", "b"], &environment), with("https://b.example/", "sk_test_b"));
        environment.profile = Some("b".into());
        environment.project = Some("other".into());
        assert_eq!(target(&[], &environment).2.as_deref(), Some("other"));
        assert_eq!(target(&["--profile", "a"], &environment).2.as_deref(), Some("leaf"));
        environment.key = Some(Secret::new("sk_test_env".into()));
        assert_eq!(target(&[], &environment).1.as_deref(), Some("sk_test_env"));
        assert_eq!(target(&["--profile", "a"], &environment).1.as_deref(), Some("sk_live_a"));
    }

    #[test]
    fn the_key_of_a_profile_is_not_sent_to_another_server() {
        let target = |line: &[&str]| target_of(&profiles(), line, &Environment::default()).expect("there is a server");
        assert!(target(&["--server", "https://evil.example"]).key.is_none());
        assert!(target(&["--server", "a.example"]).key.is_some());
        let environment = Environment { url: Some("http://evil.example".into()), ..Environment::default() };
        let target = target_of(&profiles(), &[], &environment).expect("there is a server");
        assert!(target.key.is_none());
    }

    #[test]
    fn wrong_names_and_addresses_are_refused_with_a_remedy() {
        let missing = target_of(&Profiles::default(), &[], &Environment::default()).expect_err("there is no server");
        assert!(missing.code() == 3 && missing.to_string().contains("mailmill login"), "{missing}");
        let unknown = target_of(&profiles(), &["--profile", "c"], &Environment::default()).expect_err("there is no c");
        assert!(unknown.to_string().contains("mailmill profiles"), "{unknown}");
        for text in ["", "ftp://a.example", "https://", "https://u:p@a.example"] {
            assert!(server_url(text).is_err(), "{text}");
        }
        for text in ["mail.example.com:8443", "https://mail.example.com:8443/v1/"] {
            assert_eq!(server_url(text).expect("it is an address").as_str(), "https://mail.example.com:8443/");
        }
        assert!(check_name("work-1").is_ok() && check_name("").is_err() && check_name("a b").is_err());
    }
}
