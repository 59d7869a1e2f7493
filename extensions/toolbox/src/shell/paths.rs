//! Which files a command line had better not read or write, by their names alone.

use toolwright::Danger;

/// Folders of the system, and of the user's settings.
const SYSTEM: [&str; 14] = [
    "/bin", "/boot", "/dev", "/etc", "/lib", "/lib64", "/opt", "/proc", "/root", "/sbin", "/sys",
    "/usr", "/var", "/home",
];

/// What everybody may write.
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

/// Parts of names of files with secrets.
const SECRET: [&str; 22] = [
    "/etc/shadow",
    "/etc/gshadow",
    "/etc/sudoers",
    "/.ssh/",
    "/.aws/",
    "/.gnupg/",
    "/.kube/",
    "/.docker/config.json",
    "/.netrc",
    "/.git-credentials",
    "/.pgpass",
    "/id_rsa",
    "/id_ed25519",
    "/id_ecdsa",
    "/.env/",
    "/environ/",
    "/.bash_history/",
    "/.npmrc/",
    "/.pypirc/",
    "/.vault-token/",
    "/.config/gh/",
    "/.cargo/credentials",
];

/// Files that a program runs by itself.
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

/// A name as it would be found from a folder, without `.`, `..` and doubled slashes.
pub(super) fn joined(base: &str, name: &str) -> String {
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

/// Why it matters that this file is written, where it does more than to change a file of the folder.
pub(super) fn writing(path: &str) -> Option<(Danger, &'static str)> {
    if is_in(path, &OPEN) {
        return None;
    }
    let slashed = format!("/{path}/");
    if STARTED.iter().any(|it| slashed.contains(it)) {
        return Some((Danger::Dangerous, "writes a file that other programs run or obey"));
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

/// Whether the shell opens a connection where this file is opened.
pub(super) fn is_connection(path: &str) -> bool {
    path.starts_with("/dev/tcp/") || path.starts_with("/dev/udp/")
}

/// Whether a file holds secrets, by its name. A pattern does where it fits such a name.
pub(super) fn is_secret(path: &str) -> bool {
    if path.contains(['*', '?', '[']) && path.split('/').any(fits_secret) {
        return true;
    }
    let slashed = format!("/{path}/").replace("//", "/");
    let is_key = path.ends_with(".pem")
        || path.ends_with(".key")
        || path.ends_with(".p12")
        || path.ends_with(".pfx");
    is_key
        || SECRET.iter().any(|it| slashed.contains(it))
        || slashed.contains("/.env.local/")
        || slashed.contains("/.env.production/")
}

/// What writing to these sends nowhere.
pub(super) fn is_nothing(path: &str) -> bool {
    matches!(path, "/dev/null" | "/dev/stdout" | "/dev/stderr" | "/dev/tty")
}

/// Whether a path lies outside of the folder in which a line runs, as far as its name says it.
pub(super) fn is_outside(path: &str) -> bool {
    path == ".." || path.starts_with("../") || path.starts_with('/') || path.starts_with('~')
}

/// Whether a part of a path is a pattern that fits the name of a file or folder with secrets. The shell fits a point at the
/// begin of a name only with a point.
fn fits_secret(part: &str) -> bool {
    const NAMES: [&str; 14] = [
        ".env",
        ".env.local",
        ".env.production",
        ".ssh",
        ".aws",
        ".gnupg",
        ".kube",
        ".netrc",
        ".npmrc",
        ".pypirc",
        ".pgpass",
        ".git-credentials",
        "id_rsa",
        "id_ed25519",
    ];
    // A pattern that names nothing, such as `*`, fits too much to say anything.
    part.find(['*', '?', '[']).is_some_and(|at| at > 0)
        && NAMES
            .iter()
            .any(|name| name.starts_with('.') == part.starts_with('.') && fits(part, name))
}

/// Whether a pattern of the shell fits a name.
fn fits(pattern: &str, name: &str) -> bool {
    let mut letters = pattern.chars();
    let Some(first) = letters.next() else { return name.is_empty() };
    let (rest, mut left) = (letters.as_str(), name.chars());
    match first {
        '*' => (0..=name.len()).any(|at| name.is_char_boundary(at) && fits(rest, &name[at..])),
        '?' => left.next().is_some_and(|_| fits(rest, left.as_str())),
        '[' => match rest.split_once(']') {
            // Any letter may stand in the list.
            Some((_, rest)) => left.next().is_some_and(|_| fits(rest, left.as_str())),
            None => name.starts_with('['),
        },
        letter => left.next() == Some(letter) && fits(rest, left.as_str()),
    }
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
        assert_eq!(joined("", "/tmp/../etc//passwd"), "/etc/passwd");
        assert_eq!(joined("/etc", "./passwd"), "/etc/passwd");
        assert_eq!(joined("a/b", "../../../x"), "../x");
        assert_eq!(joined("/", "*"), "/*");
        assert_eq!(
            writing(&joined("", "/tmp/../etc/passwd")).map(|it| it.0),
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
