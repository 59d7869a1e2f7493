//! The policy of the agent, as its README shows it, and the commands that ask about it.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

/// What a command left behind.
struct Ran {
    code: i32,
    out: String,
    err: String,
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn run(words: &[&str]) -> Ran {
    let mut command = Command::new(env!("CARGO_BIN_EXE_workspace"));
    let output = command.args(words).current_dir(root()).output().unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    Ran { code: output.status.code().unwrap(), out: text(output.stdout), err: text(output.stderr) }
}

/// A file that lies where the agent does not work.
fn file(name: &str, text: &str) -> String {
    let file = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    fs::write(&file, text).unwrap();
    file.display().to_string()
}

const CASES: &str = "examples/workspace/policy-cases.jsonl";

/// A word of a command line, or one in single quotes.
fn words(line: &str) -> Vec<&str> {
    let mut words = Vec::new();
    for (index, part) in line.split('\'').enumerate() {
        match index % 2 {
            0 => words.extend(part.split_whitespace()),
            _ => words.push(part),
        }
    }
    words
}

#[test]
fn the_readme_shows_what_the_commands_print() {
    let readme = fs::read_to_string(root().join("examples/workspace/README.md")).unwrap();
    let blocks: Vec<&str> = readme.split("```console\n").skip(1).collect();
    assert!(blocks.len() >= 3, "{} blocks", blocks.len());
    for block in blocks {
        let (block, _) = block.split_once("```").unwrap();
        let (line, shown) = block.split_once('\n').unwrap();
        let ran = run(&words(line.strip_prefix("$ workspace ").unwrap()));
        assert_eq!(format!("{}{}", ran.out, ran.err), shown, "{line}");
    }
}

#[test]
fn every_case_holds_and_so_does_every_example() {
    let ran = run(&["policy", "test", CASES]);
    assert_eq!((ran.code, ran.err.as_str()), (0, ""), "{}", ran.out);
    insta::assert_snapshot!(ran.out);
    let json = run(&["policy", "test", CASES, "--output", "json"]);
    let lines: Vec<Value> =
        json.out.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let (last, cases) = lines.split_last().unwrap();
    assert!(cases.len() >= 30 && cases.iter().all(|it| it["holds"] == true), "{}", json.out);
    assert_eq!((&last["cases"], &last["failed"]), (&cases.len().into(), &0.into()));
}

/// The file that is built in is the one that can be checked.
#[test]
fn the_policy_is_the_same_from_its_file() {
    let file = ["policy", "check", "examples/workspace/policy.toml"];
    let (own, read) = (run(&["policy", "check"]), run(&file));
    let rules = |ran: &Ran| {
        let lines = ran.out.lines().filter(|it| !it.contains("protect-policy"));
        lines.map(str::to_owned).collect::<Vec<_>>()
    };
    assert_eq!((own.code, read.code), (0, 0), "{}", read.err);
    let of_rules = |lines: Vec<String>| lines.into_iter().skip_while(|it| !it.starts_with("SAYS"));
    assert!(of_rules(rules(&own)).eq(of_rules(rules(&read))));
}

#[test]
fn every_rule_has_examples_of_both_sorts() {
    let text = fs::read_to_string(root().join("examples/workspace/policy.toml")).unwrap();
    let count = |what: &str| text.lines().filter(|line| line.starts_with(what)).count();
    let rules = count("[[");
    assert!(rules >= 12, "{rules} rules");
    assert_eq!((count("matches = "), count("does_not_match = ")), (rules, rules));
}

#[test]
fn a_case_that_does_not_hold_is_told_with_what_was_found() {
    let cases = file(
        "failing.jsonl",
        r#"{"tool":"read_file","arguments":{"path":"README.md"},"expect":"allow"}
{"tool":"run_command","arguments":{"program":"sudo"},"expect":"ask"}
{"tool":"run_command","arguments":{"program":"rm"},"expect":"always_ask","because":"push"}
{"tool":"raed_file","expect":"deny"}
{"tool":"read_file","arguments":{"pth":"README.md"},"expect":"deny"}
"#,
    );
    let ran = run(&["policy", "test", &cases]);
    assert_eq!((ran.code, ran.err.as_str()), (1, ""));
    insta::assert_snapshot!(ran.out.replace(&cases, "failing.jsonl"));
}

#[test]
fn cases_that_cannot_be_read_are_told_with_their_lines_and_exit_code_2() {
    let cases = file("wrong.jsonl", "{\"tool\":\"a\",\"expct\":\"ask\"}\nno json\n");
    let ran = run(&["policy", "test", &cases]);
    assert_eq!((ran.code, ran.out.as_str()), (2, ""));
    insta::assert_snapshot!(ran.err.replace(&cases, "wrong.jsonl"));
    let missing = run(&["policy", "test", "missing.jsonl"]);
    assert!(missing.code == 2 && missing.err.contains("`missing.jsonl`"), "{}", missing.err);
}

#[test]
fn a_policy_that_is_wrong_is_told_with_its_places_and_exit_code_2() {
    let text = "version = 1\nmode = \"interactiv\"\n\n[[deny]]\nname = \"no\"\nreason = \"no\"\n\
                tool = \"run_comand\"\narguments = { \"/programm\" = { equals = 1 } }\n";
    let wrong = file("wrong.toml", text);
    for words in [
        &["policy", "check", &wrong][..],
        &["policy", "test", CASES, "--policy", &wrong],
        &["policy", "explain", "read_file", r#"{"path":"a"}"#, "--policy", &wrong],
    ] {
        let ran = run(words);
        assert_eq!((ran.code, ran.out.as_str()), (2, ""), "{words:?}");
        insta::assert_snapshot!("a_wrong_policy", ran.err.replace(&wrong, "wrong.toml"));
    }
}

#[test]
fn another_policy_takes_the_place_of_the_applications_for_one_question() {
    let rule = "version = 1\n[[deny]]\nname = \"not-for-jane\"\nreason = \"she is away\"\n\
                tool = \"*\"\nprincipal = \"jane\"\n";
    let other = file("other.toml", rule);
    let verdict = |more: &[&str]| {
        let words =
            ["policy", "explain", "read_file", r#"{"path":"README.md"}"#, "--output", "json"];
        let ran = run(&[&words, more].concat());
        let told: Value = serde_json::from_str(&ran.out).unwrap_or_else(|_| panic!("{}", ran.err));
        (told["verdict"].clone(), told["because"].clone())
    };
    let allow = (Value::from("allow"), serde_json::json!(["mode"]));
    assert_eq!(verdict(&[]), allow);
    assert_eq!(verdict(&["--user", "jane"]), allow);
    assert_eq!(verdict(&["--policy", &other]), allow);
    let deny = (Value::from("deny"), serde_json::json!(["not-for-jane"]));
    assert_eq!(verdict(&["--policy", &other, "--user", "jane"]), deny);
}

#[test]
fn a_call_that_no_rule_is_asked_about_cannot_be_explained() {
    let unknown = run(&["policy", "explain", "raed_file"]);
    assert_eq!((unknown.code, unknown.out.as_str()), (2, ""));
    assert!(unknown.err.contains("read_file"), "{}", unknown.err);
    let wrong = run(&["policy", "explain", "read_file", r#"{"pth":"a"}"#]);
    assert_eq!((wrong.code, wrong.out.as_str()), (2, ""));
    assert!(wrong.err.starts_with("error: invalid_input: "), "{}", wrong.err);
}

#[test]
fn the_help_of_the_commands_reads_well() {
    let help = ["check", "explain", "test"].map(|it| run(&["policy", it, "--help"]).out);
    insta::assert_snapshot!([run(&["policy", "--help"]).out, help.join("\n")].join("\n"));
}
