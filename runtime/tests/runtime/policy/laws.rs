//! What holds of every policy and every call.

use proptest::prelude::*;
use proptest::sample::{select, subsequence};
use toolwright::policy::{ArgumentTest, Mode, Policy, PolicyDecision, Rule, RuleKind, WhenUnknown};
use toolwright::{Danger, Effect};

use super::scene::{Case, bare, policy};

const TOOLS: [&str; 5] = ["write_file", "read_file", "bash", "unheard_of", "github/delete_repo"];
const FILES: [&str; 6] = ["src/a", "srcx", ".git/config", "../a", "/srv/src/b", "SRC/A"];
const PATTERNS: [&str; 5] = ["src/**", "**/.git/**", "*", "/srv/src/", "srcx"];

fn danger() -> impl Strategy<Value = Danger> {
    select(vec![Danger::Safe, Danger::Moderate, Danger::Dangerous, Danger::Critical])
}

fn effect() -> impl Strategy<Value = Effect> {
    select(vec![Effect::Read, Effect::Idempotent, Effect::Keyed, Effect::Once])
}

fn case() -> impl Strategy<Value = Case> {
    let files = || subsequence(FILES.to_vec(), 0..3);
    let arguments = select(vec![
        "{}",
        r#"{"path":"src/a"}"#,
        r#"{"path":["b","src/c"]}"#,
        r#"{"path":7}"#,
        "{",
    ]);
    let told = (any::<bool>(), files(), files());
    let who =
        (select(vec![None, Some("emma")]), select(vec![None, Some("it asks")]), any::<bool>());
    (select(&TOOLS[..]), danger(), effect(), arguments, told, who).prop_map(
        |(
            tool,
            danger,
            effect,
            arguments,
            (is_told, reads, writes),
            (principal, approval, accepted),
        )| {
            let case = Case::of(tool).danger(danger).effect(effect).arguments(arguments);
            let case = reads.into_iter().fold(case, Case::reading);
            let case = writes.into_iter().fold(case, Case::writing);
            let case = if is_told { case } else { case.undeclared() };
            Case { principal, approval, accepted, ..case }
        },
    )
}

fn kinds(kinds: &'static [RuleKind]) -> impl Strategy<Value = RuleKind> {
    select(kinds)
}

fn rule(of: &'static [RuleKind]) -> impl Strategy<Value = Rule> {
    let selectors = (
        prop::option::of(select(vec!["write_file", "*", "*_file", "bash", "github*"])),
        prop::option::of(danger()),
        prop::option::of(effect()),
        prop::option::of(select(&PATTERNS[..])),
        prop::option::of(select(&PATTERNS[..])),
        prop::option::of(select(vec!["/srv", "src"])),
    );
    let more = (prop::option::of(select(vec!["emma", "jane"])), 0..4_u8, any::<bool>());
    (kinds(of), selectors, more, "[a-z]{8}").prop_map(
        |(kind, (tool, danger, effect, reads, writes, outside), (who, test, asks), name)| {
            let rule = match kind {
                RuleKind::Deny => Rule::deny("denied"),
                RuleKind::AlwaysAsk => Rule::always_ask("asked each time"),
                RuleKind::Ask => Rule::ask("asked"),
                RuleKind::Allow => Rule::allow("allowed"),
            };
            // Without anything else it is for all tools, which has to be said.
            let mut rule = rule.named(name).tool(tool.unwrap_or("*"));
            if let Some(danger) = danger {
                rule = rule.danger_at_least(danger);
            }
            if let Some(effect) = effect {
                rule = rule.effect(effect);
            }
            if let Some(pattern) = reads {
                rule = rule.reads(pattern);
            }
            if let Some(pattern) = writes {
                rule = rule.writes(pattern);
            }
            if let Some(folder) = outside {
                rule = rule.outside(folder);
            }
            if let Some(who) = who {
                rule = rule.principal(who);
            }
            if kind == RuleKind::Deny && asks {
                rule = rule.when_unknown(WhenUnknown::Ask);
            }
            match test {
                0 => rule.argument("/path", ArgumentTest::under(["src"])),
                1 => rule.argument("/path", ArgumentTest::at_least("5")),
                _ => rule,
            }
        },
    )
}

fn rules() -> impl Strategy<Value = Vec<Rule>> {
    prop::collection::vec(rule(&RuleKind::ALL), 0..6)
}

/// A policy of these rules; none where two have one name, or one says nothing of the tools that are there.
fn made(mode: Mode, plan: bool, rules: &[Rule]) -> Option<Policy> {
    let builder =
        bare().mode(mode).plan(plan).base("/srv").registered_later("*").rules(rules.to_vec());
    builder.build(&super::scene::catalog()).ok()
}

/// How much it lets run.
fn leave(verdict: &PolicyDecision) -> u8 {
    match verdict {
        PolicyDecision::Deny { .. } => 0,
        PolicyDecision::Queue => 1,
        PolicyDecision::Ask { grants_count: false, .. } => 2,
        PolicyDecision::Ask { grants_count: true, .. } => 3,
        PolicyDecision::Allow => 4,
    }
}

fn mode() -> impl Strategy<Value = Mode> {
    select(&Mode::ALL[..])
}

