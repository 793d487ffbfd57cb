//! Controls a real Chromium through its `chromedriver`: with WebDriver (W3C), and with the DevTools protocol for features that
//! WebDriver lacks.
//!
//! WebDriver is a dozen JSON requests, which the tests' HTTP client can send; a crate for it would add twenty dependencies, and support
//! neither the console nor DevTools emulation.

use std::fmt::Write as _;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::process::{Child, ChildStdout, Command, Stdio};
use std::time::Duration;

use bytes::Bytes;
use http::{Method, Request};
use http_body_util::{BodyExt, Full};
use hyper_util::client::legacy::{self, connect::HttpConnector};
use hyper_util::rt::TokioExecutor;
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::time::Instant;

use crate::support;

const CHROMIUM: &str = "/usr/bin/chromium";
const CHROMEDRIVER: &str = "/usr/bin/chromedriver";
/// The key of elements in WebDriver responses.
const ELEMENT: &str = "element-6066-11e4-a52e-4f735466cecf";
const LOOK: Duration = Duration::from_millis(20);
/// The time limit for a page. Pages load in milliseconds, but a busy machine may need much longer.
pub const PATIENCE: Duration = Duration::from_secs(180);

/// Returns whether there is a Chromium to test with. Without one, prints a warning, or fails where everything must be tested.
pub fn is_there() -> bool {
    let missing: Vec<&str> =
        [CHROMIUM, CHROMEDRIVER].into_iter().filter(|program| !std::path::Path::new(program).exists()).collect();
    if missing.is_empty() {
        return true;
    }
    let said = format!("{} is not there: install the packages chromium and chromium-driver", missing.join(" and "));
    support::missing(&said);
    false
}

/// A running chromedriver. Its process is killed when this value is dropped.
pub struct Driver {
    child: Child,
    address: SocketAddr,
    /// The output stays open, because a program that cannot write its output ends.
    _said: BufReader<ChildStdout>,
    http: legacy::Client<HttpConnector, Full<Bytes>>,
}

impl Driver {
    /// Starts a chromedriver on a free port. Chromedriver takes a free IPv6 port and exits if the same IPv4 port is in use, for example by
    /// another test. Therefore, a failed start is repeated.
    pub fn start() -> Self {
        const STARTS: usize = 10;
        let mut output = String::new();
        for _ in 0..STARTS {
            match Self::start_once() {
                Ok(driver) => return driver,
                Err(said) => output.push_str(&said),
            }
        }
        panic!("chromedriver ended {STARTS} times. Its output:\n{output}");
    }

    /// Starts a chromedriver, or returns its output if it exits.
    fn start_once() -> Result<Self, String> {
        let command = Command::new(CHROMEDRIVER).arg("--port=0").stdout(Stdio::piped()).stderr(Stdio::null()).spawn();
        let mut child = command.expect("it is there");
        let mut said = BufReader::new(child.stdout.take().expect("piped"));
        let mut output = String::new();
        let port = loop {
            let start = output.len();
            if said.read_line(&mut output).expect("readable") == 0 {
                let status = child.wait().expect("it is our child");
                return Err(format!("{output}{status}\n"));
            }
            if let Some((_, rest)) = output[start..].split_once("successfully on port ") {
                break rest.trim().trim_end_matches('.').parse().expect("a port");
            }
        };
        let address = SocketAddr::from(([127, 0, 0, 1], port));
        Ok(Self { child, address, _said: said, http: legacy::Client::builder(TokioExecutor::new()).build_http() })
    }

    async fn ask(&self, method: Method, path: &str, body: Option<Value>) -> Result<Value, Value> {
        let body = body.map(|body| body.to_string()).unwrap_or_default();
        let request = Request::builder().method(method).uri(format!("http://{}{path}", self.address));
        let request = request.header("content-type", "application/json").body(Full::new(body.into())).expect("a request");
        let reply = self.http.request(request).await.expect("chromedriver answers");
        let good = reply.status().is_success();
        let bytes = reply.into_body().collect().await.expect("whole").to_bytes();
        let mut answer: Value = serde_json::from_slice(&bytes).expect("JSON");
        if good { Ok(answer["value"].take()) } else { Err(answer["value"].take()) }
    }

