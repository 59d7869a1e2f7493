//! Recognises tools that run programs by their definitions.

use serde_json::Value;
use toolwright_core::tool::Definition;

/// The usual names of arguments that name a program or contain a command line or a script.
const PROGRAMS: [&str; 8] =
    ["program", "executable", "command", "command_line", "cmd", "argv", "shell", "script"];

/// Whether a tool runs programs, as far as its definition shows: it takes a program or a command line, or returns an
/// exit code. It is unknown which files a program touches, so `touches_no_files` cannot list such a tool.
pub(super) fn runs_programs(definition: &Definition) -> bool {
    let has = |schema: &Value, keys: &[&str]| {
        let properties = schema.get("properties").and_then(Value::as_object);
        properties
            .is_some_and(|it| it.keys().any(|key| keys.contains(&key.to_lowercase().as_str())))
    };
    has(definition.final_schema(), &PROGRAMS)
        || definition.output_schema.as_ref().is_some_and(|it| has(it, &["exit_code"]))
}
