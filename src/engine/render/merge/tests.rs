//! Tests for merge fields: their output, rejected templates, and limits.

use std::borrow::Cow;
use std::time::{Duration, Instant};

use minijinja::{AutoEscape, Environment, UndefinedBehavior};
use proptest::prelude::*;
use serde_json::{Map, Value as Json, json};

use super::*;

fn fields(json: Json) -> Map<String, Json> {
    match json {
        Json::Object(entries) => entries,
        other => panic!("{other} is not an object"),
    }
}

/// Returns the data of one recipient, with a value of each kind.
fn ana() -> Map<String, Json> {
    fields(json!({
        "firstName": "Ana",
        "last_name": "O'Neil <b>",
        "empty": "",
        "blank": "  ",
        "nothing": null,
        "age": 42,
        "price": 19.5,
        "whole": 3.0,
        "points": "150",
        "vip": true,
        "no": false,
        "tags": ["a", "b & c", 3],
        "none_of_them": [],
        "order": { "total": "12.50", "shipTo": { "city": "Köln" }, "items": [
            { "name": "Tea", "count": 2 }, { "name": "Pot", "count": 1 },
        ] },
        "joined": "2026-11-21T09:30:00+05:00",
        "born": "1984-02-29",
        "link": "https://example.com/?a=1&b=2",
        "script": "javascript:alert(1)",
    }))
}

fn rendered(source: &str, kind: OutputKind) -> Result<String, MergeError> {
    Template::compile(source, kind)?.render(&ana())
}

fn text(source: &str) -> String {
    rendered(source, OutputKind::Text).unwrap_or_else(|error| panic!("{source}: {error}"))
}

#[test]
fn fields_are_filled_in() {
    for (source, expected) in [
        ("", ""),
        ("no fields { } }} {# {a", "no fields { } }} {# {a"),
        ("Hello {{ firstName }}!", "Hello Ana!"),
        ("{{first_name}} {{ lastName }}", "Ana O'Neil <b>"),
        ("{{ order.total }} {{ order.ship_to.city }}", "12.50 Köln"),
        ("{{ age }} {{ price }} {{ whole }} {{ vip }}", "42 19.5 3 true"),
        ("{{ \"{{\" }} {{ 'a' }} {{ 7 }} {{ -1.5 }} {{ true }}", "{{ a 7 -1.5 true"),
        ("a\r\nb\rc {{ empty }}|", "a\nb\nc |"),
        ("a \n {{- firstName -}} \n b", "aAnab"),
        ("{{ \"a\\\"b\\n\\\\\" }}", "a\"b\n\\"),
        ("{{\u{20}\n\tfirst_name\n}}", "Ana"),
    ] {
        assert_eq!(text(source), expected, "{source}");
    }
}

#[test]
fn filters_change_values() {
    for (source, expected) in [
        ("{{ gone | default(\"there\") }}", "there"),
        ("{{ gone|default('x', true) }} {{ gone | default(3) }}", "x 3"),
        ("{{ empty | default(\"e\") }}{{ blank | default(\"b\") }}{{ nothing | default(\"n\") }}", "ebn"),
        ("{{ no | default(\"x\") }} {{ firstName | default(\"x\") }}", "false Ana"),
        ("{{ gone.further | upper | default(\"there\") | upper }}", "THERE"),
        ("{{ firstName | upper }} {{ firstName | lower }}", "ANA ana"),
        ("{{ 'jean-luc o\\'hara' | title }} {{ 'hELLO wORLD' | capitalize }}", "Jean-Luc O'hara Hello world"),
        ("{{ blank | trim }}|{{ ' a ' | trim }}|", "|a|"),
        ("{{ 'one two three' | truncate(9) }} {{ 'abcdef' | truncate(4) }} {{ 'ab' | truncate(2) }}", "one two… abc… ab"),
        ("{{ 'a_b_c' | replace(\"_\", \" \") }}", "a b c"),
        (
            "{{ price | round }} {{ price | round(2) }} {{ points | round(1) }} {{ age | round }} {{ 2.5 | round }}",
            "20 19.50 150.0 42 3",
        ),
        ("{{ tags | join(\", \") }} {{ tags | join }}", "a, b & c, 3 ab & c3"),
        ("{{ tags | length }} {{ firstName | length }} {{ order | length }}", "3 3 3"),
        ("{{ joined | date(\"%d.%m.%Y %H:%M\") }} {{ born | date(\"%B %-d, %Y\") }}", "21.11.2026 09:30 February 29, 1984"),
    ] {
        assert_eq!(text(source), expected, "{source}");
    }
}

