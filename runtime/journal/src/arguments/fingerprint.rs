//! The fingerprint of a definition, to which a decision is bound.

use sha2::{Digest, Sha256};

use super::digest::frame;
use toolwright_core::json::canonical_of;
use toolwright_core::json::tree::Node;
use toolwright_core::tool::{DeclaredApproval, DeclaredDanger, Definition, Effect};

const TOOL: &str = "toolwright tool 1";

/// Computes the fingerprint of a definition, as 64 hexadecimal digits: of its name, description, input schema, danger,
/// effect and approval, of which parameters are secret and which leave the machine, and of whether it is carried out
/// elsewhere. Equal definitions have one, in every process.
///
/// What a call touches is computed by code, as are danger and approval where they are `Computed`: a change of that code
/// is not seen here. It is judged by what it says of each call.
///
/// ```
/// use toolwright::unstable::arguments::fingerprint;
/// use toolwright::{Registry, tool};
///
/// /// Says hello.
/// #[tool(effect = read)]
/// async fn hello() -> &'static str {
///     "hello"
/// }
///
/// let registry = Registry::of([HELLO])?;
/// let definition = registry.get("hello").expect("registered");
/// assert_eq!(fingerprint(&definition).len(), 64);
/// # Ok::<(), toolwright::RegistryError>(())
/// ```
#[must_use]
pub fn fingerprint(definition: &Definition) -> String {
    let (approval, reason) = match definition.approval {
        DeclaredApproval::Never => ("never", ""),
        DeclaredApproval::Always(reason) => ("always", reason),
        DeclaredApproval::Computed => ("computed", ""),
    };
    let secrets: Vec<&str> = definition.secrets().collect();
    let input_schema = canonical_of(&Node::of(&definition.input_schema));
    let secrets = frame(&secrets);
    let mut parts = vec![
        TOOL,
        &definition.name,
        &definition.description,
        &input_schema,
        danger(definition.danger),
        effect(definition.effect),
        approval,
        reason,
        &secrets,
    ];
    if definition.is_external {
        parts.push("external");
    }
    let sinks: Vec<&str> = definition.sinks().collect();
    let framed = frame(&sinks);
    if !sinks.is_empty() {
        parts.extend(["sinks", &framed]);
    }
    hex::encode(Sha256::digest(frame(&parts)))
}

fn danger(danger: DeclaredDanger) -> &'static str {
    match danger {
        DeclaredDanger::Level(level) => level.as_str(),
        DeclaredDanger::Computed => "computed",
    }
}

fn effect(effect: Effect) -> &'static str {
    match effect {
        Effect::Read => "read",
        Effect::Idempotent => "idempotent",
        Effect::Keyed => "keyed",
        Effect::Once => "once",
    }
}
