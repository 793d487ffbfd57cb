//! The four kinds of operations, and an operation's entry in the table.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;

use http::HeaderMap;
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::caller::{Caller, Context};
use super::failure::Failure;
use super::http_types::{Body, Peer, Reply};
use super::input::Arguments;
use super::response::{Answer, Encoded, Envelope};
use super::spec::Spec;
use crate::base::clock::Timestamp;
use crate::engine::search::Index;
use crate::engine::store::{ReadTx, WriteTx};

/// What every operation declares.
pub trait Operation: 'static {
    const SPEC: Spec;
    /// The whole input: path, query and body in one flat type.
    type Input: DeserializeOwned + JsonSchema + Send + 'static;
    /// The whole output.
    type Output: Answer + Send + 'static;
    /// A valid call and its response, for the documentation. A test decodes and checks both.
    fn example() -> (Value, Self::Output);
}

/// An empty object: the operation takes no input.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NoInput {}

/// The data that a query reads.
pub struct View<'a> {
    /// The newest commit.
    pub tx: &'a ReadTx,
    pub caller: &'a Caller,
    /// The search index of the caller's environment.
    pub search: &'a Arc<Index>,
    pub now: Timestamp,
}

/// Which writes a query must find in the search index.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Freshness {
    /// Those that are already indexed.
    Indexed,
    /// Also the caller's own writes of the last second, if they are indexed soon.
    OwnWrites,
    /// All that were acknowledged before the request.
    AllWrites,
}

/// A query: reads one snapshot. Plain and synchronous.
pub trait Query: Operation {
    fn run(view: &View<'_>, input: Self::Input) -> Result<Self::Output, Failure>;

    /// Which writes it must find in the search index.
    fn freshness(_input: &Self::Input) -> Freshness {
        Freshness::Indexed
    }
}

/// A command: writes in one transaction. Plain and synchronous; durable before the response.
pub trait Command: Operation {
    fn run(tx: &mut WriteTx<'_>, caller: &Caller, input: Self::Input) -> Result<Self::Output, Failure>;
}

/// An asynchronous operation: may wait and may use several transactions; holds none while it waits.
pub trait Async: Operation {
    fn run(context: Context, input: Self::Input) -> impl Future<Output = Result<Self::Output, Failure>> + Send;
}

/// A raw operation: reads the body as it arrives, or does not return the envelope.
pub trait Raw: Operation {
    /// The content types in place of JSON.
    const MEDIA: Media;

    fn run(context: Context, input: Self::Input, request: RawRequest) -> impl Future<Output = Result<Reply, Failure>> + Send;
}

/// The kind of a request body.
#[derive(Clone, Copy)]
pub enum Takes {
    /// The input as JSON, where the method has a body.
    Json,
    /// `multipart/form-data` with these fields; the input then has only the names in the path.
    Form(fn(&mut SchemaGenerator) -> Schema),
    /// No body, with any method.
    Nothing,
}

/// The content types of an operation, for the documentation.
#[derive(Clone, Copy)]
pub struct Media {
    pub takes: Takes,
    /// The content type of success. The output's schema describes it if it is [`Media::JSON_TYPE`].
    pub gives: &'static str,
    /// Whether the API documentation includes it. HTML pages are excluded.
    pub documented: bool,
}

impl Media {
    /// The content type of the envelope.
    pub const JSON_TYPE: &'static str = "application/json";
    /// JSON both ways, as with all kinds but the raw one.
    pub const JSON: Self = Self { takes: Takes::Json, gives: Self::JSON_TYPE, documented: true };
    /// An HTML page, or the target of its form.
    pub const PAGE: Self = Self { takes: Takes::Nothing, gives: "text/html; charset=utf-8", documented: false };

    /// Accepts only path and query, and returns this content type.
    pub const fn gives(content_type: &'static str) -> Self {
        Self { takes: Takes::Nothing, gives: content_type, documented: true }
    }

