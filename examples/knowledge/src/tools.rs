//! The tools, one a file, and the names under which a model and the command line know them.

mod prompt_edit;
mod schedule_edit;
mod skill_edit;
mod task_edit;

use std::error::Error;

use toolwright::{Executor, Registration, Registry, RegistryError};
use toolwright_toolbox::{CONTEXT, GREP};

use crate::capabilities::{CAPABILITIES_REFRESH, Inventory};
use crate::library::Library;

pub use prompt_edit::PROMPT_EDIT;
pub use schedule_edit::SCHEDULE_EDIT;
pub use skill_edit::SKILL_EDIT;
pub use task_edit::TASK_EDIT;

/// Every tool. Those of the store have the names that the page of the documentation gives them.
///
/// # Errors
/// When two tools have one name, which no version of this application has.
pub fn registry() -> Result<Registry, RegistryError> {
    let store = CONTEXT.into_iter().map(|tool| {
        let name = tool.name().replacen("context_", "membot_", 1);
        tool.renamed(name).grouped("membot")
    });
    let others = [SKILL_EDIT, SCHEDULE_EDIT, TASK_EDIT, PROMPT_EDIT, CAPABILITIES_REFRESH];
    let grep = GREP.renamed("search_grep").grouped("search");
    Registry::of(store.chain(others.map(Registration::from)).chain([grep]))
}

/// An executor over a library. A person who types a command may do what it says; a model is asked about by the application
/// that runs it.
///
/// # Errors
/// When a tool lacks a service.
pub fn executor(library: Library) -> Result<Executor, Box<dyn Error + Send + Sync>> {
    let registry = registry()?;
    let inventory = Inventory(registry.clone());
    let builder = Executor::builder(registry).unrestricted().service(inventory);
    let builder = builder.service(library.store().clone()).service_arc(library.files().clone());
    Ok(builder.service(library).build()?)
}
