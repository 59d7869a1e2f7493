//! `spending`: shows how much the runs of agents have spent of each ceiling in a journal.

use clap::{Arg, ArgMatches, Command};
use toolwright_agent::CeilingOf;
use toolwright_agent::durable::{RunError, Runs};

use crate::operator::{Output, Session, Stop, session};
use crate::shown::table::Table;
use crate::{Exit, tell};

pub(crate) const NAME: &str = "spending";

const PERIOD: &str = "period";

const AFTER_HELP: &str = "\
What requests cost is added up where an agent has a ceiling (`AgentBuilder::ceiling`), for each day or month in UTC. RESERVED is what requests \
may cost that are under way, or whose process ended before they were settled: it counts until the period ends.

With --json, a line for each: {\"period\": \"2026-11-26\" or \"2026-11\", \"whose\": \"user\", \"agent\" or \"application\", \"name\", \"ceiling\", \
\"spent\", \"reserved\", \"requests\", \"unsettled\"}; amounts are in millionths of a millionth of a dollar.

Exit code: 0 done; 1 the journal failed; 2 the command line is wrong.";

pub(crate) fn command() -> Command {
    let period = Arg::new(PERIOD)
        .long(PERIOD)
        .value_name("PERIOD")
        .help("Only this day or month, such as 2026-11-26 or 2026-11");
    Command::new(NAME)
        .about("Show what users, agents and the application have spent of their ceilings")
        .args(session::options())
        .arg(period)
        .after_help(AFTER_HELP)
}

pub(crate) fn run(matches: &ArgMatches) -> Exit {
    session::run(matches, async |it| show(matches, it).await)
}

async fn show(matches: &ArgMatches, session: &Session) -> Result<(), Stop> {
    let runs = Runs::of(std::sync::Arc::clone(&session.store));
    let spending = runs.spending().await.map_err(|error| match error {
        RunError::Store(error) => Stop::from(error),
        error => Stop::new(Exit::Failed, error.to_string()),
    })?;
    let wanted = matches.get_one::<String>(PERIOD);
    let mut table =
        Table::new(["PERIOD", "WHOSE", "NAME", "SPENT", "RESERVED", "CEILING", "REQUESTS"]);
    let mut is_empty = true;
    for found in spending.iter().filter(|it| wanted.is_none_or(|wanted| it.period == *wanted)) {
        is_empty = false;
        if session.output == Output::Json {
            session.output.object(found)?;
            continue;
        }
        let whose = match found.whose {
            CeilingOf::User => "user",
            CeilingOf::Agent => "agent",
            _ => "application",
        };
        let requests = match found.spending.unsettled {
            0 => found.spending.requests.to_string(),
            unsettled => format!("{} and {unsettled} unsettled", found.spending.requests),
        };
        table.row([
            &found.period,
            whose,
            found.name.as_deref().unwrap_or("-"),
            &found.spending.spent.to_string(),
            &found.spending.reserved.to_string(),
            &found.ceiling.to_string(),
            &requests,
        ]);
    }
    if is_empty {
        tell("note", "nothing was spent under a ceiling");
        return Ok(());
    }
    match session.output {
        Output::Text => session.output.text(table),
        Output::Json => Ok(()),
    }
}