    /// Accepts a form with the fields of `T`, and returns the envelope.
    pub const fn form<T: JsonSchema>() -> Self {
        Self { takes: Takes::Form(|generator| generator.subschema_for::<T>()), gives: Self::JSON_TYPE, documented: true }
    }
}

/// The input of a raw operation beyond its arguments.
pub struct RawRequest {
    pub headers: HeaderMap,
    pub body: Body,
    pub peer: Peer,
    /// Whether the method was HEAD: the response body is not sent.
    pub is_head: bool,
}

/// A future that is owned and can move between threads.
pub type Pending<T> = Pin<Box<dyn Future<Output = Result<T, Failure>> + Send>>;
/// A decoded command, ready for the writer.
pub type PreparedCommand = Box<dyn FnOnce(&mut WriteTx<'_>, &Caller, &Envelope) -> Result<Encoded, Failure> + Send>;
/// A decoded query, ready for a snapshot.
pub type PreparedQuery = Box<dyn FnOnce(&View<'_>, &Envelope) -> Result<Encoded, Failure> + Send>;

/// How operations of each kind run.
#[derive(Clone, Copy)]
pub enum Run {
    /// Decodes and runs in one step: a light query needs no boxing.
    Query {
        run: fn(&View<'_>, &Arguments<'_>, &Envelope) -> Result<Encoded, Failure>,
        prepare: fn(&Arguments<'_>) -> Result<(Freshness, PreparedQuery), Failure>,
    },
    Command(fn(&Arguments<'_>) -> Result<PreparedCommand, Failure>),
    Async(fn(Context, &Arguments<'_>, Envelope) -> Pending<Encoded>),
    Raw(fn(Context, &Arguments<'_>, RawRequest) -> Pending<Reply>),
}

/// One row of the table of operations.
#[derive(Clone, Copy)]
pub struct Entry {
    pub spec: &'static Spec,
    pub run: Run,
    /// Checks whether the arguments decode: tests use it on every example.
    pub reads: fn(&Arguments<'_>) -> Result<(), Failure>,
    /// The input's schema.
    pub input: fn(&mut SchemaGenerator) -> Schema,
    /// The schema of the whole response.
    pub output: fn(&mut SchemaGenerator) -> Schema,
    /// The status of a success.
    pub status: u16,
    /// The content types.
    pub media: Media,
    /// The example call, and the example response in its envelope.
    pub example: fn(&Envelope) -> (Value, Value),
}

struct Of<T>(std::marker::PhantomData<T>);

impl<T: Operation> Of<T> {
    const SPEC: &'static Spec = &T::SPEC;

    const fn entry(run: Run, media: Media) -> Entry {
        Entry {
            spec: Self::SPEC,
            run,
            reads: |arguments| arguments.decode::<T::Input>().map(drop),
            input: |generator| generator.subschema_for::<T::Input>(),
            output: T::Output::schema,
            status: T::Output::STATUS,
            media,
            example: |envelope| {
                let (input, output) = T::example();
                let encoded = output.encode(envelope);
                (input, serde_json::from_slice(&encoded.body).unwrap_or(Value::Null))
            },
        }
    }
}

/// A row for a query.
pub const fn query<T: Query>() -> Entry {
    let run = Run::Query {
        run: |view, arguments, envelope| Ok(T::run(view, arguments.decode()?)?.encode(envelope)),
        prepare: |arguments| {
            let input: T::Input = arguments.decode()?;
            let freshness = T::freshness(&input);
            let prepared: PreparedQuery = Box::new(|view, envelope| Ok(T::run(view, input)?.encode(envelope)));
            Ok((freshness, prepared))
        },
    };
    Of::<T>::entry(run, Media::JSON)
}

/// A row for a command.
pub const fn command<T: Command>() -> Entry {
    let run = Run::Command(|arguments| {
        let input: T::Input = arguments.decode()?;
        Ok(Box::new(move |tx, caller, envelope| Ok(T::run(tx, caller, input)?.encode(envelope))))
    });
    Of::<T>::entry(run, Media::JSON)
}

/// A row for an operation that may wait.
pub const fn asynchronous<T: Async>() -> Entry {
    let run = Run::Async(|context, arguments, envelope| match arguments.decode::<T::Input>() {
        Ok(input) => Box::pin(async move { Ok(T::run(context, input).await?.encode(&envelope)) }),
        Err(failure) => Box::pin(std::future::ready(Err(failure))),
    });
    Of::<T>::entry(run, Media::JSON)
}

/// A row for an operation with its own body or response format.
pub const fn raw<T: Raw>() -> Entry {
    let run = Run::Raw(|context, arguments, request| match arguments.decode::<T::Input>() {
        Ok(input) => Box::pin(async move { T::run(context, input, request).await }),
        Err(failure) => Box::pin(std::future::ready(Err(failure))),
    });
    Of::<T>::entry(run, T::MEDIA)
}
