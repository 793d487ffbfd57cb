//! Derives the brand's voice from its running text. Supports seven languages in full; for other languages, uses only measures that need no
//! vocabulary.

use std::collections::{HashMap, HashSet};
use std::sync::LazyLock;

use crate::features::projects::brand::{BrandFormality, BrandPerson, BrandProduct, BrandVoice};

/// The minimum number of words that are needed to derive a voice.
const WORDS_MIN: usize = 60;
const RECURRING_MAX: usize = 12;
/// The minimum length, in characters, of a recurring word. Words of exactly this length count only if they are German nouns, which are
/// capitalized.
const RECURRING_CHARACTERS_MIN: usize = 3;
const RECURRING_TIMES_MIN: u32 = 3;
/// The minimum number of paragraphs in which a recurring word must occur.
const TEXTS_MIN: usize = 2;
/// Additional common words that many shops, restaurants and services use, in the languages of [`GRAMMARS`].
static COMMON: LazyLock<HashSet<&str>> =
    LazyLock::new(|| include_str!("../../../../assets/composer/common-words.txt").split_whitespace().collect());
/// If the site's running text has fewer words than this, a word that occurs twice counts as recurring.
const SHORT_TEXT_WORDS: usize = 250;

/// The words that indicate the grammatical person and formality in one language.
struct LanguageVoice {
    code: &'static str,
    we: &'static [&'static str],
    i: &'static [&'static str],
    casual: &'static [&'static str],
    /// Words that indicate formal language, such as formal forms of address, spelled as they appear in the middle of a sentence.
    formal: &'static [&'static str],
    common: &'static [&'static str],
}