#[test]
fn dates_are_in_the_language_of_the_text_or_else_of_the_reader() {
    let source = "{{ born | date(\"%-d %B\") }}";
    let filled = |language: Option<&str>, reader: &str| {
        let mut fields = ana();
        fields.insert("language".into(), reader.into());
        Template::compile(source, OutputKind::Text)
            .expect("the template is valid")
            .in_language(language)
            .render(&fields)
            .expect("every field has a value")
    };
    assert_eq!(filled(Some("de-AT"), "fr"), "29 Februar", "the text around the date is German");
    assert_eq!(filled(None, "fr-CA"), "29 février");
    assert_eq!(filled(Some("ja"), "fr"), "29 février", "the date names in the language of the text are unknown");
    assert_eq!((filled(None, "ja").as_str(), text(source).as_str()), ("29 February", "29 February"));
    assert_eq!(text("{{ born | date(\"%-d %b\", \"nl\") }}"), "29 feb.");
}

#[test]
fn conditions_select_branches() {
    for (condition, expected) in [
        ("firstName", true),
        ("gone", false),
        ("empty or blank or nothing or no or none_of_them", false),
        ("not gone and vip", true),
        ("gone or vip and no", false),
        ("(gone or vip) and not (no or gone)", true),
        ("firstName == \"Ana\"", true),
        ("firstName != \"Ana\"", false),
        ("gone == \"x\" or gone < 1 or gone >= 0", false),
        ("gone != \"x\"", true),
        ("age > 41 and age >= 42 and age < 43 and age <= 42 and age == 42", true),
        ("points > 20 and points == 150", true),
        ("points > \"20\"", false),
        ("'a' in tags and 3 in tags and 'x' not in tags", true),
        ("'n' in firstName and 'total' in order and 'x' not in order", true),
        ("tags | length > 2", true),
        ("firstName | lower == 'ana'", true),
        ("gone is defined", false),
        ("gone is undefined and gone is none and firstName is not none", true),
        ("empty is defined", true),
        ("vip == true and no == false", true),
        ("tags == tags", false),
        ("true and not false", true),
    ] {
        let chosen = text(&format!("{{% if {condition} %}}yes{{% else %}}no{{% endif %}}"));
        assert_eq!(chosen, if expected { "yes" } else { "no" }, "{condition}");
    }
    let source = "{% if gone %}1{% elif age > 50 %}2{% elif vip %}3{% else %}4{% endif %}{% if no %}5{% endif %}";
    assert_eq!(text(source), "3");
}

#[test]
fn loops_iterate_over_lists() {
    for (source, expected) in [
        (
            "{% for item in order.items %}{{ loop.index }}. {{ item.name }} x{{ item.count }}\n{% endfor %}",
            "1. Tea x2\n2. Pot x1\n",
        ),
        ("{% for t in tags %}{{ t }}{% if not loop.last %}, {% endif %}{% endfor %}", "a, b & c, 3"),
        ("{% for t in none_of_them %}{{ t }}{% endfor %}", ""),
        ("{% if gone %}{% for t in gone %}{{ t }}{% endfor %}{% endif %}", ""),
        ("{% for a in tags %}{% for b in tags %}{{ loop.index0 }}{% endfor %}{{ loop.length }}{% endfor %}", "012301230123"),
        ("{% for firstName in tags %}{{ firstName }}{% endfor %}{{ firstName }}", "ab & c3Ana"),
    ] {
        assert_eq!(text(source), expected, "{source}");
    }
}

