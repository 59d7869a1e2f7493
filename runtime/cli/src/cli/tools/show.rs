//! `tools show NAME…`: prints a definition completely.

use std::time::Duration;

use clap::{ArgMatches, Command};
use serde::Serialize;

use crate::cli::field::{self, Field};
use crate::cli::flags::{self, Form};
use crate::cli::names::Words;
use crate::cli::ordered::{object, text};
use crate::cli::streams::print;
use crate::cli::{Exit, help};
use toolwright_core::schema::in_words;
use toolwright_core::tool::first_sentence;
use toolwright_core::tool::{DeclaredApproval, DeclaredDanger, Definition, Retry, Timeout};
use toolwright_executor::catalog::Catalog;

pub(super) const NAME: &str = "show";

pub(super) fn command() -> Command {
    Command::new(NAME)
        .about("Show all that a tool's definition says")
        .arg(super::names("The tools, as models call them").required(true))
        .arg(flags::output("text"))
}

pub(super) fn run(catalog: &Catalog, matches: &ArgMatches) -> Result<(), Exit> {
    let named = super::find_named(catalog, matches)?;
    match flags::form(matches) {
        Form::Json => named.into_iter().try_for_each(|it| print(whole(it), Form::Json)),
        Form::Text => {
            let pages: Vec<String> = named.into_iter().map(page).collect();
            print(pages.join("\n\n"), Form::Text)
        }
    }
}

fn page(definition: &Definition) -> String {
    let requires: Vec<String> = definition.requires.iter().map(needs).collect();
    let facts = [
        ("Command", Some(Words::of(definition).to_string())),
        ("Title", definition.title.clone()),
        ("Tags", some(definition.tags.join(", "))),
        ("Danger", some(help::danger(definition).to_owned())),
        ("Effect", some(help::effect(definition).to_owned())),
        ("Approval", help::approval(definition)),
        (
            "Validate",
            definition.validates.then(|| "it checks its input before anybody is asked".into()),
        ),
        (
            "Preview",
            definition.previews.then(|| "an approver is shown what a call would do".into()),
        ),
        ("Reconcile", definition.reconciles.then(|| "it finds out what became of a call".into())),
        ("Presets", presets(definition)),
        ("Footprint", definition.declares_footprint.then(|| "declared".to_owned())),
        ("Retry", retry(definition)),
        ("Timeout", timeouts(definition)),
        ("Limit", definition.limit.map(|calls| format!("calls at once: {calls}"))),
        ("Repair", definition.repair.map(|level| word(&level))),
        ("Exposure", Some(word(&definition.exposure)).filter(|it| it != "direct")),
        (
            "Terminal",
            definition.terminal.then(|| "an agent's run ends when a call succeeds".into()),
        ),
        ("Needs", some(requires.join(", "))),
        ("Written at", some(definition.location.to_string())),
    ];
    let facts: Vec<String> = facts
        .into_iter()
        .filter_map(|(name, value)| value.map(|value| format!("{:<12}{value}", format!("{name}:"))))
        .collect();
    let fields = field::of(definition);
    let width = fields.iter().map(|it| it.key.chars().count()).max().unwrap_or(0);
    let parameters: Vec<String> =
        fields.iter().map(|field| parameter(definition, field, width)).collect();
    let mut page =
        format!("{}\n\n{}\n\n{}", definition.name, definition.description, facts.join("\n"));
    if !parameters.is_empty() {
        page = format!("{page}\n\nParameters:\n{}", parameters.join("\n"));
    }
    page
}

/// Describes the arguments with a preset value.
fn presets(definition: &Definition) -> Option<String> {
    let is_secret = |name: &str| definition.secrets().any(|it| it == name);
    let shown = definition.presets().map(|(name, value)| match is_secret(name) {
        true => format!("{name} = (secret)"),
        false => format!("{name} = {value}"),
    });
    some(shown.collect::<Vec<_>>().join(", "))
}

fn parameter(definition: &Definition, field: &Field<'_>, width: usize) -> String {
    let what = in_words(field.schema, &definition.input_schema);
    let required = if field.required { "required" } else { "optional" };
    let secret = if field.secret { ", secret" } else { "" };
    let is_sink = definition.sinks().any(|it| it == field.key);
    let sink = if is_sink { ", leaves the machine" } else { "" };
    let sentence = first_sentence(field.description);
    let default = field.default().map(|it| format!(", {it} when absent")).unwrap_or_default();
    format!("  {:width$}  {sentence} ({what}, {required}{default}{secret}{sink})", field.key)
}

