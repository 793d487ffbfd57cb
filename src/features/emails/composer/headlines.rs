//! Writes the subject, the preheader and the title. They state the news in whole phrases or sentences.

use super::phrases::Phrasebook;
use super::sections::{Writer, place};
use super::text::{capital, folded, tidy, unquoted};
use super::voice::Voice;
use super::{Draft, sections};
use crate::features::emails::brief::{FactKind, FactRole, Goal, Part};
use crate::features::emails::document::{Block, HeadingLevel, Line, Purpose, Row};
use crate::vocab::limits;

/// The preferred maximum length, in characters, of a subject. Email clients truncate longer subjects.
pub const SUBJECT_CHARACTERS: usize = 60;
/// The minimum number of words in the part to which a subject is shortened.
const SUBJECT_WORDS_MIN: usize = 3;
/// The maximum length, in characters, of a title that the composer chooses.
const TITLE_CHARACTERS_MAX: usize = 100;
/// The maximum length, in characters, of a preheader that the composer chooses: the number of characters that email clients show.
pub const PREHEADER_CHARACTERS_MAX: usize = 110;
/// The length, in characters, below which another sentence is added to a preheader.
const PREHEADER_CHARACTERS_MIN: usize = 40;

/// The minimum number of words in the name of an event for the name to be the whole title.
const EVENT_TITLE_WORDS_MIN: usize = 5;

/// The separator between the parts of a preheader.
const SEPARATOR: &str = " · ";

type Subject = Line<{ limits::EMAIL_SUBJECT_CHARACTERS_MAX }>;
type Preheader = Line<{ limits::EMAIL_PREHEADER_CHARACTERS_MAX }>;

