//! Tests of signing in to the platforms.
//!
//! These tests call the operations' modules directly, because the test app's caller is an API key, which cannot sign in. `tests/it` tests
//! the whole flow in a browser.

use serde_json::json;

use super::*;
use crate::base::secret::Secret;
use crate::features::connections::choice;
use crate::features::connections::credentials::{Credentials, Tokens, seal};
use crate::features::connections::error::PlatformError;
use crate::features::connections::oauth::{self, Granted, SignIn};
use crate::features::emails::generation;
use crate::testing::platforms::{CLIENT_ID, CLIENT_SECRET};
use crate::vocab::ids::SessionId;
use crate::vocab::limits;
use crate::vocab::providers::ConnectionUse;

const SESSION: SessionId = SessionId::from_bytes([7; 12]);

fn app(peer: &Platforms) -> TestApp {
    app_with(peer, CLIENT_SECRET)
}

fn app_with(peer: &Platforms, secret: &str) -> TestApp {
    let app = TestApp::with(|settings| {
        settings.outbound.allow_networks = vec!["127.0.0.0/8".parse().expect("the network is valid")];
        let connections = &mut settings.connections;
        (connections.klaviyo_url, connections.mailchimp_url, connections.hubspot_url) = (peer.url(), peer.url(), peer.url());
        connections.klaviyo_login_url = peer.url();
        connections.mailchimp_login_url = peer.url();
        connections.hubspot_login_url = peer.url();
        let (id, secret) = (|| Some(CLIENT_ID.to_owned()), || Some(Secret::new(secret.to_owned())));
        (connections.klaviyo_client_id, connections.klaviyo_client_secret) = (id(), secret());
        (connections.mailchimp_client_id, connections.mailchimp_client_secret) = (id(), secret());
        (connections.hubspot_client_id, connections.hubspot_client_secret) = (id(), secret());
    });
    app.engine().set_base_url("https://mail.example.com".into());
    app
}

fn begin(app: &TestApp, provider: Provider) -> SignIn {
    let (project, connection, name, uses) = (None, None, None, ConnectionUse::ALL.into());
    let (verifier, expires_at) = (SignIn::verifier(app.engine()), app.engine().clock.now().plus_ms(limits::PROVIDER_SIGN_IN_MS));
    SignIn { session: SESSION, provider, project, connection, name, uses, verifier, expires_at }
}

fn consent(app: &TestApp, peer: &Platforms, provider: Provider) -> (SignIn, String) {
    consent_to(app, peer, begin(app, provider))
}

/// Consents to a sign-in; returns the sign-in and the authorization code.
fn consent_to(app: &TestApp, peer: &Platforms, sign_in: SignIn) -> (SignIn, String) {
    let provider = sign_in.provider;
    let engine = app.engine();
    let state = sign_in.to_state(engine, Environment::Test);
    let client = oauth::app(&engine.settings.connections, provider).expect("the client is in the settings");
    let url = oauth::consent_url(engine, &client, &sign_in, &state).expect("the address is valid");
    assert!(!url.contains(CLIENT_SECRET) && !url.contains(&sign_in.verifier), "{url}");
    let back = peer.consent(&url);
    let code = back.split_once("code=").and_then(|(_, rest)| rest.split_once('&')).expect("there is a code").0.to_owned();
    (sign_in, code)
}

fn tokens(app: &TestApp, peer: &Platforms, provider: Provider) -> Tokens {
    let (sign_in, code) = consent(app, peer, provider);
    let granted = app.wait(oauth::exchange(app.engine(), &sign_in, &code));
    granted.unwrap_or_else(|error| panic!("{provider}: {error}")).tokens
}

fn stored(app: &TestApp, provider: Provider, tokens: Tokens) -> Connection {
    let made = connect(app, provider.alias(), super::PLATFORMS[provider as usize].1);
    let id = ConnectionId::parse(made["id"].as_str().expect("an ID")).expect("the ID is valid");
    let engine = app.engine().clone();
    let mut connection = store::find(&app.read(), app.account(), id).expect("readable").expect("it was made");
    connection.sealed_key = seal(&engine.seal, (app.account(), id), &Credentials::Tokens(tokens), engine.random.as_ref());
    connection.is_oauth = true;
    save(app, &connection);
    connection
}

