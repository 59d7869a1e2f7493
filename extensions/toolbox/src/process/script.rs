//! What bash is given: a command line, behind one line that makes its folder known and its `pwd` relative; pure.

use super::supervisor::FOLDER;

/// The script of a line that runs in the workspace with this root. The line follows on a line of its own, so that nothing in
/// it changes what stands before.
///
/// `pwd` names a folder of the workspace as the file tools do, where it prints to the answer; what another program reads is
/// the whole path. Where no descriptor for the folder comes with the script, as in a container, nothing is written to it.
pub(super) fn script(root: &str, line: &str) -> String {
    let root = quoted(root);
    format!(
        "exec {{TOOLWRIGHT_ANSWER}}>&1; \
         pwd() {{ local it root={root}; it=\"$(builtin pwd \"$@\")\" || return; \
         if [[ /dev/fd/1 -ef /dev/fd/$TOOLWRIGHT_ANSWER ]]; then case \"$it\" in \
         \"$root\") it=.;; \"$root\"/*) it=\"${{it:${{#root}}+1}}\";; esac; fi; builtin printf '%s\\n' \"$it\"; }}; \
         trap '{{ builtin pwd -P >&\"${FOLDER}\"; }} 2> /dev/null' EXIT\n{line}\n"
    )
}

/// A text as one word of bash that stands for itself.
fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', r"'\''"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_root_with_letters_of_the_shell_stands_for_itself() {
        assert_eq!(quoted("/a b/it's $X"), r"'/a b/it'\''s $X'");
    }
}