impl Draft<'_> {
    /// Returns text that the brief prescribes for the main email, if it fits.
    fn prescribed(&self, part: Option<&Part>, max: usize) -> Option<String> {
        let is_main = self.place == 0 || self.job.ends_with(".main");
        let text = part.filter(|_| is_main).map(|part| tidy(unquoted(&part.text)))?;
        (!text.is_empty() && text.chars().count() <= max).then_some(text)
    }

    /// Returns whether the email is only a seasonal greeting, without an offer or a statement.
    fn greets(&self, book: &Phrasebook) -> bool {
        self.job == "seasonal.main" && !book.facts.contains_key("offer") && self.content.is_thin()
    }

    /// Returns the job whose phrases suit the news: a seasonal email with news but no offer is an announcement.
    fn headline_job(&self, book: &Phrasebook) -> &str {
        let tells = book.facts.contains_key("news") && !book.facts.contains_key("offer");
        if self.job == "seasonal.main" && tells { "announcement.main" } else { self.job }
    }

    /// Returns the news of a launch if it names the product: "Clay Pot is back in stock". The phrases for a launch say only that a product
    /// is new.
    fn news_of_product(&self, book: &Phrasebook) -> Option<String> {
        let (news, product) = (book.facts.get("news")?, book.facts.get("product")?);
        let names = folded(news).contains(&folded(product)) && news.chars().count() <= SUBJECT_CHARACTERS;
        (names && self.job == "launch.main").then(|| news.clone())
    }

    /// Returns the name of an event that can be a whole title, such as the name of a talk: "From timesheet to invoice in five
    /// minutes". The phrases for an invitation, such as "… on December 9", suit only short names.
    fn title_of_event(&self, book: &Phrasebook) -> Option<String> {
        let name = book.facts.get("event_name").filter(|_| self.job == "event.main")?;
        (name.split(' ').count() >= EVENT_TITLE_WORDS_MIN || name.ends_with('?')).then(|| name.clone())
    }

    /// Returns the season's wish with the offer: "Happy birthday: 15% off for you". `None` if the season has no such phrase.
    fn wish_with_offer(&self, book: &mut Phrasebook) -> Option<String> {
        let season = book.season.clone().filter(|_| self.job == "seasonal.main" && book.facts.contains_key("offer"))?;
        let place = format!("season.{season}.offer");
        if book.has(&place) { book.line(&place) } else { None }
    }

    pub fn subject(&self, book: &mut Phrasebook) -> Subject {
        if let Some(subject) = self.prescribed(self.content.brief.subject.as_ref(), Subject::MAX) {
            return Line::new(&subject);
        }
        let asked = self.content.rules.emoji == Some(true);
        let is_emoji = asked || (Voice::of(self.brand, &self.content.rules, self.written).emoji && self.shape.sells);
        let emoji = is_emoji.then(|| emoji(self.shape.purpose, book.season.as_deref()));
        let room = SUBJECT_CHARACTERS - emoji.map_or(0, |emoji| emoji.chars().count() + 1);
        let season = book.season.clone().filter(|_| self.greets(book)).map(|season| format!("season.{season}.subject"));
        let place =
            season.filter(|place| book.has(place)).unwrap_or_else(|| sections::place(book, self.headline_job(book), "subject"));
        let own = self.news_of_product(book).or_else(|| self.title_of_event(book)).or_else(|| self.wish_with_offer(book));
        let text = own.or_else(|| book.news(&place, room, TITLE_CHARACTERS_MAX));
        let text = self.unended(short(self.undated(text.unwrap_or_else(|| self.name()))));
        match emoji {
            Some(emoji) if asked || text.chars().count() <= room => Line::new(&format!("{text} {emoji}")),
            Some(_) | None => Line::cut(&text),
        }
    }

    /// Removes the date at the end of a subject that is too long. The email's text contains the date.
    fn undated(&self, subject: String) -> String {
        if subject.chars().count() <= SUBJECT_CHARACTERS {
            return subject;
        }
        let dates = self.content.brief.facts.iter().filter(|fact| fact.kind == FactKind::Date);
        let heads = dates.filter_map(|fact| subject.strip_suffix(tidy(&fact.text).as_str())).map(str::trim);
        // Without its date, a subject can end with a word such as "and", which leaves it incomplete: "Registration opens on 1 December
        // and".
        let common = super::language::Bank::of(self.written).phrases("words.common");
        let is_cut = |head: &str| {
            let last = folded(head.rsplit(' ').next().unwrap_or_default());
            let head = head.trim_end_matches([',', ';']);
            labeled(head).unwrap_or(head).contains([',', ';', ':']) || common.iter().any(|own| own == last.trim())
        };
        let heads = heads.filter(|head| !is_cut(head));
        let head = heads.filter(|head| head.split(' ').count() >= SUBJECT_WORDS_MIN).max_by_key(|head| head.len());
        head.map_or_else(|| subject.clone(), |head| head.trim_end_matches([',', ';']).to_owned())
    }

    pub fn title(&self, book: &mut Phrasebook, subject: &str) -> String {
        if let Some(title) = self.prescribed(self.content.brief.headline.as_ref(), limits::EMAIL_TITLE_CHARACTERS_MAX) {
            return capital(&title);
        }
        let season = book.season.clone().filter(|_| self.greets(book));
        let season = season.and_then(|season| book.line(&format!("season.{season}.headline")));
        let season = season.or_else(|| self.news_of_product(book)).or_else(|| self.title_of_event(book));
        let season = season.or_else(|| self.wish_with_offer(book));
        let own = place(book, self.headline_job(book), "headline");
        let title = season.or_else(|| book.news(&own, TITLE_CHARACTERS_MAX, TITLE_CHARACTERS_MAX));
        title.map_or_else(|| tidy(subject), |title| self.unended(title))
    }

    /// Returns a single sentence without the period that replaced its exclamation mark: "We are turning 10".
    fn unended(&self, text: String) -> String {
        let bare = text.strip_suffix('.').filter(|bare| self.content.rules.no_exclamation && !bare.contains('.'));
        bare.map_or_else(|| text.clone(), str::to_owned)
    }

    /// Returns the prescribed preheader or one that continues the subject: the first whole sentences of the email that fit and do
    /// not repeat the subject or the title. Without such sentences, uses product names, titles or clauses of the email, or a
    /// phrase.
    pub fn preheader(&self, writer: &mut Writer<'_>, subject: &str, title: &str) -> Preheader {
        if let Some(preheader) = self.prescribed(self.content.brief.preheader.as_ref(), Preheader::MAX) {
            return Line::new(&preheader);
        }
        let known = format!("{}{}", folded(subject), folded(title));
        let is_new = |text: &str| !known.contains(&folded(text)) && !text.contains("http");
        let mut out = String::new();
        if !self.job.starts_with("general.") {
            let deadlines = ["common.label_reply_by", "common.label_order_by"].map(|place| writer.book.label(place));
            let (mut sentences, details) =
                (sentences(&writer.blocks), details(&writer.blocks, &deadlines, self.goal == Goal::OpeningHours));
            // The statements of the brief come first, because the opening phrase is not news.
            let told: String = self.content.statements.iter().map(|at| folded(&self.content.text(*at))).collect();
            sentences.sort_by_key(|sentence| !told.contains(folded(sentence).trim()));
            // The most important facts of invitations and opening hours are in their table.
            let is_dated = matches!(self.goal, Goal::Event | Goal::Webinar | Goal::OpeningHours);
            let days = self.content.brief.facts.iter().filter(|fact| fact.role == Some(FactRole::Event) && fact.value.is_some());
            let days: Vec<String> = days.filter(|_| is_dated && details.is_some()).map(|fact| folded(&fact.text)).collect();
            sentences.retain(|sentence| !days.iter().any(|day| folded(sentence).contains(day.trim())));
            let (first, last) = if is_dated { (details, None) } else { (None, details) };
            let last = last.filter(|_| sentences.is_empty());
            for sentence in first.into_iter().chain(sentences).chain(last) {
                let length = out.chars().count();
                let fits = length + 1 + sentence.chars().count() <= PREHEADER_CHARACTERS_MAX;
                if length >= PREHEADER_CHARACTERS_MIN || !fits || !is_new(&sentence) {
                    continue;
                }
                // A space follows a whole sentence; a separator follows any other text.
                let gap = if out.ends_with(['.', '!', '?', ':', '…']) { " " } else { SEPARATOR };
                out = [out.as_str(), sentence.as_str()].into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join(gap);
            }
        }
        if out.is_empty() && writer.presents_product() {
            out = first_product(&writer.blocks);
        }
        if out.is_empty() {
            out = further_titles(&writer.blocks, &known);
        }
        if out.is_empty() && !self.job.starts_with("general.") {
            out = sentences(&writer.blocks).iter().find_map(|text| clauses(text, &known)).unwrap_or_default();
        }
        let enough = |text: &String| text.chars().count() >= PREHEADER_CHARACTERS_MIN / 2;
        if let Some(text) = Some(out).filter(enough) {
            return Line::new(&text);
        }
        let place = sections::place(&writer.book, self.job, "preheader");
        let mut phrase = || writer.book.line_within(&place, PREHEADER_CHARACTERS_MAX);
        let text = phrase().filter(|text| is_new(text)).or_else(phrase).unwrap_or_default();
        if text.is_empty() { Line::new(&self.name()) } else { Line::new(&text) }
    }
}

