//! What it takes to check a regular expression.

use jsonschema::PatternOptions;
use serde_json::json;

pub(super) enum Engine {
    /// In time linear in the text.
    Linear,
    /// Only by going back, with a limit on how often.
    Backtracking,
    /// Not at all, and why not.
    None(String),
}

pub(super) fn judge(pattern: &str) -> Engine {
    let schema = json!({"pattern": pattern});
    let linear = jsonschema::options().with_pattern_options(PatternOptions::regex());
    if linear.build(&schema).is_ok() {
        return Engine::Linear;
    }
    match jsonschema::options().with_pattern_options(PatternOptions::fancy_regex()).build(&schema) {
        Ok(_) => Engine::Backtracking,
        Err(error) => Engine::None(error.to_string()),
    }
}
