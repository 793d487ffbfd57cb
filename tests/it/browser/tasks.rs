//! Performs the main task of each page as a user does, with its fields and buttons, with scripts and without.

use std::pin::Pin;

use serde_json::json;

use super::driver::Tab;
use super::{at, page_checks};
use crate::support::client::Call;
use crate::support::fixtures::Furnished;
use crate::support::hook_sink::{HookSink, Reaction};
use crate::support::platforms::KLAVIYO_KEY;
use crate::support::stores::shopify::{SHOP, SHOPIFY_CLIENT, SHOPIFY_SECRET};
use crate::support::{Server, operation};
use crate::users::{OWNER, PASSWORD, anonymous, six_digits};

/// A browser in which the owner is signed in, and the data that its pages show.
pub struct Scene<'s> {
    pub tab: &'s Tab<'s>,
    pub server: &'s Server,
    pub there: &'s Furnished,
    pub sink: &'s HookSink,
}

impl Scene<'_> {
    /// Opens a page of the test data.
    pub async fn open(&self, path: &str) {
        self.tab.go(&at(self.server, path)).await;
    }

    /// Presses a button that asks for confirmation, and confirms.
    pub async fn press_and_agree(&self, words: &str) {
        self.tab.press(words).await;
        self.tab.agree().await;
    }
}

type Doing<'s> = Pin<Box<dyn Future<Output = ()> + 's>>;

/// A page's main task.
pub type Task = for<'s> fn(&'s Scene<'s>) -> Doing<'s>;

/// TABLE: the main tasks of the account's pages.
pub const TASKS: &[(&str, Task)] = &[
    ("/{environment}/settings/keys", |scene| Box::pin(keys(scene))),
    ("/{environment}/settings/members", |scene| Box::pin(members(scene))),
    ("/{environment}/settings/security", |scene| Box::pin(security(scene))),
    ("/agent", |scene| Box::pin(agent(scene))),
    ("/oauth2/authorize", |scene| Box::pin(authorize(scene))),
    ("/{environment}/settings/approvals", |scene| Box::pin(approvals(scene))),
    ("/{environment}/domains", |scene| Box::pin(domains(scene))),
    ("/{environment}/domains/{domain}", |scene| Box::pin(domain(scene))),
    ("/{environment}/settings/mail-services", |scene| Box::pin(mail_services(scene))),
    ("/{environment}/settings/mail-services/{id}", |scene| Box::pin(mail_service(scene))),
    ("/{environment}/settings/connections", |scene| Box::pin(connections(scene))),
    ("/{environment}/contacts/scheduled-imports", |scene| Box::pin(scheduled_imports(scene))),
    ("/{environment}/contacts/scheduled-imports/{id}", |scene| Box::pin(scheduled_import(scene))),
    ("/{environment}/contacts/import/platform", |scene| Box::pin(platform_import(scene))),
    ("/{environment}/settings/incoming", |scene| Box::pin(incoming(scene))),
    ("/{environment}/settings/incoming/{id}", |scene| Box::pin(incoming_webhook(scene))),
    ("/{environment}/settings/stores", |scene| Box::pin(stores(scene))),
    ("/{environment}/settings/webhooks", |scene| Box::pin(webhooks(scene))),
    ("/{environment}/settings/webhooks/{id}", |scene| Box::pin(webhook(scene))),
    ("/{environment}/settings/plan", |scene| Box::pin(plan(scene))),
    ("/{environment}/settings/system", |scene| Box::pin(system(scene))),
    ("/{environment}/settings/system/restore", |scene| Box::pin(restore(scene))),
    ("/{environment}/inbox/{id}", |scene| Box::pin(inbox(scene))),
];

/// This task is the last one, because it signs out.
pub const LAST: (&str, Task) = ("/signout", |scene| Box::pin(sign_out(scene)));

async fn keys(scene: &Scene<'_>) {
    let tab = scene.tab;
    scene.open("/test/settings/keys").await;
    tab.fill("#name", "Browser's key").await;
    tab.click("input[name=permission][value=\"audience:read\"]").await;
    tab.press("Create key").await;
    tab.sees("sk_test_").await;
    tab.sees("Browser's key").await;
    tab.click("button[aria-label=\"Revoke Browser's key\"]").await;
    tab.agree().await;
    tab.sees("Key revoked. It no longer works.").await;
}