const GRAMMARS: [LanguageVoice; 7] = [
    LanguageVoice {
        code: "en",
        we: &["we", "our", "us", "we're", "we've", "ours"],
        i: &["i", "my", "me", "i'm", "i've", "mine"],
        casual: &[
            "you're", "we're", "don't", "it's", "that's", "can't", "let's", "you'll", "we'll", "hey", "hi", "gonna", "awesome",
            "yay", "i'm", "isn't",
        ],
        formal: &[
            "therefore",
            "hereby",
            "furthermore",
            "shall",
            "pursuant",
            "respective",
            "moreover",
            "accordingly",
            "clients",
            "ensure",
        ],
        common: &[
            "the", "and", "that", "with", "this", "from", "your", "have", "more", "will", "what", "when", "they", "them",
            "their", "there", "which", "about", "into", "also", "than", "then", "were", "been", "only", "some", "just", "every",
            "each", "other", "after", "before", "over", "where", "here", "how", "why", "who", "you", "our", "are", "for", "not",
            "all", "can", "was", "has", "but", "one", "out", "these", "those", "most", "many", "very", "even", "like", "make",
            "made", "take", "get", "its", "it's", "read", "does", "should", "would", "could", "while", "until", "because",
            "between", "through", "without", "first", "last", "always", "never", "still", "said", "says", "year", "years",
            "time", "days", "week", "need", "want", "find", "back", "know", "good", "both", "such", "much",
        ],
    },
    LanguageVoice {
        code: "de",
        we: &["wir", "uns", "unser", "unsere", "unserem", "unseren", "unserer", "unseres"],
        i: &["ich", "mein", "meine", "meinen", "meinem", "mir", "mich"],
        casual: &["du", "dein", "deine", "deinen", "deinem", "deiner", "dir", "dich", "euch", "eure", "euer", "ihr"],
        formal: &["Sie", "Ihr", "Ihre", "Ihren", "Ihrem", "Ihnen", "Ihrer"],
        common: &[
            "und", "der", "die", "das", "mit", "von", "für", "auf", "den", "dem", "ein", "eine", "einen", "einem", "einer",
            "ist", "sind", "auch", "nicht", "sich", "aus", "bei", "wird", "werden", "oder", "wie", "zum", "zur", "nach", "über",
            "unter", "mehr", "wenn", "noch", "kann", "können", "hat", "haben", "alle", "alles", "unser", "unsere", "unseren",
            "unserem", "unserer", "euch", "eure", "dein", "deine", "deinen", "ihre", "ihren", "ihnen", "ganz", "sehr", "hier",
            "dann", "wurde", "wurden", "dass", "jede", "jeden", "jeder", "immer", "bis", "ohne", "durch", "seit", "gegen",
            "beim", "vom", "was", "wer", "man", "nur", "schon", "aber", "denn", "weil", "damit", "diese", "dieser", "dieses",
            "diesen", "als", "zwei", "drei", "jahre", "jahren", "jahr", "gibt", "macht", "machen",
        ],
    },
    LanguageVoice {
        code: "fr",
        we: &["nous", "notre", "nos"],
        i: &["je", "j'ai", "mon", "ma", "mes", "moi"],
        casual: &["tu", "ton", "ta", "tes", "toi", "t'es"],
        formal: &["vous", "votre", "vos"],
        common: &[
            "les", "des", "une", "pour", "avec", "dans", "sur", "est", "sont", "que", "qui", "pas", "plus", "par", "vous",
            "nous", "notre", "votre", "vos", "nos", "tout", "tous", "toute", "toutes", "cette", "ces", "leur", "leurs", "mais",
            "être", "avoir", "fait", "faire", "aussi", "comme", "sans", "chez", "entre", "depuis", "très", "bien", "dont",
            "elle", "elles", "ils", "aux", "même", "ainsi", "chaque", "deux",
        ],
    },
    LanguageVoice {
        code: "es",
        we: &["nosotros", "nuestro", "nuestra", "nuestros", "nuestras", "nos", "somos", "hacemos", "tenemos"],
        i: &["yo", "mi", "mis", "soy"],
        casual: &["tú", "tu", "tus", "te", "ti", "vosotros", "os", "vuestro", "vuestra"],
        formal: &["usted", "ustedes", "su", "sus", "le", "les"],
        common: &[
            "los", "las", "una", "para", "con", "por", "que", "del", "más", "como", "este", "esta", "estos", "estas", "todo",
            "todos", "toda", "todas", "pero", "sobre", "entre", "desde", "hasta", "cada", "muy", "también", "donde", "cuando",
            "nuestro", "nuestra", "nuestros", "nuestras", "puede", "tiene", "hacer", "sin", "son", "está", "ser", "hay", "dos",
            "años",
        ],
    },
    LanguageVoice {
        code: "it",
        we: &["noi", "nostro", "nostra", "nostri", "nostre", "siamo", "facciamo"],
        i: &["io", "mio", "mia", "miei"],
        casual: &["tu", "tuo", "tua", "tuoi", "tue", "te", "ti", "voi", "vostro", "vostra"],
        formal: &["Lei", "Suo", "Sua", "Suoi", "Sue", "La"],
        common: &[
            "che", "per", "con", "una", "del", "della", "delle", "dei", "degli", "alla", "alle", "nel", "nella", "sono", "come",
            "più", "anche", "questo", "questa", "questi", "tutto", "tutti", "ogni", "dal", "dalla", "nostro", "nostra", "nostri",
            "nostre", "essere", "fare", "senza", "molto", "dove", "quando", "anni", "sulla", "gli", "non",
        ],
    },
    LanguageVoice {
        code: "pt",
        we: &["nós", "nosso", "nossa", "nossos", "nossas", "somos", "fazemos", "temos"],
        i: &["eu", "meu", "minha", "meus", "minhas"],
        casual: &["você", "tu", "teu", "tua", "te", "ti", "vocês", "seu", "sua"],
        formal: &["senhor", "senhora", "vossa", "exmo"],
        common: &[
            "que", "para", "com", "uma", "dos", "das", "por", "mais", "como", "este", "esta", "todo", "todos", "toda", "todas",
            "mas", "sobre", "entre", "desde", "até", "cada", "muito", "também", "onde", "quando", "nosso", "nossa", "nossos",
            "nossas", "pode", "fazer", "sem", "são", "está", "ser", "anos", "pelo", "pela", "você", "seu", "sua",
        ],
    },
    LanguageVoice {
        code: "nl",
        we: &["wij", "we", "ons", "onze"],
        i: &["ik", "mijn", "mij"],
        casual: &["je", "jij", "jou", "jouw", "jullie"],
        formal: &["u", "uw"],
        common: &[
            "het", "een", "van", "voor", "met", "dat", "die", "aan", "zijn", "ook", "niet", "naar", "bij", "uit", "over", "door",
            "maar", "als", "onze", "meer", "kan", "kunt", "heeft", "hebben", "wordt", "worden", "deze", "dit", "alle", "elke",
            "hier", "daar", "nog", "wel", "om", "tot",
        ],
    },
];

