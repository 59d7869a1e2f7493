//! Decides which calls the application makes, from the seed and the run's number alone. So the application makes the
//! same calls after a restart, and the check knows them too. Pure.

use toolwright::{Call, Effect};

/// How a tool behaves, besides leaving its marks. A tool misbehaves only in the first attempt: the next one succeeds.
#[toolwright::data]
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[serde(rename_all = "snake_case")]
pub enum Manner {
    /// The tool succeeds.
    Plain,
    /// The tool takes longer than a lease.
    Slow,
    /// The tool panics before it has acted.
    Panics,
    /// The tool panics after it has acted.
    PanicsLate,
    /// The tool acts, and reports that it may have acted.
    Flaky,
    /// The tool reports that nothing happened, and does not act.
    Busy,
    /// The tool reports that the model made a mistake, and does not act.
    Wrong,
}

/// What the person decides.
#[toolwright::data]
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[serde(rename_all = "snake_case")]
pub enum Said {
    /// No person is asked.
    Nothing,
    /// The person approves the call.
    Approve,
    /// The person approves the call, and grants the next call of the run.
    Grant,
    /// The person edits the call, so that its amount is a hundred more.
    Edit,
    /// The person rejects the call.
    Reject,
    /// The person is asked, and never answers.
    Ignore,
}

/// How much an edit adds to an amount.
pub const RAISED: u32 = 100;

/// The tool that makes another call.
pub const RELAY: &str = "relay";

/// Returns the token of the call that the tool of another call makes.
#[must_use]
pub fn child_of(token: &str) -> String {
    format!("{token}c")
}

/// A call that the application will make.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Intended {
    /// The call's token in the outside world, which no other call has.
    pub token: String,
    /// The name of the tool.
    pub tool: &'static str,
    /// What the tool does.
    pub manner: Manner,
    /// What a person decides.
    pub said: Said,
    /// An argument that a person may change.
    pub amount: u32,
    /// The call that the tool makes before it acts.
    pub child: Option<Box<Self>>,
}

/// A run of the application, which has one turn.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Run {
    /// The number of the run.
    pub number: u64,
    /// The calls of the turn, in order.
    pub calls: Vec<Intended>,
    /// Whether the application ends the run as soon as the turn is made.
    pub is_ended: bool,
}

/// Each kind of call: weight, tool, behaviour, decision.
const CALLS: [(u32, &str, Manner, Said); 24] = [
    (2, "look", Manner::Plain, Said::Nothing),
    (3, "note", Manner::Plain, Said::Nothing),
    (3, "send", Manner::Plain, Said::Nothing),
    (4, "pay", Manner::Plain, Said::Nothing),
    (2, "ship", Manner::Plain, Said::Nothing),
    (1, "peek_asked", Manner::Plain, Said::Approve),
    (2, "send_asked", Manner::Plain, Said::Approve),
    (3, "pay_asked", Manner::Plain, Said::Approve),
    (2, "pay_asked", Manner::Plain, Said::Grant),
    (2, "pay_asked", Manner::Plain, Said::Edit),
    (2, "pay_asked", Manner::Plain, Said::Reject),
    (2, "pay_asked", Manner::Plain, Said::Ignore),
    (1, "pay_asked", Manner::PanicsLate, Said::Approve),
    (1, "pay_asked", Manner::Panics, Said::Approve),
    (1, "ship", Manner::Panics, Said::Nothing),
    (1, "ship", Manner::PanicsLate, Said::Nothing),
    (1, "pay", Manner::Panics, Said::Nothing),
    (1, "send", Manner::Panics, Said::Nothing),
    (1, "pay", Manner::Flaky, Said::Nothing),
    (1, "send", Manner::Flaky, Said::Nothing),
    (1, "pay", Manner::Busy, Said::Nothing),
    (1, "pay", Manner::Wrong, Said::Nothing),
    (1, "send", Manner::Slow, Said::Nothing),
    (1, "pay", Manner::Slow, Said::Nothing),
];

