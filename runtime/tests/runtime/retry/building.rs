//! Policies and breakers that cannot be meant are told when the executor is built.

use std::time::Duration;

use toolwright::retry::{CircuitBreaker, RetryPolicy};
use toolwright::{Executor, ExecutorBuilder, Registry};

fn builder() -> ExecutorBuilder {
    Executor::builder(Registry::default())
}

fn refused(builder: ExecutorBuilder) -> String {
    builder.build().expect_err("an executor that cannot be meant").to_string()
}

#[test]
fn what_would_never_run_or_never_wait_is_refused() {
    let attempts = refused(builder().retry(RetryPolicy::TOOL.attempts(0)));
    assert!(attempts.contains("0 attempts let no call run"), "{attempts}");
    let multiplier = refused(builder().retry(RetryPolicy::TOOL.multiplier(0)));
    assert!(multiplier.contains("a multiplier of 0 leaves no delay"), "{multiplier}");
    let never = CircuitBreaker::new(0, Duration::from_secs(1));
    let breaker = refused(builder().circuit_breaker(never));
    assert!(breaker.contains("a circuit breaker that opens after 0 failures"), "{breaker}");
}

#[test]
fn the_smallest_that_can_be_meant_are_taken() {
    let breaker = CircuitBreaker::new(1, Duration::ZERO);
    let policy = RetryPolicy::TOOL.attempts(1).multiplier(1);
    assert!(builder().retry(policy).circuit_breaker(breaker).build().is_ok());
}
