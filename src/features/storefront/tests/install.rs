//! Tests the installation of the app on a shop. The tests call the module directly, because the test app authenticates with a key, and only
//! signed-in users can install the Shopify app. `tests/it` tests the whole flow in a browser.

use super::*;
use crate::base::secret::Secret;
use crate::features::connections::PlatformError;
use crate::features::storefront::install::{self, Install, Returned};
use crate::vocab::ids::SessionId;
use crate::vocab::settings::Connections;

const SESSION: SessionId = SessionId::from_bytes([7; 12]);
const HOUR_MS: i64 = 60 * 60 * 1000;

impl Shop {
    /// Returns a shop that can be connected by installing the configured app.
    fn installable() -> Self {
        let peer = Shopify::start();
        let app = TestApp::with(|settings| {
            settings.outbound.allow_networks = vec!["127.0.0.0/8".parse().expect("the network is valid")];
            let connections = &mut settings.connections;
            connections.shopify_url = peer.url();
            connections.shopify_client_id = Some(SHOPIFY_CLIENT.to_owned());
            connections.shopify_client_secret = Some(Secret::new(SHOPIFY_SECRET.to_owned()));
        });
        app.engine().set_base_url("https://mail.example.com".into());
        Self { app, peer }
    }

    /// Installs the app as a user does. Returns the `state` parameter and the query string of the callback.
    fn install(&self) -> (String, String) {
        let engine = self.app.engine();
        let expires_at = engine.clock.now().plus_ms(limits::PROVIDER_SIGN_IN_MS);
        let started = Install { session: SESSION, project: self.app.project, shop: SHOP.into(), customers: None, expires_at };
        let state = started.to_state(engine, Environment::Test);
        let url = install::authorize_url(engine, &self.registered(), SHOP, &state).expect("the address is valid");
        assert!(!url.contains(SHOPIFY_SECRET), "{url}");
        let back = self.peer.install(&url);
        let (address, query) = back.split_once('?').expect("there is a query");
        assert_eq!(address, "https://mail.example.com/connections/shopify/callback");
        (state, query.to_owned())
    }

    fn registered(&self) -> install::App<'_> {
        install::app(&self.app.engine().settings.connections).expect("the app is in the settings")
    }

    fn exchange(&self, code: &str) -> Result<keys::Keys, PlatformError> {
        self.app.wait(install::exchange(self.app.engine(), &self.registered(), SHOP, code))
    }

    fn stored(&self) -> Store {
        let id = crate::vocab::ids::StoreId::parse(&self.id()).expect("the ID is valid");
        store::find(&self.app.read(), self.app.account(), id).expect("readable").expect("it is stored")
    }

    /// Replaces the connected store's keys with these tokens.
    fn adopt(&self, mut tokens: keys::Keys) {
        let (engine, mut of) = (self.app.engine().clone(), self.stored());
        tokens.url_token = keys::open(&engine.seal, &of).expect("the keys open").url_token.clone();
        of.sealed_keys = keys::seal(&engine.seal, (of.account, of.id), &tokens, engine.random.as_ref());
        let saving = self.app.data().store.write(move |tx| {
            store::save(tx, &of);
            Ok::<_, crate::engine::store::Error>(())
        });
        self.app.wait(saving).expect("written").expect("saved");
    }
}

#[test]
fn only_a_query_that_shopify_signed_is_accepted() {
    let shop = Shop::installable();
    let (state, query) = shop.install();
    let app = shop.registered();
    let expected = Returned { code: "code1".into(), shop: SHOP.into(), state };
    assert_eq!(install::verified(&app, &query), Some(expected));
    let last = query.chars().next_back().expect("the query is not empty");
    let other = if last == '0' { "1" } else { "0" };
    for forged in [
        query.replace("code1", "code2"),
        query.replace(SHOP, "evil.myshopify.com"),
        format!("{query}&shop=evil.myshopify.com"),
        format!("{query}&extra=1"),
        query.split("&hmac=").next().expect("a part").to_owned(),
        format!("{}{other}", &query[..query.len() - 1]),
        query.replace("&hmac=", "&hmac=zz"),
        String::new(),
    ] {
        assert_eq!(install::verified(&app, &forged), None, "{forged}");
    }
}

// Regression: the error for a missing app and for an overlong query said that Shopify did not sign the query.
#[test]
fn the_reason_why_a_query_is_refused_is_given() {
    let shop = Shop::installable();
    let (_, query) = shop.install();
    let connections = &shop.app.engine().settings.connections;
    let refusal = |settings: &Connections, query: &str| {
        install::returned(settings, query).map(|_| ()).expect_err("the query is refused").text()
    };
    assert!(install::returned(connections, &query).is_ok());
    assert!(refusal(connections, "shop=x").contains("did not sign"));
    let long = refusal(connections, &"x".repeat(limits::STORE_INSTALL_QUERY_BYTES_MAX + 1));
    assert!(long.contains("is longer than"), "{long}");
    let without = TestApp::new();
    let absent = refusal(&without.engine().settings.connections, &query);
    assert!(absent.contains("has no Shopify app"), "{absent}");
}

