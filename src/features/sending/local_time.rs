//! Determines, for each recipient, when to send a message that is scheduled for a local time. All functions are pure.
//!
//! A contact's time zone comes from the custom field `timezone` or `time_zone`; otherwise from the contact's country, if it has only one
//! time zone; otherwise from the mailing. If the local time has already passed, the message is sent immediately.

use std::collections::HashMap;

use serde::{Deserialize, Serialize};

use crate::base::clock::Timestamp;
use crate::base::zone::Zone;
use crate::features::contact_records::Contact;
use crate::features::contact_records::fields::FieldValue;

/// The local time at which each contact receives a message.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LocalTime {
    /// The local date and time, stored as if it were UTC.
    pub wall: Timestamp,
    /// The IANA name of the time zone for contacts whose own time zone is unknown.
    pub zone: String,
}

/// Computes when a mailing's local time occurs in each time zone, and caches the results.
pub struct Clocks {
    time: LocalTime,
    by_name: HashMap<String, Option<Timestamp>>,
    by_country: HashMap<String, Option<Timestamp>>,
    elsewhere: Timestamp,
}

/// The maximum number of cached time zone names, and of cached countries.
const NAMES_KEPT: usize = 1_000;

impl Clocks {
    pub fn new(time: LocalTime) -> Self {
        let zone = Zone::parse(&time.zone).unwrap_or_else(|_| Zone::utc());
        let elsewhere = moment(&zone, time.wall);
        Self { time, by_name: HashMap::new(), by_country: HashMap::new(), elsewhere }
    }

    /// Returns when the message is due for a contact with this time zone and country.
    fn due(&mut self, zone: Option<&str>, country: Option<&str>) -> Timestamp {
        let wall = self.time.wall;
        let named =
            zone.and_then(|name| once(&mut self.by_name, name, || Zone::parse(name).ok().map(|zone| moment(&zone, wall))));
        let somewhere = || {
            let country = country?;
            once(&mut self.by_country, country, || Zone::of_country(country).map(|zone| moment(&zone, wall)))
        };
        named.or_else(somewhere).unwrap_or(self.elsewhere)
    }

    /// Returns when the message is due for a contact, based on the contact's time zone field or country.
    pub fn due_for(&mut self, contact: &Contact) -> Timestamp {
        let zone = contact.custom_fields.iter().find(|(name, _)| is_zone_field(name)).map(|(_, value)| value);
        let zone = if let Some(FieldValue::Text(zone)) = zone { Some(zone.as_str()) } else { None };
        self.due(zone, contact.profile.country.as_deref())
    }
}

/// Returns whether a custom field with this name contains a contact's time zone.
fn is_zone_field(name: &str) -> bool {
    name.eq_ignore_ascii_case("timezone") || name.eq_ignore_ascii_case("time_zone")
}

fn moment(zone: &Zone, wall: Timestamp) -> Timestamp {
    zone.at(Zone::utc().shows(wall)).map_or(wall, |meant| meant.at)
}

fn once(
    kept: &mut HashMap<String, Option<Timestamp>>,
    name: &str,
    find: impl FnOnce() -> Option<Timestamp>,
) -> Option<Timestamp> {
    if let Some(known) = kept.get(name) {
        return *known;
    }
    let found = find();
    if kept.len() < NAMES_KEPT {
        kept.insert(name.to_owned(), found);
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn clocks(wall: &str, zone: &str) -> Clocks {
        let wall = wall.parse::<jiff::Timestamp>().expect("the time is valid").as_millisecond();
        Clocks::new(LocalTime { wall: Timestamp(wall), zone: zone.into() })
    }

    #[test]
    fn the_field_comes_first_then_the_country_then_the_mailing() {
        let mut clocks = clocks("2026-07-01T09:00:00Z", "Europe/Berlin");
        for (zone, country, at) in [
            (Some("America/New_York"), Some("JP"), "2026-07-01T13:00:00.000Z"),
            (Some("asia/calcutta"), None, "2026-07-01T03:30:00.000Z"),
            (Some("next to the church"), Some("JP"), "2026-07-01T00:00:00.000Z"),
            (None, Some("JP"), "2026-07-01T00:00:00.000Z"),
            // The United States has several time zones, so the mailing's time zone applies.
            (None, Some("US"), "2026-07-01T07:00:00.000Z"),
            (Some(""), None, "2026-07-01T07:00:00.000Z"),
            (None, None, "2026-07-01T07:00:00.000Z"),
        ] {
            for _ in 0..2 {
                assert_eq!(clocks.due(zone, country).to_string(), at, "{zone:?} {country:?}");
            }
        }
    }

    #[test]
    fn each_zone_resolves_its_own_skipped_hour() {
        let mut clocks = clocks("2026-03-29T02:30:00Z", "UTC");
        assert_eq!(clocks.due(Some("Europe/Berlin"), None).to_string(), "2026-03-29T01:30:00.000Z");
        assert_eq!(clocks.due(Some("America/New_York"), None).to_string(), "2026-03-29T06:30:00.000Z");
    }

    #[test]
    fn the_zone_field_name_is_case_insensitive() {
        assert!(["timezone", "timeZone", "TIME_ZONE"].into_iter().all(is_zone_field));
        assert!(!["zone", "time"].into_iter().any(is_zone_field));
    }
}
