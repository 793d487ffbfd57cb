//! Adds a sending subdomain for one kind of mail.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::base::domain::DomainName;
use crate::engine::api::{Async, Context, Created, Failure, Operation, Replay, Spec, needs};
use crate::features::domains::ensure::ensure;
use crate::features::domains::installation::Installation;
use crate::features::domains::model::{Domain, Stream};
use crate::features::domains::views::{DomainView, domain_view};
use crate::vocab::codes::Code;
use crate::vocab::permissions::Permission;

pub struct StreamCreate;

/// The sending subdomain to add.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct NewStream {
    /// The root domain, such as `example.com`.
    pub root_domain: DomainName,
    /// The kind of mail: `transactional` creates `notify.<root>`, `marketing` creates `send.<root>`.
    pub stream: Stream,
    /// Whether this subdomain signs for From addresses at the root domain itself.
    #[serde(default)]
    pub vanity_root_from: bool,
}

impl Operation for StreamCreate {
    const SPEC: Spec = Spec::post("domains.stream_create", "/v1/domains/streams", needs(Permission::DomainWrite)).client("domains.create_stream")
        .summary("Add a sending subdomain for one kind of mail")
        .about(
            "Keeps the reputation of transactional emails separate from that of campaigns. With vanityRootFrom, the subdomain signs for From \
             addresses at the root, which receivers accept unless the root's DMARC record has adkim=s. An existing subdomain is \
             returned unchanged.",
        )
        .replay(Replay::Keyed)
        .fails(&[Code::LimitReached]);
    type Input = NewStream;
    type Output = Created<DomainView>;

    fn example() -> (Value, Self::Output) {
        let view = DomainView { domain: "send.acme.example".into(), stream: Some(Stream::Marketing), ..DomainView::sample() };
        (json!({ "rootDomain": "acme.example", "stream": "marketing" }), Created(view))
    }
}

/// Creates the subdomain for a stream, or returns the existing one.
pub async fn create_stream(
    context: &Context,
    spec: &'static Spec,
    root: &DomainName,
    stream: Stream,
    shape: impl FnOnce(&mut Domain) + Send + 'static,
) -> Result<Domain, Failure> {
    let name = format!("{}.{root}", stream.label());
    // Even if the root domain is valid, the name of the subdomain may be too long.
    DomainName::parse(&name).map_err(|error| Failure::field("rootDomain", error))?;
    let shaped = move |domain: &mut Domain| {
        domain.stream = Some(stream);
        shape(domain);
    };
    ensure(context, spec, name, shaped).await
}

impl Async for StreamCreate {
    async fn run(context: Context, input: NewStream) -> Result<Self::Output, Failure> {
        let signs_for_root = input.vanity_root_from;
        let shape = move |domain: &mut Domain| domain.signs_for_root = signs_for_root;
        let domain = create_stream(&context, &Self::SPEC, &input.root_domain, input.stream, shape).await?;
        Ok(Created(domain_view(&domain, &Installation::of(&context.engine.settings))))
    }
}
