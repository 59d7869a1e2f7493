//! Which arguments are command lines. A pattern says nothing of one: `git *` also fits `git log; rm -rf /`. What a command
//! does is known only after it is parsed, which is the work of the tool that runs it.

use toolwright_core::tool::Definition;

/// Whether a tool says that an argument, by its JSON pointer, is a command line.
///
/// No tool can say so yet. When [`Parameter`](crate::Parameter) has a mark for it, this is the one place to ask.
pub(super) fn is_command(_definition: &Definition, _pointer: &str) -> bool {
    false
}

/// Why a rule with a pattern for a command line is refused.
pub(super) fn refusal(tool: &str, pointer: &str) -> String {
    format!(
        "`{pointer}` of `{tool}` is a command line, and a pattern over one also fits what comes after a `;`: ask for the \
         program and its arguments, or ask a person about every call"
    )
}
