//! Collects the facts that fill the gaps of phrases, in the email's language. The facts come from the brief and the brand.

use jiff::civil::Date;

use super::content::Content;
use super::format::Saving;
use super::goals::Shape;
use super::language::Bank;
use super::phrases::Facts;
use super::text::{capital, closed, folded, own_place, tidy, unquoted};
use crate::features::emails::brief::{Fact, FactKind, FactRole, FactValue, Goal, Part};
use crate::features::projects::brand::Brand;

/// The inputs that determine the facts of one email.
pub struct Source<'a> {
    pub content: &'a Content<'a>,
    pub brand: &'a Brand,
    pub shape: Shape,
    pub goal: Goal,
    /// Whether the email shows several products.
    pub has_grid: bool,
    /// Whether a teaser earlier in the series has announced when the offer starts.
    pub has_started: bool,
    /// The product that this email is about.
    pub product: Option<&'a str>,
}

/// The maximum length, in characters, of a name, because longer names do not fit into titles and subjects.
const NAME_CHARACTERS_MAX: usize = 60;
/// The minimum and maximum length, in characters, of a statement that can be a title.
const NEWS_CHARACTERS_MIN: usize = 8;
const NEWS_CHARACTERS_MAX: usize = 90;
/// The minimum number of words in a title that is only a part of a statement.
const TITLE_WORDS_MIN: usize = 3;
/// The number of statements, starting with the first, that are searched for the news.
const NEWS_STATEMENTS: usize = 3;
/// The maximum number of days until a date that can be identified by its weekday alone.
const WEEKDAY_DAYS: i32 = 6;

/// Folded announcements that contain no news themselves: "Big news!"
const HYPE: [&str; 12] = [
    "big news",
    "great news",
    "exciting news",
    "good news",
    "news",
    "attention",
    "important",
    "wichtig",
    "achtung",
    "grosse neuigkeiten",
    "atencion",
    "attenzione",
];

/// Folded words at the start of a sentence that refer to the previous sentence, in the languages of the composer.
const PRONOUNS: [&str; 38] = [
    "it", "they", "he", "she", "this", "that", "these", "those", "there", "sie", "er", "es", "das", "dies", "diese", "dieser",
    "dieses", "dazu", "dabei", "damit", "danach", "dort", "il", "elle", "ils", "elles", "cela", "ca", "ce", "c", "ello", "esto",
    "eso", "esta", "questo", "questa", "ze", "dat",
];

