//! Determines how texts can be checked against a regular expression.

use jsonschema::PatternOptions;
use serde_json::json;

/// The maximum number of regular expressions in a schema, because each one takes time to compile.
pub(super) const MOST: usize = 500;
/// The maximum size of a compiled regular expression in bytes.
const LARGEST: usize = 1 << 20;

pub(super) enum Engine {
    /// Texts are checked in time linear in their length.
    Linear,
    /// Texts are checked with backtracking, which is limited.
    Backtracking,
    /// Texts cannot be checked. The value contains the reason.
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
