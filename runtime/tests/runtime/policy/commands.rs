//! Rules over programs and their arguments, and over what such calls touch.
#![expect(unused_variables, reason = "the tools are never run")]

use serde_json::json;
use toolwright::policy::{ArgumentTest, Mode, Policy, PolicyBuilder, Rule};
use toolwright::{Catalog, Danger, Registry, tool};

use super::scene::Case;

/// Runs a program.
#[tool(effect = once, danger = dangerous)]
async fn run_command(
    /// Which.
    program: String,
    /// Its arguments.
    args: Vec<String>,
) {
}

/// Writes a file.
#[tool(effect = idempotent, writes(file = path))]
async fn write_file(
    /// Which.
    path: String,
) {
}

fn catalog() -> Catalog {
    Registry::of([RUN_COMMAND, WRITE_FILE]).expect("tools of different names").catalog()
}

fn made(builder: PolicyBuilder) -> Policy {
    builder.base("/srv").build(&catalog()).unwrap_or_else(|error| panic!("{error}"))
}

fn command(program: &str, args: &[&str]) -> Case {
    Case::of("run_command")
        .danger(Danger::Dangerous)
        .undeclared()
        .arguments(&json!({"program": program, "args": args}).to_string())
}

/// `cargo check` and `cargo fmt --check` of a policy whose protections hold.
fn cargo() -> Rule {
    Rule::allow("it only builds")
        .named("cargo")
        .tool("run_command")
        .argument("/program", ArgumentTest::equals("\"cargo\""))
        .argument("/args", ArgumentTest::begins([r#"["check"]"#, r#"["fmt","--check"]"#]))
        .argument("/args", ArgumentTest::only_flags(["--check", "--locked", "-p"]))
}

#[test]
fn an_allowance_is_for_the_words_it_begins_with_and_the_flags_it_names() {
    let policy = made(super::scene::bare().rule(cargo()));
    for args in [&["check"][..], &["check", "--locked", "-p", "a"], &["fmt", "--check"]] {
        assert_eq!(command("cargo", args).word(&policy), "allow", "{args:?}");
    }
    for args in [
        &[][..],
        &["fmt"],
        &["checks"],
        &["-p", "check"],
        &["CHECK"],
        &["check", "--config", "build.rustc='evil'"],
        &["check", "--config=build.rustc='evil'"],
        &["check", "-Zx"],
        &["check", "--", "--config=a"],
        &["+nightly", "check"],
        &["check", "+nightly"],
    ] {
        assert_eq!(command("cargo", args).word(&policy), "ask", "{args:?}");
    }
    for program in ["CARGO", "/usr/bin/cargo", "./cargo", "cargo ", ""] {
        assert_eq!(command(program, &["check"]).word(&policy), "ask", "{program}");
    }
    for arguments in [
        r#"{"program":"cargo","args":"check"}"#,
        r#"{"program":"cargo","args":["check",1]}"#,
        r#"{"program":"cargo","args":null}"#,
        r#"{"program":"cargo"}"#,
        r#"{"program":["cargo"],"args":["check"]}"#,
    ] {
        assert_eq!(command("", &[]).arguments(arguments).word(&policy), "ask", "{arguments}");
    }
}

#[test]
fn a_prohibition_finds_a_program_in_any_folder_and_a_flag_in_any_spelling() {
    let force = Rule::deny("commits would be lost")
        .named("force")
        .tool("run_command")
        .argument("/program", ArgumentTest::glob(["git"]))
        .argument("/args", ArgumentTest::contains(["\"push\""]))
        .argument("/args", ArgumentTest::flags(["--force", "-f", "+"]));
    let policy = made(super::scene::bare().mode(Mode::Unrestricted).rule(force));
    for (program, args) in [
        ("git", &["push", "--force"][..]),
        ("GIT", &["push", "-f"]),
        ("/usr/bin/git", &["-C", "..", "push", "-uf"]),
        ("./git", &["push", "origin", "+main"]),
        ("bin/../git", &["push", "--forc"]),
    ] {
        assert_eq!(command(program, args).word(&policy), "deny", "{program} {args:?}");
    }
    for (program, args) in
        [("git", &["push"][..]), ("git", &["log", "-f"]), ("gitk", &["push", "-f"])]
    {
        assert_eq!(command(program, args).word(&policy), "allow", "{program} {args:?}");
    }
    let of_another_kind = r#"{"program":"git","args":"push -f"}"#;
    assert_eq!(command("", &[]).arguments(of_another_kind).word(&policy), "deny");
}

#[test]
fn a_program_is_asked_about_unless_a_rule_says_what_it_touches() {
    let call = command("cargo", &["check"]);
    assert_eq!(call.word(&made(Policy::builder().rule(cargo()))), "ask");
    let touching = |writes: &str| {
        let rule = cargo().touches(["src"], [writes]);
        made(Policy::builder().root("/srv").rule(rule))
    };
    assert_eq!(call.word(&touching("target")), "allow");
    assert_eq!(call.word(&touching("target/.git")), "deny");
    assert_eq!(call.word(&touching("../elsewhere")), "deny");
    assert_eq!(call.word(&touching(".")), "ask", "it may be any file of the folder");
    let other = command("cargo", &["check", "--config", "x"]);
    assert_eq!(other.word(&touching("target")), "ask");
    let unread = call.clone().arguments("{");
    assert_eq!(unread.word(&touching("target")), "ask");
}

#[test]
fn what_a_call_says_itself_counts_more_than_what_a_rule_says() {
    let rule = Rule::allow("it is harmless").tool("write_file").touches([""; 0], [""; 0]);
    let policy = made(Policy::builder().rule(rule));
    assert_eq!(Case::of("write_file").writing(".git/config").word(&policy), "deny");
}

#[test]
fn what_two_rules_say_counts_together() {
    let again = Rule::allow("it is cargo")
        .named("again")
        .tool("run_*")
        .argument("/program", ArgumentTest::equals("\"cargo\""))
        .touches(["src"], [".env"]);
    let rules = [cargo().touches(["src"], ["target"]), again];
    let policy = made(Policy::builder().rules(rules));
    let call = command("cargo", &["check"]);
    assert_eq!(call.word(&policy), "deny");
    insta::assert_snapshot!(policy.explain(&call.question()));
}

#[test]
fn tests_of_commands_that_would_say_less_than_they_seem_to_are_refused() {
    let text = r#"
version = 1

[[deny]]
reason = "r"
tool = "run_command"
arguments = { "/args" = { begins = [["push"]] } }

[[ask]]
reason = "r"
tool = "run_command"
arguments = { "/args" = { only_flags = ["-a"] } }
touches = { reads = [], writes = [] }

[[allow]]
reason = "r"
tool = "run_command"
arguments = { "/args" = { flags = ["-a"] } }

[[allow]]
reason = "r"
tool = "run_command"
arguments = { "/args" = { begins = [[], "test"], only_flags = ["release", "--a=b", "--"] } }
touches = { reads = ["src/*"] }

[[allow]]
reason = "r"
effect = "once"
writes = ["a"]
touches = { reads = ["src/*", "~/a"], writes = [""] }

[[allow]]
reason = "r"
tool = "run_command"
touches = ["src"]

[[allow]]
reason = "r"
tool = "run_command"
touches = { reads = [], writes = [], wirtes = [] }
"#;
    let policy = Policy::builder().text("policy.toml", text).build(&catalog());
    insta::assert_snapshot!(policy.expect_err("a policy that cannot be used"));
}
