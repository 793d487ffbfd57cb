//! Tests with arbitrary text as a prompt or an instruction. The result must be a valid email or a clear error.

use proptest::prelude::*;

use super::prompts::{GERMAN, SHOP, SOFTWARE};
use super::*;
use crate::features::emails::composer::edit::{EditResources, apply};
use crate::features::emails::contract::{self, Terms};
use crate::features::emails::finding::{Finding, FindingKind};
use crate::features::emails::writing::material::Material;
use crate::features::projects::brand::BrandFormality;

/// Generates prompts that consist of meaningful pieces with noise between them.
fn prompts() -> impl Strategy<Value = String> {
    let pieces = prop::sample::select(vec![
        "20%",
        "20 % Rabatt",
        "until",
        "Sunday",
        "31.2.",
        "29 February",
        "code",
        "ABC-1",
        "\"",
        "„",
        "“",
        "{{ x }}",
        "{% y %}",
        "**",
        "[a](b)",
        "https://",
        "https://example.com/a",
        "€",
        "$99999999999999999999",
        "series of 99",
        "#000000",
        "2 x",
        "x 3 €",
        "\n- ",
        "Subject:",
        "and",
        "remove the",
        "button",
        "change",
        "to",
        "add a list:",
        "translate into German",
        "Ort:",
        "vom 27. bis",
        "99:99",
        "13/13/13",
        "\u{202e}",
        "🎄",
        "welcome",
        "invite",
        "Warenkorb",
        "newsletter about",
        "total",
        "order #",
        ".",
        ",",
        ":",
        "tell our customers that",
        "\u{0}",
        "ß",
        "İ",
    ]);
    let noise = prop_oneof![pieces.prop_map(str::to_owned), "\\PC{0,12}", "[a-zA-Z äöüéñ0-9.,%€:/-]{0,24}"];
    prop::collection::vec(noise, 0..14).prop_map(|parts| parts.join(" "))
}

/// Generates briefs of every goal, with statements, facts outside of statements, stories, constraints and notes to the writer.
#[expect(clippy::too_many_lines, reason = "one list of what a brief can contain")]
fn briefs() -> impl Strategy<Value = drafts::DraftBrief> {
    use crate::features::emails::brief::{ConstraintKind as Limit, FactKind as Kind, FactRole as Role, *};
    let goals = prop::sample::select(vec![
        Goal::Welcome,
        Goal::Sale,
        Goal::Launch,
        Goal::Digest,
        Goal::Event,
        Goal::Webinar,
        Goal::Apology,
        Goal::Outage,
        Goal::ServiceNotice,
        Goal::Recall,
        Goal::PriceChange,
        Goal::Cart,
        Goal::WinBack,
        Goal::TrialEnding,
        Goal::OrderDeadline,
        Goal::Closing,
        Goal::OpeningHours,
        Goal::Voucher,
        Goal::Survey,
        Goal::Review,
        Goal::Referral,
        Goal::Receipt,
        Goal::Hiring,
        Goal::Seasonal,
        Goal::ThankYou,
        Goal::Legal,
        Goal::Waitlist,
        Goal::Reminder,
        Goal::Announcement,
        Goal::Unclear,
    ]);
    let pieces = prop::sample::select(vec![
        "The kiln is back",
        "we ship from our new house at the harbor on 4 December",
        "Classes are £75",
        "Wir öffnen am 4. Dezember wieder.",
        "See https://example.com/a for all of it",
        "Ask Kirsty",
        "No returns!",
        "Q&A with *stars* and [brackets]",
        "x",
        "Soup 9 €",
        "Bread 4 €",
        "Free delivery on orders over £60",
        "iCal feed per employee",
        "Laarzen aan!",
        "the last day is the fourth",
    ]);
    let fact = (0..14_usize, 0..9_usize).prop_map(|(kind, role)| {
        let roles = [
            Role::Offer,
            Role::OfferStarts,
            Role::OfferEnds,
            Role::OrderBy,
            Role::Event,
            Role::Closed,
            Role::Reopens,
            Role::Happened,
            Role::Other,
        ];
        let role = Some(roles[role]);
        match kind {
            0 => (Kind::Percentage, role, "25 %", drafts::percent(25.0)),
            1 => (Kind::Amount, role, "25 €", drafts::money(25.0, "EUR")),
            2 => (Kind::Code, None, "SAVE25", None),
            3 => (Kind::Date, role, "4 December", drafts::day(12, 4)),
            4 => (Kind::Period, role, "25 days", None),
            5 => (Kind::Time, role, "6 pm", None),
            6 => (Kind::Place, None, "Govanhill Baths", None),
            7 => (Kind::Capacity, None, "40 places", None),
            8 => (Kind::Price, role, "25 €", drafts::money(25.0, "EUR")),
            9 => (Kind::Product, None, "Clay Pot", None),
            10 => (Kind::Person, None, "Ailsa Ramsay", None),
            11 => (Kind::Contact, None, "0141 496 0062", None),
            12 => (Kind::Link, None, "https://example.com/burns?ref=mail&y=27", None),
            _ => (Kind::Condition, None, "Only in the shop", None),
        }
    });
    let limits = prop::sample::select(vec![
        (Limit::NoImages, None),
        (Limit::NoProducts, None),
        (Limit::NoExclamation, None),
        (Limit::Emoji, None),
        (Limit::PlainLayout, None),
        (Limit::OneButton, None),
        (Limit::WordLimit, Some("40")),
        (Limit::Formal, None),
        (Limit::AvoidWord, Some("kiln")),
    ]);
    let parts =
        (prop::collection::vec(pieces.clone(), 0..7), prop::collection::vec(fact, 0..6), prop::collection::vec(pieces, 0..5));
    (goals, parts, prop::collection::vec(limits, 0..3)).prop_map(|(goal, (statements, facts, stories), limits)| {
        let mut draft = drafts::draft(goal, "en");
        for text in statements {
            draft = draft.says(text, &[]);
        }
        for (kind, role, text, value) in facts {
            draft = draft.fact(kind, role, text, value);
        }
        for text in stories {
            draft = draft.story(None, text, None);
        }
        for (kind, value) in limits {
            draft = draft.constrained(kind, value);
        }
        draft.with(|brief| {
            let part = |text: &str| Part { text: text.to_owned(), span: None };
            brief.instructions.push(part("keep it dry and mention the weather twice"));
            brief.tone.push(part("warm, a bit cheeky"));
            brief.unclear.push(part("Hamish still owes biscuits"));
        })
    })
}

