//! Sets how much of long answers and of a long history the model reads.

use std::sync::Arc;

use super::AgentBuilder;
use crate::model::Model;
use crate::results::AnswerBudget;

impl<E> AgentBuilder<E> {
    /// Sets how many characters of a tool's answer the model reads: 30,000 unless set. For longer answers, the model
    /// gets two tools, `read_large_result` and `search_large_result`, with which it reads the rest. It can also pass
    /// the whole answer on to another call by a reference; see [`AnswerBudget`].
    #[must_use]
    pub fn answer_budget(mut self, budget: AnswerBudget) -> Self {
        self.answer_budget = budget;
        self
    }

    /// Sets the size of the model's context window, in tokens. Unless set, the size is
    /// [`Model::window`](crate::Model::window). For an `HttpModel`, the size comes from its
    /// [`Prices`](crate::Prices). If the size is not known, the agent shortens no request, as with `u64::MAX`.
    ///
    /// Instructions, tools and the answer take a part of the window. If the history needs more than three quarters of
    /// the rest, the request gets a shortened copy. Answers of tools that a later call repeats are left out first, then
    /// the middle of long old answers, and at last the oldest turns. The run keeps its whole history.
    ///
    /// The omissions depend only on the history, the room for it in the window, the recorded summaries, and which tools
    /// change nothing (`effect = read`). So another process that continues the run with the same agent makes the same
    /// omissions. Messages of the user, the last two turns, refusals and unknown outcomes (a call that
    /// may have changed something, and whose answer does not say so) are never shortened.
    /// [`RunEvent::Compacted`](crate::RunEvent::Compacted) reports the omissions. Tokens are estimated: three bytes
    /// count as one token.
    #[must_use]
    pub fn window(mut self, tokens: u64) -> Self {
        self.window = Some(tokens);
        self
    }

    /// Sets a model that summarizes the turns that [`window`](Self::window) leaves out; a small model is enough. The
    /// agent asks for the summary in a separate request, before a request leaves these turns out for the first time.
    /// The summary is marked as untrusted text. Parts of these turns that must not be shortened are sent in full beside
    /// the summary. A recorded run records the summary before a request uses it, so that any process that continues the
    /// run uses the same summary. The summary counts toward what the run spends, but not as a turn.
    ///
    /// If the attempt fails, the agent asks again only when it has to leave out further turns. Until then the turns are
    /// left out without a summary. The attempt fails if the summary is missing, late, empty, cut short or no shorter
    /// than the turns, if the model makes a call instead, or if the model, a guard or a ceiling refuses the request.
    /// [`RunEvent::NotSummarized`](crate::RunEvent::NotSummarized) reports why.
    ///
    /// ```
    /// use toolwright_agent::{Agent, ScriptedModel};
    ///
    /// let (large, small) = (ScriptedModel::new(), ScriptedModel::new());
    /// let agent = Agent::builder(large).window(16_000).summarizer(small).build()?;
    /// # let _ = agent;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn summarizer(mut self, model: impl Model + 'static) -> Self {
        self.summarizer = Some(Arc::new(model));
        self
    }
}
