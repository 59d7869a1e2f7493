//! What bash is given: a command line, behind one line that makes its folder known and its `pwd` relative; pure.

use super::supervisor::FOLDER;

/// The script of a line that runs in the workspace with this root. The line follows on a line of its own, so that nothing in
/// it changes what is before it.
///
/// `pwd` names a folder of the workspace as the file tools do, where it prints to the answer; what another program reads is
/// the whole path. Where no descriptor for the folder comes with the script, as in a container, nothing is written to it.
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

/// Quotes a text as one word of bash that means itself.
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