fn save(app: &TestApp, connection: &Connection) {
    let saved = connection.clone();
    let saving = app.data().store.write(move |tx| {
        store::save(tx, &saved);
        Ok::<_, crate::engine::store::Error>(())
    });
    app.wait(saving).expect("written").expect("saved");
}

#[test]
fn a_sign_in_to_every_platform_returns_tokens_that_work() {
    let peer = Platforms::start(0);
    let app = app(&peer);
    for provider in Provider::ALL {
        let tokens = tokens(&app, &peer, provider);
        assert_eq!(tokens.refresh.is_some() && tokens.expires_at.is_some(), provider != Provider::Mailchimp);
        assert_eq!(tokens.region, if provider == Provider::Mailchimp { "us21" } else { "" });
        let mut connection = stored(&app, provider, tokens);
        peer.accept(&[]);
        let client = app.wait(choice::client(app.engine(), Environment::Test, &mut connection)).expect("the tokens work");
        let account = app.wait(crate::features::connections::platform::account(provider, &client));
        assert!(account.is_ok(), "{provider}: {account:?}");
        peer.accept(&[KLAVIYO_KEY, MAILCHIMP_KEY, HUBSPOT_KEY]);
        let grant = peer.grants().pop().expect("there is a consent");
        let wanted: Vec<&str> = oauth::scopes(provider, &ConnectionUse::ALL).into_iter().map(|(scope, _)| scope).collect();
        let asked: Vec<&str> = grant.scope.split(' ').filter(|scope| !scope.is_empty()).collect();
        assert_eq!(asked, if provider == Provider::Mailchimp { Vec::new() } else { wanted });
    }
}

// Regression test: every sign-in requested the scopes for exports, even if the user wanted only to import contacts.
#[test]
fn a_user_is_asked_only_for_the_scopes_of_the_chosen_uses() {
    let peer = Platforms::start(0);
    let app = app(&peer);
    for (provider, one, scopes) in [
        (Provider::Klaviyo, ConnectionUse::Imports, "accounts:read lists:read segments:read profiles:read"),
        (Provider::Klaviyo, ConnectionUse::Exports, "accounts:read templates:read templates:write images:read images:write"),
        (
            Provider::HubSpot,
            ConnectionUse::Imports,
            "oauth crm.lists.read crm.objects.contacts.read communication_preferences.statuses.batch.read",
        ),
        (Provider::HubSpot, ConnectionUse::Exports, "oauth content files"),
    ] {
        let (sign_in, code) = consent_to(&app, &peer, SignIn { uses: vec![one], ..begin(&app, provider) });
        assert_eq!(peer.grants().pop().expect("there is a consent").scope, scopes);
        let Granted { uses, .. } = app.wait(oauth::exchange(app.engine(), &sign_in, &code)).expect("the code is valid");
        assert_eq!(uses, [one]);
    }
}

#[test]
fn only_granted_scopes_allow_a_use() {
    let peer = Platforms::start(0);
    let app = app(&peer);
    for provider in [Provider::Klaviyo, Provider::HubSpot] {
        for (kept, expected) in [
            (vec![ConnectionUse::Imports], Some(vec![ConnectionUse::Imports])),
            (ConnectionUse::ALL.into(), Some(ConnectionUse::ALL.into())),
            (Vec::new(), None),
        ] {
            let (sign_in, code) = consent(&app, &peer, provider);
            let scopes: Vec<&str> = oauth::scopes(provider, &kept).into_iter().map(|(scope, _)| scope).collect();
            peer.grant_only(&scopes.join(" "));
            let granted = app.wait(oauth::exchange(app.engine(), &sign_in, &code));
            assert_eq!(granted.ok().map(|granted| granted.uses), expected, "{provider}");
        }
    }
}

