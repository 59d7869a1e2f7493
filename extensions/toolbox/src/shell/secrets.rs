//! The names of files and folders that hold secrets: one list for every program, flag, loop and pattern.

use std::borrow::Cow;
use std::collections::HashSet;
use std::sync::LazyLock;

/// Files with secrets, by the last parts of their paths. A `*` matches any characters.
const FILES: &[&str] = &[
    ".env",
    ".env.*",
    ".envrc",
    "*.env",
    ".netrc",
    "_netrc",
    ".git-credentials",
    ".git/config",
    ".npmrc",
    ".yarnrc",
    ".pypirc",
    ".pgpass",
    ".my.cnf",
    ".mylogin.cnf",
    ".htpasswd",
    ".htdigest",
    ".vault-token",
    ".terraformrc",
    "*.tfstate",
    "*.tfstate.backup",
    "*.tfvars",
    "*.tfvars.json",
    "credentials.tfrc.json",
    "credentials",
    "credentials.json",
    "credentials.yml",
    "credentials.yaml",
    "credentials.yml.enc",
    "secrets.json",
    "secrets.yml",
    "secrets.yaml",
    "secret.json",
    "secret.yml",
    "secret.yaml",
    "master.key",
    "*.pem",
    "*.key",
    "*.p12",
    "*.pfx",
    "*.p8",
    "*.ppk",
    "*.jks",
    "*.keystore",
    "*.kdbx",
    "*.kdb",
    "*.keychain",
    "*.keychain-db",
    "*.ovpn",
    "*.asc.key",
    "id_rsa",
    "id_dsa",
    "id_ecdsa",
    "id_ecdsa_sk",
    "id_ed25519",
    "id_ed25519_sk",
    "authorized_keys",
    "known_hosts",
    ".bash_history",
    ".zsh_history",
    ".sh_history",
    ".python_history",
    ".node_repl_history",
    ".psql_history",
    ".mysql_history",
    ".sqlite_history",
    ".rediscli_history",
    ".lesshst",
    ".viminfo",
    "fish_history",
    ".docker/config.json",
    ".dockercfg",
    ".s3cfg",
    ".boto",
    ".rclone.conf",
    "rclone.conf",
    ".kube/config",
    "kubeconfig",
    ".claude.json",
    "cookies.sqlite",
];

/// Names of files that often, but not always, hold secrets. A pattern that begins with a wildcard is not counted as
/// matching them, unless the pattern and the name here both have a folder, as in `.cargo/*`.
const LIKELY: &[&str] = &[
    "credentials.toml",
    "secrets.toml",
    ".cargo/credentials*",
    ".gem/credentials",
    ".bundle/config",
    ".composer/auth.json",
    "auth.json",
    ".m2/settings.xml",
    "gradle.properties",
    "wp-config.php",
    ".yarnrc.yml",
    "service-account.json",
    "service_account.json",
    "client_secret.json",
    "client_secrets.json",
];

/// Extensions of source and text files. A pattern such as `*.rs` does not count as matching `.env.*`, although a file
/// could be named `.env.rs`.
const CODE: &[&str] = &[
    "rs", "toml", "md", "py", "js", "mjs", "ts", "tsx", "jsx", "c", "h", "cc", "cpp", "hpp", "go",
    "java", "kt", "swift", "rb", "php", "lua", "html", "css", "scss", "sh", "txt", "lock", "snap",
    "sql", "proto", "xml", "csv", "log", "pyc",
];

/// Folders in which all files are secret, by parts of their paths.
const FOLDERS: &[&str] = &[
    ".ssh",
    ".aws",
    ".azure",
    ".gnupg",
    ".kube",
    ".password-store",
    ".docker",
    ".config/gh",
    ".config/hub",
    ".config/glab-cli",
    ".config/gcloud",
    ".config/rclone",
    ".config/doctl",
    ".config/op",
    ".config/sops",
    ".config/helm",
    ".config/stripe",
    ".config/heroku",
    ".config/github-copilot",
    ".config/google-chrome",
    ".config/chromium",
    ".config/BraveSoftware",
    ".config/microsoft-edge",
    ".config/composer",
    ".config/configstore",
    ".config/keybase",
    ".claude",
    ".git-crypt",
    ".codex",
    ".gemini",
    ".aider",
    ".terraform.d",
    ".oci",
    ".chef",
    ".mozilla",
    ".thunderbird",
    ".local/share/keyrings",
    ".local/share/fish",
    "Library/Keychains",
    "Library/Application Support",
    "/etc/ssl/private",
    "/etc/sudoers.d",
    "/etc/wireguard",
    "/etc/NetworkManager/system-connections",
];

