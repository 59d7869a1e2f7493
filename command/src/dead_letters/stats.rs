//! `dead-letters stats`: counts dead letters by tool, kind of error and age.

use std::collections::BTreeMap;

use clap::ArgMatches;
use jiff::Timestamp;
use serde::Serialize;
use toolwright::journal::CallRecord;

use super::which;
use crate::operator::{Output, Session, Stop};
use crate::shown::dead_letter::kind;
use crate::shown::table::Table;
use crate::shown::when;

const HOUR: i64 = 60 * 60;
const DAY: i64 = 24 * HOUR;
const WEEK: i64 = 7 * DAY;

/// The number and the ages of the dead letters of one tool and one kind of error.
#[derive(Serialize)]
struct Group<'a> {
    tool: &'a str,
    kind: String,
    count: u64,
    ages: Ages,
    oldest: Timestamp,
    newest: Timestamp,
}

/// The number of dead letters by age: less than an hour, a day, a week, or older. Each is counted once.
#[derive(Serialize, Default)]
struct Ages {
    hour: u64,
    day: u64,
    week: u64,
    older: u64,
}

pub(super) async fn run(matches: &ArgMatches, session: &Session) -> Result<(), Stop> {
    let dead = which::all(matches, session).await?;
    let groups = group(&dead, session.now);
    if session.output == Output::Json {
        return groups.iter().try_for_each(|group| session.output.object(group));
    }
    let heads = ["TOOL", "KIND", "LETTERS", "<1 H", "<1 DAY", "<7 DAYS", "OLDER", "OLDEST"];
    let mut table = Table::new(heads);
    for Group { tool, kind, count, ages, oldest, .. } in &groups {
        let counts = [*count, ages.hour, ages.day, ages.week, ages.older];
        let [count, hour, day, week, older] = counts.map(|count| count.to_string());
        let oldest = when::away(*oldest, session.now);
        table.row([tool, kind, &count, &hour, &day, &week, &older, &oldest]);
    }
    session.output.text(table)
}

fn group(dead: &[CallRecord], now: Timestamp) -> Vec<Group<'_>> {
    let mut groups: BTreeMap<(&str, String), Group<'_>> = BTreeMap::new();
    for call in dead {
        let (tool, kind, died) = (call.tool.as_str(), kind(call), call.updated);
        let group = groups.entry((tool, kind.clone())).or_insert_with(|| Group {
            tool,
            kind,
            count: 0,
            ages: Ages::default(),
            oldest: died,
            newest: died,
        });
        group.count += 1;
        (group.oldest, group.newest) = (group.oldest.min(died), group.newest.max(died));
        match now.as_second().saturating_sub(died.as_second()) {
            ..HOUR => group.ages.hour += 1,
            HOUR..DAY => group.ages.day += 1,
            DAY..WEEK => group.ages.week += 1,
            _ => group.ages.older += 1,
        }
    }
    groups.into_values().collect()
}
