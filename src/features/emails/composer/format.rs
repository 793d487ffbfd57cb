//! Formats numbers, money, days and times in each language.

use jiff::civil::{Date, Time};

use super::language::Format;

#[derive(Clone, Debug, PartialEq)]
pub struct Money {
    pub amount: f64,
    /// The ISO 4217 code of the currency.
    pub currency: String,
}

/// The amount or percentage that the recipient saves.
#[derive(Clone, Debug, PartialEq)]
pub enum Saving {
    Percent { value: f64, up_to: bool },
    Amount { value: Money, up_to: bool },
}

/// A no-break space, which keeps a number and its symbol on one line.
const NO_BREAK: &str = "\u{a0}";
/// A date that is not in the current year is shown with its year only if it is more than this many days away.
const YEAR_SHOWN_AFTER_DAYS: i32 = 90;

impl Format {
    /// Formats a percentage: "20 %".
    pub fn percent(&self, value: f64) -> String {
        self.percent.replace(' ', NO_BREAK).replace("{n}", &self.number(value, false))
    }

    /// Formats a sum of money: "20 €", "19,90 €".
    pub fn money(&self, money: &Money) -> String {
        self.amount(money.amount, &money.currency)
    }

    /// Formats an amount in the currency with this ISO 4217 code.
    pub fn amount(&self, amount: f64, currency: &str) -> String {
        let symbol = match currency {
            "EUR" => "€",
            "USD" => "$",
            "GBP" => "£",
            "BRL" => "R$",
            "JPY" => "¥",
            other => other,
        };
        let worded = symbol.ends_with(char::is_alphabetic);
        let pattern = if worded && self.money == "{symbol}{n}" { "{symbol} {n}" } else { &self.money };
        pattern.replace(' ', NO_BREAK).replace("{n}", &self.number(amount, true)).replace("{symbol}", symbol)
    }

    /// Formats a number. Whole numbers have no decimals; other sums of money have two decimals.
    fn number(&self, value: f64, is_money: bool) -> String {
        let text = match (value.fract() == 0.0, is_money) {
            (true, _) => format!("{value:.0}"),
            (false, true) => format!("{value:.2}"),
            (false, false) => format!("{value}"),
        };
        let (whole, fraction) = text.split_once('.').unwrap_or((&text, ""));
        let mut out = String::new();
        for (place, digit) in whole.chars().enumerate() {
            if place > 0 && (whole.len() - place).is_multiple_of(3) {
                out.push_str(&self.thousands);
            }
            out.push(digit);
        }
        if !fraction.is_empty() {
            out.push_str(&self.decimal);
            out.push_str(fraction);
        }
        out
    }

    /// Formats a saving for use within a sentence: "20%", "up to 20%", "20 %" (German), "il 20%" (Italian).
    pub fn saving(&self, saving: &Saving) -> String {
        let own = match saving {
            Saving::Percent { up_to: false, .. } => &self.percent_saving,
            Saving::Percent { up_to: true, .. } => &self.percent_saving_up_to,
            Saving::Amount { .. } => &None,
        };
        own.as_ref().map_or_else(|| self.bare_saving(saving), |pattern| pattern.replace("{n}", &self.saved(saving)))
    }

    /// Formats an offer outside a sentence, as in a title: "20% off".
    pub fn offer(&self, saving: &Saving) -> String {
        let own = match saving {
            Saving::Percent { up_to: true, .. } => &self.percent_saving_up_to,
            Saving::Percent { .. } | Saving::Amount { .. } => &None,
        };
        let bare = own.as_ref().map_or_else(|| self.bare_saving(saving), |pattern| pattern.replace("{n}", &self.saved(saving)));
        self.offer.replace("{saving}", &bare)
    }

    /// Formats an offer in a sentence: "un 20 % de descuento".
    pub fn deal(&self, saving: &Saving) -> String {
        let own = match saving {
            Saving::Percent { up_to: false, .. } => &self.percent_deal,
            Saving::Percent { up_to: true, .. } => &self.percent_deal_up_to,
            Saving::Amount { up_to: false, .. } => &self.amount_deal,
            Saving::Amount { up_to: true, .. } => &self.amount_deal_up_to,
        };
        let pattern = own.as_deref().unwrap_or("{offer}");
        pattern.replace("{offer}", &self.offer(saving)).replace("{n}", &self.saved(saving))
    }