/// Data whose values are built on each lookup, like the values of custom fields.
struct Made;

impl Fields for Made {
    fn field(&self, name: &str) -> Value<'_> {
        match name {
            "plan" => Value::from(json!({ "name": "Gold", "seats": [1, 2] })),
            "rows" => Value::from(json!([{ "a": "1" }, { "a": "2" }])),
            "first_name" => Value::Text(Cow::Owned("Ana".to_owned())),
            _ => Value::Missing,
        }
    }
}

#[test]
fn data_may_be_built_on_request() {
    let source =
        "{{ firstName }} {{ plan.name }} {% for s in plan.seats %}{{ s }}{% endfor %}{% for r in rows %}{{ r.a }}{% endfor %}";
    let template = Template::compile(source, OutputKind::Text).expect("the template is valid");
    assert_eq!(template.render(&Made).as_deref(), Ok("Ana Gold 1212"));
}

#[test]
fn html_is_escaped_and_links_stay_links() {
    for (source, expected) in [
        ("{{ last_name }}", "O&#x27;Neil &lt;b&gt;"),
        ("<a title=\"{{ '\"><script>' }}\">", "<a title=\"&quot;&gt;&lt;script&gt;\">"),
        ("{{ first_name | default(&quot;you &amp; me&quot;) }}", "Ana"),
        ("{{ gone | default(&quot;you &amp; me&quot;) }}{{&nbsp;gone | default(&#39;!&#39;)&nbsp;}}", "you &amp; me!"),
        ("{% if age &gt; 3 &#38;&#38; %}", ""),
        (
            "<a href=\"{{ link }}\">{{ link }}</a>",
            "<a href=\"https://example.com/?a=1&amp;b=2\">https://example.com/?a=1&amp;b=2</a>",
        ),
        ("<a href=\"{{ script }}\">", "<a href=\"#\">"),
        ("<a href='  {{ script | upper }}'>", "<a href='  #'>"),
        ("<a href=\"{{ ' java\\nscript\\t:x' }}\">", "<a href=\"#\">"),
        ("<img src=\"{{ 'data:text/html,x' }}\"><a href=\"{{ 'vbscript:x' }}\">", "<img src=\"#\"><a href=\"#\">"),
        (
            "<a href=\"{{ 'mailto:a@b.c' }}\"><a href=\"{{ '/a:b' }}\"><a href=\"{{ 'tel:+1' }}\">",
            "<a href=\"mailto:a@b.c\"><a href=\"/a:b\"><a href=\"tel:+1\">",
        ),
        ("<a href=\"{{ 'java' }}{{ 'script:x' }}\">", "<a href=\"javascript%3Ax\">"),
        ("<a href=\"https://x/{{ script }}\">", "<a href=\"https://x/javascript:alert(1)\">"),
        ("{{ script }}", "javascript:alert(1)"),
    ] {
        match rendered(source, OutputKind::Html) {
            Ok(found) => assert_eq!(found, expected, "{source}"),
            Err(error) => assert!(expected.is_empty(), "{source}: {error}"),
        }
    }
}

/// Regression test: the plain text showed `(javascript:…)` from a contact's field, where the HTML had `#`.
#[test]
fn no_value_in_plain_text_completes_a_url_that_browsers_execute() {
    for (source, expected) in [
        ("Shop ({{ script }}) now", "Shop (#) now"),
        ("({{ ' Java\\tScript:x' }})", "(#)"),
        ("({{ 'java' }}{{ 'script:x' }})", "(java#)"),
        ("(java{{ 'script:x' }})", "(java#)"),
        ("({% if firstName %}{{ script }}{% else %}{{ link }}{% endif %})", "(#)"),
        ("({{ 'data:text/html,x' }})({{ 'vbscript:x' }})", "(#)(#)"),
        ("({{ link }})", "(https://example.com/?a=1&b=2)"),
        ("(https://x/{{ script }})", "(https://x/javascript:alert(1))"),
        ("({{ 'Data: 7' }}) {{ script }}", "(Data: 7) javascript:alert(1)"),
    ] {
        assert_eq!(text(source), expected, "{source}");
    }
}

