//! What benches have in common: a service over a temporary folder, opened as the program opens it, and a key that may do everything
//! and has no limits.

use std::path::Path;
use std::sync::Arc;

use http::header::{AUTHORIZATION, CONTENT_TYPE};
use http::{HeaderMap, HeaderValue, Method};
use mailmill::app::{Folder, Opened};
use mailmill::base::clock::SystemClock;
use mailmill::engine::access::keys::{AccountLimits, ApiKey, PlanLimits, SendingLimits, Usage};
use mailmill::engine::access::token;
use mailmill::engine::api::call::Api;
use mailmill::engine::api::http_types::{Body, Incoming, Peer, ReplyBody, Service};
use mailmill::engine::settings;
use mailmill::vocab::environment::Environment;
use mailmill::vocab::ids::{AccountId, KeyId};
use mailmill::vocab::permissions::{Permission, PermissionSet};
use mailmill::vocab::rates::RouteGroup;
use mailmill::vocab::settings::Settings;
use serde_json::{Value, json};

/// A service and its key. The engine stands in the interface.
pub struct BenchApp {
    pub api: Arc<Api>,
    pub key: String,
}

impl BenchApp {
    /// A new one in `folder`, with the default settings but for what `change` does.
    pub fn open(folder: &Path, environment: Environment, change: impl FnOnce(&mut Settings)) -> Self {
        let mut settings = settings::load(settings::DEFAULT, None, &[], &[]).expect("the defaults are settings");
        change(&mut settings);
        let data = Folder::open(&folder.join("data")).expect("a new folder");
        let engine = Opened::open(data, settings, Arc::new(SystemClock)).expect("a new mill").engine;
        let (clock, random) = (engine.clock.clone(), engine.random.clone());
        let text = token::create(environment, random.as_ref()).expose().to_owned();
        let hash = token::parse(&text).expect("a key just made is well-formed").hash();
        let id = AccountId::make(clock.now(), random.as_ref());
        let sending = SendingLimits { recipients_per_second: None, daily: None, monthly: None };
        let plan = PlanLimits { requests: Some([u32::MAX; RouteGroup::ALL.len()]), sending };
        // The ring has to know the account, too: what may be sent is asked there.
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
            usage: Usage::default(),
        }));
        Self { api: Arc::new(Api(engine)), key: text }
    }

    /// `data` of the answer to a call that succeeds.
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

    /// `POST` of JSON.
    pub async fn post(&self, path: &str, body: Value) -> Value {
        self.call(Method::POST, path, "application/json", Body::Whole(body.to_string().into())).await
    }

    /// A new project's id.
    pub async fn project(&self) -> String {
        let made = self.post("/v1/projects/import", json!({ "urls": ["https://acme.example"], "name": "Bench" })).await;
        made["projectId"].as_str().expect("an id").to_owned()
    }
}
