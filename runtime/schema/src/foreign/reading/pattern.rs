//! What it takes to check a regular expression.

use jsonschema::PatternOptions;
use serde_json::json;

/// Each takes a while to compile.
pub(super) const MOST: usize = 500;
/// Bytes that one may take when it is compiled.
const LARGEST: usize = 1 << 20;

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
    let linear = PatternOptions::regex().size_limit(LARGEST);
    if jsonschema::options().with_pattern_options(linear).build(&schema).is_ok() {
        return Engine::Linear;
    }
    let backtracking = PatternOptions::fancy_regex().size_limit(LARGEST);
    match jsonschema::options().with_pattern_options(backtracking).build(&schema) {
        Ok(_) => Engine::Backtracking,
        Err(error) => Engine::None(error.to_string()),
    }
}