/// The strings that `usual_prompts` can add to English prompts.
const ADDED: &[&str] = &[
    "Keep it short.",
    "No exclamation marks.",
    "Button: Have a look",
    "Sign as Maartje, CTO.",
    "Questions? Call 0141 496 0062.",
    "Only in our shop at the harbor.",
];
/// The strings that `usual_prompts` can add to German prompts.
const ADDED_GERMAN: &[&str] = &["Bitte kurz halten.", "Keine Ausrufezeichen.", "Button: Jetzt ansehen", "Nur im Laden in Kiel."];

/// Generates realistic prompts, each with its brand and language: a prompt from the reviewed sets, and up to two additions.
fn usual_prompts() -> impl Strategy<Value = (String, Brand, &'static str)> {
    let set = |brand: fn() -> Brand, language: &'static str, prompts: &'static [&'static str], added: &'static [&'static str]| {
        let added = prop::sample::subsequence(added, 0..=2);
        (prop::sample::select(prompts), added).prop_map(move |(prompt, added)| {
            let prompt = if added.is_empty() { prompt.to_owned() } else { format!("{}.", prompt.trim_end_matches('.')) };
            (std::iter::once(prompt.as_str()).chain(added).collect::<Vec<_>>().join("\n"), brand(), language)
        })
    };
    prop_oneof![
        set(brands::teas, "en", &SHOP, ADDED),
        set(brands::software, "en-GB", &SOFTWARE, ADDED),
        set(|| brands::furniture(BrandFormality::Formal), "de", &GERMAN, ADDED_GERMAN),
    ]
}

/// Returns the violations of the fact contract in an email, except missing facts that the composer itself reports as unused.
fn violations(composed: &Composed, brief: &Brief, prompt: &str, brand: &Brand) -> Vec<Finding> {
    let name = brand.name.clone().unwrap_or_default();
    let material = Material { name, site: "https://example.com".to_owned(), brand: brand.clone(), ..Material::default() };
    let terms = Terms { brief, prompt, material: &material, today: TODAY };
    let is_reported = |finding: &Finding| {
        let same = |part: &Part| finding.text.as_ref() == Some(&part.text) || part.span.is_some() && part.span == finding.span;
        finding.kind == FindingKind::FactMissing && composed.unused.iter().any(same)
    };
    contract::check(&composed.email, &terms).into_iter().filter(|finding| !is_reported(finding)).collect()
}

fn languages() -> impl Strategy<Value = &'static str> {
    prop::sample::select(vec!["en", "en-GB", "de", "de-CH", "fr", "es", "it", "pt-BR", "pt-PT", "nl", "ar", "he", "ja"])
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_prompt_becomes_an_email(prompt in prompts(), language in languages(), seed: u64, count in 1..5_usize, bare: bool) {
        let brand = if bare { Brand::default() } else { brands::teas() };
        let language = tag(language);
        let brief = brief::parse(&prompt, &brand, Some(&language), TODAY);
        let request = Request { site: (!bare).then_some("https://example.com"), ..request(&brief, seed) };
        let plan = plan(&request, &brand, true, &language, Some(count));
        let composed = compose(&request, &brand, &brands::knowledge(), &plan, count - 1, &language);
        prop_assert_eq!(composed.email.check(), vec![], "{:?}", prompt);
        let again = compose(&request, &brand, &brands::knowledge(), &plan, count - 1, &language);
        prop_assert_eq!(composed, again);
    }

    #[test]
    fn any_brief_is_printed_or_reported(draft in briefs(), seed: u64, bare: bool) {
        let brand = if bare { Brand::default() } else { brands::teas() };
        let brief = draft.brief;
        let composed = composed(&brief, &brand, seed);
        prop_assert_eq!(composed.email.check(), vec![], "{:?}", brief);
        let text = printed::email(&composed.email);
        let links = printed::links(&composed.email);
        for fact in &brief.facts {
            let shown = text.contains(&text::folded(&fact.text)) || links.iter().any(|link| content::same_address(link, &fact.text));
            let value = text.contains(" 25 ") || text.contains("4 december") || text.contains("december 4") || fact.value.is_none();
            let reported = composed.unused.iter().any(|part| part.text == fact.text);
            prop_assert!(shown || reported || (fact.value.is_some() && value), "{:?}\n{}", fact, print::text(&composed.email));
        }
        for part in brief.instructions.iter().chain(&brief.tone).chain(&brief.unclear) {
            prop_assert!(!text.contains(&text::folded(&part.text)), "{:?}\n{}", part, print::text(&composed.email));
        }
        // These briefs can contradict themselves: a statement can contain a word to avoid, for example. So only text that is not in the
        // brief, and printed instructions, count as defects.
        let mut found = violations(&composed, &brief, "", &brand);
        found.retain(|finding| matches!(finding.kind, FindingKind::NotInBrief | FindingKind::InstructionPrinted));
        prop_assert!(found.is_empty(), "seed {seed}: {:?}\n{}", found, print::text(&composed.email));
    }

    #[test]
    fn an_email_for_a_usual_prompt_keeps_the_contract((prompt, brand, language) in usual_prompts(), seed: u64) {
        let brief = parsed(&prompt, &brand, language);
        let request = request(&brief, seed);
        let plan = plan(&request, &brand, false, &brief.language, Some(1));
        let composed = compose(&request, &brand, &[], &plan, 0, &brief.language);
        let found = violations(&composed, &brief, &prompt, &brand);
        prop_assert!(found.is_empty(), "seed {seed}: {:?}\n{:?}\n{}", found, prompt, print::text(&composed.email));
    }

    #[test]
    fn any_instruction_leaves_a_valid_email(prompt in prompts()) {
        let brand = brands::teas();
        let email = one("20% off all teas until Sunday, code WINTER20", &brand, "en", 3).email;
        let lost = |_: &Email, _: &Email| Vec::new();
        let means = EditResources { brand: &brand, site: None, knowledge: &[], today: TODAY, lost: &lost };
        match apply(&email, &prompt, &means) {
            Ok(edited) => prop_assert_eq!(edited.email.check(), vec![], "{:?}", prompt),
            Err(error) => prop_assert!(!error.0.is_empty(), "{:?}", prompt),
        }
    }
}

#[test]
fn a_prompt_of_any_length_is_read_up_to_the_limit() {
    let long = "20% off until Sunday. ".repeat(20_000);
    let composed = one(&long, &brands::teas(), "en", 1);
    assert_eq!(composed.email.check(), vec![]);
}
