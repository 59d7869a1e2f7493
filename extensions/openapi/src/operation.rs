//! One operation as the document describes it: its name, its parameters, and its answers.

mod parameter;

use serde_json::Value;

use crate::document::{Document, LocatedValue, described};
use crate::refusal::Refusal;

pub(crate) use parameter::{Parameter, Place, Style, header_key};

/// The HTTP methods that are keys of a path item.
const METHODS: [&str; 9] =
    ["delete", "get", "head", "options", "patch", "post", "put", "query", "trace"];

/// An operation in the document whose parameters and answers have not been read yet.
#[derive(Debug)]
pub(crate) struct FoundOperation<'d> {
    /// The HTTP method in upper case.
    pub(crate) method: String,
    pub(crate) path: &'d str,
    pub(crate) at: LocatedValue<'d>,
    item: LocatedValue<'d>,
}

/// Returns every operation of a document, sorted by path and method.
pub(crate) fn all(document: &Document) -> Vec<Result<FoundOperation<'_>, Refusal>> {
    let root = LocatedValue { value: &document.root, place: String::new() };
    let paths = root.get("paths").map(|it| it.entries()).unwrap_or_default();
    let paths = paths.into_iter().filter(|(path, _)| !path.starts_with("x-"));
    let mut found = Vec::new();
    for (path, item) in paths {
        match document.follow(item) {
            Ok(item) => found.extend(of_item(path, item).into_iter().map(Ok)),
            Err(refusal) => found.push(Err(refusal)),
        }
    }
    found
}

fn of_item<'d>(path: &'d str, item: LocatedValue<'d>) -> Vec<FoundOperation<'d>> {
    let entries = item.entries();
    // `OpenAPI` 3.2 lists methods without a key of their own in this member.
    let additional = item.get("additionalOperations").map(|it| it.entries()).unwrap_or_default();
    let known = entries.into_iter().filter(|(method, _)| METHODS.contains(method));
    let found = known.chain(additional).filter(|(_, at)| at.value.is_object());
    found
        .map(|(method, at)| FoundOperation {
            method: method.to_ascii_uppercase(),
            path,
            at,
            item: item.clone(),
        })
        .collect()
}

impl<'d> FoundOperation<'d> {
    /// Returns the operation's own name (`operationId`), if it has one.
    pub(crate) fn id(&self) -> Option<&'d str> {
        self.at.text("operationId").map(str::trim).filter(|it| !it.is_empty())
    }

    /// Returns the method and the path, by which people refer to the operation.
    pub(crate) fn title(&self) -> String {
        format!("{} {}", self.method, self.path)
    }

    pub(crate) fn tags(&self) -> impl Iterator<Item = &'d str> {
        let tags = self.at.value.get("tags").and_then(Value::as_array);
        tags.into_iter().flatten().filter_map(Value::as_str)
    }

    /// Returns the servers of the operation or of its path, if either has its own.
    pub(crate) fn servers(&self) -> Option<LocatedValue<'d>> {
        let of = |at: &LocatedValue<'d>| {
            at.get("servers").filter(|it| it.value.as_array().is_some_and(|it| !it.is_empty()))
        };
        of(&self.at).or_else(|| of(&self.item))
    }

    /// Returns the parameters of the operation, and those parameters of its path that the operation does not replace by
    /// a parameter of the same name and place.
    pub(crate) fn parameters(&self, document: &'d Document) -> Result<Vec<Parameter<'d>>, Refusal> {
        let mut read: Vec<Parameter<'d>> = Vec::new();
        for owner in [&self.at, &self.item] {
            let Some(list) = owner.get("parameters") else { continue };
            if !list.value.is_array() {
                let reason = format!("it is {}, expected a list", described(Some(list.value)));
                return Err(Refusal::new(list.place, reason));
            }
            let mut of_owner: Vec<Parameter<'d>> = Vec::new();
            for at in list.items() {
                let Some(parameter) = Parameter::read(document.follow(at)?)? else { continue };
                let is_same =
                    |it: &Parameter<'d>| it.name == parameter.name && it.place == parameter.place;
                if of_owner.iter().any(is_same) {
                    let reason = format!("the parameter `{}` is listed twice", parameter.name);
                    return Err(Refusal::new(parameter.at.place, reason));
                }
                if !read.iter().any(is_same) {
                    of_owner.push(parameter);
                }
            }
            read.extend(of_owner);
        }
        Ok(read)
    }

    /// Returns the description for models: summary, description, the returned content, and whether the operation is
    /// deprecated.
    pub(crate) fn description(&self, document: &Document) -> String {
        let texts = [self.at.text("summary"), self.at.text("description")];
        let mut parts: Vec<String> = Vec::new();
        for text in texts.into_iter().flatten().map(str::trim).filter(|it| !it.is_empty()) {
            if !parts.iter().any(|it| it == text) {
                parts.push(text.to_owned());
            }
        }
        if let Some(returns) = self.returns(document) {
            parts.push(format!("Returns: {returns}"));
        }
        if self.at.says("deprecated") {
            parts.push("It is deprecated.".to_owned());
        }
        parts.join("\n\n")
    }

    /// Returns the description of the operation's first success response.
    fn returns(&self, document: &Document) -> Option<String> {
        let responses = self.at.get("responses")?.entries();
        let (_, success) = responses.into_iter().find(|(status, _)| status.starts_with('2'))?;
        let described = document.follow(success).ok()?.text("description")?.trim().to_owned();
        let says_something = !["", "ok", "success", "response", "default response"]
            .contains(&described.to_lowercase().as_str());
        says_something.then_some(described)
    }
}