/// Files with secrets at fixed paths.
const PLACES: &[&str] = &[
    "/etc/shadow*",
    "/etc/gshadow*",
    "/etc/sudoers",
    "/etc/krb5.keytab",
    "/etc/security/opasswd",
    "/proc/*/environ",
    "/proc/*/task/*/environ",
    "/proc/*/mem",
    "/proc/*/maps",
    "/proc/*/fd/*",
    "/proc/kcore",
    "/dev/mem",
    "/dev/kmem",
    "/dev/port",
    "/dev/sd*",
    "/dev/hd*",
    "/dev/vd*",
    "/dev/xvd*",
    "/dev/nvme*",
    "/dev/mmcblk*",
    "/dev/dm-*",
    "/dev/mapper/*",
    "/dev/loop*",
];

/// Names that look like those of secrets, but belong to example files.
const EXAMPLES: &[&str] =
    &[".env.example", ".env.sample", ".env.template", ".env.dist", ".env.defaults"];

/// The meaning of wildcards in a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Wildcards {
    /// They are ordinary characters.
    None,
    /// The shell expands them: only a dot matches a dot at the beginning of a name.
    Shell,
    /// They have the meaning of `Shell`, but the text may not be a file name at all, so only distinctive names count.
    Doubtful,
    /// They match every name, including hidden ones, as in patterns of `find`.
    All,
}

/// Returns whether a path, or a path that the pattern matches, indicates secrets by its name. The path has to be joined
/// and normalized.
///
/// Case is ignored, because some file systems ignore it.
pub(super) fn may_be_secret(path: &str, wildcards: Wildcards) -> bool {
    let has_wildcards = wildcards != Wildcards::None && path.contains(['*', '?', '[']);
    if !has_wildcards && !may_be_listed(path) {
        return false;
    }
    let lower = path.to_ascii_lowercase();
    let is_whole = lower.starts_with('/');
    let parts: Vec<&str> = lower.split('/').filter(|it| !it.is_empty()).collect();
    let Some(last) = parts.last() else { return false };
    if !has_wildcards && EXAMPLES.contains(last) {
        return false;
    }
    let starts_open = has_wildcards && last.starts_with(['*', '?', '[']);
    let is_code = last.strip_prefix("*.").is_some_and(|it| CODE.contains(&it));
    let meets = |rule: &str, part: &str| meet(rule, part, wildcards);
    let ends = |rule: &str| {
        let mut at = parts.len();
        rule.rsplit('/').all(|rule| {
            // A pattern of `find` matches files in any folder, so the remaining parts of the rule count as matched.
            let Some(next) = at.checked_sub(1) else { return wildcards == Wildcards::All };
            at = next;
            meets(rule, parts[at])
        })
    };
    let holds = |rule: &str| {
        let rule: Vec<&str> = rule.split('/').collect();
        parts
            .windows(rule.len())
            .any(|it| it.iter().zip(&rule).all(|(part, rule)| meets(rule, part)))
    };
    let begins = |rule: &str| {
        let rule: Vec<&str> = rule[1..].split('/').collect();
        is_whole
            && parts.len() >= rule.len()
            && rule.iter().zip(&parts).all(|(rule, part)| meets(rule, part))
    };
    FILES.iter().any(|it| !(is_code && *it == ".env.*") && ends(it))
        || LIKELY.iter().any(|it| (!starts_open || parts.len() > 1 && it.contains('/')) && ends(it))
        || FOLDERS.iter().any(|it| if it.starts_with('/') { begins(it) } else { holds(it) })
        || PLACES.iter().any(|it| begins(it) && parts.len() == it.split('/').count() - 1)
}

/// Returns whether a file may hold secrets, by its name.
#[cfg(all(feature = "process", unix))]
pub(crate) fn may_hold_secrets(path: &str) -> bool {
    may_be_secret(path, Wildcards::None)
}

