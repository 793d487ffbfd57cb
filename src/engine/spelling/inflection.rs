//! Adds and removes the endings of English verbs and plurals.

use super::class_table::is_listed_verb;

/// Adds the ending of the third person singular, which is also the plural ending.
pub(super) fn add_s(word: &str) -> String {
    match word {
        "have" => return "has".to_owned(),
        "be" => return "is".to_owned(),
        _ => {}
    }
    let consonant_y = word.strip_suffix('y').filter(|stem| !stem.ends_with(['a', 'e', 'i', 'o', 'u']));
    match consonant_y {
        Some(stem) => format!("{stem}ies"),
        None if ["s", "x", "z", "ch", "sh", "do", "go"].iter().any(|end| word.ends_with(end)) => format!("{word}es"),
        None => format!("{word}s"),
    }
}

/// Verbs that double their last consonant before an ending.
const DOUBLING: [&str; 10] = ["ship", "stop", "drop", "plan", "pin", "tap", "swap", "admit", "refer", "prefer"];

fn doubles(word: &str) -> bool {
    DOUBLING.contains(&word)
}

/// Adds the past-tense ending of regular verbs.
pub(super) fn add_ed(word: &str) -> String {
    let consonant_y = word.strip_suffix('y').filter(|stem| !stem.ends_with(['a', 'e', 'i', 'o', 'u']));
    match (consonant_y, word.chars().next_back()) {
        (Some(stem), _) => format!("{stem}ied"),
        (None, Some('e')) => format!("{word}d"),
        (None, Some(last)) if doubles(word) => format!("{word}{last}ed"),
        _ => format!("{word}ed"),
    }
}

/// Adds the ending of the present participle.
pub(super) fn add_ing(word: &str) -> String {
    match (word.strip_suffix('e').filter(|stem| !stem.ends_with(['e', 'o', 'y']) && *word != *"be"), word.chars().next_back()) {
        (Some(stem), _) => format!("{stem}ing"),
        (None, Some(last)) if doubles(word) || matches!(word, "get" | "win" | "forget") => format!("{word}{last}ing"),
        _ => format!("{word}ing"),
    }
}

/// Removes the ending that [`add_ed`] adds.
pub(super) fn remove_ed(word: &str) -> String {
    let Some(stem) = word.strip_suffix("ed") else { return word.to_owned() };
    if let Some(stem) = stem.strip_suffix('i') {
        return format!("{stem}y");
    }
    let mut letters = stem.chars().rev();
    let (last, before) = (letters.next().unwrap_or_default(), letters.next().unwrap_or_default());
    let single = stem.get(..stem.len().saturating_sub(last.len_utf8())).unwrap_or_default();
    if last == before && doubles(single) {
        return single.to_owned();
    }
    for base in [stem.to_owned(), format!("{stem}e")] {
        if is_listed_verb(&base) {
            return base;
        }
    }
    // If a stem has one of these endings, its base ends in "e", as in "received" and "created". The bases of "helped" and "entered" do not.
    let ends = ["at", "as", "os", "us", "ir", "ur", "or", "ar", "id", "ud", "ut", "in", "ag", "ng", "rg", "dg", "ib", "op", "ap"];
    let silent = matches!(last, 'c' | 'v' | 'z' | 'u') || ends.iter().any(|end| stem.ends_with(end)) && !stem.ends_with("ain");
    if silent { format!("{stem}e") } else { stem.to_owned() }
}

/// Removes the ending that [`add_ing`] adds.
pub(super) fn remove_ing(word: &str) -> String {
    let Some(stem) = word.strip_suffix("ing") else { return word.to_owned() };
    // A verb changes in the same way before "ing" as before "ed".
    remove_ed(&format!("{stem}ed"))
}

/// Removes the ending that [`add_s`] adds. For forms of "be", returns the plural form.
pub(super) fn remove_s(word: &str) -> String {
    match word {
        "has" => return "have".to_owned(),
        "is" => return "are".to_owned(),
        "was" => return "were".to_owned(),
        _ => {}
    }
    if let Some(stem) = word.strip_suffix("ies") {
        return format!("{stem}y");
    }
    let es =
        word.strip_suffix("es").filter(|stem| ["ss", "x", "zz", "ch", "sh", "do", "go"].iter().any(|end| stem.ends_with(end)));
    es.or_else(|| word.strip_suffix('s')).unwrap_or(word).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn endings_are_added_and_removed() {
        for (base, third) in
            [("have", "has"), ("try", "tries"), ("play", "plays"), ("go", "goes"), ("watch", "watches"), ("save", "saves")]
        {
            assert_eq!(add_s(base), third);
            assert_eq!(remove_s(third), base);
        }
    }
}
