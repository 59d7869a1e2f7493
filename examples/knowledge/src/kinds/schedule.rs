//! Schedules: what makes tasks at certain times.

use std::str::FromStr as _;

use croner::Cron;
use jiff::Timestamp;
use jiff::tz::TimeZone;
use serde::Deserialize;

use super::{Kind, Others, Refusal};

/// The front matter of a schedule.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Schedule {
    /// Never changes.
    id: String,
    /// When, in five fields: minute, hour, day, month, day of the week.
    cron: String,
    /// Whether it makes tasks.
    #[serde(default, rename = "enabled")]
    _enabled: bool,
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
            Refusal("invalid_schedule", format!("`{cron}` is no time of a schedule: {why}"))
        };
        let parsed = Cron::from_str(cron).map_err(|error| wrong(error.to_string()))?;
        // The moment does not matter: only whether there is any after it.
        let moment = Timestamp::UNIX_EPOCH.to_zoned(TimeZone::UTC);
        parsed
            .find_next_occurrence(&moment, false)
            .map(drop)
            .map_err(|_| wrong("it never comes".to_owned()))
    }
}
