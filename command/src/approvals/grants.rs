//! `approvals grants` and `approvals revoke`: lists the grants, which let calls run without asking, and revokes them.

use std::sync::Arc;

use clap::{Arg, ArgMatches, Command};
use toolwright::approval::{ApprovalError, ApprovalService, Grant, Grants};

use crate::operator::decide::Decider;
use crate::operator::stop::chain;
use crate::operator::{Output, Session, Stop, filter, signing};
use crate::shown::grant::GrantRow;
use crate::shown::printable;
use crate::shown::table::Table;
use crate::{Exit, tell};

pub(super) const NAME: &str = "grants";
pub(super) const REVOKE: &str = "revoke";

const GRANT: &str = "grant";
/// The fewest digits that may abbreviate an id.
const FEWEST: usize = 8;

pub(super) fn command() -> Command {
    Command::new(NAME)
        .about("List the grants, including those that have ended or were revoked")
        .arg(filter::tool())
}

pub(super) fn revoke_command() -> Command {
    let grant = Arg::new(GRANT)
        .value_name("GRANT")
        .required(true)
        .help("A grant: its id, or at least 8 digits from its beginning or end");
    Command::new(REVOKE)
        .about("Revoke a grant; calls that it has allowed already stay allowed")
        .args([grant, signing::option()])
}

pub(super) async fn run(matches: &ArgMatches, session: &Session) -> Result<(), Stop> {
    let grants = read(session, filter::tool_of(matches)).await?;
    if grants.readable.is_empty() {
        tell("note", "there is no such grant");
    }
    let mut table = Table::new(["ID", "TOOL", "SCOPE", "USED", "UNTIL", "BY", "ARGUMENTS"]);
    for grant in &grants.readable {
        let shape = GrantRow::of(grant).map_err(ApprovalError::from)?;
        match session.output {
            Output::Json => session.output.object(&shape)?,
            Output::Text => {
                let cells = shape.cells(session.now);
                table.row(std::array::from_fn::<_, 7, _>(|cell| cells[cell].as_str()));
            }
        }
    }
    if session.output == Output::Text {
        session.output.text(table)?;
    }
    match grants.unreadable.is_empty() {
        true => Ok(()),
        false => Err(Stop::after(Exit::Failed)),
    }
}

/// Reads the grants of the journal, and reports those that cannot be read.
async fn read(session: &Session, tool: Option<&str>) -> Result<Grants, Stop> {
    let grants = ApprovalService::new(Arc::clone(&session.store)).grants(tool).await?;
    for error in &grants.unreadable {
        tell("warning", printable::line(&format!("{}; it allows nothing", chain(error))));
    }
    Ok(grants)
}

pub(super) async fn revoke(matches: &ArgMatches, session: &Session) -> Result<(), Stop> {
    let decider = Decider::of(matches, session)?;
    let text = matches.get_one::<String>(GRANT).map_or("", String::as_str);
    let grants = read(session, None).await?;
    decider.revoke(&one(text, &grants.readable)?.id).await
}

fn one<'a>(text: &str, grants: &'a [Grant]) -> Result<&'a Grant, Stop> {
    if let Some(grant) = grants.iter().find(|grant| grant.id == text) {
        return Ok(grant);
    }
    let part = text.to_ascii_lowercase();
    let digits = part.bytes().filter(u8::is_ascii_hexdigit).count();
    if digits < FEWEST || !part.bytes().all(|byte| byte.is_ascii_hexdigit() || byte == b'-') {
        return Err(Stop::usage(format!(
            "{text:?} is not the id of a grant: expected all of it as `toolwright approvals grants` lists it, or at least \
             {FEWEST} digits from its beginning or end"
        )));
    }
    let found: Vec<&Grant> = grants
        .iter()
        .filter(|grant| grant.id.starts_with(&part) || grant.id.ends_with(&part))
        .collect();
    match found.as_slice() {
        [grant] => Ok(grant),
        [] => Err(Stop::new(
            Exit::Missing,
            format!(
                "there is no grant {text} in this journal: `toolwright approvals grants` lists those that are"
            ),
        )),
        several => {
            let ids: Vec<String> = several.iter().map(|grant| printable::line(&grant.id)).collect();
            Err(Stop::usage(format!(
                "{text} is a part of {} ids, give more of it:\n  {}",
                ids.len(),
                ids.join("\n  ")
            )))
        }
    }
}
