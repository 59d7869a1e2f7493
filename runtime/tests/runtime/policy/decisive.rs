//! Who decided, in names: rules, the tool, the mode, the plan.

use toolwright::policy::{Mode, Policy, Protection, Rule};
use toolwright::{Danger, Effect};

use super::scene::{Case, bare, policy};

fn because(policy: &Policy, case: &Case) -> Vec<String> {
    policy.explain(&case.question()).because().into_iter().map(ToOwned::to_owned).collect()
}

#[test]
fn everybody_who_decided_is_named_and_nobody_else() {
    let deny = || Rule::deny("no").named("never").tool("bash");
    let ask = || Rule::ask("why?").named("why").tool("send_mail");
    let allow = || Rule::allow("yes").named("fine").tool("send_mail");
    let (mail, bash) = (Case::of("send_mail"), Case::of("bash"));
    let costly = Case { approval: Some("it costs"), ..mail.clone() };
    let in_mode = |mode, rules: &[Rule]| policy(bare().mode(mode).rules(rules.to_vec()));
    let cases: [(Policy, &Case, &[&str]); 10] = [
        (in_mode(Mode::Unrestricted, &[deny()]), &bash, &["never"]),
        (in_mode(Mode::Strict, &[deny()]), &bash.clone().danger(Danger::Critical), &["never"]),
        (in_mode(Mode::Strict, &[allow()]), &mail.clone().danger(Danger::Critical), &["mode"]),
        (in_mode(Mode::Interactive, &[ask()]), &costly, &["tool", "why", "mode"]),
        (in_mode(Mode::Interactive, &[ask(), allow()]), &mail, &["why"]),
        (in_mode(Mode::Unrestricted, &[ask()]), &mail, &["why"]),
        (in_mode(Mode::Unrestricted, &[]), &costly, &["tool"]),
        (in_mode(Mode::Interactive, &[allow()]), &mail, &["fine"]),
        (in_mode(Mode::Unrestricted, &[allow()]), &mail, &["mode"]),
        (policy(bare().plan(true).rule(allow())), &mail, &["plan"]),
    ];
    for (policy, case, names) in cases {
        assert_eq!(because(&policy, case), names, "{}", policy.explain(&case.question()));
    }
}

#[test]
fn a_rule_in_short_says_whether_it_is_a_protection() {
    let policy = policy(Policy::builder().rule(Rule::deny("no").named("mine").tool("bash")));
    let found = |name: &str| {
        let rule = policy.outline().find(|it| it.name == name).expect("a rule of this name");
        rule.protection()
    };
    assert_eq!(found("mine"), None);
    assert_eq!(found("protect-git"), Some(Protection::Git));
    assert_eq!(found("protect-keys"), Some(Protection::Keys));
}

#[test]
fn the_word_of_a_rule_is_taken_only_for_what_a_call_does_not_say() {
    let rule = Rule::allow("it is harmless").named("mine").tool("clock").touches(["src"], ["out"]);
    let policy = policy(bare().rule(rule));
    let vouched = |case: Case| policy.judge(&case.question()).touches.len();
    assert_eq!(vouched(Case::of("clock").reading("a").writing("b")), 0);
    assert_eq!(vouched(Case::of("clock").undeclared()), 1);
    // It writes nothing, and does not say what it reads.
    assert_eq!(vouched(Case::of("clock").effect(Effect::Read).undeclared()), 1);
}