/// Returns the words for what the brand sells: the last word of each product name that consists of several words, if `about` (the brand's
/// tagline and description) contains this word or its plural.
pub fn goods(products: &[BrandProduct], about: &[Option<&str>]) -> Vec<String> {
    let about: HashSet<String> = about.iter().flatten().flat_map(|text| words(text)).collect();
    let heads =
        products.iter().filter_map(|product| words(&product.name).split_first().and_then(|(_, rest)| rest.last().cloned()));
    let is_known = |word: &String| ["", "s", "es"].iter().any(|end| about.contains(&format!("{word}{end}")));
    heads.filter(is_known).collect()
}

/// Derives the voice from running text in this language. Typical words come from `pages`, the text of each page that describes the brand.
/// Words of the brand's name are excluded. The words in `goods` can be typical even if many shops use them.
pub fn voice(
    texts: &[String],
    pages: &[Vec<String>],
    language: Option<&str>,
    name: Option<&str>,
    goods: &[String],
) -> BrandVoice {
    let all = texts.join("\n");
    let emoji = all.chars().any(is_emoji);
    let words: Vec<String> = words(&all);
    if words.len() < WORDS_MIN {
        return BrandVoice { emoji, ..BrandVoice::default() };
    }
    let primary = language.map(|tag| tag.split('-').next().unwrap_or_default());
    let grammar = GRAMMARS.iter().find(|grammar| Some(grammar.code) == primary);
    let sentences = sentences(texts);
    let counted: usize = sentences.iter().map(|sentence| sentence.split_whitespace().count()).sum();
    let sentence_words = (!sentences.is_empty()).then(|| (counted as f32 / sentences.len() as f32 * 10.0).round() / 10.0);
    let is_spaced = !matches!(primary, Some("ja" | "zh" | "th"));
    BrandVoice {
        person: grammar.map(|grammar| person(&words, grammar)),
        formality: grammar.map(|grammar| formality(&all, &words, grammar, sentence_words.unwrap_or_default())),
        sentence_words: sentence_words.filter(|_| is_spaced),
        words: grammar.map(|grammar| recurring(pages, grammar, name.unwrap_or_default(), goods)).unwrap_or_default(),
        emoji,
        ..BrandVoice::default()
    }
}

/// Returns the words of the text in lowercase, including inner apostrophes.
fn words(text: &str) -> Vec<String> {
    let straight = text.replace('’', "'");
    let parts = straight.split(|character: char| !character.is_alphanumeric() && character != '\'');
    parts.map(|word| word.trim_matches('\'').to_lowercase()).filter(|word| !word.is_empty()).collect()
}

/// Returns the sentences that end with punctuation, which excludes headings and labels.
fn sentences(texts: &[String]) -> Vec<String> {
    let mut found = Vec::new();
    for text in texts {
        let mut sentence = String::new();
        let mut characters = text.chars().peekable();
        while let Some(character) = characters.next() {
            sentence.push(character);
            let ends =
                matches!(character, '.' | '!' | '?' | '…' | '。') && characters.peek().is_none_or(|next| next.is_whitespace());
            if ends {
                if sentence.split_whitespace().count() >= 3 {
                    found.push(sentence.trim().to_owned());
                }
                sentence.clear();
            }
        }
    }
    found
}

fn count(words: &[String], of: &[&str]) -> usize {
    words.iter().filter(|word| of.contains(&word.as_str())).count()
}

fn person(words: &[String], grammar: &LanguageVoice) -> BrandPerson {
    let (we, i) = (count(words, grammar.we), count(words, grammar.i));
    // Require at least one occurrence per 150 words, because less frequent words may come from a quotation.
    let enough = words.len() / 150 + 1;
    match (we, i) {
        (we, i) if we >= i && we >= enough => BrandPerson::We,
        (_, i) if i >= enough => BrandPerson::I,
        _ => BrandPerson::Third,
    }
}

