//! Converts a registration to an entry: the tool with its schema, ready to be called.

use std::sync::Arc;

use toolwright_core::adaptation::Adaptation;
use toolwright_core::registration::{Registration, Source};
use toolwright_core::schema::SchemaProblem;
use toolwright_core::tool::{Danger, DeclaredDanger, Definition, Timeout};
use toolwright_schema::schema;

use super::problem::{RegistryProblem, wrong_with_name};
use crate::catalog::{Entry, Origin};
use crate::dynamic;
use crate::dynamic::DynamicTool;

/// Prepares a tool for registration: makes its schema and checks it.
pub(super) fn prepare(
    registration: Registration,
    origin: Origin,
    adaptation_of: impl FnOnce(&Definition) -> Adaptation,
) -> Result<Entry, Box<RegistryProblem>> {
    let (name, location) = (registration.name().to_owned(), registration.location());
    if let Some(problem) = wrong_with_name(&name) {
        return Err(RegistryProblem::Name { name, location, problem }.into());
    }
    let unusable =
        |problem| Box::new(RegistryProblem::Schema { name: name.clone(), location, problem });
    let (source, changes) = registration.into_source();
    let (spec, mut definition, keys, body) = match source {
        Source::Handle(handle) => {
            let spec = handle.spec();
            let (definition, keys) = schema::describe(spec).map_err(unusable)?;
            (spec, definition, keys, None)
        }
        Source::Made(_, made) => match made.downcast::<DynamicTool>() {
            Ok(tool) => {
                let dynamic::PreparedTool { spec, definition, keys, body } =
                    tool.prepare().map_err(unusable)?;
                (spec, definition, keys, Some(Arc::new(body)))
            }
            Err(_) => {
                let message = "it was made by another version of toolwright; build the program with only one version";
                return Err(unusable(SchemaProblem::new("", message)));
            }
        },
    };
    let adaptation = changes.apply(&mut definition);
    let name = || definition.name.clone();
    if body.is_some() && definition.description.trim().is_empty() {
        return Err(RegistryProblem::NoDescription { name: name(), location }.into());
    }
    if definition.limit == Some(0) {
        return Err(RegistryProblem::NoCalls { name: name(), location }.into());
    }
    if definition.is_external && definition.timeout == Timeout::None {
        return Err(RegistryProblem::NoDeadline { name: name(), location }.into());
    }
    if definition.is_background && (definition.terminal || !definition.is_external) {
        let is_terminal = definition.is_external;
        return Err(RegistryProblem::Background { name: name(), location, is_terminal }.into());
    }
    definition.came_at_run_time = body.is_some() || origin == Origin::Resolver;
    if origin == Origin::Resolver && definition.danger == DeclaredDanger::Level(Danger::Safe) {
        definition.danger = DeclaredDanger::Level(Danger::Moderate);
    }
    let adaptation = adaptation.and(adaptation_of(&definition));
    let name = name();
    Entry::new(spec, Arc::new(definition), adaptation, Arc::new(keys), body, origin)
        .map_err(|problem| RegistryProblem::Adaptation { name, location, problem }.into())
}
