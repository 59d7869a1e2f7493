//! What a policy tells of itself, so that nobody works out what no rule asks for.

use std::path::Path;

use toolwright::policy::{ArgumentTest, Policy, Protection, Rule};

use super::scene::{bare, policy};

#[test]
fn arguments_are_looked_at_for_the_tools_whose_rules_test_them() {
    let one = || ArgumentTest::equals("1");
    let rules = [
        Rule::deny("no").tool("send_mail").argument("/copies", one()),
        Rule::deny("no").tool("later_*").argument("/copies", one()),
        Rule::deny("no").tool("bash"),
    ];
    let policy = policy(bare().registered_later("later_*").rules(rules));
    let looks = ["send_mail", "later_mail", "bash", "clock", "unheard_of"]
        .map(|it| policy.looks_at_arguments(it));
    assert_eq!(looks, [true, true, false, false, false]);
}

#[test]
fn one_word_is_enough_to_plan_and_to_want_four_eyes() {
    for (one, other, told) in
        [(false, false, false), (true, false, true), (false, true, true), (true, true, true)]
    {
        let policy = policy(bare().plan(one).plan(other).four_eyes(one).four_eyes(other));
        assert_eq!((policy.plans(), policy.four_eyes()), (told, told), "{one}, then {other}");
    }
    assert!(!policy(bare()).four_eyes());
}

#[test]
fn roots_are_told_as_they_are_written() {
    let policy = policy(bare().root("/srv/").root("notes"));
    assert_eq!(policy.roots().collect::<Vec<_>>(), [Path::new("/srv/"), Path::new("notes")]);
}

#[test]
fn protections_that_are_named_off_are_told_once_and_in_order() {
    let off = |policy: &Policy| policy.protections_off().collect::<Vec<_>>();
    let named = [Protection::Keys, Protection::Git, Protection::Keys];
    assert_eq!(off(&policy(Policy::builder().without(named))), [Protection::Git, Protection::Keys]);
    assert_eq!(off(&policy(Policy::builder())), []);
}
