//! A client that checks every response against the operation's declaration.

use std::net::SocketAddr;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use bytes::Bytes;
use http::{HeaderMap, Method, Request, StatusCode};
use http_body_util::{BodyExt, Full};
use hyper_util::client::legacy;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::TokioExecutor;
use mailmill::engine::api::Entry;
use serde_json::{Map, Value, json};

use super::{contract, operation};

/// The maximum duration of a call.
const PATIENCE: Duration = Duration::from_secs(300);

/// A client with or without a key.
#[derive(Clone)]
pub struct Client {
    address: SocketAddr,
    key: Option<String>,
    http: legacy::Client<HttpConnector, Full<Bytes>>,
}

/// A complete reply.
#[derive(Clone, Debug)]
pub struct Reply {
    pub status: u16,
    pub headers: HeaderMap,
    pub bytes: Bytes,
}

/// A request before it is sent.
#[derive(Clone)]
pub struct Call {
    pub entry: &'static Entry,
    pub method: Method,
    pub target: String,
    pub headers: Vec<(&'static str, String)>,
    pub body: Option<Bytes>,
}

impl Client {
    pub fn new(address: SocketAddr, key: Option<String>) -> Self {
        Self { address, key, http: legacy::Client::builder(TokioExecutor::new()).build_http() }
    }

    /// Returns the client's key.
    pub fn key(&self) -> Option<&str> {
        self.key.as_deref()
    }

    /// Returns the same client for a different address of the server.
    pub fn at(&self, address: SocketAddr) -> Self {
        Self::new(address, self.key.clone())
    }

    /// Returns the same client with a different key, or without a key.
    pub fn with_key(&self, key: Option<&str>) -> Self {
        Self { key: key.map(str::to_owned), ..self.clone() }
    }

    /// Calls an operation with this input.
    pub async fn call(&self, id: &str, input: Value) -> Reply {
        self.send(Call::new(operation(id), input)).await
    }

    /// Calls an operation that must succeed; returns its `data`.
    pub async fn data(&self, id: &str, input: Value) -> Value {
        let reply = self.call(id, input).await;
        assert!(reply.status < 300, "{id}: {} {}", reply.status, String::from_utf8_lossy(&reply.bytes));
        reply.json()["data"].take()
    }

    /// Sends a request and checks its reply against the contract. A request without a reply fails the test, because a server that
    /// accepts no connections would otherwise stop the test forever.
    pub async fn send(&self, call: Call) -> Reply {
        let entry = call.entry;
        let reply = tokio::time::timeout(PATIENCE, self.try_send(call)).await;
        let reply =
            reply.unwrap_or_else(|_| panic!("no reply to {} within {PATIENCE:?}", entry.spec.id)).expect("the server answers");
        contract::check(entry, &reply);
        reply
    }

    /// Sends a request to a server that may have been killed.
    pub async fn try_send(&self, call: Call) -> Result<Reply, legacy::Error> {
        let uri = format!("http://{}{}", self.address, call.target);
        let mut request = Request::builder().method(call.method).uri(uri);
        if let Some(key) = &self.key {
            request = request.header("authorization", format!("Bearer {key}"));
        }
        for (name, value) in &call.headers {
            request = request.header(*name, value);
        }
        let request = request.body(Full::new(call.body.unwrap_or_default())).expect("a request");
        let (head, body) = self.http.request(request).await?.into_parts();
        // An incomplete body is shorter than its envelope, which no check accepts as complete.
        let bytes = body.collect().await.map(http_body_util::Collected::to_bytes).unwrap_or_default();
        Ok(Reply { status: head.status.as_u16(), headers: head.headers, bytes })
    }

    /// Creates a project; returns its ID. Its import fails immediately, because tests reach no other machines.
    pub async fn project(&self, name: &str) -> String {
        // Each project has its own site, because a site can be imported only once.
        static SITES: AtomicU64 = AtomicU64::new(0);
        let site = format!("http://127.0.0.1/{}", SITES.fetch_add(1, Ordering::Relaxed));
        let data = self.data("projects.import", json!({ "name": name, "urls": [site] })).await;
        ["id", "projectId"].iter().find_map(|name| data[*name].as_str()).expect("a project has an id").to_owned()
    }

