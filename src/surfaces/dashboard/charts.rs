//! Charts: converts numbers to the geometry that a template renders as SVG.
//!
//! The functions are pure: they convert dates and values to points, bars, ticks at round numbers, and labels. The template and the style
//! sheet define the colors, the fonts and the surrounding text. The values of days with activity are also in `rows`, for a table below the
//! chart.

use serde_json::{Value, json};

/// The width of a chart in SVG units: wide enough for a month of bars, small enough to read on a phone.
const WIDTH: f64 = 420.0;
const HEIGHT: f64 = 190.0;
const LEFT: f64 = 44.0;
const RIGHT: f64 = 8.0;
const TOP: f64 = 10.0;
const BOTTOM: f64 = 24.0;
/// The maximum number of ticks above zero; more ticks would only add clutter.
const TICKS_MAX: f64 = 4.0;
/// The maximum number of dates below a chart; more dates would overlap.
const DATES_MAX: usize = 4;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    /// A line chart with one line per series.
    Lines,
    /// A bar chart with one bar per day, for a single series.
    Bars,
}

pub struct Series {
    pub label: String,
    pub values: Vec<f64>,
}

pub struct Chart<'a> {
    /// The prefix of the chart's element IDs; unique on a page.
    pub id: &'a str,
    pub title: &'a str,
    /// The unit shown in front of values, like `EUR`; empty for counts.
    pub unit: &'a str,
    pub shape: Shape,
    /// The dates, like 2026-01-31, one for each value.
    pub dates: Vec<String>,
    pub series: Vec<Series>,
}

impl Chart<'_> {
    /// Returns the chart's geometry, for the template macro `chart`.
    pub fn draw(&self) -> Value {
        let most = self.series.iter().flat_map(|series| &series.values).copied().fold(0.0, f64::max);
        let least = self.series.iter().flat_map(|series| &series.values).copied().fold(0.0, f64::min);
        let step = round_step((most - least).max(if self.unit.is_empty() { TICKS_MAX } else { 1.0 }) / TICKS_MAX);
        let (low, high) = ((least / step).floor() * step, ((most / step).ceil() * step).max(step));
        let height = HEIGHT - TOP - BOTTOM;
        let y = |value: f64| tenth(TOP + height * (high - value) / (high - low));
        let ticks: Vec<Value> = (0..=((high - low) / step).round() as u32)
            .map(|tick| low + f64::from(tick) * step)
            .map(|value| json!({ "y": y(value), "label": short(value) }))
            .collect();
        let series: Vec<Value> = self.series.iter().map(|series| self.one(series, y)).collect();
        json!({
            "id": self.id,
            "title": self.title,
            "unit": self.unit,
            "width": WIDTH,
            "height": HEIGHT,
            "left": LEFT,
            "right": WIDTH - RIGHT,
            "base": y(low.max(0.0)),
            "label_y": HEIGHT - 6.0,
            "is_empty": most == 0.0 && least == 0.0,
            "ticks": ticks,
            "marks": self.marks(),
            "series": series,
            "sums": self.series.iter().map(|series| json!({ "label": series.label, "sum": exact(series.values.iter().sum()) })).collect::<Vec<_>>(),
            "rows": self.rows(),
        })
    }

    /// Returns the horizontal center of a day's column.
    fn x(&self, index: usize) -> f64 {
        let slot = (WIDTH - LEFT - RIGHT) / self.dates.len().max(1) as f64;
        tenth(LEFT + slot * (index as f64 + 0.5))
    }

    fn one(&self, series: &Series, y: impl Fn(f64) -> f64) -> Value {
        let points: Vec<(f64, f64)> = series.values.iter().enumerate().map(|(index, value)| (self.x(index), y(*value))).collect();
        let label = |index: usize| format!("{}: {}", day(&self.dates[index]), exact(series.values[index]));
        match self.shape {
            Shape::Lines => {
                let path = points.iter().map(|(x, y)| format!("{x},{y}")).collect::<Vec<_>>().join(" ");
                // A dot marks a day with activity; for other days, the line is enough.
                let dots = points.iter().enumerate().filter(|(index, _)| series.values[*index] != 0.0);
                let dots: Vec<Value> = dots.map(|(index, (x, y))| json!({ "x": x, "y": y, "label": label(index) })).collect();
                json!({ "label": series.label, "points": path, "dots": dots })
            }
            Shape::Bars => {
                let slot = (WIDTH - LEFT - RIGHT) / self.dates.len().max(1) as f64;
                let wide = tenth((slot * 0.7).clamp(1.0, 28.0));
                let zero = y(0.0);
                let bars = points.iter().enumerate().filter(|(index, _)| series.values[*index] != 0.0);
                let bars: Vec<Value> = bars
                    .map(|(index, (x, top))| {
                        let (y, height) = (top.min(zero), (top - zero).abs().max(1.0));
                        json!({ "x": tenth(x - wide / 2.0), "y": y, "width": wide, "height": tenth(height), "label": label(index) })
                    })
                    .collect();
                json!({ "label": series.label, "bars": bars })
            }
        }
    }

    /// Returns the dates to show below the chart, including the first and the last.
    fn marks(&self) -> Vec<Value> {
        let last = self.dates.len().saturating_sub(1);
        let many = DATES_MAX.min(self.dates.len());
        let at = |mark: usize| if many < 2 { 0 } else { (last * mark + (many - 1) / 2) / (many - 1) };
        let anchor = |index| match index {
            // With few days, the columns are wide enough for centered dates.
            _ if last < 8 => "middle",
            0 => "start",
            _ if index == last => "end",
            _ => "middle",
        };
        (0..many)
            .map(at)
            .map(|index| {
                let x = match anchor(index) {
                    "start" => LEFT,
                    "end" => WIDTH - RIGHT,
                    _ => self.x(index),
                };
                json!({ "x": x, "anchor": anchor(index), "label": day(&self.dates[index]) })
            })
            .collect()
    }

    /// Returns the chart's values as table rows, latest day first, excluding days without activity.
    fn rows(&self) -> Vec<Value> {
        let values = |index: usize| self.series.iter().map(move |series| series.values[index]);
        let active = (0..self.dates.len()).rev().filter(|index| values(*index).any(|value| value != 0.0));
        active.map(|index| json!({ "date": self.dates[index], "values": values(index).map(exact).collect::<Vec<_>>() })).collect()
    }
}

