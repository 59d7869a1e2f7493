//! The fingerprint of a definition, which a decision is bound to.

use sha2::{Digest, Sha256};

use super::digest::frame;
use toolwright_core::json::canonical_of;
use toolwright_core::json::tree::Node;
use toolwright_core::tool::{
    Adapted, DeclaredApproval, DeclaredDanger, Definition, Effect, Exposure,
};

const TOOL: &str = "toolwright tool 1";

/// Computes the fingerprint of a definition, as 64 hexadecimal digits. Equal definitions have equal fingerprints, in
/// every process.
///
/// The fingerprint covers the tool's name, description, input schema, danger, effect and approval. It also covers which
/// parameters are secret and which leave the machine, whether another process carries out the call, what the tool says
/// of its implementation, and the application's changes to the tool. It does not cover the value of a secret preset,
/// which is part of each call's digest instead.
///
/// Some facts are computed by code: what a call touches, and the danger and the approval if they are `Computed`. A
/// change of that code does not change the fingerprint; only the computed facts of each call change.
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
    if let Some(implementation) = &definition.implementation {
        parts.extend(["implementation", implementation]);
    }
    let adapted = adapted(&definition.adapted);
    parts.extend(adapted.iter().map(String::as_str));
    hex::encode(Sha256::digest(frame(&parts)))
}

/// Lists the changes that an application has made to a tool; empty if there are none.
fn adapted(adapted: &Adapted) -> Vec<String> {
    let Adapted { exposure, least_danger, asking, presets, renamed, .. } = adapted;
    let mut parts = Vec::new();
    let mut add = |what: &str, value: String| parts.extend([what.to_owned(), value]);
    if let Some(exposure) = exposure {
        let exposure = match exposure {
            Exposure::Direct => "direct",
            Exposure::Deferred => "deferred",
            Exposure::Hidden => "hidden",
        };
        add("exposed", exposure.to_owned());
    }
    if let Some(danger) = least_danger {
        add("danger at least", danger.as_str().to_owned());
    }
    if let Some(reason) = asking {
        add("asking", reason.clone());
    }
    for preset in presets {
        let value = match preset.parameter.secret {
            true => "a secret".to_owned(),
            false => canonical_of(&Node::of(&preset.value)),
        };
        add("preset", frame(&[&preset.parameter.name, &value]));
    }
    for (to, from) in renamed {
        add("renamed", frame(&[from, to]));
    }
    parts
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
