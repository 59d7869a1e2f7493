//! Expressions that would never end, or take all memory.

use jlens_core::CancelToken;
use serde_json::json;

use super::*;

fn kind_of(expression: &str, steps: u64) -> (String, String) {
    // Steps alone end it, so that nothing depends on how busy the machine is.
    let limits = limits(0, CancelToken::new())
        .max_steps(steps)
        .timeout(std::time::Duration::from_secs(3600));
    let error = evaluate(expression, "{}", &limits).unwrap_err();
    (error.kind().to_owned(), error.message().to_owned())
}

/// S0.64
#[test]
fn an_expression_that_would_never_end_or_fill_the_memory_is_ended() {
    let deep = format!("{}1{}", "(".repeat(8000), ")".repeat(8000));
    let expressions = [
        // Steps, depth, items, characters, and a regular expression that tries every split.
        ("($f := function($x){ $f($x + 1) }; $f(0))", 20_000, "U1006"),
        ("($f := function($x){ 1 + $f($x + 1) }; $f(0))", 20_000, "D1011"),
        ("[1..1000000000]", 20_000, "D2014"),
        (
            "$map([1..100000], function($i){ $map([1..100000], function($j){ $i * $j }) })",
            20_000,
            "U1006",
        ),
        ("($f := function($s){ $f($s & $s) }; $f('ab'))", 20_000, "U1001"),
        ("$match($pad('', 60, 'a') & 'b', /(a+)+$/)", 100, "U1006"),
    ];
    for (expression, steps, code) in expressions {
        let (kind, message) = kind_of(expression, steps);
        assert_eq!(kind, "evaluation_error", "{expression}: {message}");
        assert!(message.ends_with(&format!("({code})")), "{expression}: {message}");
    }
    // What nests deeply is parsed and evaluated, or refused: the stack does not overflow.
    let _ = evaluate(&deep, "{}", &limits(0, CancelToken::new()));
    assert_eq!(kind_of(&"[".repeat(100_000), 1).0, "invalid_expression");
}

/// S0.64
#[test]
fn an_expression_that_holds_many_texts_at_one_time_is_ended_before_they_fill_the_memory() {
    // Without the limit, each of these takes gigabytes within its steps; the second calls the function without a step of its
    // own between.
    for expression in [
        "$count($map([1..128], function($i){ $pad('x', 9999999) }))",
        "$count($map($split($pad('', 128, 'a'), ''), $pad(?, 9999999)))",
    ] {
        let limits = limits(0, CancelToken::new()).timeout(std::time::Duration::from_secs(3600));
        let error = evaluate_within(64 << 20, expression, "{}", &limits).unwrap_err();
        assert_eq!(error.kind(), "evaluation_error", "{expression}: {error}");
        assert_eq!(error.message(), "the expression takes more than 64 MiB of memory");
    }
    // What is dropped again does not count.
    let limits = limits(0, CancelToken::new());
    let expression = "$sum([1..20].$length($pad('x', 1000000)))";
    assert_eq!(evaluate_within(512 << 20, expression, "{}", &limits).unwrap(), json!(20_000_000));
}

#[test]
fn an_evaluation_whose_call_was_given_up_ends() {
    let cancel = CancelToken::new();
    cancel.cancel();
    let error = evaluate("$sum([1..10])", "{}", &limits(0, cancel)).unwrap_err();
    assert!(error.message().ends_with("(U1003)"), "{error}");
}

#[test]
fn time_and_chance_are_those_of_the_call() {
    let twice =
        [(); 2].map(|()| evaluate("[$millis(), $random()]", "{}", &limits(7, CancelToken::new())));
    let [one, two] = twice.map(Result::unwrap);
    assert_eq!((&one[0], &one), (&json!(7), &two));
}

#[test]
fn an_integer_that_a_floating_point_number_would_change_is_a_text_of_its_digits() {
    let query = |expression: &str| {
        let document =
            r#"[{"id": 9007199254740993}, {"id": -1234567890123456789}, {"id": 9007199254740991}]"#;
        evaluate(expression, document, &limits(0, CancelToken::new())).unwrap()
    };
    let ids = json!(["9007199254740993", "-1234567890123456789", 9_007_199_254_740_991_u64]);
    assert_eq!(query("$.id"), ids);
    assert_eq!(query("$count($[id = '9007199254740993'])"), json!(1));
}
