//! Compares flags among the arguments of a program. A deny or ask rule looks for a flag in the spellings that programs
//! usually accept. An allow rule requires that every flag is listed in exactly its spelling.

use super::holds::Holds;
use toolwright_core::json::tree::Node;

/// Explains why a rule cannot look for this text as a flag; `None` if it can.
pub(super) fn refusal(flag: &str) -> Option<String> {
    let letters = flag.trim_start_matches('-');
    let is_flag = flag == "+" || (flag.starts_with('-') && !letters.is_empty());
    match (is_flag, flag.contains('=')) {
        (true, false) => None,
        (true, true) => {
            Some(format!("the flag `{flag}` has a value: name it alone, its values count with it"))
        }
        (false, _) => Some(format!(
            "`{flag}` is no flag: expected one such as `--force` or `-f`, or `+` for what begins with it"
        )),
    }
}

/// Whether the arguments contain one of these flags: alone, with a value after `=`, shortened (`--forc`), with one
/// dash (`-force`), or as a letter among others (`-uf`).
pub(super) fn any(items: &[Node], flags: &[String]) -> Holds {
    Holds::any(items.iter().map(|item| match item {
        Node::Text(item) => flags.iter().any(|flag| is_meant(item, flag)).into(),
        _ => Holds::Unknown,
    }))
}

/// Whether the arguments contain no other flags than these. A flag with two dashes may have a value after `=`.
pub(super) fn none_but(items: &[Node], flags: &[String]) -> Holds {
    let is_known = |item: &str| {
        flags.iter().any(|flag| {
            let value = item.strip_prefix(flag.as_str());
            value.is_some_and(|it| it.is_empty() || (flag.starts_with("--") && it.starts_with('=')))
        })
    };
    let each = items.iter().map(|item| match item {
        Node::Text(item) => (!is_flag(item) || is_known(item)).into(),
        _ => Holds::Unknown,
    });
    each.min().unwrap_or(Holds::Yes)
}

/// Whether an argument is a flag. `-` is the standard input. `--` ends the flags of one program, and the flags of
/// another program may follow.
fn is_flag(item: &str) -> bool {
    (item.starts_with('-') && item != "-" && item != "--") || item.starts_with('+')
}

fn is_meant(item: &str, flag: &str) -> bool {
    if flag == "+" {
        return item.starts_with('+');
    }
    let (name, _value) = item.split_once('=').unwrap_or((item, ""));
    let letters = flag.trim_start_matches('-');
    let given = name.trim_start_matches('-');
    if !name.starts_with('-') || given.is_empty() {
        return false;
    }
    if letters.chars().count() > 1 {
        return letters == given || (name.starts_with("--") && letters.starts_with(given));
    }
    // Several flags of one letter may follow one dash, and the value of the last one may follow its letter.
    given == letters || (!name.starts_with("--") && given.contains(letters))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(words: &[&str]) -> Vec<Node> {
        words.iter().map(|it| Node::Text((*it).to_owned())).collect()
    }

    fn names(words: &[&str]) -> Vec<String> {
        words.iter().map(|it| (*it).to_owned()).collect()
    }

    #[test]
    fn an_objection_sees_a_flag_in_every_spelling() {
        let flags = names(&["--force", "-f", "+"]);
        for there in
            ["--force", "--force=yes", "--forc", "--f", "-force", "-f", "-uf", "-fu", "+main"]
        {
            assert_eq!(any(&texts(&["push", there]), &flags), Holds::Yes, "{there}");
        }
        for other in ["force", "--force-with-lease", "-u", "--", "-", "", "main+", "--tags", "f"] {
            assert_eq!(any(&texts(&["push", other]), &flags), Holds::No, "{other}");
        }
    }

    #[test]
    fn an_allowance_takes_no_flag_that_is_not_named() {
        let flags = names(&["--release", "-p", "--color"]);
        for all in [&["test"][..], &["--release", "-p", "a"], &["--color=always", "--", "-"], &[]] {
            assert_eq!(none_but(&texts(all), &flags), Holds::Yes, "{all:?}");
        }
        for other in [
            "--config",
            "--config=a",
            "--releas",
            "--releases",
            "-px",
            "-p=a",
            "-rp",
            "+nightly",
            "---",
        ] {
            assert_eq!(none_but(&texts(&["test", other]), &flags), Holds::No, "{other}");
        }
        assert_eq!(none_but(&texts(&["-"]), &[]), Holds::Yes);
    }

    #[test]
    fn what_is_no_text_is_not_known() {
        let items = [Node::Null];
        assert_eq!(any(&items, &names(&["-f"])), Holds::Unknown);
        assert_eq!(none_but(&items, &names(&["-f"])), Holds::Unknown);
    }

    #[test]
    fn what_is_no_flag_is_told() {
        assert!(["force", "-", "--", "", "--a=b", "+x"].iter().all(|it| refusal(it).is_some()));
        assert!(["--force", "-f", "+", "-auto-approve"].iter().all(|it| refusal(it).is_none()));
    }
}
