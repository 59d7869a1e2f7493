//! The call that a policy decides on, and what is computed from the call when a rule needs it.

use std::cell::{OnceCell, RefCell};
use std::fmt;
use std::rc::Rc;

use serde_json::Value;

use super::commands::{CommandLine, ReadCommands};
use super::paths::{Base, Name};
use super::programs::runs_programs;
use toolwright_core::footprint::Facts;
use toolwright_core::footprint::File;
use toolwright_core::footprint::Footprint;
use toolwright_core::footprint::ResourceKind;
use toolwright_core::json::read;
use toolwright_core::json::tree::Node;
use toolwright_core::tool::Danger;
use toolwright_core::tool::DeclaredDanger;
use toolwright_core::tool::Definition;
use toolwright_core::tool::Effect;

/// A call with the facts that a policy decides by.
#[derive(Clone, Copy)]
pub struct Question<'a> {
    /// The definition of the tool; `None` if it is unknown. Without it, the mode asks as for a tool that takes a
    /// command line, and `touches_no_files` does not apply.
    pub definition: Option<&'a Definition>,
    /// The tool's name.
    pub tool: &'a str,
    /// The tool's group.
    pub group: Option<&'a str>,
    /// The tool's tags.
    pub tags: &'a [String],
    /// The danger of this call.
    pub danger: Danger,
    /// The effect of the tool.
    pub effect: Effect,
    /// The user on whose behalf the call is made.
    pub principal: Option<&'a str>,
    /// The final arguments of the call, as JSON text.
    pub arguments: &'a str,
    /// The schema of the tool's arguments, which shows how the tool reads numbers; `None` if the tool is unknown.
    pub input_schema: Option<&'a Value>,
    /// The resources that the call touches; `None` if the call does not declare them. Then it may read and write any
    /// file, but a call with the effect `read` still writes none.
    pub footprint: Option<&'a Footprint>,
    /// Why the tool itself asks for approval.
    pub approval: Option<&'a str>,
    /// Whether the tool is a run-time tool: a `DynamicTool`, or a tool from a `Resolver`. The policy's list
    /// `touches_no_files` does not apply to it.
    pub came_at_run_time: bool,
    /// The untrusted sources that the run has read, each in one line; `None` if unknown.
    pub untrusted: Option<&'a [String]>,
    /// Whether the call was in a plan that a person accepted, so that the setting `plan` does not apply to it.
    pub accepted: bool,
}

impl<'a> Question<'a> {
    /// Makes the question about a call of a tool. It does not say which untrusted sources the run has read.
    #[must_use]
    pub fn of(
        definition: &'a Definition,
        facts: &'a Facts,
        principal: Option<&'a str>,
        arguments: &'a str,
    ) -> Self {
        Self {
            definition: Some(definition),
            tool: &definition.name,
            group: definition.group.as_deref(),
            tags: &definition.tags,
            danger: facts.danger,
            effect: definition.effect,
            principal,
            arguments,
            input_schema: Some(definition.final_schema()),
            footprint: facts.touches(),
            approval: facts.approval.as_deref(),
            came_at_run_time: definition.came_at_run_time,
            untrusted: None,
            accepted: false,
        }
    }

    /// Makes the question about a tool before there is a call. If the tool computes the danger, the danger is assumed
    /// to be `safe`.
    pub(super) fn before_any_call(definition: &'a Definition) -> Self {
        let danger = match definition.danger {
            DeclaredDanger::Level(danger) => danger,
            DeclaredDanger::Computed => Danger::Safe,
        };
        Self {
            definition: Some(definition),
            tool: &definition.name,
            group: definition.group.as_deref(),
            tags: &definition.tags,
            danger,
            effect: definition.effect,
            principal: None,
            arguments: "{}",
            input_schema: Some(definition.final_schema()),
            footprint: None,
            approval: None,
            came_at_run_time: definition.came_at_run_time,
            untrusted: Some(&[]),
            accepted: true,
        }
    }
}

/// Omits the arguments, which may be secret.
impl fmt::Debug for Question<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("Question")
            .field("tool", &self.tool)
            .field("danger", &self.danger)
            .field("effect", &self.effect)
            .field("principal", &self.principal)
            .finish_non_exhaustive()
    }
}

/// A question that is being answered. Arguments are parsed and names prepared once, when the first rule needs them.
pub(super) struct Asking<'a> {
    pub(super) question: &'a Question<'a>,
    pub(super) base: &'a Base,
    /// The arguments, if the caller has already parsed them.
    read: Option<&'a Node>,
    arguments: OnceCell<Option<Node>>,
    reads: OnceCell<Option<Files>>,
    writes: OnceCell<Option<Files>>,
    /// The files that rules declare for the call. They are used if the call declares none.
    vouched: Option<[Files; 2]>,
    /// The parser of command lines.
    reader: Option<&'a dyn ReadCommands>,
    lines: RefCell<Vec<(String, Rc<CommandLine>)>>,
}

