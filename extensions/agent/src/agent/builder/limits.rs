//! Sets the limits of a run: turns, time, tokens, cost.

use std::time::Duration;

use super::AgentBuilder;
use crate::limits::{Accounts, Ceiling, Cost};

impl<E> AgentBuilder<E> {
    /// Limits how many times the model and the models of sub-agents may answer after a message of the user: 25 times
    /// unless set, and at least once.
    #[must_use]
    pub fn max_turns(mut self, turns: u32) -> Self {
        self.limits.turns = turns.max(1);
        self
    }

    /// Limits how long a run works on a message of the user, including the time that people take to decide: no limit
    /// unless set. At the limit, the request to the model is dropped, open calls are cancelled, and the run ends.
    #[must_use]
    pub fn max_duration(mut self, time: Duration) -> Self {
        self.limits.time = Some(time);
        self
    }

    /// Limits how many invalid answers the agent sends back to the model after each message of the user: 2 unless set.
    /// Answers that are not a value of the output type and answers that a [guard](Self::guard) sends back are counted
    /// separately. Each correction takes a turn.
    #[must_use]
    pub fn max_corrections(mut self, times: u32) -> Self {
        self.limits.corrections = times;
        self
    }

    /// Limits how long the model of a recorded run may be unavailable (unreachable, overloaded, asking callers to wait)
    /// before the run ends as `model_unreachable`: 24 hours unless set. Until then the run is retried, with pauses that
    /// grow up to five minutes. A run in memory stops at once with
    /// [`Stopped::ModelUnreachable`](crate::Stopped::ModelUnreachable), and can be resumed.
    #[must_use]
    pub fn outage_limit(mut self, time: Duration) -> Self {
        self.limits.outage = time;
        self
    }

    /// Limits how often in a row calls of one tool with the same arguments may fail before the run ends: 3 unless set,
    /// and at least once.
    #[must_use]
    pub fn max_repeated_failures(mut self, times: u32) -> Self {
        self.limits.repeated_failures = times.max(1);
        self
    }

    /// Limits the tokens of all requests and answers for one message of the user: no limit unless set. With a limit, a
    /// run ends with an error if its model does not report usage.
    #[must_use]
    pub fn max_total_tokens(mut self, tokens: u64) -> Self {
        self.limits.tokens = Some(tokens);
        self
    }

    /// Limits the tokens of one answer of the model: the model's own limit unless set.
    #[must_use]
    pub fn max_tokens(mut self, tokens: u32) -> Self {
        self.max_tokens = Some(tokens);
        self
    }

    /// Limits what the requests for one message of the user may cost: no limit unless set. With a limit, a run ends
    /// with an error if its model has no price.
    #[must_use]
    pub fn max_cost(mut self, cost: Cost) -> Self {
        self.limits.cost = Some(cost);
        self
    }

    /// Limits what runs together may cost in a day or a month: the runs of each user, the runs of this agent, or all
    /// runs of the journal. Before each request to a model, the agent reserves the maximum cost of the request in the
    /// journal. When the answer arrives, the agent replaces the reservation by the actual cost. If the next request of
    /// a run does not fit, the run ends with [`Limit::Ceiling`](crate::Limit::Ceiling); the user may continue it in the
    /// next period, and other runs continue. Any number of processes share the ceilings of a journal.
    ///
    /// [`build`](Self::build) refuses a ceiling without a journal, without [`max_tokens`](Self::max_tokens), or for a
    /// model without a known price.
    ///
    /// ```
    /// use toolwright::journal::MemoryStore;
    /// use toolwright_agent::{
    ///     Agent, Ceiling, Cost, Limit, ModelAnswer, Period, Price, Rates, RunEnd, ScriptedModel, Usage,
    /// };
    ///
    /// # tokio::runtime::Builder::new_current_thread().enable_time().build()?.block_on(async {
    /// let price = Price::new(Rates::new(Cost::cents(300), Cost::cents(1500)));
    /// let model = ScriptedModel::new().price(price).answers(ModelAnswer::text("Hello.").usage(Usage::new(20_000, 100)));
    /// let agent = Agent::builder(model)
    ///     .journal(MemoryStore::new())
    ///     .max_tokens(1_000)
    ///     .ceiling(Ceiling::of_each_user(Period::Day, Cost::cents(8)))
    ///     .build()?;
    /// agent.run("Good morning!").user("ada").await?;
    /// let error = agent.run("And now?").user("ada").await.unwrap_err();
    /// let end = error.result().expect("it has ended").end().clone();
    /// assert!(matches!(end, RunEnd::Limit(Limit::Ceiling { .. })), "6.15 cents are spent");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// # })?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn ceiling(mut self, ceiling: Ceiling) -> Self {
        self.ceilings.push(ceiling);
        self
    }

    /// Sets the accounts that add up the usage of each user's runs.
    #[must_use]
    pub fn accounts(mut self, accounts: Accounts) -> Self {
        self.accounts = accounts;
        self
    }

    /// Shows the model, after each turn, how many turns it has left, and how many tokens and how much money if these
    /// are limited. The model reads this as a message of the user.
    #[must_use]
    pub fn report_budget(mut self) -> Self {
        self.limits.reports_left = true;
        self
    }
}