fn needs(requirement: &toolwright_core::tool::Requirement) -> String {
    let exclusive = if requirement.exclusive { "mut " } else { "" };
    format!("&{exclusive}{}", requirement.type_name)
}

/// Describes the tool's own retry settings.
fn retry(definition: &Definition) -> Option<String> {
    let Retry { attempts, delay, max_delay } = definition.retry;
    let parts = [
        attempts.map(|attempts| format!("attempts: {attempts}")),
        delay.map(|delay| format!("first delay: {delay:?}")),
        max_delay.map(|delay| format!("longest delay: {delay:?}")),
    ];
    some(parts.into_iter().flatten().collect::<Vec<_>>().join(", "))
}

/// Describes the tool's own limits for an attempt and a whole call.
fn timeouts(definition: &Definition) -> Option<String> {
    let parts = [("attempt", definition.timeout), ("call", definition.total_timeout)];
    let parts = parts.map(|(what, time)| time_of(time).map(|time| format!("{what}: {time}")));
    some(parts.into_iter().flatten().collect::<Vec<_>>().join(", "))
}

/// Writes a time as the attribute spells it; `None` if the executor decides.
fn time_of(timeout: Timeout) -> Option<String> {
    match timeout {
        Timeout::Default => None,
        Timeout::None => Some("none".to_owned()),
        Timeout::After(time) => Some(format!("{time:?}")),
    }
}

/// Returns the word that JSON has for a value.
fn word(value: &impl Serialize) -> String {
    json(value).trim_matches('"').to_owned()
}

fn some(words: String) -> Option<String> {
    Some(words).filter(|words| !words.is_empty())
}

fn whole(definition: &Definition) -> String {
    let requires: Vec<String> = definition.requires.iter().map(needs).collect();
    object([
        ("name", text(&definition.name)),
        ("title", json(&definition.title)),
        ("description", text(&definition.description)),
        ("command", text(&Words::of(definition).to_string())),
        ("group", json(&definition.group)),
        ("tags", json(&definition.tags)),
        ("terminal", json(&definition.terminal)),
        ("danger", text(danger(definition))),
        ("effect", json(&definition.effect)),
        ("approval", approval(definition)),
        ("validates", json(&definition.validates)),
        ("previews", json(&definition.previews)),
        ("reconciles", json(&definition.reconciles)),
        ("declares_footprint", json(&definition.declares_footprint)),
        ("declares_sinks", json(&definition.declares_sinks)),
        ("came_at_run_time", json(&definition.came_at_run_time)),
        ("retry", retry_object(definition)),
        ("timeout", json(&time_of(definition.timeout))),
        ("total_timeout", json(&time_of(definition.total_timeout))),
        ("limit", json(&definition.limit)),
        ("repair", json(&definition.repair)),
        ("exposure", json(&definition.exposure)),
        ("requires", json(&requires)),
        ("location", text(&definition.location.to_string())),
        ("input_schema", json(&definition.input_schema)),
        ("output_schema", json(&definition.output_schema)),
    ])
}

/// Writes the retry settings as JSON; `null` if the executor decides.
fn retry_object(definition: &Definition) -> String {
    let Retry { attempts, delay, max_delay } = definition.retry;
    let spelled = |delay: Option<Duration>| json(&delay.map(|delay| format!("{delay:?}")));
    object([
        ("attempts", json(&attempts)),
        ("delay", spelled(delay)),
        ("max_delay", spelled(max_delay)),
    ])
}

/// Describes the danger in one word for programs.
pub(super) fn danger(definition: &Definition) -> &'static str {
    match definition.danger {
        DeclaredDanger::Level(level) => level.as_str(),
        DeclaredDanger::Computed => "computed",
    }
}

/// Writes the reason for approval; `null` if no approval is needed, `true` if the input decides.
fn approval(definition: &Definition) -> String {
    if let Some(reason) = definition.asks_for() {
        return text(reason);
    }
    match definition.approval {
        DeclaredApproval::Never => "null".to_owned(),
        DeclaredApproval::Always(reason) => text(reason),
        DeclaredApproval::Computed => "true".to_owned(),
    }
}

pub(super) fn json(value: &impl Serialize) -> String {
    serde_json::to_string(value).expect("text, lists and JSON values always serialise")
}
