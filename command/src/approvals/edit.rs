//! `approvals edit`: other arguments for a call, which the application judges.

use clap::{Arg, ArgMatches, Command};
use jiff::Timestamp;
use toolwright::approval::Statement;
use toolwright::arguments::{canonical, digest};
use toolwright::journal::State;

use crate::operator::decide::{Decider, Saying};
use crate::operator::{Session, Stop, decide, ids, signing, value};
use crate::shown::call::has_secrets;
use crate::shown::printable;
use crate::tell;

pub(super) const NAME: &str = "edit";

const ARGUMENTS: &str = "arguments";

pub(super) fn command() -> Command {
    let arguments = Arg::new(ARGUMENTS)
        .long(ARGUMENTS)
        .value_name("JSON|@FILE|-")
        .required(true)
        .help("All of the arguments, as a JSON object; of a file; of standard input");
    Command::new(NAME)
        .about("Let a call run with other arguments, which the application judges first")
        .args([ids::one_call(), arguments, decide::digest(), signing::option()])
}

pub(super) async fn run(matches: &ArgMatches, session: &Session) -> Result<(), Stop> {
    let decider = Decider::of(matches, session)?;
    let call = ids::found_one(matches, &*session.store).await?;
    if has_secrets(&call) {
        return Err(Stop::usage(format!(
            "call {} has secrets, so that its arguments cannot be edited here: the application alone has the key to \
             them. Reject the call with a reason that says what to change",
            call.id
        )));
    }
    let text = value::given(matches.get_one::<String>(ARGUMENTS).map_or("", String::as_str))?;
    let new = canonical(&text).map_err(Stop::usage)?;
    if !new.starts_with('{') {
        return Err(Stop::usage("the new arguments are no JSON object: give all of them as one"));
    }
    tell(
        "proposing",
        format!("these arguments, which the application judges\n  {}", printable::line(&new)),
    );
    let principal = call.requester.user.as_deref().unwrap_or("");
    let digest = digest(&call.tool, &call.fingerprint, &new, principal, None);
    let statement = Statement::edit(&call, new, digest, decider.name(), Timestamp::now());
    let saying = Saying { call: &call, statement, of: State::Pending, doing: "editing" };
    decider.say(saying).await
}
