//! Adds UTM parameters to a URL, for the site's web analytics.
//!
//! Existing parts of the URL stay unchanged: its own `utm_…` parameters take precedence, other parameters keep their bytes and order, and
//! the fragment stays at the end.

use crate::features::domains::Utm;

/// Returns the URL with UTM parameters added.
pub fn marked(address: &str, utm: &Utm) -> String {
    let (front, fragment) = match address.split_once('#') {
        Some((front, fragment)) => (front, Some(fragment)),
        None => (address, None),
    };
    let query = front.split_once('?').map(|(_, query)| query);
    let has = |name: &str| {
        let names = query.unwrap_or_default().split('&').map(|pair| pair.split('=').next().unwrap_or_default());
        names.into_iter().any(|other| other.eq_ignore_ascii_case(name))
    };
    let mut out = front.to_owned();
    let mut joint = match query {
        None => '?',
        Some("") => '\0',
        Some(query) if query.ends_with('&') => '\0',
        Some(_) => '&',
    };
    for (name, value) in utm.parameters().filter(|(name, _)| !has(name)) {
        if joint != '\0' {
            out.push(joint);
        }
        joint = '&';
        out.push_str(name);
        out.push('=');
        out.extend(url::form_urlencoded::byte_serialize(value.as_bytes()));
    }
    if let Some(fragment) = fragment {
        out.push('#');
        out.push_str(fragment);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parameters_go_between_query_and_fragment_and_change_nothing_else() {
        let utm = Utm {
            source: "mailmill".parse().ok(),
            medium: "email".parse().ok(),
            campaign: "Spring & Co".parse().ok(),
            ..Utm::default()
        };
        let all = "utm_source=mailmill&utm_medium=email&utm_campaign=Spring+%26+Co";
        for (given, expected) in [
            ("https://a.example", format!("https://a.example?{all}")),
            ("https://a.example/p?b=%41&b=2", format!("https://a.example/p?b=%41&b=2&{all}")),
            ("https://a.example/p?", format!("https://a.example/p?{all}")),
            ("https://a.example/p?a=1&", format!("https://a.example/p?a=1&{all}")),
            ("https://a.example/p#top?x=1", format!("https://a.example/p?{all}#top?x=1")),
            (
                "https://a.example/?UTM_Source=own",
                "https://a.example/?UTM_Source=own&utm_medium=email&utm_campaign=Spring+%26+Co".into(),
            ),
        ] {
            assert_eq!(marked(given, &utm), expected);
        }
        let none = Utm { source: None, medium: "".parse().ok(), ..Utm::default() };
        assert_eq!(marked("https://a.example/?#", &none), "https://a.example/?#");
    }
}