    /// Formats only the percentage or amount of a saving.
    fn saved(&self, saving: &Saving) -> String {
        match saving {
            Saving::Percent { value, .. } => self.percent(*value),
            Saving::Amount { value, .. } => self.money(value),
        }
    }

    fn bare_saving(&self, saving: &Saving) -> String {
        let (Saving::Percent { up_to, .. } | Saving::Amount { up_to, .. }) = saving;
        let pattern = if *up_to { &self.saving_up_to } else { &self.saving };
        pattern.replace("{n}", &self.saved(saving))
    }

    /// Formats a date with its weekday: "Friday, November 27".
    pub fn date(&self, date: Date, today: Date) -> String {
        self.filled(if is_far(date, today) { &self.date_year } else { &self.date }, date)
    }

    /// Formats a date without its weekday: "November 27".
    pub fn day(&self, date: Date, today: Date) -> String {
        self.filled(if is_far(date, today) { &self.day_year } else { &self.day }, date)
    }

    fn filled(&self, pattern: &str, date: Date) -> String {
        let month = usize::try_from(date.month() - 1).unwrap_or(0);
        let day = if date.day() == 1 { self.ordinal_first.clone() } else { date.day().to_string() };
        let name = |names: &[String], at: usize| names.get(at).cloned().unwrap_or_default();
        pattern
            .replace("{weekday}", &self.weekday(date))
            .replace("{month}", &name(&self.months, month))
            .replace("{day}", &day)
            .replace("{year}", &date.year().to_string())
    }

    /// Formats a range of days: "November 27 to 29", "27. bis 29. November". A whole month is written as its name.
    pub fn days(&self, first: Date, last: Date, today: Date) -> String {
        if first.day() == 1 && last == first.last_of_month() {
            return self.filled(if is_far(first, today) { "{month} {year}" } else { "{month}" }, first);
        }
        let (from, to) = (self.day(first, today), self.day(last, today));
        let same_month = (first.year(), first.month()) == (last.year(), last.month());
        let day_first = self.day.starts_with("{day}");
        // The month that both days share is written once.
        let (from, to) = match (same_month, day_first) {
            (true, true) => {
                let dot = if self.day.starts_with("{day}.") { "." } else { "" };
                let number = if first.day() == 1 { self.ordinal_first.clone() } else { first.day().to_string() };
                (format!("{number}{dot}"), to)
            }
            (true, false) if self.day.ends_with("{day}") => {
                let pattern = if is_far(last, today) { &self.day_year } else { &self.day };
                (self.filled(&self.day, first), self.filled(&pattern.replace("{month} ", ""), last))
            }
            _ => (from, to),
        };
        self.range.replace("{from}", &from).replace("{to}", &to)
    }

    /// Formats the name of a day: "Sunday".
    pub fn weekday(&self, date: Date) -> String {
        let weekday = usize::try_from(date.weekday().to_monday_zero_offset()).unwrap_or(0);
        self.weekdays.get(weekday).cloned().unwrap_or_default()
    }

    /// Formats a time of day: "6:30 PM", "18.30 Uhr".
    pub fn time(&self, time: Time) -> String {
        // "12 AM" could be the start of the day, so some languages write midnight as a word.
        if let Some(midnight) = self.midnight.as_ref().filter(|_| time == Time::midnight()) {
            return midnight.clone();
        }
        let pattern = if time.minute() == 0 { &self.time_full } else { &self.time };
        let hour = if time.hour() % 12 == 0 { 12 } else { time.hour() % 12 };
        pattern
            .replace(' ', NO_BREAK)
            .replace("{h12}", &hour.to_string())
            .replace("{h}", &time.hour().to_string())
            .replace("{mm}", &format!("{:02}", time.minute()))
            .replace("{pm}", if time.hour() < 12 { "am" } else { "pm" })
            .replace("{ampm}", if time.hour() < 12 { "AM" } else { "PM" })
    }

