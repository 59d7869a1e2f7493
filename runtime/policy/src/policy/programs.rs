//! Which tools run programs, as far as their definitions show it.

use serde_json::Value;
use toolwright_core::tool::Definition;

/// Arguments that name a program, or hold what one is to do.
const PROGRAMS: [&str; 8] =
    ["program", "executable", "command", "command_line", "cmd", "argv", "shell", "script"];

/// Whether a tool runs programs, as far as its definition shows it: it takes a program or a command line, or returns an exit
/// code. What a program touches is known to no tool, so that no list may say that it touches nothing.
pub(super) fn runs_programs(definition: &Definition) -> bool {
    let has = |schema: &Value, keys: &[&str]| {
        let properties = schema.get("properties").and_then(Value::as_object);
        properties
            .is_some_and(|it| it.keys().any(|key| keys.contains(&key.to_lowercase().as_str())))
    };
    has(definition.final_schema(), &PROGRAMS)
        || definition.output_schema.as_ref().is_some_and(|it| has(it, &["exit_code"]))
}
