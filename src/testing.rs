//! The app for unit tests: the engine on temporary files, with a clock that only the test advances, and a key with all permissions.
//!
//! Tests call operations through the pipeline that clients use, without sockets, and check statuses and bodies.

pub mod csv_host;
pub mod fake_model;
pub mod mail_sink;
pub mod name_server;
pub mod platforms;
pub mod ports;
// The tests of the shipped program use this PostgreSQL server, too.
#[allow(dead_code, reason = "each of the two users needs only a part of it")]
pub mod postgres;
pub mod site;
pub mod stores;

use std::sync::Arc;
use std::time::Duration;

use arc_swap::ArcSwap;
use futures_util::StreamExt;
use http::header::{AUTHORIZATION, CONTENT_DISPOSITION, CONTENT_TYPE};
use http::{HeaderMap, HeaderValue, Method, Uri};
use serde_json::{Value, json};

use crate::base::clock::{Clock, ManualClock, Timestamp};
use crate::base::random::{Random, SeededRandom};
use crate::engine::access::keys::{AccountLimits, ApiKey, PlanLimits, SendingLimits};
use crate::engine::access::links::Links;
use crate::engine::access::token;
use crate::engine::api::bodies::Bodies;
use crate::engine::api::call::Api;
use crate::engine::api::engine::Parts;
use crate::engine::api::http_types::{Body, Incoming, Peer, Reply, ReplyBody, Service};
use crate::engine::api::openapi;
use crate::engine::api::{Engine, EnvironmentData};
use crate::engine::hold::{self, Cause, Hold, OnHold};
use crate::engine::outbox;
use crate::engine::render::pixels::{self, Pixels, Workers};
use crate::engine::search::{self, Index};
use crate::engine::settings;
use crate::engine::store::seal::Seal;
use crate::engine::store::space::Space;
use crate::engine::store::{self, Options, ReadTx, Store};
use crate::features::projects;
use crate::operations::OPERATIONS;
use crate::vocab::environment::Environment;
use crate::vocab::ids::{AccountId, KeyId, ProjectId};
use crate::vocab::limits;
use crate::vocab::permissions::{Permission, PermissionSet};
use crate::vocab::rates::RouteGroup;
use crate::vocab::settings::Settings;
use crate::vocab::tables::DatabaseKind;
use crate::vocab::webhook_events::WebhookEvent;

/// The initial time of the clock: midnight UTC on 2026-01-01.
pub const START: Timestamp = Timestamp(1_767_225_600_000);

/// A running engine with one account, one project, and one key for the test environment.
pub struct TestApp {
    pub clock: Arc<ManualClock>,
    pub project: ProjectId,
    account: AccountId,
    engine: Arc<Engine>,
    api: Api,
    key: String,
    runtime: tokio::runtime::Runtime,
    stores: [Arc<Store>; 3],
    folder: tempfile::TempDir,
}

/// Returns image workers that run inside this process.
fn workers() -> Workers {
    Workers::new(pixels::Options { feature: Some(projects::run_site_task), ..pixels::Options::default() })
}

#[derive(Debug, PartialEq)]
pub struct TestResponse {
    pub status: u16,
    pub body: Value,
}

impl TestResponse {
    /// Returns the `data` of a successful response.
    #[track_caller]
    pub fn data(self) -> Value {
        assert!(self.status < 300, "{self:?}");
        self.body["data"].clone()
    }

    #[track_caller]
    pub fn refusal(&self) -> (u16, &str, &str) {
        assert!(self.status >= 400, "{self:?}");
        let text = |field: &str| self.body[field].as_str().unwrap_or_default();
        (self.status, text("code"), text("error"))
    }
}

impl TestApp {
    pub fn new() -> Self {
        Self::with(|_| {})
    }

    /// Creates an app with the settings for tests, modified by `change`.
    pub fn with(change: impl FnOnce(&mut Settings)) -> Self {
        Self::made(change, workers())
    }

    /// Creates an app whose images are processed by these workers.
    pub fn with_workers(workers: Workers) -> Self {
        Self::made(|_| {}, workers)
    }

    fn made(change: impl FnOnce(&mut Settings), workers: Workers) -> Self {
        let mut settings = settings::load(settings::DEFAULT, None, &[], &[]).expect("the default settings are valid");
        change(&mut settings);
        let folder = tempfile::tempdir().expect("a temporary folder can be created");
        let random: Arc<dyn Random> = Arc::new(SeededRandom::new(7));
        let account = AccountId::make(START, random.as_ref());
        let project = ProjectId::from_bytes([0; 12]);
        let clock = Arc::new(ManualClock::at(START));
        let mut app = Self::open((folder, &Space::unlimited()), Arc::new(settings), clock, random, (account, project), workers);
        app.keep_events();
        app.project = app.another_project();
        app
    }

