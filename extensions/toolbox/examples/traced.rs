//! Runs the safe lines of the corpus in bash under a tracer, and compares what they did with what was said of them.
//!
//! ```sh
//! cargo run -p toolwright-toolbox --all-features --example traced
//! ```
//!
//! A line that is safe opens nothing for writing, makes, renames and removes nothing, connects to nothing, and starts no
//! program but those that its classification names. The tracer is `strace`, of the Debian package of that name; where it
//! is not installed, nothing is run. Programs that are not installed are left out.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use toolwright::Danger;
use toolwright_toolbox::{Commands, classify};

const CORPUS: &str = include_str!("../tests/commands.txt");

/// The programs of the system: those of a user may be covers of others.
const PATH: &str = "/usr/local/bin:/usr/bin:/bin";

/// What `bash` switches off where it runs a safe line, as far as it says what programs write or fetch beside.
const SWITCHED_OFF: [(&str, &str); 9] = [
    ("GIT_NO_LAZY_FETCH", "1"),
    ("GIT_OPTIONAL_LOCKS", "0"),
    ("GIT_PAGER", "cat"),
    ("MANWIDTH", "100"),
    ("PAGER", "cat"),
    ("GOTOOLCHAIN", "local"),
    ("PIP_DISABLE_PIP_VERSION_CHECK", "1"),
    ("npm_config_logs_max", "0"),
    ("npm_config_update_notifier", "false"),
];

/// Programs that are written as scripts or as covers of others, and what each of them starts.
const STARTS: [(&str, &[&str]); 14] = [
    ("xargs", &["echo"]),
    ("zcat", &["gzip", "sh"]),
    ("egrep", &["grep", "sh"]),
    ("fgrep", &["grep", "sh"]),
    ("which", &["sh"]),
    ("dpkg", &["dpkg-query", "sh", "pager", "less"]),
    (
        "man",
        &[
            "preconv", "tbl", "groff", "grotty", "troff", "col", "less", "pager", "cat", "sh",
            "nroff", "locale", "gzip", "zsoelim",
        ],
    ),
    ("git", &["git-submodule", "sh", "basename", "sed", "uname", "cat"]),
    ("npm", &["node", "env"]),
    ("apt", &["dpkg"]),
    ("apt-cache", &["dpkg"]),
    ("pip", &["python3", "env"]),
    ("timeout", &["sh"]),
    ("unzip", &["zipinfo"]),
];

/// Files that a program may open for writing and that keep nothing.
const NOTHING: [&str; 4] = ["/dev/null", "/dev/tty", "/dev/stdout", "/dev/stderr"];

fn main() -> std::io::Result<()> {
    if Command::new("strace").arg("-V").stdout(Stdio::null()).status().is_err() {
        println!("skipped: strace is not installed");
        return Ok(());
    }
    let folder = tempfile::tempdir()?;
    // A user of npm has it.
    fs::create_dir(folder.path().join(".npm"))?;
    let mut seen = BTreeSet::new();
    let (mut ran, mut left_out, mut wrong) = (0, BTreeMap::<String, usize>::new(), Vec::new());
    let lines = CORPUS.lines().filter(|it| !it.starts_with('#'));
    for line in lines.filter_map(|it| Some(it.split_once(" | ")?.1.rsplit_once(" | ")?.0)) {
        let text = line.replace("\\n", "\n").replace("\\t", "\t");
        if classify(&text).danger() > Danger::Safe || !seen.insert(text.clone()) {
            continue;
        }
        let commands = Commands::parse(&text);
        let named: BTreeSet<&str> =
            commands.commands().iter().filter_map(|it| it.program()).map(name).collect();
        if let Some(missing) = named.iter().find(|it| !is_there(it)) {
            *left_out.entry((*missing).to_owned()).or_default() += 1;
            continue;
        }
        ran += 1;
        let inside = folder.path().join(ran.to_string());
        prepare(&inside)?;
        let trace = folder.path().join("trace");
        let status = Command::new("strace")
            .args(["-f", "-qq", "-s", "300", "-e", "signal=none", "-e"])
            .arg("trace=execve,open,openat,openat2,creat,unlink,unlinkat,rename,renameat,renameat2,mkdir,mkdirat,rmdir,link,linkat,symlink,symlinkat,chmod,fchmodat,truncate,connect,utimensat")
            .arg("-o")
            .arg(&trace)
            .args(["timeout", "-k", "1", "5", "bash", "--noprofile", "--norc", "-c"])
            .arg(&text)
            .env_clear()
            .env("PATH", PATH)
            .env("HOME", folder.path())
            .envs(SWITCHED_OFF)
            .current_dir(&inside)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .status()?;
        let trace = fs::read_to_string(&trace).unwrap_or_default();
        assert!(!trace.is_empty(), "`{text}` was not traced: {status}");
        for did in trace.lines().filter_map(|it| looked_at(it, &named)) {
            wrong.push(format!("`{text}` {did}"));
        }
    }
    let missing: usize = left_out.values().sum();
    println!(
        "traced: {ran} safe lines ran; {missing} left out, because a program is not installed: {left_out:?}"
    );
    println!("traced: {} did other than what was said", wrong.len());
    for it in &wrong {
        println!("  {it}");
    }
    if wrong.is_empty() {
        Ok(())
    } else {
        Err(std::io::Error::other("a safe line did more than to read"))
    }
}

