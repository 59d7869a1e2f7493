//! Decides for each operation of a document whether it becomes a tool, is excluded by a rule, or is refused. The
//! functions are pure.

use std::collections::BTreeMap;

use toolwright::unstable::foreign::{Checker, TypeNames, input_schema};
use toolwright::{Adaptation, Danger, Effect, Exposure, SchemaProblem};

use crate::argument::Input;
use crate::document::Document;
use crate::names::{self, Names};
use crate::operation::{self, FoundOperation};
use crate::refusal::Refusal;
use crate::request::Template;
use crate::routes::{Route, RouteError, Routes, To};
use crate::security::{self, Requirement};

/// How many tools of one document, without the hidden ones, are listed for a model. If a document has more, the tools
/// to which no rule applies are deferred, and the model searches for them.
pub(crate) const MOST_SHOWN: usize = 40;

/// An operation of a document, and the decision about it.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct PlannedOperation {
    /// The method and the path, such as `GET /pets`; for an invalid operation, its place in the document.
    pub operation: String,
    /// The decision about the operation.
    pub outcome: Outcome,
}

/// The decision about an operation.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Outcome {
    /// The operation is a tool.
    Tool {
        /// The tool's name.
        name: String,
        /// The effect of a call.
        effect: Effect,
        /// The danger of a call: how carefully a person should look at it.
        danger: Danger,
        /// How models find the tool: in their list, by a search, or not at all.
        exposure: Exposure,
    },
    /// A rule excludes the operation.
    Excluded,
    /// The operation cannot be a tool.
    Refused(Refusal),
}

/// An operation, with the parts from which its tool is made.
#[derive(Debug)]
pub(crate) struct Draft<'d> {
    pub(crate) found: FoundOperation<'d>,
    pub(crate) input: Input,
    pub(crate) path: Template,
    pub(crate) requirements: Vec<Requirement>,
    pub(crate) route: Option<&'d Route>,
    pub(crate) name: String,
    pub(crate) effect: Effect,
    pub(crate) danger: Danger,
    pub(crate) exposure: Exposure,
}

/// The decision about an operation: the draft of a tool, `None` if a rule excludes the operation, or a refusal.
pub(crate) type Drafted<'d> = Result<Option<Draft<'d>>, Refusal>;

/// Makes the decision about every operation, in the order of paths and methods.
pub(crate) fn plan<'d>(
    document: &'d Document,
    routes: &'d Routes,
    prefix: Option<&str>,
) -> Result<Vec<(String, Drafted<'d>)>, RouteError> {
    let found = operation::all(document);
    let counted = count(routes, &found)?;
    let mut names = Names::default();
    for route in &routes.routes {
        route.name.iter().for_each(|name| {
            names.take(name);
        });
    }
    let mut planned = Vec::new();
    for (found, number) in found.into_iter().zip(counted) {
        let found = match found {
            Ok(found) => found,
            Err(refusal) => {
                planned.push((refusal.place.clone(), Err(refusal)));
                continue;
            }
        };
        let (title, route) = (found.title(), number.and_then(|it| routes.routes.get(it)));
        if route.is_some_and(|it| it.to == To::Excluded) {
            planned.push((title, Ok(None)));
            continue;
        }
        let draft = match draft(document, found, route, prefix, &mut names) {
            Ok(draft) => draft,
            Err(refusal) => {
                planned.push((title, Err(refusal)));
                continue;
            }
        };
        if let (Some(number), Some(route)) = (number, route) {
            check_presets(number, route, &title, &draft.input)?;
        }
        planned.push((title, finish(draft).map(Some)));
    }
    let tools = planned
        .iter()
        .filter(|(_, it)| matches!(it, Ok(Some(draft)) if draft.exposure != Exposure::Hidden));
    let is_much = tools.count() > MOST_SHOWN;
    for (_, outcome) in &mut planned {
        if let Ok(Some(draft)) = outcome
            && draft.route.is_none()
            && is_much
        {
            draft.exposure = Exposure::Deferred;
        }
    }
    Ok(planned)
}

impl PlannedOperation {
    pub(crate) fn of(operation: &str, outcome: &Drafted<'_>) -> Self {
        let outcome = match outcome {
            Ok(Some(draft)) => Outcome::Tool {
                name: draft.name.clone(),
                effect: draft.effect,
                danger: draft.danger,
                exposure: draft.exposure,
            },
            Ok(None) => Outcome::Excluded,
            Err(refusal) => Outcome::Refused(refusal.clone()),
        };
        Self { operation: operation.to_owned(), outcome }
    }
}