impl Source<'_> {
    /// Returns the facts, keyed by the names of their placeholders in phrases.
    pub fn facts(&self) -> Facts {
        let mut facts = Facts::new();
        let mut know = |name: &'static str, value: Option<String>| {
            let value = value.map(|value| tidy(&value)).filter(|value| !value.is_empty());
            if let Some(value) = value {
                facts.insert(name, value);
            }
        };
        let (content, brand) = (self.content, self.brand);
        let short = |text: &String| text.chars().count() <= NAME_CHARACTERS_MAX;
        let flag = |holds: bool| holds.then(|| "✓".to_owned());
        know("brand", brand.name.as_deref().map(|name| without_legal_form(name).to_owned()).filter(short));
        know("email", brand.contact.email.clone());
        know("phone", brand.contact.phone.clone());
        know("product", self.product.map(str::to_owned).filter(|name| short(name) && !content.is_news_with_offer()));
        know("grid", flag(self.has_grid));
        // A brand has a shop if a product has a price and a picture. Plans and dishes, which are not bought at a checkout, usually
        // have no pictures.
        know("shop", flag(brand.products.iter().any(|product| product.price.is_some() && product.image.is_some())));
        know(
            "season",
            self.season()
                .and_then(|season| Bank::of(content.language).phrases(&format!("season.{season}.name")).first().cloned()),
        );
        let news = self.reduced_price().or_else(|| self.news()).filter(|_| content.items().is_empty());
        know("brief_news", flag(news.as_ref().is_some_and(|news| news.chars().count() <= NAME_CHARACTERS_MAX)));
        know("news", news);
        let event = content
            .brief
            .event
            .as_ref()
            .map(|event| closed(&tidy(unquoted(&event.name.text))))
            .filter(|name| content.prints(name));
        know("event_name", event.map(|event| capital(&event)).filter(short));
        let venue = content.beside_event(FactKind::Place).or_else(|| content.only(FactKind::Place));
        let named = content.brief.event.as_ref().map(|event| folded(&event.name.text)).unwrap_or_default();
        let venue = venue.filter(|fact| !named.contains(&folded(&fact.text)));
        let invites = matches!(self.goal, Goal::Event | Goal::Webinar);
        let full = content.venue().filter(|_| invites);
        let place = venue.map(|fact| own_place(fact.text.trim(), content.language).to_owned());
        know("place", full.or_else(|| place.filter(short)));
        know("since", self.since());
        let is_ahead = |fact: &Fact| matches!(fact.value, Some(FactValue::Days { first, .. }) if first > content.today);
        know("planned", flag(content.brief.facts.iter().any(is_ahead)));
        let stories: Vec<String> = content
            .stories
            .iter()
            .filter_map(|at| super::stories::title(&content.brief.stories[*at], content.language))
            .collect();
        let stories = if stories.is_empty() { content.items() } else { stories };
        know("several", flag(stories.len() > 2));
        know("story", stories.first().cloned());
        know("story_two", stories.get(1).cloned());
        if self.shape.sells {
            self.know_offer(&mut facts);
        }
        if content.has_condition() {
            ["saving", "offer", "bare_deal", "deal", "exact", "scoped"].into_iter().for_each(|name| _ = facts.remove(name));
        }
        self.know_days(&mut facts);
        facts
    }

    /// If a sale has no general saving, returns the reduced price of its first reduced product as the news: "Clay Teapot: €49 instead of
    /// €64".
    fn reduced_price(&self) -> Option<String> {
        let content = self.content;
        let applies = self.goal == Goal::Sale && content.saving().is_none();
        let card = content.cards.iter().filter(|card| applies && card.shown).find(|card| card.old_price.is_some())?;
        let shown = |at: usize| content.shown(content.fact(at));
        let (price, before) = (shown(card.price?)?, shown(card.old_price?)?);
        let words = Bank::of(content.language).phrases("common.reduced").first()?;
        let product = tidy(&self.brand.products[card.product].name);
        Some(words.replace("{product}", &product).replace("{price}", &price).replace("{before}", &before))
    }

    /// Returns the news of the email: the first of its opening statements that can be a title. For an apology, returns `None` if text
    /// before the first statement is unclear, because later statements do not name the mistake.
    fn news(&self) -> Option<String> {
        let content = self.content;
        let start = content.statements.first().and_then(|at| content.fact(*at).span).map_or(0, |span| span.start);
        let is_before = |part: &Part| part.span.is_some_and(|span| span.start < start);
        if self.goal == Goal::Apology && content.brief.unclear.iter().any(is_before) {
            return None;
        }
        // In recalls, apologies, outages and price changes, only the first statement can be the news. Later statements describe the
        // remedy or what does not change.
        let is_first = matches!(self.goal, Goal::Recall | Goal::Apology | Goal::Outage | Goal::PriceChange);
        let count = if is_first { 1 } else { NEWS_STATEMENTS };
        let first = content.statements.iter().take(count);
        let first = first.filter(|at| !content.is_list_of_products(**at) && !content.text(**at).starts_with('('));
        let refers = |at: &usize| {
            let text = folded(&content.text(*at));
            let word = text.split_whitespace().next().unwrap_or_default();
            // The news follows a condition, such as "If you already have a plan, …", so the condition is not the news.
            let follows = PRONOUNS.contains(&word) || super::stories::starts_clause(&content.text(*at), content.language);
            // An exclusion is not the news of a sale: "Umtausch ist ausgeschlossen".
            let excludes = self.goal == Goal::Sale
                && content.fact(*at).kind == FactKind::Condition
                && !text.contains(|c: char| c.is_ascii_digit());
            HYPE.contains(&text.trim()) || Some(at) != content.statements.first() && (follows || excludes)
        };
        first.into_iter().filter(|at| !refers(at)).find_map(|at| self.title_of(*at))
    }

    /// Returns a statement as a title. If the whole statement is long or ends with its price, its first part is the title: "Christmas menu
    /// from 11 to 23 December" for "Christmas menu from 11 to 23 December: four courses for €58", or "Our new tea subscription" for "Our
    /// new tea subscription 3 tins every 2 months …".
    fn title_of(&self, at: usize) -> Option<String> {
        let content = self.content;
        let text = content.text(at);
        let bare = text.strip_suffix('.').unwrap_or(&text);
        let length = |text: &str| text.chars().count();
        let ends = |text: &str| text.match_indices(". ").any(|(at, _)| !text[..at].ends_with(|c: char| c.is_ascii_digit()));
        let fits = |text: &str| {
            let length = length(text);
            (NEWS_CHARACTERS_MIN..=NEWS_CHARACTERS_MAX).contains(&length) && !ends(text) && !text.contains(['?', '@'])
        };
        let has_number = |text: &str| text.contains(['%', '€', '$', '£']);
        // A number at the end is complete unless another number continues it: "on 24, 25 and 26 May", "11 - 13 December".
        let is_cut = |(head, rest): &(&str, &str)| {
            [head.chars().next_back(), rest.chars().next()].into_iter().flatten().filter(char::is_ascii_digit).count() == 2
        };
        let heads = [": ", " – ", " — ", " - ", "; "].into_iter().filter_map(|mark| bare.split_once(mark));
        let head = heads.filter(|head| !is_cut(head)).map(|(head, _)| head).min_by_key(|head| head.len());
        // Without the words after the comma, a part with a percentage or a price may promise too much.
        let clause = bare.split_once(", ").filter(|(head, _)| !has_number(head));
        let clause = clause
            .filter(|clause| !is_cut(clause) && !self.cuts_date(bare, clause.0))
            .map(|(head, _)| head)
            .filter(|head| !super::stories::starts_clause(head, content.language));
        let priced = content.priced(at);
        let is_list = priced.is_some() && content.statements.iter().filter(|at| content.priced(**at).is_some()).count() > 1;
        let name = priced.map(|(name, _)| name).filter(|name| name.split(' ').count() > 2 && !is_list);
        let is_long = length(bare) > NAME_CHARACTERS_MAX;
        // The statement with the code is the text of the coupon, so no part of it is the title.
        let has_code = content.facts_in(at).iter().any(|at| content.fact(*at).kind == FactKind::Code);
        let whole = Some(bare).filter(|_| content.is_title(at) && !has_code);
        let is_phrase = |part: &&str| {
            let words = part.split(' ').count();
            (TITLE_WORDS_MIN..).contains(&words)
                && !part.contains("http")
                && length(part) <= NAME_CHARACTERS_MAX
                && part.contains('(') == part.contains(')')
        };
        let head = head.filter(is_phrase);
        // If a heading precedes a colon, a clause that starts with the heading belongs to the text below the title: "New hours: Monday
        // closed, …".
        let clause = clause.filter(|clause| is_phrase(clause) && !head.is_some_and(|head| clause.starts_with(head)));
        let part = [head, clause].into_iter().flatten().filter(|_| !is_list && !has_code);
        let part = part.max_by_key(|part| length(part));
        let start = self.before_number(bare).filter(is_phrase).filter(|_| !is_list && !has_code);
        // A notice of opening hours needs only its heading as the title, because a table shows the hours.
        let is_long = is_long || self.goal == Goal::OpeningHours && head.is_some();
        let all = whole.filter(|_| !is_long).into_iter().chain(name.as_deref()).chain(part).chain(whole).chain(start);
        let quotes = super::groups::testimonial(&text).is_some();
        let title = all.into_iter().find(|part| fits(part)).filter(|_| !quotes)?;
        Some(capital(closed(title).trim_end_matches([',', ';', ':'])))
    }

    /// Returns the words of a statement before its first number, unless the last word needs the number: "from", "in".
    fn before_number<'t>(&self, text: &'t str) -> Option<&'t str> {
        let end = text.find(|c: char| c.is_ascii_digit() || matches!(c, '€' | '$' | '£'))?;
        let head = text[..end].trim_end_matches([' ', ',', ':', '-', '–', '(']);
        let last = folded(head.rsplit(' ').next().unwrap_or_default());
        let common = Bank::of(self.content.language).phrases("words.common");
        if self.cuts_date(text, head) {
            return None;
        }
        // After a word of up to three letters, or without a space before it, a number is part of a name: "ep 12", "CH-250".
        let is_short = last.trim().chars().count() <= 3;
        (text[..end].ends_with(' ') && !is_short && !common.iter().any(|word| folded(word).trim() == last.trim())).then_some(head)
    }

    /// Returns whether the start of a statement ends within a date: "on Monday" in "on Monday 7 December", "this Friday" in "this Friday, 4
    /// December".
    fn cuts_date(&self, text: &str, head: &str) -> bool {
        let mut dates = self.content.brief.facts.iter().filter(|fact| matches!(fact.kind, FactKind::Date | FactKind::Period));
        dates.any(|fact| {
            let own = tidy(&fact.text);
            text.find(own.as_str()).is_some_and(|at| at < head.len() && head.len() < at + own.len())
        })
    }

    /// Returns the season that the brief names, if the email's goal can be seasonal.
    pub fn season(&self) -> Option<String> {
        if !matches!(self.goal, Goal::Seasonal | Goal::Sale | Goal::Voucher) {
            return None;
        }
        // A code such as WINTER20 does not name the season of the email.
        let codes = self.content.brief.facts.iter().filter(|fact| fact.kind == FactKind::Code).map(|fact| fact.text.as_str());
        let topic = codes.fold(self.content.topic(), |topic, code| topic.replace(code, " "));
        let language = self.content.language;
        let named = |topic: &str| {
            let topic = folded(topic);
            Bank::of(language).season(&topic).or_else(|| Bank::seasons_in_any_language(&topic))
        };
        let season = named(&topic)?;
        if self.goal == Goal::Seasonal || !["spring", "summer", "autumn", "winter"].contains(&season.as_str()) {
            return Some(season);
        }
        // In a sale, "the shelves for the spring glazes" does not name the season of the email.
        let content = self.content;
        let gives = |at: &usize| content.facts_in(*at).iter().any(|own| content.fact(*own).role == Some(FactRole::Offer));
        let asides = content.statements.iter().skip(1).filter(|at| !gives(at));
        let topic = asides.fold(topic, |topic, at| topic.replace(content.fact(*at).text.as_str(), " "));
        named(&topic).filter(|own| *own == season)
    }

    /// Returns how long the recipients have been away, in the brief's words: "six months". In a reminder, only notes about recipients who
    /// have been away are used ("not seen in six months"), not other lengths of time ("two days before the visit").
    fn since(&self) -> Option<String> {
        let brief = self.content.brief;
        let bank = Bank::of(self.content.language);
        let describes = |part: &&Part| match self.goal {
            Goal::WinBack => true,
            Goal::Reminder => bank.has_word("words.away", &part.text),
            _ => false,
        };
        let notes = brief.instructions.iter().chain(&brief.audience).filter(describes);
        let notes: Vec<_> = notes.filter_map(|part| part.span).collect();
        let described = |fact: &&Fact| {
            let inside = fact.span.is_some_and(|own| notes.iter().any(|note| note.start <= own.start && own.end <= note.end));
            fact.kind == FactKind::Period && fact.value.is_none() && inside
        };
        self.content.shown(brief.facts.iter().find(described)?)
    }

    fn know_offer(&self, facts: &mut Facts) {
        let content = self.content;
        let format = content.format;
        let offer = content.brief.offer.as_ref();
        if let Some(saving) = content.saving() {
            let scope = content.scope_shown();
            let scoped = |offer: String| match &scope {
                Some(scope) => format.deal.replace("{offer}", &offer).replace("{scope}", scope),
                None => offer,
            };
            facts.insert("saving", format.saving(&saving));
            facts.insert("offer", format.offer(&saving));
            // A scope that ends with an article is incomplete: "everything in the".
            let common = Bank::of(content.language).phrases("words.common");
            let last = scope.as_ref().and_then(|scope| folded(scope).split_whitespace().last().map(str::to_owned));
            let is_whole =
                last.is_some_and(|last| !common.contains(&last) || scope.as_ref().is_some_and(|scope| !scope.contains(' ')));
            facts.extend(is_whole.then(|| ("scoped", "✓".to_owned())));
            facts.insert("bare_deal", scoped(format.offer(&saving)));
            facts.insert("deal", scoped(format.deal(&saving)));
            if matches!(saving, Saving::Percent { up_to: false, .. } | Saving::Amount { up_to: false, .. }) {
                facts.insert("exact", "✓".to_owned());
            }
        }
        if offer.is_some_and(|offer| offer.free_delivery) {
            facts.insert("shipping", "✓".to_owned());
        }
        let shown = |fact: &Fact| content.shown(fact);
        let known = [
            ("code", content.only(FactKind::Code).map(|fact| tidy(&fact.text))),
            ("threshold", content.only(FactKind::Minimum).and_then(shown)),
            ("price", content.only(FactKind::Price).and_then(shown)),
        ];
        facts.extend(known.into_iter().filter_map(|(name, value)| Some((name, value?))));
        // Some phrases exclude the minimum itself: "orders over €50" excludes an order of exactly €50.
        let over = |fact: &Fact| content.says_over(fact);
        if content.only(FactKind::Minimum).is_some_and(over) {
            facts.insert("over", "✓".to_owned());
        }
        if let (Goal::Referral, [give, get]) = (self.goal, content.amounts().as_slice()) {
            facts.insert("give", format.money(give));
            facts.insert("get", format.money(get));
        }
    }

    /// Adds the date with this role, in full and in short form, to the facts. Returns its first day.
    fn know_day(&self, facts: &mut Facts, (long, short): (&'static str, &'static str), role: FactRole) -> Option<Date> {
        let (first, last, fact) = self.content.days(role)?;
        let (format, today) = (self.content.format, self.content.today);
        if let Some(last) = last {
            facts.insert(long, format.days(first, last, today));
            facts.insert(short, format.days(first, last, today));
            return Some(first);
        }
        let time =
            self.content.time(role).map(|(start, end)| end.map_or_else(|| format.time(start), |end| format.times(start, end)));
        let date = format.date(first, today);
        facts.insert(
            long,
            time.filter(|_| role != FactRole::Event).map_or_else(|| date.clone(), |time| format!("{date}, {time}")),
        );
        // Within six days of the prompt, a weekday is unambiguous.
        let near = today.until(first).is_ok_and(|span| (1..=WEEKDAY_DAYS).contains(&span.get_days()));
        let named = near && !fact.text.contains(|c: char| c.is_ascii_digit()) && self.content.language.names_days();
        facts.insert(short, if named { format.weekday(first) } else { format.day(first, today) });
        Some(first)
    }

    fn know_days(&self, facts: &mut Facts) {
        let content = self.content;
        let (format, today) = (content.format, content.today);
        if self.goal == Goal::Event || self.goal == Goal::Webinar || self.goal == Goal::Reminder {
            self.know_day(facts, ("when", "when_day"), FactRole::Event);
            if self.content.days(FactRole::Event).is_some_and(|(_, last, _)| last.is_some()) {
                facts.insert("range", "✓".to_owned());
            }
        }
        // The start of an offer is announced only if it is in the future, unlike "Available today".
        let is_ahead = content.days(FactRole::OfferStarts).is_none_or(|(first, ..)| first > today);
        if !self.has_started && is_ahead {
            self.know_day(facts, ("starts", "starts_day"), FactRole::OfferStarts);
        }
        self.know_ends(facts);
        if self.goal == Goal::TrialEnding {
            self.know_trial(facts);
        }
        for (names, role) in [
            (("order_by", "order_by_day"), FactRole::OrderBy),
            (("reopens", "reopens_day"), FactRole::Reopens),
            (("happened", "happened_day"), FactRole::Happened),
            (("changes", "changes_day"), FactRole::PriceChanges),
        ] {
            self.know_day(facts, names, role);
        }
        self.know_weekday(facts);
        if let Some((first, last, _)) = content.days(FactRole::Closed) {
            let (place, day) = match last {
                Some(last) => ("common.moment_range", format.days(first, last, today)),
                None => ("common.moment_on", format.day(first, today)),
            };
            let words = Bank::of(content.language).phrases(place).first();
            facts.extend(words.map(|words| ("closed", words.replace("{day}", &day))));
        }
        let time = content
            .beside_event(FactKind::Time)
            .or_else(|| content.only(FactKind::Time).filter(|fact| fact.role == Some(FactRole::Event)));
        let time = time.or_else(|| content.venue_time().filter(|_| matches!(self.goal, Goal::Event | Goal::Webinar)));
        let time = time.and_then(|fact| content.shown(fact));
        facts.extend(time.map(|time| ("time", time)));
    }

    /// If the prompt gives only the weekday on which something happened, adds the weekday and removes the date. The date in the brief may
    /// be wrong, because the weekday can be in the past.
    fn know_weekday(&self, facts: &mut Facts) {
        let content = self.content;
        let happened = |fact: &&Fact| {
            let is_date = fact.kind == FactKind::Date && fact.role == Some(FactRole::Happened) && fact.story.is_none();
            is_date && !fact.text.contains(|c: char| c.is_ascii_digit())
        };
        let Some(fact) = content.brief.facts.iter().find(happened) else { return };
        if let Some(FactValue::Days { first, last: None }) = fact.value
            && first != content.today
            && content.language.names_days()
        {
            facts.remove("happened");
            facts.insert("happened_day", content.format.weekday(first));
        }
    }

    /// Adds the end of a trial: its day or, without one, the remaining time in the prompt's words. If the brief has a saving or a code, a
    /// stated end day belongs to the offer, so it is not used for the trial.
    fn know_trial(&self, facts: &mut Facts) {
        let content = self.content;
        if content.saving().is_none() && content.first(FactKind::Code).is_none() {
            self.know_day(facts, ("trial_ends", "trial_ends_day"), FactRole::OfferEnds);
        }
        let brief = content.brief;
        let statements = brief.facts.iter().filter(|fact| fact.kind == FactKind::Sentence).map(|fact| &fact.text);
        let notes = brief.audience.iter().chain(&brief.instructions).map(|part| &part.text);
        let texts: Vec<String> = statements.chain(notes).map(|text| folded(text)).collect();
        let words = Bank::of(content.language).phrases("words.within");
        let is_left = |fact: &&Fact| {
            let after = |word: &String| texts.iter().any(|text| text.contains(&folded(&format!("{word} {}", fact.text))));
            fact.kind == FactKind::Period && fact.value.is_none() && words.iter().any(after)
        };
        if !facts.contains_key("trial_ends") {
            facts.extend(brief.facts.iter().find(is_left).and_then(|fact| content.shown(fact)).map(|left| ("left", left)));
        }
    }

    /// Adds the end of the offer, written as "today" or "tomorrow" if possible.
    fn know_ends(&self, facts: &mut Facts) {
        let (content, today) = (self.content, self.content.today);
        let Some((first, last, _)) = content.days(FactRole::OfferEnds) else { return };
        if last.is_none() {
            self.know_day(facts, ("ends", "ends_day"), FactRole::OfferEnds);
        }
        let ends = last.unwrap_or(first);
        let near = [(Ok(today), "common.moment_today"), (today.tomorrow(), "common.moment_tomorrow")];
        let near = near.into_iter().find(|(day, _)| day.as_ref().ok() == Some(&ends)).map(|(_, place)| place);
        if near == Some("common.moment_today") {
            // Phrases that name the day are not used on the last day, because a date sounds less urgent than "today".
            facts.remove("ends_day");
        }
        let place = near.unwrap_or("common.moment_on");
        let Some(words) = Bank::of(content.language).phrases(place).first() else { return };
        let day = facts.get("ends_day").cloned().unwrap_or_else(|| content.format.day(ends, today));
        facts.insert("ending", words.replace("{day}", &day));
    }
}

