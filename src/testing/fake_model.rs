//! A fake language model for tests. It supports the OpenAI-compatible protocol and the Anthropic protocol, checks that requests follow the
//! protocol, and sends the responses that a test prepares.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex};
use std::thread::{Builder, JoinHandle};
use std::time::Duration;

use serde_json::{Value, json};

use crate::features::emails::brief::{self, Constraint, Fact, FactKind, Part, Span, Story};
use crate::features::projects::brand::Brand;

#[derive(Clone, Debug)]
pub enum Reaction {
    /// Sends text or JSON in the protocol's envelope. If the text is an email document, sends only the part that the request asks
    /// for.
    Text(String),
    /// Sends text that was truncated because the model reached its length limit.
    Cut(String),
    /// Sends the model's refusal.
    Refuse(String),
    /// Sends this status with the protocol's error envelope, and a `Retry-After` header in seconds if given.
    Status(u16, String, Option<u64>),
    /// Sends these bytes as the body of a 200 response.
    Bytes(Vec<u8>),
    /// Sends the head and the first bytes of a response, then closes the connection.
    Broken,
    /// Sends nothing for this time.
    Silent(Duration),
}

impl Reaction {
    /// Returns the email document in the reaction's text, if there is one.
    fn document(&self) -> Option<Value> {
        let Self::Text(text) = self else { return None };
        serde_json::from_str(text).ok().filter(|json: &Value| json["blocks"].is_array())
    }
}

#[derive(Clone, Debug)]
pub struct ModelCall {
    pub path: String,
    pub headers: Vec<(String, String)>,
    pub body: Value,
}

impl ModelCall {
    /// Returns the value of a header; `name` is in lowercase.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }

    /// Returns the name and the JSON schema of the structured output that the request asks for.
    pub fn schema(&self) -> (&str, &Value) {
        let openai = &self.body["response_format"]["json_schema"];
        let (name, schema) = match openai.is_object() {
            true => (&openai["name"], &openai["schema"]),
            false => (&self.body["tools"][0]["name"], &self.body["tools"][0]["input_schema"]),
        };
        (name.as_str().unwrap_or_default(), schema)
    }

    /// Returns whether the request asks the model to correct errors in its last response.
    pub fn is_correction(&self) -> bool {
        let turns = self.body["messages"].as_array().expect("messages");
        self.schema().0 == "repair_email" || turns.iter().filter(|turn| turn["role"] == "user").count() > 1
    }

    /// Returns the part of `document` that this request asks for, as a model would write it.
    fn answer(&self, document: &Value) -> String {
        let (name, schema) = self.schema();
        let blocks = document["blocks"].as_array().expect("a document has blocks");
        let content = &blocks[1..blocks.len() - 1];
        let answer = match name {
            "outline_email" => {
                let footer = blocks.last().expect("a document has a footer");
                let text = |name: &str| footer[name].as_str().unwrap_or("…").to_owned();
                let planned = |block: &Value| json!({ "id": block["id"], "type": block["type"], "says": "…" });
                let mut outline = json!({
                    "subject": document["subject"], "preheader": document["preheader"],
                    "footer": { "reason": text("reason"), "unsubscribe": text("unsubscribe"), "view": text("view") },
                });
                if schema["properties"].get("blocks").is_some() {
                    outline["purpose"] = document["purpose"].clone();
                    outline["layout"] = document["style"]["layout"].clone();
                    outline["blocks"] = content.iter().map(planned).collect();
                }
                outline
            }
            "write_blocks" => {
                let ids = schema["properties"].as_object().expect("the schema has properties").keys();
                let fields = |id: &String| {
                    let mut block = content.iter().find(|block| block["id"] == **id).cloned().unwrap_or_default();
                    if let Some(fields) = block.as_object_mut() {
                        fields.retain(|name, _| name != "id" && name != "type");
                    }
                    (id.clone(), block)
                };
                Value::Object(ids.map(fields).collect())
            }
            "repair_email" => {
                let set = |path: &str| json!({ "op": "set", "path": path, "value": document[path] });
                json!({ "summary": "Corrected.", "changes": [set("subject"), set("preheader"), set("blocks")] })
            }
            _ => document.clone(),
        };
        answer.to_string()
    }