    /// Creates a contact; returns its ID.
    pub async fn contact(&self, project: &str, email: &str) -> String {
        let data = self.data("contacts.create", json!({ "projectId": project, "email": email })).await;
        data["id"].as_str().expect("a contact has an id").to_owned()
    }

    /// Returns how many contacts a list finds.
    pub async fn total(&self, mut filter: Value) -> u64 {
        filter["limit"] = 1.into();
        self.data("contacts.list", filter).await["total"].as_u64().expect("a total")
    }
}

impl Call {
    /// Builds the request that passes `input` to an operation: path parameters in the path, the rest in the query or the body.
    pub fn new(entry: &'static Entry, input: Value) -> Self {
        let Value::Object(mut rest) = input else { panic!("an input is an object") };
        let mut target = String::new();
        for part in entry.spec.path.split('/').skip(1) {
            let name = part.strip_prefix('{').and_then(|part| part.strip_suffix('}'));
            let value =
                name.map(|name| text(&rest.remove(name).unwrap_or_else(|| panic!("{}: {name} is missing", entry.spec.id))));
            target = format!("{target}/{}", value.as_deref().unwrap_or(part));
        }
        let method = entry.spec.verb.name().parse().expect("a method");
        let mut call = Self { entry, method, target, headers: Vec::new(), body: None };
        if entry.spec.verb.has_body() {
            return call.json(Value::Object(rest));
        }
        if !rest.is_empty() {
            call.target = format!("{}?{}", call.target, query(&rest));
        }
        call
    }

    /// Returns the same request with this JSON body.
    pub fn json(self, body: Value) -> Self {
        self.body("application/json", body.to_string())
    }

    /// Returns the same request with this body.
    pub fn body(mut self, content_type: &str, body: impl Into<Bytes>) -> Self {
        self.headers.retain(|(name, _)| *name != "content-type");
        if !content_type.is_empty() {
            self.headers.push(("content-type", content_type.to_owned()));
        }
        self.body = Some(body.into());
        self
    }

    /// Returns the same request with one more header.
    pub fn header(mut self, name: &'static str, value: impl Into<String>) -> Self {
        self.headers.push((name, value.into()));
        self
    }
}

fn query(pairs: &Map<String, Value>) -> String {
    let pairs: Vec<(&String, String)> = pairs.iter().map(|(name, value)| (name, text(value))).collect();
    serde_urlencoded::to_string(pairs).expect("pairs of text")
}

fn text(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Array(items) => items.iter().map(text).collect::<Vec<_>>().join(","),
        other => other.to_string(),
    }
}

impl Reply {
    /// Returns the body.
    pub fn json(&self) -> Value {
        serde_json::from_slice(&self.bytes).unwrap_or_else(|error| panic!("{error}: {}", String::from_utf8_lossy(&self.bytes)))
    }

    /// Returns the code of a failure.
    pub fn code(&self) -> String {
        self.json()["code"].as_str().unwrap_or_default().to_owned()
    }

    /// Returns the error message of a failure.
    pub fn error(&self) -> String {
        self.json()["error"].as_str().unwrap_or_default().to_owned()
    }

    /// Returns a header, if there is one.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name).map(|value| value.to_str().expect("headers are text"))
    }

    /// Returns a numeric header.
    pub fn number(&self, name: &str) -> i64 {
        let value = self.header(name).unwrap_or_else(|| panic!("there is no header {name}"));
        value.parse().unwrap_or_else(|_| panic!("{name} is {value}"))
    }

    /// Checks that the call failed with this status and code; returns the response.
    pub fn refused(self, status: StatusCode, code: &str) -> Self {
        assert_eq!((self.status, self.code().as_str()), (status.as_u16(), code), "{}", String::from_utf8_lossy(&self.bytes));
        self
    }
}
