//! Checks the folder before a line that is rated safe runs, because the text of a line does not show what is in its
//! folder. Makes one script for all checks, and evaluates the script's output. Pure.

use super::script::quote;
use crate::shell::{Look, Settings, Start, Walk, may_hold_secrets, names_of_secrets};

/// Matches git settings that name a program or a path, which even a command that only reads may use. Git prints sections
/// and names in lower case.
const NAMED: &str = "^(filter[.].*[.](clean|smudge|process)|diff[.]external|diff[.].*[.](command|textconv)|gpg[.](.*[.])?program|gpg[.]ssh[.]defaultkeycommand|hook[.].*[.]command|merge[.].*[.]driver|blame[.]ignorerevsfile|core[.](worktree|attributesfile|excludesfile)|mailmap[.]file)$";

/// The settings that `git lfs install --local` writes.
const LARGE_FILES: [(&str, &str); 3] = [
    ("filter.lfs.clean", "git-lfs clean -- %f"),
    ("filter.lfs.smudge", "git-lfs smudge -- %f"),
    ("filter.lfs.process", "git-lfs filter-process"),
];

/// The last line that the script prints, which shows that the script was not interrupted.
const END: &str = "end";

/// The shell functions of the script, which begins in the workspace.
const FUNCTIONS: &str = r#"
export LC_ALL=C; set -o pipefail; shopt -s nullglob; root="$(builtin pwd -P)"
lines() { tr '\0' '\n'; }
fits() { grep -zaEi -e "$1" || [[ $? == 1 ]]; }
ended() { [[ $1 -lt 126 && $2 == 0 ]]; }
git_settings() {
  local top it
  git -C "$1" config --show-scope --get-regexp "$named" || [[ $? == 1 ]] || return
  top="$(git -C "$1" rev-parse --show-toplevel 2> /dev/null)" && [[ $top ]] || return 0
  printf 'top\t%s\n' "$top"
  [[ $2 -lt 9 ]] || return
  while IFS= read -r -d '' it; do
    it="$top/${it#*$'\t'}"
    [[ ! -e $it/.git ]] || git_settings "$it" "$(($2 + 1))" || return
  done < <(git -C "$top" ls-files --stage -z | grep -z '^160000 ')
}
toolchain() {
  local folder file; folder="$(builtin pwd -P)"
  while [[ $folder == "$root" || $folder == "$root"/* ]]; do
    for file in "$folder"/{rust-toolchain,rust-toolchain.toml,.tool-versions,.python-version,.ruby-version}; do
      [[ ! -e $file ]] || grep -lE -e '/|\\|path' "$file" || [[ $? == 1 ]] || return
    done
    folder="${folder%/*}"
  done
}
"#;

/// Makes the script for these checks.
pub(super) fn script(looks: &[Look]) -> String {
    let mut script =
        format!("secret={}\nnamed={}{FUNCTIONS}", quote(&names_of_secrets()), quote(NAMED));
    for (at, look) in looks.iter().enumerate() {
        let (folder, body) = match look {
            Look::Settings { of: Settings::Git, folder } => {
                (folder, "printf 'root\\t%s\\n' \"$root\"; git_settings . 0".to_owned())
            }
            Look::Settings { of: Settings::Toolchain, folder } => (folder, "toolchain".to_owned()),
            Look::Tree { walk, folder, start, flags } => (folder, list_files(*walk, start, flags)),
            Look::Pattern { folder, pattern, is_read } => {
                let fits = if *is_read { "\"^[-@+]|$secret\"" } else { "'^[-@+]'" };
                (folder, format!("printf '%s\\0' {pattern} | fits {fits} | lines"))
            }
        };
        let folder = quote(&format!("./{folder}"));
        script.push_str(&format!(
            "printf 'look %d\\n' {at}; ( cd -P -- {folder} 2> /dev/null || exit 0; {body} ) || exit 3\n"
        ));
    }
    script.push_str(&format!("echo {END}\n"));
    script
}

fn list_files(walk: Walk, start: &Start, flags: &[(String, String)]) -> String {
    let start = match start {
        Start::File(name) if name.starts_with('/') => quote(name),
        Start::File(name) => quote(&format!("./{name}")),
        Start::Pattern(pattern) if pattern.starts_with('/') => pattern.clone(),
        Start::Pattern(pattern) => format!("./{pattern}"),
    };
    let files = match walk {
        Walk::Ripgrep => {
            let flags = flags.iter().map(|(flag, value)| format!(" {flag} {}", quote(value)));
            format!("rg --no-config --files -0{} -- {start}", flags.collect::<String>())
        }
        Walk::Find | Walk::Links => {
            let links = if walk == Walk::Links { " -L" } else { "" };
            // Exclude names only if they have the same meaning for `find` and for the checked program.
            let is_plain = |value: &str| {
                value.bytes().all(|it| it.is_ascii_alphanumeric() || b"_.-*".contains(&it))
                    && value.bytes().any(|it| it.is_ascii_alphanumeric())
            };
            let with = |name: &str| {
                let named = flags.iter().filter(|(flag, value)| flag == name && is_plain(value));
                named.map(|(_, value)| quote(value)).collect::<Vec<_>>()
            };
            let folders: String = with("--exclude-dir")
                .iter()
                .map(|it| format!("-type d -name {it} -prune -o "))
                .collect();
            let files: String =
                with("--exclude").iter().map(|it| format!(" ! -name {it}")).collect();
            format!("find{links} {start} {folders}! -type d{files} -print0")
        }
    };
    format!("{files} 2> /dev/null | fits \"$secret\" | lines; ended \"${{PIPESTATUS[@]}}\"")
}

/// Returns the reason to refuse a line, from the output of the script; `None` if the line may run. Unexpected output is
/// a reason too.
pub(super) fn refusal(looks: &[Look], output: &str) -> Option<String> {
    let mut lines: Vec<&str> = output.lines().collect();
    if lines.pop() != Some(END) || output.contains("bytes left out") {
        return Some(format!("what it would read and run could not be checked: {output:.300}"));
    }
    let mut now: Option<&Look> = None;
    let (mut root, mut is_moved) = (None, None);
    for line in lines {
        if let Some(at) = line.strip_prefix("look ") {
            now = at.parse().ok().and_then(|at: usize| looks.get(at));
            continue;
        }
        let reason = match now {
            Some(Look::Settings { of: Settings::Git, .. }) => match line.split_once('\t') {
                Some(("top", top)) => {
                    let moved: Option<&str> = is_moved.take();
                    moved.filter(|_| !root.is_some_and(|root| is_below(top, root))).map(describe)
                }
                Some(("root", path)) => {
                    root = Some(path);
                    None
                }
                Some(("local" | "worktree", setting)) => match setting.split_once(' ') {
                    Some(("core.worktree", _)) => {
                        is_moved = Some("core.worktree");
                        None
                    }
                    Some(setting) if LARGE_FILES.contains(&setting) => None,
                    // git prints an error with each line of this file that is not a commit, so a file outside of the
                    // workspace could be shown.
                    Some(("blame.ignorerevsfile", file)) if is_inside(file) => None,
                    setting => Some(describe(setting.map_or(line, |(name, _)| name))),
                },
                Some(("system" | "global" | "command", _)) => None,
                _ => Some(format!("a setting of the repository is not understood: `{line}`")),
            },
            Some(Look::Settings { of: Settings::Toolchain, .. }) if !line.is_empty() => {
                Some(format!("`{line}` may name the program that runs"))
            }
            Some(Look::Tree { folder, .. } | Look::Pattern { folder, .. })
                if may_hold_secrets(&format!("{folder}/{line}")) =>
            {
                Some(format!(
                    "it would read `{line}`, which may hold secrets; leave it out by a flag, or name other files"
                ))
            }
            Some(Look::Pattern { .. }) if line.starts_with(['-', '@', '+']) => {
                Some(format!("the file `{line}` looks like a flag; write `./` before the pattern"))
            }
            Some(_) => None,
            None => Some(format!("what was found is not understood: `{line}`")),
        };
        if reason.is_some() {
            return reason;
        }
    }
    None
}

fn describe(setting: &str) -> String {
    format!("the repository's setting `{setting}` names a program that may run, or a path")
}

fn is_inside(file: &str) -> bool {
    !file.starts_with(['/', '~', '%']) && !file.contains("..") && !may_hold_secrets(file)
}

fn is_below(path: &str, root: &str) -> bool {
    path.strip_prefix(root).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_understood_is_a_reason() {
        let looks = [Look::Settings { of: Settings::Git, folder: String::new() }];
        let refused = |output: &str| refusal(&looks, output);
        assert_eq!(refused("look 0\nroot\t/a\ntop\t/a\nend\n"), None);
        assert_eq!(refused("look 0\nlocal\tfilter.lfs.clean git-lfs clean -- %f\nend\n"), None);
        assert_eq!(refused("look 0\nroot\t/a\nlocal\tcore.worktree ..\ntop\t/a/b\nend\n"), None);
        for output in [
            "",
            "look 0\n",
            "look 0\n[… 9 bytes left out …]\nend\n",
            "look 1\nx\nend\n",
            "look 0\nlocal\tdiff.external x\nend\n",
            "look 0\nlocal\tdiff.external\nend\n",
            "look 0\nlocal\tfilter.lfs.clean git-lfs clean -- %f; x\nend\n",
            "look 0\nlocal\tfilter.lfs.clean git-lfs clean -- %f\nx\nend\n",
            "look 0\nlocal\tblame.ignorerevsfile ../x\nend\n",
            "look 0\nroot\t/a\nlocal\tcore.worktree /\ntop\t/\nend\n",
            "look 0\nroot\t/a\nlocal\tcore.worktree /\ntop\t/ab\nend\n",
        ] {
            assert!(refused(output).is_some(), "{output}");
        }
    }
}
