//! `acceptance_check` shows which acceptance criteria are met.
//!
//! # What it does
//! It answers with each criterion, how it is checked, and whether the present files meet it.
//!
//! # What it may touch
//! It reads the ticket and the files of the worktree. It runs no checks; `check_criteria` does.
//!
//! # What it refuses
//! Nothing.

use serde::Serialize;
use toolwright::{Output, ToolError, tool};

use super::current::{CurrentTicket, OnTicket};
use super::shown::{ShownCriterion, pretty};

#[derive(Serialize)]
struct Shown {
    all_met: bool,
    criteria: Vec<ShownCriterion>,
}

/// Read the acceptance criteria of the ticket that you work on, and which of them are met by the files as they are now.
#[tool(unlinked, group = "ticket", effect = read, reads(file = ".", OnTicket = ticket.resource()), blocking)]
pub fn acceptance_check(ticket: &CurrentTicket) -> Result<Output, ToolError> {
    let (criteria, tree) = (ticket.board.criteria(ticket.id)?, ticket.tree()?);
    let all_met = !criteria.is_empty() && criteria.iter().all(|it| it.counts_for(&tree));
    let criteria = criteria.into_iter().map(|it| ShownCriterion::of(it, &tree)).collect();
    pretty(&Shown { all_met, criteria })
}
