//! Shows what a call would do, without running the tool.

use super::flags::Form;
use super::names::Words;
use super::ordered::{entries, object, text};
use super::render::for_people;
use toolwright_core::footprint::Facts;
use toolwright_core::repairs::Repairs;
use toolwright_core::tool::Definition;
use toolwright_schema::repair::replay;

/// The text shown for a secret.
const HIDDEN: &str = r#""[secret]""#;

pub(super) fn describe(
    definition: &Definition,
    arguments: &str,
    facts: &Facts,
    form: Form,
) -> String {
    let touches = facts.touches();
    let reads = touches.and_then(|it| it.reads_named()).map(Iterator::collect);
    let writes = touches.and_then(|it| it.writes_named()).map(Iterator::collect);
    let changes = facts.repairs().map(Repairs::changes).unwrap_or_default();
    let arguments = match replay(arguments, changes) {
        Some(mended) => without_secrets(definition, &mended),
        // The recorded change of a secret has no values, so the repair cannot be replayed.
        None => HIDDEN.to_owned(),
    };
    let repairs: Vec<String> = changes.iter().map(|change| text(&change.to_string())).collect();
    let shown = object([
        ("tool", text(&definition.name)),
        ("command", text(&Words::of(definition).to_string())),
        ("arguments", arguments),
        ("repairs", format!("[{}]", repairs.join(","))),
        ("danger", text(facts.danger.as_str())),
        ("approval", facts.approval.as_deref().map_or_else(|| "null".to_owned(), text)),
        ("reads", resources(reads)),
        ("writes", resources(writes)),
    ]);
    match form {
        Form::Json => shown,
        Form::Text => for_people(&shown),
    }
}

fn resources(named: Option<Vec<(&'static str, Option<&str>)>>) -> String {
    let Some(named) = named else { return text("everything") };
    let one = |(kind, name): (&str, Option<&str>)| match name {
        Some(name) => text(&format!("{kind} {name}")),
        None => text(&format!("every {kind}")),
    };
    format!("[{}]", named.into_iter().map(one).collect::<Vec<_>>().join(","))
}

fn without_secrets(definition: &Definition, arguments: &str) -> String {
    let fields = super::field::of(definition);
    let is_secret = |key: &str| fields.iter().any(|field| field.secret && field.key == key);
    let Some(entries) = entries(arguments) else { return arguments.trim().to_owned() };
    object(entries.iter().map(|(key, value)| {
        let value = if is_secret(key) { HIDDEN } else { value.get() };
        (key.as_str(), value.to_owned())
    }))
}