/// Finds the rule for each operation. Refuses a rule that applies to no operation, or that gives one name to several.
fn count(
    routes: &Routes,
    found: &[Result<FoundOperation<'_>, Refusal>],
) -> Result<Vec<Option<usize>>, RouteError> {
    let of =
        |it: &Result<FoundOperation<'_>, Refusal>| it.as_ref().ok().and_then(|it| routes.of(it));
    let counted: Vec<Option<usize>> = found.iter().map(of).collect();
    let mut uses: BTreeMap<usize, Vec<String>> = BTreeMap::new();
    for (found, number) in found.iter().zip(&counted) {
        if let (Ok(found), Some(number)) = (found, number) {
            uses.entry(*number).or_default().push(found.title());
        }
    }
    for (index, route) in routes.routes.iter().enumerate() {
        let (number, operations) =
            (index + 1, uses.get(&index).map(Vec::as_slice).unwrap_or_default());
        if operations.is_empty() {
            let matches = found.iter().flatten().any(|it| route.matches(it));
            let why = match matches {
                true => "earlier rules apply to all operations that it matches",
                false => "it matches none",
            };
            return Err(RouteError::Unused { number, rule: route.shown(), why });
        }
        if let (Some(name), [_, _, ..]) = (&route.name, operations) {
            return Err(RouteError::Renames {
                number,
                name: name.clone(),
                count: operations.len(),
                operations: operations[..2].join(" and "),
            });
        }
    }
    Ok(counted)
}

fn draft<'d>(
    document: &'d Document,
    found: FoundOperation<'d>,
    route: Option<&'d Route>,
    prefix: Option<&str>,
    names: &mut Names,
) -> Result<Draft<'d>, Refusal> {
    // These methods concern the connection and its proxies, not a resource of the API.
    if matches!(&*found.method, "CONNECT" | "TRACE") {
        let why = format!("{} is a method for a connection, and no tool", found.method);
        return Err(Refusal::new(&found.at.place, why));
    }
    if reqwest::Method::from_bytes(found.method.as_bytes()).is_err() {
        return Err(Refusal::new(
            &found.at.place,
            format!("`{}` is not an HTTP method", found.method),
        ));
    }
    let requirements = security::requirements(document, &found)?;
    let input = Input::read(document, &found, &requirements)?;
    let path = Template::of(found.path).map_err(|why| Refusal::new(&found.at.place, why))?;
    check_path(&found, &path, &input)?;
    let title = found.title();
    let base = found.id().unwrap_or(&title);
    let name = match route.and_then(|it| it.name.clone()) {
        Some(name) => name,
        None => names.of(&prefix.map_or_else(|| base.to_owned(), |it| format!("{it}_{base}"))),
    };
    let (effect, danger) = judge(&found.method, input.key_header.is_some());
    let danger = route.and_then(|it| it.danger).unwrap_or(danger);
    let exposure = match route.map(|it| it.to) {
        Some(To::Hidden) => Exposure::Hidden,
        Some(To::Deferred) => Exposure::Deferred,
        _ => Exposure::Direct,
    };
    Ok(Draft { found, input, path, requirements, route, name, effect, danger, exposure })
}

/// Normalizes the schema of the draft's input.
fn finish(mut draft: Draft<'_>) -> Result<Draft<'_>, Refusal> {
    let refused = |problems: Vec<SchemaProblem>| {
        let reasons: Vec<String> = problems.iter().take(3).map(ToString::to_string).collect();
        let place = draft.found.at.place.as_str();
        Refusal::new(place, format!("its input has no schema: {}", reasons.join("; ")))
    };
    let normal = input_schema(&draft.input.schema, TypeNames::Foreign).map_err(refused)?;
    // Refuse a schema that no executor accepts, since one such tool would prevent the whole executor from being built.
    Checker::new(&normal.schema).map_err(|problem| refused(vec![problem]))?;
    draft.input.schema = normal.schema;
    Ok(draft)
}

/// Refuses a path with a parameter that the document does not describe.
fn check_path(found: &FoundOperation<'_>, path: &Template, input: &Input) -> Result<(), Refusal> {
    match path.parameters().find(|it| !input.fills_path(it)) {
        Some(name) => {
            let reason = format!("the path has `{{{name}}}`, which is none of its parameters");
            Err(Refusal::new(&found.at.place, reason))
        }
        None => Ok(()),
    }
}

fn check_presets(
    index: usize,
    route: &Route,
    operation: &str,
    input: &Input,
) -> Result<(), RouteError> {
    let takes = || input.arguments.iter().map(|it| it.name.as_str());
    match route.arguments.keys().find(|given| !takes().any(|it| it == given.as_str())) {
        Some(argument) => Err(RouteError::Argument {
            number: index + 1,
            argument: argument.clone(),
            operation: operation.to_owned(),
            takes: takes().collect::<Vec<_>>().join("`, `"),
        }),
        None => Ok(()),
    }
}

/// Returns the effect and the danger of a call by its HTTP method, assuming that the server respects the semantics of
/// HTTP.
fn judge(method: &str, has_key: bool) -> (Effect, Danger) {
    match method {
        "GET" | "HEAD" | "OPTIONS" | "QUERY" => (Effect::Read, Danger::Safe),
        "DELETE" => (Effect::Idempotent, Danger::Dangerous),
        "PUT" => (Effect::Idempotent, Danger::Moderate),
        _ if has_key => (Effect::Keyed, Danger::Moderate),
        _ => (Effect::Once, Danger::Moderate),
    }
}

impl Draft<'_> {
    /// Returns the operation's first tag, which groups its tool with others.
    pub(crate) fn group(&self) -> Option<String> {
        self.found.tags().next().map(names::fitting).filter(|it| it != "_")
    }

    /// Returns the changes that a rule makes to the tool: preset arguments, and the reason to ask a person about each
    /// call.
    pub(crate) fn adaptation(&self) -> Adaptation {
        let Some(route) = self.route else { return Adaptation::new() };
        let given = route.arguments.iter();
        let adaptation =
            given.fold(Adaptation::new(), |all, (name, value)| all.preset(name, value.clone()));
        match &route.approval {
            Some(reason) => adaptation.asking(reason),
            None => adaptation,
        }
    }
}
