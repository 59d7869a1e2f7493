//! Makes a tool of an executable: its input becomes arguments by fixed rules, in forms in which programs do not take a
//! value for a flag.
//!
//! | input | arguments |
//! | --- | --- |
//! | `true` | `--the-key` for `the_key` and `theKey`; `false` and null are left out |
//! | a text or a number | `--the-key value`, or `--the-key=value` where the value begins with `-` |
//! | a list | the flag repeated for each item |
//! | the value of a positional key | the value alone, after `--` |

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use heck::ToKebabCase as _;
use toolwright::{Danger, DynamicTool, Effect, ProcessOutput, ToolError};

use super::bash::{not_ended, not_started, output};
use super::executors::{ProcessRequest, Streams};
use super::shell::Shell;
use crate::Workspace;
use crate::workspace::Name;

/// An executable that becomes a tool.
///
/// ```
/// use serde_json::json;
/// use toolwright::{Danger, Effect};
/// use toolwright_toolbox::CliTool;
///
/// let schema = json!({
///     "type": "object",
///     "properties": {
///         "path": {"type": "string", "description": "Which file."},
///         "max_depth": {"type": "integer", "description": "How deep."},
///         "verbose": {"type": "boolean", "description": "Say more."},
///         "tag": {"type": "array", "items": {"type": "string"}, "description": "Which."},
///     },
///     "additionalProperties": false,
/// });
/// let tool = CliTool::new("analyze", "Analyze a file.", "analyze", schema, Effect::Read, Danger::Safe)
///     .fixed(["check", "--json"])
///     .positional("path");
/// let input = json!({"path": "-rf", "max_depth": 3, "verbose": true, "tag": ["a", "--b"]});
/// assert_eq!(
///     tool.build_args(&input)?,
///     ["check", "--json", "--max-depth", "3", "--tag", "a", "--tag=--b", "--verbose", "--", "-rf"]
/// );
/// # Ok::<(), toolwright_toolbox::CliToolError>(())
/// ```
#[derive(Debug, Clone)]
#[must_use = "it becomes a tool only by `tool`"]
pub struct CliTool {
    name: String,
    description: String,
    program: OsString,
    schema: serde_json::Value,
    effect: Effect,
    danger: Danger,
    fixed: Vec<OsString>,
    positional: Vec<String>,
    seconds: u32,
}

/// Why no arguments can be made from an input.
#[derive(Clone, PartialEq, Eq)]
pub struct CliToolError(String);
toolwright::unstable::debug_as_sentence!(CliToolError);

impl CliTool {
    /// Describes an executable by its name or path, with the JSON Schema of the input. The author also declares its effect and
    /// its danger.
    pub fn new(
        name: impl Into<String>,
        description: impl Into<String>,
        program: impl Into<OsString>,
        schema: serde_json::Value,
        effect: Effect,
        danger: Danger,
    ) -> Self {
        Self {
            name: name.into(),
            description: description.into(),
            program: program.into(),
            schema,
            effect,
            danger,
            fixed: Vec::new(),
            positional: Vec::new(),
            seconds: 60,
        }
    }

    /// Sets arguments that come before all others.
    pub fn fixed(mut self, arguments: impl IntoIterator<Item = impl Into<OsString>>) -> Self {
        self.fixed.extend(arguments.into_iter().map(Into::into));
        self
    }

    /// Passes the value of a key without a flag; positional arguments have the order of these calls.
    pub fn positional(mut self, key: impl Into<String>) -> Self {
        self.positional.push(key.into());
        self
    }

    /// Sets the time-out in seconds; 60 unless set.
    pub fn timeout_seconds(mut self, seconds: u32) -> Self {
        self.seconds = seconds;
        self
    }

    /// Makes the arguments for an input: the flags sorted by their keys, and after `--` the positional arguments.
    ///
    /// # Errors
    /// When a value is an object, a list of lists, or a text with a NUL character; when a key cannot be a flag, or the
    /// schema neither names it in `properties` nor allows further keys by `additionalProperties` or `patternProperties`.
    pub fn build_args(&self, input: &serde_json::Value) -> Result<Vec<OsString>, CliToolError> {
        let none = serde_json::Map::new();
        let input = input.as_object().unwrap_or(&none);
        let mut arguments = self.fixed.clone();
        // Sort the keys, because their order in a JSON object depends on a feature of the build.
        let flags: BTreeMap<_, _> =
            input.iter().filter(|(key, _)| !self.positional.contains(key)).collect();
        for (key, value) in flags {
            let flag = format!("--{}", key.to_kebab_case());
            if !key.starts_with(|it: char| it.is_ascii_alphabetic())
                || !key.chars().all(|it| it.is_ascii_alphanumeric() || it == '_' || it == '-')
            {
                return Err(CliToolError(format!(
                    "`{}` makes no flag: expected a key of letters, digits and `_`",
                    key.escape_debug()
                )));
            }
            if !self.offers(key) {
                return Err(CliToolError(format!(
                    "`{}` is not a key of this tool",
                    key.escape_debug()
                )));
            }
            for value in texts(key, value)? {
                match value {
                    None => arguments.push(flag.clone().into()),
                    // If the value were a separate argument, a program could read it as another flag.
                    Some(text) if text.starts_with('-') => {
                        arguments.push(format!("{flag}={text}").into())
                    }
                    Some(text) => arguments.extend([flag.clone().into(), text.into()]),
                }
            }
        }
        let mut places: Vec<OsString> = Vec::new();
        for key in &self.positional {
            let Some(value) = input.get(key) else { continue };
            places.extend(texts(key, value)?.into_iter().flatten().map(Into::into));
        }
        if !places.is_empty() {
            arguments.push("--".into());
            arguments.extend(places);
        }
        Ok(arguments)
    }

