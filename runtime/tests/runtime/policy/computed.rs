//! Tools whose danger depends on the call, in the examples of rules.

use toolwright::policy::{Example, PolicyBuilder, Rule};
use toolwright::{Danger, Registry, tool};

use super::scene::bare;

fn of(amount: u64) -> Danger {
    if amount > 100 { Danger::Critical } else { Danger::Safe }
}

/// Pays.
#[tool(danger = of(amount))]
#[expect(unused_variables, reason = "the tool is never run")]
async fn pay(
    /// How much.
    amount: u64,
) {
}

fn problem(builder: PolicyBuilder) -> Option<String> {
    let catalog = Registry::of([PAY]).expect("a tool").catalog();
    builder.build(&catalog).err().map(|it| it.to_string())
}

#[test]
fn an_example_says_its_danger_where_the_rule_asks_for_one_and_the_tool_cannot_tell() {
    let example = || Example::new("pay", r#"{"amount":1}"#);
    let rule = || Rule::deny("no").named("money").tool("pay");
    assert_eq!(problem(bare().rule(rule().matches(example()))), None);
    let asking = [rule().danger(Danger::Critical), rule().danger_at_least(Danger::Dangerous)];
    for rule in asking {
        let silent = problem(bare().rule(rule.clone().matches(example()))).expect("no danger");
        assert!(silent.contains("the danger of `pay` depends on the call"), "{silent}");
        let told = rule
            .matches(example().danger(Danger::Critical))
            .does_not_match(example().danger(Danger::Safe));
        assert_eq!(problem(bare().rule(told)), None);
    }
}
