//! Marking an address with the campaign it is clicked in, for the site's own statistics.
//!
//! What the address says already stays as it is: its own `utm_…` parameters win, other parameters keep their bytes and their order,
//! and what stands behind `#` stays at the end.

/// What is appended, where it is not there yet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Marks<'a> {
    pub source: Option<&'a str>,
    pub medium: Option<&'a str>,
    pub campaign: Option<&'a str>,
}

/// The address with its marks.
pub fn marked(address: &str, marks: &Marks<'_>) -> String {
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
    for (name, value) in [("utm_source", marks.source), ("utm_medium", marks.medium), ("utm_campaign", marks.campaign)] {
        let Some(value) = value.filter(|value| !value.is_empty() && !has(name)) else { continue };
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
    fn marks_go_between_query_and_fragment_and_change_nothing_else() {
        let marks = Marks { source: Some("mailmill"), medium: Some("email"), campaign: Some("Spring & Co") };
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
            assert_eq!(marked(given, &marks), expected);
        }
        let none = Marks { source: None, medium: Some(""), campaign: None };
        assert_eq!(marked("https://a.example/?#", &none), "https://a.example/?#");
    }
}
