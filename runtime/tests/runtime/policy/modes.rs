//! What becomes of calls of which no rule says anything, and what rules make of that.

use std::fmt::Write as _;

use toolwright::policy::{Mode, PolicyDecision, Rule};
use toolwright::{Danger, Effect};

use super::scene::{Case, bare, policy};

const DANGERS: [Danger; 4] = [Danger::Safe, Danger::Moderate, Danger::Dangerous, Danger::Critical];

#[test]
fn the_matrix_of_modes() {
    let mut table = String::new();
    for plan in [false, true] {
        for effect in [Effect::Read, Effect::Once] {
            writeln!(table, "plan = {plan}, effect = {effect:?}").expect("a string takes any text");
            for mode in Mode::ALL {
                let policy = policy(bare().mode(mode).plan(plan));
                let words =
                    DANGERS.map(|it| Case::of("clock").danger(it).effect(effect).word(&policy));
                writeln!(
                    table,
                    "{:<14}{}",
                    mode.name(),
                    words.map(|it| format!("{it:<7}")).concat().trim_end()
                )
                .expect("a string takes any text");
            }
        }
    }
    insta::assert_snapshot!(table);
}

#[test]
fn interactive_is_the_default_and_nothing_is_planned() {
    let policy = policy(bare());
    assert_eq!(policy.mode(), Mode::Interactive);
    assert!(!policy.plans());
}

#[test]
fn an_accepted_call_is_judged_with_the_plan_off() {
    let policy = policy(bare().mode(Mode::Interactive).plan(true));
    let planned = Case::of("send_mail");
    assert_eq!(planned.word(&policy), "queue");
    assert_eq!(Case { accepted: true, ..planned }.word(&policy), "ask");
}

#[test]
fn a_denial_comes_before_the_plan_and_a_question_about_a_read_after_it() {
    let rules = [Rule::deny("no mail").tool("send_mail"), Rule::ask("what for?").tool("clock")];
    let policy = policy(bare().plan(true).rules(rules));
    assert_eq!(Case::of("send_mail").word(&policy), "deny");
    let clock = Case::of("clock").danger(Danger::Safe).effect(Effect::Read);
    assert_eq!(clock.word(&policy), "ask");
}

#[test]
fn allow_silences_the_question_of_the_mode_and_nothing_else() {
    let allow = Rule::allow("it is wanted").tool("send_mail");
    let allowing = |mode| policy(bare().mode(mode).rule(allow.clone()));
    let mail = Case::of("send_mail");
    assert_eq!(mail.word(&allowing(Mode::Interactive)), "allow");
    let asking = Case { approval: Some("it costs"), ..mail.clone() };
    assert_eq!(asking.word(&allowing(Mode::Interactive)), "ask");
    assert_eq!(asking.word(&allowing(Mode::Unrestricted)), "ask");
    let dangerous = mail.clone().danger(Danger::Dangerous);
    assert_eq!(dangerous.word(&allowing(Mode::Strict)), "deny");
    for (rule, word) in [
        (Rule::deny("no"), "deny"),
        (Rule::ask("why?"), "ask"),
        (Rule::always_ask("why?"), "always ask"),
    ] {
        let both = policy(bare().rule(allow.clone()).rule(rule.tool("send_*")));
        assert_eq!(mail.word(&both), word);
    }
}

#[test]
fn every_reason_to_ask_is_told_once_and_the_strongest_counts() {
    let rules = [
        Rule::ask("it is mail").named("mail").group("mail"),
        Rule::always_ask("it cannot be taken back").named("once").effect(Effect::Once),
    ];
    let policy = policy(bare().rules(rules));
    let mail = Case { group: Some("mail"), approval: Some("it costs"), ..Case::of("send_mail") };
    let PolicyDecision::Ask { reasons, grants_count } = mail.judged_by(&policy) else {
        panic!("it asks")
    };
    assert!(!grants_count);
    let expected = [
        "it costs",
        "it cannot be taken back",
        "it is mail",
        "the mode `interactive` asks about moderate calls",
    ];
    assert_eq!(reasons, expected);
}

#[test]
fn every_selector_must_hold() {
    let rule = Rule::deny("no")
        .tool("send_*")
        .group("mail")
        .tag("outgoing")
        .danger_at_least(Danger::Dangerous)
        .effect(Effect::Once)
        .principal("emma");
    // `outgoing` is no tag of the tools that are there.
    let text = "version = 1\n[arriving]\ntags = [\"outgoing\"]\ntools = [\"send_*\"]\n";
    let policy = policy(bare().mode(Mode::Unrestricted).text("p", text).rule(rule));
    let denied = Case {
        group: Some("mail"),
        tags: vec!["new".to_owned(), "outgoing".to_owned()],
        principal: Some("emma"),
        ..Case::of("send_letter").danger(Danger::Critical)
    };
    assert_eq!(denied.word(&policy), "deny");
    let others = [
        Case { tool: "mail", ..denied.clone() },
        Case { group: None, ..denied.clone() },
        Case { tags: vec!["new".to_owned()], ..denied.clone() },
        Case { danger: Danger::Moderate, ..denied.clone() },
        Case { effect: Effect::Keyed, ..denied.clone() },
        Case { principal: None, ..denied.clone() },
        Case { principal: Some("jane"), ..denied.clone() },
    ];
    for other in others {
        assert_eq!(other.word(&policy), "allow", "{other:?}");
    }
}

#[test]
fn a_danger_alone_is_exact() {
    let rule = Rule::deny("no").danger(Danger::Safe).danger(Danger::Critical);
    let policy = policy(bare().mode(Mode::Unrestricted).rule(rule));
    let words = DANGERS.map(|it| Case::of("clock").danger(it).word(&policy));
    assert_eq!(words, ["deny", "allow", "allow", "deny"]);
}