    /// Returns whether the language uses the 12-hour clock.
    pub fn is_halved(&self) -> bool {
        self.time.contains("{h12}")
    }

    /// Formats a range of times: "6 to 9 PM".
    pub fn times(&self, from: Time, to: Time) -> String {
        let (from, to) = (self.time(from), self.time(to));
        // A common ending appears only once, as in "14 bis 17 Uhr" and "2 to 5 PM".
        let end = to.rsplit(NO_BREAK).next().unwrap_or_default();
        let from =
            from.strip_suffix(end).filter(|_| end.len() < to.len()).map_or(from.as_str(), |from| from.trim_end_matches(NO_BREAK));
        // British times have no space: "2 to 5pm".
        let half = ["am", "pm"].into_iter().find(|half| to.ends_with(half) && from.ends_with(half));
        let from = half.map_or(from, |half| from.trim_end_matches(half));
        self.time_range.replace("{from}", from).replace("{to}", &to)
    }
}

fn is_far(date: Date, today: Date) -> bool {
    let far = today.until(date).map_or(true, |span| span.get_days().abs() > YEAR_SHOWN_AFTER_DAYS);
    far && date.year() != today.year()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::features::emails::composer::language::{Bank, Language};

    fn plain(text: &str) -> String {
        text.replace(NO_BREAK, " ")
    }

    #[test]
    fn each_language_writes_numbers_its_own_way() {
        let euros = Money { amount: 1299.5, currency: "EUR".into() };
        for (language, percent, money, offer) in [
            (Language::En, "20%", "€1,299.50", "up to 20% off"),
            (Language::De, "20 %", "1.299,50 €", "bis zu 20 % Rabatt"),
            (Language::Fr, "20 %", "1 299,50 €", "jusqu’à 20 % de réduction"),
            (Language::Es, "20 %", "1.299,50 €", "hasta un 20 % de descuento"),
            (Language::It, "20%", "1.299,50 €", "fino al 20% di sconto"),
            (Language::Pt, "20%", "1.299,50 €", "até 20% de desconto"),
            (Language::Nl, "20%", "€ 1.299,50", "tot 20% korting"),
        ] {
            let format = &Bank::of(language).format;
            assert_eq!(plain(&format.percent(20.0)), percent);
            assert_eq!(plain(&format.money(&euros)), money);
            assert_eq!(plain(&format.offer(&Saving::Percent { value: 20.0, up_to: true })), offer);
        }
        assert_eq!(plain(&Bank::of(Language::En).format.amount(20.0, "CHF")), "CHF 20");
    }

    #[test]
    fn each_language_writes_days_and_times_its_own_way() {
        let today = Date::constant(2026, 11, 21);
        let day = Date::constant(2026, 12, 1);
        let clock = Time::constant(18, 30, 0, 0);
        for (language, date, time) in [
            (Language::En, "Tuesday, December 1", "6:30 PM"),
            (Language::De, "Dienstag, 1. Dezember", "18:30 Uhr"),
            (Language::Fr, "mardi 1er décembre", "18 h 30"),
            (Language::Es, "martes 1 de diciembre", "18:30"),
            (Language::It, "martedì 1º dicembre", "18:30"),
            (Language::Pt, "terça-feira, 1 de dezembro", "18:30"),
            (Language::Nl, "dinsdag 1 december", "18.30 uur"),
        ] {
            let format = &Bank::of(language).format;
            assert_eq!(format.date(day, today), date);
            assert_eq!(plain(&format.time(clock)), time);
        }
        let far = Date::constant(2027, 11, 1);
        assert_eq!(Bank::of(Language::En).format.day(far, today), "November 1, 2027");
        for (language, near, next_year) in [
            (Language::En, "December 1 to 3", "November 1 to 3, 2027"),
            (Language::De, "1. bis 3. Dezember", "1. bis 3. November 2027"),
        ] {
            let format = &Bank::of(language).format;
            assert_eq!(format.days(day, Date::constant(2026, 12, 3), today), near);
            assert_eq!(format.days(far, Date::constant(2027, 11, 3), today), next_year);
        }
    }
}
