//! Returns the package of an API client.

use http::StatusCode;
use http::header::{
    CACHE_CONTROL, CONTENT_LENGTH, CONTENT_TYPE, ETAG, HeaderMap, HeaderValue, IF_NONE_MATCH, LOCATION, X_CONTENT_TYPE_OPTIONS,
};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::engine::api::http_types::{Reply, ReplyBody};
use crate::engine::api::operation::Takes;
use crate::engine::api::{Bare, Context, Failure, Media, Operation, Raw, RawRequest, Spec, public};
use crate::features::system::clients::{self, Found, Package};
use crate::vocab::codes::Code;

pub struct ClientFile;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ClientFileName {
    pub name: String,
}

impl Operation for ClientFile {
    const SPEC: Spec = Spec::get("system.client_file", "/clients/{name}", public())
        .summary("Get the package of an API client")
        .about("npm and pip install the packages from these addresses, without a key.")
        .fails(&[Code::NotFound])
        .on_any_node();
    type Input = ClientFileName;
    type Output = Bare;

    fn example() -> (Value, Self::Output) {
        (json!({ "name": "mailmill-node.tgz" }), Bare)
    }
}

impl Raw for ClientFile {
    /// Package managers, not API clients, call this operation, so it is not in the API documentation.
    const MEDIA: Media = Media { takes: Takes::Nothing, gives: "*/*", documented: false };

    async fn run(_: Context, input: ClientFileName, request: RawRequest) -> Result<Reply, Failure> {
        match clients::find(&input.name) {
            Some(Found::Package(package)) => Ok(send(package, &request.headers)),
            Some(Found::Redirect(name)) => {
                let place = HeaderValue::from_str(&format!("/clients/{name}")).map_err(Failure::internal)?;
                let headers = HeaderMap::from_iter([(LOCATION, place), (CACHE_CONTROL, HeaderValue::from_static("no-cache"))]);
                Ok(Reply { status: StatusCode::FOUND, headers, body: ReplyBody::Whole(Default::default()) })
            }
            None => Err(Failure::because(
                Code::NotFound,
                "This server has no package with this name. It offers mailmill-node.tgz and mailmill-python.whl.",
            )),
        }
    }
}

/// Returns the package, or status 304 if the caller already has this version.
fn send(package: &Package, asked: &HeaderMap) -> Reply {
    let cache = if package.has_version { "public, max-age=31536000, immutable" } else { "no-cache" };
    let mut headers = HeaderMap::with_capacity(5);
    headers.insert(ETAG, package.etag.clone());
    headers.insert(CACHE_CONTROL, HeaderValue::from_static(cache));
    let known = asked.get(IF_NONE_MATCH).and_then(|value| value.to_str().ok()).unwrap_or_default();
    if known.split(',').any(|one| one.trim().trim_start_matches("W/").as_bytes() == package.etag.as_bytes()) {
        return Reply { status: StatusCode::NOT_MODIFIED, headers, body: ReplyBody::Whole(Default::default()) };
    }
    headers.insert(CONTENT_TYPE, HeaderValue::from_static(package.content_type));
    headers.insert(CONTENT_LENGTH, HeaderValue::from(package.bytes.len()));
    headers.insert(X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    Reply { status: StatusCode::OK, headers, body: ReplyBody::Whole(package.bytes.clone()) }
}
