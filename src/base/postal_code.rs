//! Recognizes Dutch, American, British, Irish and Canadian postal codes whose form is unambiguous, such as `SW1A 1AA` or `DC 20001`.

/// Returns whether a string contains an unambiguous postal code.
pub fn has_sure_code(text: &str) -> bool {
    let words: Vec<&str> = text.split_whitespace().collect();
    let digits = |word: &str, count: usize| word.len() == count && word.chars().all(|character| character.is_ascii_digit());
    let is_name = |word: &str| word.chars().next().is_some_and(char::is_uppercase) && word.chars().count() >= 3;
    let dutch = words.windows(3).any(|three| {
        digits(three[0], 4) && three[1].len() == 2 && three[1].chars().all(|c| c.is_ascii_uppercase()) && is_name(three[2])
    });
    let american = words.windows(2).any(|pair| {
        pair[0].len() == 2
            && pair[0].chars().all(|c| c.is_ascii_uppercase())
            && digits(pair[1].split('-').next().unwrap_or_default(), 5)
    });
    let british = words.windows(2).any(|pair| is_british(pair[0], pair[1]));
    // Irish and Canadian codes are also written without a space.
    let is_joined = |text: &str| is_eircode(text) || is_canadian(text);
    let irish_or_canadian = words.windows(2).any(|pair| is_joined(&pair.concat())) || words.iter().any(|word| is_joined(word));
    dutch || american || british || irish_or_canadian
}

/// Returns whether a string is an Eircode without a space, such as `D02X285`: a routing key and an identifier. An identifier without digits
/// must consist of letters that Eircodes use, so that ordinary words do not match.
fn is_eircode(text: &str) -> bool {
    let text = text.trim_end_matches([',', '.']);
    if text.len() != 7 || !text.is_ascii() {
        return false;
    }
    let (key, identifier) = text.split_at(3);
    let key = key.as_bytes();
    let has_key = b"ACDEFHKNPRTVWXY".contains(&key[0]) && key[1].is_ascii_digit() && (key[2].is_ascii_digit() || key == b"D6W");
    let is_plain = identifier.bytes().all(|byte| byte.is_ascii_uppercase() || byte.is_ascii_digit());
    let has_digit = identifier.bytes().any(|byte| byte.is_ascii_digit());
    let has_letter = identifier.bytes().any(|byte| byte.is_ascii_uppercase());
    has_key && is_plain && has_letter && (has_digit || identifier.bytes().all(|byte| b"ACDEFHKNPRTVWXY".contains(&byte)))
}

/// Returns whether a string is a Canadian postal code, such as `M5X1C9`, with the letters that these codes use.
fn is_canadian(text: &str) -> bool {
    const FIRST: &[u8] = b"ABCEGHJKLMNPRSTVXY";
    const LATER: &[u8] = b"ABCEGHJKLMNPRSTVWXYZ";
    match text.trim_end_matches([',', '.']).as_bytes() {
        [first, one, second, two, third, three] => {
            FIRST.contains(first)
                && [second, third].iter().all(|letter| LATER.contains(letter))
                && [one, two, three].iter().all(|digit| digit.is_ascii_digit())
        }
        _ => false,
    }
}

/// Returns whether two words form a British postal code, such as `SW1A 1AA`.
fn is_british(outward: &str, inward: &str) -> bool {
    let upper = |c: char| c.is_ascii_uppercase();
    let inward: Vec<char> = inward.trim_end_matches([',', '.']).chars().collect();
    let good_inward = inward.len() == 3 && inward[0].is_ascii_digit() && upper(inward[1]) && upper(inward[2]);
    let good_outward =
        (2..=4).contains(&outward.len()) && outward.starts_with(upper) && outward.chars().any(|c| c.is_ascii_digit());
    good_inward && good_outward && outward.chars().all(|c| c.is_ascii_uppercase() || c.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_of_each_country_are_recognized() {
        for text in ["Leeds LS1 4AB", "Austin TX 78701", "1015 DV Amsterdam", "Ennis V95 E8KT", "D02AF30", "ON M5X 1C9", "V6B1A1"]
        {
            assert!(has_sure_code(text), "{text}");
        }
        for text in ["Call 12345", "Model A52 PLUS", "Version A92 2024", "20359 Hamburg", "D5X 1C9", "M5X 1C", "Size XL 10"] {
            assert!(!has_sure_code(text), "{text}");
        }
    }
}
