//! Policies that cannot be used, with every problem at its place.

use toolwright::policy::{Mode, Policy, Rule};

use super::scene::{bare, refused, refused_rule};

fn told(text: &str) -> String {
    refused(Policy::builder().text("policy.toml", text)).to_string()
}

#[test]
fn an_empty_list_is_told_whatever_it_is_of() {
    for key in ["tool", "tag", "danger", "effect"] {
        let told = told(&format!("version = 1\n[[deny]]\nreason = \"r\"\n{key} = []\n"));
        assert!(told.contains("has an empty list, which nothing matches"), "{key}: {told}");
    }
}

#[test]
fn every_problem_of_a_file_is_told_at_its_place() {
    insta::assert_snapshot!(told(
        r#"
version = 2
mode = "interactiv"
plan = "yes"
rots = ["."]
protections_off = ["protect-gti", 3]
arriving = { tool = ["mcp_*"] }

[[deny]]
name = "one"
tool = ["write_fil", "write_*"]
group = "files"
tag = "writin"
danger = ["safe", "deadly"]
danger_at_least = 3
effect = "twice"
wirtes = ["a"]

[[ask]]
name = "one"
reason = " "
tool = []

[[allow]]
reason = "everything"

[[allow]]
name = "wishful"
reason = "a mail cannot be safe"
tool = "send_mail"
danger = "critical"
when_unknown = "ask"
"#
    ));
}

#[test]
fn tests_of_arguments_are_told_at_their_place() {
    insta::assert_snapshot!(told(
        r#"
version = 1

[[deny]]
reason = "r"
tool = "send_mail"
[deny.arguments]
"/copies" = { at_least = "1", at_most = 0xff, more_then = 3 }
"/attachment" = { glob = ["a/[b", "ä/**/../c"], under = 1 }
"/too" = { equals = "emma" }
to = { contains = ["emma"] }
"/to" = {}

[[deny]]
reason = "r"
tool = "send_mail"
arguments = { "/copies" = 1, "/to" = { one_of = [2026-01-01, inf], contains = "emma" } }
"#
    ));
}

#[test]
fn examples_that_say_otherwise_are_told_with_rule_and_number() {
    insta::assert_snapshot!(told(
        r#"
version = 1

[[deny]]
name = "few"
reason = "nobody wants so much mail"
tool = "send_mail"
arguments = { "/copies" = { more_than = 3 } }
matches = [
    { tool = "send_mail", arguments = { copies = 4 } },
    { tool = "send_mail", arguments = { copies = 3 } },
    { tool = "send_mial", arguments = { copies = 4 } },
    { tool = "send_mail", arguments = { copys = 4 } },
    { tool = "send_mail", argument = { copies = 4 } },
    { arguments = { copies = 4 } },
]
does_not_match = [
    { tool = "send_mail" },
    { tool = "send_mail", arguments = { copies = 3.0000000000000000000001 } },
    { tool = "bash", arguments = { command = "mail" } },
]

[[allow]]
name = "sources"
reason = "they are kept"
writes = ["src/**"]
matches = [{ tool = "write_file", arguments = { path = "src/a" } }, { tool = "write_file", writes = ["src/a", "b"] }]
"#
    ));
}

#[test]
fn broken_toml_is_told_by_every_mistake() {
    insta::assert_snapshot!(told("version = 1\nmode = \n\n[[deny]\nreason = \"r\ntool = 'x'\n"));
}

#[test]
fn a_file_says_for_which_format_it_is_written() {
    insta::assert_snapshot!(told("mode = \"strict\"\n"));
}

#[test]
fn the_column_counts_characters() {
    let text = "version = 1\n[[deny]]\nreason = \"äöü\"\ntool = [\"größe\", \"x\"]\n";
    let error = refused(Policy::builder().text("p", text));
    let places: Vec<String> = error
        .problems()
        .iter()
        .filter_map(|it| it.place.as_ref())
        .map(ToString::to_string)
        .collect();
    assert_eq!(places, ["p:4:9", "p:4:18"]);
}

#[test]
fn rules_in_code_are_told_by_name() {
    let problems = [
        Rule::deny("").named("empty").tool("bash"),
        Rule::ask("r"),
        Rule::ask("r").named("ghost").tool("send_mails"),
        Rule::ask("r").group("mial"),
        Rule::ask("r").named("never").tool("clock").group("mail"),
        Rule::ask("r").writes("a/../b"),
        Rule::ask("r").writes("/etc/**"),
        Rule::ask("r").tool("[a"),
    ]
    .map(refused_rule);
    insta::assert_snapshot!(problems.join("\n"));
}

#[test]
fn names_and_modes_are_given_once() {
    let rule = || Rule::deny("r").named("twice").tool("bash");
    let text = "version = 1\nmode = \"unrestricted\"\n";
    let error = refused(bare().mode(Mode::Strict).text("p", text).rules([rule(), rule()]));
    insta::assert_snapshot!(error.to_string());
    let reserved = refused_rule(Rule::deny("r").named("protect-git").tool("bash"));
    assert_eq!(reserved, "two rules are called `protect-git`: give each a name of its own");
}

#[test]
fn tools_that_come_later_may_be_named() {
    let text = "version = 1\n[arriving]\ntools = [\"mcp_*\"]\n[[deny]]\nreason = \"r\"\ntool = \"mcp_mail_send\"\n\
                arguments = { \"/to\" = { equals = \"emma\" } }\n\
                matches = [{ tool = \"mcp_mail_send\", arguments = { to = \"emma\" } }]\n";
    let policy = super::scene::policy(bare().text("p", text));
    let mail = super::scene::Case::of("mcp_mail_send").arguments(r#"{"to":"emma"}"#);
    assert_eq!(mail.word(&policy), "deny");
}