async fn members(scene: &Scene<'_>) {
    let tab = scene.tab;
    scene.open("/test/settings/members").await;
    tab.fill("#email", "dora@example.com").await;
    tab.choose("#role", "viewer").await;
    tab.press("Invite").await;
    tab.sees("Link for dora@example.com").await;
    tab.sees("/join/").await;
    scene.open("/test/settings/members").await;
    tab.sees("dora@example.com").await;
    let withdraw = "//li[contains(., 'dora@example.com')]//button[@value='withdraw']";
    tab.click_path(withdraw).await;
    tab.sees("Invitation canceled.").await;
}

async fn security(scene: &Scene<'_>) {
    let tab = scene.tab;
    scene.open("/test/settings/security").await;
    tab.press("Set up").await;
    tab.sees("Scan this code").await;
    let drawn = "const box = document.querySelector('svg.qr path').getBoundingClientRect(); return [box.width, box.height];";
    let drawn = tab.run(drawn, json!([])).await;
    assert!(drawn[0].as_f64() > Some(100.0) && drawn[1].as_f64() > Some(100.0), "{drawn}");
    let secret = tab.run("return document.querySelector('input[name=secret]').value", json!([])).await;
    tab.fill("#first-code", "000000").await;
    tab.press_through("Confirm").await;
    tab.sees("Scan this code").await;
    tab.fill("#first-code", &six_digits(secret.as_str().expect("a secret"), 0)).await;
    tab.press("Confirm").await;
    tab.sees("You now need a code from it to sign in.").await;
    scene.open("/test/settings/security").await;
    tab.sees("You have 10 recovery codes left").await;
    scene.press_and_agree("Create new recovery codes").await;
    tab.sees("The old ones no longer work").await;
    scene.open("/test/settings/security").await;
    scene.press_and_agree("Remove app").await;
    tab.sees("Authenticator app removed.").await;
}

/// Returns the code of an agent's request.
async fn asking(scene: &Scene<'_>, name: &str) -> String {
    let body = json!({ "type": "service_auth", "login_hint": OWNER, "agent_name": name, "scope": "audience:read domain:read" });
    let call = Call::new(operation("accounts.agent_identity"), json!({})).json(body);
    let answer = anonymous(scene.server).try_send(call).await.expect("an answer").json();
    answer["claim"]["user_code"].as_str().expect("a code").to_owned()
}

async fn agent(scene: &Scene<'_>) {
    let tab = scene.tab;
    let code = asking(scene, "Shop helper").await;
    scene.open("/agent").await;
    tab.fill("#code", &code.to_lowercase()).await;
    tab.press("Review request").await;
    tab.sees("Shop helper").await;
    tab.click("input[name=permission][value=\"domain:read\"]").await;
    tab.press("Allow").await;
    tab.sees("Access granted").await;
}

async fn authorize(scene: &Scene<'_>) {
    let tab = scene.tab;
    // The program listens on a different port from the one that it registered, as programs on the user's machine do. The page has an icon,
    // so that the browser does not request one after the program has ended.
    let page = || "<link rel=\"icon\" href=\"data:,\">Connected".to_owned();
    let program = HookSink::start(move |_, _| Reaction::Answer(200, "content-type: text/html\r\n", page())).await;
    let here = program.url().split(['/', '?']).nth(2).expect("an address").replace(':', "%3A");
    let request = scene.there.ids["authorize"].replace("127.0.0.1%3A4000", &here);
    scene.open(&format!("/oauth2/authorize?{request}")).await;
    tab.sees("Fresh bread").await;
    tab.press("Deny").await;
    let got = program.wait(1).await;
    assert!(got[0].head.contains("/callback?error=access_denied"), "{}", got[0].head);
    tab.sees("Connected").await;
}

async fn approvals(scene: &Scene<'_>) {
    let tab = scene.tab;
    asking(scene, "Another helper").await;
    scene.open("/test/settings/approvals").await;
    tab.sees("Another helper").await;
    tab.click_path("//li[contains(., 'Another helper')]//button[@value='deny']").await;
    tab.sees("Request denied.").await;
}

