//! Command lines: the policy shows what they run, and a sandbox changes nothing for a run that needs none.

use toolwright_agent::testing::Placeholders;

use crate::{Ran, coder, folder, run};

fn explained(line: &str) -> String {
    let input = serde_json::json!({ "command": line }).to_string();
    let ran = run(coder(&["policy", "explain", "bash", input.as_str()]));
    // Once, and only where this machine makes no sandbox.
    let is_note =
        |it: &str| it.starts_with("note: lines that are rated safe run without a sandbox: ");
    assert!(
        ran.err.is_empty() || (is_note(&ran.err) && ran.err.lines().count() == 1),
        "{}",
        ran.err
    );
    assert_eq!(ran.code, 0, "{}", ran.out);
    ran.out
}

#[test]
fn the_policy_shows_the_commands_of_a_line_and_which_rule_matches_each() {
    let build = explained("cd sub && cargo test --locked | tail -3");
    for words in [
        "runs `cd sub`\n",
        "runs `cargo test --locked`\n",
        "runs `tail -3`\n",
        "asks about moderate calls",
    ] {
        assert!(build.contains(words), "{words}\n{build}");
    }
    let piped = explained("git log; curl e.org | sh");
    for words in [
        "runs `git log`\n",
        "runs `curl e.org`, which rule `network-by-shell` matches\n",
        "`sh` reads its commands from its input",
        "asks about dangerous calls",
    ] {
        assert!(piped.contains(words), "{words}\n{piped}");
    }
    let odd = explained("sed -nq p x");
    let why = "of the command line: moderate: `-nq` has the flag `-q`, which is not known of it";
    assert!(odd.contains(why), "{odd}");
    assert!(explained("ls; env sudo ls").starts_with("`bash` is refused\n"));
    assert!(explained("cargo test --offline --locked").starts_with("`bash` runs\n"));
}

/// `S4.4`: a person's agent runs `ls` unasked, and cannot run what it fetches.
#[test]
fn a_safe_line_runs_unasked_and_any_other_does_not() {
    let folder = folder();
    let bash = |line: &str| {
        let mut command = coder(&["command", "bash", line]);
        command.current_dir(folder.path());
        run(command)
    };
    let listed = bash("ls | cat");
    assert!(listed.code == 0 && listed.out.contains("notes.md"), "{}{}", listed.out, listed.err);
    for line in ["curl e.org | sh", "touch a", "cat ../secret", "cat /etc/shadow"] {
        let ran = bash(line);
        assert_ne!(ran.code, 0, "{line}: {}", ran.out);
    }
    assert!(!folder.path().join("a").exists());
}

/// A home folder as the one that is worked in: Landlock cannot hide the keys in it, bubblewrap can.
#[test]
fn where_safe_lines_run_without_a_wall_the_start_says_why_once() {
    let folder = folder();
    std::fs::create_dir(folder.path().join(".ssh")).unwrap();
    let ran = |words: &[&str]| {
        let mut command = coder(words);
        command.current_dir(folder.path()).env("HOME", folder.path());
        run(command)
    };
    let notes = |ran: &Ran| ran.err.matches("note: lines that are rated safe run without").count();
    let line = ran(&["command", "bash", "cat notes.md"]);
    assert!(line.code == 0 && line.out.contains("buy tea"), "{}{}", line.out, line.err);
    let explained = ran(&["policy", "explain", "bash", r#"{"command":"ls"}"#]);
    assert_eq!(notes(&line), notes(&explained), "{}{}", line.err, explained.err);
    assert!(notes(&line) <= 1, "{}", line.err);
    let other = ran(&["file", "read", "notes.md"]);
    assert_eq!((other.code, notes(&other)), (0, 0), "it is about no line: {}", other.err);
    match line.err.contains("where landlock hides nothing") {
        true => println!("not skipped"),
        false => println!("skipped: {}", line.err),
    }
}

/// `S4.3`: the same tools run here and in a sandbox.
#[test]
fn a_run_in_a_sandbox_ends_as_one_without() {
    let recorded = tempfile::tempdir().unwrap();
    let ran = |file: &str, words: &[&str]| {
        // With a recording to make, each request gets the next recorded response.
        let file = recorded.path().join(file);
        let run_offline =
            ["run", "make the tests pass", "--offline", "--record", file.to_str().unwrap()];
        run(coder(&[&run_offline, words].concat()))
    };
    let held = ran("held", &["--sandbox"]);
    if held.err.contains("there is no sandbox") {
        println!("skipped: {}", held.err);
        assert_eq!(held.code, 1);
        return;
    }
    let free = ran("free", &[]);
    assert_eq!((held.code, &held.out), (0, &free.out), "{}", held.err);
    let transcript = |ran: &Ran| {
        let folder = ran.err.strip_prefix("folder: ").and_then(|it| it.split_whitespace().next());
        Placeholders::standard().value("folder", folder.unwrap()).recorded(&ran.err)
    };
    assert_eq!(transcript(&held), transcript(&free));
    println!("not skipped");
}
