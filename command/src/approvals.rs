//! `approvals`: lists the calls that wait for a decision, and records the decisions of people.

mod edit;
mod grant;
mod grants;
mod terms;

use clap::{Arg, ArgMatches, Command};
use jiff::Timestamp;
use toolwright::approval::{ApprovalError, ApprovalService, Statement};
use toolwright::journal::{CallRecord, State};

use crate::operator::decide::Decider;
use crate::operator::each::Each;
use crate::operator::{Session, Stop, decide, filter, ids, session, signing};
use crate::shown::call::Call;
use crate::shown::table::Table;
use crate::shown::{sheet, when};
use crate::{Exit, calls, complain, tell};

pub(crate) const NAME: &str = "approvals";

const REASON: &str = "reason";

const AFTER_HELP: &str = "\
A decision is signed with your key, about exactly the call that was read: its id, its generation and the digest \
of its arguments. Whether your key counts, the application says when it runs the call.

With --json, `list` and `show` write one call per line, as `toolwright calls --help` says. Each decision writes \
{\"call\", \"verdict\", \"by\", \"at\", \"state\", \"grant\", \"repeated\"}; the verdict is `approved`, \
`edited`, `rejected` or `revoked`. `grants` writes {\"id\", \"tool\", \"fingerprint\", \"scope\", \"arguments\": \
[{\"pointer\", \"is_one_of\"}], \"until\", \"uses\", \"used\", \"by\", \"granted\", \"revoked\": {\"by\", \
\"at\"}}.

Exit code: 0 done, or recorded already; 1 the journal or a file failed; 2 the command line is wrong, or what it \
asks for cannot be done; 3 there is no such call or grant, and nothing was decided; 4 another person decided, the \
call expired, or it changed; 5 the key cannot be used. With several calls: that of the first that failed.";

pub(crate) fn command() -> Command {
    let reason = || Arg::new(REASON).long("reason").value_name("TEXT");
    Command::new(NAME)
        .about("Show the calls that wait for a person, and decide about them")
        .subcommand_required(true)
        .arg_required_else_help(true)
        .args(session::options())
        .subcommands([
            Command::new("list").about("List the calls that wait").args(filter::options()),
            Command::new("show")
                .about("Show what an approver needs to know about a call")
                .arg(ids::one_call()),
            Command::new("approve").about("Let calls run, each named by its id").args([
                ids::calls(),
                decide::digest(),
                decide::unseen(),
                signing::option(),
            ]),
            Command::new("reject").about("Refuse calls").args([
                ids::calls(),
                reason().required(true).help("Why; the model reads it"),
                decide::digest(),
                signing::option(),
            ]),
            edit::command(),
            grant::command(),
            grants::command(),
            grants::revoke_command(),
        ])
        .after_help(AFTER_HELP)
}

pub(crate) fn run(matches: &ArgMatches) -> Exit {
    let Some((name, matches)) = matches.subcommand() else {
        return complain(Exit::Usage, "no such command");
    };
    session::run(matches, async |session| match name {
        "list" => list(matches, session).await,
        "show" => show(matches, session).await,
        "approve" => {
            each(matches, session, "approving", |call, by, now| Statement::approve(call, by, now))
                .await
        }
        "reject" => {
            let reason = matches.get_one::<String>(REASON);
            let reject = |call: &CallRecord, by: &str, now| {
                Statement::reject(call, reason.cloned(), by, now)
            };
            each(matches, session, "rejecting", reject).await
        }
        edit::NAME => edit::run(matches, session).await,
        grant::NAME => grant::run(matches, session).await,
        grants::NAME => grants::run(matches, session).await,
        grants::REVOKE => grants::revoke(matches, session).await,
        _ => Err(Stop::usage("no such command")),
    })
}

async fn list(matches: &ArgMatches, session: &Session) -> Result<(), Stop> {
    let calls = filter::calls(matches, session, vec![State::Pending]).await?;
    calls::write(session, &calls, || {
        let mut table = Table::new(["ID", "TOOL", "DANGER", "RUN", "FOR", "DEADLINE", "WHY"]);
        for call in &calls {
            let ask = call.ask.as_ref();
            let deadline = ask.map(|ask| when::away(ask.deadline, session.now)).unwrap_or_default();
            let why = ask.map_or("", |ask| &ask.reason);
            let user = call.requester.user.as_deref().unwrap_or("");
            let (id, danger) = (call.id.to_string(), call.danger.as_str());
            table.row([&id, &call.tool, danger, &call.place.run, user, &deadline, why]);
        }
        table
    })
}

async fn show(matches: &ArgMatches, session: &Session) -> Result<(), Stop> {
    let call = ids::find_one(matches, &*session.store).await?;
    if call.state != State::Pending {
        tell("note", format!("the call waits for no decision: it is {}", call.state));
    }
    match ApprovalService::check_shown(&call) {
        Err(ApprovalError::Altered { .. }) => {
            tell("warning", "the call was altered: these arguments are not those of its digest");
        }
        Err(ApprovalError::Unseen { .. }) if call.state == State::Pending => tell(
            "note",
            "its arguments are sealed: whether these are they, only the application can tell, which compares them \
             before it runs the call; `approve` takes it with --unseen",
        ),
        _ => {}
    }
    session.output.write(&Call::of(&call), || sheet::request(&call, session.now))
}

/// Makes the same decision about each call that the command line names. Looks up all calls first, so that an unknown id
/// stops the command before it decides about any call.
async fn each(
    matches: &ArgMatches,
    session: &Session,
    doing: &'static str,
    statement: impl Fn(&CallRecord, &str, Timestamp) -> Statement,
) -> Result<(), Stop> {
    let decider = Decider::of(matches, session)?;
    let calls = ids::find_all(matches, &*session.store).await?;
    let each = Each { calls: &calls, of: State::Pending, doing, pause: None, in_order: false };
    each.decide(&decider, statement).await
}