async fn domains(scene: &Scene<'_>) {
    let tab = scene.tab;
    scene.open("/test/domains").await;
    tab.fill("#domain", "not a domain").await;
    tab.press_through("Add domain").await;
    assert_eq!(tab.run("return document.querySelector('#domain').value", json!([])).await, "not a domain");
    assert!(tab.has(".beside").await);
    tab.fill("#domain", "browser.example").await;
    tab.press("Add domain").await;
    tab.sees("Add the records below").await;
    tab.sees("_domainkey.browser.example").await;
    scene.press_and_agree("Delete domain").await;
    tab.sees("Domain deleted.").await;
}

async fn domain(scene: &Scene<'_>) {
    let tab = scene.tab;
    scene.open(&scene.there.path("/{environment}/domains/{domain}", "test")).await;
    tab.press("Check DNS now").await;
    tab.sees("DNS checked.").await;
    tab.click("input[name=clicks]").await;
    tab.click_path("//form[.//input[@name='clicks']]//button[@value='tracking']").await;
    tab.sees("Changes saved.").await;
    // Copy buttons require scripts.
    let shown = "return [...document.querySelectorAll('[data-copy]')].some(button => !button.hidden)";
    assert_eq!(tab.run(shown, json!([])).await, tab.scripts);
}

async fn mail_services(scene: &Scene<'_>) {
    let tab = scene.tab;
    scene.open("/test/settings/mail-services").await;
    tab.choose("#service", "resend").await;
    tab.fill("#name", "Browser's service").await;
    tab.fill("#secret", "whsec_AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=").await;
    tab.press("Add mail service").await;
    tab.sees("Resend added").await;
    tab.sees("/feedback/").await;
    tab.press("Open mail service").await;
    tab.press("Send sample event").await;
    tab.sees("Test passed").await;
    scene.press_and_agree("Delete").await;
    tab.sees("Mail service deleted.").await;
}

async fn mail_service(scene: &Scene<'_>) {
    let tab = scene.tab;
    scene.open(&scene.there.path("/{environment}/settings/mail-services/{id}", "test")).await;
    tab.fill("#name", "Browser's name").await;
    tab.press("Save").await;
    tab.sees("Changes saved.").await;
    scene.press_and_agree("Create new URL").await;
    tab.sees("/feedback/").await;
}

async fn connections(scene: &Scene<'_>) {
    let tab = scene.tab;
    scene.open("/test/settings/connections").await;
    tab.click("input[name=provider][value=klaviyo]").await;
    tab.fill("#apiKey", KLAVIYO_KEY).await;
    tab.press("Connect").await;
    tab.sees("Account connected.").await;
}

/// Uses the account that the previous task connected.
async fn platform_import(scene: &Scene<'_>) {
    let tab = scene.tab;
    scene.open("/test/contacts/import/platform").await;
    tab.click("input[name=source]").await;
    tab.press("Preview").await;
    tab.sees("Unsubscribed by this import").await;
    tab.press("Import contacts").await;
    tab.sees("Contact import").await;
    scene.open("/test/settings/connections").await;
    scene.press_and_agree("Remove").await;
    tab.sees("Connection removed.").await;
}

async fn scheduled_imports(scene: &Scene<'_>) {
    let tab = scene.tab;
    scene.open("/test/contacts/scheduled-imports").await;
    tab.fill("#name", "Browser's file").await;
    tab.fill("#url", "http://127.0.0.1:9/contacts.csv").await;
    tab.press("Create scheduled import").await;
    tab.sees("Browser's file").await;
    tab.press("Pause schedule").await;
    tab.sees("Schedule paused.").await;
    scene.press_and_agree("Delete").await;
    tab.sees("Scheduled import deleted.").await;
}

async fn scheduled_import(scene: &Scene<'_>) {
    let tab = scene.tab;
    scene.open(&scene.there.path("/{environment}/contacts/scheduled-imports/{id}", "test")).await;
    tab.choose("#every", "6").await;
    tab.press("Save").await;
    tab.sees("Changes saved.").await;
}

