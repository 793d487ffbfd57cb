//! A tool call, which calls operations through the pipeline with the caller's key.

use http::HeaderValue;
use rmcp::RoleServer;
use rmcp::model::JsonObject;
use rmcp::service::RequestContext;
use serde_json::Value;

use super::caller::ToolCaller;
use super::tools::Definition;
use crate::engine::api::Principal;
use crate::engine::api::call::Api;
use crate::engine::api::http_types::Reply;
use crate::engine::api::input;
use crate::surfaces::internal_call;

pub struct Call<'a> {
    pub api: &'a Api,
    pub caller: &'a ToolCaller,
    pub definition: &'a Definition,
    pub context: &'a RequestContext<RoleServer>,
    /// A random number in the marks before and after the data in a result. The data cannot contain the marks, because the number is
    /// unpredictable.
    pub nonce: u64,
}

impl Call<'_> {
    /// Calls an operation through the pipeline with the caller's key.
    pub async fn ask(&self, operation: &str, arguments: JsonObject, idempotency_key: Option<&HeaderValue>) -> Reply {
        let api = self.api;
        let mut request = internal_call::request(api.operations(), operation, Value::Object(arguments), None, self.caller.peer);
        if let Some(key) = idempotency_key {
            request.headers.insert(input::IDEMPOTENCY_KEY, key.clone());
        }
        api.answer(request, Some(Principal::Key(self.caller.key.clone()))).await
    }
}