    /// Returns whether the author offers a key. A schema that says nothing about further keys accepts every key, which
    /// would let a model choose any flag of the program.
    fn offers(&self, key: &str) -> bool {
        let says =
            |word: &str| self.schema.get(word).filter(|it| *it != &serde_json::Value::Bool(false));
        says("properties").is_some_and(|it| it.get(key).is_some())
            || says("additionalProperties").is_some()
            || says("patternProperties").is_some()
    }

    /// Makes the tool. The standard output of the program is the output of the call, whatever its exit code is. If the
    /// program fails, its standard error is reported as `error`.
    #[track_caller]
    pub fn tool(self, workspace: Arc<Workspace>, shell: Arc<Shell>) -> DynamicTool {
        let (name, description, schema) =
            (self.name.clone(), self.description.clone(), self.schema.clone());
        let (effect, danger) = (self.effect, self.danger);
        let this = Arc::new(self);
        let tool =
            DynamicTool::new(name, description, schema, move |input: serde_json::Value, _| {
                let (this, workspace, shell) =
                    (Arc::clone(&this), Arc::clone(&workspace), Arc::clone(&shell));
                async move { this.run(&workspace, &shell, &input).await }
            });
        tool.effect(effect).danger(danger).timeout(None).returns::<ProcessOutput>()
    }

    async fn run(
        &self,
        workspace: &Workspace,
        shell: &Shell,
        input: &serde_json::Value,
    ) -> Result<ProcessOutput, ToolError> {
        let arguments = self.build_args(input).map_err(|error| ToolError::invalid(error.0))?;
        let folder = workspace.real_folder(&Name::parse(".")?)?;
        let arguments: Vec<OsString> =
            std::iter::once(self.program.clone()).chain(arguments).collect();
        let variables = shell.variables(workspace.root());
        let request = ProcessRequest::new(&arguments, workspace.root(), &folder)
            .variables(&variables)
            .limit(Duration::from_secs(self.seconds.into()))
            .streams(Streams::Apart)
            .supervised_by(&shell.supervisor);
        let started =
            shell.executor.start(&request).map_err(|error| not_started(error, &arguments))?;
        let ended = started.await.map_err(|error| not_ended(error, &arguments))?;
        let errors = ended.errors.trim().to_owned();
        let mut made = output(ended, self.seconds)?;
        if !made.success && !made.timed_out {
            let status = made.error.take().unwrap_or_default();
            made.error =
                Some(if errors.is_empty() { status } else { format!("{status}: {errors}") });
        }
        Ok(made)
    }
}

/// Returns the values of one key as texts; `None` means a flag without a value.
fn texts(key: &str, value: &serde_json::Value) -> Result<Vec<Option<String>>, CliToolError> {
    use serde_json::Value;
    let text = match value {
        Value::Null | Value::Bool(false) => return Ok(Vec::new()),
        Value::Bool(true) => return Ok(vec![None]),
        Value::Array(items) => {
            let each = items.iter().map(|it| match it {
                Value::Array(_) => Err(CliToolError(format!(
                    "`{key}` is a list of lists, which cannot become arguments"
                ))),
                it => texts(key, it),
            });
            return Ok(each.collect::<Result<Vec<_>, _>>()?.into_iter().flatten().collect());
        }
        Value::Object(_) => {
            return Err(CliToolError(format!(
                "`{key}` is an object, which cannot become an argument"
            )));
        }
        Value::Number(number) => number.to_string(),
        Value::String(text) => text.clone(),
    };
    if text.contains('\0') {
        return Err(CliToolError(format!(
            "`{key}` contains a NUL character, which no argument can"
        )));
    }
    Ok(vec![Some(text)])
}

impl fmt::Display for CliToolError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}

impl std::error::Error for CliToolError {}
