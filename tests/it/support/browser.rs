//! A browser without scripts, for the dashboard's pages: cookies, forms, files, and no automatic redirects.

use std::collections::HashMap;

use http::{HeaderMap, Method};
use serde_json::json;

use super::client::Call;
use super::{Server, operation};
use crate::users::{OWNER, PASSWORD, anonymous};

/// A browser without scripts: cookies, forms, and no automatic redirects.
pub struct Browser<'s> {
    server: &'s Server,
    pub cookies: HashMap<String, String>,
}

/// A received page.
pub struct Page {
    pub status: u16,
    pub headers: HeaderMap,
    pub text: String,
}

impl Page {
    /// Returns the redirect's target.
    pub fn location(&self) -> &str {
        self.headers.get("location").map_or("", |value| value.to_str().expect("ASCII"))
    }

    /// Returns the token of the page's forms.
    pub fn csrf(&self) -> &str {
        let rest = self.text.split("name=\"csrf\" value=\"").nth(1).unwrap_or_else(|| panic!("a form: {}", self.text));
        rest.split('"').next().expect("the value ends")
    }

    /// Returns the value of the first field with this name.
    pub fn value(&self, name: &str) -> &str {
        let rest = self.text.split(&format!("name=\"{name}\" value=\"")).nth(1).expect("a field");
        rest.split('"').next().expect("the value ends")
    }
}

impl<'s> Browser<'s> {
    /// Creates a browser without cookies.
    pub fn new(server: &'s Server) -> Self {
        Self { server, cookies: HashMap::new() }
    }

    /// Sends any request, with a form as its body.
    pub async fn request(&mut self, method: Method, path: &str, more: &[(&'static str, &str)], form: Option<String>) -> Page {
        let body = form.map(|form| ("application/x-www-form-urlencoded".to_owned(), form.into_bytes()));
        self.ask(method, path, more, body).await
    }

    async fn ask(&mut self, method: Method, path: &str, more: &[(&'static str, &str)], body: Option<(String, Vec<u8>)>) -> Page {
        let mut call = Call::new(operation("system.health"), json!({}));
        (call.method, call.target) = (method, path.to_owned());
        let cookies: Vec<String> = self.cookies.iter().map(|(name, value)| format!("{name}={value}")).collect();
        call = call.header("cookie", cookies.join("; ")).header("accept", "text/html,application/xhtml+xml,*/*;q=0.8");
        for (name, value) in more {
            call = call.header(name, *value);
        }
        if let Some((content_type, bytes)) = body {
            call = call.body(&content_type, bytes);
        }
        let reply = anonymous(self.server).try_send(call).await.expect("an answer");
        for line in reply.headers.get_all("set-cookie") {
            let line = line.to_str().expect("ASCII");
            assert!(line.contains("HttpOnly") && line.contains("SameSite=Lax") && line.contains("Path=/"), "{line}");
            let (name, value) = line.split(';').next().and_then(|pair| pair.split_once('=')).expect("a cookie");
            if line.contains("Max-Age=0") {
                self.cookies.remove(name)
            } else {
                self.cookies.insert(name.into(), value.into())
            };
        }
        Page { status: reply.status, headers: reply.headers.clone(), text: String::from_utf8_lossy(&reply.bytes).into_owned() }
    }

    /// Gets a page.
    pub async fn get(&mut self, path: &str) -> Page {
        self.request(Method::GET, path, &[], None).await
    }

    /// Submits a form of the page, like a click on its button.
    pub async fn post(&mut self, path: &str, fields: &[(&str, &str)]) -> Page {
        let body = serde_urlencoded::to_string(fields).expect("a form");
        self.request(Method::POST, path, &[("sec-fetch-site", "same-origin")], Some(body)).await
    }

    /// Submits a form with a file.
    pub async fn post_file(&mut self, path: &str, fields: &[(&str, &str)], file: (&str, &str, &str, &[u8])) -> Page {
        const BOUNDARY: &str = "----boundary-of-the-form";
        let mut body = Vec::new();
        for (name, value) in fields {
            let head = format!("--{BOUNDARY}\r\nContent-Disposition: form-data; name=\"{name}\"\r\n\r\n{value}\r\n");
            body.extend_from_slice(head.as_bytes());
        }
        let (field, name, content_type, bytes) = file;
        let head = format!(
            "--{BOUNDARY}\r\nContent-Disposition: form-data; name=\"{field}\"; filename=\"{name}\"\r\nContent-Type: {content_type}\r\n\r\n"
        );
        body.extend_from_slice(head.as_bytes());
        body.extend_from_slice(bytes);
        body.extend_from_slice(format!("\r\n--{BOUNDARY}--\r\n").as_bytes());
        let content_type = format!("multipart/form-data; boundary={BOUNDARY}");
        self.ask(Method::POST, path, &[("sec-fetch-site", "same-origin")], Some((content_type, body))).await
    }

    /// Signs in as the owner, then follows to `next`.
    pub async fn sign_in(&mut self, next: &str) -> Page {
        self.sign_in_as(OWNER, PASSWORD, next).await
    }

    /// Signs in, then follows to `next`.
    pub async fn sign_in_as(&mut self, email: &str, password: &str, next: &str) -> Page {
        let page = self.get("/signin").await;
        let csrf = page.csrf().to_owned();
        self.post("/signin", &[("csrf", &csrf), ("email", email), ("password", password), ("next", next)]).await
    }
}