    pub fn last_turn(&self) -> &str {
        let turns = self.body["messages"].as_array().expect("messages");
        turns.last().and_then(|turn| turn["content"].as_str()).expect("text")
    }
}

type Script = Arc<Mutex<dyn FnMut(&ModelCall) -> Reaction + Send>>;

pub struct FakeModel {
    pub address: SocketAddr,
    asked: Receiver<ModelCall>,
    accepting: Option<JoinHandle<()>>,
    stop: Arc<std::sync::atomic::AtomicBool>,
}

impl FakeModel {
    /// Starts a server that performs these reactions in order and then repeats the last one. A reaction with an email document is used for
    /// all steps of writing an email, until a request asks for corrections or the next email starts.
    pub fn with(reactions: Vec<Reaction>) -> Self {
        let mut left = reactions.into_iter();
        let mut now: Option<Reaction> = None;
        Self::by(move |call| {
            let continues = call.schema().0 == "write_blocks" && !call.is_correction();
            if !(continues && now.as_ref().is_some_and(|now| now.document().is_some())) {
                now = left.next().or(now.take());
            }
            now.clone().expect("a server has at least one reaction")
        })
    }

    /// Starts a server that chooses its reaction to each request with `script`. Requests for a brief receive the built-in parser's brief,
    /// and are not recorded.
    pub fn by(script: impl FnMut(&ModelCall) -> Reaction + Send + 'static) -> Self {
        Self::scripted(script, false)
    }

    /// Starts a server that chooses its reaction to each request with `script`, including requests for a brief.
    pub fn briefing(script: impl FnMut(&ModelCall) -> Reaction + Send + 'static) -> Self {
        Self::scripted(script, true)
    }

    fn scripted(script: impl FnMut(&ModelCall) -> Reaction + Send + 'static, reads_briefs: bool) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
        let address = listener.local_addr().expect("bound");
        let (tell, asked) = channel();
        let stop = Arc::new(std::sync::atomic::AtomicBool::new(false));
        let stopped = stop.clone();
        let script: Script = Arc::new(Mutex::new(script));
        let accept = move || {
            for stream in listener.incoming() {
                if stopped.load(std::sync::atomic::Ordering::SeqCst) {
                    return;
                }
                let (script, tell) = (script.clone(), tell.clone());
                let serve = move || drop(serve(stream.expect("a connection"), (&script, reads_briefs), &tell));
                Builder::new().name("model peer connection".into()).spawn(serve).expect("a thread");
            }
        };
        let accepting = Builder::new().name("model peer".into()).spawn(accept).expect("a thread");
        Self { address, asked, accepting: Some(accepting), stop }
    }

    /// Returns the server's URL, as in the settings of an OpenAI-compatible model.
    pub fn url(&self) -> String {
        format!("http://{}/v1", self.address)
    }

    /// Returns the requests received since the last call.
    pub fn asked(&self) -> Vec<ModelCall> {
        self.asked.try_iter().collect()
    }
}

impl Drop for FakeModel {
    fn drop(&mut self) {
        self.stop.store(true, std::sync::atomic::Ordering::SeqCst);
        drop(TcpStream::connect(self.address));
        if let Some(accepting) = self.accepting.take() {
            accepting.join().expect("the server does not panic");
        }
    }
}

