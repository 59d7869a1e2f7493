//! Files that a command line should not read or write, recognized by their names.

use toolwright::Danger;

use super::secrets::{Wildcards, may_be_secret};

/// Folders of the operating system, and of the user's settings.
const SYSTEM: [&str; 14] = [
    "/bin", "/boot", "/dev", "/etc", "/lib", "/lib64", "/opt", "/proc", "/root", "/sbin", "/sys",
    "/usr", "/var", "/home",
];

/// Files and folders to which a write is no more dangerous than to an ordinary file.
const OPEN: [&str; 9] = [
    "/dev/null",
    "/dev/stdout",
    "/dev/stderr",
    "/dev/tty",
    "/dev/fd",
    "/dev/zero",
    "/tmp",
    "/var/tmp",
    "/dev/shm",
];

/// Files that programs run or obey on their own.
const STARTED: [&str; 10] = [
    "/.git/hooks/",
    "/.git/config",
    "/.bashrc",
    "/.profile",
    "/.bash_profile",
    "/.zshrc",
    "/.gitconfig",
    "/.ssh/",
    "/.cargo/config",
    "/.vimrc",
];

/// Returns a name joined to a folder, with `~` for `$HOME`, and without `.` and repeated slashes. Each `..` is resolved,
/// except those that lead above the home folder or above the beginning of a relative path.
pub(super) fn join(base: &str, name: &str) -> String {
    let name =
        name.strip_prefix("$HOME").map_or_else(|| name.to_owned(), |rest| format!("~{rest}"));
    let is_whole = name.starts_with('/') || name.starts_with('~');
    let whole = if is_whole || base.is_empty() { name } else { format!("{base}/{name}") };
    let root = if whole.starts_with('/') { "/" } else { "" };
    let mut parts: Vec<&str> = Vec::new();
    for part in whole.split('/') {
        match part {
            "" | "." => {}
            ".." if parts.last().is_some_and(|it| *it != ".." && *it != "~") => {
                parts.pop();
            }
            ".." if !root.is_empty() => {}
            part => parts.push(part),
        }
    }
    format!("{root}{}", parts.join("/"))
}

/// Returns the danger of writing this file and the reason, if it is more dangerous than writing an ordinary file.
pub(super) fn writing(path: &str) -> Option<(Danger, &'static str)> {
    let slashed = format!("/{path}/");
    if STARTED.iter().any(|it| slashed.contains(it)) {
        return Some((Danger::Dangerous, "writes a file that other programs run or obey"));
    }
    if is_in(path, &OPEN) {
        return None;
    }
    if path == "/" || path == "/*" || path == "~" || path == "~/*" {
        return Some((Danger::Critical, "writes the root or the home folder"));
    }
    if is_in(path, &SYSTEM) {
        return Some((Danger::Dangerous, "writes a file of the system"));
    }
    if path.starts_with('~') {
        return Some((Danger::Dangerous, "writes a file of the home folder"));
    }
    None
}

/// Returns whether bash opens a network connection when it opens this file.
pub(super) fn is_connection(path: &str) -> bool {
    path.starts_with("/dev/tcp/") || path.starts_with("/dev/udp/")
}

/// Returns whether a file may hold secrets, by its name. A pattern counts if it may match the name of such a file. If a
/// part of the path begins with a wildcard, all wildcards are taken for ordinary characters, because the pattern would
/// match too many names: `*.pem` counts, and `*` does not.
pub(super) fn is_secret(path: &str) -> bool {
    let starts = |part: &str| part.find(['*', '?', '[']).is_none_or(|at| at > 0);
    let wildcards = if path.split('/').all(starts) { Wildcards::Doubtful } else { Wildcards::None };
    may_be_secret(path, wildcards)
}

/// Returns whether a path is a device that discards or prints the data written to it.
pub(super) fn is_nothing(path: &str) -> bool {
    matches!(path, "/dev/null" | "/dev/stdout" | "/dev/stderr" | "/dev/tty")
}

/// Returns whether a path, by its text, is outside of the folder in which the line runs.
pub(super) fn is_outside(path: &str) -> bool {
    path == ".." || path.starts_with("../") || path.starts_with('/') || path.starts_with('~')
}

fn is_in(path: &str, folders: &[&str]) -> bool {
    folders.iter().any(|it| {
        path.strip_prefix(it).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_resolved_before_they_are_compared() {
        assert_eq!(join("", "/tmp/../etc//passwd"), "/etc/passwd");
        assert_eq!(join("/etc", "./passwd"), "/etc/passwd");
        assert_eq!(join("a/b", "../../../x"), "../x");
        assert_eq!(join("/", "*"), "/*");
        assert_eq!(
            writing(&join("", "/tmp/../etc/passwd")).map(|it| it.0),
            Some(Danger::Dangerous)
        );
        assert_eq!(writing("/tmp/a"), None);
        assert!(
            is_secret("/etc/shadow")
                && is_secret("~/.ssh/id_rsa")
                && is_secret(".env")
                && is_secret("a/.env")
        );
        for pattern in [".en*", ".[e]nv", ".e?v", "a/.*", "~/.s*/id", "id_*"] {
            assert!(is_secret(pattern), "{pattern}");
        }
        for pattern in ["*", "src/*.rs", "*.env.md", ".gith*", "[a-z]*", "a*b*c*d*e*f*g"] {
            assert!(!is_secret(pattern), "{pattern}");
        }
        assert!(
            !is_secret(".env.example") && !is_secret("src/environment.rs") && !is_secret("sshd.md")
        );
    }
}
