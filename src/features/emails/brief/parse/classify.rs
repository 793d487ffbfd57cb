//! Decides for each fragment of a sentence whether the email prints it.

use super::super::{CallToAction, Constraint, Goal, Part, Signature};
use super::clauses::{Chat, Sentence};
use super::facts::has_value;
use super::lexicon::{List, Mark, goal_of, names_kind};
use super::names::signer;
use super::prompt::{Prompt, Range};
use super::roles;
use super::tokens::Kind;
use crate::features::emails::merge_words;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Class {
    /// Text for the recipients.
    Content,
    /// A request to the writer that names the topic. Numbers and names in the request are facts.
    Topic,
    /// A request to the writer, or other text that the email does not print, such as a label.
    Note,
    Unclear,
    /// A part of the brief with its own field, such as the subject.
    Field,
}

#[derive(Clone, Copy, Debug)]
pub struct Fragment {
    pub range: Range,
    pub class: Class,
}

/// The parts of a brief that are found while fragments are classified.
#[derive(Debug, Default)]
pub struct Fields {
    pub language: Option<String>,
    pub audience: Option<Part>,
    pub subject: Option<Part>,
    pub preheader: Option<Part>,
    pub headline: Option<Part>,
    pub cta: Option<CallToAction>,
    pub signature: Option<Signature>,
    pub tone: Vec<Part>,
    pub constraints: Vec<Constraint>,
    /// Whether the prompt is a chat or a forwarded email, or greets the writer. If so, its closing line is not the new email's signature.
    pub is_forwarded: bool,
}

/// The maximum number of words in a short fragment. Most notes are short.
pub(super) const SHORT_WORDS: usize = 7;

/// The maximum number of words that name the recipients before or after "only".
const READERS_WORDS_MAX: usize = 3;

/// The maximum number of words in a request that ends with "please".
const WISH_WORDS_MAX: usize = 6;

pub struct Classifier<'a> {
    pub prompt: &'a Prompt<'a>,
    pub fields: Fields,
    /// Whether the current fragment requests an email. If so, the fragments before it describe the situation.
    pub asks: bool,
    /// Whether the sentence asks the writer to report something. A later "that" can then introduce what to report.
    pub reports: bool,
    /// Whether the previous fragment is a note or a topic.
    pub requests: bool,
    /// Whether the sentence lists the emails in a series: "Welcome series: who we are, our best sellers".
    pub outlines: bool,
    /// Whether the sentence starts with a description of the recipients.
    pub situates: bool,
    /// Whether the sentence only describes the recipients: "Customers, who …".
    pub relates: bool,
    /// Whether the sentence is the closing line of the prompt.
    pub closes: bool,
    /// Whether the sentence contains a rule for the writer. The reason for the rule can follow.
    pub rules: bool,
    /// Whether the email offers a job.
    pub hires: bool,
    /// Whether the email is a recall, which can ask the recipients not to use the product.
    pub recalls: bool,
    /// Whether an earlier sentence tried to give orders to a language model.
    pub attacked: bool,
    /// Whether the line contains the disclaimer of a forwarded email.
    pub disclaims: bool,
    /// Whether text in brackets later in the sentence belongs to the topic of a request.
    pub carries: bool,
    /// The number of sentences that have been classified.
    pub seen: usize,
    pub count: usize,
}

