//! Pure functions that convert a given start time to the moment when a campaign starts. They handle offsets, time zones, and local times
//! that clocks skip or repeat.

use std::borrow::Cow;
use std::str::FromStr;

use jiff::civil::DateTime;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer};

use super::model::{Schedule, TimezoneMode};
use crate::base::clock::Timestamp;
use crate::base::serde_str;
use crate::base::zone::Zone;
use crate::engine::api::Failure;
use crate::vocab::limits;

/// A start time, as given by the client.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StartTime {
    /// A time with an offset from UTC, which is an exact moment.
    Moment(Timestamp),
    /// A local time: a time without an offset from UTC.
    Wall(DateTime),
}

/// The pattern of a start time: a valid calendar day, hour and minute, optionally with seconds and an offset.
const CALENDAR: &str = concat!(
    r"^\s*(\d{4}-((0[13578]|1[02])-(0[1-9]|[12]\d|3[01])|(0[469]|11)-(0[1-9]|[12]\d|30)|02-(0[1-9]|1\d|2[0-8]))",
    r"|(\d{2}(0[48]|[2468][048]|[13579][26])|([02468][048]|[13579][26])00)-02-29)[Tt ]([01]\d|2[0-3]):[0-5]\d",
    r"(:[0-5]\d(\.\d{1,9})?)?([Zz]|[+-]([01]\d|2[0-3])(:?[0-5]\d)?)?\s*$",
);

const EXPECTED: &str = "must be a date and a time, like 2026-01-31T09:30:00Z, or 2026-01-31T09:30 with scheduledTimezone";

impl FromStr for StartTime {
    type Err = &'static str;

    fn from_str(given: &str) -> Result<Self, Self::Err> {
        let given = given.trim();
        if given.contains('[') {
            return Err("remove the zone name in brackets and set scheduledTimezone instead");
        }
        // A date without a time would mean midnight, which is not what callers who omit the time expect.
        if !given.contains(':') {
            return Err(EXPECTED);
        }
        if let Ok(moment) = given.parse::<jiff::Timestamp>() {
            return Ok(Self::Moment(Timestamp(moment.as_millisecond())));
        }
        given.parse().map(Self::Wall).map_err(|_| EXPECTED)
    }
}

impl<'de> Deserialize<'de> for StartTime {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        serde_str::deserialize(deserializer, "a time as a string, such as 2026-01-31T09:30")
    }
}

impl JsonSchema for StartTime {
    fn schema_name() -> Cow<'static, str> {
        "ScheduledAt".into()
    }
    fn inline_schema() -> bool {
        true
    }
    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "string", "pattern": CALENDAR })
    }
}