    /// Restarts the app on the same files, as a new process would, and returns it.
    pub fn restarted(self) -> Self {
        self.restarted_on(&Space::unlimited())
    }

    /// Restarts the app on a disk with this free space, and returns it.
    pub fn restarted_on(self, space: &Arc<Space>) -> Self {
        let Self { clock, project, engine, api, account, stores, folder, runtime, .. } = self;
        let settings = engine.settings.clone();
        // This ends work that is still running, as the end of a process does.
        drop((runtime, api, engine));
        for store in stores {
            Arc::into_inner(store).expect("no other reference to the store exists").close();
        }
        Self::open((folder, space), settings, clock, Arc::new(SeededRandom::new(8)), (account, project), workers())
    }

    fn open(
        (folder, space): (tempfile::TempDir, &Arc<Space>),
        settings: Arc<Settings>,
        clock: Arc<ManualClock>,
        random: Arc<dyn Random>,
        (account, project): (AccountId, ProjectId),
        workers: Workers,
    ) -> Self {
        let store = |name: &str, database_kind| {
            let options = Options { database_kind, cache_bytes: 4 * 1024 * 1024 };
            let path = folder.path().join(name);
            let sources: (Arc<dyn Clock>, Arc<dyn Random>) = (clock.clone(), random.clone());
            Arc::new(Store::open_and(space.clone(), &path, &options, sources, None, |_| Ok(())).expect("the store can be opened"))
        };
        let data = |environment, name: &str| {
            let options = search::Options { writer_bytes: 30_000_000 };
            let search =
                Index::open(&folder.path().join(format!("{name}-search")), options).expect("the search index can be opened");
            Arc::new(EnvironmentData {
                environment,
                store: store(&format!("{name}.redb"), DatabaseKind::Environment),
                search: Arc::new(search),
                index_turn: Default::default(),
                visits: Default::default(),
            })
        };
        let (control, test, live) =
            (store("control.redb", DatabaseKind::Control), data(Environment::Test, "test"), data(Environment::Live, "live"));
        let stores = [control.clone(), test.store.clone(), live.store.clone()];
        let hold = hold::read(&control.read()).expect("the data can be read");
        let mut engine = Engine::new(Parts {
            settings,
            clock: clock.clone(),
            random: random.clone(),
            control,
            test,
            live,
            seal: Seal::from_key(&[7; 32]),
            hold: Hold::new(hold),
            backup: None,
            cluster: None,
            links: Links::new([7; 32]),
            pixels: Pixels::embedded(workers),
            openapi: || openapi::document(OPERATIONS, None).to_string().into(),
        });
        // In tests, a large body waits only briefly for free memory.
        engine.bodies = Bodies::new(limits::BODIES_BYTES_MAX, Duration::from_millis(100));
        let engine = Arc::new(engine);
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("the runtime can be created");
        let key = add_key(&engine, account, random.as_ref());
        let api = Api::new(engine.clone(), OPERATIONS);
        Self { clock, project, engine, api, account, key, runtime, stores, folder }
    }

    pub fn another_project(&self) -> ProjectId {
        // Each project needs its own website, because a website can be imported only once.
        let number = match self.get("/v1/projects?limit=1").data()["total"].as_u64() {
            Some(0) | None => String::new(),
            Some(number) => format!("/{number}"),
        };
        let made = self.post("/v1/projects/import", json!({ "urls": [format!("https://acme.example{number}")] })).data();
        let id = made["projectId"].as_str().and_then(ProjectId::parse);
        id.expect("an import returns the project's id")
    }

    /// Registers interest in all default events, as an inactive webhook would, so that the outbox keeps them.
    fn keep_events(&self) {
        let account = self.account;
        for environment in [Environment::Test, Environment::Live] {
            let kept = self.engine.data(environment).store.write_blocking(move |tx| {
                let kinds = WebhookEvent::ALL.into_iter().filter(|kind| !kind.is_opt_in());
                kinds.into_iter().try_for_each(|kind| outbox::add_interest(tx, account, kind, false, 1))
            });
            kept.expect("the store works").expect("the data can be written");
        }
    }

