//! The command line, by a program with a parameter of every kind: `tests/examples/shop.rs`.

use std::io::{Read, Write};
use std::process::Child;

use serde_json::{Value, json};

use crate::shop::{example, shop};

/// What a command left behind.
struct Ran {
    code: i32,
    out: String,
    err: String,
}

impl Ran {
    fn json(&self) -> Value {
        serde_json::from_str(&self.out).unwrap_or_else(|_| panic!("{}{}", self.out, self.err))
    }
}

fn ended(child: Child) -> Ran {
    let output = child.wait_with_output().unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    Ran { code: output.status.code().unwrap(), out: text(output.stdout), err: text(output.stderr) }
}

fn run_with(arguments: &[&str], input: &str) -> Ran {
    let mut child = shop().args(arguments).env("CARD", "1234").spawn().unwrap();
    // A command that does not read its input may have ended already.
    let _ = child.stdin.take().unwrap().write_all(input.as_bytes());
    ended(child)
}

fn run(arguments: &[&str]) -> Ran {
    run_with(arguments, "")
}

/// What the shop understood of an order.
fn order(arguments: &[&str]) -> Value {
    let mut order = run(&[&["order", "place"], arguments].concat()).json();
    order.as_object_mut().unwrap().retain(|_, value| !value.is_null());
    order
}

/// S0.36: each tool is a subcommand in the namespace of its group.
/// S0.37: a note is read from a line on.
/// S0.38: the depth of a tree is a flag.
/// S0.39: what to search for is one word in quotes.
#[test]
fn tools_stand_in_their_groups_without_the_groups_word() {
    let read = run(&["membot", "read", "notes/meeting.md", "--offset", "10", "--limit", "20"]);
    assert_eq!(read.json(), "notes/meeting.md 10 Some(20)");
    let tree = run(&["membot", "tree", "notes", "--max-depth", "3"]);
    assert_eq!(tree.json(), json!(["notes", "Some(3)"]));
    assert_eq!(run(&["membot", "search", "quarterly revenue"]).json(), "quarterly revenue");
}