/// What a call of the system did that no safe line does.
fn looked_at(call: &str, named: &BTreeSet<&str>) -> Option<String> {
    let call = call.split_once(' ').map_or(call, |(_, call)| call.trim_start());
    if call.contains(" = -1 ") || call.contains("<unfinished") {
        return None;
    }
    let (kind, rest) = call.split_once('(')?;
    let file = rest.split('"').nth(1).unwrap_or_default();
    match kind {
        "execve" => {
            let program = name(file);
            let starts = STARTS.iter().filter(|(it, _)| named.contains(it)).flat_map(|(_, it)| *it);
            let is_known = matches!(program, "bash" | "timeout")
                || named.contains(program)
                || starts.into_iter().any(|it| *it == program)
                || (program.starts_with("python3") && named.contains("python3"))
                || alternatives(program, named)
                || (file.contains("git-core") && named.contains("git"));
            (!is_known).then(|| format!("starts {file}"))
        }
        "open" | "openat" | "openat2" | "creat" => {
            let writes = kind == "creat"
                || ["O_WRONLY", "O_RDWR", "O_CREAT", "O_TRUNC"].iter().any(|it| rest.contains(it));
            // A file without a name is gone with the program.
            let is_nameless = rest.contains("O_TMPFILE");
            (writes && !is_nameless && !NOTHING.contains(&file))
                .then(|| format!("opens {file} for writing"))
        }
        "connect" => (rest.contains("AF_INET")).then(|| format!("connects: {rest}")),
        _ => Some(format!("does {kind} to {file}")),
    }
}

/// Names under which the system has another program: awk is mawk or gawk.
fn alternatives(program: &str, named: &BTreeSet<&str>) -> bool {
    let real = |it: &str| {
        PATH.split(':').find_map(|folder| Path::new(folder).join(it).canonicalize().ok())
    };
    named.iter().any(|it| real(it).is_some_and(|it| it.file_name().is_some_and(|it| it == program)))
}

fn name(file: &str) -> &str {
    file.rsplit('/').next().unwrap_or(file)
}

fn is_there(program: &str) -> bool {
    const BUILTIN: [&str; 34] = [
        "cd", "[", "test", "echo", "printf", "true", "false", ":", "pwd", "exit", "return", "set",
        "export", "command", "builtin", "type", "jobs", "wait", "times", "time", "kill", "ulimit",
        "umask", "help", "history", "break", "continue", "sleep", "seq", "dirs", "shift", "local",
        "read", "unset",
    ];
    BUILTIN.contains(&program) || PATH.split(':').any(|it| Path::new(it).join(program).exists())
}

/// A folder with files of the names that the corpus has.
fn prepare(inside: &Path) -> std::io::Result<()> {
    fs::create_dir_all(inside.join("src"))?;
    for folder in ["tests", "docs", "sub", "a", "target/debug", "dist"] {
        fs::create_dir_all(inside.join(folder))?;
    }
    for file in [
        "README.md",
        "Cargo.toml",
        "src/lib.rs",
        "src/main.rs",
        "a.txt",
        "b.txt",
        "names.txt",
        "data.csv",
        "a.csv",
        "package.json",
        "a.json",
        "a.bin",
        "b.bin",
        "server.log",
        "build.log",
        "docs/a.md",
        "dist/app.js",
        "numbers.txt",
        "users.txt",
    ] {
        fs::write(inside.join(file), "{\"name\": 1}\n")?;
    }
    let git = |arguments: &[&str]| {
        let names =
            ["GIT_AUTHOR_NAME", "GIT_AUTHOR_EMAIL", "GIT_COMMITTER_NAME", "GIT_COMMITTER_EMAIL"];
        Command::new("git")
            .args(arguments)
            .envs(names.map(|it| (it, "a")))
            .current_dir(inside)
            .output()
    };
    git(&["init", "--quiet", "."])?;
    git(&["add", "."])?;
    git(&["commit", "--quiet", "-m", "one"])?;
    Ok(())
}
