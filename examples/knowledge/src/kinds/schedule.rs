//! Schedules, which make tasks at certain times.

use std::str::FromStr as _;

use croner::Cron;
use jiff::Timestamp;
use jiff::tz::TimeZone;
use serde::Deserialize;

use super::{Kind, Others, Refusal};

/// At most this many missed times are counted.
const MOST_MISSED: usize = 1_000;

/// The front matter of a schedule.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Schedule {
    /// The id of the schedule, which never changes.
    pub id: String,
    /// When the schedule is due, in UTC and five fields: minute, hour, day, month, day of the week.
    cron: String,
    /// Whether the schedule makes tasks.
    #[serde(default)]
    pub enabled: bool,
}

/// The due times of a schedule.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DueTimes {
    pub latest: Timestamp,
    /// How many were missed before the latest, up to 1,000.
    pub missed: usize,
}

impl Schedule {
    /// Returns the due times after `since` up to and including `now`; `None` if no time is due, or the line is invalid.
    /// Pure.
    pub fn due(&self, since: Timestamp, now: Timestamp) -> Option<DueTimes> {
        let cron = Cron::from_str(&self.cron).ok()?;
        let latest = cron.find_previous_occurrence(&now.to_zoned(TimeZone::UTC), true).ok()?;
        let latest = latest.timestamp();
        if latest <= since {
            return None;
        }
        let mut missed = 0;
        let mut time = since;
        while missed < MOST_MISSED {
            let next = cron.find_next_occurrence(&time.to_zoned(TimeZone::UTC), false).ok()?;
            time = next.timestamp();
            if time >= latest {
                break;
            }
            missed += 1;
        }
        Some(DueTimes { latest, missed })
    }
}

impl Kind for Schedule {
    const FOLDER: &'static str = "schedules";
    const INVALID: &'static str = "invalid_schedule";

    fn accept(&self, before: &Self, _: &str, _: &dyn Others) -> Result<(), Refusal> {
        if self.id != before.id {
            let message = format!(
                "the id would be `{}`, expected `{}`: an id never changes",
                self.id, before.id
            );
            return Err(Refusal("id_mismatch", message));
        }
        let cron = &self.cron;
        let wrong = |why: String| {
            Refusal("invalid_schedule", format!("`{cron}` is not the time of a schedule: {why}"))
        };
        let parsed = Cron::from_str(cron).map_err(|error| wrong(error.to_string()))?;
        // Any moment will do: the question is whether the schedule is ever due.
        let moment = Timestamp::UNIX_EPOCH.to_zoned(TimeZone::UTC);
        parsed
            .find_next_occurrence(&moment, false)
            .map(drop)
            .map_err(|_| wrong("it never comes".to_owned()))
    }
}