#[test]
fn a_header_is_one_line() {
    let source = "Hi\r\n {{ '\\nBcc: eve@example.net' }}{{ \"a\\tb\" }}";
    assert_eq!(rendered(source, OutputKind::Header).as_deref(), Ok("Hi   Bcc: eve@example.neta b"));
    let breaks = fields(json!({ "a": "x\r\nBcc: y\u{0}\u{85}\u{2028}z" }));
    let template = Template::compile("{{ a }} & more", OutputKind::Header).expect("the template is valid");
    assert_eq!(template.render(&breaks).as_deref(), Ok("x  Bcc: y   z & more"));
}

#[test]
fn missing_values_are_found_and_named() {
    for (source, missing) in [
        ("{{ gone }}", Some("gone")),
        ("{{ nothing }}", Some("nothing")),
        ("{{ order.gone.further }}", Some("order.gone.further")),
        ("{{ firstName.x | upper }}", Some("firstName.x")),
        ("{% for x in gone %}{% endfor %}", Some("gone")),
        ("{{ gone | default('') }}{{ empty }}", None),
        ("{% if gone %}{{ gone }}{% endif %}", None),
    ] {
        let error = rendered(source, OutputKind::Text).err();
        assert_eq!(error, missing.map(|name| MergeError::Missing(name.to_owned())), "{source}");
        let template = Template::compile(source, OutputKind::Text).expect("the template is valid");
        assert_eq!(template.missing(&ana()), missing, "{source}");
    }
    assert_eq!(
        MergeError::Missing("plan".to_owned()).to_string(),
        "the field plan has no value; add a value, or write {{ plan | default(\"…\") }} or {% if plan %}"
    );
}

#[test]
fn fields_without_guard_are_listed() {
    for (source, expected) in [
        ("{{ a }}{{ b.c }}{{ a }}{{ d | upper }}{{ e | default('x') }}", vec!["a", "b.c", "d"]),
        ("{{ firstName }}{{ first_name }}", vec!["firstName"]),
        ("{% if a %}{{ a }}{% else %}{{ b }}{% endif %}{{ a }}", vec!["b", "a"]),
        ("{% if firstName %}{{ first_name }}{% endif %}", vec![]),
        ("{% if a and b %}{{ a }}{{ b }}{% endif %}", vec![]),
        ("{% if a or b %}{{ a }}{% endif %}", vec!["a"]),
        ("{% if not a %}{{ b }}{% else %}{{ a }}{% endif %}", vec!["b"]),
        ("{% if not (a or not b) %}{{ a }}{{ b }}{% endif %}", vec!["a"]),
        ("{% if a == 1 %}{{ a }}{% endif %}{% if b != 1 %}{{ b }}{% else %}{{ b }}{% endif %}", vec!["b"]),
        ("{% if a is defined %}{{ a }}{% endif %}{% if b is undefined %}{{ c }}{% elif c %}{{ b }}{% endif %}", vec!["c"]),
        ("{% if a.b %}{{ a }}{{ a.b }}{{ a.b.c }}{{ a.d }}{% endif %}", vec!["a.b.c", "a.d"]),
        ("{% for x in xs %}{{ x }}{{ x.y }}{{ loop.index }}{{ z }}{% endfor %}{{ x }}", vec!["xs", "z", "x"]),
        ("{% if xs %}{% for x in xs %}{{ x }}{% endfor %}{% endif %}{{ 'a' }}", vec![]),
        ("{% if a | default('x') %}{{ a }}{% endif %}", vec!["a"]),
    ] {
        let template = Template::compile(source, OutputKind::Text).unwrap_or_else(|error| panic!("{source}: {error}"));
        assert_eq!(template.fields().collect::<Vec<_>>(), expected, "{source}");
    }
}