/// Returns the schedule for a start time, or why the start time is invalid.
pub fn resolve(start: StartTime, zone: &Zone, mode: TimezoneMode, now: Timestamp) -> Result<Schedule, Failure> {
    let (at, adjustment) = match start {
        StartTime::Moment(at) => (at, None),
        StartTime::Wall(wall) => {
            let meant = zone
                .at(wall)
                .map_err(|_| Failure::field("scheduledAt", "this time is too far in the past or future; choose another time"))?;
            (meant.at, meant.adjustment)
        }
    };
    if at <= now {
        let detail = "This time is in the past. Choose a later time, or send the campaign now.";
        let hint = format!("{at} is not after {now}; POST /v1/campaigns/{{id}}/send sends the campaign now");
        return Err(Failure::field("scheduledAt", detail).see("campaigns.send", hint));
    }
    if at.ms_since(now) > limits::SCHEDULE_AHEAD_MS {
        let days = limits::SCHEDULE_AHEAD_MS / (24 * 60 * 60 * 1000);
        return Err(Failure::field(
            "scheduledAt",
            format_args!("this time is more than {days} days ahead; choose an earlier time"),
        ));
    }
    let mut schedule = Schedule { at, zone: zone.name().to_owned(), mode, notice: None };
    let late = schedule.begins_at() < now;
    let late = late.then(|| {
        "In the easternmost time zones, the scheduled time has passed when the campaign starts, so recipients there get it immediately."
            .to_owned()
    });
    let notices: Vec<String> = adjustment.into_iter().chain(late).collect();
    schedule.notice = (!notices.is_empty()).then(|| notices.join(" "));
    Ok(schedule)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn time(text: &str) -> Timestamp {
        Timestamp(text.parse::<jiff::Timestamp>().expect("the time is valid").as_millisecond())
    }

    fn schedule(start: &str, zone: &str, mode: TimezoneMode) -> Result<Schedule, Failure> {
        let start = start.parse().expect(start);
        resolve(start, &Zone::parse(zone).expect(zone), mode, time("2026-01-01T00:00:00Z"))
    }

    #[test]
    fn the_schema_accepts_only_valid_days_and_minutes() {
        let schema = jsonschema::validator_for(&serde_json::json!({ "pattern": CALENDAR })).expect("the schema is valid");
        let agree = |start: String| {
            let parses = start.parse::<StartTime>().is_ok();
            assert_eq!(schema.is_valid(&start.as_str().into()), parses, "{start}");
        };
        for year in [0, 1900, 1996, 2000, 2026, 2028] {
            for (month, day) in (0..=13).flat_map(|month| (0..=32).map(move |day| (month, day))) {
                agree(format!("{year:04}-{month:02}-{day:02}T09:30"));
            }
        }
        for (hour, minute) in (0..=25).flat_map(|hour| [0, 59, 60].map(|minute| (hour, minute))) {
            agree(format!("2026-01-31 {hour:02}:{minute:02}"));
        }
    }

    #[test]
    fn an_offset_is_exact_and_a_local_time_uses_its_zone() {
        for (start, zone, at) in [
            ("2026-02-01T09:00:00Z", "Europe/Berlin", "2026-02-01T09:00:00Z"),
            ("2026-02-01T09:00+05:30", "Europe/Berlin", "2026-02-01T03:30:00Z"),
            ("2026-02-01 09:00", "Europe/Berlin", "2026-02-01T08:00:00Z"),
            ("2026-02-01t09:00:00.5", "UTC", "2026-02-01T09:00:00.5Z"),
            ("2026-07-01T09:00", "Europe/Kiev", "2026-07-01T06:00:00Z"),
            ("2026-07-01T09:00", "US/Pacific", "2026-07-01T16:00:00Z"),
        ] {
            let made = schedule(start, zone, TimezoneMode::Campaign).expect(start);
            assert_eq!((made.at, made.zone.as_str(), made.notice), (time(at), zone, None), "{start} {zone}");
        }
    }

    #[test]
    fn skipped_and_repeated_times_are_resolved_with_a_notice() {
        let made = schedule("2026-03-29T02:30", "Europe/Berlin", TimezoneMode::Campaign).expect("the schedule is valid");
        assert_eq!(made.at, time("2026-03-29T01:30:00Z"));
        assert!(made.notice.expect("the schedule has a notice").contains("and skip"));
        let made = schedule("2026-10-25T02:30", "Europe/Berlin", TimezoneMode::Campaign).expect("the schedule is valid");
        assert_eq!(made.at, time("2026-10-25T00:30:00Z"));
        assert!(made.notice.expect("the schedule has a notice").contains("twice"));
        // A time with an offset is never ambiguous.
        assert_eq!(
            schedule("2026-10-25T02:30+01:00", "Europe/Berlin", TimezoneMode::Campaign).expect("the schedule is valid").notice,
            None
        );
    }

    #[test]
    fn past_and_distant_times_are_refused_with_a_remedy() {
        for (start, word) in [
            ("2025-12-31T23:59:59Z", "POST /v1/campaigns/{id}/send"),
            ("2026-01-01T00:00:00Z", "is in the past"),
            ("2026-01-01T00:30", "is in the past"),
            ("2036-01-01T00:00:00Z", "choose an earlier time"),
        ] {
            let refused = schedule(start, "Europe/Berlin", TimezoneMode::Campaign).expect_err(start);
            let detail = refused.text();
            assert!(detail.starts_with("scheduledAt: ") && detail.contains(word), "{detail}");
        }
    }

    #[test]
    fn local_times_warn_when_some_zones_are_past_it() {
        let near = schedule("2026-01-01T10:00", "Europe/Berlin", TimezoneMode::Recipient).expect("the schedule is valid");
        assert!(near.notice.expect("the function returns a warning").contains("when the campaign starts"));
        let far = schedule("2026-01-02T10:00", "Europe/Berlin", TimezoneMode::Recipient).expect("the schedule is valid");
        assert_eq!(far.notice, None);
    }

    #[test]
    fn invalid_times_are_refused() {
        for given in [
            "",
            "tomorrow",
            "2026-02-01",
            "2026-02-30T09:00",
            "2026-02-01T25:00",
            "1769936400",
            "2026-02-01T09:00[Europe/Berlin]",
        ] {
            assert!(given.parse::<StartTime>().is_err(), "{given}");
        }
    }
}