/// Returns the segments of a stacked bar, such as the progress of a campaign, without empty segments.
pub fn parts(of: &[(&str, &str, u64)]) -> Value {
    const WHOLE: f64 = 1_000.0;
    let total: u64 = of.iter().map(|(_, _, many)| many).sum();
    let mut x = 0.0;
    of.iter()
        .filter(|(_, _, many)| *many > 0)
        .map(|(word, label, many)| {
            // A minimum width keeps the smallest part visible.
            let width = (*many as f64 / total as f64 * WHOLE).max(4.0);
            let part = json!({ "word": word, "label": label, "many": many, "x": tenth(x), "width": tenth(width) });
            x += width;
            part
        })
        .collect()
}

/// Returns the points of a sparkline: a line without axes, 120 wide and 24 high.
pub fn spark(values: &[u64]) -> String {
    let most = values.iter().copied().max().unwrap_or(0).max(1) as f64;
    let step = 120.0 / values.len().saturating_sub(1).max(1) as f64;
    let point =
        |(index, value): (usize, &u64)| format!("{},{}", tenth(index as f64 * step), tenth(22.0 - 20.0 * *value as f64 / most));
    values.iter().enumerate().map(point).collect::<Vec<_>>().join(" ")
}

/// Returns the smallest of 1, 2, 5, 10, 20, 50, … that is at least `least`.
fn round_step(least: f64) -> f64 {
    let power = 10f64.powf(least.max(f64::MIN_POSITIVE).log10().floor());
    let step = [1.0, 2.0, 5.0, 10.0].into_iter().map(|factor| factor * power).find(|step| *step >= least * 0.999_999);
    step.unwrap_or(10.0 * power)
}

fn tenth(number: f64) -> f64 {
    (number * 10.0).round() / 10.0
}

/// Formats a number for ticks: `1200` → `1.2k`
fn short(value: f64) -> String {
    let size = value.abs();
    let (number, unit) = match size {
        _ if size >= 1e9 => (value / 1e9, "G"),
        _ if size >= 1e6 => (value / 1e6, "M"),
        _ if size >= 1e3 => (value / 1e3, "k"),
        _ => (value, ""),
    };
    format!("{}{unit}", (number * 100.0).round() / 100.0)
}