#[test]
fn other_syntax_is_rejected_with_line_and_remedy() {
    for (source, word) in [
        ("{{ a", "close it"),
        ("{% if a", "close it"),
        ("{% if a %}", "{% endif %}"),
        ("{% for a in b %}{% endif %}", "{% endfor %}"),
        ("{% if a %}{% else %}{% else %}{% endif %}", "{% endif %}"),
        ("{% if a %}{% else %}{% elif b %}{% endif %}", "{% endif %}"),
        ("{% endif %}", "remove it"),
        ("{% set a = 1 %}", "as a variable"),
        ("{% set a %}", "as a variable"),
        ("{% macro a() %}", "macro"),
        ("{% include \"a\" %}", "one template"),
        ("{% import \"a\" as b %}", "one template"),
        ("{% extends \"a\" %}", "one template"),
        ("{% block a %}", "one template"),
        ("{% call a() %}", "call"),
        ("{% filter upper %}", "after each field"),
        ("{% raw %}", "as text"),
        ("{% for x in range(9) %}{% endfor %}", "functions"),
        ("{% for x in 9 %}{% endfor %}", "list from the data"),
        ("{% for x, y in z %}{% endfor %}", "{% for item in items %}"),
        ("{% for x in y recursive %}{% endfor %}", "recursive"),
        ("{{ a ~ b }}", "one after the other"),
        ("{{ a + 1 }}", "one after the other"),
        ("{{ 'a' * 1000 }}", "as a variable"),
        ("{{ a[0] }}", "loop over"),
        ("{{ a() }}", "functions"),
        ("{{ a.b() }}", "functions"),
        ("{{ a if b else c }}", "{% if"),
        ("{{ a == b }}", "=="),
        ("{{ }}", "name"),
        ("{{ a | }}", "name"),
        ("{{ a. }}", "name"),
        ("{{ a b }}", "unexpected"),
        ("{{ 'a }}", "close the string"),
        ("{{ 'a\\x' }}", "backslash"),
        ("{{ <b>a</b> }}", "pass the result"),
        ("{{ größe }}", "merge field"),
        ("{{ a | safe }}", "escaped where necessary"),
        ("{{ a | shuffle }}", "the filters are default"),
        ("{{ a | default }}", "default(\"there\")"),
        ("{{ a | default(b) }}", "quotes"),
        ("{{ a | default(\"x\" }}", ")"),
        ("{{ a | upper(1) }}", "arguments"),
        ("{{ a | replace(\"\", \"x\") }}", "two quoted strings"),
        ("{{ a | replace(\"a\", \"b\", 3) }}", "too many arguments"),
        ("{{ a | truncate(0) }}", "above 0"),
        ("{{ a | round(20) }}", "decimals"),
        ("{{ a | date(\"%Q%\") }}", "format"),
        ("{{ a | date(\"%d\", \"xx\") }}", "nl"),
        ("{{ not }}", "reserved word"),
        ("{% if a is odd %}", "is defined"),
        ("{% if (a %}", "parenthesis"),
        ("{% if a not b %}", "not in"),
        ("{{ 1.2.3 }}", "number"),
        ("{# note #}", "comment"),
    ] {
        let error = Template::compile(&format!("first line\n{source}"), OutputKind::Text).expect_err(source);
        let MergeError::Syntax { line: 2, problem } = &error else { panic!("{source}: {error}") };
        assert!(problem.contains(word), "{source}: {problem}");
    }
}

#[test]
fn formatting_inside_braces_is_reported() {
    let error =
        Template::compile("{{ <b>first_name</b> }}", OutputKind::Html).expect_err("the template contains markup").to_string();
    assert!(error.contains("HTML inside its braces"), "{error}");
}

