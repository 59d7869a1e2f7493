//! The tools that run programs, and the constant that lists them.

#[cfg(all(feature = "shell", unix))]
mod bash;
#[cfg(target_os = "linux")]
mod before_main;
#[cfg(all(feature = "shell", unix))]
mod cli_tool;
#[cfg(feature = "container")]
mod container;
mod environment;
mod executors;
#[cfg(all(feature = "shell", unix))]
mod folders;
mod group;
#[cfg(all(feature = "landlock", feature = "shell", target_os = "linux"))]
mod landlock;
#[cfg(all(feature = "shell", unix))]
mod look;
mod printed;
mod run_command;
#[cfg(all(feature = "shell", unix))]
mod sandbox;
#[cfg(all(feature = "shell", unix))]
mod script;
#[cfg(all(feature = "shell", unix))]
mod shell;
#[cfg(unix)]
mod supervised;
#[cfg(unix)]
mod supervisor;
mod transcript;

use toolwright::Handle;

#[cfg(all(feature = "shell", unix))]
pub use bash::{BASH, SANDBOXED_BASH, bash, sandboxed_bash};
#[cfg(all(feature = "shell", unix))]
pub use cli_tool::{CliTool, CliToolError};
#[cfg(feature = "container")]
pub use container::Container;
pub use executors::{
    ArgumentVector, Local, ProcessEnd, ProcessRequest, RunningProcess, Streams, ToolExecutor,
};
pub use run_command::{RUN_COMMAND, run_command};
#[cfg(all(feature = "shell", unix))]
pub use sandbox::{Sandbox, SandboxKind, SandboxLack};
#[cfg(all(feature = "shell", unix))]
pub use shell::{SandboxedShell, Shell};
#[cfg(unix)]
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