async fn incoming(scene: &Scene<'_>) {
    let tab = scene.tab;
    scene.open("/test/settings/incoming").await;
    tab.fill("#name", "Browser's form").await;
    tab.fill("#mapping", "email = data.email").await;
    tab.press("Create incoming webhook").await;
    tab.sees("/v1/hooks/").await;
    tab.press("Open incoming webhook").await;
    tab.fill("#body", "{\"data\":{\"email\":\"ada@example.com\"}}").await;
    tab.press("Test mapping").await;
    tab.sees("Test passed").await;
    scene.press_and_agree("Delete").await;
    tab.sees("Incoming webhook deleted.").await;
}

async fn incoming_webhook(scene: &Scene<'_>) {
    let tab = scene.tab;
    scene.open(&scene.there.path("/{environment}/settings/incoming/{id}", "test")).await;
    tab.sees("rejected").await;
    scene.press_and_agree("Turn off").await;
    tab.sees("Requests are rejected until").await;
    tab.press("Turn on").await;
    tab.sees("Requests are accepted again.").await;
    tab.fill("#tags", "form").await;
    tab.press("Save").await;
    tab.sees("Changes saved.").await;
}

async fn stores(scene: &Scene<'_>) {
    let tab = scene.tab;
    scene.open("/test/settings/stores").await;
    tab.fill("#storefrontStoreUrl", SHOP).await;
    tab.fill("#clientId", SHOPIFY_CLIENT).await;
    tab.fill("#apiSecret", SHOPIFY_SECRET).await;
    tab.press("Connect").await;
    tab.sees("Store connected.").await;
    scene.press_and_agree("Disconnect").await;
    tab.sees("Store disconnected.").await;
}

async fn webhooks(scene: &Scene<'_>) {
    let tab = scene.tab;
    scene.open("/test/settings/webhooks").await;
    tab.fill("#url", &scene.sink.url()).await;
    tab.fill("#description", "Browser's hook").await;
    tab.click("input[name=event][value=\"subscriber.added\"]").await;
    tab.unfold("#headers").await;
    tab.fill("#headers", "X-Shop: 7").await;
    tab.press("Create webhook").await;
    tab.sees("whsec_").await;
    tab.press("Open the webhook to send a test").await;
    tab.sees("No deliveries yet").await;
    tab.press("Send test").await;
    tab.sees("Test delivered").await;
    scene.press_and_agree("Delete").await;
    tab.sees("Webhook deleted.").await;
}

async fn webhook(scene: &Scene<'_>) {
    let tab = scene.tab;
    scene.open(&scene.there.path("/{environment}/settings/webhooks/{id}", "test")).await;
    scene.press_and_agree("Turn off").await;
    tab.sees("Webhook turned off.").await;
    tab.press("Turn on").await;
    tab.sees("Webhook turned on.").await;
    tab.unfold("#grace").await;
    tab.fill("#grace", "1").await;
    scene.press_and_agree("Create new secret").await;
    tab.sees("whsec_").await;
    tab.choose("#status", "failed").await;
    tab.press("Filter").await;
    tab.sees("webhook.test").await;
    tab.click("li details summary").await;
    tab.sees("Attempt 1").await;
}

async fn plan(scene: &Scene<'_>) {
    let tab = scene.tab;
    scene.open("/live/settings/plan").await;
    tab.press("Save").await;
    tab.sees("Plan changed.").await;
}

async fn system(scene: &Scene<'_>) {
    scene.open("/live/settings/system").await;
    for wanted in ["Backup", "Queues", "Background jobs", "Recent log", env!("CARGO_PKG_VERSION")] {
        scene.tab.sees(wanted).await;
    }
}

/// `brand_restores` restores a brand on this page; this server has no continuous backup.
async fn restore(scene: &Scene<'_>) {
    scene.open("/live/settings/system/restore").await;
    scene.tab.press_through("Continue").await;
    scene.tab.sees("There is no continuous backup.").await;
}

async fn inbox(scene: &Scene<'_>) {
    let tab = scene.tab;
    scene.open("/test/inbox").await;
    tab.sees("reader1@example.com").await;
    scene.open(&scene.there.path("/{environment}/inbox/{id}", "test")).await;
    assert!(tab.has("iframe").await);
}

async fn sign_out(scene: &Scene<'_>) {
    let tab = scene.tab;
    scene.open("/confirm").await;
    tab.fill("#password", PASSWORD).await;
    tab.press_through("Confirm").await;
    tab.wide(page_checks::WIDE).await;
    tab.click(".who button").await;
    tab.sees("You are signed out.").await;
}
