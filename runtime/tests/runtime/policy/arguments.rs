//! Rules over arguments.

use toolwright::policy::{ArgumentTest, Mode, Policy, PolicyBuilder, PolicyDecision, Rule};
use toolwright::unstable::arguments::FinalArguments;

use super::scene::{Case, bare, policy, refused_rule};

fn denying(pointer: &str, test: ArgumentTest) -> Policy {
    policy(of_denying(pointer, test))
}

fn of_denying(pointer: &str, test: ArgumentTest) -> PolicyBuilder {
    let rule = Rule::deny("no").tool("send_mail").argument(pointer, test);
    bare().mode(Mode::Unrestricted).rule(rule)
}

/// It is allowed by the rule, or the mode asks.
fn allowing(pointer: &str, test: ArgumentTest) -> Policy {
    policy(of_allowing(pointer, test))
}

fn of_allowing(pointer: &str, test: ArgumentTest) -> PolicyBuilder {
    bare().rule(Rule::allow("yes").tool("send_mail").argument(pointer, test))
}

/// For a tool of this name that comes later as well: the schema of the one that is there says nothing of its arguments.
fn for_later(builder: PolicyBuilder) -> Policy {
    policy(builder.registered_later("send_mail"))
}

fn is_denied(policy: &Policy, arguments: &str) -> bool {
    Case::of("send_mail").arguments(arguments).word(policy) == "deny"
}

fn is_allowed(policy: &Policy, arguments: &str) -> bool {
    Case::of("send_mail").arguments(arguments).word(policy) == "allow"
}