/// Returns the words after a short label: "Buy €100 and get €10 more" for "Voucher deal: buy €100 and get €10 more".
fn labeled(text: &str) -> Option<&str> {
    let (label, told) = text.split_once(": ")?;
    (label.split(' ').count() < SUBJECT_WORDS_MIN && told.split(' ').count() >= SUBJECT_WORDS_MIN).then_some(told)
}

/// Removes the label or the explanation from a subject that is too long: "We sent the wrong links" for "We sent the wrong links (orders
/// 4410 to 4467)".
fn short(subject: String) -> String {
    let length = |text: &str| text.chars().count();
    if length(&subject) <= SUBJECT_CHARACTERS {
        return subject;
    }
    let heads = [" (", ": ", " – ", "; "].into_iter().filter_map(|mark| subject.split_once(mark)).map(|(head, _)| head);
    // A number at the end, such as "24 h sur 24", may belong to the words that follow.
    let is_whole = |head: &str| !head.ends_with(|c: char| c.is_ascii_digit());
    let fits = |head: &&str| head.split(' ').count() >= SUBJECT_WORDS_MIN && length(head) <= SUBJECT_CHARACTERS && is_whole(head);
    let head = heads.filter(fits).max_by_key(|head| length(head)).filter(|head| super::text::closed(head) == **head);
    let told = labeled(&subject).filter(|told| length(told) <= SUBJECT_CHARACTERS).map(capital);
    head.map(str::to_owned).or(told).unwrap_or(subject)
}

/// Returns the sentences of the hero and the text blocks, in order.
fn sentences(blocks: &[Block]) -> Vec<String> {
    let texts = blocks.iter().filter_map(|block| match block {
        Block::Hero(hero) => hero.text.as_ref().map(|text| text.words()),
        Block::Text(text) if text.id.as_str().starts_with("text") => Some(text.text.words()),
        _ => None,
    });
    let lines = texts.flat_map(|text| text.lines().map(str::to_owned).collect::<Vec<_>>());
    let all = lines.flat_map(|line| super::knowledge::split(&line).into_iter().map(str::to_owned).collect::<Vec<_>>());
    all.filter(|sentence| sentence.ends_with(['.', '!', '?']) && sentence.split(' ').count() > 2).collect()
}

