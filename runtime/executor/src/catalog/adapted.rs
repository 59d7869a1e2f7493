//! Tools that an application has adapted: their definitions, and the conversion of their input to the input of the
//! original tool.
//!
//! - A model sends arguments in the adapted schema. Final arguments also have the adapted names, and contain the
//!   presets.
//! - The tool reads its original names. Its errors are translated to the adapted names.

use std::borrow::Cow;

use serde_json::Value;

use toolwright_core::adaptation::Adaptation;
use toolwright_core::error::ToolError;
use toolwright_core::input::{Problem, Problems, Rule};
use toolwright_core::json::pointer::unescape;
use toolwright_core::json::tree::{Node, push_segment};
use toolwright_core::json::{ArgumentsError, canonical_of, read};
use toolwright_core::schema::SchemaProblem;
use toolwright_core::tool::{DeclaredDanger, Definition, Parameter, PresetArgument};
use toolwright_schema::adapted::{AdaptedArgument, arguments, schema};
use toolwright_schema::schema::Checker;

/// The form of arguments: as the model sent them, or final.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Form {
    /// The arguments as the model sent them. A preset argument among them is an unknown key.
    Sent,
    /// The final arguments, with the presets.
    Final,
}

/// The conversion from the input of an adapted tool to the input of the original tool.
pub(crate) struct AdaptedInput {
    checker: Checker,
    arguments: Vec<AdaptedArgument>,
}

/// Adapts a definition. Returns `None` if the adaptation does not change the arguments.
pub(crate) fn adapt(
    definition: &mut Definition,
    adaptation: &Adaptation,
) -> Result<Option<AdaptedInput>, SchemaProblem> {
    if let Some(exposure) = adaptation.exposure() {
        definition.exposure = exposure;
    }
    definition.adapted.exposure = adaptation.exposure();
    definition.adapted.least_danger = adaptation.least_danger();
    if let (DeclaredDanger::Level(level), Some(least)) =
        (definition.danger, adaptation.least_danger())
    {
        definition.danger = DeclaredDanger::Level(level.max(least));
    }
    if adaptation.reason().is_some_and(|it| it.trim().is_empty()) {
        return Err(SchemaProblem::new(
            "",
            "it is adapted to ask a person for no reason; write one that a person understands",
        ));
    }
    definition.adapted.asking = adaptation.reason().map(str::to_owned);
    if adaptation.arguments().is_empty() {
        return Ok(None);
    }
    let arguments = arguments(&definition.input_schema, adaptation.arguments())?;
    let own = std::mem::take(&mut definition.input_schema);
    definition.input_schema = schema(&own, &arguments);
    adapt_parameters(definition, &own, &arguments)?;
    if arguments.iter().all(|it| it.preset.is_none() && it.name == it.own) {
        return Ok(None);
    }
    let checker = Checker::new(&definition.input_schema)?;
    Ok(Some(AdaptedInput { checker, arguments }))
}

