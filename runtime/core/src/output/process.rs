//! The result of a process, as every tool that runs a process reports it.

use serde::{Deserialize, Serialize};

/// What a process left behind. A failing process keeps its output.
///
/// ```
/// use toolwright::ProcessOutput;
///
/// let output = ProcessOutput { success: false, output: "1 test failed".into(), exit_code: Some(101), ..Default::default() };
/// let json = serde_json::to_value(&output)?;
/// assert_eq!(json, serde_json::json!({"success": false, "output": "1 test failed", "exit_code": 101, "timed_out": false}));
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct ProcessOutput {
    /// Whether the process ended by itself with exit code 0.
    pub success: bool,
    /// What the process wrote to standard output, and if asked for to standard error.
    pub output: String,
    /// What went wrong, in words.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// The exit code; absent when a signal or the time-out ended it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub exit_code: Option<i32>,
    /// Whether the time-out ended it.
    #[serde(default)]
    pub timed_out: bool,
}
