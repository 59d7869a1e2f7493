//! What a policy is asked about, and what of it is worked out when a rule needs it.

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

/// A call, as a policy sees it.
#[derive(Clone, Copy)]
pub struct Question<'a> {
    /// The tool that the call would run; nothing where it is not there. A mode then asks as of a tool that takes a command
    /// line, and no word of the policy on a single tool counts.
    pub definition: Option<&'a Definition>,
    /// The tool's name.
    pub tool: &'a str,
    /// The tool's group.
    pub group: Option<&'a str>,
    /// The tool's tags.
    pub tags: &'a [String],
    /// How dangerous this call is.
    pub danger: Danger,
    /// What the tool changes.
    pub effect: Effect,
    /// The user on whose behalf it is called.
    pub principal: Option<&'a str>,
    /// The arguments that would run, as JSON text.
    pub arguments: &'a str,
    /// The schema of the tool's arguments, which says how its numbers are read; nothing where the tool is not known.
    pub input_schema: Option<&'a Value>,
    /// What the call touches; nothing where that is not known, which counts as everything.
    pub footprint: Option<&'a Footprint>,
    /// Why the tool itself wants a person's word.
    pub approval: Option<&'a str>,
    /// The tool came at run time: as a `DynamicTool`, or from a `Resolver`. The list `touches_no_files` of a policy
    /// does not count for it.
    pub came_at_run_time: bool,
    /// The sources of foreign text that the run has read, each in a line; nothing where that is not known.
    pub untrusted: Option<&'a [String]>,
    /// It was planned, and a person accepted it: the flag `plan` is off for it.
    pub accepted: bool,
}

impl<'a> Question<'a> {
    /// Asks about a call of a tool, of whose run it is not known what it has read.
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

    /// About a tool, before anything is known of a call. A danger that is computed is taken for none.
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

/// Without the arguments, which may be secret.
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

/// A question that is being answered. Arguments are parsed and names prepared once, when the first rule asks for them.
pub(super) struct Asking<'a> {
    pub(super) question: &'a Question<'a>,
    pub(super) base: &'a Base,
    /// The arguments, where they were read before.
    read: Option<&'a Node>,
    arguments: OnceCell<Option<Node>>,
    reads: OnceCell<Option<Files>>,
    writes: OnceCell<Option<Files>>,
    /// What rules say that it reads and writes, which counts where the call does not say it.
    vouched: Option<[Files; 2]>,
    /// What parses command lines, and those that were parsed.
    reader: Option<&'a dyn ReadCommands>,
    lines: RefCell<Vec<(String, Rc<CommandLine>)>>,
}

/// The files that a call names; `None` is all files.
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

    /// Takes the arguments as they were read before, so that their text is not parsed once more.
    pub(super) fn with_arguments(self, read: Option<&'a Node>) -> Self {
        Self { read, ..self }
    }

    /// Takes what parses command lines.
    pub(super) fn with_reader(self, reader: Option<&'a dyn ReadCommands>) -> Self {
        Self { reader, ..self }
    }

    /// Whether the tool takes a command line there.
    pub(super) fn is_line(&self, segments: &[String]) -> bool {
        let [name] = segments else { return false };
        let lines = self.question.definition.into_iter().flat_map(|it| it.all_parameters());
        lines.filter(|it| it.command).any(|it| it.name == *name)
    }

    /// The commands of a command line, parsed once; nothing where no parser is given.
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

    /// Why a command line has the level that its call has, for people.
    pub(super) fn rating(&self, text: &str) -> Option<String> {
        let (danger, words) = self.reader?.rating(text)?;
        // From another folder than its own, a line may be another.
        (danger == self.question.danger).then_some(words)
    }

    /// Whether the call leaves open which files it touches.
    pub(super) fn is_open(&self) -> bool {
        self.writes().is_none() || self.reads().is_none()
    }

    /// Takes the word of rules for what the call does not say.
    pub(super) fn vouch<'n>(&mut self, touched: impl Iterator<Item = &'n [Vec<String>; 2]>) {
        let vouched = self.vouched.get_or_insert_default();
        for [reads, writes] in touched {
            vouched[0].extend(reads.iter().map(|it| Some(self.base.name(it))));
            vouched[1].extend(writes.iter().map(|it| Some(self.base.name(it))));
        }
    }

    /// Whether the call leaves open which files it writes.
    pub(super) fn is_open_to_write(&self) -> bool {
        self.writes().is_none()
    }

    /// Evaluates the call as one of a tool that touches no files but those that it names.
    pub(super) fn touching_no_files(&self) -> Self {
        let mut asking =
            Self::new(self.question, self.base).with_arguments(self.read).with_reader(self.reader);
        let reads = || self.files(self.question.footprint?.reads_named()?);
        asking.vouched = Some([reads().unwrap_or_default(), Files::new()]);
        asking
    }

    /// Returns the arguments; `None` where they cannot be read.
    pub(super) fn arguments(&self) -> Option<&Node> {
        self.read
            .or_else(|| self.arguments.get_or_init(|| read(self.question.arguments).ok()).as_ref())
    }

    /// The files that the call reads, where it says which. Who does not say what it writes has not said either that
    /// it reads nothing.
    pub(super) fn reads(&self) -> Option<&Files> {
        let find = || {
            self.told_writes()?;
            self.files(self.question.footprint?.reads_named()?)
        };
        self.reads.get_or_init(find).as_ref().or(self.vouched.as_ref().map(|[reads, _]| reads))
    }

    /// The files that the call writes, where it says which.
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
            // A tool that runs programs and names all files says that it may be any.
            None if self.question.definition.is_some_and(runs_programs) => None,
            None => Some(None),
        });
        each.collect()
    }
}