    /// Opens a new browser with an empty profile.
    pub async fn browser(&self) -> Tab<'_> {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let mut arguments = vec![
            "--headless=new".to_owned(),
            "--disable-gpu".into(),
            "--disable-dev-shm-usage".into(),
            "--disable-background-networking".into(),
            "--no-first-run".into(),
            "--lang=en-GB".into(),
            "--window-size=1280,900".into(),
            // Resolve no host name, so that no request leaves this machine.
            "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1".into(),
            format!("--user-data-dir={}", folder.path().display()),
        ];
        // SAFETY: the call only returns a number and cannot fail.
        if unsafe { libc::geteuid() } == 0 {
            arguments.push("--no-sandbox".into());
        }
        let wanted = json!({ "capabilities": { "alwaysMatch": {
            "browserName": "chrome", "unhandledPromptBehavior": "ignore", "goog:loggingPrefs": { "browser": "ALL" },
            "timeouts": { "script": 120_000 },
            "goog:chromeOptions": { "binary": CHROMIUM, "args": arguments },
        } } });
        let made = self.ask(Method::POST, "/session", Some(wanted)).await.expect("a browser starts");
        let session = made["sessionId"].as_str().expect("an id").to_owned();
        Tab { driver: self, session, scripts: true, _folder: folder }
    }
}

/// Returns whether an element was only covered for a moment, or has just been replaced, so that a retry may work.
fn passes(error: &Value) -> bool {
    let passing = ["element click intercepted", "element not interactable", "stale element reference"];
    // Chromium returns this message when a page unloads between two calls.
    let gone = error["message"].as_str().is_some_and(|said| said.contains("does not belong to the document"));
    gone || passing.iter().any(|known| error["error"] == *known)
}

impl Drop for Driver {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A browser with one window. Its session ends when this value is dropped.
pub struct Tab<'d> {
    driver: &'d Driver,
    session: String,
    /// Whether pages may run scripts.
    pub scripts: bool,
    _folder: TempDir,
}

impl Drop for Tab<'_> {
    /// `drop` cannot await, so it uses a blocking socket. Otherwise the browser would outlive its driver.
    fn drop(&mut self) {
        let Ok(mut stream) = TcpStream::connect(self.driver.address) else { return };
        let request = format!("DELETE /session/{} HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n", self.session);
        let _ = stream.set_read_timeout(Some(Duration::from_secs(20)));
        let _ = stream.write_all(request.as_bytes()).and_then(|()| stream.read(&mut [0; 512]));
    }
}