fn serve(stream: TcpStream, (script, reads_briefs): (&Script, bool), tell: &Sender<ModelCall>) -> std::io::Result<()> {
    let mut reader = BufReader::new(stream.try_clone()?);
    let mut line = String::new();
    reader.read_line(&mut line)?;
    let Some(path) = line.split(' ').nth(1).map(str::to_owned) else { return Ok(()) };
    let mut headers = Vec::new();
    loop {
        let mut line = String::new();
        reader.read_line(&mut line)?;
        match line.trim().split_once(':') {
            Some((name, value)) => headers.push((name.to_ascii_lowercase(), value.trim().to_owned())),
            None => break,
        }
    }
    let mut asked = ModelCall { path, headers, body: Value::Null };
    let length: usize = asked.header("content-length").and_then(|length| length.parse().ok()).unwrap_or(0);
    let mut body = vec![0; length];
    reader.read_exact(&mut body)?;
    asked.body = serde_json::from_slice(&body).unwrap_or_default();
    let is_answered_by_rules = asked.schema().0 == "make_brief" && !reads_briefs;
    let reaction = match complaint(&asked) {
        Some(complaint) => Reaction::Status(400, complaint, None),
        None if is_answered_by_rules => Reaction::Text(brief_by_rules(asked.last_turn()).to_string()),
        None => (script.lock().expect("scripts do not panic"))(&asked),
    };
    let reaction = match reaction.document() {
        Some(document) => Reaction::Text(asked.answer(&document)),
        None => reaction,
    };
    let is_anthropic = asked.path.ends_with("/messages");
    let has_tool = asked.body.get("tools").is_some();
    if !is_answered_by_rules {
        drop(tell.send(asked));
    }
    react(stream, reaction, is_anthropic, has_tool)
}

/// Returns the brief that the built-in parser reads from the prompt in a request, in the format of a model's response.
fn brief_by_rules(request: &str) -> Value {
    let prompt = request.trim().trim_start_matches("<request>\n").trim_end_matches("\n</request>");
    let brief = brief::parse(prompt, &Brand::default(), None, jiff::civil::date(2026, 11, 23));
    let quote = |span: Option<Span>| {
        let Span { start, end } = span?;
        Some(prompt.chars().skip(start as usize).take((end - start) as usize).collect::<String>())
    };
    let part = |part: &Option<Part>| part.as_ref().and_then(|part| quote(part.span));
    let parts = |parts: &[Part]| parts.iter().filter_map(|part| quote(part.span)).collect::<Vec<_>>();
    let fact = |fact: &Fact| {
        let sentence = (fact.kind == FactKind::Sentence).then_some(&fact.text);
        let quote = quote(fact.span)?;
        Some(json!({
            "kind": fact.kind, "role": fact.role, "quote": quote, "sentence": sentence, "value": null, "story": fact.story,
        }))
    };
    let story = |story: &Story| json!({ "heading": part(&story.heading), "quote": quote(story.text.span), "link": story.link });
    let cta = brief.cta.as_ref().map(|cta| json!({ "label": part(&cta.label), "link": cta.link }));
    let signature = brief.signature.as_ref().and_then(|signature| {
        let quote = quote(signature.span)?;
        Some(json!({ "name": signature.name, "title": signature.title, "quote": quote }))
    });
    let constraint = |one: &Constraint| json!({ "kind": one.kind, "value": one.value, "quote": quote(one.span) });
    json!({
        "purpose": brief.purpose, "audience": part(&brief.audience), "subject": part(&brief.subject),
        "preheader": part(&brief.preheader), "headline": part(&brief.headline),
        "facts": brief.facts.iter().filter_map(fact).collect::<Vec<_>>(),
        "stories": brief.stories.iter().map(story).collect::<Vec<_>>(), "offer": null,
        "event": brief.event.as_ref().and_then(|event| quote(event.name.span)), "cta": cta, "signature": signature,
        "tone": parts(&brief.tone), "constraints": brief.constraints.iter().map(constraint).collect::<Vec<_>>(),
        "instructions": parts(&brief.instructions), "unclear": parts(&brief.unclear),
    })
}