/// Returns an extended regular expression, in lower case, that matches the names of files with secrets, and few others.
/// Files at fixed paths such as `/etc/shadow` are not included.
#[cfg(all(feature = "process", unix))]
pub(crate) fn names_of_secrets() -> String {
    let read = |it: &str| it.to_ascii_lowercase().replace('.', "[.]").replace('*', "[^/]*");
    let files: Vec<String> = FILES.iter().chain(LIKELY).map(|it| read(it)).collect();
    let folders = FOLDERS.iter().filter(|it| !it.starts_with('/'));
    let folders: Vec<String> = folders.map(|it| read(it)).collect();
    format!("(^|/)(({})$|({})/)", files.join("|"), folders.join("|"))
}

/// Returns whether a rule may match the path, by the parts of rules without wildcards. This quick check excludes most
/// paths, which no rule matches.
fn may_be_listed(path: &str) -> bool {
    /// The parts of rules that have no wildcard, and the extensions of rules that begin with a wildcard.
    static LISTED: LazyLock<(HashSet<String>, HashSet<&str>)> = LazyLock::new(|| {
        let rules = FILES.iter().chain(LIKELY).chain(FOLDERS);
        let parts = rules.flat_map(|it| it.split('/')).filter(|it| !it.starts_with(['.', '*']));
        let ends = FILES.iter().filter_map(|it| it.strip_prefix('*')?.rsplit_once('.'));
        (parts.map(str::to_ascii_lowercase).collect(), ends.map(|(_, end)| end).collect())
    });
    if path.starts_with(['/', '~']) {
        return true;
    }
    let (parts, ends) = &*LISTED;
    path.split('/').any(|part| {
        if part.starts_with('.') && !matches!(part, "." | "..") {
            return true;
        }
        let lower = match part.bytes().any(|it| it.is_ascii_uppercase()) {
            true => Cow::Owned(part.to_ascii_lowercase()),
            false => Cow::Borrowed(part),
        };
        parts.contains(&*lower) || lower.rsplit_once('.').is_some_and(|(_, end)| ends.contains(end))
    })
}

/// Returns whether a name matches a rule. If the name is a pattern, returns whether some text may match both. The steps
/// are at most the product of the two lengths, which is small because rules are short.
fn meet(rule: &str, name: &str, wildcards: Wildcards) -> bool {
    let is_pattern = wildcards != Wildcards::None && name.contains(['*', '?', '[']);
    if !is_pattern {
        return match rule.split_once('*') {
            None => rule.eq_ignore_ascii_case(name),
            Some((before, after)) => {
                name.len() >= before.len() + after.len()
                    && name.as_bytes()[..before.len()].eq_ignore_ascii_case(before.as_bytes())
                    && name.as_bytes()[name.len() - after.len()..]
                        .eq_ignore_ascii_case(after.as_bytes())
            }
        };
    }
    if wildcards == Wildcards::Doubtful && !rule.starts_with('.') && !rule.starts_with("id_") {
        return false;
    }
    if wildcards != Wildcards::All && rule.starts_with('.') && name.starts_with(['*', '?']) {
        return false;
    }
    // Most rules differ from the name in the first or last character, so compare these first.
    let differs = |rule: Option<u8>, name: Option<u8>| {
        let is_letter = |it: u8| !matches!(it, b'*' | b'?' | b'[' | b']');
        rule.zip(name).is_some_and(|(rule, name)| {
            rule != b'*' && is_letter(name) && !rule.eq_ignore_ascii_case(&name)
        })
    };
    let ends = |it: &str| (it.bytes().next(), it.bytes().next_back());
    let ((rule_first, rule_last), (first, last)) = (ends(rule), ends(name));
    if differs(rule_first, first) || differs(rule_last, last) {
        return false;
    }
    let rule: Vec<char> = rule.chars().map(|it| it.to_ascii_lowercase()).collect();
    // `row[i]` says whether the characters so far can match the first `i` characters of the rule.
    let mut row = vec![false; rule.len() + 1];
    row[0] = true;
    skip_stars(&rule, &mut row);
    let mut letters = name.chars();
    while let Some(letter) = letters.next() {
        match letter {
            '*' => {
                let first = row.iter().position(|it| *it).unwrap_or(row.len());
                row.iter_mut().skip(first).for_each(|it| *it = true);
                continue;
            }
            // Let a list of characters match any character, and also a `[` that begins no list. If the end of the list
            // is hard to find, let any text follow.
            '[' => {
                let rest = letters.as_str();
                if ["[:", "[.", "[="]
                    .iter()
                    .any(|it| rest.contains(it) || rest.starts_with(&it[1..]))
                    || rest.starts_with(['!', '^']) && rest[1..].starts_with(']')
                    || rest.contains('\\')
                {
                    let first = row.iter().position(|it| *it).unwrap_or(row.len());
                    row.iter_mut().skip(first).for_each(|it| *it = true);
                    break;
                }
                if let Some(end) = rest.char_indices().skip(1).find(|(_, it)| *it == ']') {
                    letters = rest[end.0 + 1..].chars();
                }
                step(&rule, &mut row, |_| true);
            }
            '?' => step(&rule, &mut row, |_| true),
            letter => step(&rule, &mut row, |it| it == letter),
        }
    }
    row[rule.len()]
}

