//! Rates arguments that a list of flags cannot describe, such as scripts of sed and awk, file modes and signals.

use toolwright::Danger;

use crate::shell::flags::{has_letter, is_flag};
use crate::shell::paths;
use crate::shell::safe::is_plain_sed;
use crate::shell::table::Check;

type Found = Option<(Danger, &'static str)>;

/// Returns the danger that these arguments add to a program, if any.
pub(super) fn check(check: Check, arguments: &[Option<&str>], base: &str) -> Found {
    let given: Vec<&str> = arguments.iter().flatten().copied().collect();
    match check {
        Check::Sed => sed(&given),
        Check::Awk => awk(&given),
        Check::Mode => mode(&given),
        Check::Remove => remove(&given, base),
        Check::Kill => kill(&given),
        Check::Upload => upload(&given),
        Check::Dd => given
            .iter()
            .any(|it| it.starts_with("of=/dev/") && !paths::is_nothing(&it[3..]))
            .then_some((Danger::Critical, "writes a device")),
        Check::Script => script(&given),
        Check::Remote => {
            let is_remote = |it: &&str| {
                it.starts_with("rsync://")
                    || (!is_flag(it)
                        && it.split_once(':').is_some_and(|(host, _)| !host.contains('/')))
            };
            let remote = given.iter().any(is_remote);
            remote.then_some((
                Danger::Dangerous,
                "sends files to another machine, or takes them from it",
            ))
        }
        Check::Git => git(&given),
        Check::Find | Check::Code => None,
        Check::Date => {
            let sets = given.iter().any(|it| {
                !it.starts_with(['-', '+'])
                    && !it.is_empty()
                    && it.bytes().all(|it| it.is_ascii_digit() || it == b'.')
            });
            sets.then_some((Danger::Critical, "sets the clock"))
        }
    }
}

/// Returns the reason to rate a dangerous command as moderate, if there is one: it removes only build products, or runs
/// code of the workspace as tests do.
pub(super) fn lower(check: Check, given: &[&str], base: &str) -> Option<&'static str> {
    /// The names of build products, which tools create again if they are missing.
    const BUILT: [&str; 10] = [
        "target",
        "dist",
        "__pycache__",
        ".pytest_cache",
        ".mypy_cache",
        ".ruff_cache",
        ".tox",
        ".nyc_output",
        "coverage",
        "htmlcov",
    ];
    let is_built = |it: &&str| {
        let whole = paths::join(base, it);
        !paths::is_outside(&whole) && BUILT.contains(&whole.rsplit('/').next().unwrap_or_default())
    };
    match check {
        Check::Remove => {
            let mut files = given.iter().filter(|it| !is_flag(it) && **it != "--").peekable();
            let is_known = given.iter().filter(|it| is_flag(it)).all(|it| {
                matches!(*it, "--recursive" | "--force" | "--verbose")
                    || (!it.starts_with("--") && it[1..].chars().all(|it| "rRfv".contains(it)))
            });
            let some = files.peek().is_some();
            (some && is_known && files.all(is_built))
                .then_some("removes build products, which tools create again")
        }
        Check::Find => match given {
            [start, "-name", name, "-delete"]
            | [start, "-name", name, "-type", "f", "-delete"]
            | [start, "-type", "f", "-name", name, "-delete"]
                if matches!(*name, "*.pyc" | "*.pyo" | ".DS_Store" | "*.class" | "*.swp")
                    && !is_flag(start)
                    && !paths::is_outside(&paths::join(base, start)) =>
            {
                Some("removes build products, which tools create again")
            }
            _ => None,
        },
        Check::Code => match given {
            ["--test", files @ ..] if !files.iter().any(|it| is_flag(it)) => {
                Some("runs code of the workspace")
            }
            [
                "-m",
                "pytest" | "unittest" | "mypy" | "ruff" | "black" | "flake8" | "pylint" | "isort"
                | "coverage" | "compileall",
                ..,
            ] => Some("runs code of the workspace"),
            _ => None,
        },
        _ => None,
    }
}