/// The files that a call declares. An item that is `None` means all files.
pub(super) type Files = Vec<Option<Name>>;

impl<'a> Asking<'a> {
    pub(super) fn new(question: &'a Question<'a>, base: &'a Base) -> Self {
        let (arguments, reads, writes) = (OnceCell::new(), OnceCell::new(), OnceCell::new());
        let lines = RefCell::default();
        Self {
            question,
            base,
            read: None,
            arguments,
            reads,
            writes,
            vouched: None,
            reader: None,
            lines,
        }
    }

    /// Uses arguments that were parsed before, so that their text is not parsed again.
    pub(super) fn with_arguments(self, read: Option<&'a Node>) -> Self {
        Self { read, ..self }
    }

    /// Sets the parser of command lines.
    pub(super) fn with_reader(self, reader: Option<&'a dyn ReadCommands>) -> Self {
        Self { reader, ..self }
    }

    /// Whether the argument with this path is a command line.
    pub(super) fn is_line(&self, segments: &[String]) -> bool {
        let [name] = segments else { return false };
        let lines = self.question.definition.into_iter().flat_map(|it| it.all_parameters());
        lines.filter(|it| it.command).any(|it| it.name == *name)
    }

    /// Returns the commands of a command line, parsed once; `None` without a parser.
    pub(super) fn line(&self, text: &str) -> Option<Rc<CommandLine>> {
        let reader = self.reader?;
        let known =
            self.lines.borrow().iter().find(|(it, _)| it == text).map(|(_, line)| Rc::clone(line));
        if known.is_some() {
            return known;
        }
        let line = Rc::new(reader.read(text));
        self.lines.borrow_mut().push((text.to_owned(), Rc::clone(&line)));
        Some(line)
    }

    /// Explains to a person how a command line determines the danger of the call.
    pub(super) fn rating(&self, text: &str) -> Option<String> {
        let (danger, words) = self.reader?.rating(text)?;
        // The explanation is left out if the tool rated the line differently, for example because it runs in another
        // folder.
        (danger == self.question.danger).then_some(words)
    }

    /// Whether the call does not declare which files it reads, or which it writes.
    pub(super) fn is_open(&self) -> bool {
        self.writes().is_none() || self.reads().is_none()
    }

    /// Adds the files that rules declare for the call.
    pub(super) fn vouch<'n>(&mut self, touched: impl Iterator<Item = &'n [Vec<String>; 2]>) {
        let vouched = self.vouched.get_or_insert_default();
        for [reads, writes] in touched {
            vouched[0].extend(reads.iter().map(|it| Some(self.base.name(it))));
            vouched[1].extend(writes.iter().map(|it| Some(self.base.name(it))));
        }
    }

    /// Whether the call does not declare which files it writes.
    pub(super) fn is_open_to_write(&self) -> bool {
        self.writes().is_none()
    }

    /// Returns the same question for a call that touches no other files than the ones that it declares.
    pub(super) fn touching_no_files(&self) -> Self {
        let mut asking =
            Self::new(self.question, self.base).with_arguments(self.read).with_reader(self.reader);
        let reads = || self.files(self.question.footprint?.reads_named()?);
        asking.vouched = Some([reads().unwrap_or_default(), Files::new()]);
        asking
    }

    /// Returns the parsed arguments; `None` if they cannot be parsed.
    pub(super) fn arguments(&self) -> Option<&Node> {
        self.read
            .or_else(|| self.arguments.get_or_init(|| read(self.question.arguments).ok()).as_ref())
    }

    /// Returns the files that the call reads, if the call declares them. If its writes are undeclared, its reads are
    /// treated as undeclared, too.
    pub(super) fn reads(&self) -> Option<&Files> {
        let find = || {
            self.told_writes()?;
            self.files(self.question.footprint?.reads_named()?)
        };
        self.reads.get_or_init(find).as_ref().or(self.vouched.as_ref().map(|[reads, _]| reads))
    }

    /// Returns the files that the call writes; `None` if the call does not declare them.
    pub(super) fn writes(&self) -> Option<&Files> {
        self.told_writes().or(self.vouched.as_ref().map(|[_, writes]| writes))
    }

    fn told_writes(&self) -> Option<&Files> {
        let find = || match self.question.footprint {
            Some(footprint) => self.files(footprint.writes_named()?),
            None if self.question.effect == Effect::Read => Some(Files::new()),
            None => None,
        };
        self.writes.get_or_init(find).as_ref()
    }

    fn files<'n>(
        &self,
        named: impl Iterator<Item = (&'static str, Option<&'n str>)>,
    ) -> Option<Files> {
        let files = named.filter(|(kind, _)| *kind == File::LABEL);
        let each = files.map(|(_, name)| match name {
            Some(name) => Some(Some(self.base.name(name))),
            // A tool that runs programs may touch any file, so its declaration of all files counts as no declaration.
            None if self.question.definition.is_some_and(runs_programs) => None,
            None => Some(None),
        });
        each.collect()
    }
}
