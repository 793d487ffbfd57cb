//! The four kinds of operations, and the entry of an operation in the table.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;

use http::{HeaderMap, StatusCode};
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::caller::{Caller, Context};
use super::failure::Failure;
use super::http_types::{Body, Peer, Reply};
use super::input::Arguments;
use super::response::{Encoded, Envelope, SuccessResponse};
use super::spec::Spec;
use crate::base::clock::Timestamp;
use crate::engine::search::Index;
use crate::engine::store::{ReadTx, WriteTx};

pub trait Operation: 'static {
    const SPEC: Spec;
    /// The input: path, query and JSON body in one flat type.
    type Input: DeserializeOwned + JsonSchema + Send + 'static;
    type Output: SuccessResponse + Send + 'static;
    /// Returns a valid call and its response, for the documentation. A test decodes and checks both.
    fn example() -> (Value, Self::Output);
}

/// The input of an operation that takes no input: an empty object.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NoInput {}

/// The data that a query can read.
pub struct View<'a> {
    /// A read transaction on the newest commit.
    pub tx: &'a ReadTx,
    pub caller: &'a Caller,
    /// The search index of the caller's environment.
    pub search: &'a Arc<Index>,
    pub now: Timestamp,
}

/// Which writes must already be in the search index when a query runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Freshness {
    /// The writes that are already indexed.
    Indexed,
    /// The writes that are already indexed, and the caller's own writes from the last second, for which the query waits a limited time.
    OwnWrites,
    /// All writes that were acknowledged before the request.
    AllWrites,
}

/// A query reads one snapshot, synchronously.
pub trait Query: Operation {
    fn run(view: &View<'_>, input: Self::Input) -> Result<Self::Output, Failure>;

    /// Returns which writes must be in the search index before the query runs.
    fn freshness(_input: &Self::Input) -> Freshness {
        Freshness::Indexed
    }
}

/// A command writes in one transaction, synchronously. Its changes are durable before the response is sent.
pub trait Command: Operation {
    fn run(tx: &mut WriteTx<'_>, caller: &Caller, input: Self::Input) -> Result<Self::Output, Failure>;
}

/// An asynchronous operation may wait and may use several transactions, but holds no transaction while it waits.
pub trait Async: Operation {
    fn run(context: Context, input: Self::Input) -> impl Future<Output = Result<Self::Output, Failure>> + Send;
}

/// A raw operation reads the body as it arrives, or returns a response without the envelope.
pub trait Raw: Operation {
    /// The content types that the operation uses instead of JSON.
    const MEDIA: Media;

    fn run(context: Context, input: Self::Input, request: RawRequest) -> impl Future<Output = Result<Reply, Failure>> + Send;
}

/// The body that an operation accepts.
#[derive(Clone, Copy)]
pub enum Takes {
    /// The input as JSON, if the method has a body.
    Json,
    /// `multipart/form-data` with these fields. In this case, the input contains only the path parameters.
    Form(fn(&mut SchemaGenerator) -> Schema),
    /// No body, or a body that the documentation does not describe.
    Nothing,
}

/// The content types of an operation, for the documentation.
#[derive(Clone, Copy)]
pub struct Media {
    pub takes: Takes,
    /// The content type of a successful response. The output's schema describes the response if this is [`Media::JSON_TYPE`].
    pub gives: &'static str,
    /// Whether the API documentation includes the operation. It excludes operations that API clients do not call, such as HTML pages and
    /// webhook receivers.
    pub documented: bool,
}

impl Media {
    /// The content type of the envelope.
    pub const JSON_TYPE: &'static str = "application/json";
    /// JSON for both the request and the response.
    pub const JSON: Self = Self { takes: Takes::Json, gives: Self::JSON_TYPE, documented: true };
    /// An HTML page, or the target of its form.
    pub const PAGE: Self = Self { takes: Takes::Nothing, gives: "text/html; charset=utf-8", documented: false };

    /// Returns the media for an operation that accepts only path and query parameters, and responds with this content type.
    pub const fn gives(content_type: &'static str) -> Self {
        Self { takes: Takes::Nothing, gives: content_type, documented: true }
    }