#[test]
fn a_connection_without_the_scopes_for_exports_says_how_to_allow_them() {
    let peer = Platforms::start(3);
    let app = app(&peer);
    let tokens = tokens(&app, &peer, Provider::Klaviyo);
    let mut connection = stored(&app, Provider::Klaviyo, tokens);
    connection.uses = vec![ConnectionUse::Imports];
    save(&app, &connection);
    let html = json!({ "html": "<html><body><p>Hi</p></body></html>" });
    let email = app.post_in("/v1/projects/emails/import-html", html).data();
    while app.wait(generation::step(app.engine().clone(), Environment::Test)).expect("the stage succeeds") {}
    let conversation = email["conversationId"].as_str().expect("there is an ID");
    let export = || app.get(&format!("/v1/export/klaviyo/{conversation}"));
    let asked = peer.asked().len();
    let refused = export();
    let (status, code, said) = refused.refusal();
    assert_eq!((status, code, peer.asked().len()), (409, "PROVIDER_RECONNECT_REQUIRED", asked));
    assert!(
        said.starts_with("connectionId")
            && said.contains("does not have permission to export emails")
            && said.contains("allow exports"),
        "{said}"
    );
    let data = &refused.body["data"];
    assert_eq!((&data["connectionId"], &data["missingUse"]), (&json!(connection.id), &json!("exports")));
    assert!(data["connectUrl"].as_str().is_some_and(|url| url.ends_with("/settings/connections?provider=klaviyo")), "{data}");
    assert_eq!(app.get_in("/v1/contacts/imports/providers/klaviyo/sources").status, 200, "imports still work");
    let status = app.get(&format!("/v1/export/status/{conversation}")).data();
    assert_eq!(status["platforms"][0]["isConnected"], false, "{status}");
    let shown = app.get("/v1/connections").data()["connections"][0].clone();
    assert_eq!((&shown["uses"], &shown["status"]), (&json!(["imports"]), &json!("connected")));
    connection.uses = vec![ConnectionUse::Exports];
    save(&app, &connection);
    assert_eq!(export().status, 200);
    let refused = app.get_in("/v1/contacts/imports/providers/klaviyo/sources");
    assert!(refused.refusal().2.contains("does not have permission to import contacts"), "{refused:?}");
}

#[test]
fn a_code_works_once_and_only_with_its_verifier() {
    let peer = Platforms::start(0);
    let app = app(&peer);
    for provider in [Provider::Klaviyo, Provider::HubSpot] {
        let (sign_in, code) = consent(&app, &peer, provider);
        let other = SignIn { verifier: SignIn::verifier(app.engine()), ..begin(&app, provider) };
        let wrong = app.wait(oauth::exchange(app.engine(), &other, &code));
        assert!(matches!(wrong, Err(PlatformError::Rejected(said)) if said.contains("invalid_grant")));
        assert!(app.wait(oauth::exchange(app.engine(), &sign_in, &code)).is_ok());
        assert!(app.wait(oauth::exchange(app.engine(), &sign_in, &code)).is_err(), "the code was used");
    }
}

#[test]
fn a_state_is_sealed_expires_and_belongs_to_its_environment() {
    let app = app(&Platforms::start(0));
    let sign_in = begin(&app, Provider::Klaviyo);
    let state = sign_in.to_state(app.engine(), Environment::Test);
    let read = |environment, state: &str| SignIn::of_state(app.engine(), environment, state);
    assert!(!state.contains(&sign_in.verifier));
    assert_eq!(read(Environment::Test, &state).map(|read| (read.session, read.verifier)), Some((SESSION, sign_in.verifier)));
    assert_eq!(oauth::environment_of(&state), Some(Environment::Test));
    for wrong in [state.replace("test.", "live."), format!("{state}A"), "test.".to_owned(), "test".to_owned(), String::new()] {
        assert!(read(Environment::Test, &wrong).is_none(), "{wrong}");
    }
    assert!(read(Environment::Live, &state).is_none());
    let opened = read(Environment::Test, &state).expect("the state is valid");
    assert!(!opened.has_expired(app.engine().clock.now()));
    app.clock.advance_ms(limits::PROVIDER_SIGN_IN_MS);
    assert!(opened.has_expired(app.engine().clock.now()));
}

