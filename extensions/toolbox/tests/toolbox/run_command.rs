//! `run_command`: what a program is given, how it ends, and what is left of it.

use std::fs;
use std::path::Path;
use std::process::Command;
use std::thread;
use std::time::{Duration, Instant};

use proptest::prelude::*;
use serde_json::{Value, json};
use toolwright::{Call, CancellationToken, ProcessOutput};
use toolwright_toolbox::PROCESS;

use crate::support::{Box, is_passed_on, runtime};

fn run(tools: &Box, input: Value) -> ProcessOutput {
    serde_json::from_str(&tools.ok("run_command", input)).unwrap()
}

fn shell(script: &str) -> Value {
    json!({"program": "sh", "args": ["-c", script]})
}

#[test]
fn a_program_gets_its_arguments_as_they_are_and_runs_in_its_folder() {
    let tools = Box::of(PROCESS);
    let ran =
        run(&tools, json!({"program": "printf", "args": ["%s|", "$HOME", "a b", "; ls", ""]}));
    assert_eq!(
        (ran.output.as_str(), ran.exit_code, ran.success),
        ("$HOME|a b|; ls||", Some(0), true)
    );
    fs::create_dir(tools.path("below")).unwrap();
    fs::write(tools.path("below/here"), "").unwrap();
    assert_eq!(run(&tools, json!({"program": "ls", "folder": "below"})).output, "here\n");
}

#[test]
fn a_program_that_fails_is_an_answer_with_exit_code_and_output() {
    let tools = Box::of(PROCESS);
    let ran = run(&tools, shell("echo out; echo err >&2; exit 3"));
    assert_eq!((ran.exit_code, ran.success, ran.timed_out), (Some(3), false, false));
    assert_eq!(ran.error.as_deref(), Some("exit status: 3"));
    let mut lines: Vec<&str> = ran.output.lines().collect();
    lines.sort_unstable();
    assert_eq!(lines, ["err", "out"]);
    let killed = run(&tools, shell("kill -9 $$"));
    assert_eq!((killed.exit_code, killed.success), (None, false));
    assert_eq!(killed.error.as_deref(), Some("signal: 9 (SIGKILL)"));
}

#[test]
fn lines_of_both_streams_stand_in_the_order_of_their_arrival() {
    let tools = Box::of(PROCESS);
    let ran =
        run(&tools, shell("for i in 1 2 3; do echo o$i; sleep 0.1; echo e$i >&2; sleep 0.1; done"));
    assert_eq!(ran.output, "o1\ne1\no2\ne2\no3\ne3\n");
    // A line that is not at its end yet is not broken by the other stream.
    let ran = run(&tools, shell("printf begin; sleep 0.1; echo between >&2; sleep 0.1; echo end"));
    assert_eq!(ran.output, "between\nbeginend\n");
}

#[test]
fn a_program_gets_no_input_no_terminal_and_few_variables() {
    let tools = Box::of(PROCESS);
    assert_eq!(run(&tools, json!({"program": "cat"})).output, "");
    assert!(!run(&tools, shell(": < /dev/tty")).success);
    let names = run(&tools, json!({"program": "env"})).output;
    for line in names.lines() {
        let name = line.split('=').next().unwrap();
        assert!(is_passed_on(name), "{line}");
    }
    if !std::env::vars_os().any(|(name, _)| !is_passed_on(&name.to_string_lossy())) {
        println!("skipped: this process has no variable that a program does not get");
    }
    assert!(names.contains("TERM=dumb\n"), "{names}");
}

/// The test runs itself in another process, because a subreaper adopts the orphans of every test.
#[cfg(target_os = "linux")]
#[test]
fn a_program_ends_when_it_exits_even_if_this_process_adopts_what_it_left() {
    const SUBREAPER: &str = "TOOLWRIGHT_TEST_SUBREAPER";
    let name = "run_command::a_program_ends_when_it_exits_even_if_this_process_adopts_what_it_left";
    if std::env::var_os(SUBREAPER).is_none() {
        let mut own = Command::new(std::env::current_exe().unwrap());
        let status = own.args(["--exact", name]).env(SUBREAPER, "").status().unwrap();
        assert!(status.success());
        return;
    }
    rustix::process::set_child_subreaper(Some(rustix::process::getpid())).unwrap();
    let start = Instant::now();
    let ran = run(&Box::of(PROCESS), shell("sleep 60 > /dev/null 2>&1 & echo ok"));
    assert_eq!((ran.output.as_str(), ran.exit_code), ("ok\n", Some(0)));
    assert!(start.elapsed() < Duration::from_secs(20), "{:?}", start.elapsed());
}