fn adapt_parameters(
    definition: &mut Definition,
    own: &Value,
    arguments: &[AdaptedArgument],
) -> Result<(), SchemaProblem> {
    let properties = definition.input_schema.get("properties");
    let of_whole = |it: &AdaptedArgument| {
        let schema = own.get("properties").and_then(|all| all.get(&it.own)).cloned();
        Parameter::of_schema(it.own.clone(), String::new(), schema.unwrap_or_default(), false)
    };
    let mut presets = Vec::new();
    for argument in arguments {
        let found = definition.parameters.iter().position(|it| it.name == argument.own);
        if let Some(value) = argument.preset.clone() {
            let mut parameter = match found {
                Some(found) => definition.parameters.remove(found),
                None => of_whole(argument),
            };
            parameter.name.clone_from(&argument.name);
            presets.push(PresetArgument { parameter, value });
        }
    }
    // All arguments are renamed in one step, because two arguments may swap their names.
    for parameter in &mut definition.parameters {
        let Some(argument) = arguments.iter().find(|it| it.own == parameter.name) else { continue };
        if let Some(schema) = properties.and_then(|it| it.get(&argument.name)) {
            parameter.schema = schema.clone();
        }
        if let Some(text) = &argument.description {
            parameter.description.clone_from(text);
        }
        parameter.name.clone_from(&argument.name);
    }
    for parameter in &definition.parameters {
        let is_alias = |it: &&Parameter| {
            it.name != parameter.name && it.aliases.contains(&parameter.name.as_str())
        };
        if let Some(other) = definition.parameters.iter().find(is_alias) {
            let (name, other) = (&parameter.name, &other.name);
            let message = format!(
                "`{name}` is a name of `{other}` too; choose another name for the argument"
            );
            return Err(SchemaProblem::new("/properties", message));
        }
    }
    if !presets.is_empty() {
        let all: Vec<AdaptedArgument> =
            arguments.iter().map(|it| AdaptedArgument { preset: None, ..it.clone() }).collect();
        definition.adapted.final_schema = Some(schema(own, &all));
    }
    definition.adapted.presets = presets;
    let renamed = arguments.iter().filter(|it| it.name != it.own);
    definition.adapted.renamed = renamed.map(|it| (it.name.clone(), it.own.clone())).collect();
    Ok(())
}

impl AdaptedInput {
    /// Turns a text with adapted names into the text that the tool reads.
    pub(crate) fn own(&self, text: &str, form: Form) -> Result<String, Problems> {
        let node = read(text).map_err(|error| unreadable(&error))?;
        let Node::Object(mut entries) = node else {
            return Err(match self.checker.check_input(text) {
                Err(problems) => Problems::new(problems)
                    .unwrap_or_else(|| Problems::of("an object with the tool's arguments")),
                Ok(()) => Problems::of("an object with the tool's arguments"),
            });
        };
        let mut problems = Vec::new();
        if form == Form::Final {
            entries.retain(|(key, value)| match self.preset(key) {
                None => true,
                Some(preset) if canonical_of(&Node::of(preset)) == canonical_of(value) => false,
                Some(_) => {
                    let mut problem =
                        Problem::new(Rule::Value, "another value", "the value that it is given");
                    problem.prefix(key);
                    problems.push(problem);
                    false
                }
            });
        }
        let names = self.names();
        for (key, _) in entries.iter().filter(|(key, _)| self.is_withheld(key)) {
            let mut problem = Problem::unknown_key(key, names.iter().copied());
            problem.prefix(key);
            problems.push(problem);
        }
        let adapted = Node::Object(entries).text();
        if let Err(found) = self.checker.check_input(&adapted) {
            let is_new = |it: &Problem| !problems.iter().any(|other| other.pointer == it.pointer);
            let found: Vec<Problem> = found.into_iter().filter(is_new).collect();
            problems.extend(found);
        }
        if let Some(problems) = Problems::new(problems) {
            return Err(problems);
        }
        let Ok(Node::Object(entries)) = read(&adapted) else {
            return Err(Problems::of("an object with the tool's arguments"));
        };
        let own = entries.into_iter().map(|(key, value)| (self.own_name(&key).to_owned(), value));
        let presets = self
            .arguments
            .iter()
            .filter_map(|it| Some((it.own.clone(), Node::of(it.preset.as_ref()?))));
        Ok(Node::Object(own.chain(presets).collect()).text())
    }

    /// Translates the tool's problems to the adapted names.
    pub(crate) fn said(&self, problems: Problems) -> Problems {
        problems.map(|mut problem| {
            let mut segments = problem.pointer.splitn(3, '/').skip(1);
            let Some(first) = segments.next().map(|it| unescape(it).into_owned()) else {
                return problem;
            };
            let rest = segments.next().map(|it| format!("/{it}")).unwrap_or_default();
            if rest.is_empty() && problem.rule == Rule::UnknownKey {
                let mut unknown = Problem::unknown_key(&first, self.names().iter().copied());
                unknown.pointer = problem.pointer;
                return unknown;
            }
            match self.arguments.iter().find(|it| it.own == first) {
                Some(AdaptedArgument { preset: Some(_), .. }) => {
                    Problem::new(Rule::Value, "", "what its tool asks for")
                }
                Some(argument) => {
                    problem.pointer.clear();
                    push_segment(&mut problem.pointer, &argument.name);
                    problem.pointer.push_str(&rest);
                    problem
                }
                None => problem,
            }
        })
    }