/// Returns the clauses of a long sentence that fit into a preheader, without the first clause if the subject or the title states it.
fn clauses(sentence: &str, known: &str) -> Option<String> {
    let mut parts: Vec<&str> = sentence.split(", ").collect();
    if known.contains(&folded(parts.first()?)) {
        parts.remove(0);
    }
    while parts.len() > 1 && parts.join(", ").chars().count() > PREHEADER_CHARACTERS_MAX {
        parts.pop();
    }
    let text = capital(parts.join(", ").trim_end_matches('.'));
    let length = text.chars().count();
    let fits = (PREHEADER_CHARACTERS_MIN / 2..=PREHEADER_CHARACTERS_MAX).contains(&length) && !text.contains("http");
    (fits && !known.contains(&folded(&text))).then_some(text)
}

/// Returns the name of the first product on a card, with its description.
fn first_product(blocks: &[Block]) -> String {
    let products = blocks.iter().find_map(|block| if let Block::Products(block) = block { block.products.first() } else { None });
    let parts = products.map(|product| [Some(product.name.to_string()), product.text.as_ref().map(ToString::to_string)]);
    parts.into_iter().flatten().flatten().collect::<Vec<_>>().join(": ")
}

/// Returns the titles of the stories that the subject and the title do not name, on one line.
fn further_titles(blocks: &[Block], known: &str) -> String {
    let titles = blocks.iter().flat_map(|block| match block {
        Block::Heading(heading) if heading.level == HeadingLevel::Section => vec![heading.text.to_string()],
        Block::List(list) => {
            let bare = |text: String| text.strip_suffix('.').unwrap_or(&text).to_owned();
            list.items
                .iter()
                .map(|item| item.title.as_ref().map_or_else(|| bare(item.text.words()), ToString::to_string))
                .collect()
        }
        _ => Vec::new(),
    });
    let mut out = String::new();
    for title in titles.filter(|title| !known.contains(&folded(title)) && !title.contains("http")) {
        let length = out.chars().count() + SEPARATOR.chars().count() + title.chars().count();
        if length <= PREHEADER_CHARACTERS_MAX {
            out = [out.as_str(), title.as_str()].into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join(SEPARATOR);
        }
    }
    out
}

/// Returns the first three values of the details table on one line: "Thursday, December 3 · 7 PM · Truro". Deadlines and plain numbers are
/// left out. In a table of opening hours (`lists_days`), each value keeps its label, which is a day.
fn details(blocks: &[Block], deadlines: &[String], lists_days: bool) -> Option<String> {
    let table = blocks.iter().find_map(|block| match block {
        Block::Table(table) if table.id.as_str() == "details" => Some(table),
        _ => None,
    })?;
    let is_number = |text: &str| text.chars().all(|c| c.is_ascii_digit());
    let value = |row: &Row| {
        let (label, value) = (row.cells.first()?.words(), row.cells.last()?.words());
        Some(if lists_days || label.contains(|c: char| c.is_ascii_digit()) { format!("{label}: {value}") } else { value })
    };
    // Next to the date of an event, its deadline would be a second date without a label.
    let rows = table.rows.iter().filter(|row| !row.cells.first().is_some_and(|label| deadlines.contains(&label.words())));
    let values = rows.filter_map(value).filter(|value| !is_number(value));
    let values: Vec<String> = values.take(3).collect();
    Some(values.join(SEPARATOR))
}

/// Returns the emoji for the subject of an email with this purpose and season.
pub fn emoji(purpose: Purpose, season: Option<&str>) -> &'static str {
    match (purpose, season) {
        (Purpose::Receipt, _) => "🧾",
        (_, Some("christmas")) => "🎄",
        (_, Some("easter")) => "🐣",
        (_, Some("valentines_day" | "mothers_day" | "fathers_day")) => "💝",
        (_, Some("halloween")) => "🎃",
        (_, Some("new_year" | "new_years_eve")) => "🎆",
        (_, Some("spring")) => "🌷",
        (_, Some("summer")) => "☀️",
        (_, Some("autumn" | "thanksgiving")) => "🍂",
        (_, Some("winter")) => "❄️",
        (_, Some("birthday" | "anniversary")) => "🎂",
        (Purpose::Welcome, _) => "👋",
        (Purpose::Sale, _) => "🎁",
        (Purpose::Launch, _) => "✨",
        (Purpose::Newsletter, _) => "📬",
        (Purpose::Event, _) => "📅",
        (Purpose::CartReminder, _) => "🛒",
        (Purpose::WinBack, _) => "💛",
        (Purpose::ReviewRequest, _) => "⭐",
        (Purpose::Referral, _) => "🤝",
        (Purpose::Seasonal, _) => "🎁",
        (Purpose::Announcement, _) => "📣",
    }
}
