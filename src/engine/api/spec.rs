//! An operation's declaration: plain constant data from which routes, checks, documents, commands and tests follow.

use crate::vocab::codes::Code;
use crate::vocab::permissions::Permission;
use crate::vocab::rates::RouteGroup;

/// The HTTP method of an operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Verb {
    Get,
    Post,
    Put,
    Patch,
    Delete,
}

impl Verb {
    /// All of them, in the order of the `Allow` header.
    pub const ALL: [Verb; 5] = [Verb::Get, Verb::Post, Verb::Put, Verb::Patch, Verb::Delete];

    /// The word on the wire.
    pub const fn name(self) -> &'static str {
        match self {
            Verb::Get => "GET",
            Verb::Post => "POST",
            Verb::Put => "PUT",
            Verb::Patch => "PATCH",
            Verb::Delete => "DELETE",
        }
    }

    /// Whether the input comes in a body (else in the query).
    pub const fn has_body(self) -> bool {
        matches!(self, Verb::Post | Verb::Put | Verb::Patch)
    }
}

/// Who may call an operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// Anybody, without a key.
    Public,
    /// A key with this permission.
    Needs(Permission),
    /// A key with one of these permissions.
    NeedsOne(&'static [Permission]),
    /// Somebody who is signed in, whatever their role. Works on the account, not on one of the two worlds.
    Person,
    /// Somebody who is signed in and whose role manages the account. The same.
    Manager,
    /// The operator of the machine, through the administration socket or with the server stopped. Not on the network at all.
    Operator,
}

impl Access {
    /// Whether it is about the account and the people in it: a matter of the control store, and not of keys.
    pub const fn is_personal(self) -> bool {
        matches!(self, Access::Person | Access::Manager)
    }
}

/// Somebody who is signed in.
pub const fn signed_in() -> Access {
    Access::Person
}

/// Somebody who manages the account.
pub const fn manager() -> Access {
    Access::Manager
}

/// A key with this permission.
pub const fn needs(permission: Permission) -> Access {
    Access::Needs(permission)
}

/// A key with one of these permissions.
pub const fn needs_one(permissions: &'static [Permission]) -> Access {
    Access::NeedsOne(permissions)
}

/// Anybody, without a key.
pub const fn public() -> Access {
    Access::Public
}

/// The operator of the machine.
pub const fn operator() -> Access {
    Access::Operator
}

/// Whether `Idempotency-Key` is honoured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Replay {
    Never,
    /// With the header, the first answer is kept and given again.
    Keyed,
    /// The header is refused, in these words: repeats are made harmless in another way.
    Refused(&'static str),
}

/// How much work a query may be; decides where it runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Weight {
    /// A few rows: runs where it is, which saves a hop between threads.
    Light,
    /// May walk many rows: runs on a thread that may be kept busy.
    Blocking,
}

/// How many bytes of body an operation takes; the numbers are settings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BodySize {
    /// One object: `limits.body_bytes_default`.
    Default,
    /// A list of objects: `limits.body_bytes_bulk`.
    Bulk,
    /// A file: `limits.upload_bytes_max`.
    Upload,
}

/// What is declared of an operation.
#[derive(Clone, Copy, Debug)]
pub struct Spec {
    /// `noun.verb`: the file is `features/noun/ops/verb.rs`.
    pub id: &'static str,
    pub verb: Verb,
    pub path: &'static str,
    /// Further paths that do the same.
    pub aliases: &'static [&'static str],
    pub access: Access,
    /// One line for lists.
    pub summary: &'static str,
    /// What a caller must know beyond the types: rules, units, source.
    pub about: &'static str,
    pub rate: RouteGroup,
    pub replay: Replay,
    /// Whether the answer shows a secret: then it is sealed where it is kept for repeats.
    pub answers_secret: bool,
    pub weight: Weight,
    /// Whether the token of `POST /v1/auth/login` is taken in place of a key.
    pub takes_tokens: bool,
    /// Whether a wrong request is answered as OAuth has it: 400 without our envelope, with `error` and `error_description`.
    pub speaks_oauth: bool,
    /// Codes it can fail with, beyond those of the pipeline.
    pub fails: &'static [Code],
    pub body: BodySize,
}