/// Advances the row by one character of the name.
fn step(rule: &[char], row: &mut [bool], fits: impl Fn(char) -> bool) {
    for at in (0..row.len()).rev() {
        let by_letter = at > 0 && row[at - 1] && rule[at - 1] != '*' && fits(rule[at - 1]);
        let by_star = rule.get(at) == Some(&'*') && row[at];
        row[at] = by_letter || by_star;
    }
    skip_stars(rule, row);
}

/// Advances the row over stars of the rule, which also match the empty text.
fn skip_stars(rule: &[char], row: &mut [bool]) {
    for at in 0..rule.len() {
        if row[at] && rule[at] == '*' {
            row[at + 1] = true;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_secret_is_found_by_its_name_at_each_place_and_in_either_case() {
        for path in [
            ".env",
            "a/.ENV",
            ".env.staging",
            "prod.env",
            "~/.ssh/config",
            ".config/gcloud/x",
            "a/server.pem",
            ".azure/a/b",
            "/etc/shadow-",
            "/proc/self/environ",
            "/dev/sda1",
            "/etc/ssl/private/x",
            "~/.my.cnf",
            ".claude/settings.json",
            "terraform.tfstate",
            ".htpasswd",
            ".git/config",
            "~/.mozilla/firefox/x/key4.db",
            "~/Library/Application Support/x",
        ] {
            assert!(may_be_secret(path, Wildcards::None), "{path}");
        }
        for path in [
            "src/a.rs",
            ".env.example",
            "environment.rs",
            "src/key.rs",
            "/etc/passwd",
            "a/config",
            "sshd.md",
            "docs/*.md",
        ] {
            assert!(!may_be_secret(path, Wildcards::None), "{path}");
        }
    }

    #[test]
    fn a_pattern_is_a_secret_where_some_name_fits_both() {
        for pattern in [
            ".en*",
            ".[e]nv",
            ".e?v",
            "a/.*",
            "*",
            "id_*",
            "*.p*",
            "[a-z]*",
            ".docker/*.json",
            ".git/*",
            "*[!a]",
            "s*.k[a-z]y",
            ".[[:lower:]]nv",
            "id_[[.r.]]sa",
            "a.p[[=e=]]m",
            ".[!]a]nv",
            ".[^]]nv",
            ".[]e]nv",
        ] {
            assert!(may_be_secret(pattern, Wildcards::Shell), "{pattern}");
        }
        for pattern in
            ["*.rs", "src/*.toml", "docs/*/*.md", "?.txt", "*.lock", "a*b*c*d.rs", "*.toml"]
        {
            assert!(!may_be_secret(pattern, Wildcards::Shell), "{pattern}");
        }
        for pattern in ["config", "*", "conf*", "*.local"] {
            assert!(may_be_secret(pattern, Wildcards::All), "{pattern}");
        }
        assert!(
            may_be_secret("*envrc", Wildcards::All) && !may_be_secret("*envrc", Wildcards::Shell)
        );
    }

    #[cfg(all(feature = "process", unix))]
    #[test]
    fn the_expression_of_names_fits_every_rule() {
        let expression = names_of_secrets();
        for letter in expression.chars() {
            assert!(letter.is_ascii() && !"'\\{+?".contains(letter), "{letter}");
        }
        for rule in FILES.iter().chain(LIKELY).chain(FOLDERS).filter(|it| !it.starts_with('/')) {
            let read = rule.to_ascii_lowercase().replace('.', "[.]").replace('*', "[^/]*");
            assert!(expression.contains(&read), "{rule}");
        }
    }

    #[test]
    fn a_pattern_of_many_stars_takes_no_longer_than_its_length() {
        let pattern = format!("a{}Z", "*".repeat(60_000));
        assert!(!may_be_secret(&pattern, Wildcards::Shell));
        let pattern = "*a".repeat(30_000);
        assert!(may_be_secret(&pattern, Wildcards::All));
    }
}
