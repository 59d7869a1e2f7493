//! The tools that run programs, and the group that holds their handles.

mod environment;
mod group;
mod run_command;
mod transcript;

use toolwright::Handle;

pub use run_command::{RUN_COMMAND, run_command};

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