    /// Returns the adapted name of a key of the tool's own input.
    fn name<'k>(&'k self, own: &'k str) -> &'k str {
        self.arguments.iter().find(|it| it.own == own).map_or(own, |it| it.name.as_str())
    }

    fn own_name<'k>(&'k self, name: &'k str) -> &'k str {
        let found = self.arguments.iter().find(|it| it.name == name && it.preset.is_none());
        found.map_or(name, |it| it.own.as_str())
    }

    fn preset(&self, name: &str) -> Option<&Value> {
        self.arguments.iter().find(|it| it.name == name)?.preset.as_ref()
    }

    /// Lists the names that a model may send.
    fn names(&self) -> Vec<&str> {
        let shown = self.arguments.iter().filter(|it| it.preset.is_none());
        shown.map(|it| it.name.as_str()).collect()
    }

    /// Returns whether models must not send a key, although the tool may know it or accepts any key.
    fn is_withheld(&self, key: &str) -> bool {
        let is_shown = self.arguments.iter().any(|it| it.preset.is_none() && it.name == key);
        !is_shown && self.arguments.iter().any(|it| it.name == key || it.own == key)
    }
}

/// Converts the texts of the calls of an adapted tool.
impl super::Entry {
    /// Returns whether the application has changed the arguments of the tool.
    #[inline]
    pub(crate) fn is_adapted(&self) -> bool {
        self.adapted.is_some()
    }

    /// Returns the text that the tool reads.
    pub(crate) fn own_text<'t>(&self, text: &'t str, form: Form) -> Result<Cow<'t, str>, Problems> {
        match &self.adapted {
            None => Ok(Cow::Borrowed(text)),
            Some(adapted) => adapted.own(text, form).map(Cow::Owned),
        }
    }

    /// Converts final arguments to the text that the tool reads, for a companion of the tool, such as its preview.
    pub(crate) fn own_final_text<'t>(&self, text: &'t str) -> Result<Cow<'t, str>, ToolError> {
        self.own_text(text, Form::Final).map_err(|problems| {
            let tool = &self.name;
            ToolError::internal(format!("`{tool}` does not accept its final arguments: {problems}"))
        })
    }

    /// Translates the tool's problems to the adapted names.
    pub(crate) fn said(&self, problems: Problems) -> Problems {
        match &self.adapted {
            None => problems,
            Some(adapted) => adapted.said(problems),
        }
    }

    /// Lists the final arguments that the model did not send: the tool's defaults and the presets.
    pub(crate) fn filled(&self, by_tool: Vec<(&'static str, Value)>) -> Vec<(String, Value)> {
        let presets =
            self.definition.presets().map(|(name, value)| (name.to_owned(), value.clone()));
        let by_tool = by_tool.into_iter().map(|(own, value)| match &self.adapted {
            None => (own.to_owned(), value),
            Some(adapted) => (adapted.name(own).to_owned(), value),
        });
        by_tool.chain(presets).collect()
    }
}

fn unreadable(error: &ArgumentsError) -> Problems {
    if let ArgumentsError::Duplicate { pointer } = error {
        let key = pointer.rsplit('/').next().unwrap_or_default();
        let mut problem = Problem::duplicate_key(&unescape(key));
        problem.pointer.clone_from(pointer);
        if let Some(problems) = Problems::new(vec![problem]) {
            return problems;
        }
    }
    let problem = Problem::new(Rule::Syntax, "", format!("JSON ({error})"));
    Problems::new(vec![problem]).unwrap_or_else(|| Problems::of("JSON"))
}