proptest! {
    // A quarter of the usual cases, because each judges hundreds of calls; `PROPTEST_CASES=4096` is the long form.
    #![proptest_config(ProptestConfig {
        cases: ProptestConfig::default().cases / 4,
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn another_objection_never_lets_more_run(
        rules in rules(),
        added in rule(&[RuleKind::Deny, RuleKind::Ask, RuleKind::AlwaysAsk]),
        mode in mode(), plan: bool, case in case(),
    ) {
        let before = made(mode, plan, &rules);
        let after = made(mode, plan, &[rules, vec![added]].concat());
        prop_assume!(before.is_some() && after.is_some());
        let (before, after) = (case.judged_by(&before.unwrap()), case.judged_by(&after.unwrap()));
        prop_assert!(leave(&after) <= leave(&before), "{before:?}, then {after:?}");
    }

    #[test]
    fn a_deny_of_every_tool_denies_every_tool(
        rules in rules(), mode in mode(), plan: bool, case in case(), name in "[a-zA-Z/_.:-]{1,12}",
    ) {
        let every = Rule::deny("none").named("every tool").tool("*");
        let policy = made(mode, plan, &[rules, vec![every]].concat());
        prop_assume!(policy.is_some());
        let policy = policy.unwrap();
        prop_assert_eq!(case.word(&policy), "deny");
        let question = case.question();
        let question = toolwright::unstable::policy::Question { tool: &name, ..question };
        prop_assert!(matches!(policy.judge(&question).verdict, PolicyDecision::Deny { .. }), "{}", name);
    }

    #[test]
    fn the_order_of_rules_does_not_matter(
        (rules, shuffled) in rules().prop_flat_map(|it| (Just(it.clone()), Just(it).prop_shuffle())),
        mode in mode(), plan: bool, case in case(),
    ) {
        let (one, other) = (made(mode, plan, &rules), made(mode, plan, &shuffled));
        prop_assume!(one.is_some());
        prop_assert_eq!(one.unwrap().judge(&case.question()), other.unwrap().judge(&case.question()));
    }

    #[test]
    fn a_stricter_mode_never_lets_more_run(rules in rules(), plan: bool, case in case()) {
        let stricter = [
            (Mode::Strict, Mode::Interactive),
            (Mode::Strict, Mode::Unattended),
            (Mode::Interactive, Mode::AutoSafe),
            (Mode::AutoSafe, Mode::Unrestricted),
            (Mode::Unattended, Mode::Unrestricted),
        ];
        for (strict, lax) in stricter {
            let (Some(strict), Some(lax)) = (made(strict, plan, &rules), made(lax, plan, &rules)) else { continue };
            prop_assert!(leave(&case.judged_by(&strict)) <= leave(&case.judged_by(&lax)));
        }
    }

    #[test]
    fn a_plan_never_lets_more_run(rules in rules(), mode in mode(), case in case()) {
        let (Some(planned), Some(free)) = (made(mode, true, &rules), made(mode, false, &rules)) else { return Ok(()) };
        let (planned, free) = (case.judged_by(&planned), case.judged_by(&free));
let is_put_off = planned == PolicyDecision::Queue && leave(&free) > 0;
        prop_assert!(planned == free || is_put_off);
    }

    #[test]
    fn an_allowance_never_beats_an_objection(
        rules in rules(), allowed in rule(&[RuleKind::Allow]), mode in mode(), plan: bool, case in case(),
    ) {
        let before = made(mode, plan, &rules);
        let after = made(mode, plan, &[rules, vec![allowed]].concat());
        prop_assume!(before.is_some() && after.is_some());
        let (before, after) = (before.unwrap().judge(&case.question()), after.unwrap().judge(&case.question()));
        use toolwright::unstable::policy::RuleEffect;
        let objects = before.rules.iter().any(|it| it.says != RuleEffect::Allow) || case.approval.is_some();
        match (&before.verdict, &after.verdict) {
            (before, after) if leave(before) == leave(after) => {}
            (PolicyDecision::Ask { .. }, PolicyDecision::Allow) => prop_assert!(!objects),
            (before, after) => prop_assert!(false, "{:?} became {:?}", before, after),
        }
    }

    #[test]
    fn whatever_is_written_is_a_policy_or_a_problem(text in "(version = 1\n)?(\\PC|\n|\\[\\[deny\\]\\]\nreason = \"r\"\ntool = |\"\\*\"){0,40}") {
        let _ = bare().text("p", &text).build(&super::scene::catalog());
    }

    #[test]
    fn any_pattern_and_any_name_can_be_compared(pattern in "[./*a-cÄ{},\\[\\]!~\\\\]{1,12}", name in "[./a-cÄä~\\\\]{0,12}") {
        let rule = Rule::deny("r").writes(pattern.clone());
        let Ok(policy) = bare().base("/w").mode(Mode::Unrestricted).rule(rule).build(&super::scene::catalog()) else { return Ok(()) };
        let one = Case::of("write_file").writing(&name);
        // However a name is spelt, it is one name.
        let other = Case::of("write_file").writing(&format!("./x/../{name}/"));
        if !name.starts_with('/') && !name.contains('\\') {
            prop_assert_eq!(one.word(&policy), other.word(&policy));
        }
    }
}

#[test]
fn most_of_the_policies_that_are_tried_can_be_made() {
    let rule = Rule::deny("r").named("a").tool("*").outside("src").reads("/srv/src/");
    assert!(made(Mode::Strict, true, &[rule]).is_some());
    assert!(policy(bare()).rules().next().is_none());
}
