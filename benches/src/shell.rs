//! Command lines: judging them against only parsing them, and starting a program in a process group against starting
//! it by the standard library.
//!
//! A sample judges all lines of the toolbox's corpus. The started program is `bash -c true`, with the same
//! environment, and its output is read to the end. For people, it also shows the start under a supervisor, which the
//! tool `bash` uses, and in each sandbox that this machine supports.

use std::ffi::OsString;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use tokio::runtime::Runtime;
use toolwright_toolbox::{
    Commands, Local, ProcessRequest, Sandbox, SandboxLack, Supervisor, ToolExecutor, classify,
};

use crate::measure::{Contestant, Effort, print_ratio, print_table, take_turns};

/// The corpus: lines, each with a level and a reason.
const CORPUS: &str =
    include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/../extensions/toolbox/tests/commands.txt"));

/// A line that agents run often.
const TYPICAL: &str = "cd sub && cargo test --locked 2>&1 | tail -3";

/// How many programs are started in a sample.
const STARTED: u32 = 20;

pub fn run(effort: Effort) -> Result<()> {
    let rounds = match effort {
        Effort::Full => 31,
        Effort::Quick => 5,
    };
    judged(rounds)?;
    started(rounds)
}

fn judged(rounds: usize) -> Result<()> {
    let lines = CORPUS.lines().filter(|it| !it.starts_with('#') && !it.trim().is_empty());
    let lines: Vec<String> = lines
        .map(|line| {
            let (_, rest) = line.split_once(" | ").context("a line has a level")?;
            let (text, _) = rest.rsplit_once(" | ").context("a line has a reason")?;
            Ok(text.replace("\\n", "\n").replace("\\t", "\t"))
        })
        .collect::<Result<_>>()?;
    ensure!(lines.len() > 600, "only {} lines", lines.len());
    let all = |work: &dyn Fn(&str) -> usize| {
        let start = Instant::now();
        let found: usize = lines.iter().map(|it| work(it)).sum();
        ensure!(std::hint::black_box(found) > 0, "nothing is found");
        Ok(start.elapsed())
    };
    let typical = |work: &dyn Fn(&str) -> usize| {
        let start = Instant::now();
        let found: usize = (0..100).map(|_| work(std::hint::black_box(TYPICAL))).sum();
        ensure!(found > 0, "nothing is found");
        Ok(start.elapsed())
    };
    let parse = |line: &str| Commands::parse(line).commands().len();
    let judge = |line: &str| classify(line).parts().len();
    let rounds = take_turns(
        rounds,
        vec![
            Contestant::new("judged", || all(&judge)),
            Contestant::new("parsed", || all(&parse)),
            Contestant::new("judged, typical", || typical(&judge)),
            Contestant::new("parsed, typical", || typical(&parse)),
        ],
    )?;
    let each = lines.len() as f64;
    let mut table = vec![vec!["shell/classify".to_owned(), "µs a line".to_owned()]];
    for (name, lines) in
        [("judged", each), ("parsed", each), ("judged, typical", 100.0), ("parsed, typical", 100.0)]
    {
        table.push(vec![name.to_owned(), format!("{:.1}", rounds.median(name)? * 1e6 / lines)]);
    }
    print_table(&table);
    print_ratio("shell", "classify", &rounds.ratio("judged", "parsed")?, "parse");
    Ok(())
}

fn started(rounds: usize) -> Result<()> {
    let runtime = Runtime::new()?;
    let supervisor = Supervisor::in_this_program()?;
    let folder = tempfile::tempdir()?;
    let folder = folder.path().canonicalize()?;
    let arguments: [OsString; 3] = ["bash", "-c", "true"].map(Into::into);
    let variables = [("PATH".into(), std::env::var_os("PATH").context("there is a search path")?)];
    let request = ProcessRequest::new(&arguments, &folder, &folder).variables(&variables);
    let supervised = request.clone().supervised_by(&supervisor);
    let by_std = || {
        timed(|| {
            let mut command = Command::new("bash");
            command.args(["-c", "true"]).env_clear().envs(variables.iter().cloned());
            let output = command.current_dir(&folder).stdin(Stdio::null()).output()?;
            ensure!(output.status.success(), "{}", output.status);
            Ok(())
        })
    };
    let by = |executor: &dyn ToolExecutor, request: &ProcessRequest<'_>| {
        timed(|| {
            let ended = runtime.block_on(async { executor.start(request)?.await })?;
            ensure!(ended.status.is_some_and(|it| it.success()), "{ended:?}");
            Ok(())
        })
    };
    let bubblewrap = Sandbox::bubblewrap();
    let lacks = [SandboxLack::PrivateTmp, SandboxLack::NetworkBlock];
    let landlock = Sandbox::landlock(&supervisor, &lacks);
    let mut contestants = vec![
        Contestant::new("std's command", by_std),
        Contestant::new("in a group", || by(&Local, &request)),
        Contestant::new("supervised", || by(&Local, &supervised)),
    ];
    let mut names = vec!["std's command", "in a group", "supervised"];
    for (name, made) in [("bubblewrap", &bubblewrap), ("landlock", &landlock)] {
        match made {
            Ok(sandbox) => {
                contestants.push(Contestant::new(name, || by(sandbox, &request)));
                names.push(name);
            }
            Err(error) => println!("skipped: {error}"),
        }
    }
    let rounds = take_turns(rounds, contestants)?;
    let mut table = vec![vec!["shell/spawn".to_owned(), "ms".to_owned()]];
    for name in &names {
        let each = rounds.median(name)? * 1000.0 / f64::from(STARTED);
        table.push(vec![(*name).to_owned(), format!("{each:.2}")]);
    }
    print_table(&table);
    let against = "std's command";
    print_ratio("shell", "spawn", &rounds.ratio("in a group", against)?, "command");
    print_ratio("shell", "supervised", &rounds.ratio("supervised", against)?, "command");
    for name in ["bubblewrap", "landlock"].into_iter().filter(|it| rounds.has(it)) {
        let measure = if name == "bubblewrap" { "sandbox" } else { "landlock" };
        print_ratio("shell", measure, &rounds.ratio(name, against)?, "command");
    }
    Ok(())
}

fn timed(start_one: impl Fn() -> Result<()>) -> Result<Duration> {
    let start = Instant::now();
    for _ in 0..STARTED {
        start_one()?;
    }
    Ok(start.elapsed())
}
