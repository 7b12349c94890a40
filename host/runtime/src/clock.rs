//! The wall clock, read in one place: time stamps of events and the `now` that guests and the agent see.

use jiff::{Timestamp, Zoned, tz::TimeZone};

/// UTC, RFC 3339 with milliseconds.
pub(crate) fn stamp() -> String {
    Timestamp::now().strftime("%Y-%m-%dT%H:%M:%S%.3fZ").to_string()
}

/// Now in `zone`, RFC 3339 with offset; `None` is the system's zone.
pub(crate) fn now_in(zone: Option<&TimeZone>) -> String {
    let zone = zone.cloned().unwrap_or_else(TimeZone::system);
    let now: Zoned = Timestamp::now().to_zoned(zone);
    now.strftime("%Y-%m-%dT%H:%M:%S%:z").to_string()
}

/// A time zone by its IANA name.
///
/// # Errors
/// A sentence naming the zone that is not known.
pub(crate) fn zone(name: &str) -> Result<TimeZone, String> {
    TimeZone::get(name).map_err(|_| {
        format!("`{}` is not a time zone; write for example \"Europe/Paris\"", elysia_types::clean_line(name))
    })
}