impl Classifier<'_> {
    /// Returns the classified parts of a sentence in order. Together, the parts cover all fragments of the sentence.
    pub fn sentence(&mut self, sentence: &Sentence) -> Vec<Fragment> {
        self.seen += 1;
        let whole = self.prompt.trim(sentence.range);
        if sentence.chat == Chat::Speaker {
            self.fields.is_forwarded = true;
            return vec![Fragment { range: sentence.range, class: Class::Note }];
        }
        if self.is_answer(sentence, whole) {
            return vec![Fragment { range: sentence.range, class: Class::Unclear }];
        }
        if let Some(signer) = self.last_signer(sentence, whole) {
            self.signature(signer, whole);
            return vec![Fragment { range: sentence.range, class: Class::Field }];
        }
        if whole.is_empty() || self.is_header(sentence, whole) || self.is_attack(whole) || self.is_initials(sentence, whole) {
            return self.after_comment(sentence.range);
        }
        // The name of the sender's company can follow the disclaimer of a forwarded email, so the rest of the line is a note too.
        self.disclaims &= !sentence.is_line_start;
        self.disclaims |= self.fields.is_forwarded && self.is_disclaimer(whole);
        if self.disclaims {
            return vec![Fragment { range: sentence.range, class: Class::Note }];
        }
        let mut pieces = Vec::new();
        let mut at = 0;
        while at < sentence.fragments.len() {
            let range = sentence.fragments[at];
            if let Some((taken, piece)) = self.field(sentence, at) {
                pieces.push(piece);
                at += taken;
                continue;
            }
            let is_start = at == 0;
            self.carries &= !is_start;
            self.rules &= !is_start;
            self.closes &= !is_start;
            self.situates &= !is_start;
            self.reports &= !is_start;
            self.relates &= !is_start;
            self.outlines &= !is_start;
            self.asks = false;
            self.fragment(range, sentence, is_start, &mut pieces);
            if self.asks {
                let is_bare = !self.prompt.has(List::InLanguage, range) && self.prompt.has(List::Language, range)
                    || self.names_email(self.inner(range));
                let (prompt, is_chat) = (self.prompt, sentence.chat == Chat::Line);
                let is_situation = |piece: &&mut Fragment| {
                    let is_before = piece.class == Class::Content && piece.range.to <= range.from;
                    let (speaks, has_value) = (prompt.has(List::Finite, piece.range), has_value(prompt, piece.range));
                    is_before && !((speaks || is_chat) && has_value || is_bare && (speaks || has_value))
                };
                pieces.iter_mut().filter(is_situation).for_each(|piece| piece.class = Class::Topic);
            }
            at += 1;
        }
        self.with_links(&mut pieces);
        pieces
    }

    /// Turns notes with web addresses into topics, so that their facts are read.
    fn with_links(&self, pieces: &mut [Fragment]) {
        for piece in pieces.iter_mut().filter(|piece| piece.class == Class::Note) {
            if (piece.range.from..piece.range.to).any(|at| self.prompt.kind(at) == Kind::Link) {
                piece.class = Class::Topic;
            }
        }
    }

    fn is_header(&mut self, sentence: &Sentence, whole: Range) -> bool {
        let Some(end) = self.prompt.end(List::Header, whole.from).filter(|_| sentence.is_line_start) else { return false };
        // With text after the colon of a header, the prompt is a report, not a forwarded email: "Notes from the meeting: we need a cook".
        let is_report = ["not", "prot", "acta", "appunti"].iter().any(|stem| self.prompt.fold(whole.from).starts_with(stem));
        if is_report && self.prompt.fold(end) == ":" && whole.to > end + 1 {
            return false;
        }
        let is_mail = self.prompt.fold(end - 1) != ":" || whole.len() <= end - whole.from + 8;
        self.fields.is_forwarded |= is_mail;
        is_mail
    }

    /// Returns whether a line of a forwarded email consists only of the initials or the name of the person who signs it: "H x".
    fn is_initials(&self, sentence: &Sentence, whole: Range) -> bool {
        let is_short = |at: usize| self.prompt.kind(at) != Kind::Number && self.prompt.raw(at).chars().count() <= 2;
        // A person who forwards an email can sign with only a name after the last sentence: "Uwe".
        let is_name = self.seen == self.count
            && self.prompt.mentions(List::Header)
            && whole.len() == 1
            && self.prompt.kind(whole.from) == Kind::Word
            && self.prompt.words.is_capital(whole.from);
        self.fields.is_forwarded
            && (is_name || sentence.is_line_start && whole.len() <= 3 && (whole.from..whole.to).all(is_short))
    }

    pub fn part(&self, range: Range) -> Part {
        Part { text: self.prompt.text(range).trim().to_owned(), span: Some(self.prompt.span(range)) }
    }

    /// Returns the position of the first word of a fragment after punctuation, greetings, "and", "please", and sounds such as "um".
    pub(super) fn start(&self, fragment: Range) -> usize {
        let mut at = self.prompt.trim(fragment).from;
        loop {
            let greeting = self.prompt.end(List::Greeting, at).filter(|_| at == 0).or_else(|| self.named_greeting(at));
            let next = greeting
                .or_else(|| self.prompt.end(List::Please, at))
                .or_else(|| self.prompt.end(List::And, at))
                .or_else(|| self.prompt.end(List::Sound, at));
            let is_open_quote = self.prompt.is_quote(at) && self.prompt.quote_end(at, fragment.to).is_none();
            let sign = (is_open_quote || matches!(self.prompt.fold(at), "(" | "[" | "," | ":")).then_some(at + 1);
            match next.or(sign).filter(|next| *next < fragment.to) {
                Some(next) => at = next,
                None => return at,
            }
        }
    }

    #[expect(clippy::too_many_lines, reason = "the order of these rules is their meaning: the first that fits decides")]
    fn fragment(&mut self, fragment: Range, sentence: &Sentence, is_start: bool, pieces: &mut Vec<Fragment>) {
        let range = self.inner(fragment);
        if range.is_empty() {
            pieces.push(Fragment { range: fragment, class: Class::Content });
            return;
        }
        if let Some(signers) = self.signers(range) {
            self.signature(signers, range);
            pieces.push(Fragment { range: fragment, class: Class::Field });
            return;
        }
        if roles::excuses_prompt(self.prompt, range) {
            pieces.push(Fragment { range: fragment, class: Class::Note });
            return;
        }
        if is_start && self.excuses(range) {
            pieces.push(Fragment { range: fragment, class: Class::Unclear });
            return;
        }
        // A fragment that is only a merge field names the recipients: "Birthday mail for {{first_name}}, 15% off".
        if range.len() == 1 && merge_words::is_field(self.prompt.raw(range.from)) {
            pieces.push(Fragment { range: fragment, class: Class::Note });
            return;
        }
        // A label before a link is not printed: "link: https://…".
        let is_link_label = self.prompt.at(List::LabelLink, range.from).any(|mark| mark.to == range.to);
        if is_link_label && self.prompt.kind(fragment.to) == Kind::Link {
            pieces.push(Fragment { range: fragment, class: Class::Note });
            return;
        }
        // A prohibition in capitals addresses the writer: "NOT the clearance socks".
        let word = self.prompt.raw(range.from);
        let is_shouted = word.chars().count() > 1 && word.chars().all(char::is_uppercase);
        let is_answer = range.len() <= 2 || self.prompt.is(List::Finite, range.from + 1);
        if is_start && is_shouted && self.prompt.is(List::Not, range.from) && !is_answer && !self.is_shouted() {
            pieces.push(Fragment { range: fragment, class: Class::Unclear });
            self.rules = true;
            return;
        }
        let start = self.start(fragment);
        // In a job offer, "need" states the news instead of requesting an email: "Need a barista for our shop".
        let needs = self.hires && matches!(self.prompt.fold(start), "need" | "looking" | "hiring" | "suchen");
        if needs && !self.prompt.has(List::Email, range) {
            pieces.push(Fragment { range: fragment, class: Class::Content });
            return;
        }
        // A question that the email should ask the recipients is content: "Ask customers if they want to join our club".
        if let Some(content) = self.question(range, start) {
            pieces.push(Fragment { range: Range::of(fragment.from, content), class: Class::Topic });
            pieces.push(Fragment { range: Range::of(content, fragment.to), class: Class::Content });
            return;
        }
        if self.closes && !is_start {
            pieces.push(Fragment { range: fragment, class: Class::Note });
            return;
        }
        if let Some((name, role)) = self.role_and_name(range).filter(|_| is_start) {
            self.signature(name, range);
            let lexicon = self.prompt.lexicon();
            let title = self.prompt.text(role).trim().split(' ').map(|word| lexicon.rewritten(word).unwrap_or(word));
            let title = title.collect::<Vec<_>>().join(" ");
            if let Some(signature) = self.fields.signature.as_mut() {
                signature.title = Some(title);
            }
            pieces.push(Fragment { range: fragment, class: Class::Field });
            return;
        }
        if is_start && self.signs_off(range, sentence) {
            self.signature(range, range);
            pieces.push(Fragment { range: fragment, class: Class::Field });
            return;
        }
        // A relative clause after the recipients describes them: "Kunden, die lange nicht bestellt haben, zurückgewinnen mit 15 % Rabatt".
        let first = Range::of(sentence.range.from, fragment.from);
        let readers =
            self.prompt.find(List::Readers, first).filter(|readers| readers.from == first.from && readers.to + 1 == first.to);
        self.relates |= readers.is_some() && matches!(self.prompt.fold(start), "die" | "who" | "der" | "deren" | "qui" | "que");
        if self.relates && !is_start {
            pieces.push(Fragment { range: fragment, class: Class::Topic });
            return;
        }
        let before = pieces.last().map(|piece: &Fragment| piece.class);
        self.requests = before.is_some_and(|class| matches!(class, Class::Note | Class::Topic));
        let is_open = matches!(self.prompt.fold(fragment.from), "(" | "[")
            || fragment.from > 0 && self.prompt.fold(fragment.from - 1) == ")";
        if let Some(class @ (Class::Note | Class::Topic | Class::Unclear)) =
            before.filter(|class| is_open && !is_start && (matches!(class, Class::Note | Class::Unclear) || self.carries))
        {
            self.limits(range, false);
            pieces.push(Fragment { range: fragment, class });
            return;
        }
        let has_number = (range.from..range.to).any(|at| {
            self.prompt.is(List::Currency, at)
                || self.prompt.is(List::Percent, at)
                || self.prompt.is(List::Month, at)
                || self.prompt.is(List::Code, at)
        });
        if !is_start && self.situates && range.len() <= 5 && !has_number && !self.prompt.has(List::Finite, range) {
            pieces.push(Fragment { range: fragment, class: Class::Topic });
            return;
        }
        if self.outlines && !has_number {
            pieces.push(Fragment { range: fragment, class: Class::Note });
            return;
        }
        self.outlines |= is_start
            && self.prompt.fold(fragment.to - 1) == ":"
            && (self.prompt.has(List::Series, range) || self.prompt.has(List::Emails, range) && self.is_series(range));
        // In a recall, a prohibition can address the recipients: "Please do not use it any longer".
        let forbids = self.recalls && self.prompt.has(List::Not, range) && self.prompt.has(List::Consume, range);
        // A prohibition of a word addresses the writer: "Don't use the word defective".
        let names_word = (range.from..range.to)
            .any(|at| ["word", "wort", "mot", "palabra", "parola", "palavra", "woord"].contains(&self.prompt.fold(at)));
        let forbids = forbids && !names_word && !self.prompt.has(List::Craft, range);
        if forbids || self.prompt.is(List::Assure, start) {
            pieces.push(Fragment { range: fragment, class: Class::Content });
            return;
        }
        let is_limit = self.limits(range, false);
        if is_limit
            || self.closing(range, sentence, is_start)
            || self.greeting(range, sentence, is_start)
            || self.language(range, false)
            || self.names_email(range)
        {
            self.rules |= is_limit;
            self.withdraw_reason(range, start, pieces);
            let is_named = self.names_email(range);
            if is_named && is_start {
                self.audience(range, start);
            }
            self.asks = self.prompt.has(List::Language, range) || is_named;
            // The words before "mail" can be the topic: "privacy policy update mail".
            pieces.push(Fragment { range: fragment, class: if is_named && !is_limit { Class::Topic } else { Class::Note } });
            return;
        }
        if self.prompt.fold(fragment.to - 1) == ":" && is_start && self.prompt.is(List::Moment, start) {
            pieces.push(Fragment { range: fragment, class: Class::Note });
            return;
        }
        // A fragment can name the person who signs the email: "Noa signs".
        let signs = signer(self.prompt, range);
        if let Some((name, title)) = signs.filter(|_| self.fields.signature.is_none()) {
            self.signature(name, range);
            let title = self.prompt.text(title).trim();
            if let Some(signature) = self.fields.signature.as_mut().filter(|_| !title.is_empty()) {
                signature.title = Some(title.to_owned());
            }
            pieces.push(Fragment { range: fragment, class: Class::Field });
            return;
        }
        if let Some(content) = self.request(fragment, start, sentence, is_start) {
            pieces.push(Fragment { range: Range::of(fragment.from, content.from), class: Class::Topic });
            let readers = self.readers_at_end(content);
            let content = Range::of(content.from, content.to - readers.len());
            if !content.is_empty() {
                pieces.push(Fragment { range: content, class: Class::Content });
            }
            if !readers.is_empty() {
                pieces.push(Fragment { range: readers, class: Class::Topic });
            }
            return;
        }
        // In German and Dutch, an infinitive after a comma belongs to the text before the comma: "Wir bitten Sie, die Mail zu löschen".
        let is_infinitive = before == Some(Class::Content) && range.len() > 2 && self.prompt.is(List::ToVerb, range.to - 2);
        if is_infinitive && matches!(self.prompt.lexicon().code, "de" | "nl") {
            pieces.push(Fragment { range: fragment, class: Class::Content });
            return;
        }
        if self.seen == 1 && self.is_only(range) {
            let part = self.part(range);
            self.fields.audience.get_or_insert(part);
            pieces.push(Fragment { range: fragment, class: Class::Note });
            return;
        }
        let may_address = is_start || matches!(before, Some(Class::Note | Class::Topic));
        let addresses = may_address && self.audience(range, start);
        if addresses || self.tone(range) || self.is_note(range, start) {
            // A note that forbids nothing can still contain dates and numbers for the email.
            let is_forbidden = (range.from..range.to).any(|at| self.prompt.is(List::Not, at));
            let is_remark = self.prompt.is(List::NoteStart, start) && !is_forbidden;
            self.rules |= (start..start + 2).any(|at| self.prompt.is(List::Not, at));
            self.situates =
                is_start && is_remark && self.prompt.fold(fragment.to - 1) != ":" && self.prompt.has(List::Readers, range);
            // A negation after a statement can be a fact: "No housing this year".
            let is_doubtful = is_forbidden && before == Some(Class::Content) && !self.prompt.has(List::NoteAny, range);
            let is_dated = addresses && self.prompt.has(List::Month, range);
            let has_fact = (is_forbidden || is_dated) && has_value(self.prompt, range);
            let class = match (is_remark, is_doubtful || has_fact) {
                (true, _) => Class::Topic,
                (_, true) => Class::Unclear,
                _ => Class::Note,
            };
            pieces.push(Fragment { range: fragment, class });
            return;
        }
        // A request or question can merely introduce the content: "Two dates for the diary pls:".
        let is_request = self.prompt.fold(fragment.to - 1) == ":" && self.prompt.before(List::Please, fragment.to - 1).is_some();
        let is_question = self.prompt.fold(fragment.to - 1) == ":"
            && self.prompt.is(List::Question, start)
            && self.prompt.has(List::Readers, range);
        if is_start && (is_question || is_request || self.is_title(range, fragment)) {
            pieces.push(Fragment { range: fragment, class: Class::Topic });
            return;
        }
        // The fragment after a rule for the writer can be the reason for the rule: "No jokes please, the treasurer is still upset". People
        // also put remarks in square brackets, and ask each other questions in chats.
        let follows = matches!(before, Some(Class::Note | Class::Unclear)) && !self.prompt.is(List::And, range.from);
        let speaks = self.prompt.has(List::Finite, range) && !self.prompt.is(List::Finite, range.from);
        let is_reason = self.rules && follows && (speaks || range.len() <= 2) && !has_value(self.prompt, range);
        // A short negation after a request belongs to the request: "Say sorry once, not five times".
        let denies = matches!(before, Some(Class::Note | Class::Topic)) && self.prompt.is(List::Not, start) && range.len() <= 4;
        let is_reason = is_reason || denies && !has_value(self.prompt, range);
        let is_bracketed =
            self.prompt.fold(fragment.from) == "[" && !has_value(self.prompt, Range::of(fragment.from, sentence.range.to));
        let asks = sentence.chat == Chat::Line && self.prompt.fold(fragment.to - 1) == "?";
        // A short request without a verb is meant for the writer: "Photo of Biscuit pls".
        let is_wish = (2..=WISH_WORDS_MAX).contains(&range.len())
            && self.prompt.is(List::Please, range.to - 1)
            && self.prompt.has(List::Craft, range)
            && !self.prompt.has(List::Finite, range)
            && !has_value(self.prompt, range);
        if is_reason || is_bracketed || asks || is_wish || self.prompt.has(List::Remark, range) {
            pieces.push(Fragment { range: fragment, class: Class::Unclear });
            return;
        }
        if let Some(class) = self.aside(range, start, sentence, pieces) {
            pieces.push(Fragment { range: fragment, class });
            return;
        }
        pieces.push(Fragment { range: fragment, class: Class::Content });
    }

    /// Returns whether more than half of the prompt's letters are uppercase.
    fn is_shouted(&self) -> bool {
        let letters = self.prompt.words.text.chars().filter(|c| c.is_alphabetic());
        let capitals = letters.clone().filter(|c| c.is_uppercase()).count();
        capitals * 2 > letters.count()
    }

    /// Returns whether a fragment states who receives the email: "Choir only", "nur Mitglieder".
    fn is_only(&self, range: Range) -> bool {
        let prompt = self.prompt;
        let only = |at: usize| matches!(prompt.fold(at), "only" | "nur" | "alleen" | "seulement" | "solo" | "uniquement");
        let rest = if only(range.to - 1) { Range::of(range.from, range.to - 1) } else { Range::of(range.from + 1, range.to) };
        let is_led = only(range.from) || only(range.to - 1);
        let names = (rest.from..rest.to).any(|at| prompt.at(List::Readers, at).any(|mark| mark.to == rest.to));
        is_led && (1..=READERS_WORDS_MAX).contains(&rest.len()) && names
    }

    /// Returns the position of a question's first word after "to", in English: "join" in "Ask customers if they want to join our club".
    fn question(&self, range: Range, start: usize) -> Option<usize> {
        let prompt = self.prompt;
        let whether = (start..range.to).find(|at| matches!(prompt.fold(*at), "if" | "whether"))?;
        let to = (whether..range.to).find(|at| prompt.fold(*at) == "to")?;
        let asks = prompt.is(List::Ask, start) && prompt.fold(whether + 1) == "they" && to <= whether + 5;
        (asks && prompt.lexicon().code == "en" && matches!(prompt.fold(to - 1), "want" | "like" | "wish") && to + 1 < range.to)
            .then_some(to + 1)
    }

    /// Marks text as unclear if it is followed by "and" or "so" and then by a prohibition, because the text is then the reason for the
    /// prohibition: "Dean is off with his knee so don't say it is permanent".
    fn withdraw_reason(&self, range: Range, start: usize, pieces: &mut [Fragment]) {
        let is_joined = self.prompt.is(List::And, range.from) && self.prompt.is(List::Avoid, start);
        let before = pieces.last_mut().filter(|last| is_joined && last.class == Class::Content);
        if let Some(last) = before.filter(|last| !has_value(self.prompt, last.range)) {
            last.class = Class::Unclear;
        }
    }

    /// Returns whether a fragment only names the kind of email, as a title does: "Cart reminder:".
    fn is_title(&self, range: Range, fragment: Range) -> bool {
        let ends = self.prompt.fold(fragment.to - 1);
        // The words for a forgotten cart are a title even before a comma: "Warenkorb vergessen, 5 € Rabatt".
        let is_cart = |mark: &Mark| ends != ":" && goal_of(*mark) == Goal::Cart && mark.from == 0;
        let is_whole = fragment.from == 0 && fragment.to == self.prompt.words.len();
        let is_invitation = ends == ":" && self.prompt.text(range).eq_ignore_ascii_case("save the date");
        // A title can contain words such as "about", or be a single word: "Reminder about the abandoned cart, …", "Survey!".
        let is_joint = |at: usize| [List::About, List::Article, List::For, List::Of].iter().any(|list| self.prompt.is(*list, at));
        let words = (range.from..range.to).filter(|at| !is_joint(*at)).count();
        let is_cry = fragment.from == 0 && ends == "!" && range.len() == 1;
        if is_invitation || !is_whole && !is_cry && !matches!(ends, ":" | ",") || words > 3 || range.len() > 5 {
            return is_invitation;
        }
        let is_label = |mark: &Mark| {
            let goal = goal_of(*mark);
            let is_kind = names_kind(*mark) && goal != Goal::Referral || matches!(goal, Goal::Survey | Goal::Review | Goal::Sale);
            if ends == ":" { is_kind } else { is_cart(mark) || is_whole && names_kind(*mark) }
        };
        let mut at = range.from;
        while at < range.to {
            match self.prompt.at(List::Goal, at).filter(is_label).map(|mark| mark.to).max() {
                Some(end) => at = end,
                None if at > range.from && is_joint(at) => at += 1,
                None => return false,
            }
        }
        true
    }

    /// Returns a fragment without the punctuation and brackets at its ends.
    pub(super) fn inner(&self, fragment: Range) -> Range {
        let mut range = self.prompt.trim(fragment);
        while !range.is_empty() && matches!(self.prompt.fold(range.from), "(" | "[" | ",") {
            range.from += 1;
        }
        while !range.is_empty() && matches!(self.prompt.fold(range.to - 1), ")" | "]" | "." | "!" | "?" | ";" | "," | ":") {
            range.to -= 1;
        }
        range
    }

    /// Returns whether a fragment greets the writer. Longer greetings are recognized only in the first sentences.
    fn greeting(&mut self, range: Range, sentence: &Sentence, is_start: bool) -> bool {
        let is_early = self.seen <= 3 && is_start && sentence.is_line_start || self.seen <= 2 && range.from < 4;
        let is_short = range.len() <= 3 && self.prompt.words.is_capital(range.to - 1) && range.len() > 1;
        let is_quoted = self.fields.is_forwarded && sentence.is_line_start && is_start && range.len() <= 3;
        let greets = self.prompt.is(List::Greeting, range.from) && (range.len() <= 6 && is_early || is_short || is_quoted);
        self.fields.is_forwarded |= greets;
        greets
    }

    /// Reads a description of the recipients, such as "for customers who …". Returns whether the fragment contains one.
    pub(super) fn audience(&mut self, range: Range, start: usize) -> bool {
        let prompt = self.prompt;
        let Some(end) = prompt.end(List::AudienceStart, start) else { return false };
        let near = Range::of(end, (end + 5).min(range.to));
        let Some(readers) = prompt.find(List::Readers, near) else { return false };
        let is_strong = end > start + 1;
        let has_contact = (range.from..range.to).any(|at| matches!(prompt.kind(at), Kind::Mail | Kind::Link));
        // A statement can start like a description of the recipients: "To stay on the list they do nothing".
        let speaks = readers.from > end + 1
            && prompt.has(List::Finite, Range::of(readers.to, range.to))
            && !prompt.is(List::Question, readers.to)
            && !prompt.is(List::That, readers.to);
        if has_contact
            || !is_strong && speaks
            || !is_strong && (range.len() > 12 || prompt.has(List::Finite, Range::of(end, readers.from)))
        {
            return false;
        }
        // The topic can follow the recipients: "survey of the parents about the Friday classes".
        let about = (readers.to..range.to).find(|at| prompt.is(List::About, *at)).unwrap_or(range.to);
        let (text, span) = (prompt.text(Range::of(end, about)).to_owned(), prompt.span(Range::of(range.from, about)));
        self.fields.audience.get_or_insert(Part { text, span: Some(span) });
        true
    }

    /// Reads a note that consists only of words about the tone. Returns whether the fragment is such a note.
    fn tone(&mut self, range: Range) -> bool {
        let words = (range.from..range.to).filter(|at| self.prompt.kind(*at) == Kind::Word);
        let mut covered = range.from;
        for at in words {
            if at < covered {
                continue;
            }
            let end = [List::Tone, List::ToneFill, List::Please, List::And]
                .into_iter()
                .filter_map(|list| self.prompt.end(list, at))
                .max();
            match end {
                Some(end) => covered = end,
                None => return false,
            }
        }
        let is_tone = self.prompt.has(List::Tone, range)
            && range.len() <= 12
            && (range.from..range.to).all(|at| self.prompt.kind(at) != Kind::Number);
        if is_tone {
            self.fields.tone.push(self.part(range));
        }
        is_tone
    }

    fn is_note(&mut self, range: Range, start: usize) -> bool {
        let prompt = self.prompt;
        let has_contact = (range.from..range.to).any(|at| prompt.kind(at) == Kind::Mail);
        let is_tail = prompt.is(List::Tail, range.from) || prompt.is(List::Tail, start);
        let is_whole =
            prompt.at(List::NoteWhole, range.from).chain(prompt.at(List::NoteWhole, start)).any(|mark| mark.to >= range.to);
        let is_start = (prompt.is(List::NoteStart, start) || prompt.is(List::NoteStart, range.from)) && !has_contact;
        // If the thing to avoid is only a common word, such as a pronoun, the request addresses the recipients, so it is not a note:
        // "Please don't use them".
        let avoids = prompt.end(List::Avoid, start).is_some_and(|end| end + 1 == range.to && prompt.is(List::Common, end));
        let is_note = is_whole || is_start && !avoids || is_tail || prompt.has(List::NoteAny, range);
        if is_note && prompt.has(List::Tone, range) {
            self.fields.tone.push(self.part(range));
        }
        is_note
    }
}