#[test]
fn values_that_do_not_fit_are_named() {
    for (source, word) in [
        ("{{ tags }}", "tags is a list"),
        ("{{ order }}", "order is a list or an object"),
        ("{{ order.items | join }}", "order.items contains an item"),
        ("{{ firstName | join }}", "firstName is not a list"),
        ("{{ firstName | round }}", "firstName is not a number"),
        ("{{ firstName | date(\"%Y\") }}", "firstName is not a date"),
        ("{{ tags | upper }}", "tags is a list"),
        ("{% for x in firstName %}{% endfor %}", "firstName is not a list"),
    ] {
        let error = rendered(source, OutputKind::Text).expect_err(source).to_string();
        assert!(error.starts_with(word), "{source}: {error}");
    }
}

/// The time limit for hostile input in an unoptimized build on a shared machine. Rendering normally takes a hundredth of this time.
const PATIENCE: Duration = Duration::from_secs(20);

#[expect(clippy::disallowed_methods, reason = "hostile templates are watched by the clock")]
fn quickly<T>(what: &str, act: impl FnOnce() -> T) -> T {
    let from = Instant::now();
    let result = act();
    assert!(from.elapsed() < PATIENCE, "{what} took {:?}", from.elapsed());
    result
}

#[test]
fn hostile_templates_are_rejected() {
    let nested = |open: &str, close: &str, times: usize| format!("{}{}", open.repeat(times), close.repeat(times));
    for (what, source) in [
        ("parentheses", format!("{{% if {} %}}{{% endif %}}", nested("(", ")", 100_000))),
        ("not", format!("{{% if {} a %}}{{% endif %}}", "not ".repeat(50_000))),
        ("if in if", nested("{% if a %}", "{% endif %}", 10_000)),
        ("for in for", nested("{% for a in b %}", "{% endfor %}", 7_000)),
        ("filters", format!("{{{{ a {} }}}}", "|upper".repeat(40_000))),
        ("names", format!("{{{{ a{} }}}}", ".a".repeat(100_000))),
        ("length", "x".repeat(limits::MERGE_SOURCE_BYTES_MAX + 1)),
        ("open braces", "{{".repeat(100_000)),
        ("open tags", "<".repeat(100_000) + "{{ a }}"),
    ] {
        assert!(quickly(what, || Template::compile(&source, OutputKind::Html)).is_err(), "{what}");
    }
}

#[test]
fn large_templates_are_compiled_quickly() {
    let many = |part: &dyn Fn(usize) -> String| {
        let mut source = String::new();
        for number in 0.. {
            let next = part(number);
            if source.len() + next.len() > limits::MERGE_SOURCE_BYTES_MAX - 100 {
                return source;
            }
            source.push_str(&next);
        }
        source
    };
    for (what, source) in [
        ("fields", many(&|number| format!("{{{{ f{number} }}}}"))),
        ("elif", format!("{{% if a %}}{}{{% endif %}}", many(&|number| format!("{{% elif f{number} %}}{{{{ g{number} }}}}")))),
        ("or", format!("{{% if a {} %}}{{{{ b }}}}{{% endif %}}", many(&|number| format!("or f{number} ")))),
        ("attributes", format!("<a {}>", many(&|number| format!("a{number}=\"{{{{ b }}}}\" ")))),
        ("unclosed name", format!("<a {}", "x".repeat(200_000))),
        ("comments", many(&|_| "<!--".to_owned())),
        ("styles", format!("<style>{}", many(&|_| "</styl".to_owned()))),
        ("hashes", many(&|_| "{#".to_owned())),
    ] {
        quickly(what, || Template::compile(&source, OutputKind::Html)).unwrap_or_else(|error| panic!("{what}: {error}"));
    }
}

