//! The options that select runs for `runs list`.

use clap::{Arg, ArgMatches, builder::PossibleValuesParser};
use jiff::{SignedDuration, Timestamp};
use toolwright_agent::durable::{Phase, RunFilter};

use crate::operator::duration;

const USER: &str = "user";
const AGENT: &str = "agent";
const PHASE: &str = "phase";
const OLDER: &str = "older-than";

/// The phases of a run, by the names that `runs show` prints.
const PHASES: [(&str, Phase); 4] = [
    ("asking", Phase::Asking),
    ("calling", Phase::Calling),
    ("waiting", Phase::Waiting),
    ("ended", Phase::Ended),
];

pub(super) fn filters() -> [Arg; 4] {
    let named = |name: &'static str| Arg::new(name).long(name).value_name("NAME");
    [
        named(USER).help("Only those of this user"),
        named(AGENT).help("Only those of this agent"),
        Arg::new(PHASE)
            .long(PHASE)
            .value_parser(PossibleValuesParser::new(PHASES.map(|(name, _)| name)))
            .help("Only those in this phase"),
        Arg::new(OLDER)
            .long(OLDER)
            .value_name("DURATION")
            .value_parser(duration::parse_signed)
            .help("Only those that were started longer ago, such as 12h or 7d"),
    ]
}

pub(super) fn read_filter(matches: &ArgMatches, now: Timestamp) -> RunFilter {
    let text = |name: &str| matches.get_one::<String>(name).cloned();
    let mut filter = RunFilter::new();
    (filter.user, filter.agent) = (text(USER), text(AGENT));
    let phase = text(PHASE);
    let phase = phase.and_then(|it| PHASES.into_iter().find(|(name, _)| *name == it));
    filter.phase = phase.map(|(_, phase)| phase);
    match matches.get_one::<SignedDuration>(OLDER) {
        Some(age) => filter.older_than(*age, now),
        None => filter,
    }
}