/// Detects git commands that lose uncommitted changes, or commits that are on no branch.
fn git(given: &[&str]) -> Found {
    let at = given.iter().position(|it| {
        matches!(*it, "checkout" | "restore" | "rm" | "branch" | "worktree" | "switch")
    })?;
    let (flags, places): (Vec<&str>, Vec<&str>) =
        given[at + 1..].iter().copied().partition(|it| is_flag(it) || *it == "--");
    let has = |letter: char, long: &str| {
        flags.iter().any(|it| has_letter(it, letter) || (it.len() > 3 && long.starts_with(it)))
    };
    let is_whole = |it: &&str| {
        let path = it.rsplit(')').next().unwrap_or_default();
        matches!(path.trim_end_matches('/'), "." | ":" | "*" | "./*" | ":/." | "" | "..")
            || *it == ":/"
    };
    let only_index = has('S', "--staged") && !has('W', "--worktree");
    let loses = match given[at] {
        "checkout" => places.iter().any(is_whole),
        "restore" => !only_index && places.iter().any(is_whole),
        "rm" => !flags.contains(&"--cached") && (has('f', "--force") || has('r', "")),
        "branch" => {
            has('D', "")
                || has('M', "")
                || ((has('d', "--delete") || has('m', "--move")) && has('f', "--force"))
        }
        "worktree" => places.first() == Some(&"remove") && has('f', "--force"),
        _ => false,
    };
    loses.then_some((Danger::Dangerous, "loses changes or commits that are nowhere else"))
}

/// Rates a script that a shell runs: moderate if the script is in a file, and dangerous if it comes from standard
/// input, because a person cannot look at it before.
fn script(given: &[&str]) -> Found {
    let is_line = given.iter().any(|it| has_letter(it, 'c'));
    let script =
        given.iter().find(|it| !is_flag(it) && !it.starts_with('+')).filter(|_| !is_line)?;
    let is_input = *script == "/dev/stdin"
        || ["/dev/fd/", "/proc/self/fd/"].iter().any(|it| script.starts_with(it));
    Some(match is_input {
        true => (Danger::Dangerous, "runs commands that are not looked at"),
        false => (Danger::Moderate, "runs a script"),
    })
}

/// Detects sed scripts that do more than print, replace and delete lines, and scripts in files.
fn sed(given: &[&str]) -> Found {
    let mut scripts: Vec<&str> = Vec::new();
    let mut rest = given.iter();
    while let Some(argument) = rest.next() {
        match *argument {
            "-e" | "--expression" => scripts.extend(rest.next()),
            "-f" | "--file" => return Some((Danger::Dangerous, "runs a script of a file")),
            it if it.starts_with("--expression=") => scripts.push(&it["--expression=".len()..]),
            it if it.starts_with("--file") || (it.starts_with("-f") && it.len() > 2) => {
                return Some((Danger::Dangerous, "runs a script of a file"));
            }
            it if is_flag(it) && has_letter(it, 'e') && !has_letter(it, 'i') => {
                scripts.extend(rest.next())
            }
            _ => {}
        }
    }
    if scripts.is_empty() {
        scripts.extend(given.iter().find(|it| !is_flag(it)));
    }
    let is_plain = scripts.iter().all(|it| is_plain_sed(it));
    (!is_plain).then_some((Danger::Dangerous, "has a script that may run commands or write files"))
}

/// Detects awk scripts that may run commands, load code or read the environment, or that may write files by `>`.
fn awk(given: &[&str]) -> Found {
    let program = given.iter().copied();
    for text in program {
        let bare = text.replace("||", "");
        if ["system", "getline", "@load", "ENVIRON["].iter().any(|it| bare.contains(it))
            || bare.contains('|')
        {
            return Some((Danger::Dangerous, "has a script that may run commands"));
        }
        let printed = bare.find("print").map_or("", |at| &bare[at..]);
        let mut files = printed.split('>').skip(1).map(|it| it.trim_start().split('"').nth(1));
        if files.any(|it| it.is_some_and(|it| paths::writing(&paths::join("", it)).is_some())) {
            return Some((Danger::Dangerous, "has a script that writes a file outside"));
        }
        if printed.contains('>') {
            return Some((Danger::Moderate, "has a script that may write files"));
        }
    }
    None
}

