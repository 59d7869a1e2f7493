//! Makes the script for bash: a first line, which reports the last folder and makes the output of `pwd` relative, and
//! the command line after it. Pure.

use super::supervisor::FOLDER;

/// Writes the script for a line that runs in the workspace with this root. The command line begins on its own line, so
/// that nothing in it affects the line before.
///
/// If the output of `pwd` goes to the answer of the call, `pwd` prints paths relative to the workspace, as the file
/// tools do. If its output goes to another program, it prints the absolute path. If the script has no descriptor for
/// reporting the last folder, as in a container, nothing is reported.
pub(super) fn script(root: &str, line: &str) -> String {
    let root = quote(root);
    format!(
        "exec {{TOOLWRIGHT_ANSWER}}>&1; \
         pwd() {{ local it root={root}; it=\"$(builtin pwd \"$@\")\" || return; \
         if [[ /dev/fd/1 -ef /dev/fd/$TOOLWRIGHT_ANSWER ]]; then case \"$it\" in \
         \"$root\") it=.;; \"$root\"/*) it=\"${{it:${{#root}}+1}}\";; esac; fi; builtin printf '%s\\n' \"$it\"; }}; \
         trap '{{ builtin pwd -P >&\"${FOLDER}\"; }} 2> /dev/null' EXIT\n{line}\n"
    )
}

/// Quotes a text as one literal word for bash.
pub(super) fn quote(text: &str) -> String {
    format!("'{}'", text.replace('\'', r"'\''"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_root_with_letters_of_the_shell_means_itself() {
        assert_eq!(quote("/a b/it's $X"), r"'/a b/it'\''s $X'");
    }
}