/// Formats a number for tables: `1234567.5` → `1,234,567.50`; whole numbers have no decimals.
fn exact(value: f64) -> String {
    let text = if value.fract() == 0.0 { format!("{:.0}", value.abs()) } else { format!("{:.2}", value.abs()) };
    let (whole, fraction) = text.split_at(text.find('.').unwrap_or(text.len()));
    let mut grouped = String::new();
    for (index, digit) in whole.chars().enumerate() {
        if index > 0 && (whole.len() - index).is_multiple_of(3) {
            grouped.push(',');
        }
        grouped.push(digit);
    }
    format!("{}{grouped}{fraction}", if value < 0.0 { "−" } else { "" })
}

/// Formats a date: `2026-01-31` → `Jan 31`
fn day(date: &str) -> String {
    const MONTHS: [&str; 12] = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
    let mut words = date.split('-').skip(1);
    let month = words.next().and_then(|month| month.parse::<usize>().ok()).and_then(|month| MONTHS.get(month.wrapping_sub(1)));
    match (month, words.next()) {
        (Some(month), Some(day)) => format!("{month} {}", day.trim_start_matches('0')),
        _ => date.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chart(shape: Shape, values: &[f64]) -> Value {
        let dates = (1..=values.len()).map(|day| format!("2026-01-{day:02}")).collect();
        let series = vec![Series { label: "Opens".into(), values: values.to_vec() }];
        Chart { id: "opens", title: "Opens", unit: "", shape, dates, series }.draw()
    }

    #[test]
    fn ticks_are_round_and_reach_above_the_highest_value() {
        for (most, labels) in [
            (0.0, ["0", "1"].as_slice()),
            (3.0, &["0", "1", "2", "3"]),
            (97.0, &["0", "50", "100"]),
            (4_321.0, &["0", "2k", "4k", "6k"]),
            (0.4, &["0", "1"]),
        ] {
            let drawn = chart(Shape::Lines, &[0.0, most]);
            let found: Vec<&str> =
                drawn["ticks"].as_array().expect("a chart has ticks").iter().filter_map(|tick| tick["label"].as_str()).collect();
            assert_eq!(found, labels, "{most}");
        }
    }

    #[test]
    fn the_highest_value_fits_and_zero_is_the_baseline() {
        let drawn = chart(Shape::Lines, &[0.0, 100.0]);
        assert_eq!(drawn["series"][0]["points"], "136,166 320,10");
        assert_eq!(drawn["base"], 166.0);
        assert_eq!(drawn["series"][0]["dots"].as_array().map(Vec::len), Some(1));
    }

    #[test]
    fn refunds_are_below_the_line() {
        let drawn = chart(Shape::Bars, &[-50.0, 100.0]);
        let bars = &drawn["series"][0]["bars"];
        assert_eq!((bars[0]["y"].as_f64(), bars[1]["y"].as_f64()), (drawn["base"].as_f64(), Some(10.0)));
        assert_eq!(bars[0]["label"], "Jan 1: −50");
    }

    #[test]
    fn the_first_and_the_last_date_are_labeled_and_empty_charts_say_so() {
        let drawn = chart(Shape::Bars, &[0.0; 30]);
        let labels: Vec<&str> = drawn["marks"]
            .as_array()
            .expect("a chart has date labels")
            .iter()
            .filter_map(|mark| mark["label"].as_str())
            .collect();
        assert_eq!((labels.first(), labels.last(), labels.len()), (Some(&"Jan 1"), Some(&"Jan 30"), 4));
        assert_eq!((drawn["is_empty"].as_bool(), drawn["rows"].as_array().map(Vec::len)), (Some(true), Some(0)));
        assert_eq!(chart(Shape::Lines, &[])["marks"].as_array().map(Vec::len), Some(0));
    }

    #[test]
    fn tables_have_exact_values_latest_first() {
        let drawn = chart(Shape::Bars, &[1_234_567.5, 0.0, 3.0]);
        assert_eq!(
            drawn["rows"],
            json!([{ "date": "2026-01-03", "values": ["3"] }, { "date": "2026-01-01", "values": ["1,234,567.50"] }])
        );
    }

    #[test]
    fn parts_are_adjacent_and_the_smallest_is_visible() {
        let drawn = parts(&[("sent", "Sent", 999_999), ("failed", "Failed", 0), ("unknown", "Delivery uncertain", 1)]);
        assert_eq!(drawn[0]["width"], 1_000.0);
        assert_eq!((drawn[1]["word"].as_str(), drawn[1]["width"].as_f64()), (Some("unknown"), Some(4.0)));
    }

    #[test]
    fn a_spark_goes_from_edge_to_edge() {
        assert_eq!(spark(&[0, 5, 10]), "0,22 60,12 120,2");
        assert_eq!(spark(&[]), "");
    }
}
