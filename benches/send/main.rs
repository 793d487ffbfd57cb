//! The speed from a template to a signed message.
//!
//! The target for a campaign is 1,000 messages of 50 KB per second on two processors, signed with RSA-2048. The time left for merging and
//! building is measured on one processor, so that the figures add up.

mod campaign;
#[path = "../shared/mod.rs"]
mod shared;

use std::fmt::Write;
use std::hint::black_box;

use criterion::{BenchmarkGroup, Criterion, Throughput, criterion_group, measurement::WallTime};
use mailmill::base::clock::Timestamp;
use mailmill::base::email::EmailAddress;
use mailmill::engine::mail::body::{Body, Encoded};
use mailmill::engine::mail::dkim::{Algorithm, KeyPair, Signer, SigningKeyOf};
use mailmill::engine::mail::headers::Mailbox;
use mailmill::engine::mail::message::{ListHeaders, Message, OutgoingMessage};
use mailmill::engine::render::merge::{OutputKind, Template};
use serde_json::{Map, Value, json};

const BODY_BYTES: usize = 50 * 1024;
const TIME: Timestamp = Timestamp(1_795_255_445_000);

/// Returns typical newsletter HTML: tables, styles, and every 2,500 bytes a merge field or a recipient's own link.
fn html() -> String {
    let mut html = String::from("<!doctype html>\n<html>\n<body>\n<p>Hello {{ first_name | default(\"there\") }},</p>\n");
    for number in 0.. {
        if html.len() > BODY_BYTES {
            break;
        }
        let _ = writeln!(
            html,
            "    <table role=\"presentation\" width=\"100%\" cellpadding=\"0\" style=\"border-collapse:collapse;font-family:Arial\">\n\
             \x20     <tr><td align=\"left\" style=\"padding:12px 24px;color:#333333\">Warm hands, číslo {number}</td></tr>\n\
             \x20   </table>"
        );
        if number % 10 == 9 {
            let _ = writeln!(
                html,
                "<a href=\"{{{{ link_{} }}}}\">For you, {{{{ firstName | default(\"friend\") }}}}</a>",
                number / 10
            );
        }
    }
    html + "<p><a href=\"{{ unsubscribe_url }}\">Unsubscribe</a></p>\n</body>\n</html>\n"
}

fn fields() -> Map<String, Value> {
    let mut fields = Map::new();
    fields.insert("firstName".into(), json!("Zoë"));
    fields.insert("unsubscribeUrl".into(), json!("https://mail.example.com/u/0123456789abcdef0123456789abcdef"));
    for number in 0..40 {
        fields.insert(
            format!("link_{number}"),
            json!(format!("https://mail.example.com/c/{number}/0123456789abcdef0123456789abcdef")),
        );
    }
    fields
}

struct Mailing {
    html: Body,
    text: Body,
    subject: Template,
    from: EmailAddress,
    to: EmailAddress,
}

impl Mailing {
    fn new() -> Self {
        let template = |source: &str, kind| Template::compile(source, kind).expect("a template");
        let address = |text| EmailAddress::parse(text).expect("an address");
        Self {
            html: Body::new(template(&html(), OutputKind::Html)),
            text: Body::new(template(&"Hello {{ first_name }}, warm hands.\n".repeat(40), OutputKind::Text)),
            subject: template("{{ first_name }}, warm hands for winter", OutputKind::Header),
            from: address("news@example.com"),
            to: address("zoe@example.org"),
        }
    }

    fn message(&self, fields: &Map<String, Value>) -> Message {
        let (html, text) = (self.html.fill(fields).expect("filled"), self.text.fill(fields).expect("filled"));
        let subject = self.subject.render(fields).expect("filled");
        let id = "aefk3m2qz7x4w5yhbn6tcrd2jsvgl3upoi5kq7aeyz4m@example.com";
        OutgoingMessage {
            from: Mailbox { name: "Warm Hands", address: &self.from },
            to: Mailbox { name: "Zoë Müller", address: &self.to },
            reply_to: None,
            subject: &subject,
            text: Some(&text),
            html: Some(&html),
            images: &[],
            message_id: id,
            date: TIME,
            list: Some(ListHeaders {
                unsubscribe_url: "https://mail.example.com/u/0123456789abcdef0123456789abcdef",
                unsubscribe_mailto: Some("mailto:u+0123456789abcdef0123456789abcdef@mail.example.com?subject=unsubscribe"),
                one_click: true,
                list_id: Some("news.example.com"),
            }),
            feedback_id: Some("m1:a1:campaign:mailmill"),
            is_automatic: false,
            extra: &[],
        }
        .write()
    }
}

fn signing(group: &mut BenchmarkGroup<'_, WallTime>, mailing: &Mailing, fields: &Map<String, Value>) {
    let pairs = [(Algorithm::Rsa, "r"), (Algorithm::Ed25519, "e")].map(|(kind, name)| (kind, name, KeyPair::generate(kind)));
    let keys = pairs.each_ref().map(|(algorithm, selector, pair)| SigningKeyOf {
        selector,
        algorithm: *algorithm,
        private: pair.private.expose(),
    });
    let signer = |keys| Signer::new("example.com", keys).expect("keys");
    let (both, rsa, ed25519) = (signer(&keys), signer(&keys[..1]), signer(&keys[1..]));
    let message = mailing.message(fields);
    for (name, signer) in [("RSA-2048", &rsa), ("Ed25519", &ed25519), ("both", &both)] {
        group.bench_function(format!("signed by {name}"), |b| b.iter(|| signer.sign(black_box(&message.bytes), TIME)));
    }
    group.bench_function("merged, built and signed by both", |b| {
        b.iter(|| {
            let mut message = mailing.message(black_box(fields));
            let signatures = both.sign(&message.bytes, TIME);
            message.put_first(&signatures);
            message
        });
    });
}

fn messages(c: &mut Criterion) {
    let (mailing, fields) = (Mailing::new(), fields());
    let template = Template::compile(&html(), OutputKind::Html).expect("a template");
    let mut group = c.benchmark_group("message");
    group.throughput(Throughput::Elements(1));
    group.bench_function("html merged, literals encoded once", |b| {
        b.iter(|| mailing.html.fill(black_box(&fields)).expect("filled"))
    });
    group.bench_function("html merged, then all encoded", |b| {
        b.iter(|| Encoded::new(&template.render(black_box(&fields)).expect("filled")));
    });
    group.bench_function("merged and built", |b| b.iter(|| mailing.message(black_box(&fields))));
    signing(&mut group, &mailing, &fields);
    group.finish();
}

criterion_group!(benches, messages);

/// `CAMPAIGN_ONLY=1` skips the small measurements.
fn main() {
    if std::env::var_os("CAMPAIGN_ONLY").is_none() {
        benches();
        Criterion::default().configure_from_args().final_summary();
    }
    campaign::run();
}