#[test]
fn hostile_work_is_stopped() {
    let data = fields(json!({
        "many": vec![1; 20_000],
        "long": "a".repeat(500_000),
        "rows": vec!["x".repeat(1_000); 1_000],
    }));
    let loops = |levels: usize, inside: &str| {
        let open: String = (0..levels).map(|level| format!("{{% for l{level} in many %}}")).collect();
        format!("{open}{inside}{}", "{% endfor %}".repeat(levels))
    };
    let grow = "| replace(\"a\", \"aaaaaaaaaaaaaaaa\")".repeat(8);
    for (what, source) in [
        ("loops", loops(8, "")),
        ("loops that write", loops(3, "x")),
        ("loops that ask", loops(2, "{% if many %}{% endif %}")),
        ("growing", format!("{{{{ long {grow} }}}}")),
        ("growing from one letter", format!("{{{{ \"a\" {grow} }}}}")),
        ("long values", "{{ long }}{{ long }}{{ long }}".to_owned()),
        ("long filters", loops(1, "{{ long | upper | truncate(1) }}")),
        ("long lists", loops(1, "{{ rows | join | truncate(1) }}")),
        ("long comparisons", loops(1, "{% if long == long or 'b' in long %}{% endif %}")),
        ("joining", format!("{{{{ rows | join(\"{}\") }}}}", "-".repeat(5_000))),
    ] {
        let template = Template::compile(&source, OutputKind::Text).unwrap_or_else(|error| panic!("{what}: {error}"));
        let error = quickly(what, || template.render(&data)).expect_err(what);
        assert!(matches!(error, MergeError::TooMuchWork | MergeError::OutputTooLong), "{what}: {error}");
    }
    let subject = Template::compile("{{ long }}", OutputKind::Header).expect("the template is valid");
    assert_eq!(subject.render(&data), Err(MergeError::OutputTooLong));
    // The limit applies to the escaped length.
    let quotes = fields(json!({ "q": "\"".repeat(500_000) }));
    let template = Template::compile("{{ q }}", OutputKind::Html).expect("the template is valid");
    assert_eq!(template.render(&quotes), Err(MergeError::OutputTooLong));
}

/// Renders a template with the Jinja library, to compare the results.
fn jinja(source: &str, kind: OutputKind, data: &Map<String, Json>) -> Result<String, minijinja::Error> {
    let mut environment = Environment::new();
    environment.set_undefined_behavior(UndefinedBehavior::Lenient);
    environment.set_auto_escape_callback(move |_| if kind == OutputKind::Html { AutoEscape::Html } else { AutoEscape::None });
    environment.set_formatter(super::super::write_escaped);
    // The Jinja library drops a final line break, which this implementation keeps. So a character is added at the end, and removed from the
    // result.
    let mut text = environment.render_str(&format!("{source}|"), minijinja::value::Serde(data))?;
    text.pop();
    Ok(text)
}

/// Generates a part of a template that has the same meaning in Jinja and in this implementation.
fn part() -> impl Strategy<Value = String> {
    let name = prop::sample::select(vec!["firstName", "city", "note", "age", "order.total", "gone", "order.gone"]);
    let filter =
        prop::sample::select(vec!["", " | upper", "|lower", " | title", "|capitalize", " | replace(\"a\", \"<b>\")", " | trim"]);
    let output = (name.clone(), filter).prop_map(|(name, filter)| match name.contains("gone") {
        true => format!("{{{{ {name} | default(\"x & y\") {filter} }}}}"),
        false => format!("{{{{ {name}{filter} | default(\"none\") }}}}"),
    });
    let braces = prop::sample::select(vec!["{ ", "}", "}}", "%}", "{x}", "% ", "{ { ", "&quot;", "\n\n"]).prop_map(str::to_owned);
    let literal = prop_oneof![3 => "[a-z &;>\n\"']{0,12}", 1 => braces];
    let condition = (name, prop::sample::select(vec!["", " == \"Ana\"", " != \"Ana\"", " in order.cities"]), any::<bool>())
        .prop_map(|(name, rest, negated)| format!("{}{name}{rest}", if negated { "not " } else { "" }));
    let leaf = prop_oneof![3 => literal, 3 => output];
    leaf.prop_recursive(3, 24, 4, move |inner| {
        let several = prop::collection::vec(inner, 0..4).prop_map(|parts| parts.concat());
        prop_oneof![
            several.clone(),
            (condition.clone(), several.clone(), several.clone())
                .prop_map(|(condition, yes, no)| format!("{{% if {condition} %}}{yes}{{% else %}}{no}{{% endif %}}")),
            (condition.clone(), several.clone())
                .prop_map(|(condition, yes)| format!("{{% if {condition} -%}} {yes}{{%- endif %}}")),
            several
                .prop_map(|inside| format!("{{% for c in order.cities %}}{{{{ loop.index }}}}{{{{ c }}}}{inside}{{% endfor %}}")),
        ]
    })
}

