//! Says what a person can do if a lock file stops git. Pure.

/// Adds to an error of git how a person removes the lock file that the error names, if it names one.
///
/// A git process that was killed leaves its lock behind, and no later command of git works until it is gone. Nothing here
/// removes it: a person, an editor or another program may run git in the same repository, and a lock does not say
/// whose it is.
pub(super) fn with_advice(error: String) -> String {
    match lock_in(&error) {
        Some(lock) => format!(
            "{error}\nThe lock is {lock}, and no program removes it. If no git works in this repository (`pgrep -a git` lists those of this \
             machine), a killed one has left it: a person then removes it by `rm {}`, and the same command works again.",
            quoted(lock)
        ),
        None => error,
    }
}

/// Returns the lock file that git could not make because it exists.
fn lock_in(error: &str) -> Option<&str> {
    let (_, rest) = error.split_once("nable to create '")?;
    let (path, _) = rest.split_once("': File exists")?;
    path.ends_with(".lock").then_some(path)
}

/// Writes a path as one word of a shell.
fn quoted(path: &str) -> String {
    format!("'{}'", path.replace('\'', r"'\''"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_an_error_about_an_existing_lock_gets_advice() {
        for error in
            ["", "fatal: not a git repository", "fatal: Unable to create '/a/x': File exists."]
        {
            assert_eq!(with_advice(error.to_owned()), error);
        }
        let error = "fatal: Unable to create '/it's/.git/index.lock': File exists.\n\nAnother git";
        let advice = with_advice(error.to_owned());
        assert!(advice.contains(r"`rm '/it'\''s/.git/index.lock'`"), "{advice}");
    }
}
