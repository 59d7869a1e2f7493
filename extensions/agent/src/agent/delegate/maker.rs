//! Makes the calls of one turn of a sub-agent, as children of the call that started it.

use futures::future::join_all;
use toolwright::{Answer, Call, Calls, Catalog, Effect, Run, TurnAnswers};

/// The maximum number of read-only calls that run at once.
const AT_ONCE: usize = 8;

/// Makes calls in order. The number of calls before a call identifies it, so that a replay finds the call again.
#[derive(Clone)]
pub(super) struct Maker(Calls);

impl Maker {
    pub(super) fn new(calls: Calls) -> Self {
        Self(calls)
    }

    /// Answers the calls of a turn: runs up to [`AT_ONCE`] consecutive read-only calls together, and every other call
    /// alone. A call with a known answer does not run, but counts in the numbering.
    pub(super) async fn answer_calls(
        &self,
        run: &Run,
        calls: &[Call<'_>],
        mut known: Vec<Option<Answer>>,
    ) -> TurnAnswers {
        let catalog = run.catalog();
        known.resize_with(calls.len(), || None);
        let mut answers: Vec<Answer> = Vec::with_capacity(calls.len());
        while answers.len() < calls.len() {
            let first = answers.len();
            if let Some(answer) = known[first].take() {
                self.0.pass_over();
                answers.push(answer);
                continue;
            }
            let is_read =
                |index: &usize| known[*index].is_none() && is_read(&catalog, &calls[*index]);
            let reads = (first..calls.len()).take(AT_ONCE).take_while(is_read).count();
            let batch = &calls[first..first + reads.max(1)];
            // The futures are polled in order, so each call gets its number independently of how long the other calls
            // take.
            answers.extend(join_all(batch.iter().map(|call| self.0.call(call))).await);
        }
        let is_done = |(_, (call, answer)): &(usize, (&Call<'_>, &Answer))| {
            !answer.is_error() && catalog.get(call.name()).is_some_and(|it| it.terminal)
        };
        let terminal = calls.iter().zip(&answers).enumerate().find(is_done).map(|(index, _)| index);
        TurnAnswers::new(answers, terminal)
    }
}

fn is_read(catalog: &Catalog, call: &Call<'_>) -> bool {
    catalog.get(call.name()).is_some_and(|it| it.effect == Effect::Read)
}