#[test]
fn a_program_is_found_by_its_name_alone_and_never_in_the_workspace() {
    let tools = Box::of(PROCESS);
    fs::write(tools.path("evil"), "#!/bin/sh\necho evil\n").unwrap();
    let mut permissions = fs::metadata(tools.path("evil")).unwrap().permissions();
    std::os::unix::fs::PermissionsExt::set_mode(&mut permissions, 0o755);
    fs::set_permissions(tools.path("evil"), permissions).unwrap();
    for (program, kind, words) in [
        (
            "./evil",
            "invalid_input",
            "`program` is a path: `./evil`, expected the name of a program",
        ),
        ("/bin/ls", "invalid_input", "`program` is a path"),
        ("..\\evil", "invalid_input", "`program` is a path"),
        ("", "invalid_input", "`program` is empty"),
        ("l\0s", "invalid_input", "`program` contains a NUL character: `l\\0s`"),
        ("evil", "not_found", "`evil`: no such program on the search path"),
    ] {
        let refused = tools.refused("run_command", json!({"program": program}));
        assert_eq!(refused.0, kind, "{program}");
        assert!(refused.1.starts_with(words), "{}", refused.1);
    }
    let nul = json!({"program": "ls", "args": ["a", "b\0"]});
    assert!(tools.refused("run_command", nul).1.starts_with("item 1 of `args` contains a NUL"));
    for (folder, kind) in
        [("..", "outside_workspace"), ("none", "not_found"), ("evil", "not_a_directory")]
    {
        let input = json!({"program": "ls", "folder": folder});
        assert_eq!(tools.refused("run_command", input).0, kind, "{folder}");
    }
    for seconds in [0, 601] {
        let input = json!({"program": "ls", "timeout_seconds": seconds});
        assert_eq!(tools.refused("run_command", input).0, "invalid_input");
    }
}

#[test]
fn of_much_output_the_beginning_and_the_end_are_shown() {
    let tools = Box::of(PROCESS);
    let ran = run(&tools, json!({"program": "seq", "args": ["200000"]}));
    assert!(ran.success);
    assert!(ran.output.len() < 31_000, "{} bytes", ran.output.len());
    assert!(ran.output.starts_with("1\n2\n3\n") && ran.output.ends_with("\n199999\n200000\n"));
    let (head, rest) = ran.output.split_once("[… ").unwrap();
    let (left_out, tail) = rest.split_once(" bytes left out …]\n").unwrap();
    let whole: usize = (1..=200_000_usize).map(|number| number.to_string().len() + 1).sum();
    assert_eq!(head.len() + left_out.parse::<usize>().unwrap() + tail.len(), whole);
}

/// Whether a process is there and no zombie.
fn is_running(pid: &str) -> bool {
    let state = Command::new("ps").args(["-o", "stat=", "-p", pid]).output().unwrap();
    let state = String::from_utf8(state.stdout).unwrap();
    !state.trim().is_empty() && !state.trim().starts_with('Z')
}

fn ends_within(pid: &str, limit: Duration) -> bool {
    let start = Instant::now();
    while is_running(pid) {
        if start.elapsed() > limit {
            return false;
        }
        thread::sleep(Duration::from_millis(20));
    }
    true
}

/// The process id that a script writes, once it is there.
fn pid(path: &Path) -> String {
    let start = Instant::now();
    loop {
        match fs::read_to_string(path) {
            Ok(text) if text.ends_with('\n') => return text.trim().to_owned(),
            _ => assert!(
                start.elapsed() < Duration::from_secs(20),
                "{} is not written",
                path.display()
            ),
        }
        thread::sleep(Duration::from_millis(10));
    }
}