    /// Returns the media for an operation that accepts a form with the fields of `T`, and responds with the envelope.
    pub const fn form<T: JsonSchema>() -> Self {
        Self { takes: Takes::Form(|generator| generator.subschema_for::<T>()), gives: Self::JSON_TYPE, documented: true }
    }
}

/// The parts of a request that a raw operation reads in addition to its arguments.
pub struct RawRequest {
    pub headers: HeaderMap,
    pub body: Body,
    pub peer: Peer,
    /// Whether the method is HEAD. The response to a HEAD request is sent without its body.
    pub is_head: bool,
}

/// A future that owns its data and can move between threads.
pub type Pending<T> = Pin<Box<dyn Future<Output = Result<T, Failure>> + Send>>;
/// A decoded command, ready to run in a write transaction.
pub type PreparedCommand = Box<dyn FnOnce(&mut WriteTx<'_>, &Caller, &Envelope) -> Result<Encoded, Failure> + Send>;
/// A decoded query, ready to run on a snapshot.
pub type PreparedQuery = Box<dyn FnOnce(&View<'_>, &Envelope) -> Result<Encoded, Failure> + Send>;

/// How an operation runs, for each kind of operation.
#[derive(Clone, Copy)]
pub enum Run {
    /// `run` decodes and runs a light query in one step, without boxing; `prepare` decodes a query that runs on another thread.
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
    /// Checks whether the arguments can be decoded, for the router and for the tests of all examples.
    pub reads: fn(&Arguments<'_>) -> Result<(), Failure>,
    pub input: fn(&mut SchemaGenerator) -> Schema,
    /// The schema of the whole response.
    pub output: fn(&mut SchemaGenerator) -> Schema,
    pub status: u16,
    pub media: Media,
    /// The example call, and its example response in the envelope.
    pub example: fn(&Envelope) -> (Value, Value),
}

struct Of<T>(std::marker::PhantomData<T>);

impl<T: Operation> Of<T> {
    const SPEC: &'static Spec = &T::SPEC;

    /// Returns the encoded output, or the output as a value if the input was given as a value.
    fn answer(output: T::Output, envelope: &Envelope, is_given: bool) -> Encoded {
        match is_given {
            false => output.encode(envelope),
            true => Encoded { status: StatusCode::OK, body: Vec::new(), output: Some(Box::new(output)) },
        }
    }

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

pub const fn query<T: Query>() -> Entry {
    let run = Run::Query {
        run: |view, arguments, envelope| {
            Ok(Of::<T>::answer(T::run(view, arguments.decode()?)?, envelope, arguments.given.is_some()))
        },
        prepare: |arguments| {
            let input: T::Input = arguments.decode()?;
            let freshness = T::freshness(&input);
            let is_given = arguments.given.is_some();
            let prepared: PreparedQuery =
                Box::new(move |view, envelope| Ok(Of::<T>::answer(T::run(view, input)?, envelope, is_given)));
            Ok((freshness, prepared))
        },
    };
    Of::<T>::entry(run, Media::JSON)
}

pub const fn command<T: Command>() -> Entry {
    let run = Run::Command(|arguments| {
        let input: T::Input = arguments.decode()?;
        let is_given = arguments.given.is_some();
        Ok(Box::new(move |tx, caller, envelope| Ok(Of::<T>::answer(T::run(tx, caller, input)?, envelope, is_given))))
    });
    Of::<T>::entry(run, Media::JSON)
}

pub const fn asynchronous<T: Async>() -> Entry {
    let run = Run::Async(|context, arguments, envelope| match arguments.decode::<T::Input>() {
        Ok(input) => {
            let is_given = arguments.given.is_some();
            Box::pin(async move { Ok(Of::<T>::answer(T::run(context, input).await?, &envelope, is_given)) })
        }
        Err(failure) => Box::pin(std::future::ready(Err(failure))),
    });
    Of::<T>::entry(run, Media::JSON)
}

/// Creates the table entry of an operation that has its own format for the body or the response.
pub const fn raw<T: Raw>() -> Entry {
    let run = Run::Raw(|context, arguments, request| match arguments.decode::<T::Input>() {
        Ok(input) => Box::pin(async move { T::run(context, input, request).await }),
        Err(failure) => Box::pin(std::future::ready(Err(failure))),
    });
    Of::<T>::entry(run, T::MEDIA)
}
