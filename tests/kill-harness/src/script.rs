//! Decides which calls the application makes, from the seed and the run's number alone. So the application makes the
//! same calls after a restart, and the check knows them too. Pure.

use toolwright::{Call, Effect};
use toolwright_toolbox::OnConflict;

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

/// The tool whose calls are carried out elsewhere.
pub const FETCH: &str = "fetch";

/// Such a tool that needs approval.
pub const FETCH_ASKED: &str = "fetch_asked";

/// Such a tool whose result may be supplied only for a short time.
pub const FETCH_SOON: &str = "fetch_soon";

/// The tool that makes another call.
pub const RELAY: &str = "relay";

/// The tool that stores the answer of another call.
pub const PIPE: &str = "context_pipe";

/// Returns the token of the call that the tool of another call makes.
#[must_use]
pub fn child_of(token: &str) -> String {
    format!("{token}c")
}

/// The end of the token of a call that pipes another one.
const PIPED: &str = "p";

/// Returns whether the answer of the call of a token is piped into the context store.
#[must_use]
pub fn is_piped(token: &str) -> bool {
    token.ends_with("pc")
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

/// A kind of call: weight, tool, behaviour, decision.
type Choice = (u32, &'static str, Manner, Said);

/// Each kind of call that runs in the process.
const CALLS: [Choice; 24] = [
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

/// Each kind of call that is carried out elsewhere: weight, tool, what the supplier does, decision. A slow supplier
/// supplies after the deadline, and a wrong one supplies an error.
const ELSEWHERE: [Choice; 6] = [
    (4, FETCH, Manner::Plain, Said::Nothing),
    (2, FETCH, Manner::Wrong, Said::Nothing),
    (2, FETCH_ASKED, Manner::Plain, Said::Approve),
    (1, FETCH_ASKED, Manner::Plain, Said::Edit),
    (2, FETCH_SOON, Manner::Plain, Said::Nothing),
    (2, FETCH_SOON, Manner::Slow, Said::Nothing),
];

/// Draws a kind of call by its weight.
fn choose(random: &mut fastrand::Rng, choices: &'static [Choice]) -> &'static Choice {
    let total = choices.iter().map(|(weight, ..)| weight).sum();
    let mut left = random.u32(0..total);
    let chosen = choices.iter().find(|(weight, ..)| {
        let is_it = left < *weight;
        left = left.saturating_sub(*weight);
        is_it
    });
    chosen.unwrap_or(&choices[0])
}

impl Run {
    /// Returns the run of a number.
    #[must_use]
    pub fn of(seed: u64, number: u64) -> Self {
        let mut random =
            fastrand::Rng::with_seed(seed ^ number.wrapping_mul(0x9e37_79b9_7f4a_7c15));
        let calls = (0..random.u32(3..=6)).map(|index| {
            let (_, tool, manner, said) = choose(&mut random, &CALLS);
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
        let mut calls: Vec<Intended> = calls.collect();
        calls.extend(elsewhere(seed, number, calls.len()));
        calls.extend(piped(seed, number, calls.len()));
        Self { number, calls, is_ended: random.u32(0..8) == 0 }
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

/// Returns the last call of some runs, which is carried out elsewhere. A generator of its own decides, so that seeds
/// named in tests keep their other choices.
fn elsewhere(seed: u64, number: u64, index: usize) -> Option<Intended> {
    let mut random = fastrand::Rng::with_seed(!seed ^ number.wrapping_mul(0xd6e8_feb8_6659_fd93));
    if random.u32(0..5) > 1 {
        return None;
    }
    let (_, tool, manner, said) = choose(&mut random, &ELSEWHERE);
    let (manner, said, amount) = (*manner, *said, random.u32(1..=RAISED));
    let token = format!("r{number}-{index}");
    let call = Intended { token, tool, manner, said, amount, child: None };
    Some(if random.u32(0..5) == 0 { call.relayed() } else { call })
}

/// Returns the last call of some runs, which pipes another call into the context store. A generator of its own
/// decides, too.
fn piped(seed: u64, number: u64, index: usize) -> Option<Intended> {
    let mut random = fastrand::Rng::with_seed(seed ^ number.wrapping_mul(0xa076_1d64_78bd_642f));
    if random.u32(0..5) > 1 {
        return None;
    }
    let is_elsewhere = random.u32(0..5) == 0;
    let (_, tool, manner, said) =
        if is_elsewhere { choose(&mut random, &ELSEWHERE) } else { choose(&mut random, &CALLS) };
    let (manner, said, amount) = (*manner, *said, random.u32(1..=RAISED));
    let token = format!("r{number}-{index}{PIPED}");
    let call = Intended { token, tool, manner, said, amount, child: None };
    (call.effect() != Effect::Read).then(|| call.made_by(PIPE))
}

impl Intended {
    /// Returns a call whose tool makes this one, and then acts itself.
    fn relayed(self) -> Self {
        self.made_by(RELAY)
    }

    /// Returns a call of a tool that makes this one.
    fn made_by(self, tool: &'static str) -> Self {
        let (token, amount) = (self.token.clone(), self.amount);
        let child = Self { token: child_of(&token), ..self };
        let child = Some(Box::new(child));
        Self { token, tool, manner: Manner::Plain, said: Said::Nothing, amount, child }
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
        if self.tool == PIPE {
            let input = serde_json::json!({
                "token": child.token, "manner": manner, "said": said, "amount": amount
            });
            let (path, on_conflict) = self.path();
            return serde_json::json!({
                "tool_name": tool, "tool_input": input, "path": path, "on_conflict": on_conflict
            })
            .to_string();
        }
        let relayed = serde_json::json!({ "tool": tool, "manner": manner, "said": said });
        serde_json::json!({ "token": token, "relayed": relayed, "amount": amount }).to_string()
    }

    /// Returns the path at which a pipe stores its text, and what it does if there is a text at that path. Every third pipe writes a new
    /// version of one entry that they share; the others each have an entry of their own.
    #[must_use]
    pub fn path(&self) -> (String, OnConflict) {
        match self.amount % 3 {
            0 => ("shared".to_owned(), OnConflict::Overwrite),
            _ => (format!("own/{}", self.token), OnConflict::Error),
        }
    }

    /// Returns whether the call is a pipe, which stores the answer of another call.
    #[must_use]
    pub fn is_pipe(&self) -> bool {
        self.tool == PIPE
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
            "note" | RELAY | FETCH_SOON => Effect::Idempotent,
            "send" | "send_asked" | FETCH_ASKED | PIPE => Effect::Keyed,
            _ => Effect::Once,
        }
    }

    /// Returns whether the call is handed over, and carried out elsewhere.
    #[must_use]
    pub fn is_external(&self) -> bool {
        [FETCH, FETCH_ASKED, FETCH_SOON].contains(&self.tool)
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

    use super::{CALLS, ELSEWHERE, Run};

    #[test]
    fn a_run_is_the_same_every_time_and_everything_comes_up() {
        assert_eq!(Run::of(7, 3), Run::of(7, 3));
        let all: HashSet<_> = (0..400)
            .flat_map(|number| Run::of(1, number).calls)
            .map(|mut it| it.child.take().map_or(it, |child| *child))
            .map(|it| (it.tool, it.manner, it.said))
            .collect();
        assert_eq!(all.len(), CALLS.len() + ELSEWHERE.len());
    }
}
