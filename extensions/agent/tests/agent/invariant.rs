//! The invariant of every history, over every outcome of a call: each call of a turn has exactly one answer, in call
//! order, however the run ends.

use std::sync::Arc;
use std::time::Duration;

use proptest::prelude::*;
use toolwright::journal::{Journal, MemoryStore};
use toolwright::policy::{Mode, Policy, Rule};
use toolwright::{Answer, CancellationToken, OnNoApprover, Output, ToolError};
use toolwright_agent::{
    Action, Agent, Limits, Message, ModelAnswer, RunEnd, ScriptedModel, State, StepInput,
    StopReason, check, step,
};

use super::support::{Log, builder, call};

/// A call, and how it comes out.
const CALLS: [(&str, &str, &str); 12] = [
    ("add", r#"{"a":1,"b":2}"#, "ok"),
    ("add", r#"{"a":"1","b":"2"}"#, "ok"),
    ("add", r#"{"a":1}"#, "invalid_input"),
    ("add", r#"{"a":1,"#, "invalid_input"),
    ("fail", r#"{"how":"badly"}"#, "on_purpose"),
    ("fail", r#"{"how":"panic"}"#, "panic"),
    ("wait", "{}", "timeout"),
    ("delete", r#"{"path":"a"}"#, "approval_required"),
    ("look_up", r#"{"word":"a"}"#, "denied"),
    ("unheard_of", "{}", "unknown_tool"),
    ("complete_task", r#"{"summary":""}"#, "invalid_input"),
    ("complete_task", r#"{"summary":"it"}"#, "ok"),
];

#[derive(Debug, Clone)]
struct Made {
    /// Which calls, and whether each has the id of the first.
    calls: Vec<(usize, bool)>,
    is_cut: bool,
}

fn made() -> impl Strategy<Value = Made> {
    let calls = prop::collection::vec((0..CALLS.len(), prop::bool::weighted(0.1)), 1..6);
    (calls, prop::bool::weighted(0.15)).prop_map(|(calls, is_cut)| Made { calls, is_cut })
}

fn answer(turn: usize, made: &Made) -> ModelAnswer {
    let id = |index: usize, repeats: bool| format!("t{turn}-{}", if repeats { 0 } else { index });
    let calls = made.calls.iter().enumerate().map(|(index, (which, repeats))| {
        let (name, arguments, _) = CALLS[*which];
        call(&id(index, *repeats), name, arguments)
    });
    let answer = ModelAnswer::new("", calls.collect());
    if made.is_cut { answer.stopped(StopReason::CutInCall) } else { answer }
}

/// What the call at this place is answered.
fn expected(made: &Made, index: usize) -> &'static str {
    let is_last = index + 1 == made.calls.len();
    match made.calls[index] {
        _ if made.is_cut && is_last => "call_cut_short",
        (_, true) if index > 0 => "repeated_call_id",
        (which, _) => CALLS[which].2,
    }
}

fn kind(answer: &Answer) -> &str {
    answer.error().map_or("ok", |error| error.kind())
}

fn block_on<F: Future>(future: F) -> F::Output {
    let mut runtime = tokio::runtime::Builder::new_current_thread();
    runtime.enable_time().start_paused(true).build().unwrap().block_on(future)
}

fn agent(model: ScriptedModel, is_journaled: bool) -> Agent {
    let policy = Policy::builder()
        .mode(Mode::Unrestricted)
        .rule(Rule::deny("not today").named("no").tool("look_up"));
    let executor = builder(&Log::default()).policy(policy);
    let executor = match is_journaled {
        true => executor.journal(
            Journal::shared(Arc::new(MemoryStore::new()))
                .record_reads()
                .on_no_approver(OnNoApprover::Deny),
        ),
        false => executor,
    };
    Agent::on(executor.build().unwrap(), model).max_repeated_failures(100).build().unwrap()
}

/// Up to the turn that ends the run.
fn turns_until_the_end(turns: &[Made]) -> usize {
    let ends = |made: &Made| {
        (0..made.calls.len()).any(|index| {
            expected(made, index) == "ok" && CALLS[made.calls[index].0].0 == "complete_task"
        })
    };
    turns.iter().position(ends).map_or(turns.len(), |index| index + 1)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 32, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn each_call_has_exactly_one_answer_in_call_order(
        turns in prop::collection::vec(made(), 1..5),
        is_journaled in any::<bool>(),
    ) {
        let used = turns_until_the_end(&turns);
        // Three cut answers in a row end a run by their limit, and would leave steps of the script.
        prop_assume!(turns[..used].windows(3).all(|it| !it.iter().all(|made| made.is_cut)));
        let mut model = ScriptedModel::new();
        for (turn, made) in turns[..used].iter().enumerate() {
            model = model.answers(answer(turn, made));
        }
        let is_terminal = turns_until_the_end(&turns[..used]) == used
            && turns_until_the_end(&turns[..used - 1]) == used - 1
            && turns[used - 1].calls.iter().enumerate().any(|(index, (which, _))| {
                CALLS[*which].0 == "complete_task" && expected(&turns[used - 1], index) == "ok"
            });
        if !is_terminal {
            model = model.says("Done.");
        }
        let mut run = agent(model, is_journaled).new_run("r").start().unwrap();
        let ended = block_on(run.send("Go."));
        let ended = ended.unwrap();
        prop_assert_eq!(matches!(ended, RunEnd::Terminal { .. }), is_terminal, "{}", ended);
        prop_assert_eq!(check(run.history()).unwrap().len(), 0);
        let answers = run.history().iter().filter_map(|message| match message {
            Message::ToolResults(answered) => Some(answered),
            _ => None,
        });
        for (made, answered) in turns.iter().zip(answers) {
            let kinds: Vec<&str> = answered.iter().map(|(_, answer)| kind(answer)).collect();
            let expected: Vec<&str> = (0..made.calls.len()).map(|it| expected(made, it)).collect();
            prop_assert_eq!(kinds, expected);
        }
    }

    /// Cancelled at any time, by a token: while the model is asked, or while a call waits.
    #[test]
    fn a_run_that_is_cancelled_at_any_time_has_a_sound_history(
        turns in prop::collection::vec(made(), 1..5),
        after in 0_u64..200,
        is_journaled in any::<bool>(),
    ) {
        // Ten seconds until the model answers; a call that waits takes sixty.
        let model = Slow(turns.iter().enumerate().map(|(turn, made)| answer(turn, made)).collect());
        let policy = Policy::builder().mode(Mode::Unrestricted);
        let executor = builder(&Log::default()).policy(policy);
        let executor = match is_journaled {
            true => executor
                .journal(Journal::shared(Arc::new(MemoryStore::new())).on_no_approver(OnNoApprover::Park)),
            false => executor,
        };
        let agent = Agent::on(executor.build().unwrap(), model).max_turns(4).build().unwrap();
        let token = CancellationToken::new();
        let mut run = agent.new_run("r").cancelled_by(token.clone()).start().unwrap();
        let ended = block_on(async {
            let cancel = async {
                tokio::time::sleep(Duration::from_secs(after)).await;
                token.cancel();
            };
            tokio::join!(run.send("Go."), cancel).0
        });
        prop_assert!(ended.is_ok(), "{:?}", ended);
        prop_assert_eq!(check(run.history()).unwrap().len(), 0);
        prop_assert!(run.state().open_calls().is_empty());
    }

    /// Whatever a driver brings, in whatever order.
    #[test]
    fn no_order_of_events_breaks_a_history(events in prop::collection::vec(0_u8..10, 0..40)) {
        let mut state = State::new(Limits::default());
        let mut history: Vec<Message> = Vec::new();
        for (turn, event) in events.into_iter().enumerate() {
            let done = || Answer::from(Output::text("done"));
            let calls = |count: usize| {
                (0..count).map(|index| call(&format!("{turn}-{index}"), "add", "{}")).collect()
            };
            let event = match event {
                0 => StepInput::said("Go."),
                1 => StepInput::Answered(ModelAnswer::text("Done.")),
                2 => StepInput::Answered(ModelAnswer::new("", calls(3))),
                3 => StepInput::Answered(ModelAnswer::new("", calls(2)).stopped(StopReason::CutInCall)),
                4 => StepInput::Called { answers: vec![done(), done(), done()], terminal: None },
                // Too few, and one that is terminal but failed or does not exist.
                5 => StepInput::Called { answers: vec![ToolError::invalid("no").into()], terminal: Some(0) },
                6 => StepInput::Called { answers: Vec::new(), terminal: Some(7) },
                7 => StepInput::Cancelled,
                8 => StepInput::TimeIsUp,
                _ => StepInput::Called { answers: vec![done(), done(), done(), done()], terminal: Some(1) },
            };
            let succeeds = !matches!(&event, StepInput::Called { terminal: Some(at), answers }
                if answers.get(*at).is_none_or(Answer::is_error));
            let (next, actions) = step(&state, event);
            let ends = actions.iter().any(|it| matches!(it, Action::End(RunEnd::Terminal { .. })));
            prop_assert!(succeeds || !ends, "what did not succeed ends no run");
            let mut asks = 0;
            for action in actions {
                match action {
                    Action::Append(message) => {
                        prop_assert_eq!(asks, 0, "nothing is appended after something is asked for");
                        history.push(message);
                    }
                    Action::Ask | Action::Call(_) | Action::End(_) => asks += 1,
                    _ => {}
                }
            }
            prop_assert!(asks <= 1);
            state = next;
            prop_assert_eq!(check(&history).unwrap(), state.open_calls());
            prop_assert!(state.due().is_none() || state.ended().is_none());
        }
    }
}

/// The state after an answer with two calls, the last of which may be cut short.
fn calling(stop: StopReason) -> State {
    let (asking, _) = step(&State::new(Limits::default()), StepInput::said("Go."));
    let calls = vec![call("c1", "complete_task", "{}"), call("c2", "add", "{}")];
    step(&asking, StepInput::Answered(ModelAnswer::new("", calls).stopped(stop))).0
}

fn done() -> Answer {
    Output::text("done").into()
}

#[test]
fn a_turn_with_too_few_or_too_many_answers_has_one_for_each_call() {
    for (stop, answers, expected) in [
        (StopReason::Finished, 0, ["interrupted", "interrupted"]),
        (StopReason::Finished, 1, ["ok", "interrupted"]),
        (StopReason::Finished, 3, ["ok", "ok"]),
        (StopReason::CutInCall, 0, ["interrupted", "call_cut_short"]),
        (StopReason::CutInCall, 2, ["ok", "call_cut_short"]),
    ] {
        let answers = std::iter::repeat_with(done).take(answers).collect();
        let (_, actions) = step(&calling(stop), StepInput::Called { answers, terminal: None });
        let [Action::Append(Message::ToolResults(answered)), Action::Ask] = &actions[..] else {
            panic!("answers, and the model is asked: {actions:?}")
        };
        let kinds: Vec<&str> = answered.iter().map(|(_, answer)| kind(answer)).collect();
        assert_eq!(kinds, expected);
    }
}

/// What was done is done, even where the user gave up in the meantime.
#[test]
fn a_terminal_call_that_succeeded_ends_a_run_that_was_cancelled_meanwhile() {
    for late in [StepInput::Cancelled, StepInput::TimeIsUp] {
        let (stopping, actions) = step(&calling(StopReason::Finished), late);
        assert!(actions.is_empty(), "the calls have to be answered first");
        let called = StepInput::Called { answers: vec![done(), done()], terminal: Some(0) };
        let (ended, _) = step(&stopping, called);
        assert!(matches!(ended.ended(), Some(RunEnd::Terminal { .. })));
    }
}

/// A model that takes ten seconds for each answer, and says that it is done after the last.
struct Slow(Vec<ModelAnswer>);

impl toolwright_agent::Model for Slow {
    fn name(&self) -> &str {
        "slow"
    }

    fn dialect(&self) -> toolwright::dialect::Dialect {
        toolwright::dialect::Dialect::Anthropic
    }

    fn answer<'a>(
        &'a self,
        request: toolwright_agent::ModelRequest<'a>,
    ) -> futures::future::BoxFuture<'a, Result<ModelAnswer, toolwright_agent::ModelError>> {
        let turn =
            request.history.iter().filter(|it| matches!(it, Message::Assistant { .. })).count();
        Box::pin(async move {
            tokio::time::sleep(Duration::from_secs(10)).await;
            Ok(self.0.get(turn).cloned().unwrap_or_else(|| ModelAnswer::text("Done.")))
        })
    }
}