impl Run {
    /// Returns the run of a number.
    #[must_use]
    pub fn of(seed: u64, number: u64) -> Self {
        let mut random =
            fastrand::Rng::with_seed(seed ^ number.wrapping_mul(0x9e37_79b9_7f4a_7c15));
        let total = CALLS.iter().map(|(weight, ..)| weight).sum();
        let calls = (0..random.u32(3..=6)).map(|index| {
            let mut left = random.u32(0..total);
            let chosen = CALLS.iter().find(|(weight, ..)| {
                let is_it = left < *weight;
                left = left.saturating_sub(*weight);
                is_it
            });
            let (_, tool, manner, said) = chosen.unwrap_or(&CALLS[0]);
            let amount = random.u32(1..=RAISED);
            let token = format!("r{number}-{index}");
            let call = Intended { token, tool, manner: *manner, said: *said, amount, child: None };
            // This choice has a generator of its own, so that it does not change the other choices of seeds that tests
            // name.
            match fastrand::Rng::with_seed(seed ^ number << 8 ^ u64::from(index)).u32(0..6) {
                0 if call.effect() != Effect::Read => call.relayed(),
                _ => call,
            }
        });
        Self { number, calls: calls.collect(), is_ended: random.u32(0..8) == 0 }
    }

    /// Returns the call of a token, whether the application or one of its tools makes it.
    #[must_use]
    pub fn call(&self, token: &str) -> Option<&Intended> {
        let all = self.calls.iter().flat_map(|it| [Some(it), it.child.as_deref()]);
        all.flatten().find(|it| it.token == token)
    }

    /// Returns the id of the run in the journal.
    #[must_use]
    pub fn id(&self) -> String {
        format!("run-{}", self.number)
    }
}

impl Intended {
    /// Returns a call whose tool makes this one, and then acts itself.
    fn relayed(self) -> Self {
        let (token, amount) = (self.token.clone(), self.amount);
        let child = Self { token: child_of(&token), ..self };
        let child = Some(Box::new(child));
        Self { token, tool: RELAY, manner: Manner::Plain, said: Said::Nothing, amount, child }
    }

    /// Returns the call as a model would make it.
    #[must_use]
    pub fn call(&self) -> Call<'static> {
        Call::new(self.tool, self.arguments(self.amount))
    }

    /// Returns the arguments as JSON text.
    #[must_use]
    pub fn arguments(&self, amount: u32) -> String {
        let Self { token, manner, said, child, .. } = self;
        let Some(child) = child else {
            return serde_json::json!({
                "token": token, "manner": manner, "said": said, "amount": amount
            })
            .to_string();
        };
        let Self { tool, manner, said, .. } = &**child;
        let relayed = serde_json::json!({ "tool": tool, "manner": manner, "said": said });
        serde_json::json!({ "token": token, "relayed": relayed, "amount": amount }).to_string()
    }

    /// Returns whether a tool makes the call.
    #[must_use]
    pub fn is_child(&self) -> bool {
        self.token.ends_with('c')
    }

    /// Returns the declared effect of the call's tool.
    #[must_use]
    pub fn effect(&self) -> Effect {
        match self.tool {
            "look" | "peek_asked" => Effect::Read,
            "note" | RELAY => Effect::Idempotent,
            "send" | "send_asked" => Effect::Keyed,
            _ => Effect::Once,
        }
    }

    /// Returns whether a person is asked about the call.
    #[must_use]
    pub fn asks(&self) -> bool {
        self.said != Said::Nothing
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::{CALLS, Run};

    #[test]
    fn a_run_is_the_same_every_time_and_everything_comes_up() {
        assert_eq!(Run::of(7, 3), Run::of(7, 3));
        let all: HashSet<_> = (0..400)
            .flat_map(|number| Run::of(1, number).calls)
            .map(|mut it| it.child.take().map_or(it, |child| *child))
            .map(|it| (it.tool, it.manner, it.said))
            .collect();
        assert_eq!(all.len(), CALLS.len());
    }
}
