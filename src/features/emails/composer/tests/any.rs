//! Tests with arbitrary text as a prompt or an instruction. The result must be a valid email or a clear error.

use proptest::prelude::*;

use super::*;
use crate::features::emails::composer::edit::{EditResources, apply};

/// Generates prompts of meaningful pieces with noise between them.
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

fn languages() -> impl Strategy<Value = &'static str> {
    prop::sample::select(vec!["en", "en-GB", "de", "de-CH", "fr", "es", "it", "pt-BR", "pt-PT", "nl", "ar", "he", "ja"])
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_prompt_becomes_an_email(prompt in prompts(), language in languages(), seed: u64, count in 1..5_usize, bare: bool) {
        let brand = if bare { Brand::default() } else { brands::teas() };
        let brief = Brief { site: (!bare).then_some("https://example.com"), ..brief(&prompt, seed) };
        let language = tag(language);
        let plan = plan(&brief, &brand, true, &language, Some(count));
        let composed = compose(&brief, &brand, &brands::knowledge(), &plan, count - 1, &language);
        prop_assert_eq!(composed.email.check(), vec![], "{:?}", prompt);
        let again = compose(&brief, &brand, &brands::knowledge(), &plan, count - 1, &language);
        prop_assert_eq!(composed, again);
    }

    #[test]
    fn any_instruction_leaves_a_valid_email(prompt in prompts()) {
        let brand = brands::teas();
        let email = one("20% off all teas until Sunday, code WINTER20", &brand, "en", 3).email;
        let means = EditResources { brand: &brand, site: None, origin: None, today: TODAY };
        match apply(&email, &prompt, &means) {
            Ok(edited) => prop_assert_eq!(edited.email.check(), vec![], "{:?}", prompt),
            Err(error) => prop_assert!(!error.reasons.is_empty(), "{:?}", prompt),
        }
    }
}

#[test]
fn a_prompt_of_any_length_is_read_up_to_the_limit() {
    let long = "20% off until Sunday. ".repeat(20_000);
    let composed = one(&long, &brands::teas(), "en", 1);
    assert_eq!(composed.email.check(), vec![]);
}