proptest! {
    #[test]
    fn a_template_renders_as_in_the_jinja_library(
        parts in prop::collection::vec(part(), 0..6),
        words in prop::collection::vec("[a-zA-Zäß<>&\"' -]{0,10}[a-z]", 5),
        age in 0..100,
        is_html in any::<bool>(),
    ) {
        let source = parts.concat();
        let kind = if is_html { OutputKind::Html } else { OutputKind::Text };
        let data = fields(json!({
            "firstName": words[0], "city": words[1], "note": words[2], "age": age,
            "order": { "total": words[3], "cities": [words[4], words[1], "Ana"] },
        }));
        let ours = Template::compile(&source, kind).and_then(|template| template.render(&data));
        let theirs = jinja(&source, kind, &data);
        prop_assert_eq!(ours.map_err(|error| error.to_string()), theirs.map_err(|error| format!("{error:#}")), "{}", source);
    }

    #[test]
    fn no_source_or_value_causes_a_panic(
        source in "\\PC{0,40}|([{}%|.()\"'<>=a-z \n-]|\\{\\{|\\{%|%\\}|\\}\\}|if |for |in |endif|a |&quot;){0,40}",
        value in "\\PC{0,20}",
    ) {
        let data = fields(json!({ "a": value, "b": [value], "c": { "a": value } }));
        for kind in [OutputKind::Html, OutputKind::Text, OutputKind::Header] {
            if let Ok(template) = Template::compile(&source, kind) {
                let unguarded = template.missing(&data).map(str::to_owned);
                match template.render(&data) {
                    Ok(_) => prop_assert!(unguarded.is_none() || source.contains('%')),
                    Err(error) => prop_assert!(!error.to_string().is_empty()),
                }
            }
        }
    }

    #[test]
    fn no_value_escapes_its_html_context(value in "\\PC{0,30}|[a-z:/\"'<>&=\t ]{0,20}") {
        let source = "<p title=\"{{ a }}\">{{ a }}</p><a href='{{ a }}'>x</a><a href=\"{{ a }}\">y</a>";
        let template = Template::compile(source, OutputKind::Html).expect("the template is valid");
        let html = template.render(&fields(json!({ "a": value }))).expect("the template can be rendered");
        let document = scraper::Html::parse_fragment(&html);
        let select = |what: &str| scraper::Selector::parse(what).expect("the selector is valid");
        let paragraph = document.select(&select("p")).next().expect("the page has a paragraph");
        prop_assert_eq!(paragraph.attr("title"), Some(value.as_str()));
        prop_assert_eq!(paragraph.text().collect::<String>(), value.clone());
        prop_assert_eq!(document.select(&select("*")).count(), 4, "{}", html);
        for link in document.select(&select("a")) {
            let address = link.attr("href").expect("the link has an address");
            prop_assert!(address == "#" || address == value, "{}", address);
            let base = url::Url::parse("https://example.com/").expect("the address is valid");
            if let Ok(leads) = base.join(address) {
                prop_assert!(matches!(leads.scheme(), "https" | "http" | "mailto" | "tel" | "sms" | "cid"), "{}", leads);
            }
        }
    }
}
