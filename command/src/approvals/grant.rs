//! `approvals grant`: lets a call run, and from then on calls like it.

use clap::{Arg, ArgAction, ArgGroup, ArgMatches, Command};
use jiff::Timestamp;
use toolwright::approval::{Decision, GrantTerms, Scope, Statement};
use toolwright::journal::{CallRecord, State, StoredText};
use toolwright::unstable::approval::GrantCandidate;

use super::terms::{self, ScopedTerms};
use crate::operator::decide::{CallDecision, Decider};
use crate::operator::stop::chain;
use crate::operator::{Session, Stop, decide, duration, ids, number, signing};
use crate::shown::grant::scope_words;
use crate::shown::printable;
use crate::tell;

pub(super) const NAME: &str = "grant";

const SCOPE: &str = "scope";
const UNTIL: &str = "until";
const FOR: &str = "for";
const USES: &str = "uses";
const WHERE: &str = "where";
const WHERE_IN: &str = "where-in";
const EXACTLY: &str = "exactly";

pub(super) fn command() -> Command {
    let option =
        |name: &'static str, value, help| Arg::new(name).long(name).value_name(value).help(help);
    Command::new(NAME)
        .about("Let a call run, and later calls like it without asking")
        .args([
            ids::one_call(),
            option(
                SCOPE,
                "SCOPE",
                "Where the grant counts: run (the call's own), session:ID, project:NAME or forever",
            )
            .required(true)
            .value_parser(terms::scope),
            option(UNTIL, "TIME", "When the grant ends, such as 2026-01-02T03:04:05Z")
                .value_parser(duration::moment),
            option(FOR, "DURATION", "How long the grant counts, such as 2h or 7d")
                .value_parser(duration::parse_signed)
                .conflicts_with(UNTIL),
            option(USES, "N", "For how many calls the grant counts")
                .value_parser(number::within(1..=u32::MAX)),
            option(
                WHERE,
                "POINTER=JSON",
                "An argument that must have this value, such as /to='\"ada\"', repeatable",
            )
            .action(ArgAction::Append)
            .value_parser(terms::is),
            option(
                WHERE_IN,
                "POINTER=JSON,JSON",
                "An argument that must have one of these values, repeatable",
            )
            .action(ArgAction::Append)
            .value_parser(terms::is_one_of),
            Arg::new(EXACTLY)
                .long(EXACTLY)
                .action(ArgAction::SetTrue)
                .conflicts_with_all([WHERE, WHERE_IN])
                .help("Only calls with exactly the arguments of this one"),
            decide::digest(),
            decide::unseen(),
            signing::option(),
        ])
        .group(
            ArgGroup::new("which").args([WHERE, WHERE_IN, EXACTLY]).required(true).multiple(true),
        )
}

pub(super) async fn run(matches: &ArgMatches, session: &Session) -> Result<(), Stop> {
    let decider = Decider::of(matches, session)?;
    let call = ids::find_one(matches, &*session.store).await?;
    let now = Timestamp::now();
    let terms = of(matches, &call, now)?;
    covers_its_own(&terms, &call, now)?;
    let until = terms.until.map_or("without an end".to_owned(), |until| format!("until {until}"));
    let uses = terms.uses.map_or("any number of".to_owned(), |uses| uses.to_string());
    let scope = printable::line(&scope_words(&terms.scope));
    let clauses = terms::words(&terms.arguments);
    tell("granting", format!("{uses} calls like it, {scope}, {until}, {clauses}"));
    let relative = matches.contains_id(FOR);
    let wanted = terms.clone();
    let statement = Statement::approve_with_grant(&call, terms, decider.name(), now);
    let decision = CallDecision { call: &call, statement, of: State::Pending, doing: "approving" };
    // `--for` counts from now, so a repeated command has a later end: with `--for`, the ends are not compared.
    let counts = move |verdict: &Decision| match verdict {
        Decision::Approve { grant: Some(terms) } if relative => {
            GrantTerms { until: wanted.until, ..terms.clone() } == wanted && terms.until.is_some()
        }
        Decision::Approve { grant: Some(terms) } => *terms == wanted,
        _ => false,
    };
    decider.decide_or_repeat(decision, counts).await
}

fn of(matches: &ArgMatches, call: &CallRecord, now: Timestamp) -> Result<GrantTerms, Stop> {
    let scope = match matches.get_one::<ScopedTerms>(SCOPE) {
        Some(ScopedTerms::OwnRun) => Scope::Run(call.place.run.clone()),
        Some(ScopedTerms::Named(scope)) => scope.clone(),
        None => return Err(Stop::usage("no --scope is given")),
    };
    let until = match matches.get_one::<jiff::SignedDuration>(FOR) {
        Some(duration) => Some(now.checked_add(*duration).map_err(|_| {
            Stop::usage(
                "--for reaches past the last time there is: leave it out for a grant without an end",
            )
        })?),
        None => matches.get_one::<Timestamp>(UNTIL).copied(),
    };
    let arguments = if matches.get_flag(EXACTLY) {
        terms::exactly(call)?
    } else {
        let given = [WHERE, WHERE_IN].into_iter();
        terms::together(given.flat_map(|name| matches.get_many(name).into_iter().flatten()))?
    };
    let (tool, fingerprint) = (call.tool.clone(), call.fingerprint.clone());
    let uses = matches.get_one::<u32>(USES).copied();
    Ok(GrantTerms { scope, tool, fingerprint, arguments, until, uses })
}

/// Refuses a grant that does not cover the call that it is given with, since its terms must be wrong.
fn covers_its_own(terms: &GrantTerms, call: &CallRecord, now: Timestamp) -> Result<(), Stop> {
    terms.check(now).map_err(|error| Stop::usage(chain(&error)))?;
    let (session, project) = match &terms.scope {
        Scope::Session(session) => (Some(session.as_str()), None),
        Scope::Project(project) => (None, Some(project.as_str())),
        Scope::Run(_) | Scope::Forever => (None, None),
    };
    let arguments = match &call.arguments {
        StoredText::Plain(arguments) => arguments,
        _ => &call.shown,
    };
    let asked = GrantCandidate {
        tool: &call.tool,
        fingerprint: &call.fingerprint,
        arguments,
        run: &call.place.run,
        session,
        project,
        now,
        used: 0,
    };
    terms.covers(&asked).map_err(|error| {
        Stop::usage(format!(
            "the grant would not cover the call it is given with, call {}: {}",
            call.id,
            chain(&error)
        ))
    })
}