impl Tab<'_> {
    async fn try_do(&self, method: Method, path: &str, body: Option<Value>) -> Result<Value, Value> {
        self.driver.ask(method, &format!("/session/{}{path}", self.session), body).await
    }

    async fn command(&self, path: &str, body: Value) -> Value {
        let done = self.try_do(Method::POST, path, Some(body.clone())).await;
        done.unwrap_or_else(|error| panic!("{path} {body}: {} {}", error["error"], error["message"]))
    }

    /// Opens a URL.
    pub async fn go(&self, address: &str) {
        self.command("/url", json!({ "url": address })).await;
    }

    /// Returns the current URL.
    pub async fn address(&self) -> String {
        let at = self.try_do(Method::GET, "/url", None).await.expect("it is somewhere");
        at.as_str().expect("text").to_owned()
    }

    /// Runs a script of a test, even if pages may not run scripts.
    pub async fn run(&self, script: &str, arguments: Value) -> Value {
        self.command("/execute/sync", json!({ "script": script, "args": arguments })).await
    }

    /// Runs an asynchronous script, which calls its last argument when it is done.
    pub async fn run_until_done(&self, script: &str) -> Value {
        self.command("/execute/async", json!({ "script": script, "args": [] })).await
    }

    /// Sends a DevTools command.
    pub async fn devtools(&self, command: &str, parameters: Value) -> Value {
        self.command("/goog/cdp/execute", json!({ "cmd": command, "params": parameters })).await
    }

    /// Enables or disables scripts in pages.
    pub async fn let_scripts_run(&mut self, scripts: bool) {
        self.scripts = scripts;
        self.devtools("Emulation.setScriptExecutionDisabled", json!({ "value": !scripts })).await;
    }

    /// Sets the preferred color scheme.
    pub async fn prefer(&self, scheme: &str) {
        let features = json!([{ "name": "prefers-color-scheme", "value": scheme }]);
        self.devtools("Emulation.setEmulatedMedia", json!({ "features": features })).await;
    }

    /// Sets the width of the screen.
    pub async fn wide(&self, width: u32) {
        let screen = json!({ "width": width, "height": 900, "deviceScaleFactor": 1, "mobile": width < 600 });
        self.devtools("Emulation.setDeviceMetricsOverride", screen).await;
    }

    /// Returns the console output since the last call.
    pub async fn console(&self) -> Vec<Value> {
        self.command("/se/log", json!({ "type": "browser" })).await.as_array().expect("a list").clone()
    }

    /// Returns the text of the open dialog, if there is one.
    pub async fn dialog(&self) -> Option<String> {
        let text = self.try_do(Method::GET, "/alert/text", None).await.ok()?;
        text.as_str().map(str::to_owned)
    }

    /// Accepts the open dialog, if there is one.
    pub async fn agree(&self) {
        if self.dialog().await.is_some() {
            self.command("/alert/accept", json!({})).await;
        }
    }

    /// Returns a screenshot of the whole page (PNG) in base64.
    pub async fn picture(&self) -> String {
        let shot = self.devtools("Page.captureScreenshot", json!({ "captureBeyondViewport": true })).await;
        shot["data"].as_str().expect("a picture").to_owned()
    }

    /// Returns the page's visible text; empty during navigation.
    pub async fn text(&self) -> String {
        let text = self.try_script("return document.body.innerText").await;
        text.as_ref().and_then(Value::as_str).unwrap_or_default().to_owned()
    }

    /// Returns the result of a script on the current page; null during navigation.
    async fn try_script(&self, script: &str) -> Option<Value> {
        self.try_do(Method::POST, "/execute/sync", Some(json!({ "script": script, "args": [] }))).await.ok()
    }

    /// Presses a button that leads to another page, or reloads the same one, and waits until it is loaded.
    pub async fn press_through(&self, words: &str) {
        // Each document has its own time origin.
        const BEGINNING: &str = "return document.readyState === 'complete' ? performance.timeOrigin : null";
        let here = self.run(BEGINNING, json!([])).await;
        self.click_path(&format!("//main//button[normalize-space()='{words}']")).await;
        let end = Instant::now() + PATIENCE;
        while self.try_script(BEGINNING).await.is_none_or(|now| now.is_null() || now == here) {
            assert!(Instant::now() < end, "{words} does not lead away from {}", self.address().await);
            tokio::time::sleep(LOOK).await;
        }
    }

    /// Waits until the page contains this text.
    pub async fn sees(&self, wanted: &str) {
        let end = Instant::now() + PATIENCE;
        loop {
            let text = self.text().await;
            if text.contains(wanted) {
                return;
            }
            assert!(Instant::now() < end, "\"{wanted}\" is not on {}:\n{text}", self.address().await);
            tokio::time::sleep(LOOK).await;
        }
    }

    async fn find(&self, using: &str, value: &str) -> Option<String> {
        let found = self.try_do(Method::POST, "/element", Some(json!({ "using": using, "value": value }))).await.ok()?;
        found[ELEMENT].as_str().map(str::to_owned)
    }

    /// Returns the element for a selector, once it exists.
    async fn element(&self, using: &str, value: &str) -> String {
        let end = Instant::now() + PATIENCE;
        loop {
            if let Some(found) = self.find(using, value).await {
                return found;
            }
            assert!(Instant::now() < end, "{value} is not on {}:\n{}", self.address().await, self.text().await);
            tokio::time::sleep(LOOK).await;
        }
    }

    /// Returns whether such an element exists.
    pub async fn has(&self, selector: &str) -> bool {
        self.find("css selector", selector).await.is_some()
    }

    /// Waits until no such element exists.
    pub async fn misses(&self, selector: &str) {
        let end = Instant::now() + PATIENCE;
        while self.has(selector).await {
            assert!(Instant::now() < end, "{selector} is still on {}", self.address().await);
            tokio::time::sleep(LOOK).await;
        }
    }

    /// Clicks the element for a CSS selector.
    pub async fn click(&self, selector: &str) {
        self.click_on("css selector", selector).await;
    }

    /// Clicks a button, a link or a summary by its text.
    pub async fn press(&self, words: &str) {
        let quoted = if words.contains('\'') { format!("\"{words}\"") } else { format!("'{words}'") };
        let path =
            format!("//main//*[(self::button or self::a or self::summary) and not(@aria-hidden) and normalize-space()={quoted}]");
        self.click_on("xpath", &path).await;
    }

    /// Opens the collapsed section of a field, if it is in one.
    pub async fn unfold(&self, selector: &str) {
        self.element_at(selector).await;
        let folded = "const part = document.querySelector(arguments[0]).closest('details'); return Boolean(part) && !part.open;";
        if self.run(folded, json!([selector])).await == true {
            self.click(&format!("details:has({selector}) > summary")).await;
        }
    }

    /// Clicks the element for an XPath.
    pub async fn click_path(&self, path: &str) {
        self.click_on("xpath", path).await;
    }

    async fn click_on(&self, using: &str, value: &str) {
        let end = Instant::now() + PATIENCE;
        loop {
            let element = self.element(using, value).await;
            let path = format!("/element/{element}/click");
            let Err(error) = self.try_do(Method::POST, &path, Some(json!({}))).await else { return };
            assert!(passes(&error) && Instant::now() < end, "{value}: {} {}", error["error"], error["message"]);
            tokio::time::sleep(LOOK).await;
        }
    }

    /// Fills the field for a CSS selector.
    pub async fn fill(&self, selector: &str, text: &str) {
        let end = Instant::now() + PATIENCE;
        while let Err(error) = self.try_fill(selector, text).await {
            assert!(passes(&error) && Instant::now() < end, "{selector}: {} {}", error["error"], error["message"]);
            tokio::time::sleep(LOOK).await;
        }
    }

    async fn try_fill(&self, selector: &str, text: &str) -> Result<Value, Value> {
        let element = self.element("css selector", selector).await;
        self.try_do(Method::POST, &format!("/element/{element}/clear"), Some(json!({}))).await?;
        self.try_do(Method::POST, &format!("/element/{element}/value"), Some(json!({ "text": text }))).await
    }

    /// Chooses a file.
    pub async fn attach(&self, selector: &str, path: &str) {
        let element = self.element("css selector", selector).await;
        self.command(&format!("/element/{element}/value"), json!({ "text": path })).await;
    }

    /// Waits until an element exists.
    pub async fn element_at(&self, selector: &str) {
        self.element("css selector", selector).await;
    }

    /// Types into the focused element. Each special key is a separate text.
    pub async fn keys(&self, texts: &[&str]) {
        let press = |key: char| [json!({ "type": "keyDown", "value": key }), json!({ "type": "keyUp", "value": key })];
        let keys: Vec<Value> = texts.iter().flat_map(|text| text.chars()).flat_map(press).collect();
        self.command("/actions", json!({ "actions": [{ "type": "key", "id": "keyboard", "actions": keys }] })).await;
    }

    /// Presses several keys at once.
    pub async fn chord(&self, keys: &[&str]) {
        let down = keys.iter().map(|key| json!({ "type": "keyDown", "value": key }));
        let up = keys.iter().rev().map(|key| json!({ "type": "keyUp", "value": key }));
        let keys: Vec<Value> = down.chain(up).collect();
        self.command("/actions", json!({ "actions": [{ "type": "key", "id": "keyboard", "actions": keys }] })).await;
    }

    /// Taps the middle of the element for a CSS selector with a finger.
    pub async fn tap(&self, selector: &str) {
        self.element_at(selector).await;
        let middle = "const element = document.querySelector(arguments[0]); element.scrollIntoView({ block: 'center' }); \
                      const box = element.getBoundingClientRect(); \
                      return [box.x + box.width / 2, box.y + box.height / 2].map(Math.round);";
        let place = self.run(middle, json!([selector])).await;
        self.drag("touch", (&place[0], &place[1]), (&place[0], &place[1])).await;
    }

    /// Drags with a type of pointer, `mouse` or `touch`, from one point of the window to another.
    pub async fn drag(&self, pointer: &str, from: (&Value, &Value), to: (&Value, &Value)) {
        let go = |(x, y): (&Value, &Value), ms: u64| json!({ "type": "pointerMove", "duration": ms, "x": x, "y": y });
        let moves = [
            go(from, 0),
            json!({ "type": "pointerDown", "button": 0 }),
            go(to, 200),
            json!({ "type": "pause", "duration": 50 }),
            json!({ "type": "pointerUp", "button": 0 }),
        ];
        let actions = json!({ "type": "pointer", "id": pointer, "parameters": { "pointerType": pointer }, "actions": moves });
        self.command("/actions", json!({ "actions": [actions] })).await;
    }

    /// Chooses an option in a list.
    pub async fn choose(&self, selector: &str, value: &str) {
        let mut option = String::new();
        write!(option, "{selector} option[value=\"{value}\"]").expect("text");
        self.click(&option).await;
    }
}