impl Spec {
    const fn new(id: &'static str, verb: Verb, path: &'static str, access: Access) -> Self {
        Self {
            id,
            verb,
            path,
            aliases: &[],
            access,
            summary: "",
            about: "",
            rate: RouteGroup::General,
            replay: Replay::Never,
            answers_secret: false,
            weight: Weight::Light,
            takes_tokens: access.is_personal(),
            speaks_oauth: false,
            fails: &[],
            body: BodySize::Default,
        }
    }

    pub const fn get(id: &'static str, path: &'static str, access: Access) -> Self {
        Self::new(id, Verb::Get, path, access)
    }

    pub const fn post(id: &'static str, path: &'static str, access: Access) -> Self {
        Self::new(id, Verb::Post, path, access)
    }

    pub const fn put(id: &'static str, path: &'static str, access: Access) -> Self {
        Self::new(id, Verb::Put, path, access)
    }

    pub const fn patch(id: &'static str, path: &'static str, access: Access) -> Self {
        Self::new(id, Verb::Patch, path, access)
    }

    pub const fn delete(id: &'static str, path: &'static str, access: Access) -> Self {
        Self::new(id, Verb::Delete, path, access)
    }

    pub const fn also_at(mut self, aliases: &'static [&'static str]) -> Self {
        self.aliases = aliases;
        self
    }

    pub const fn summary(mut self, summary: &'static str) -> Self {
        self.summary = summary;
        self
    }

    pub const fn about(mut self, about: &'static str) -> Self {
        self.about = about;
        self
    }

    pub const fn rate(mut self, rate: RouteGroup) -> Self {
        self.rate = rate;
        self
    }

    pub const fn replay(mut self, replay: Replay) -> Self {
        self.replay = replay;
        self
    }

    pub const fn answers_secret(mut self) -> Self {
        self.answers_secret = true;
        self
    }

    pub const fn blocking(mut self) -> Self {
        self.weight = Weight::Blocking;
        self
    }

    pub const fn speaks_oauth(mut self) -> Self {
        self.speaks_oauth = true;
        self
    }

    pub const fn takes_tokens(mut self) -> Self {
        self.takes_tokens = true;
        self
    }

    pub const fn fails(mut self, codes: &'static [Code]) -> Self {
        self.fails = codes;
        self
    }

    pub const fn body(mut self, size: BodySize) -> Self {
        self.body = size;
        self
    }

    /// The feature it belongs to.
    pub fn noun(&self) -> &'static str {
        self.id.split_once('.').map_or(self.id, |(noun, _)| noun)
    }

    /// The names in braces in the path.
    pub fn path_names(&self) -> impl Iterator<Item = &'static str> {
        self.path.split('/').filter_map(|part| part.strip_prefix('{')?.strip_suffix('}'))
    }

    /// Every code a caller may see: declared ones and those that the pipeline itself answers with.
    pub fn codes(&self) -> Vec<Code> {
        let mut codes = vec![Code::InvalidRequest];
        if self.verb.has_body() {
            codes.extend([Code::MalformedJson, Code::PayloadTooLarge, Code::UnsupportedMediaType, Code::RequestTimeout]);
        }
        if matches!(self.access, Access::Needs(_) | Access::NeedsOne(_)) {
            codes.extend([Code::InvalidApiKey, Code::InsufficientPermissions, Code::RateLimitExceeded, Code::LimiterUnavailable]);
        }
        if self.access.is_personal() {
            codes.extend([Code::NotSignedIn, Code::InsufficientPermissions, Code::RateLimitExceeded, Code::LimiterUnavailable]);
        }
        if self.replay == Replay::Keyed {
            codes.extend([
                Code::IdempotencyKeyInvalid,
                Code::IdempotencyConflict,
                Code::IdempotencyInProgress,
                Code::AnswerErased,
            ]);
        }
        if self.verb != Verb::Get {
            codes.push(Code::StorageFull);
        }
        codes.extend([Code::MethodNotAllowed, Code::UriTooLong, Code::HeadersTooLarge, Code::Internal, Code::Unavailable]);
        codes.extend(self.fails.iter().filter(|code| !codes.contains(code)).copied().collect::<Vec<_>>());
        codes
    }
}
