//! Tests the monthly limits: before a request, after a response, and after a process is killed.

use serde_json::json;

use super::store::{self, Entry};
use super::{MeteredModel, Payer};
use crate::base::month;
use crate::engine::language_model::{ModelError, ModelRequest, Speaker, Turn};
use crate::testing::TestApp;
use crate::testing::fake_model::{FakeModel, Reaction};
use crate::vocab::environment::Environment;
use crate::vocab::ids::ProjectId;
use crate::vocab::settings::{Cap, Protocol};

fn app(peer: &FakeModel, limits: (Option<u64>, Option<u64>)) -> TestApp {
    let url = peer.url();
    TestApp::with(move |settings| {
        let model = settings.models.get_mut("local").expect("the built-in settings have a model");
        (model.protocol, model.url, model.model) = (Some(Protocol::OpenAi), Some(url), Some("peer".into()));
        // The tokens of the request cost nothing, and a response of 8,192 tokens costs 0.82.
        (model.input_price, model.output_price) = (0.0, 100.0);
        settings.language_model.monthly_cost_max = Cap::new(limits.0);
        settings.language_model.monthly_cost_max_per_brand = Cap::new(limits.1);
    })
}

fn question() -> ModelRequest {
    let turns = vec![Turn { speaker: Speaker::User, text: "Hello".into() }];
    ModelRequest { system: "You answer.".into(), turns, picture: None, schema: None }
}

fn metered(app: &TestApp, project: ProjectId) -> MeteredModel {
    let payer = Payer { account: app.account(), project, environment: Environment::Test };
    MeteredModel::new(app.engine().models.default().expect("there is a model").clone(), app.engine(), payer)
}

fn ask(app: &TestApp, project: ProjectId) -> Result<(), ModelError> {
    app.wait(metered(app, project).ask(&question())).0.map(drop)
}

fn other() -> ProjectId {
    ProjectId::parse("66f1a2b3d4e5f60718293a4b").expect("the ID is valid")
}

#[test]
fn usage_is_reported_by_brand_and_month() {
    let peer = FakeModel::with(vec![Reaction::Text("Hi".into())]);
    let app = app(&peer, (None, None));
    ask(&app, app.project).expect("the model answers");
    ask(&app, other()).expect("the model answers");
    ask(&app, other()).expect("the model answers");
    let metrics = app.get("/v1/metrics/models?months=1").data();
    assert_eq!((&metrics["defaultModel"], &metrics["onFailure"]), (&json!("local"), &json!("fail")));
    assert_eq!(metrics["models"], json!(["local", "composer"]));
    let now = &metrics["months"][0];
    assert_eq!((&now["cost"], metrics["months"].as_array().map(Vec::len)), (&json!(0.006), Some(2)));
    let of = |project: ProjectId| {
        let rows = now["usage"].as_array().expect("the field is a list");
        rows.iter().find(|row| row["projectId"] == project.to_string()).expect("the brand has a row").clone()
    };
    let (own, more) = (of(app.project), of(other()));
    assert_eq!((&own["calls"], &own["inputTokens"], &own["outputTokens"]), (&json!(1), &json!(100), &json!(20)), "{own}");
    assert_eq!((&more["calls"], &more["cost"], &more["model"]), (&json!(2), &json!(0.004), &json!("local")), "{more}");
    assert!(metrics["months"][1]["usage"].as_array().is_some_and(Vec::is_empty));
    spend(&app, Environment::Live, 1_000_000);
    let now = app.get("/v1/metrics/models").data()["months"][0].clone();
    assert_eq!(
        (&now["cost"], now["usage"].as_array().map(Vec::len)),
        (&json!(1.006), Some(2)),
        "live brands count only toward the cost"
    );
}

#[test]
fn a_limit_stops_requests_before_they_are_sent_and_ends_with_the_month() {
    for (limits, whose, is_for_others) in [((Some(1), None), "this account", true), ((None, Some(1)), "this brand", false)] {
        let peer = FakeModel::with(vec![Reaction::Cut("…".into())]);
        let app = app(&peer, limits);
        // After a response that cost 0.2 of the limit of 1.0, the remaining amount is too small for another request.
        spend(&app, Environment::Test, 200_000);
        let Err(ModelError::NotSent(message)) = ask(&app, app.project) else { panic!("the limit is reached") };
        assert!(message.contains(whose) && message.contains("0.20 of 1.00"), "{message}");
        assert!(peer.asked().is_empty(), "no request is sent");
        assert_eq!(matches!(ask(&app, other()), Err(ModelError::NotSent(_))), is_for_others);
        app.clock.advance_ms(32 * 24 * 60 * 60 * 1000);
        assert_eq!(ask(&app, app.project), Err(ModelError::Truncated), "a new month has a new limit");
    }
}

/// Adds a cost to the usage, as if an earlier request had been made.
fn spend(app: &TestApp, environment: Environment, micro_cost: u64) {
    // The live environment contains a different brand.
    let project = if environment == Environment::Test { app.project } else { ProjectId::from_bytes([9; 12]) };
    let entry = Entry { account: app.account(), month: month::of(app.engine().clock.now()), project, environment };
    let write = move |tx: &mut crate::engine::store::WriteTx<'_>| {
        store::change(tx, entry, "local", |mut usage| {
            usage.micro_cost += micro_cost;
            usage
        })
    };
    app.engine().control.write_blocking(write).expect("the write succeeds").expect("the write succeeds");
}

/// If a process is killed while a model responds, the stored estimate still counts toward the limit.
#[test]
fn a_request_that_a_kill_interrupts_counts_with_its_estimate() {
    let peer = FakeModel::with(vec![Reaction::Silent(std::time::Duration::from_millis(1_500))]);
    let app = app(&peer, (Some(1), None));
    let model = metered(&app, app.project);
    let interrupted =
        async { tokio::time::timeout(std::time::Duration::from_millis(300), model.ask(&question())).await.is_err() };
    assert!(app.wait(interrupted), "the request is dropped while the model is silent");
    drop(model);
    let app = app.restarted();
    let metrics = app.get("/v1/metrics/models").data();
    let usage = &metrics["months"][0]["usage"][0];
    assert_eq!((&usage["calls"], &usage["outputTokens"], &usage["cost"]), (&json!(1), &json!(8192), &json!(0.8192)), "{usage}");
    assert!(matches!(ask(&app, app.project), Err(ModelError::NotSent(_))), "the next request could exceed the limit");
}

#[test]
fn free_models_are_never_limited() {
    let peer = FakeModel::with(vec![Reaction::Text("Hi".into())]);
    let url = peer.url();
    let app = TestApp::with(move |settings| {
        let model = settings.models.get_mut("local").expect("the built-in settings have a model");
        (model.protocol, model.url, model.model) = (Some(Protocol::OpenAi), Some(url), Some("peer".into()));
        settings.language_model.monthly_cost_max = Cap::new(Some(0));
    });
    assert_eq!(ask(&app, app.project), Ok(()));
}
