//! What the sub-agents of a run may spend: each takes its share out of what is left to its parent before it starts, and what
//! it has not spent returns. Pure.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use toolwright::CallId;

use super::{Cost, Limits, TotalUsage};

/// How far a run may still go.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Share {
    /// How often its model may be asked.
    pub turns: u32,
    /// How many tokens; no limit unless set.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tokens: Option<u64>,
    /// How much it may cost; no limit unless set.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cost: Option<Cost>,
}

/// What a sub-agent asks for; as much as it can get, where it says nothing.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct WantedShare {
    pub turns: Option<u32>,
    pub tokens: Option<u64>,
    pub cost: Option<Cost>,
}

/// What a run has spent, its sub-agents included.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct SpentShare {
    /// Tokens and money.
    pub usage: TotalUsage,
    /// How often models were asked.
    pub turns: u32,
}

/// The state of the run of an agent while its calls run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Standing {
    /// Which turn it is.
    pub turn: u64,
    /// How far it may go.
    pub limits: Limits,
    /// What was spent of that before this turn's calls.
    pub spent: SpentShare,
}

/// The run of one sub-agent, as the budget counts it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct ChildSpending {
    /// The call by which the sub-agent was started that has started this one; none where the run itself has.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parent: Option<CallId>,
    /// The turn of its parent.
    pub turn: u64,
    /// What it took out of its parent's rest.
    pub share: Share,
    /// What it has spent itself, without the sub-agents that it has started.
    pub own: SpentShare,
    /// Whether it has ended, so that the rest of its share is its parent's again.
    pub has_ended: bool,
}

/// The sub-agents that were started in a turn of a run, by the calls that started them.
pub(crate) type Children = BTreeMap<CallId, ChildSpending>;

/// What there is nothing left of.
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

    /// As much as another, and no less than this.
    fn at_least(self, share: Share) -> Share {
        Share {
            turns: share.turns.max(self.turns),
            tokens: share.tokens.map(|it| it.max(self.usage.usage.total())),
            cost: share.cost.map(|it| it.max(self.usage.cost)),
        }
    }
}

impl Share {
    /// What is left of limits after so much was spent.
    fn left(limits: Limits, spent: SpentShare) -> Self {
        Self {
            turns: limits.turns.saturating_sub(spent.turns),
            tokens: limits.tokens.map(|it| it.saturating_sub(spent.usage.usage.total())),
            cost: limits.cost.map(|it| it.minus(spent.usage.cost)),
        }
    }

    /// What is left after so much of each was taken; what has no limit stays so.
    fn minus(self, turns: u32, tokens: u64, cost: Cost) -> Self {
        Self {
            turns: self.turns.saturating_sub(turns),
            tokens: self.tokens.map(|it| it.saturating_sub(tokens)),
            cost: self.cost.map(|it| it.minus(cost)),
        }
    }
}

/// What the sub-agents have spent that were started in a turn of this parent, with all that these have started.
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

/// What one sub-agent has spent, with all that it has started. A parent is older than its children, so that this ends whatever
/// is written in a record.
fn total(children: &Children, call: CallId, child: &ChildSpending) -> SpentShare {
    let started = children.range(call..).filter(|(id, it)| **id > call && it.parent == Some(call));
    started.fold(child.own, |sum, (id, it)| sum.plus(total(children, *id, it)))
}

/// The share of a sub-agent that starts now: what it wants, out of what its parent has left. Without a word of its own it is one of
/// so many equal parts of that. The parent has a turn left to read the answer.
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
