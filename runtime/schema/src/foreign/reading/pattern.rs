//! Determines how a regular expression can be checked.

use jsonschema::PatternOptions;
use serde_json::json;

/// The maximum number of expressions, since each takes a while to compile.
pub(super) const MOST: usize = 500;
/// The maximum size of a compiled expression in bytes.
const LARGEST: usize = 1 << 20;

pub(super) enum Engine {
    /// The pattern can be checked in time linear in the text.
    Linear,
    /// The pattern needs backtracking, which is limited.
    Backtracking,
    /// The pattern cannot be checked, for the reason in this text.
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
