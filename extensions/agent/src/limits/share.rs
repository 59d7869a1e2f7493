//! Computes the shares of sub-agents. Each share is deducted from the rest of the parent's budget before the sub-agent
//! starts, and the unspent part is returned. The functions are pure.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use toolwright::CallId;

use super::{Cost, Limits, TotalUsage};

/// The rest of a run's budget, or the part of it that a sub-agent gets.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Share {
    /// How often the run's model may be asked.
    pub turns: u32,
    /// How many tokens the run may take; no limit if not set.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tokens: Option<u64>,
    /// How much the run may cost; no limit if not set.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cost: Option<Cost>,
}

/// The share that a sub-agent's builder asks for. A part that is not set depends on what the parent has left.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct WantedShare {
    pub turns: Option<u32>,
    pub tokens: Option<u64>,
    pub cost: Option<Cost>,
}

/// The tokens, the cost and the turns that a run or a sub-agent has spent.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct SpentShare {
    /// The tokens and the cost.
    pub usage: TotalUsage,
    /// How many times models were asked.
    pub turns: u32,
}

/// The limits and the spending of a run while its calls run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Standing {
    pub turn: u64,
    pub limits: Limits,
    /// The spending of the run before the calls of this turn began.
    pub spent: SpentShare,
}

/// The spending of one sub-agent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct ChildSpending {
    /// The call that started the parent; `None` if the run itself is the parent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parent: Option<CallId>,
    /// The turn of the parent in which the sub-agent was started.
    pub turn: u64,
    /// The share that was deducted from the rest of the parent's budget for this sub-agent.
    pub share: Share,
    /// The sub-agent's own spending, without the spending of the sub-agents below it.
    pub own: SpentShare,
    /// Whether the sub-agent has ended, so that its parent has the unspent part of the share again.
    pub has_ended: bool,
}

/// The sub-agents that were started in a turn of a run, by the calls that started them.
pub(crate) type Children = BTreeMap<CallId, ChildSpending>;

/// The part of a parent's budget that is used up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum UsedUp {
    Turns,
    Tokens,
    Cost,
}

impl SpentShare {
    pub(crate) fn plus(self, other: Self) -> Self {
        let turns = self.turns.saturating_add(other.turns);
        Self { usage: self.usage.plus(other.usage), turns }
    }

    /// Returns the share, raised where necessary to what was already spent.
    fn at_least(self, share: Share) -> Share {
        Share {
            turns: share.turns.max(self.turns),
            tokens: share.tokens.map(|it| it.max(self.usage.usage.total())),
            cost: share.cost.map(|it| it.max(self.usage.cost)),
        }
    }
}

impl Share {
    /// Returns what is left of these limits after this spending.
    fn left(limits: Limits, spent: SpentShare) -> Self {
        Self {
            turns: limits.turns.saturating_sub(spent.turns),
            tokens: limits.tokens.map(|it| it.saturating_sub(spent.usage.usage.total())),
            cost: limits.cost.map(|it| it.minus(spent.usage.cost)),
        }
    }

    /// Returns what is left after these amounts were deducted. A resource without a limit stays unlimited.
    fn minus(self, turns: u32, tokens: u64, cost: Cost) -> Self {
        Self {
            turns: self.turns.saturating_sub(turns),
            tokens: self.tokens.map(|it| it.saturating_sub(tokens)),
            cost: self.cost.map(|it| it.minus(cost)),
        }
    }
}

/// Returns the spending of the sub-agents that this parent started in a turn, including the sub-agents below them.
pub(crate) fn spent(children: &Children, parent: Option<CallId>, turn: u64) -> SpentShare {
    of_turn(children, parent, turn)
        .fold(SpentShare::default(), |sum, (call, child)| sum.plus(total(children, *call, child)))
}

fn of_turn(
    children: &Children,
    parent: Option<CallId>,
    turn: u64,
) -> impl Iterator<Item = (&CallId, &ChildSpending)> {
    children.iter().filter(move |(_, it)| it.parent == parent && it.turn == turn)
}

/// Returns the spending of one sub-agent, including the sub-agents below it. A parent's call is older than the calls of
/// its children, so only newer calls are searched, and the recursion ends even for a damaged record.
fn total(children: &Children, call: CallId, child: &ChildSpending) -> SpentShare {
    let started = children.range(call..).filter(|(id, it)| **id > call && it.parent == Some(call));
    started.fold(child.own, |sum, (id, it)| sum.plus(total(children, *id, it)))
}

/// Returns the share of a sub-agent that starts now: the amounts in `wanted`, limited by what the parent has left. If
/// `wanted` does not name an amount, the sub-agent gets one of `parts` equal parts of what the parent has left. The
/// parent keeps one turn to read the sub-agent's answer.
///
/// # Errors
/// When the share would have no turns, no tokens or no money.
pub(crate) fn share(
    standing: Standing,
    children: &Children,
    parent: Option<CallId>,
    wanted: WantedShare,
    parts: u32,
) -> Result<Share, UsedUp> {
    let rest = Share::left(standing.limits, standing.spent);
    let rest = of_turn(children, parent, standing.turn).fold(rest, |rest, (call, child)| {
        let spent = total(children, *call, child);
        let (tokens, cost) = (spent.usage.usage.total(), spent.usage.cost);
        if child.has_ended {
            return rest.minus(spent.turns, tokens, cost);
        }
        let held = spent.at_least(child.share);
        rest.minus(held.turns, held.tokens.unwrap_or(tokens), held.cost.unwrap_or(cost))
    });
    let parts = parts.max(1);
    let turns = rest.turns.saturating_sub(1);
    let turns = wanted.turns.unwrap_or_else(|| turns.div_ceil(parts)).min(turns);
    let part = |left: u64| left.div_ceil(u64::from(parts));
    let tokens = match (rest.tokens, wanted.tokens) {
        (Some(left), wanted) => Some(wanted.unwrap_or_else(|| part(left)).min(left)),
        (None, wanted) => wanted,
    };
    let cost = match (rest.cost, wanted.cost) {
        (Some(left), wanted) => {
            Some(wanted.unwrap_or_else(|| Cost::picos(part(left.in_picos()))).min(left))
        }
        (None, wanted) => wanted,
    };
    match (turns, tokens, cost) {
        (0, ..) => Err(UsedUp::Turns),
        (_, Some(0), _) => Err(UsedUp::Tokens),
        (_, _, Some(cost)) if cost == Cost::default() => Err(UsedUp::Cost),
        _ => Ok(Share { turns, tokens, cost }),
    }
}

#[cfg(test)]
mod tests;
