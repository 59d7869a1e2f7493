//! Which arguments are command lines. A pattern says nothing of one: `git *` also fits `git log; rm -rf /`. What a command
//! does is known only after it is parsed, which is the work of the tool that runs it.

use serde_json::Value;
use toolwright_core::tool::Definition;

/// Arguments that name a program, or hold what one is to do.
const PROGRAMS: [&str; 8] =
    ["program", "executable", "command", "command_line", "cmd", "argv", "shell", "script"];

/// Whether a tool says that an argument, by its JSON pointer, is a command line.
///
/// No tool can say so yet. When [`Parameter`](crate::Parameter) has a mark for it, this is the one place to ask.
pub(super) fn is_command(_definition: &Definition, _pointer: &str) -> bool {
    false
}

/// Whether a tool runs programs, as far as its definition shows it: it takes a program or a command line, or returns an exit
/// code. What a program touches is known to no tool, so that no list may say that it touches nothing.
pub(super) fn runs_programs(definition: &Definition) -> bool {
    let has = |schema: &Value, keys: &[&str]| {
        let properties = schema.get("properties").and_then(Value::as_object);
        properties
            .is_some_and(|it| it.keys().any(|key| keys.contains(&key.to_lowercase().as_str())))
    };
    has(&definition.input_schema, &PROGRAMS)
        || definition.output_schema.as_ref().is_some_and(|it| has(it, &["exit_code"]))
}

/// Why a rule with a pattern for a command line is refused.
pub(super) fn refusal(tool: &str, pointer: &str) -> String {
    format!(
        "`{pointer}` of `{tool}` is a command line, and a pattern over one also fits what comes after a `;`: ask for the \
         program and its arguments, or ask a person about every call"
    )
}
