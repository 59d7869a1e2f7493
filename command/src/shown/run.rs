//! A run and its turns, as programs and people read them.

use std::fmt::Write as _;

use jiff::Timestamp;
use serde::Serialize;
use toolwright_agent::durable::{
    Cancelled, Forked, Head, Lease, Outage, Parked, Phase, RecordedTurn, Rewound, Runs, WaitingCall,
};
use toolwright_agent::{Message, TotalUsage, Usage};

use super::sent::LeftOutShown;
use super::{printable, when};

/// The most characters of a text that are shown to people.
const LONGEST: usize = 400;

#[derive(Serialize)]
pub(crate) struct RunPage<'a> {
    run: &'a str,
    agent: &'a str,
    user: Option<&'a str>,
    session: Option<&'a str>,
    phase: Phase,
    turn: u64,
    input_tokens: u64,
    cached_tokens: u64,
    output_tokens: u64,
    reasoning_tokens: u64,
    cost: Option<String>,
    prices: Option<&'a str>,
    unmeasured: u32,
    unpriced: u32,
    #[serde(skip)]
    spent: TotalUsage,
    ended: Option<&'a str>,
    waiting: &'a [WaitingCall],
    epoch: u64,
    lease: Option<&'a Lease>,
    parked: Option<&'a Parked>,
    outage: Option<&'a Outage>,
    cancelled: Option<&'a Cancelled>,
    deadline: Option<Timestamp>,
    forked: Option<&'a Forked>,
    rewound: Option<&'a Rewound>,
    encrypted: bool,
    created: Timestamp,
    updated: Timestamp,
}

impl<'a> RunPage<'a> {
    pub(crate) fn of(head: &'a Head) -> Self {
        Self {
            run: &head.run,
            agent: &head.agent,
            user: head.user.as_deref(),
            session: head.session.as_deref(),
            phase: head.phase,
            turn: head.turn,
            input_tokens: head.spent.usage.input_tokens,
            cached_tokens: head.spent.usage.cached_tokens,
            output_tokens: head.spent.usage.output_tokens,
            reasoning_tokens: head.spent.usage.reasoning_tokens,
            cost: head.spent.known_cost().map(|it| it.to_string()),
            prices: head.prices.as_deref(),
            unmeasured: head.spent.unmeasured,
            unpriced: head.spent.unpriced,
            spent: head.spent,
            ended: head.ended.as_deref(),
            waiting: &head.waiting,
            epoch: head.epoch,
            lease: head.lease.as_ref(),
            parked: head.parked.as_ref(),
            outage: head.outage.as_ref(),
            cancelled: head.cancelled.as_ref(),
            deadline: head.deadline,
            forked: head.forked.as_ref(),
            rewound: head.rewound.as_ref(),
            encrypted: Runs::is_encrypted(head),
            created: head.created,
            updated: head.updated,
        }
    }

    /// Describes the run's state in a few words.
    pub(crate) fn standing(&self) -> String {
        match (self.phase, self.ended) {
            _ if self.rewound.is_some() => "rewound".to_owned(),
            (_, Some(how)) => format!("ended: {how}"),
            _ if self.parked.is_some() => "parked".to_owned(),
            _ if self.outage.is_some() => "model away".to_owned(),
            (Phase::Waiting, _) => "waiting".to_owned(),
            (Phase::Calling, _) => "calling".to_owned(),
            (Phase::Asking, _) => "asking".to_owned(),
            _ => "ended".to_owned(),
        }
    }

    pub(crate) fn page(&self, now: Timestamp) -> String {
        let mut page = String::new();
        let mut line = |label: &str, text: &str| {
            let _ = writeln!(page, "{label:<10} {}", printable::line(text));
        };
        line("run", self.run);
        let user = self.user.map(|user| format!(", for {user}")).unwrap_or_default();
        line("agent", &format!("{}{user}", self.agent));
        line("state", &format!("{} since {}", self.standing(), when::both(self.updated, now)));
        line("turn", &self.turn.to_string());
        let prices = self.prices.map_or_else(String::new, |date| format!("; prices of {date}"));
        line("spent", &format!("{}{prices}", self.spent));
        for call in self.waiting {
            line("waits for", &format!("call {} of `{}` ({})", call.call, call.tool, call.state));
        }
        if let Some(lease) = self.lease {
            line("driven by", &format!("{} until {}", lease.driver, when::both(lease.until, now)));
        }
        if let Some(parked) = self.parked {
            let until = parked.until.map(|it| format!(", until {}", when::both(it, now)));
            let until = until.unwrap_or_default();
            line("parked", &format!("{}, {}{until}", parked.why, when::both(parked.at, now)));
        }
        if let Some(Outage { since, times, until, kind, message, .. }) = self.outage {
            let (since, until) = (when::both(*since, now), when::both(*until, now));
            let why = message.as_ref().map_or_else(String::new, |it| format!(": {it}"));
            let words = format!(
                "model not reachable since {since} ({kind}{why}), asked {times} times, again {until}"
            );
            line("outage", &words);
        }
        if let Some(Cancelled { who, why, at, .. }) = self.cancelled {
            line("cancelled", &format!("by {who}, {}: {why}", when::both(*at, now)));
        }
        if let Some(deadline) = self.deadline {
            line("deadline", &when::both(deadline, now));
        }
        if let Some(forked) = self.forked {
            line("fork of", &format!("run {}, up to turn {}", forked.run, forked.turn));
        }
        match self.rewound {
            Some(Rewound::To { run, turn }) => {
                line("rewound", &format!("to turn {turn}; run {run} goes on from there"));
            }
            Some(Rewound::Unfinished { run }) => line(
                "rewound",
                &format!(
                    "goes on from a turn of run {run} when its files are restored: do that rewind again"
                ),
            ),
            _ => {}
        }
        line("made", &when::both(self.created, now));
        page
    }
}

