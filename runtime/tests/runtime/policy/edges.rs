//! Patterns and words at the edge of what is meant.

use toolwright::Danger;
use toolwright::policy::{ArgumentTest, Mode, Policy, Rule};

use super::scene::{Case, bare, policy, refused_rule};

fn denying(pattern: &str) -> Policy {
    policy(bare().mode(Mode::Unrestricted).rule(Rule::deny("no").writes(pattern)))
}

#[test]
fn a_pattern_names_something() {
    for pattern in ["", ".", "./.", "a/./b"] {
        let problem = refused_rule(Rule::deny("no").named("r").reads(pattern));
        let expected = format!("rule `r`: `{pattern}` is no pattern for files");
        assert!(problem.starts_with(&expected), "{pattern}: {problem}");
    }
}

#[test]
fn a_pattern_with_nothing_between_two_slashes_is_refused() {
    for pattern in ["**//.env", "**/secrets//", "src//a", "//a", ".//a", "a//**"] {
        let problem = refused_rule(Rule::deny("no").named("r").reads(pattern));
        let expected = format!("rule `r`: the pattern `{pattern}` has nothing between two slashes");
        assert!(problem.starts_with(&expected), "{pattern}: {problem}");
    }
}

#[test]
fn each_alternative_in_braces_has_a_folder_of_its_own() {
    let pattern = "{/etc,./usr,../shared,a/{b,c/**}}/*.txt";
    let denying = || bare().mode(Mode::Unrestricted).base("/srv");
    let policy = policy(denying().rule(Rule::deny("no").writes(pattern)));
    let word = |name: &str| Case::of("write_file").writing(name).word(&policy);
    for name in ["/etc/x.txt", "usr/x.txt", "/shared/x.txt", "a/b/x.txt", "/srv/a/c/d/e/x.txt"] {
        assert_eq!(word(name), "deny", "{name}");
    }
    for name in ["etc/x.txt", "/usr/x.txt", "shared/x.txt", "a/x.txt"] {
        assert_eq!(word(name), "allow", "{name}");
    }
    for (pattern, alternative) in
        [("{a,b/../c}/d", "b/../c/d"), ("x/{a,.}/*", "x/./*"), ("{,a}", "")]
    {
        let problem = refused_rule(Rule::deny("no").named("r").reads(pattern));
        assert!(problem.contains(&format!("`{alternative}`")), "{problem}");
        assert!(problem.ends_with(&format!("(an alternative of `{pattern}`)")), "{problem}");
    }
}

#[test]
fn a_letter_with_an_accent_is_denied_in_either_composition() {
    let (composed, decomposed) = ("caf\u{e9}/?\u{e9}.txt", "cafe\u{301}/?e\u{301}.txt");
    let [one, other] = [composed, decomposed].map(|it| it.replace('?', "x"));
    for pattern in [composed, decomposed] {
        for name in [&one, &other] {
            assert_eq!(Case::of("write_file").writing(name).word(&denying(pattern)), "deny");
        }
    }
}

#[test]
fn a_pattern_may_begin_above_the_base_and_at_the_root() {
    let allowed = |pattern: &str, name: &str| {
        let policy = policy(bare().base("/srv").rule(Rule::allow("yes").writes(pattern)));
        Case::of("write_file").writing(name).word(&policy) == "allow"
    };
    assert!(allowed("../shared/**", "/shared/a") && allowed("../shared/**", "../shared/a"));
    assert!(!allowed("../shared/**", "shared/a"));
    assert!(allowed("/*.conf", "/a.conf") && !allowed("/*.conf", "a.conf"));
    assert!(allowed("./*.conf", "a.conf") && !allowed("./*.conf", "/a.conf"));
}

#[test]
fn without_a_base_the_folders_around_everything_are_refused_too() {
    let policy = denying("**/b/*.txt");
    let words = [".", "..", "../..", "/", "a", "../a"]
        .map(|it| Case::of("write_file").writing(it).word(&policy));
    assert_eq!(words, ["deny", "deny", "deny", "deny", "allow", "allow"]);
}

#[test]
fn a_limit_that_is_too_far_from_every_number_is_refused() {
    for limit in
        ["1e9999999999999999999999999999999999999", "-1e-9999999999999999999999999999999999999"]
    {
        let test = ArgumentTest::at_least(limit);
        let problem = refused_rule(Rule::deny("no").tool("send_mail").argument("/copies", test));
        assert!(problem.contains(&format!("the limit `{limit}`")), "{problem}");
    }
}

#[test]
fn a_rule_that_decides_nothing_says_what_it_would_do() {
    let told = |mode, rule: Rule, case: Case| {
        let policy = policy(bare().mode(mode).rule(rule.named("r")));
        policy.explain(&case.question()).to_string()
    };
    let allow = || Rule::allow("it is wanted").tool("send_mail");
    let silent = told(Mode::Unrestricted, allow(), Case::of("send_mail"));
    assert!(silent.contains("rule `r` would allow it"), "{silent}");
    let decides = told(Mode::Interactive, allow(), Case::of("send_mail"));
    assert!(decides.contains("rule `r` allows it"), "{decides}");
    let dangerous = Case::of("send_mail").danger(Danger::Dangerous);
    let deny = Rule::deny("it is unwanted").tool("send_mail");
    let both = told(Mode::Strict, deny, dangerous.clone());
    assert!(both.contains("the mode `strict` would refuse dangerous calls"), "{both}");
    let mode_alone = told(Mode::Strict, allow(), dangerous);
    assert!(mode_alone.contains("the mode `strict` refuses dangerous calls"), "{mode_alone}");
}

#[test]
fn a_question_is_shown_by_its_tool_and_without_its_arguments() {
    let case = Case::of("send_mail").arguments(r#"{"to":["hunter2"]}"#);
    assert_eq!(
        format!("{:?}", case.question()),
        "Question { tool: \"send_mail\", danger: Moderate, effect: Once, principal: None, .. }"
    );
}

#[test]
fn no_flag_at_all_may_be_what_is_allowed() {
    let test = ArgumentTest::only_flags([""; 0]);
    let policy = policy(bare().rule(Rule::allow("yes").tool("send_mail").argument("/to", test)));
    let word = |arguments: &str| Case::of("send_mail").arguments(arguments).word(&policy);
    assert_eq!(word(r#"{"to":["emma"]}"#), "allow");
    assert_eq!(word(r#"{"to":["emma","-f"]}"#), "ask");
}
