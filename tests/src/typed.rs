//! What a typed command may do: everything under `main()`, what the policy allows under `main_with`, because an agent can
//! type commands too. By `tests/examples/typed.rs`.

use crate::shop::example;

/// The exit code, standard output and standard error of a command, without quotes.
fn run(entry: &str, arguments: &[&str]) -> (i32, String, String) {
    let mut command = example("typed");
    let output = command.args(arguments).env("ENTRY", entry).output().unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap().replace('"', "");
    (output.status.code().unwrap(), text(output.stdout), text(output.stderr))
}

#[test]
fn main_runs_what_is_typed_and_says_that_it_is_unrestricted() {
    for (tool, said) in [("count", "counted A"), ("put", "put on A"), ("clear", "cleared A")] {
        let (code, out, err) = run("main", &[tool, "A"]);
        assert_eq!((code, out.trim_end()), (0, said), "{err}");
    }
    let (code, out, _) = run("main", &["policy", "explain", "clear", r#"{"shelf":"A"}"#]);
    assert!(code == 0 && out.contains("unrestricted"), "{out}");
}

/// The tool itself wants a person, which no mode takes back.
#[test]
fn main_asks_where_the_tool_does() {
    let (code, out, err) = run("main", &["burn", "A"]);
    assert_eq!((code, out.as_str()), (3, ""), "{err}");
    assert!(err.contains("approval_required") && err.contains("nothing brings it back"), "{err}");
}

#[test]
fn under_main_with_a_typed_command_is_judged_like_any_call() {
    let (code, out, err) = run("main_with", &["count", "A"]);
    assert_eq!((code, out.trim_end()), (0, "counted A"), "{err}");
    for tool in ["put", "clear", "burn"] {
        let (code, out, err) = run("main_with", &[tool, "A"]);
        assert_eq!((code, out.as_str()), (3, ""), "{tool}: {err}");
        assert!(err.contains("approval_required"), "{err}");
        assert!(err.contains("run it at a terminal, or approve it with `--yes`"), "{err}");
    }
}

#[test]
fn under_main_with_an_approver_decides_about_what_is_typed() {
    let (code, out, err) = run("asked", &["clear", "A"]);
    assert_eq!((code, out.trim_end()), (0, "cleared A"), "{err}");
    for tool in ["put", "burn"] {
        let (code, out, err) = run("asked", &[tool, "A"]);
        assert_eq!((code, out.as_str()), (1, ""), "{tool}: {err}");
        assert!(err.contains("rejected: ") && err.contains("not today"), "{err}");
    }
}
