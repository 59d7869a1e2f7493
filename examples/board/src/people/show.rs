//! Prints the board at the terminal. Control characters in other people's text are printed as escapes.

use std::fmt::Write as _;
use std::path::Path;

use toolwright::runtime::printable;

use super::PeopleError;
use crate::Board;
use crate::board::{Move, Slice};
use crate::git;
use crate::ticket::State;
use crate::tools::shown_ticket;

/// How many comments are printed.
const COMMENTS: u32 = 500;

/// Lists the tickets by column.
pub fn list(board: &Board) -> Result<String, PeopleError> {
    let tickets = board.tickets(None)?;
    let mut text = String::new();
    for state in State::ALL {
        let here: Vec<_> = tickets.iter().filter(|it| it.state == *state).collect();
        let _ = writeln!(text, "{state} ({})", here.len());
        for ticket in here {
            let sub_state = ticket.sub_state.map_or("", |it| it.name());
            let title = printable::line(&ticket.title);
            let _ = writeln!(text, "  {:>4}  {:<8} {sub_state:<9} {title}", ticket.id, ticket.kind);
        }
    }
    Ok(text.trim_end().to_owned())
}

/// Shows one ticket.
pub fn ticket(board: &Board, folder: &Path, id: i64, is_json: bool) -> Result<String, PeopleError> {
    let ticket = board.ticket(id)?;
    let comments = board.newest_comments(id, COMMENTS)?;
    if is_json {
        // A ticket without a worktree has no git tree, so its files meet no criterion.
        let tree = git::tree(&folder.join(format!("worktrees/ticket-{id}"))).unwrap_or_default();
        let shown = shown_ticket(board, id, comments, &tree)?;
        return serde_json::to_string_pretty(&shown)
            .map_err(|error| PeopleError::Usage(error.to_string()));
    }
    let sub_state = ticket.sub_state.map_or_else(String::new, |it| format!(" ({it})"));
    let mut text = format!(
        "{} {id}: {}\n{}{sub_state}, profile {}\n\n{}\n\n{}\n",
        ticket.kind,
        printable::line(&ticket.title),
        ticket.state,
        ticket.profile,
        printable::lines(&ticket.description),
        criteria(board, id)?
    );
    for comment in comments.iter().rev() {
        let thread = comment.parent.map_or_else(String::new, |it| format!(" answers {it}"));
        let resolved = if comment.resolved { ", resolved" } else { "" };
        let content = printable::lines(&comment.content).replace('\n', "\n    ");
        let name = printable::line(&comment.author_name);
        let _ = write!(
            text,
            "\n{} {}{thread} of {name}, {}{resolved}\n    {content}\n",
            comment.kind, comment.id, comment.created_at
        );
    }
    for Move { from, to, reason, by } in board.moves(id)? {
        let (reason, by) = (printable::line(&reason), printable::line(&by));
        let _ = write!(
            text,
            "
{from} → {to} by {by}: {reason}"
        );
    }
    for Slice { runner, outcome, detail } in board.slices(id, u32::MAX)? {
        let outcome = outcome.map_or("goes on", |it| it.name());
        let detail = printable::line(&detail.unwrap_or_default());
        let _ = write!(text, "\nslice of {}: {outcome} {detail}", printable::line(&runner));
    }
    Ok(text.trim_end().to_owned())
}

/// Lists the criteria of a ticket, one a line.
pub fn criteria(board: &Board, ticket: i64) -> Result<String, PeopleError> {
    board.ticket(ticket)?;
    let lines = board.criteria(ticket)?.into_iter().map(|it| {
        let met = if it.met { "x" } else { " " };
        let finding =
            it.finding.map_or_else(String::new, |it| format!(" — {}", printable::line(&it)));
        let evidence = printable::line(&it.evidence.to_string());
        format!("[{met}] {} {} ({evidence}){finding}", it.id, printable::line(&it.text))
    });
    let lines: Vec<String> = lines.collect();
    Ok(if lines.is_empty() { "no criteria".to_owned() } else { lines.join("\n") })
}