/// Returns an error message if the request violates its protocol.
fn complaint(asked: &ModelCall) -> Option<String> {
    let body = &asked.body;
    let says = |problem: &str| Some(problem.to_owned());
    if !body["model"].is_string() {
        return says("you must provide a model parameter");
    }
    let messages = body["messages"].as_array().filter(|messages| !messages.is_empty())?;
    let roles: Vec<&str> = messages.iter().filter_map(|message| message["role"].as_str()).collect();
    let is_empty = |content: &Value| content.as_str().is_some_and(str::is_empty) || content.as_array().is_some_and(Vec::is_empty);
    if messages.iter().any(|message| message["content"].is_null() || is_empty(&message["content"])) {
        return says("messages: text content blocks must be non-empty");
    }
    if asked.path.ends_with("/messages") {
        if asked.header("anthropic-version").is_none() {
            return says("anthropic-version: header is required");
        }
        if !body["max_tokens"].is_u64() {
            return says("max_tokens: Field required");
        }
        if roles.first() != Some(&"user") || roles.windows(2).any(|pair| pair[0] == pair[1]) || roles.contains(&"system") {
            return says("messages: roles must alternate between user and assistant, beginning with user");
        }
        let names: Vec<&Value> = body["tools"].as_array().into_iter().flatten().map(|tool| &tool["name"]).collect();
        if body.get("tool_choice").is_some_and(|choice| !names.contains(&&choice["name"])) {
            return says("tool_choice: tool not found in provided tools");
        }
        return None;
    }
    if !asked.path.ends_with("/chat/completions") {
        return says("unknown path");
    }
    let format = &body["response_format"];
    if format["type"] == "json_schema"
        && !(format["json_schema"]["name"].is_string() && format["json_schema"]["schema"].is_object())
    {
        return says("Missing required parameter: response_format.json_schema");
    }
    None
}

fn react(mut stream: TcpStream, reaction: Reaction, is_anthropic: bool, has_tool: bool) -> std::io::Result<()> {
    let finished = |text: &str, reason: (&str, &str)| match is_anthropic {
        true => {
            let part = match (has_tool, serde_json::from_str::<Value>(text)) {
                (true, Ok(input)) => json!({ "type": "tool_use", "id": "toolu_1", "name": "answer", "input": input }),
                _ => json!({ "type": "text", "text": text }),
            };
            json!({
                "id": "msg_1", "type": "message", "role": "assistant", "model": "peer", "content": [part], "stop_reason": reason.1,
                "usage": { "input_tokens": 100, "output_tokens": 20 },
            })
        }
        false => json!({
            "id": "chatcmpl-1", "object": "chat.completion", "created": 0, "model": "peer",
            "choices": [{ "index": 0, "message": { "role": "assistant", "content": text, "refusal": null }, "finish_reason": reason.0 }],
            "usage": { "prompt_tokens": 100, "completion_tokens": 20, "total_tokens": 120 },
        }),
    };
    let (status, retry_after, body) = match reaction {
        Reaction::Text(text) => {
            (200, None, finished(&text, ("stop", if has_tool { "tool_use" } else { "end_turn" })).to_string().into_bytes())
        }
        Reaction::Cut(text) => (200, None, finished(&text, ("length", "max_tokens")).to_string().into_bytes()),
        Reaction::Refuse(text) => {
            let mut body = finished(&text, ("stop", "refusal"));
            if !is_anthropic {
                body["choices"][0]["message"] = json!({ "role": "assistant", "content": null, "refusal": text });
            }
            (200, None, body.to_string().into_bytes())
        }
        Reaction::Status(status, message, retry_after) => {
            let body = match is_anthropic {
                true => json!({ "type": "error", "error": { "type": "error", "message": message } }),
                false => json!({ "error": { "message": message, "type": "error", "param": null, "code": null } }),
            };
            (status, retry_after, body.to_string().into_bytes())
        }
        Reaction::Bytes(bytes) => (200, None, bytes),
        Reaction::Broken => {
            return stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 5000\r\n\r\n{\"choi");
        }
        Reaction::Silent(time) => {
            // Sends nothing: the client gives up before this thread wakes. The test does not wait for the thread.
            std::thread::sleep(time);
            return Ok(());
        }
    };
    let retry_after = retry_after.map_or(String::new(), |seconds| format!("Retry-After: {seconds}\r\n"));
    let length = body.len();
    write!(
        stream,
        "HTTP/1.1 {status} Status\r\nContent-Type: application/json\r\n{retry_after}Content-Length: {length}\r\nConnection: close\r\n\r\n"
    )?;
    stream.write_all(&body)
}
