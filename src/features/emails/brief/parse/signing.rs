//! Recognizes the signature at the end of a prompt.

use super::classify::Classifier;
use super::clauses::Sentence;
use super::facts::has_value;
use super::lexicon::List;
use super::prompt::Range;
use super::tokens::Kind;

/// The maximum number of words in the closing line of a forwarded email: "LG Heike".
const FORWARDED_CLOSING_WORDS_MAX: usize = 3;

/// The maximum number of words in a name in lowercase.
const PLAIN_NAME_WORDS_MAX: usize = 2;

/// The maximum number of words in the role and name of the person who signs: "Head of operations Raj Menon".
const ROLE_AND_NAME_WORDS_MAX: usize = 7;

/// Words that start the signer's role.
const ROLES: [&str; 37] = [
    "hon",
    "mgr",
    "manager",
    "owner",
    "head",
    "chair",
    "director",
    "ceo",
    "cto",
    "coo",
    "founder",
    "secretary",
    "treasurer",
    "captain",
    "principal",
    "inhaber",
    "chef",
    "vorstand",
    "vorsitz",
    "geschaftsfuhr",
    "direkt",
    "gerant",
    "directeur",
    "directrice",
    "president",
    "responsable",
    "gerente",
    "encargad",
    "presidente",
    "titolare",
    "diretto",
    "eigenaar",
    "voorzitter",
    "bedrijfsleid",
    "proprietari",
    "leiter",
    "leitung",
];

/// The labels of a signature that a name in lowercase can follow without punctuation: "unterschrift anke sievers".
const SIGNATURES: [&str; 12] = [
    "signed",
    "signature",
    "unterschrift",
    "gez",
    "signe",
    "signee",
    "firma",
    "firmado",
    "firmato",
    "ondertekend",
    "assinado",
    "assinatura",
];

/// Words that can follow the label of a signature but are not names: "firma aquí".
const PLACES: [&str; 8] = ["here", "hier", "ici", "aqui", "qui", "below", "up", "off"];