fn formality(text: &str, words: &[String], grammar: &LanguageVoice, sentence_words: f32) -> BrandFormality {
    let casual = count(words, grammar.casual);
    let formal = if grammar.formal.iter().any(|word| word.starts_with(char::is_uppercase)) {
        capitals_inside(text, grammar.formal)
    } else {
        count(words, grammar.formal)
    };
    let exclaims = text.matches('!').count();
    let liveliness = (casual * 2 + exclaims) as f32 / words.len() as f32 * 100.0;
    if grammar.code == "en" {
        // English has only "you", so contractions, exclamation marks, formal words and the length of sentences determine the formality.
        return match liveliness {
            lively if lively >= 2.0 || exclaims >= 3 && sentence_words < 14.0 => BrandFormality::Casual,
            lively if lively < 0.5 && sentence_words > 16.0 || formal >= 3 && lively < 1.0 => BrandFormality::Formal,
            _ => BrandFormality::Neutral,
        };
    }
    match (casual, formal) {
        (0, 0) if sentence_words > 18.0 => BrandFormality::Formal,
        (0, 0) => BrandFormality::Neutral,
        (casual, formal) if casual > formal => BrandFormality::Casual,
        (casual, formal) if formal > casual => BrandFormality::Formal,
        _ => BrandFormality::Neutral,
    }
}

/// Counts how many times the capitalized words in `of` occur in positions other than the start of a sentence.
fn capitals_inside(text: &str, of: &[&str]) -> usize {
    let mut begins = true;
    let mut count = 0;
    for word in text.split_whitespace() {
        let bare = word.trim_matches(|character: char| !character.is_alphanumeric());
        if !begins && of.contains(&bare) {
            count += 1;
        }
        begins = word.ends_with(['.', '!', '?', ':', '…']);
    }
    count
}

/// How often, where and in which spellings a word occurs.
#[derive(Default)]
struct Uses {
    count: u32,
    /// The paragraphs that contain the word, each as the index of its page and its index on that page. A word that occurs in only one
    /// paragraph belongs to the topic of that paragraph and is not typical of the brand.
    texts: HashSet<(usize, usize)>,
    spellings: HashMap<String, u32>,
}

/// Returns recurring words, each in its most frequent spelling.
fn recurring(pages: &[Vec<String>], grammar: &LanguageVoice, name: &str, goods: &[String]) -> Vec<String> {
    let own = words(name);
    let total: usize = pages.iter().flatten().map(|text| text.split_whitespace().count()).sum();
    let least = if total < SHORT_TEXT_WORDS { RECURRING_TIMES_MIN - 1 } else { RECURRING_TIMES_MIN };
    let mut seen = HashSet::new();
    let mut uses: HashMap<String, Uses> = HashMap::new();
    for (page, texts) in pages.iter().enumerate() {
        for (place, text) in texts.iter().enumerate().filter(|(_, text)| seen.insert(text.as_str())) {
            // Words with an inner apostrophe or a hyphen do not count: they are contractions, or descriptions of goods such as
            // `hand-thrown`.
            for word in text.split(|c: char| !c.is_alphanumeric() && !matches!(c, '\'' | '’' | '-' | '‑')) {
                let is_word = word.chars().count() >= RECURRING_CHARACTERS_MIN && word.chars().all(char::is_alphabetic);
                let lowered = word.to_lowercase();
                if is_word && !is_common(&lowered, grammar, goods) && !own.contains(&lowered) {
                    let entry = uses.entry(lowered).or_default();
                    entry.count += 1;
                    entry.texts.insert((page, place));
                    *entry.spellings.entry(word.to_owned()).or_default() += 1;
                }
            }
        }
    }
    let mut found: Vec<(u32, String)> = uses
        .into_values()
        .filter(|uses| uses.count >= least && uses.texts.len() >= TEXTS_MIN)
        .map(|uses| {
            let usual = uses
                .spellings
                .into_iter()
                .max_by_key(|(word, count)| (*count, word.starts_with(char::is_lowercase)))
                .map_or_else(String::new, |(word, _)| word);
            (uses.count, usual)
        })
        .collect();
    found.retain(|(_, word)| {
        word.chars().count() > RECURRING_CHARACTERS_MIN || grammar.code == "de" && word.starts_with(char::is_uppercase)
    });
    found.sort_by(|one, other| other.0.cmp(&one.0).then_with(|| one.1.cmp(&other.1)));
    found.into_iter().take(RECURRING_MAX).map(|(_, word)| word).collect()
}