#[test]
fn tokens_are_refreshed_before_they_expire_by_one_task_at_a_time() {
    let peer = Platforms::start(0);
    let app = app(&peer);
    for (number, provider) in [Provider::Klaviyo, Provider::HubSpot].into_iter().enumerate() {
        let tokens = tokens(&app, &peer, provider);
        let connection = stored(&app, provider, tokens);
        let refresh = |mut used: Connection| {
            let engine = app.engine().clone();
            async move { oauth::refresh_if_needed(&engine, Environment::Test, &mut used).await.map(|()| used) }
        };
        app.wait(refresh(connection.clone())).expect("nothing to do");
        assert_eq!(peer.grants()[number].issued, 1, "{provider}");
        app.clock.advance_ms(3_600_000 - limits::PROVIDER_TOKEN_MARGIN_MS);
        let all = (0..5).map(|_| refresh(connection.clone()));
        let all = app.wait(futures_util::future::join_all(all));
        assert_eq!(peer.grants()[number].issued, 2, "{provider}: one refresh for five tasks");
        for used in all {
            assert!(used.expect("refreshed").sealed_key != connection.sealed_key);
        }
        // If the platform refuses the refresh, the account must be reconnected.
        peer.revoke();
        app.clock.advance_ms(3_600_000);
        let refused = app.get_in(&format!("/v1/contacts/imports/providers/{}/sources", provider.alias()));
        assert_eq!((refused.refusal().0, refused.refusal().1), (409, "PROVIDER_RECONNECT_REQUIRED"), "{provider}");
        let url = refused.body["data"]["connectUrl"].as_str().expect("there is a link");
        assert!(url.ends_with(&format!("/test/settings/connections?provider={}", provider.alias())), "{url}");
        let shown = app.get(&format!("/v1/connections?provider={}", provider.alias())).data()["connections"][0].clone();
        assert_eq!((&shown["status"], &shown["method"]), (&json!("reconnect_required"), &json!("oauth")));
    }
}

// Regression test: after a mistake in the settings, every account had to be reconnected.
#[test]
fn a_wrong_client_secret_in_the_settings_rejects_no_account() {
    let peer = Platforms::start(0);
    let app = app_with(&peer, "wrong");
    for provider in [Provider::Klaviyo, Provider::HubSpot] {
        let secret = |text: &str| Secret::new(text.to_owned());
        let expires_at = Some(app.engine().clock.now());
        let tokens = Tokens { access: secret("a"), refresh: Some(secret("r")), expires_at, region: String::new() };
        stored(&app, provider, tokens);
        let refused = app.get_in(&format!("/v1/contacts/imports/providers/{}/sources", provider.alias()));
        let (status, code, said) = refused.refusal();
        assert_eq!((status, code), (503, "PROVIDER_UNAVAILABLE"), "{said}");
        assert!(said.contains("the operator must correct them"), "{said}");
        let shown = app.get(&format!("/v1/connections?provider={}", provider.alias())).data()["connections"][0].clone();
        assert_eq!(shown["status"], "connected");
    }
}

// Regression test: if a platform invalidated an access token before its expiry, the account had to be reconnected although the refresh
// token was valid.
#[test]
fn a_token_that_ends_early_is_refreshed_and_the_request_repeated() {
    let peer = Platforms::start(10);
    let app = app(&peer);
    for (provider, source) in [(Provider::Klaviyo, "L1"), (Provider::HubSpot, "1")] {
        let alias = provider.alias();
        stored(&app, provider, tokens(&app, &peer, provider));
        let sources = || app.get_in(&format!("/v1/contacts/imports/providers/{alias}/sources"));
        peer.end_tokens();
        assert_eq!(sources().status, 200, "{alias}");
        peer.end_tokens();
        let chosen = json!([{ "id": source, "type": "list", "name": "Everyone" }]);
        let preview = app.post_in("/v1/contacts/imports/provider/preview", json!({ "provider": alias, "sources": chosen }));
        assert_eq!(preview.status, 200, "{preview:?}");
        let html = json!({ "html": "<html><body><p>Hi</p></body></html>" });
        let email = app.post_in("/v1/projects/emails/import-html", html).data();
        while app.wait(generation::step(app.engine().clone(), Environment::Test)).expect("the stage succeeds") {}
        peer.end_tokens();
        let body = json!({ "conversationId": email["conversationId"] });
        let exported = match provider {
            Provider::HubSpot => app.post("/v1/export/hubspot", body),
            _ => app.get(&format!("/v1/export/klaviyo/{}", email["conversationId"].as_str().expect("there is an ID"))),
        };
        assert_eq!(exported.status, 200, "{exported:?}");
        peer.end_tokens();
        let id = start(&app, alias, (source, "list"), "include-all");
        work(&app);
        assert_eq!(progress(&app, &id)["status"], "completed", "{alias}");
        peer.revoke();
        assert_eq!((sources().refusal().0, sources().refusal().1), (409, "PROVIDER_RECONNECT_REQUIRED"), "{alias}");
    }
}