impl Classifier<'_> {
    /// Returns whether the last sentence of the prompt consists of the label of a signature and a name in lowercase.
    pub(super) fn signs_plainly(&self, names: Range, label: usize, sentence: &Sentence) -> bool {
        let names = self.inner(names);
        let is_place = (names.from..names.to).any(|at| PLACES.contains(&self.prompt.fold(at)));
        self.seen == self.count
            && label == sentence.range.from
            && SIGNATURES.contains(&self.prompt.fold(label))
            && self.fields.signature.is_none()
            && !is_place
            && self.is_plain_name(names)
    }

    /// Returns whether the last sentence of the prompt is only the name of the sender, after an apology or thanks: "Really sorry. Jonas".
    pub(super) fn signs_off(&self, range: Range, sentence: &Sentence) -> bool {
        let prompt = self.prompt;
        let is_name = |at: usize| {
            let others = [List::Goal, List::Month, List::Weekday, List::Email, List::Language, List::Tone];
            prompt.kind(at) == Kind::Word && prompt.words.is_capital(at) && !others.into_iter().any(|list| prompt.is(list, at))
        };
        let before = prompt.trim(Range::of(0, range.from));
        let is_sorry = before.len() > 4
            && (before.to - 4..before.to)
                .any(|at| prompt.is(List::Thanks, at) || matches!(prompt.fold(at), "sorry" | "leid" | "desoles" | "desole"));
        self.seen == self.count
            && self.fields.signature.is_none()
            && !self.fields.is_forwarded
            && (1..=2).contains(&range.len())
            && self.inner(sentence.range) == range
            && (range.from..range.to).all(is_name)
            && is_sorry
    }

    /// Returns the name and role in the prompt's last sentence if the sentence contains nothing else: "mgr Owen Tate", "from head of ops
    /// Raj Menon", "Abteilungsleiter Bernd Rapp".
    pub(super) fn role_and_name(&self, range: Range) -> Option<(Range, Range)> {
        let prompt = self.prompt;
        let is_last = self.seen == self.count && self.fields.signature.is_none() && !self.fields.is_forwarded;
        let fits = is_last && (3..=ROLE_AND_NAME_WORDS_MAX).contains(&range.len()) && !has_value(prompt, range);
        let from = range.from + usize::from(matches!(prompt.fold(range.from), "from" | "von"));
        let name = Range::of(range.to.saturating_sub(2), range.to);
        let role = Range::of(from, name.from);
        let others = [List::Month, List::Weekday, List::Street, List::Venue, List::Email, List::Goal, List::Common];
        let is_name = |at: usize| {
            prompt.kind(at) == Kind::Word && prompt.words.is_capital(at) && !others.into_iter().any(|list| prompt.is(list, at))
        };
        let is_role = |at: usize| {
            let word = prompt.fold(at);
            ROLES.iter().any(|role| word.starts_with(role))
                || word.ends_with("leiter")
                || word.ends_with("leiterin")
                || word.ends_with("leitung")
        };
        let has_role = !role.is_empty() && (role.from..role.to).any(is_role) && !prompt.has(List::Finite, role);
        (fits && has_role && (name.from..name.to).all(is_name)).then_some((name, role))
    }

    /// Returns the name and role of the sender if the prompt's last line contains nothing else: "from: Jen", "Pip (hon sec)", "Camille,
    /// manager (sign it)".
    pub(super) fn last_signer(&self, sentence: &Sentence, whole: Range) -> Option<Range> {
        let prompt = self.prompt;
        let is_free = self.seen == self.count && self.seen > 2 && self.fields.signature.is_none() && !self.fields.is_forwarded;
        let fits = is_free && (2..=ROLE_AND_NAME_WORDS_MAX).contains(&whole.len()) && !has_value(prompt, whole);
        let others = [List::Month, List::Weekday, List::Email, List::Goal, List::Common, List::Not];
        let is_name = |at: usize| {
            prompt.kind(at) == Kind::Word && prompt.words.is_capital(at) && !others.into_iter().any(|list| prompt.is(list, at))
        };
        let is_role = |at: usize| ROLES.iter().any(|role| prompt.fold(at).starts_with(role));
        if prompt.fold(whole.from) == "from" && prompt.fold(whole.from + 1) == ":" && sentence.is_line_start {
            let name = Range::of(whole.from + 2, whole.to);
            return (fits && name.len() <= PLAIN_NAME_WORDS_MAX && (name.from..name.to).all(is_name)).then_some(name);
        }
        let mark = (whole.from + 1..whole.to).find(|at| matches!(prompt.fold(*at), "(" | ","))?;
        let is_named = mark - whole.from <= PLAIN_NAME_WORDS_MAX && (whole.from..mark).all(is_name);
        let open = prompt.sign("(", whole);
        let asks = open.is_some_and(|open| prompt.is(List::LabelSign, open + 1));
        let role = Range::of(mark + 1, open.filter(|open| *open > mark).unwrap_or(whole.to));
        let has_role = role.len() <= PLAIN_NAME_WORDS_MAX + 1 && (role.from..role.to).any(is_role);
        (fits && is_named && has_role && (asks || open == Some(mark))).then(|| Range::of(whole.from, role.to))
    }

    /// Returns the names in the spoken German form "unterschreiben tun Brandt und Yilmaz".
    pub(super) fn signers(&self, range: Range) -> Option<Range> {
        let is_sign = |at: &usize| self.prompt.fold(*at) == "unterschreiben" && matches!(self.prompt.fold(at + 1), "tun" | "tut");
        let sign = (range.from..range.to.saturating_sub(2)).find(is_sign)?;
        self.prompt.words.is_capital(sign + 2).then(|| Range::of(sign + 2, range.to))
    }

    /// Reads the closing line of the prompt, with the signature in it. Returns whether the range belongs to such a line.
    pub(super) fn closing(&mut self, range: Range, sentence: &Sentence, is_start: bool) -> bool {
        let after = self.prompt.end(List::Closing, range.from);
        // The name and the address of the sender follow the closing of a forwarded email: "Cordialement, Martine Hoffer, 5 place de …".
        let is_address = self.fields.is_forwarded
            && is_start
            && after
                .is_some_and(|end| self.prompt.fold(end) == "," && (end + 1..end + 3).all(|at| self.prompt.words.is_capital(at)));
        if is_address {
            self.closes = true;
            return true;
        }
        let is_last =
            self.seen + 2 >= self.count || self.fields.is_forwarded && sentence.range.len() <= FORWARDED_CLOSING_WORDS_MAX;
        let Some(mut end) = self.prompt.end(List::Closing, range.from).filter(|_| is_last) else { return false };
        // Several closing words can precede the name: "Danke und liebe Grüße Jutta".
        while let Some(next) = self.prompt.end(List::Closing, self.prompt.end(List::And, end).unwrap_or(end)) {
            end = next;
        }
        let mut rest = Range::of(end, sentence.range.to);
        let is_by =
            matches!(self.prompt.fold(end), "from" | "von" | "de" | "da" | "van") && self.prompt.words.is_capital(end + 1);
        rest.from += usize::from(is_by);
        let mut names = self.prompt.trim(rest);
        // A wish can follow the name of the sender: "From Resi, please be formal".
        if let Some(comma) = self.prompt.sign(",", names).filter(|comma| self.prompt.is(List::Please, comma + 1)) {
            let wish = Range::of(comma + 1, names.to);
            names.to = comma;
            self.limits(self.inner(wish), false);
        }
        // A closing in lowercase within a line is from the person who types the prompt, and that person need not sign the email: "… doen
        // we niet. groetjes Anouk". In contrast, "… all good now. from Gaz" has a last sentence that consists only of the signature.
        let is_end = self.seen + 1 >= self.count;
        let is_alone = is_start && is_end && matches!(self.prompt.fold(range.from), "from" | "von");
        let is_inside = !is_alone && !sentence.is_line_start && self.prompt.raw(range.from).starts_with(char::is_lowercase);
        if is_inside && !is_by && !names.is_empty() && !self.fields.is_forwarded {
            return false;
        }
        let is_plain = sentence.is_line_start && is_start && self.is_plain_name(names);
        let is_name = !names.is_empty()
            && names.len() <= 5
            && (is_plain || self.prompt.words.is_capital(names.from) || self.prompt.is(List::Article, names.from));
        if is_name && !self.fields.is_forwarded && self.fields.signature.is_none() {
            self.signature(names, Range::of(range.from, sentence.range.to));
        }
        self.closes = is_start && is_name;
        is_start && (names.is_empty() || is_name) || is_name && names.len() <= 3
    }

    /// Returns whether a range consists of one or two words that can be a name, even in lowercase, such as
    /// "maartje" in "grüße maartje".
    pub(super) fn is_plain_name(&self, range: Range) -> bool {
        let others = [List::Common, List::Finite, List::Please, List::Not, List::Goal, List::Month, List::Weekday, List::Readers];
        let is_name = |at: usize| self.prompt.kind(at) == Kind::Word && !others.into_iter().any(|list| self.prompt.is(list, at));
        (1..=PLAIN_NAME_WORDS_MAX).contains(&range.len()) && (range.from..range.to).all(is_name)
    }
}

