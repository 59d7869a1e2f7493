//! Rates arguments that a list of flags cannot describe, such as scripts of sed and awk, file modes and signals.

use toolwright::Danger;

use crate::shell::flags::{has_letter, is_flag, is_meant, values};
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
            .filter_map(|it| Some(paths::join("", it.strip_prefix("of=")?)))
            .any(|it| it.starts_with("/dev/") && !paths::is_nothing(&it))
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
    // The flags of git itself whose values may be called as a subcommand is.
    const WITH_VALUE: [&str; 6] =
        ["-C", "-c", "--git-dir", "--work-tree", "--namespace", "--config-env"];
    let is_value = |at: usize| at > 0 && WITH_VALUE.contains(&given[at - 1]);
    let (at, _) = given.iter().enumerate().find(|(at, it)| {
        matches!(**it, "checkout" | "restore" | "rm" | "branch" | "worktree" | "switch")
            && !is_value(*at)
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
    // After a flag with a value, the remaining letters of the argument are the value.
    let with_value = ["-e", "-f", "-i", "-l"].map(str::to_owned);
    let is_long = |it: &str, flag: &str| {
        let name = it.split('=').next().unwrap_or_default();
        name.len() > 2 && name.starts_with("--") && flag.starts_with(name)
    };
    if given.iter().any(|it| is_meant(it, "-f", &with_value) || is_long(it, "--file")) {
        return Some((Danger::Dangerous, "runs a script of a file"));
    }
    let arguments: Vec<Option<&str>> = given.iter().copied().map(Some).collect();
    let mut scripts = values(&arguments, "-e", &with_value);
    for (at, argument) in given.iter().enumerate().filter(|(_, it)| is_long(it, "--expression")) {
        let value = argument.split_once('=').map(|(_, value)| value);
        scripts.extend(value.or_else(|| given.get(at + 1).copied()));
    }
    if scripts.is_empty() {
        let takes_next = |it: &str| {
            (it.ends_with('l') && is_meant(it, "-l", &with_value))
                || (is_long(it, "--line-length") && !it.contains('='))
        };
        let is_value = |at: usize| at > 0 && takes_next(given[at - 1]);
        let mut places = given.iter().enumerate().filter(|(at, _)| !is_value(*at));
        scripts.extend(places.find(|(_, it)| !is_flag(it) && **it != "--").map(|(_, it)| *it));
    }
    let is_plain = scripts.iter().all(|it| is_plain_sed(it));
    (!is_plain).then_some((Danger::Dangerous, "has a script that may run commands or write files"))
}

/// Detects awk scripts that may run commands, load code or read the environment, or that may write files by `>`.
fn awk(given: &[&str]) -> Found {
    let mut found = None;
    for text in given {
        let bare = text.replace("||", "");
        // `@load` and `@include` load code, and `@name(…)` calls the function that a variable names.
        let mut after_at = bare.split('@').skip(1);
        if ["system", "getline", "ENVIRON["].iter().any(|it| bare.contains(it))
            || after_at.any(|it| it.starts_with(|it: char| it.is_ascii_alphabetic() || it == '_'))
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
            found = Some((Danger::Moderate, "has a script that may write files"));
        }
    }
    found
}

/// Detects modes that let everyone write, or that make a program run with its owner's rights, and changes of the mode
/// of a system file.
fn mode(given: &[&str]) -> Found {
    if given.iter().any(|it| is_bad_octal(it) || it.split(',').any(is_bad_clause)) {
        return Some((Danger::Critical, "lets everybody write, or runs with its owner's rights"));
    }
    given
        .iter()
        .any(|it| paths::writing(&paths::join("", it)).is_some())
        .then_some((Danger::Critical, "changes the mode of a file of the system"))
}

/// Returns whether a mode in octal digits lets everyone write, or has one of the bits above the permissions.
fn is_bad_octal(mode: &str) -> bool {
    let is_octal = !mode.is_empty() && mode.bytes().all(|it| (b'0'..=b'7').contains(&it));
    is_octal && (mode.trim_start_matches('0').len() > 3 || mode.ends_with(['2', '3', '6', '7']))
}

/// Returns whether a clause of a symbolic mode, such as `o-r+w`, lets everyone write, or sets the bit by which a program
/// runs with its owner's rights.
fn is_bad_clause(clause: &str) -> bool {
    let Some(at) = clause.find(['+', '-', '=']) else { return false };
    let (who, mut changes) = clause.split_at(at);
    if !who.chars().all(|it| "ugoa".contains(it)) {
        return false;
    }
    let is_everybody = who.is_empty() || who.contains(['o', 'a']);
    while !changes.is_empty() {
        let end = changes[1..].find(['+', '-', '=']).map_or(changes.len(), |it| it + 1);
        let (change, rest) = changes.split_at(end);
        let (is_removed, what) = (change.starts_with('-'), &change[1..]);
        let is_symbolic = what.chars().all(|it| "rwxXstugo".contains(it));
        // `u` and `g` copy the permissions of the owner and the group, which may write.
        let is_bad = is_bad_octal(what)
            || (is_symbolic
                && (what.contains('s') || (is_everybody && what.contains(['w', 'u', 'g']))));
        if is_bad && !is_removed {
            return true;
        }
        changes = rest;
    }
    false
}

fn remove(given: &[&str], base: &str) -> Found {
    let is_all = |it: &str| {
        let whole = paths::join(base, it);
        let parts =
            whole.trim_matches('/').split('/').filter(|it| !it.is_empty() && *it != "*").count();
        (whole.starts_with('/') && parts < 2 && !whole.starts_with("/tmp"))
            || matches!(whole.as_str(), "~" | "~/*")
    };
    let is_recursive = given.iter().any(|it| {
        (it.len() > 2 && "--recursive".starts_with(it))
            || has_letter(it, 'r')
            || has_letter(it, 'R')
    });
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