/// Returns whether a word is common in its language or in English, or is used by most shops and is not one of the brand's goods. English is
/// included, because English words also occur in text in other languages.
fn is_common(word: &str, grammar: &LanguageVoice, goods: &[String]) -> bool {
    let lists = GRAMMARS.iter().filter(|other| other.code == grammar.code || other.code == "en");
    lists.flat_map(|one| [one.common, one.we, one.i, one.casual]).any(|list| list.contains(&word))
        || COMMON.contains(word) && !goods.iter().any(|own| own == word)
}

fn is_emoji(character: char) -> bool {
    matches!(character, '\u{1f300}'..='\u{1faff}' | '\u{2600}'..='\u{26ff}' | '\u{2728}' | '\u{2764}' | '\u{1f1e6}'..='\u{1f1ff}')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(text: &str, language: &str) -> BrandVoice {
        let texts: Vec<String> = (0..8).map(|place| format!("{text}{}", " ".repeat(place))).collect();
        voice(&texts, std::slice::from_ref(&texts), Some(language), None, &[])
    }

    #[test]
    fn person_and_formality_follow_from_the_words_of_each_language() {
        for (text, language, person, formality) in [
            (
                "We're a small team and we love bread. Don't wait, it's still warm! ",
                "en",
                BrandPerson::We,
                BrandFormality::Casual,
            ),
            (
                "The institute publishes its findings on the composition of soils in the northern provinces every year, together with the data on which they rest. ",
                "en",
                BrandPerson::Third,
                BrandFormality::Formal,
            ),
            ("Wir rösten für dich. Hol dir deinen Kaffee bei uns im Laden ab. ", "de", BrandPerson::We, BrandFormality::Casual),
            ("Gern beraten wir Sie. In unserem Haus finden Sie Ihre neue Küche. ", "de", BrandPerson::We, BrandFormality::Formal),
            ("Nous vous accueillons dans notre maison. Réservez votre table. ", "fr", BrandPerson::We, BrandFormality::Formal),
            (
                "Ich nähe jede Tasche selbst. Meine Werkstatt liegt am Hafen, und mir macht das Freude. ",
                "de",
                BrandPerson::I,
                BrandFormality::Neutral,
            ),
        ] {
            let voice = of(text, language);
            assert_eq!((voice.person, voice.formality), (Some(person), Some(formality)), "{text}");
        }
    }

    #[test]
    fn recurring_words_are_topic_words() {
        let voice = of("We bake bread with the oldest sourdough in town, and our bread is baked on stone. ", "en");
        assert!(voice.words.contains(&"bread".to_owned()) && voice.words.contains(&"sourdough".to_owned()), "{:?}", voice.words);
        assert!(!voice.words.iter().any(|word| word == "with" || word == "our"));
        assert_eq!(voice.sentence_words, Some(16.0));
        assert!(!voice.emoji && of("Hello there, dear friends of the bakery 🥐. ", "en").emoji);
    }

    #[test]
    fn too_few_words_give_no_voice() {
        assert_eq!(voice(&["Hello!".into()], &[], Some("en"), None, &[]), BrandVoice::default());
    }

    #[test]
    fn common_words_and_words_of_a_single_text_are_not_typical() {
        let about = "Every piece is hand thrown on a kick wheel, and within two days the porcelain dries. Free of rush, we let porcelain rest.";
        let studio =
            "Our studio has three hands. Within a week the kiln is full. The porcelain comes from Cornwall, free of lead.";
        let glaze =
            "A glaze is glass. The glaze melts, the glaze flows, the glaze stays. Hand on heart, no glaze is like another glaze.";
        let pages = [vec![about.to_owned()], vec![studio.to_owned(), glaze.to_owned()]];
        let all = pages.concat();
        let found = voice(&all, &pages, Some("en"), Some("Kiln & Tide"), &[]).words;
        assert_eq!(found, ["porcelain"], "hand, free and within are common, and glaze is the topic of one text");
        let product = |name: &str| BrandProduct { name: name.into(), ..BrandProduct::default() };
        let sold =
            goods(&[product("Clay Hand"), product("Gift Set"), product("Free")], &[None, Some("Clay hands, free of lead.")]);
        assert_eq!(sold, ["hand"], "the brand does not say that it sells sets, and a single word is the name of a plan");
        assert_eq!(voice(&all, &pages, Some("en"), None, &sold).words, ["porcelain", "hand"].map(str::to_owned));
    }
}
