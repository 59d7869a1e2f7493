//! The command line of an application: a subcommand for each tool, and with the feature `mcp` the command `mcp serve`.

pub use runtime::cli::*;

#[cfg(feature = "mcp")]
use std::process::ExitCode;

/// Runs the command line of the application: its linked tools as commands, and `mcp serve`, which serves them to
/// clients of the Model Context Protocol. It starts its own tokio runtime.
///
/// ```no_run
/// fn main() -> std::process::ExitCode {
///     toolwright::cli::main()
/// }
/// ```
#[cfg(feature = "mcp")]
#[must_use]
pub fn main() -> ExitCode {
    main_with(|executor| executor)
}

/// Runs the command line as [`main`] does. `configure` adds services, a policy and an approver to the executor's
/// builder.
#[cfg(feature = "mcp")]
#[must_use]
pub fn main_with(
    configure: impl FnOnce(runtime::ExecutorBuilder) -> runtime::ExecutorBuilder,
) -> ExitCode {
    toolwright_mcp::cli::main_with(configure, |server| server)
}
