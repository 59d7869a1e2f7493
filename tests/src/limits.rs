//! How many calls run at once, of an executor and of one tool; the others wait their turn.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use futures::future::join_all;
use proptest::prelude::*;
use tokio_util::sync::CancellationToken;
use toolwright::{Call, Executor, tool};

use crate::support::{Log, PING, Turnstile, WAIT_FOR_GO, answer, builder, call, kind};

/// Counts who is inside, and the most that ever were.
#[derive(Default)]
struct Inside {
    now: AtomicU32,
    most: AtomicU32,
}

impl Inside {
    async fn stay(&self, turns: u32) {
        let now = self.now.fetch_add(1, Ordering::SeqCst) + 1;
        self.most.fetch_max(now, Ordering::SeqCst);
        for _ in 0..turns {
            tokio::task::yield_now().await;
        }
        self.now.fetch_sub(1, Ordering::SeqCst);
    }

    fn most(&self) -> u32 {
        self.most.load(Ordering::SeqCst)
    }
}

/// Stays for some turns.
#[tool(effect = read)]
async fn stay(
    inside: &Inside,
    /// How many turns.
    turns: u32,
) {
    inside.stay(turns).await;
}

/// Stays for some turns, with at most two of its kind.
#[tool(effect = read, limit = 2)]
async fn stay_with_two(
    inside: &Inside,
    /// How many turns.
    turns: u32,
) {
    inside.stay(turns).await;
}

fn staying(name: &'static str, turns: u32) -> Call<'static> {
    Call::new(name, serde_json::json!({"turns": turns}).to_string())
}

fn run<T>(future: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_time()
        .build()
        .unwrap()
        .block_on(future)
}

/// Runs the calls on two threads at once and gives how many of them were answered well.
async fn all_at_once(executor: &Executor, name: &'static str, turns: &[u32]) -> usize {
    let calls = turns.iter().map(|turns| {
        let (executor, call) = (executor.clone(), staying(name, *turns));
        tokio::spawn(async move { executor.call(&call).await })
    });
    let answers = join_all(calls).await;
    answers.into_iter().filter(|answer| !answer.as_ref().unwrap().is_error()).count()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn never_more_calls_run_at_once_than_the_limit_and_every_one_gets_its_turn(
        limit in 1_u32..4,
        turns in prop::collection::vec(0_u32..6, 1..24),
    ) {
        let inside = Arc::new(Inside::default());
        let executor = builder([STAY]).service_arc(inside.clone()).limit(limit).build().unwrap();
        let answered = run(all_at_once(&executor, "stay", &turns));
        prop_assert_eq!(answered, turns.len());
        prop_assert!(inside.most() <= limit);
    }

    #[test]
    fn never_more_calls_of_a_tool_run_at_once_than_its_own_limit(
        turns in prop::collection::vec(0_u32..6, 1..24),
    ) {
        let inside = Arc::new(Inside::default());
        let executor = builder([STAY_WITH_TWO]).service_arc(inside.clone()).build().unwrap();
        let answered = run(all_at_once(&executor, "stay_with_two", &turns));
        prop_assert_eq!(answered, turns.len());
        prop_assert!(inside.most() <= 2);
    }
}

#[tokio::test]
async fn as_many_run_at_once_as_the_limit_allows() {
    let turnstile = Turnstile::new();
    let executor = builder([WAIT_FOR_GO]).service_arc(turnstile.clone()).limit(3).build().unwrap();
    let calls = join_all((0..4).map(|_| answer(&executor, call("wait_for_go"))));
    let watch = async {
        turnstile.entered(3).await;
        tokio::task::yield_now().await;
        assert_eq!(turnstile.entered.available_permits(), 0, "a fourth call ran");
        turnstile.let_go(4);
    };
    let (answers, ()) = tokio::join!(calls, watch);
    assert!(answers.iter().all(|answer| answer.text() == "went"));
}

/// Lets others have their turn.
#[tool(effect = read)]
async fn yield_often() {
    for _ in 0..4 {
        tokio::task::yield_now().await;
    }
}

#[tokio::test]
async fn who_waits_is_not_overtaken_for_ever_by_one_who_comes_again_and_again() {
    let log = Log::default();
    let executor = builder([YIELD_OFTEN]).limit(1).build().unwrap();
    let greedy = async {
        for _ in 0..100 {
            executor.call(&call("yield_often")).await;
        }
        log.add("greedy");
    };
    let patient = async {
        executor.call(&call("yield_often")).await;
        log.add("patient");
    };
    tokio::join!(greedy, patient);
    assert_eq!(log.lines(), ["patient", "greedy"]);
}

#[tokio::test]
async fn calls_are_let_in_in_the_order_in_which_they_came() {
    let (log, turnstile) = (Log::default(), Turnstile::new());
    let executor = builder([WAIT_FOR_GO]).service_arc(turnstile.clone()).limit(1).build().unwrap();
    let calls = join_all((0..5).map(|number| {
        let (executor, log) = (&executor, &log);
        async move {
            executor.call(&call("wait_for_go")).await;
            log.add(number.to_string());
        }
    }));
    turnstile.let_go(5);
    calls.await;
    assert_eq!(log.lines(), ["0", "1", "2", "3", "4"]);
}

#[tokio::test]
async fn a_call_that_waits_for_a_place_can_be_cancelled_and_leaves_it_to_the_next() {
    let turnstile = Turnstile::new();
    let executor = builder([WAIT_FOR_GO]).service_arc(turnstile.clone()).limit(1).build().unwrap();
    let token = CancellationToken::new();
    let first = answer(&executor, call("wait_for_go"));
    let second = answer(&executor, call("wait_for_go").cancelled_by(token.clone()));
    let third = answer(&executor, call("wait_for_go"));
    let watch = async {
        turnstile.entered(1).await;
        token.cancel();
        turnstile.let_go(2);
    };
    let (first, second, third, ()) = tokio::join!(first, second, third, watch);
    assert_eq!([first, second, third].map(|it| kind(&it)), ["ok", "cancelled", "ok"]);
    assert_eq!(turnstile.go.available_permits(), 0, "the cancelled call did not run");
}

/// Waits, alone of its kind.
#[tool(effect = read, limit = 1)]
async fn wait_alone(turnstile: &Turnstile) {
    crate::support::wait_for_go(turnstile).await;
}

#[tokio::test]
async fn calls_that_wait_for_one_slow_tool_do_not_hold_the_places_of_others() {
    let turnstile = Turnstile::new();
    let executor =
        builder([WAIT_ALONE, PING]).service_arc(turnstile.clone()).limit(2).build().unwrap();
    let slow = join_all((0..3).map(|_| answer(&executor, call("wait_alone"))));
    let quick = async {
        turnstile.entered(1).await;
        let answer = executor.call(&call("ping")).await;
        turnstile.let_go(3);
        answer
    };
    let (slow, quick) = tokio::join!(slow, quick);
    assert_eq!(quick.text(), "pong");
    assert!(slow.iter().all(|answer| !answer.is_error()));
}

#[tokio::test]
async fn runs_share_the_places_of_their_executor() {
    let turnstile = Turnstile::new();
    let executor = builder([WAIT_FOR_GO]).service_arc(turnstile.clone()).limit(1).build().unwrap();
    let [one, other] = ["one", "other"].map(|id| executor.run(id).start().unwrap());
    let watch = async {
        turnstile.entered(1).await;
        tokio::task::yield_now().await;
        assert_eq!(turnstile.entered.available_permits(), 0);
        turnstile.let_go(2);
    };
    let call = call("wait_for_go");
    tokio::join!(one.call(&call), other.call(&call), watch);
}