#[test]
fn a_program_whose_time_is_up_may_end_itself_and_keeps_its_output() {
    let tools = Box::of(PROCESS);
    let script = "trap 'echo cleaned; exit 0' TERM; echo begun; while :; do sleep 0.05; done";
    let mut input = shell(script);
    input["timeout_seconds"] = json!(1);
    let ran = run(&tools, input);
    // It ended with 0, and has timed out all the same.
    assert_eq!((ran.success, ran.timed_out, ran.exit_code), (false, true, None));
    assert_eq!(ran.error.as_deref(), Some("it took more than 1 seconds and was ended"));
    // The shell may say what became of its `sleep`.
    let lines: Vec<&str> = ran.output.lines().filter(|line| *line != "Terminated").collect();
    assert_eq!(lines, ["begun", "cleaned"]);
}

#[test]
fn a_group_that_ignores_term_is_killed_as_a_whole() {
    let tools = Box::of(PROCESS);
    let script =
        "trap '' TERM; (trap '' TERM; exec sleep 300) & echo $! > child; sleep 300; sleep 300";
    let mut input = shell(script);
    input["timeout_seconds"] = json!(1);
    let start = Instant::now();
    let ran = run(&tools, input);
    assert!(ran.timed_out, "{ran:?}");
    assert!(start.elapsed() >= Duration::from_secs(3), "no grace: {:?}", start.elapsed());
    assert!(start.elapsed() < Duration::from_secs(15), "{:?}", start.elapsed());
    assert!(ends_within(&pid(&tools.path("child")), Duration::from_secs(5)));
}

#[test]
fn what_a_program_leaves_behind_is_ended_and_not_waited_for() {
    let tools = Box::of(PROCESS);
    let start = Instant::now();
    let ran = run(&tools, shell("sleep 300 & echo $! > child; echo done"));
    assert_eq!((ran.output.as_str(), ran.success), ("done\n", true));
    assert!(start.elapsed() < Duration::from_secs(10), "{:?}", start.elapsed());
    assert!(ends_within(&pid(&tools.path("child")), Duration::from_secs(5)));
}

#[test]
fn a_call_that_is_cancelled_ends_its_program_with_grace() {
    let tools = Box::of(PROCESS);
    let script = "trap 'echo cleaned > cleaned; exit 0' TERM; \
        sleep 300 & echo $! > child; while :; do sleep 0.05; done";
    let input = shell(script).to_string();
    let cancelled = CancellationToken::new();
    let call = Call::new("run_command", input.as_str()).cancelled_by(cancelled.clone());
    let answer = thread::scope(|scope| {
        scope.spawn(|| {
            pid(&tools.path("child"));
            cancelled.cancel();
        });
        runtime().block_on(tools.executor.call(&call))
    });
    assert_eq!(answer.error().unwrap().kind(), "cancelled");
    assert_eq!(pid(&tools.path("cleaned")), "cleaned");
    assert!(ends_within(&pid(&tools.path("child")), Duration::from_secs(5)));
}

#[test]
fn a_runtime_that_ends_kills_the_programs_that_it_runs() {
    let tools = Box::of(PROCESS);
    let own =
        tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
    let input =
        shell("trap '' TERM; sleep 300 & echo $! > child; sleep 300; sleep 300").to_string();
    let (executor, path) = (tools.executor.clone(), tools.path("child"));
    own.spawn(async move {
        executor.call(&Call::new("run_command", input.as_str())).await.text().len()
    });
    let child = pid(&path);
    own.shutdown_timeout(Duration::from_secs(5));
    assert!(ends_within(&child, Duration::from_secs(5)));
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]

    #[test]
    fn no_argument_is_read_as_anything_else(
        args in prop::collection::vec("[ -~äß\n\t]{0,12}", 0..4),
    ) {
        let tools = Box::of(PROCESS);
        let mut all = vec!["%s\u{1f}".to_owned(), "-".to_owned()];
        all.extend(args.iter().cloned());
        let ran = run(&tools, json!({"program": "printf", "args": all}));
        let expected: String = all[1..].iter().map(|it| format!("{it}\u{1f}")).collect();
        prop_assert_eq!(ran.output, expected);
    }
}