/// Detects modes that let everyone write, or that make a program run with its owner's rights, and changes of the mode
/// of a system file.
fn mode(given: &[&str]) -> Found {
    for argument in given {
        let digits = argument.trim_start_matches('0');
        let is_octal =
            !argument.is_empty() && argument.bytes().all(|it| (b'0'..=b'7').contains(&it));
        if is_octal {
            let special = digits.len() > 3;
            let others =
                argument.bytes().last().is_some_and(|it| matches!(it, b'2' | b'3' | b'6' | b'7'));
            if special || others {
                return Some((
                    Danger::Critical,
                    "lets everybody write, or runs with its owner's rights",
                ));
            }
            continue;
        }
        for change in argument.split(',') {
            let Some(at) = change.find(['+', '=']) else { continue };
            let (who, what) = (&change[..at], &change[at + 1..]);
            if !who.chars().all(|it| "ugoa".contains(it))
                || !what.chars().all(|it| "rwxXst".contains(it))
            {
                continue;
            }
            let everybody = who.is_empty() || who.contains(['o', 'a']);
            if what.contains('s') || (everybody && what.contains('w')) {
                return Some((
                    Danger::Critical,
                    "lets everybody write, or runs with its owner's rights",
                ));
            }
        }
    }
    given
        .iter()
        .any(|it| paths::writing(&paths::join("", it)).is_some())
        .then_some((Danger::Critical, "changes the mode of a file of the system"))
}

fn remove(given: &[&str], base: &str) -> Found {
    let is_all = |it: &str| {
        let whole = paths::join(base, it);
        let parts =
            whole.trim_matches('/').split('/').filter(|it| !it.is_empty() && *it != "*").count();
        (whole.starts_with('/') && parts < 2 && !whole.starts_with("/tmp"))
            || matches!(whole.as_str(), "~" | "~/*")
    };
    let is_recursive =
        given.iter().any(|it| *it == "--recursive" || has_letter(it, 'r') || has_letter(it, 'R'));
    let files = given.iter().filter(|it| !is_flag(it));
    for file in files {
        if is_all(file) && is_recursive {
            return Some((
                Danger::Critical,
                "removes the root, the home folder or a folder of the system",
            ));
        }
        if paths::is_outside(&paths::join(base, file)) && is_recursive {
            return Some((Danger::Dangerous, "removes folders outside"));
        }
    }
    None
}

/// Detects KILL, and signals to process 1 or to all processes.
fn kill(given: &[&str]) -> Found {
    let is_kill = |it: &&str| {
        matches!(
            it.to_ascii_uppercase().as_str(),
            "-9" | "-KILL" | "-SIGKILL" | "KILL" | "SIGKILL" | "--SIGNAL=KILL" | "--SIGNAL=9"
        )
    };
    let forced = given.iter().any(is_kill)
        || given.windows(2).any(|it| matches!(it, ["-s" | "-n" | "--signal", "9"]));
    if given.iter().any(|it| matches!(*it, "1" | "-1" | "0")) && !given.contains(&"-l") {
        return Some((Danger::Dangerous, "signals the first process, or all processes"));
    }
    forced.then_some((Danger::Dangerous, "kills a process at once"))
}

/// Detects a file that is sent to another machine, and a `file://` URL of a file that may hold secrets.
fn upload(given: &[&str]) -> Found {
    let sends = given.iter().enumerate().any(|(at, it)| {
        let behind = |name: &str| at > 0 && given[at - 1] == name;
        let is_data = [
            "-d",
            "--data",
            "--data-binary",
            "--data-ascii",
            "--data-urlencode",
            "-F",
            "--form",
            "--json",
        ]
        .iter()
        .any(|flag| behind(flag) || it.strip_prefix(&format!("{flag}=")).is_some());
        (is_data && (it.contains('@') || it.contains("=<")))
            || (it.starts_with("-d@") || it.starts_with("-F") && it.contains('@'))
    });
    let mut files = given.iter().filter_map(|it| it.strip_prefix("file://"));
    if files.any(paths::is_secret) {
        return Some((Danger::Dangerous, "reads a file that may hold secrets"));
    }
    sends.then_some((Danger::Dangerous, "sends a file to another machine"))
}
