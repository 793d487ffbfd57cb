//! The four kinds of operations, and a declared operation as the table holds it.

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
    /// Everything the caller gives: path, query and body in one flat type.
    type Input: DeserializeOwned + JsonSchema + Send + 'static;
    /// Everything the caller gets.
    type Output: Answer + Send + 'static;
    /// A real call and its real answer, for the documents. A test decodes and checks both.
    fn example() -> (Value, Self::Output);
}

/// An empty object: the operation takes no input.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NoInput {}

/// What a query sees.
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
    /// Those that the index has by now.
    Indexed,
    /// Also the caller's own of the last second, if the index has them soon.
    OwnWrites,
    /// All that were answered before the request.
    AllWrites,
}

/// Reads one snapshot. Plain and synchronous.
pub trait Query: Operation {
    fn run(view: &View<'_>, input: Self::Input) -> Result<Self::Output, Failure>;

    /// Which writes it must find in the search index.
    fn freshness(_input: &Self::Input) -> Freshness {
        Freshness::Indexed
    }
}

/// Writes in one transaction. Plain and synchronous; committed and durable before the answer.
pub trait Command: Operation {
    fn run(tx: &mut WriteTx<'_>, caller: &Caller, input: Self::Input) -> Result<Self::Output, Failure>;
}

/// May wait and may use several transactions; holds none while it waits.
pub trait Async: Operation {
    fn run(context: Context, input: Self::Input) -> impl Future<Output = Result<Self::Output, Failure>> + Send;
}

/// Takes the body as it arrives, or answers with something other than the envelope.
pub trait Raw: Operation {
    /// What stands in place of JSON.
    const MEDIA: Media;

    fn run(context: Context, input: Self::Input, request: RawRequest) -> impl Future<Output = Result<Reply, Failure>> + Send;
}

/// What the body of a request is.
#[derive(Clone, Copy)]
pub enum Takes {
    /// The input as JSON, where the method has a body.
    Json,
    /// `multipart/form-data` with these fields; the input then holds the names of the path only.
    Form(fn(&mut SchemaGenerator) -> Schema),
    /// Nothing, whatever the method.
    Nothing,
}

/// What goes in and out of an operation, for the documents.
#[derive(Clone, Copy)]
pub struct Media {
    pub takes: Takes,
    /// The content type of success. The output's schema describes it if it is [`Media::JSON_TYPE`].
    pub gives: &'static str,
    /// Whether it is part of the programming interface. Pages for people are not.
    pub documented: bool,
}

impl Media {
    /// The content type of the envelope.
    pub const JSON_TYPE: &'static str = "application/json";
    /// JSON both ways, as with every kind but the raw one.
    pub const JSON: Self = Self { takes: Takes::Json, gives: Self::JSON_TYPE, documented: true };
    /// A page for people, or what its form sends to.
    pub const PAGE: Self = Self { takes: Takes::Nothing, gives: "text/html; charset=utf-8", documented: false };

    /// Takes nothing but the path and the query, and gives this content type.
    pub const fn gives(content_type: &'static str) -> Self {
        Self { takes: Takes::Nothing, gives: content_type, documented: true }
    }

    /// Takes a form with the fields of `T`, and answers with the envelope.
    pub const fn form<T: JsonSchema>() -> Self {
        Self { takes: Takes::Form(|generator| generator.subschema_for::<T>()), gives: Self::JSON_TYPE, documented: true }
    }
}

/// What a raw operation gets beside its input.
pub struct RawRequest {
    pub headers: HeaderMap,
    pub body: Body,
    pub peer: Peer,
    /// Whether the method was HEAD: the body of the answer is not sent.
    pub is_head: bool,
}

/// A future that is owned and can move between threads.
pub type Pending<T> = Pin<Box<dyn Future<Output = Result<T, Failure>> + Send>>;
/// A decoded command, ready for the writer.
pub type PreparedCommand = Box<dyn FnOnce(&mut WriteTx<'_>, &Caller, &Envelope) -> Result<Encoded, Failure> + Send>;
/// A decoded query, ready for a snapshot.
pub type PreparedQuery = Box<dyn FnOnce(&View<'_>, &Envelope) -> Result<Encoded, Failure> + Send>;

/// How an operation of each kind is run.
#[derive(Clone, Copy)]
pub enum Run {
    /// Decodes and runs in one go: nothing is boxed on the way of a light query.
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
    /// Whether the arguments can be read: tests read every example with it.
    pub reads: fn(&Arguments<'_>) -> Result<(), Failure>,
    /// The input's schema.
    pub input: fn(&mut SchemaGenerator) -> Schema,
    /// The schema of the whole answer.
    pub output: fn(&mut SchemaGenerator) -> Schema,
    /// The status of success.
    pub status: u16,
    /// What goes in and out.
    pub media: Media,
    /// The example call, and the example answer in its envelope.
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

/// A row for an operation with its own body or answer.
pub const fn raw<T: Raw>() -> Entry {
    let run = Run::Raw(|context, arguments, request| match arguments.decode::<T::Input>() {
        Ok(input) => Box::pin(async move { T::run(context, input, request).await }),
        Err(failure) => Box::pin(std::future::ready(Err(failure))),
    });
    Of::<T>::entry(run, T::MEDIA)
}
