//! Shared code of the benches: a service on a temporary folder, opened in the same way as the program opens it, and a key with all
//! permissions and no limits.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use http::header::{AUTHORIZATION, CONTENT_TYPE};
use http::{HeaderMap, HeaderValue, Method};
use mailmill::app::{Folder, OpenFolder};
use mailmill::base::clock::SystemClock;
use mailmill::engine::access::keys::{AccountLimits, ApiKey, PlanLimits, SendingLimits};
use mailmill::engine::access::token;
use mailmill::engine::api::call::Api;
use mailmill::engine::api::http_types::{Body, Incoming, Peer, ReplyBody, Service};
use mailmill::engine::settings;
use mailmill::operations::OPERATIONS;
use mailmill::vocab::environment::Environment;
use mailmill::vocab::ids::{AccountId, KeyId};
use mailmill::vocab::permissions::{Permission, PermissionSet};
use mailmill::vocab::rates::RouteGroup;
use mailmill::vocab::settings::Settings;
use serde_json::{Value, json};

/// A service and its key.
pub struct BenchApp {
    pub api: Arc<Api>,
    pub key: String,
}

impl BenchApp {
    /// Opens a new service in `folder`, with the default settings changed by `change`.
    pub fn open(folder: &Path, environment: Environment, change: impl FnOnce(&mut Settings)) -> Self {
        let mut settings = settings::load(settings::DEFAULT, None, &[], &[]).expect("the defaults are settings");
        change(&mut settings);
        let data = Folder::open(&folder.join("data")).expect("a new folder");
        // A worker that ran this bench would start the next worker, and so on.
        let data = data.with_worker_program(env!("CARGO_BIN_EXE_mailmill").into());
        let engine = OpenFolder::open(data, settings, Arc::new(SystemClock)).expect("a new mill").engine;
        let (clock, random) = (engine.clock.clone(), engine.random.clone());
        let text = token::create(environment, random.as_ref()).expose().to_owned();
        let hash = token::parse(&text).expect("a key just made is well-formed").hash();
        let id = AccountId::make(clock.now(), random.as_ref());
        let sending = SendingLimits { recipients_per_second: None, daily: None, monthly: None };
        let plan = PlanLimits { requests: Some([u32::MAX; RouteGroup::ALL.len()]), sending };
        // The key cache needs the account too, because sending reads the account's limits there.
        let (rate_limits, user_rate_limits) = Default::default();
        let account = engine.keys.ensure_account_limits(id, || AccountLimits {
            id,
            is_installations: true,
            plan: Arc::new(plan).into(),
            rate_limits,
            user_rate_limits,
        });
        engine.keys.add(Arc::new(ApiKey {
            id: KeyId::make(clock.now(), random.as_ref()),
            account,
            environment,
            permissions: PermissionSet::of(&Permission::ALL),
            hash,
            usage: Arc::default(),
            last_writes: Default::default(),
        }));
        Self { api: Arc::new(Api::new(engine, OPERATIONS)), key: text }
    }

    /// Returns the `data` of a successful call.
    pub async fn call(&self, method: Method, path: &str, content_type: &str, body: Body) -> Value {
        let mut headers = HeaderMap::new();
        headers.insert(AUTHORIZATION, HeaderValue::from_str(&format!("Bearer {}", self.key)).expect("ASCII"));
        headers.insert(CONTENT_TYPE, HeaderValue::from_str(content_type).expect("ASCII"));
        let uri = path.parse().expect("a path");
        let reply = self.api.call(Incoming { method, uri, headers, body, peer: Peer::Operator }).await;
        let ReplyBody::Whole(bytes) = reply.body else { panic!("the answer is a stream") };
        let answer: Value = serde_json::from_slice(&bytes).expect("answers are JSON");
        assert!(reply.status.is_success(), "{answer}");
        answer["data"].clone()
    }

    /// Sends a `POST` with JSON.
    pub async fn post(&self, path: &str, body: Value) -> Value {
        self.call(Method::POST, path, "application/json", Body::Whole(body.to_string().into())).await
    }

    /// Creates a project; returns its ID.
    pub async fn project(&self) -> String {
        // Each project has its own site, because a site can be imported only once.
        static SITES: AtomicU64 = AtomicU64::new(0);
        let site = format!("https://acme.example/{}", SITES.fetch_add(1, Ordering::Relaxed));
        let made = self.post("/v1/projects/import", json!({ "urls": [site], "name": "Bench" })).await;
        made["projectId"].as_str().expect("an id").to_owned()
    }
}