#[test]
fn a_state_is_bound_to_its_environment_and_expires() {
    let shop = Shop::installable();
    let (state, _) = shop.install();
    let engine = shop.app.engine();
    let opened = Install::of_state(engine, Environment::Test, &state).expect("the state is valid");
    assert_eq!((opened.session, opened.shop.as_str()), (SESSION, SHOP));
    let other = format!("live.{}", state.strip_prefix("test.").expect("the state names its environment"));
    for state in [&state, &other] {
        assert!(Install::of_state(engine, Environment::Live, state).is_none(), "{state}");
    }
    shop.app.clock.advance_ms(limits::PROVIDER_SIGN_IN_MS);
    assert!(Install::of_state(engine, Environment::Test, &state).is_none());
}

#[test]
fn a_code_works_once_and_tokens_are_replaced_before_they_expire() {
    let shop = Shop::installable();
    let (_, _) = shop.install();
    let tokens = shop.exchange("code1").expect("the code is valid");
    assert!(matches!(shop.exchange("code1"), Err(PlatformError::Rejected(_))), "the code was used");
    assert!(tokens.is_installed() && tokens.key == "shpat_installed_1");
    shop.connect(json!({})).data();
    shop.adopt(tokens);
    shop.peer.accept(&["shpat_installed_1"]);
    work(&shop.app);
    assert_eq!(shop.view()["sync"]["stage"], "idle", "{}", shop.view());
    shop.app.clock.advance_ms(HOUR_MS);
    shop.peer.accept(&[]);
    let client = |shop: &Shop| {
        let (engine, mut of) = (shop.app.engine().clone(), shop.stored());
        let renewed = shop.app.wait(install::client(&engine, Environment::Test, &mut of)).map(drop);
        (renewed, keys::open(&engine.seal, &of).expect("the keys open").key.clone())
    };
    assert_eq!(client(&shop), (Ok(()), "shpat_installed_2".to_owned()));
    assert_eq!(client(&shop).1, "shpat_installed_2", "a fresh token is kept");
    shop.app.post(&format!("/v1/storefront/stores/{}/sync", shop.id()), json!({})).data();
    work(&shop.app);
    assert_eq!((&shop.view()["status"], &shop.view()["sync"]["stage"]), (&json!("connected"), &json!("idle")));
    let project = shop.app.another_project();
    let refused = shop.app.post("/v1/storefront/connect", json!({ "projectId": project, "storefrontStoreUrl": SHOP }));
    assert!(refused.refusal().2.contains("which can serve only one brand"), "{refused:?}");
}

// Regression: after Shopify revoked an access token early, the app had to be reinstalled although the refresh token was valid.
#[test]
fn a_token_of_an_installed_app_that_ends_early_is_refreshed() {
    let shop = Shop::installable();
    let (_, _) = shop.install();
    let tokens = shop.exchange("code1").expect("the code is valid");
    shop.connect(json!({})).data();
    shop.adopt(tokens);
    shop.peer.accept(&[]);
    work(&shop.app);
    let view = shop.view();
    assert_eq!((&view["status"], &view["sync"]["stage"]), (&json!("connected"), &json!("idle")), "{view}");
    assert_eq!(shop.products().len(), 2);
}

// Regression: after the operator replaced the app's secret, every webhook was rejected until the app was reinstalled.
#[test]
fn webhooks_are_accepted_after_the_secret_of_the_app_was_replaced() {
    let shop = Shop::installable();
    let (_, _) = shop.install();
    let mut tokens = shop.exchange("code1").expect("the code is valid");
    tokens.signing_secret = "shpss_before".to_owned();
    shop.connect(json!({})).data();
    shop.adopt(tokens);
    shop.applied("orders/paid", "w1", &order(1, "ada@example.com"));
    // The app secret in the settings validates webhooks only for stores on which the app was installed.
    let second = shop.app.another_project();
    let other =
        json!({ "projectId": second, "storefrontStoreUrl": SHOP, "accessToken": SHOPIFY_TOKEN, "apiSecret": "shpss_other" });
    let made = shop.app.post("/v1/storefront/connect", other).data();
    let stores = shop.app.get(&format!("/v1/storefront/stores?projectId={second}")).data()["stores"].clone();
    assert_eq!(stores[0]["serverId"], made["serverId"]);
    let body = order(2, "bob@example.com").to_string();
    let headers = shopify::headers("orders/paid", "w2", &body);
    let headers: Vec<(&'static str, &str)> = headers.iter().map(|(name, value)| (*name, value.as_str())).collect();
    let url = stores[0]["webhookUrl"].as_str().expect("there is a URL");
    assert_eq!(shop.app.visit(Method::POST, url, &headers, &body).0, 401);
}

#[test]
fn a_revoked_installation_must_be_repeated() {
    let shop = Shop::installable();
    let (_, _) = shop.install();
    let tokens = shop.exchange("code1").expect("the code is valid");
    shop.connect(json!({})).data();
    shop.adopt(tokens);
    shop.app.clock.advance_ms(HOUR_MS);
    // A second installation replaces the refresh token.
    let (_, _) = shop.install();
    shop.exchange("code2").expect("the code is valid");
    work(&shop.app);
    let view = shop.view();
    assert_eq!(view["status"], "reconnect_required", "{view}");
    assert!(view["toolsEnabled"].as_array().expect("a list").is_empty());
}
