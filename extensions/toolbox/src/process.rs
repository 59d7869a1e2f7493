//! The tools that run programs, and the group that holds their handles.

#[cfg(all(feature = "shell", unix))]
mod bash;
#[cfg(all(feature = "shell", unix))]
mod cli_tool;
mod environment;
#[cfg(all(feature = "shell", unix))]
mod executors;
mod group;
mod run_command;
#[cfg(all(feature = "shell", unix))]
mod shell;
#[cfg(all(feature = "shell", unix))]
mod supervised;
#[cfg(all(feature = "shell", unix))]
mod supervisor;
mod transcript;

use toolwright::Handle;

#[cfg(all(feature = "shell", unix))]
pub use bash::{BASH, SANDBOXED_BASH, bash, sandboxed_bash};
#[cfg(all(feature = "shell", unix))]
pub use cli_tool::{CliTool, CliToolError};
#[cfg(all(feature = "shell", unix))]
pub use executors::{
    ArgumentVector, Container, Local, ProcessRequest, Sandbox, SandboxError, SandboxKind,
    ToolExecutor,
};
pub use run_command::{RUN_COMMAND, run_command};
#[cfg(all(feature = "shell", unix))]
pub use shell::{SandboxedShell, Shell};
#[cfg(all(feature = "shell", unix))]
pub use supervisor::Supervisor;

/// The tools that run programs in a [`Workspace`](crate::Workspace).
///
/// ```
/// use toolwright::{Danger, DeclaredDanger, Effect, Registry};
/// use toolwright_toolbox::PROCESS;
///
/// let registry = Registry::of(PROCESS)?;
/// let run = registry.get("run_command").expect("registered");
/// assert_eq!((run.danger, run.effect), (DeclaredDanger::Level(Danger::Dangerous), Effect::Once));
/// # Ok::<(), toolwright::RegistryError>(())
/// ```
pub const PROCESS: [Handle; 1] = [RUN_COMMAND];