#[derive(Serialize)]
pub(crate) struct TurnShown<'a> {
    run: &'a str,
    turn: u64,
    said: Vec<&'a str>,
    text: Option<&'a str>,
    calls: Vec<CallShown<'a>>,
    model: Option<&'a str>,
    usage: Option<Usage>,
    cost: Option<String>,
    prices: Option<&'a str>,
    answers: Option<Vec<AnswerShown<'a>>>,
    /// The agent that the run was handed off to.
    #[serde(skip_serializing_if = "Option::is_none")]
    handed_off_to: Option<String>,
    /// The parts of the history that were not sent to the model.
    #[serde(skip_serializing_if = "Option::is_none")]
    left_out: Option<LeftOutShown>,
    #[serde(skip)]
    longest: usize,
    /// The decisions of guards that changed or stopped the request or the answer.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    guards: Vec<String>,
}

#[derive(Serialize)]
struct CallShown<'a> {
    tool: &'a str,
    arguments: &'a str,
}

#[derive(Serialize)]
struct AnswerShown<'a> {
    tool: &'a str,
    is_error: bool,
    text: String,
}

impl<'a> TurnShown<'a> {
    pub(crate) fn of(run: &'a str, turn: u64, recorded: &'a RecordedTurn) -> Self {
        let said = recorded.said.iter().filter_map(|message| match message {
            Message::User { text, .. } => Some(text.as_str()),
            _ => None,
        });
        let (text, calls) = match &recorded.answer {
            Some(Message::Assistant { text, calls, .. }) => (Some(text.as_str()), &**calls),
            _ => (None, &[][..]),
        };
        let calls = calls.iter().map(|it| CallShown { tool: &it.name, arguments: &it.arguments });
        let answers = match &recorded.answers {
            Some(Message::ToolResults(answered)) => {
                let shown = answered.iter().map(|(call, answer)| AnswerShown {
                    tool: &call.name,
                    is_error: answer.is_error(),
                    text: answer.text().into_owned(),
                });
                Some(shown.collect())
            }
            _ => None,
        };
        let (said, calls) = (said.collect(), calls.collect());
        let (usage, cost) = (recorded.usage, recorded.cost.map(|it| it.to_string()));
        let (model, prices) = (recorded.model.as_deref(), recorded.prices.as_deref());
        let guards = recorded.guards.iter().map(ToString::to_string).collect();
        let (left_out, longest) = (None, LONGEST);
        let handed_off_to = recorded.handed_off_to();
        Self {
            run,
            turn,
            said,
            text,
            calls,
            model,
            usage,
            cost,
            prices,
            answers,
            handed_off_to,
            left_out,
            longest,
            guards,
        }
    }

    /// Returns the turn with its texts uncut, and with the parts of the history that were not sent to its model.
    pub(crate) fn whole(self, left_out: Option<LeftOutShown>) -> Self {
        Self { left_out, longest: usize::MAX, ..self }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.said.is_empty() && self.text.is_none() && self.guards.is_empty()
    }

    /// Describes the tokens and the cost of the model's answer, if they are known.
    fn describe_spending(&self) -> Option<String> {
        if self.usage.is_none() && self.cost.is_none() {
            return None;
        }
        let model = self.model.map_or_else(String::new, |name| format!("{name}: "));
        let tokens = self.usage.map_or_else(|| "tokens not known".into(), |it| it.to_string());
        let cost = match (&self.cost, self.prices) {
            (Some(cost), Some(date)) => format!("{cost} by the prices of {date}"),
            (Some(cost), None) => cost.clone(),
            (None, _) => "unpriced".to_owned(),
        };
        Some(format!("{model}{tokens}, {cost}"))
    }

    /// Describes the turn, in lines for its messages, decisions of guards, text, calls, tokens and cost, answers, and
    /// its handoff.
    pub(crate) fn words(&self) -> String {
        let mut words = String::new();
        let (number, longest) = (self.turn, self.longest);
        let mut line = |what: &str, text: &str| {
            let text = printable::shorten(text.trim(), longest);
            let _ = writeln!(words, "[{number}] {what:<7} {text}");
        };
        self.said.iter().for_each(|text| line("user", text));
        if let Some(left_out) = &self.left_out {
            line("sent", &left_out.to_string());
        }
        self.guards.iter().for_each(|report| line("guard", report));
        if let Some(text) = self.text.filter(|text| !text.trim().is_empty()) {
            line("model", text);
        }
        for call in &self.calls {
            line("call", &format!("{} {}", call.tool, call.arguments));
        }
        if let Some(spent) = self.describe_spending() {
            line("spent", &spent);
        }
        for answer in self.answers.iter().flatten() {
            let what = if answer.is_error { "error" } else { "answer" };
            line(what, &format!("{} {}", answer.tool, answer.text));
        }
        if let Some(agent) = &self.handed_off_to {
            line("handed", &format!("off to {agent}"));
        }
        words
    }
}