#[test]
fn values_are_compared_exactly() {
    let policy = denying("/copies", ArgumentTest::one_of(["9007199254740993", "2"]));
    for equal in ["9007199254740993", "2", "2.0", "20e-1"] {
        assert!(is_denied(&policy, &format!(r#"{{"copies":{equal}}}"#)), "{equal}");
    }
    for other in ["9007199254740992", "\"2\"", "[2]", "null", "2.00000000000000000000001"] {
        assert!(!is_denied(&policy, &format!(r#"{{"copies":{other}}}"#)), "{other}");
    }
    let whole = denying("", ArgumentTest::equals(r#"{"to": [], "copies": 1}"#));
    assert!(is_denied(&whole, r#"{"copies":1.0,"to":[]}"#));
    assert!(!is_denied(&whole, r#"{"copies":1}"#));
}

#[test]
fn limits_are_exact_and_their_sides_are_kept() {
    let at = "9007199254740993";
    let (below, above) = ("9007199254740992.9999", "9007199254740993.0001");
    let tests: [(ArgumentTest, [bool; 3]); 4] = [
        (ArgumentTest::at_least(at), [false, true, true]),
        (ArgumentTest::more_than(at), [false, false, true]),
        (ArgumentTest::at_most(at), [true, true, false]),
        (ArgumentTest::less_than(at), [true, false, false]),
    ];
    for (test, expected) in tests {
        let policy = denying("/copies", test.clone());
        let denied =
            [below, at, above].map(|it| is_denied(&policy, &format!(r#"{{"copies":{it}}}"#)));
        assert_eq!(denied, expected, "{test:?}");
    }
}

#[test]
fn a_range_is_two_limits_that_both_hold() {
    let rule = Rule::allow("few")
        .tool("send_mail")
        .argument("/copies", ArgumentTest::at_least("1"))
        .argument("/copies", ArgumentTest::at_most("3"));
    let policy = policy(bare().rule(rule));
    let allowed =
        ["0", "1", "3", "3.5"].map(|it| is_allowed(&policy, &format!(r#"{{"copies":{it}}}"#)));
    assert_eq!(allowed, [false, true, true, false]);
}

#[test]
fn an_argument_that_is_not_there_passes_no_test() {
    let policy = denying("/attachment", ArgumentTest::under(["."]));
    assert!(!is_denied(&policy, "{}"));
    assert!(!is_denied(&policy, r#"{"attachment":null}"#));
    assert!(is_denied(&policy, r#"{"attachment":"a"}"#));
    let allow = allowing("/attachment", ArgumentTest::under(["."]));
    assert!(!is_allowed(&allow, "{}"));
}

#[test]
fn sets_are_asked_for_a_part_or_for_the_whole() {
    let friends = [r#""emma""#, r#""jane""#];
    let contains = denying("/to", ArgumentTest::contains(friends));
    assert!(is_denied(&contains, r#"{"to":["harriet","jane"]}"#));
    assert!(!is_denied(&contains, r#"{"to":["harriet"]}"#));
    let within = allowing("/to", ArgumentTest::within(friends));
    assert!(is_allowed(&within, r#"{"to":["jane","emma","jane"]}"#));
    assert!(!is_allowed(&within, r#"{"to":["jane","harriet"]}"#));
}

#[test]
fn one_path_of_a_list_refuses_and_all_of_them_allow() {
    let lists =
        [r#"{"to":["src/a"]}"#, r#"{"to":["src/a","b"]}"#, r#"{"to":["b"]}"#, r#"{"to":[]}"#];
    let deny = denying("/to", ArgumentTest::under(["src"]));
    assert_eq!(lists.map(|it| is_denied(&deny, it)), [true, true, false, false]);
    let allow = allowing("/to", ArgumentTest::under(["src"]));
    assert_eq!(lists.map(|it| is_allowed(&allow, it)), [true, false, false, false]);
}

#[test]
fn places_inside_of_arguments_are_json_pointers() {
    let policy = for_later(of_denying("/to/1/a~1b", ArgumentTest::equals("true")));
    assert!(is_denied(&policy, r#"{"to":[0,{"a/b":true}]}"#));
    assert!(!is_denied(&policy, r#"{"to":[{"a/b":true}]}"#));
}

#[test]
fn a_value_of_another_kind_refuses_and_never_allows() {
    let value = r#"{"attachment":{"path":"src"}}"#;
    for test in
        [ArgumentTest::glob(["*.md"]), ArgumentTest::under(["src"]), ArgumentTest::less_than("1")]
    {
        let denying = for_later(of_denying("/attachment", test.clone()));
        assert!(is_denied(&denying, value), "{test:?}");
        let allowing = for_later(of_allowing("/attachment", test.clone()));
        assert!(!is_allowed(&allowing, value), "{test:?}");
    }
}

#[test]
fn arguments_that_cannot_be_read_refuse_and_never_allow() {
    for text in ["{", r#"{"copies":1,"copies":2}"#, "// 1"] {
        assert!(is_denied(&denying("/copies", ArgumentTest::equals("7")), text), "{text}");
        assert!(!is_allowed(&allowing("/copies", ArgumentTest::at_least("0")), text), "{text}");
    }
}

#[test]
fn arguments_are_not_read_where_no_rule_asks_for_them() {
    let rules = [Rule::deny("no").tool("bash"), Rule::allow("yes").tool("send_mail")];
    let policy = policy(bare().rules(rules));
    assert!(is_allowed(&policy, "this is not JSON"));
}

#[test]
fn tests_that_make_no_sense_are_refused() {
    let rule =
        |pointer: &str, test| Rule::deny("no").named("r").tool("send_mail").argument(pointer, test);
    let problems = [
        rule("copies", ArgumentTest::equals("1")),
        rule("/copy", ArgumentTest::equals("1")),
        rule("/copies", ArgumentTest::equals("one")),
        rule("/copies", ArgumentTest::at_least("\"1\"")),
        rule("/copies", ArgumentTest::one_of([""; 0])),
        rule("/attachment", ArgumentTest::glob(["a/[b"])),
        rule("/attachment", ArgumentTest::glob(["src/../*.md"])),
        rule("/attachment", ArgumentTest::under([""])),
        rule("/attachment", ArgumentTest::under(["~/notes"])),
    ]
    .map(refused_rule);
    insta::assert_snapshot!(problems.join("\n"));
}

#[test]
fn arguments_that_were_read_before_are_not_parsed_again() {
    /// Sends copies.
    #[toolwright::tool]
    async fn send_copies(
        /// How many.
        copies: u8,
    ) {
        let _ = copies;
    }

    let registry = toolwright::Registry::of([SEND_COPIES]).unwrap();
    let definition = registry.get("send_copies").unwrap();
    let read = FinalArguments::of(&definition, r#"{"copies": 2}"#).unwrap();
    let policy = allowing("/copies", ArgumentTest::equals("2"));
    let case = Case::of("send_mail").arguments("no JSON");
    assert_ne!(case.judged_by(&policy), PolicyDecision::Allow);
    let judged = policy.judge_read(&case.question(), Some(read.tree()));
    assert_eq!(judged.verdict, PolicyDecision::Allow);
}