    /// Puts sending on hold, as on a copy of a data folder: work that was requested earlier waits.
    pub fn put_on_hold(&self) {
        let cause = Cause::Copied { sign: "the test copied it".into() };
        self.engine.hold.set(Some(OnHold { since: self.clock.now(), number: 1, cause }));
        for environment in Environment::ALL {
            let set = self.engine.data(environment).store.write_blocking(|tx| {
                hold::set_number(tx, 1);
                Ok::<_, store::Error>(())
            });
            set.expect("the store works").expect("the data can be written");
        }
    }

    pub fn account(&self) -> AccountId {
        self.account
    }

    /// Returns the engine, for work that no request starts.
    pub fn engine(&self) -> &Arc<Engine> {
        &self.engine
    }

    pub fn wait<T>(&self, future: impl Future<Output = T>) -> T {
        self.runtime.block_on(future)
    }

    /// Returns a read transaction on the newest commit of the test environment.
    pub fn read(&self) -> ReadTx {
        self.engine.data(Environment::Test).store.read()
    }

    pub fn get(&self, path: &str) -> TestResponse {
        self.call(Method::GET, path, None)
    }

    /// Sends a `GET` request with the project added to the query.
    pub fn get_in(&self, path: &str) -> TestResponse {
        self.get(&self.in_project(path))
    }

    pub fn post(&self, path: &str, body: Value) -> TestResponse {
        self.call(Method::POST, path, Some(body))
    }

    /// Sends a `POST` request with the project added to the body.
    pub fn post_in(&self, path: &str, body: Value) -> TestResponse {
        self.post(path, self.with_project(body))
    }

    /// Sends a `POST` request with an `Idempotency-Key`.
    pub fn post_keyed(&self, path: &str, key: &str, body: Value) -> TestResponse {
        let more = [("idempotency-key", key)];
        let reply = self.reply_with(Method::POST, path, "application/json", Body::Whole(body.to_string().into()), &more);
        let ReplyBody::Whole(bytes) = reply.body else { panic!("the response is a stream") };
        TestResponse { status: reply.status.as_u16(), body: serde_json::from_slice(&bytes).expect("responses are JSON") }
    }

    /// Sends a `POST` request and returns the reply with its headers.
    pub fn reply_to_post(&self, path: &str, body: &Value) -> Reply {
        self.reply(Method::POST, path, "application/json", Body::Whole(body.to_string().into()))
    }

    pub fn patch(&self, path: &str, body: Value) -> TestResponse {
        self.call(Method::PATCH, path, Some(body))
    }

    /// Sends a `PATCH` request with the project added to the body.
    pub fn patch_in(&self, path: &str, body: Value) -> TestResponse {
        self.call(Method::PATCH, path, Some(self.with_project(body)))
    }

    pub fn put(&self, path: &str, body: Value) -> TestResponse {
        self.call(Method::PUT, path, Some(body))
    }

    pub fn delete(&self, path: &str) -> TestResponse {
        self.call(Method::DELETE, path, None)
    }

    /// Sends a `DELETE` request with the project in the query.
    pub fn delete_in(&self, path: &str) -> TestResponse {
        self.call(Method::DELETE, &self.in_project(path), None)
    }

    /// Returns the store, index and other data of the key's environment.
    pub fn data(&self) -> &Arc<EnvironmentData> {
        self.engine.data(Environment::Test)
    }

    /// Sends a `POST` request with a multipart form of fields and one file.
    pub fn upload(&self, path: &str, fields: &[(&str, &str)], file: &[u8]) -> TestResponse {
        const BOUNDARY: &str = "mill";
        let part = |name: &str| format!("--{BOUNDARY}\r\nContent-Disposition: form-data; name=\"{name}\"");
        let mut form = Vec::new();
        for (name, value) in fields {
            form.extend_from_slice(format!("{}\r\n\r\n{value}\r\n", part(name)).as_bytes());
        }
        form.extend_from_slice(format!("{}; filename=\"people.csv\"\r\n\r\n", part("file")).as_bytes());
        form.extend_from_slice(file);
        form.extend_from_slice(format!("\r\n--{BOUNDARY}--\r\n").as_bytes());
        let content_type = format!("multipart/form-data; boundary={BOUNDARY}");
        self.send(Method::POST, path, &content_type, Body::Whole(form.into()))
    }