/// S0.40: places and flags follow from the schema: what must be given is a place, the rest are flags.
#[test]
fn every_kind_of_parameter_is_typed_in_its_own_way() {
    let plain = json!({"item": "tea", "count": 1, "express": true, "labels": [], "sizes": []});
    let with = |more: Value| {
        let mut order = plain.clone();
        order.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        order
    };
    for (words, more) in [
        (&["tea"][..], json!({})),
        (&["--item", "tea", "-c", "2"], json!({"count": 2})),
        (&["tea", "-c", "9007199254740993"], json!({"count": 9_007_199_254_740_993_u64})),
        (&["--quantity=2", "tea"], json!({"count": 2})),
        (&["tea", "--no-express", "--gift"], json!({"express": false, "gift": true})),
        (&["tea", "--no-gift"], json!({"gift": false})),
        (&["tea", "--express", "--no-express", "--express"], json!({"express": true})),
        (&["tea", "--labels", "a b", "--labels=-c"], json!({"labels": ["a b", "-c"]})),
        (&["tea", "--sizes", "-1.5", "--sizes", "2"], json!({"sizes": [-1.5, 2.0]})),
        (
            &["tea", "--address", r#"{"street": "High", "number": 7}"#],
            json!({"address": {"street": "High", "number": 7}}),
        ),
        (&["tea", "--wrapping", "paper"], json!({"wrapping": "paper"})),
        (&["tea", "--arg-output", "home"], json!({"output": "home"})),
        (&["--", "-x"], json!({"item": "-x"})),
        (&["--json", r#"{"item": "tea", "count": 3}"#], json!({"count": 3})),
    ] {
        assert_eq!(order(words), with(more), "{words:?}");
    }
}

#[test]
fn a_required_scalar_is_a_place_and_a_flag() {
    let in_its_place = order(&["tea", "-c", "2"]);
    assert_eq!(in_its_place["item"], "tea");
    assert_eq!(order(&["--item", "tea", "-c", "2"]), in_its_place);
    assert_eq!(order(&["-c", "2", "--item=tea"]), in_its_place);
    let both = run(&["order", "place", "coffee", "--item", "tea"]);
    assert_eq!((both.code, both.out.as_str()), (2, ""));
    let none = run(&["order", "place"]);
    assert_eq!((none.code, none.out.as_str()), (2, ""));
    assert!(none.err.contains("<ITEM>"), "{}", none.err);
    assert!(both.err.contains("'--item <ITEM>'"), "{}", both.err);
    for help in ["-h", "--help"] {
        let help = run(&["order", "place", help]).out;
        assert!(help.contains("What to order") && help.contains("[also: --item]"), "{help}");
    }
}

#[test]
fn help_lists_the_values_of_an_enum() {
    let short = run(&["order", "place", "-h"]).out;
    assert!(short.contains("--wrapping <CHOICE>  How to wrap it [one of: paper, none]"), "{short}");
    let long = run(&["order", "place", "--help"]).out;
    for words in ["--wrapping <CHOICE>", "One of:", "- paper: In paper", "- none: Not at all"] {
        assert!(long.contains(words), "{words} in {long}");
    }
}

/// S2.19: the command line adapts to what only a schema says, as that of one type for the whole input.
#[test]
fn the_flags_of_a_whole_input_come_from_its_schema() {
    let found = run(&["order", "find", "tea", "--limit", "3"]);
    assert_eq!(found.json(), "nothing like `tea` among 3");
    let found = run(&["order", "find", "tea", "--output", "text"]);
    assert_eq!(found.out, "nothing like `tea` among 0\n");
    let help = run(&["order", "find", "--help"]).out;
    assert!(help.contains("<TEXT>\n          A part of its name."), "{help}");
}

#[test]
fn values_are_judged_by_the_tool_and_not_by_the_command_line() {
    let ran =
        run(&["order", "place", "tea", "-c", "ten", "--wrapping", "silk", "--address", "home"]);
    assert_eq!((ran.code, ran.out.as_str()), (2, ""));
    for words in [
        r#"/count: found "ten", expected an integer"#,
        r#"/wrapping: found "silk", expected one of"#,
        r#"/address: found "home", expected an object"#,
    ] {
        assert!(ran.err.contains(words), "{}", ran.err);
    }
}

#[test]
fn the_whole_input_comes_from_an_argument_a_stream_or_a_file() {
    let input = r#"{"item":"tea","count":3}"#;
    let file = std::env::temp_dir().join(format!("order-{}.json", std::process::id()));
    std::fs::write(&file, input).unwrap();
    let typed = run(&["order", "place", "--json", input]);
    let streamed = run_with(&["order", "place", "--json", "-"], input);
    let from_file = run(&["order", "place", "--json", &format!("@{}", file.display())]);
    std::fs::remove_file(&file).unwrap();
    assert_eq!(typed.json()["count"], 3);
    assert_eq!((&typed.out, &typed.out), (&streamed.out, &from_file.out));
    let named = run(&["order", "place", "--item", "tea", "tea"]);
    assert_eq!((named.code, named.out.as_str()), (2, ""), "a place and its flag");
    let both = run(&["order", "place", "tea", "--json", input]);
    assert_eq!((both.code, both.out.as_str()), (2, ""));
    assert_eq!(run(&["order", "place", "--json", "@missing.json"]).code, 2);
}

#[test]
fn a_secret_need_not_be_typed_and_is_not_shown() {
    for ran in [
        run(&["order", "pay", "--card", "1234"]),
        run(&["order", "pay", "--card-env", "CARD"]),
        run_with(&["order", "pay", "--card-stdin"], "1234\r\n"),
    ] {
        assert_eq!(ran.json(), "paid with a card of 4 digits", "{}", ran.err);
    }
    let missing = run(&["order", "pay"]);
    assert!(missing.code == 2 && missing.err.contains("--card <TEXT>"), "{}", missing.err);
    let unset = run(&["order", "pay", "--card-env", "NO_SUCH_CARD"]);
    assert!(unset.code == 2 && unset.err.contains("`NO_SUCH_CARD`"), "{}", unset.err);
    for whole in [&["--card", "1234"][..], &["--json", r#"{"card": "1234"}"#]] {
        let shown = run(&[&["order", "pay", "--dry-run"], whole].concat());
        assert_eq!(shown.json()["arguments"], json!({"card": "[secret]"}));
    }
}

/// S4.33: what a tool needs is in its flags; standard input is not read unless a flag says so.
/// S4.34: the result on standard output is JSON.
/// S4.35: success is 0, and every failure has another code.
/// S4.36: words for people are on standard error.
/// S4.37: nobody is asked, not even where a person would have to agree.
#[test]
fn a_call_is_over_without_a_question_and_its_code_says_how() {
    // Standard input stays open, so that a question would be waited for.
    let run = |arguments: &[&str]| {
        let mut child = shop().args(arguments).spawn().unwrap();
        let open = child.stdin.take();
        let ran = ended(child);
        drop(open);
        ran
    };
    let paid = run(&["order", "pay", "--card", "1"]);
    assert_eq!((paid.code, paid.err.as_str()), (0, ""));
    assert_eq!(paid.json(), "paid with a card of 1 digits");
    let refused = run(&["order", "cancel"]);
    assert_eq!((refused.code, refused.out.as_str()), (3, ""));
    assert!(refused.err.contains("approval_required: `cancel_order` needs"), "{}", refused.err);
    for (arguments, code) in [(&["order", "pay"][..], 2), (&["order", "pay", "--json", "[]"], 2)] {
        let ran = run(arguments);
        assert_eq!((ran.code, ran.out.as_str()), (code, ""), "{arguments:?}");
        assert!(ran.err.starts_with("error: "), "{}", ran.err);
    }
}

#[test]
fn a_dry_run_shows_the_call_and_runs_nothing() {
    let shown = run(&["order", "cancel", "--dry-run"]);
    assert_eq!((shown.code, shown.err.as_str()), (0, ""));
    assert_eq!(
        shown.json(),
        json!({
            "tool": "cancel_order",
            "command": "order cancel",
            "arguments": {},
            "repairs": [],
            "danger": "critical",
            "approval": "nothing brings them back",
            "reads": [],
            "writes": "everything",
        })
    );
    let mended =
        run(&["order", "place", "--json", r#"{"item":"tea","Count":"2"}"#, "--dry-run"]).json();
    assert_eq!(mended["arguments"], json!({"item": "tea", "count": 2}));
    assert_eq!(
        mended["repairs"],
        json!([
            "/Count: \"Count\" became \"count\" (key_spelling)",
            "/count: \"2\" became 2 (integer)"
        ])
    );
    let secret = run(&["order", "pay", "--json", r#"{"Card":1234}"#, "--dry-run"]);
    assert!(secret.code == 0 && !secret.out.contains("1234"), "{}", secret.out);
    let wrong = run(&["order", "place", "tea", "-c", "0", "--dry-run"]);
    assert!(wrong.code == 2 && wrong.err.contains("/count: found 0"), "{}", wrong.err);
}

#[test]
fn yes_approves_the_call_that_is_typed() {
    let refused = run(&["order", "cancel"]);
    assert_eq!((refused.code, refused.out.as_str()), (3, ""));
    assert!(
        refused.err.contains("hint: nothing ran; standard input is no terminal"),
        "{}",
        refused.err
    );
    assert!(
        refused.err.contains("`--yes`") && !refused.err.contains("caused by"),
        "{}",
        refused.err
    );
    let approved = run(&["order", "cancel", "--yes"]);
    assert_eq!((approved.code, approved.err.as_str()), (0, "every order is cancelled\n"));
    let help = run(&["order", "cancel", "--help"]).out;
    assert!(
        help.contains("back); the terminal asks, or give --yes") && help.contains("      --yes\n"),
        "{help}"
    );
}

#[test]
fn the_version_is_that_of_the_package_with_the_tools() {
    let version = run(&["--version"]);
    assert_eq!((version.code, version.err.as_str()), (0, ""));
    assert_eq!(version.out, concat!("shop ", env!("CARGO_PKG_VERSION"), "\n"));
}

#[test]
fn a_command_is_suggested_by_the_name_of_its_tool_and_from_another_level() {
    for (typed, meant) in [
        (&["place_order"][..], "'order place'"),
        (&["cancel"], "'order cancel'"),
        (&["order", "membot-tree"], "'membot tree'"),
        (&["plcae-order"], "'order place'"),
        (&["serach"], "'membot search'"),
        (&["wiat"], "'wait'"),
    ] {
        let ran = run(typed);
        assert_eq!((ran.code, ran.out.as_str()), (2, ""));
        assert!(ran.err.contains("similar subcommand") && ran.err.contains(meant), "{}", ran.err);
    }
}

#[test]
fn a_missing_service_stops_only_the_tools_that_need_it() {
    let run = |command: &[&str]| {
        ended(shop().args(command).env("SHOP_WITHOUT_TILL", "1").spawn().unwrap())
    };
    let found = run(&["membot", "search", "x"]);
    assert_eq!((found.code, found.err.as_str()), (0, ""));
    let stopped = run(&["wait"]);
    assert_eq!((stopped.code, stopped.out.as_str()), (70, ""));
    for words in ["it needs `&mut shop::Till`, which is not provided", "register an opener"] {
        assert!(stopped.err.contains(words), "{}", stopped.err);
    }
}

#[test]
fn a_program_without_a_linked_tool_says_what_to_write() {
    for arguments in [&["tools", "list"][..], &["--help"], &["place-order"]] {
        let ran = ended(example("unlinked").args(arguments).spawn().unwrap());
        assert_eq!((ran.code, ran.out.as_str()), (70, ""), "{arguments:?}: {}", ran.err);
        for words in ["no tool is linked", "write `toolwright::link!(my_tools);` beside `main`"] {
            assert!(ran.err.contains(words), "{}", ran.err);
        }
    }
}

/// One that is closed before the program starts, the standard library opens as one that takes everything.
#[cfg(unix)]
#[test]
fn a_result_that_cannot_be_written_is_an_error() {
    for arguments in [&["membot", "search", "x"][..], &["tools", "list"], &["completions", "zsh"]] {
        let mut command = shop();
        command.args(arguments).stdout(std::fs::File::open("/dev/null").unwrap());
        let ran = ended(command.spawn().unwrap());
        assert_eq!(ran.code, 1, "{arguments:?}");
        assert!(
            ran.err.contains("the result could not be written: Bad file descriptor"),
            "{}",
            ran.err
        );
    }
}

#[test]
fn help_marks_what_is_dangerous_and_says_when_a_person_must_agree() {
    let group = run(&["order", "--help"]).out;
    assert!(group.contains("cancel  Cancel every order [critical]"), "{group}");
    assert!(group.contains("place   Place an order\n"), "{group}");
    let tool = run(&["order", "cancel", "-h"]).out;
    assert!(tool.contains("Approval: a person must agree (nothing brings them back)"), "{tool}");
    insta::assert_snapshot!(run(&["order", "place", "-h"]).out);
}

#[test]
fn what_becomes_of_a_call_can_be_asked_of_every_application() {
    let checked = run(&["policy", "check"]);
    assert_eq!((checked.code, checked.err.as_str()), (0, ""));
    assert!(checked.out.contains("Mode:       unrestricted\n"), "{}", checked.out);
    assert!(checked.out.contains("Protected:  none\n"), "{}", checked.out);
    assert!(checked.out.ends_with("There are no rules.\n"), "{}", checked.out);
    let as_data = run(&["policy", "check", "--output", "json"]).json();
    assert_eq!((&as_data["mode"], &as_data["rules"]), (&json!("unrestricted"), &json!([])));
    let asks = run(&["policy", "explain", "cancel_order", "--output", "json"]).json();
    assert_eq!((&asks["verdict"], &asks["because"]), (&json!("ask"), &json!(["tool"])));
    let piped = run_with(&["policy", "explain", "place_order", "-"], r#"{"item":"tea"}"#);
    assert!(piped.code == 0 && piped.out.starts_with("`place_order` runs\n"), "{}", piped.err);
    let secret = run(&["policy", "explain", "pay_order", r#"{"card":"1234"}"#]);
    assert!(secret.code == 0 && !secret.out.contains("1234"), "{}{}", secret.out, secret.err);
    let missing = run(&["policy", "check", "missing.toml"]);
    assert_eq!((missing.code, missing.out.as_str()), (2, ""));
    assert!(missing.err.contains("`missing.toml` cannot be read"), "{}", missing.err);
}

#[test]
fn a_command_line_inside_a_runtime_says_what_to_take_away() {
    let child =
        shop().args(["membot", "read", "notes.md"]).env("SHOP_IN_A_RUNTIME", "1").spawn().unwrap();
    let ran = ended(child);
    assert_eq!((ran.code, ran.out.as_str()), (70, ""), "{}", ran.err);
    assert!(ran.err.contains("take `#[tokio::main]` off"), "{}", ran.err);
    assert!(!ran.err.contains("panicked"), "{}", ran.err);
}

#[test]
fn a_tool_without_a_group_stands_at_the_top() {
    let found = run(&["tools", "search", "wait", "--output", "json"]).json();
    assert_eq!((&found["command"], &found["group"]), (&json!("wait"), &Value::Null));
    let by_tag = run(&["tools", "search", "purch", "--output", "json"]).json();
    assert_eq!(by_tag["name"], "place_order");
}

#[test]
fn colours_are_left_out_where_nobody_wants_them() {
    let help = |variables: &[(&str, &str)]| {
        let mut command = shop();
        command.env_remove("NO_COLOR").envs(variables.iter().copied()).arg("--help");
        ended(command.spawn().unwrap()).out
    };
    let colour = "\u{1b}[";
    assert!(!help(&[]).contains(colour), "no terminal");
    assert!(help(&[("CLICOLOR_FORCE", "1")]).contains(colour));
    assert!(!help(&[("CLICOLOR_FORCE", "1"), ("NO_COLOR", "1")]).contains(colour));
}

#[test]
fn who_reads_the_result_may_have_had_enough() {
    for arguments in
        [&["tools", "schema"][..], &["--help"], &["membot", "search", "x"], &["completions", "zsh"]]
    {
        let mut child = shop().args(arguments).spawn().unwrap();
        drop(child.stdout.take());
        let ran = ended(child);
        assert_eq!((ran.code, ran.err.as_str()), (0, ""), "{arguments:?}");
    }
}

#[cfg(unix)]
mod signals {
    use std::process::{Command, Stdio};
    use std::time::{Duration, Instant};

    use super::*;

    fn send(child: &Child, signal: &str) {
        let sent = Command::new("kill").args([signal, &child.id().to_string()]).status().unwrap();
        assert!(sent.success());
    }

    /// A command that waits, once it does.
    fn waiting(command: &str) -> Child {
        let mut child = shop().arg(command).spawn().unwrap();
        let mut said = [0; 8];
        child.stderr.as_mut().unwrap().read_exact(&mut said).unwrap();
        assert_eq!(&said, b"waiting\n");
        child
    }

    #[test]
    fn a_signal_gives_the_call_up_and_what_it_holds_is_let_go() {
        for (signal, code) in [("-INT", 130), ("-TERM", 143)] {
            let child = waiting("wait");
            send(&child, signal);
            let ran = ended(child);
            assert_eq!((ran.code, ran.out.as_str()), (code, ""));
            let words = "the till is let go\nerror: cancelled: the call of `wait` was cancelled\n";
            assert_eq!(ran.err, words);
        }
    }

    #[test]
    fn a_second_signal_ends_what_does_not_heed_the_first() {
        let mut child = waiting("stall");
        send(&child, "-INT");
        std::thread::sleep(Duration::from_millis(300));
        assert!(child.try_wait().unwrap().is_none());
        send(&child, "-INT");
        assert_eq!(ended(child).code, 130);
    }

    #[test]
    fn a_command_that_waits_for_its_input_ends_at_the_first_signal() {
        let mut child = shop().args(["order", "find", "--json", "-"]).spawn().unwrap();
        let open = child.stdin.take();
        std::thread::sleep(Duration::from_millis(300));
        send(&child, "-INT");
        let status = child.wait().unwrap();
        drop(open);
        assert_eq!(std::os::unix::process::ExitStatusExt::signal(&status), Some(2));
    }
    /// As in the background of a script, `nohup cargo test &`.
    #[cfg(target_os = "linux")]
    #[test]
    fn the_tests_of_signals_end_where_interrupts_are_ignored() {
        let tests = std::env::current_exe().unwrap();
        let mut child = Command::new("sh")
            .args(["-c", r#"trap '' INT; exec "$0" "$@""#])
            .arg(tests)
            .args(["cli::signals::a_", "--test-threads", "1"])
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let start = Instant::now();
        while start.elapsed() < Duration::from_secs(240) {
            if let Some(status) = child.try_wait().unwrap() {
                assert!(status.success(), "{status}");
                return;
            }
            std::thread::sleep(Duration::from_millis(20));
        }
        child.kill().unwrap();
        child.wait().unwrap();
        panic!("they hang");
    }
}