/// New tokens or a revocation would disconnect the original installation from the platform.
#[test]
fn tokens_are_neither_refreshed_nor_revoked_while_sending_is_on_hold() {
    let peer = Platforms::start(0);
    let app = app(&peer);
    let tokens = tokens(&app, &peer, Provider::HubSpot);
    let connection = stored(&app, Provider::HubSpot, tokens);
    app.clock.advance_ms(3_600_000);
    app.put_on_hold();
    let asked = peer.asked().len();
    let refused = app.get_in("/v1/contacts/imports/providers/hubspot/sources");
    assert!(refused.refusal().2.contains("Sending is on hold"), "{refused:?}");
    let gone = app.delete(&format!("/v1/connections?connectionId={}", connection.id)).data();
    assert_eq!((&gone["deleted"], &gone["revoked"]), (&json!(true), &json!(false)));
    assert_eq!(peer.asked().len(), asked);
}

#[test]
fn a_refresh_without_a_response_leaves_the_connection_as_it_is() {
    let peer = Platforms::start(0);
    let app = app(&peer);
    let tokens = tokens(&app, &peer, Provider::HubSpot);
    stored(&app, Provider::HubSpot, tokens);
    app.clock.advance_ms(3_600_000);
    peer.fail("/oauth/", 1, Fault::Status(503, None));
    let sources = || app.get_in("/v1/contacts/imports/providers/hubspot/sources");
    assert_eq!((sources().refusal().0, sources().status), (503, 200));
}

// Regression test: every request called a token endpoint that was down, regardless of the pause that the endpoint had requested.
#[test]
fn a_token_endpoint_that_is_down_is_not_asked_before_the_time_that_it_states() {
    let peer = Platforms::start(0);
    let app = app(&peer);
    let tokens = tokens(&app, &peer, Provider::HubSpot);
    stored(&app, Provider::HubSpot, tokens);
    app.clock.advance_ms(3_600_000);
    peer.fail("/oauth/", 1, Fault::Status(503, Some(600)));
    let sources = || app.get_in("/v1/contacts/imports/providers/hubspot/sources");
    assert_eq!(sources().refusal().0, 503);
    let asked = peer.asked().len();
    assert_eq!((sources().refusal().0, peer.asked().len()), (503, asked));
    app.clock.advance_ms(600_000);
    assert_eq!(sources().status, 200);
}

#[test]
fn removing_a_connection_revokes_its_tokens_and_does_not_depend_on_the_platform() {
    let peer = Platforms::start(0);
    let app = app(&peer);
    for (provider, fault, revoked) in [
        (Provider::Klaviyo, None, true),
        (Provider::HubSpot, None, true),
        (Provider::Mailchimp, None, false),
        (Provider::Klaviyo, Some(Fault::Status(500, None)), false),
    ] {
        let tokens = tokens(&app, &peer, provider);
        let connection = stored(&app, provider, tokens);
        if let Some(fault) = fault {
            peer.fail("revoke", 1, fault);
        }
        let gone = app.delete(&format!("/v1/connections?connectionId={}", connection.id)).data();
        assert_eq!((&gone["deleted"], &gone["revoked"]), (&json!(true), &json!(revoked)), "{provider}");
        assert_eq!(peer.grants().pop().map(|grant| grant.is_revoked), Some(revoked));
    }
}

#[test]
fn a_key_cannot_begin_or_complete_a_sign_in() {
    let app = app(&Platforms::start(0));
    let started = app.post("/v1/connections/klaviyo/authorize", json!({}));
    assert_eq!((started.refusal().0, started.refusal().1), (403, "INSUFFICIENT_PERMISSIONS"));
    assert!(started.refusal().2.contains("Sign in to the dashboard"), "{started:?}");
    let done = app.post("/v1/connections/klaviyo/complete", json!({ "code": "a", "state": "b" }));
    assert_eq!((done.refusal().0, done.refusal().1), (403, "INSUFFICIENT_PERMISSIONS"));
}