    /// Downloads a file. Returns the status, the `Content-Disposition` header and the bytes.
    pub fn download(&self, path: &str) -> (u16, String, Vec<u8>) {
        let reply = self.reply(Method::GET, path, "text/plain", Body::Empty);
        let disposition =
            reply.headers.get(CONTENT_DISPOSITION).map(|value| value.to_str().expect("the header value is ASCII").to_owned());
        let bytes = match reply.body {
            ReplyBody::Whole(bytes) => bytes.to_vec(),
            ReplyBody::Stream(chunks) => {
                let chunks: Vec<_> = self.runtime.block_on(chunks.collect());
                chunks.into_iter().flat_map(|chunk| chunk.expect("the data can be read")).collect()
            }
        };
        (reply.status.as_u16(), disposition.unwrap_or_default(), bytes)
    }

    /// Requests a public page without credentials, with these headers. Returns the status, headers and body of the response.
    pub fn visit(&self, method: Method, path: &str, headers: &[(&'static str, &str)], body: &str) -> (u16, HeaderMap, String) {
        let mut sent = HeaderMap::new();
        for (name, value) in headers {
            sent.insert(*name, HeaderValue::from_str(value).expect("the header value is ASCII"));
        }
        let uri: Uri = path.parse().expect("the path is a valid URI");
        let peer = Peer::Network { address: std::net::Ipv4Addr::LOCALHOST.into(), tls: true };
        let body = Body::Whole(body.to_owned().into());
        let reply = self.runtime.block_on(self.api.call(Incoming { method, uri, headers: sent, body, peer }));
        let ReplyBody::Whole(bytes) = reply.body else { panic!("the response is a stream") };
        (reply.status.as_u16(), reply.headers, String::from_utf8_lossy(&bytes).into_owned())
    }

    fn in_project(&self, path: &str) -> String {
        let mark = if path.contains('?') { '&' } else { '?' };
        format!("{path}{mark}projectId={}", self.project)
    }

    /// Returns the body with the project added.
    pub fn with_project(&self, mut body: Value) -> Value {
        body["projectId"] = json!(self.project);
        body
    }

    fn call(&self, method: Method, path: &str, body: Option<Value>) -> TestResponse {
        let body = body.map_or(Body::Empty, |body| Body::Whole(body.to_string().into()));
        self.send(method, path, "application/json", body)
    }

    fn send(&self, method: Method, path: &str, content_type: &str, body: Body) -> TestResponse {
        let reply = self.reply(method, path, content_type, body);
        let ReplyBody::Whole(bytes) = reply.body else { panic!("the response is a stream") };
        TestResponse { status: reply.status.as_u16(), body: serde_json::from_slice(&bytes).expect("responses are JSON") }
    }

    fn reply(&self, method: Method, path: &str, content_type: &str, body: Body) -> Reply {
        self.reply_with(method, path, content_type, body, &[])
    }

    fn reply_with(&self, method: Method, path: &str, content_type: &str, body: Body, more: &[(&'static str, &str)]) -> Reply {
        let mut headers = HeaderMap::new();
        for (name, value) in more {
            headers.insert(*name, HeaderValue::from_str(value).expect("the header value is ASCII"));
        }
        headers.insert(AUTHORIZATION, HeaderValue::from_str(&format!("Bearer {}", self.key)).expect("an API key is ASCII"));
        headers.insert(CONTENT_TYPE, HeaderValue::from_str(content_type).expect("the header value is ASCII"));
        let uri: Uri = path.parse().expect("the path is a valid URI");
        let peer = Peer::Operator;
        self.runtime.block_on(self.api.call(Incoming { method, uri, headers, body, peer }))
    }
}

/// Adds an API key with all permissions and a practically unlimited budget. Returns the key's text.
fn add_key(engine: &Engine, account: AccountId, random: &dyn Random) -> String {
    let text = token::create(Environment::Test, random).expose().to_owned();
    let hash = token::parse(&text).expect("a newly created key is well-formed").hash();
    let sending = SendingLimits { recipients_per_second: Some(1_000_000), daily: None, monthly: None };
    let plan = PlanLimits { requests: Some([u32::MAX; RouteGroup::ALL.len()]), sending };
    let account = engine.keys.ensure_account_limits(account, || {
        let (rate_limits, user_rate_limits) = Default::default();
        AccountLimits { id: account, is_installations: true, plan: ArcSwap::from_pointee(plan), rate_limits, user_rate_limits }
    });
    engine.keys.add(Arc::new(ApiKey {
        id: KeyId::make(START, random),
        account,
        environment: Environment::Test,
        permissions: PermissionSet::of(&Permission::ALL),
        hash,
        usage: Default::default(),
        last_writes: Default::default(),
    }));
    text
}
