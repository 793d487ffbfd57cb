//! The declaration of an operation: constant data that routes, checks, documents, commands and tests are derived from.

use crate::vocab::codes::Code;
use crate::vocab::permissions::Permission;
use crate::vocab::rates::RouteGroup;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Verb {
    Get,
    Post,
    Put,
    Patch,
    Delete,
}

impl Verb {
    /// All methods, in the order of the `Allow` header.
    pub const ALL: [Verb; 5] = [Verb::Get, Verb::Post, Verb::Put, Verb::Patch, Verb::Delete];

    pub const fn name(self) -> &'static str {
        match self {
            Verb::Get => "GET",
            Verb::Post => "POST",
            Verb::Put => "PUT",
            Verb::Patch => "PATCH",
            Verb::Delete => "DELETE",
        }
    }

    /// Returns whether the input of this method is in the body instead of the query.
    pub const fn has_body(self) -> bool {
        matches!(self, Verb::Post | Verb::Put | Verb::Patch)
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// Any caller, without a key.
    Public,
    /// A key or user with this permission.
    Needs(Permission),
    /// A key or user with one of these permissions.
    NeedsOne(&'static [Permission]),
    /// A signed-in user with any role. The operation belongs to the account rather than to one environment.
    Person,
    /// A signed-in user whose role may manage the account. The operation belongs to the account rather than to one environment.
    Manager,
    /// The operator of the machine, through the administration socket or while the server is stopped. Network listeners do not route
    /// requests to such operations.
    Operator,
}

impl Access {
    /// Returns whether the operation applies to the account and its users. Such operations use the control store and reject API keys.
    pub const fn is_personal(self) -> bool {
        matches!(self, Access::Person | Access::Manager)
    }
}

pub const fn signed_in() -> Access {
    Access::Person
}

pub const fn manager() -> Access {
    Access::Manager
}

pub const fn needs(permission: Permission) -> Access {
    Access::Needs(permission)
}

pub const fn needs_one(permissions: &'static [Permission]) -> Access {
    Access::NeedsOne(permissions)
}

pub const fn public() -> Access {
    Access::Public
}

pub const fn operator() -> Access {
    Access::Operator
}

/// How the operation treats requests with an `Idempotency-Key`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Replay {
    Never,
    /// The first response to a request with an `Idempotency-Key` is stored; repeats of the request get the stored response.
    Keyed,
    /// A request with an `Idempotency-Key` is rejected with this message, because the operation makes retries safe in a different way.
    Refused(&'static str),
}

/// How much work a query may do, which determines where the query runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Weight {
    /// The query reads a few rows, so it runs on the current thread, which saves a thread switch.
    Light,
    /// The query can read many rows, so it runs on a thread that may block.
    Blocking,
}

/// The maximum body size of an operation; settings define the number of bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BodySize {
    /// One object: `limits.body_bytes_default`.
    Default,
    /// A list of objects: `limits.body_bytes_bulk`.
    Bulk,
    /// A file: `limits.upload_bytes_max`.
    Upload,
}

#[derive(Clone, Copy, Debug)]
pub struct Spec {
    /// The ID `noun.verb`: the operation is in the file `features/noun/ops/verb.rs`.
    pub id: &'static str,
    pub verb: Verb,
    pub path: &'static str,
    /// Alternative paths of the operation.
    pub aliases: &'static [&'static str],
    pub access: Access,
    /// A one-line summary, shown in lists of operations.
    pub summary: &'static str,
    /// What callers need to know beyond the types: rules, units, origins of values.
    pub about: &'static str,
    pub rate: RouteGroup,
    pub replay: Replay,
    /// Whether the response contains a secret. Such a response is encrypted when it is stored for repeated requests.
    pub answers_secret: bool,
    pub weight: Weight,
    /// Whether the operation accepts the token from `POST /v1/auth/login` in place of a key.
    pub takes_tokens: bool,
    /// Whether errors with status 400 use OAuth's format, with `error` and `error_description`, instead of the envelope.
    pub speaks_oauth: bool,
    /// The error codes that the operation itself can return, in addition to those of the pipeline.
    pub fails: &'static [Code],
    pub body: BodySize,
    /// Whether every node of a cluster runs the operation itself instead of forwarding it to the leader. Queries always run on the node
    /// that receives them.
    pub on_any_node: bool,
    /// The name in clients, if it differs from the ID. See [`Spec::client_name`].
    client: Option<&'static str>,
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
            on_any_node: false,
            client: None,
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

    /// Lets each node of a cluster run the operation, because the operation only reads, or affects only the node itself.
    pub const fn on_any_node(mut self) -> Self {
        self.on_any_node = true;
        self
    }

    /// Sets the operation's name in the clients (CLI, SDKs, MCP server) if it differs from the ID. The name uses the nouns that users know,
    /// in the form `resource.method` or `resource.resource.method`.
    pub const fn client(mut self, name: &'static str) -> Self {
        self.client = Some(name);
        self
    }

    /// Returns the operation's name in the command-line client, the SDKs and the MCP server, such as `projects.images.list`; `None` unless
    /// the operation requires a permission.
    pub fn client_name(&self) -> Option<&'static str> {
        matches!(self.access, Access::Needs(_) | Access::NeedsOne(_)).then(|| self.client.unwrap_or(self.id))
    }

    /// Returns the name of the feature that the operation belongs to.
    pub fn noun(&self) -> &'static str {
        self.id.split_once('.').map_or(self.id, |(noun, _)| noun)
    }

    pub fn path_names(&self) -> impl Iterator<Item = &'static str> {
        self.path.split('/').filter_map(|part| part.strip_prefix('{')?.strip_suffix('}'))
    }

    /// Returns the error codes that the operation declares, and the error codes of the pipeline.
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
