//! Rules name what is there, or what may come.

use toolwright::policy::{ArgumentTest, Mode, PolicyBuilder, Rule};
use toolwright::{Danger, DynamicTool, Registry, ToolError};

use super::scene::{Case, bare, catalog, policy, refused_rule};

fn one() -> ArgumentTest {
    ArgumentTest::equals("1")
}

fn is_taken(builder: PolicyBuilder) -> bool {
    builder.build(&catalog()).is_ok()
}

#[test]
fn an_argument_that_no_tool_has_is_told_whoever_the_rule_is_for() {
    let rules = [
        Rule::deny("no").argument("/copy", one()),
        Rule::deny("no").tool("*").argument("/copy", one()),
        Rule::deny("no").tool("send_mail").argument("/copy", one()),
    ];
    for rule in rules {
        let problem = refused_rule(rule.clone());
        assert!(problem.contains("has an argument `copy`; did you mean `copies`"), "{problem}");
    }
}

#[test]
fn an_argument_may_be_one_of_a_tool_that_comes_later() {
    let registered_later = || bare().registered_later("mcp_*");
    for taken in [
        Rule::deny("no").argument("/copy", one()),
        Rule::deny("no").tool("*").argument("/copy", one()),
        Rule::deny("no").tool("mcp_mail").argument("/copy", one()),
        Rule::deny("no").tool("send_mail").tool("mcp_mail").argument("/copy", one()),
    ] {
        assert!(is_taken(registered_later().rule(taken.clone())), "{taken:?}");
    }
    let here = Rule::deny("no").tool("send_mail").argument("/copy", one());
    assert!(!is_taken(registered_later().rule(here)));
}

#[test]
fn a_tool_that_takes_any_argument_has_every_one() {
    let schema = serde_json::json!({"type": "object", "additionalProperties": {"type": "string"}});
    let open =
        DynamicTool::new("open", "Takes anything.", schema, |_: serde_json::Value, _| async {
            Ok::<_, ToolError>("")
        });
    let catalog = Registry::of([open]).expect("a registry").catalog();
    let rule = Rule::deny("no").tool("open").argument("/copy", one());
    assert!(bare().rule(rule).build(&catalog).is_ok());
}

#[test]
fn a_danger_that_no_tool_of_the_rule_has_is_told() {
    let at_least = |tool: &str, danger| Rule::deny("no").tool(tool).danger_at_least(danger);
    for taken in [Danger::Safe, Danger::Moderate, Danger::Dangerous] {
        assert!(is_taken(bare().rule(at_least("bash", taken))), "{taken:?}");
    }
    let problem = refused_rule(at_least("bash", Danger::Critical).named("worse"));
    assert_eq!(problem, "rule `worse`: no tool has all that it selects by");
    for rule in [Rule::deny("no").group("mail"), Rule::deny("no").tag("reading")] {
        let problem = refused_rule(rule.danger_at_least(Danger::Critical).named("worse"));
        assert_eq!(problem, "rule `worse`: no tool has all that it selects by");
    }
}

#[test]
fn the_name_of_a_tool_is_not_empty() {
    let problem = refused_rule(Rule::deny("no").named("nothing").tool(""));
    assert!(problem.contains("rule `nothing`: the name of a tool is empty"), "{problem}");
}

#[test]
fn a_star_is_every_tool_whatever_is_in_its_name() {
    let free = || bare().mode(Mode::Unrestricted);
    let every = policy(free().rule(Rule::deny("no").tool("*")));
    for tool in ["bash", "github/delete_repo", "mcp/github/delete.repo"] {
        assert_eq!(Case::of(tool).word(&every), "deny", "{tool}");
    }
    let some = Rule::deny("no").tool("*delete*");
    let some = policy(free().registered_later("github/*").rule(some));
    assert_eq!(Case::of("github/delete_repo").word(&some), "deny");
    assert_eq!(Case::of("github/read_repo").word(&some), "allow");
}

#[test]
fn a_tool_of_any_name_may_arrive() {
    let rule = Rule::deny("no").tool("github/delete_repo").argument("/repo", one());
    assert!(is_taken(bare().registered_later("*").rule(rule)));
}
