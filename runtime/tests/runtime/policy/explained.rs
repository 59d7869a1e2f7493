//! Answers in words.

use toolwright::Danger;
use toolwright::policy::{ArgumentTest, Mode, Policy, Rule};

use super::scene::{Case, bare, policy};

fn told(policy: &Policy, case: &Case) -> String {
    policy.explain(&case.question()).to_string()
}

#[test]
fn who_decided_is_told_and_what_the_others_would_have_said() {
    let rules = [
        Rule::deny("vendored code is not ours").named("vendored").writes("vendor/**"),
        Rule::always_ask("writing is serious").named("serious").tool("write_*"),
        Rule::ask("it is somebody's file").named("file").group("file"),
        Rule::allow("it is a sandbox").named("sandbox").tool("write_file"),
    ];
    let policy = |mode, plan| policy(bare().mode(mode).plan(plan).rules(rules.clone()));
    let write =
        Case { group: Some("file"), approval: Some("it is large"), ..Case::of("write_file") };
    let other = Case { group: None, approval: None, ..write.clone() };
    let allow = || super::scene::policy(bare().rule(rules[3].clone()));
    let texts = [
        told(&policy(Mode::Strict, false), &write.clone().writing("vendor/a")),
        told(&policy(Mode::Interactive, false), &write.clone().writing("src/a")),
        told(&policy(Mode::Interactive, false), &write.clone().undeclared()),
        told(&policy(Mode::Strict, false), &write.clone().danger(Danger::Critical)),
        told(&policy(Mode::AutoSafe, true), &write),
        told(&allow(), &other),
        told(&super::scene::policy(bare()), &other),
        told(&super::scene::policy(bare().mode(Mode::Unrestricted)), &other),
    ];
    insta::assert_snapshot!(texts.join("\n\n"));
}

#[test]
fn an_explanation_is_data_too() {
    let rule = Rule::deny("no").named("never").writes("vendor/**");
    let policy = policy(bare().rule(rule));
    let explanation = policy.explain(&Case::of("bash").undeclared().question()).clone();
    insta::assert_snapshot!(serde_json::to_string_pretty(&explanation).expect("it serialises"));
}

#[test]
fn a_question_and_its_answer_show_no_arguments() {
    let rule =
        Rule::deny("no").tool("send_mail").argument("/to", ArgumentTest::contains(["\"a\""]));
    let policy = policy(bare().rule(rule));
    let case = Case::of("send_mail").arguments(r#"{"to":["a","hunter2"]}"#);
    let question = case.question();
    let shown = format!("{question:?} {:?} {}", policy.judge(&question), policy.explain(&question));
    assert!(shown.contains("send_mail") && !shown.contains("hunter2"), "{shown}");
}

#[test]
fn of_several_files_the_explanation_names_those_for_which_each_rule_matches() {
    let rules = [
        Rule::deny("vendored code is not ours").named("vendored").writes("vendor/**"),
        Rule::ask("it decides what runs").named("builds").writes("build.rs").writes("*.toml"),
        Rule::allow("it is a sandbox").named("sandbox").tool("write_file"),
    ];
    let policy = policy(bare().rules(rules));
    let write = Case::of("write_file").writing("src/a.rs").writing("build.rs");
    let several = write.clone().writing("sub/Cargo.toml");
    assert_eq!(
        told(&policy, &several),
        "`write_file` needs a person's decision, or a grant that covers it\n\
         - rule `builds` asks: it decides what runs (`build.rs`, `sub/Cargo.toml`)\n\
         - rule `sandbox` would allow it: it is a sandbox\n\
         - the mode `interactive` would ask about moderate calls, which rule `sandbox` silences"
    );
    let explained = policy.explain(&several.writing("vendor/x").question()).files;
    let explained: Vec<_> =
        explained.iter().map(|it| (it.rule.as_str(), it.files.join(" "))).collect();
    assert_eq!(
        explained,
        [("vendored", "vendor/x".to_owned()), ("builds", "build.rs sub/Cargo.toml".to_owned())]
    );
    // Of one file there is no question which one it is.
    let one = policy.explain(&Case::of("write_file").writing("build.rs").question());
    assert!(one.files.is_empty(), "{one}");
}