#[cfg(test)]
mod tests {
    use jiff::civil::date;

    use crate::features::emails::brief::Brief;
    use crate::features::emails::brief::parse::parse;
    use crate::features::projects::brand::Brand;

    fn read(prompt: &str) -> Brief {
        parse(prompt, &Brand::default(), None, date(2027, 2, 22))
    }

    #[test]
    fn the_last_sentence_can_name_the_person_who_signs() {
        for (prompt, name, title) in [
            ("We are closed on Friday 5 March. All good again on Monday. from Gaz", "Gaz", None),
            ("Screen 2 was dark on 20 February. We are very sorry about it. mgr Owen Tate", "Owen Tate", Some("manager")),
            (
                "Die Halle bleibt am 7. März geschlossen. Wir bitten um Nachsicht. Abteilungsleiter Bernd Rapp",
                "Bernd Rapp",
                Some("Abteilungsleiter"),
            ),
            ("Ab 1.4. kostet der Unterricht 82 € im Monat. unterschreiben tun Brandt und Yilmaz", "Brandt und Yilmaz", None),
            ("Ab 1.4. kostet der Unterricht 82 € im Monat. Frau Adler unterschreibt als Leiterin", "Adler", Some("Leiterin")),
            ("The meeting is on 17 March in the scout hut. Chair is Ted Okafor he signs", "Ted Okafor", None),
            ("The practice is closed on 4 March. Sign it off from karen on reception thx", "Karen", Some("reception")),
        ] {
            let signature = read(prompt).signature.unwrap_or_else(|| panic!("{prompt}: there is no signature"));
            assert_eq!((signature.name.as_str(), signature.title.as_deref()), (name, title), "{prompt}");
        }
    }

    #[test]
    fn the_last_sentence_can_be_a_statement() {
        for prompt in ["We moved on 5 March. Ask for head chef Rosa Blum at the door", "New on 5 March at the Corner House"] {
            assert_eq!(read(prompt).signature, None, "{prompt}");
        }
    }
}