/// Returns a company name without its legal form: "Ledgerly" for "Ledgerly, Inc.".
pub fn without_legal_form(name: &str) -> &str {
    const FORMS: [&str; 34] = [
        "gmbh & co. kg",
        "gmbh & co kg",
        "gmbh",
        "ggmbh",
        "ug (haftungsbeschränkt)",
        "ug",
        "e.k.",
        "e. k.",
        "ohg",
        "gbr",
        "kg",
        "ag",
        "se",
        "inc.",
        "inc",
        "llc",
        "ltd.",
        "ltd",
        "limited",
        "plc",
        "corp.",
        "corp",
        "co.",
        "s.a.",
        "sas",
        "sarl",
        "s.a.r.l.",
        "s.l.",
        "s.r.l.",
        "srl",
        "s.p.a.",
        "lda.",
        "b.v.",
        "bv",
    ];
    let name = name.trim();
    let cut = FORMS.iter().filter_map(|form| {
        let at = name.len().checked_sub(form.len())?;
        let same = name.get(at..)?.eq_ignore_ascii_case(form);
        let before = name.get(..at)?;
        let stem = before.trim_end_matches([' ', ',']);
        // Without a space or comma before them, the letters of a legal form are only the end of a word.
        (same && stem.len() < before.len() && stem.chars().count() >= 2).then_some(stem)
    });
    cut.min_by_key(|stem| stem.len()).unwrap_or(name)
}
