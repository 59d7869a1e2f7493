//! `tools show NAME…`: a definition with all that it says.

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
use toolwright_core::tool::{DeclaredApproval, DeclaredDanger, Definition};
use toolwright_executor::catalog::Catalog;

pub(super) const NAME: &str = "show";

pub(super) fn command() -> Command {
    Command::new(NAME)
        .about("Show all that a tool's definition says")
        .arg(super::names("The tools, as models call them").required(true))
        .arg(flags::output("text"))
}

pub(super) fn run(catalog: &Catalog, matches: &ArgMatches) -> Result<(), Exit> {
    let named = super::named(catalog, matches)?;
    match flags::form(matches) {
        Form::Json => named.into_iter().try_for_each(|it| print(whole(it))),
        Form::Text => {
            let pages: Vec<String> = named.into_iter().map(page).collect();
            print(pages.join("\n\n"))
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

fn parameter(definition: &Definition, field: &Field<'_>, width: usize) -> String {
    let what = in_words(field.schema, &definition.input_schema);
    let required = if field.required { "required" } else { "optional" };
    let secret = if field.secret { ", secret" } else { "" };
    let sentence = first_sentence(field.description);
    let default = field.default().map(|it| format!(", {it} when absent")).unwrap_or_default();
    format!("  {:width$}  {sentence} ({what}, {required}{default}{secret})", field.key)
}

fn needs(requirement: &toolwright_core::tool::Requirement) -> String {
    let exclusive = if requirement.exclusive { "mut " } else { "" };
    format!("&{exclusive}{}", requirement.type_name)
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
        ("exposure", json(&definition.exposure)),
        ("requires", json(&requires)),
        ("location", text(&definition.location.to_string())),
        ("input_schema", json(&definition.input_schema)),
        ("output_schema", json(&definition.output_schema)),
    ])
}

/// One word for programs.
pub(super) fn danger(definition: &Definition) -> &'static str {
    match definition.danger {
        DeclaredDanger::Level(level) => help::danger_word(level),
        DeclaredDanger::Computed => "computed",
    }
}

/// The reason, `null` where nobody is asked, `true` where the input decides.
fn approval(definition: &Definition) -> String {
    match definition.approval {
        DeclaredApproval::Never => "null".to_owned(),
        DeclaredApproval::Always(reason) => text(reason),
        DeclaredApproval::Computed => "true".to_owned(),
    }
}

pub(super) fn json(value: &impl Serialize) -> String {
    serde_json::to_string(value).expect("text, lists and JSON values always serialise")
}
