//! Tests of email series: their plans, and the coherence of their emails.

use super::*;

fn days(prompt: &str, count: Option<usize>) -> (Vec<String>, Vec<i32>) {
    let brand = brands::teas();
    let brief = parsed(prompt, &brand, "en");
    let plan = plan(&request(&brief, 1), &brand, true, &tag("en"), count);
    plan.slots.into_iter().map(|slot| (slot.job, slot.send_offset_days)).unzip()
}

#[test]
fn plans_follow_the_purpose() {
    for (prompt, jobs, offsets) in [
        ("a welcome series of 3 emails with 10% off", vec!["welcome.main", "general.story", "welcome.reminder"], vec![0, 2, 5]),
        ("three cart reminder emails", vec!["cart.main", "cart.second", "cart.last"], vec![0, 1, 3]),
        (
            "launch series in three parts for the Clay Pot",
            vec!["launch.teaser", "launch.main", "launch.reminder"],
            vec![-3, 0, 2],
        ),
        ("sale, 3 emails, 20% off until November 28", vec!["sale.teaser", "sale.main", "sale.last"], vec![-2, 0, 7]),
        ("a welcome email", vec!["welcome.main"], vec![0]),
    ] {
        let (planned, at) = days(prompt, None);
        assert_eq!((planned.iter().map(String::as_str).collect::<Vec<_>>(), at), (jobs, offsets), "{prompt}");
    }
}

#[test]
fn the_callers_count_takes_precedence_and_long_series_stay_in_order() {
    for count in 1..=limits::EMAILS_PER_SERIES_MAX {
        for prompt in prompts::SHOP {
            let (jobs, offsets) = days(prompt, Some(count));
            assert_eq!(jobs.len(), count, "{prompt}");
            assert!(offsets.is_sorted(), "{prompt}: {jobs:?} {offsets:?}");
        }
    }
}

#[test]
fn emails_of_a_series_share_a_theme_and_differ_in_content() {
    let brand = brands::teas();
    let brief = parsed("welcome series of 6 emails", &brand, "en");
    let request = request(&brief, 3);
    let plan = plan(&request, &brand, true, &tag("en"), None);
    let knowledge = brands::knowledge();
    let emails: Vec<Email> = (0..6).map(|place| compose(&request, &brand, &knowledge, &plan, place, &tag("en")).email).collect();
    let subjects: std::collections::HashSet<_> = emails.iter().map(|email| email.subject.as_str()).collect();
    assert_eq!((emails.len(), subjects.len()), (6, 6));
    assert!(emails.iter().all(|email| email.style == emails[0].style));
    assert!(emails.iter().all(|email| email.check().is_empty()));
}
