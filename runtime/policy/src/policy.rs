//! Rules over the facts of a call, which decide whether the call runs, needs approval or is refused. Deciding does no
//! I/O; building a policy reads its files.

mod argument;
mod braces;
mod builder;
mod command_flags;
mod command_tests;
mod commands;
mod compile;
mod compiled;
mod decimal;
mod examples;
mod explain;
mod foreign;
mod glob;
mod holds;
mod judged;
mod later;
mod mode;
mod outline;
mod paths;
mod possible;
mod problem;
mod programs;
mod protection;
mod question;
mod reachable;
mod read;
mod rounding;
mod rule;
mod tools;
mod undeclared;
mod values;

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use foldhash::fast::FixedState;

use compiled::CompiledRule;
use holds::Holds;
use judged::decide;
use paths::Base;
use question::Asking;
use tools::Tools;
use toolwright_core::footprint::File;
use toolwright_core::footprint::ResourceKind;
use toolwright_core::json::tree::Node;
use toolwright_core::tool::Danger;
use toolwright_core::tool::Definition;
use toolwright_core::tool::ToolSet;
use undeclared::NoFiles;

pub use argument::ArgumentTest;
pub use builder::PolicyBuilder;
pub use commands::{CommandLine, ProgramCall, ReadCommands};
pub use explain::{ExplainedCommand, Explanation, MatchedFiles};
pub use judged::{DeclaredAccess, Evaluation, PolicyDecision, RuleEffect, RuleMatch};
pub use mode::{Mode, ModeSays};
pub use outline::RuleOutline;
pub use problem::{PolicyError, PolicyProblem, SourceLocation};
pub use protection::Protection;
pub use question::Question;
pub use rule::{Example, Rule, RuleKind, WhenUnknown};
pub use undeclared::UndeclaredTool;

/// The tag of tools that run their programs in a sandbox.
const SANDBOXED: &str = "sandboxed";

/// A policy, which decides which calls run, which need approval, and which are refused. Clones share the rules.
///
/// The documentation of `toolwright::policy` has an example.
#[derive(Debug, Clone)]
pub struct Policy(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    settings: Settings,
    /// The rules, the strongest first.
    rules: Vec<CompiledRule>,
    /// For each tool that was known when the policy was made, the rules that may match its calls.
    by_tool: HashMap<String, Box<[usize]>, FixedState>,
    base: Base,
    no_files: NoFiles,
    /// Whether a rule of the policy declares which files calls touch.
    vouches: bool,
    /// Whether a rule depends on the untrusted sources that the run of a call has read.
    asks_what_was_read: bool,
    reader: Option<Arc<dyn ReadCommands>>,
}

/// The settings of a policy other than its rules.
#[derive(Debug)]
struct Settings {
    mode: Mode,
    plan: bool,
    four_eyes: bool,
    /// The folders that tools work in.
    roots: Vec<String>,
    off: Vec<Protection>,
}

impl Policy {
    fn new(
        settings: Settings,
        rules: Vec<CompiledRule>,
        no_files: NoFiles,
        tools: &Tools<'_>,
        base: Base,
        reader: Option<Arc<dyn ReadCommands>>,
    ) -> Self {
        let known = |tool: &str| {
            let known = rules.iter().enumerate().filter(|(_, rule)| rule.selects_name(tool));
            known.map(|(index, _)| index).collect()
        };
        let by_tool = tools.names().map(|it| (it.to_owned(), known(it))).collect();
        let vouches = rules.iter().any(|it| it.touches.is_some());
        let asks_what_was_read = rules.iter().any(|it| it.after_untrusted.is_some());
        Self(Arc::new(Inner {
            settings,
            rules,
            by_tool,
            base,
            no_files,
            vouches,
            asks_what_was_read,
            reader,
        }))
    }

    /// Starts a policy in code, or one made of several files.
    pub fn builder() -> PolicyBuilder {
        PolicyBuilder::default()
    }

    /// Loads a policy for these tools from a file. [`PolicyBuilder::base`] says to which folder the relative file names
    /// of rules are relative.
    ///
    /// # Errors
    /// When the file cannot be read, or has a mistake. The error lists every problem, with its place in the file.
    pub fn load(path: impl AsRef<Path>, catalog: &dyn ToolSet) -> Result<Self, PolicyError> {
        Self::builder().load(path).build(catalog)
    }

    /// Decides on a call.
    #[must_use]
    pub fn judge(&self, question: &Question<'_>) -> Evaluation {
        self.judge_read(question, None)
    }

    /// Decides on a call as [`judge`](Self::judge) does. If `arguments` is given, it is used instead of the text of the
    /// arguments in the question.
    #[doc(hidden)]
    #[must_use]
    pub fn judge_read(&self, question: &Question<'_>, arguments: Option<&Node>) -> Evaluation {
        let inner = &*self.0;
        let mut asking = self.asking(question).with_arguments(arguments);
        let touches = if inner.vouches { self.declared_access(&mut asking) } else { Vec::new() };
        let is_listed = asking.is_open() && inner.no_files.count_for(&asking);
        let listed = is_listed.then(|| asking.touching_no_files());
        // `wanting` collects the rules that ask only because files are undeclared. `is_owed` is set if
        // `touches_no_files` has no effect on one of them.
        let (mut wanting, mut is_owed) = (Vec::new(), false);
        let said = |rule: &CompiledRule| {
            let own_word = rule.wants_the_tools_own_word();
            let asking = listed.as_ref().filter(|_| !own_word).unwrap_or(&asking);
            let (says, certain) = rule.says(asking)?;
            if !certain && rule.asks_for_want_of_files(asking) {
                wanting.push(rule.name.to_string());
                is_owed |= own_word;
            }
            let (untrusted, sinks) = (rule.untrusted(asking), rule.sinks(asking));
            let (rule, reason) = (Arc::clone(&rule.name), Arc::clone(&rule.reason));
            Some(RuleMatch { rule, says, reason, certain, untrusted, sinks })
        };
        let mut rules: Vec<RuleMatch> = self.rules_for(question.tool).filter_map(said).collect();
        let undeclared = inner.no_files.describe_undeclared(&asking, wanting, is_owed);
        // A deny that may or may not match has become an ask, so the order of the rules may be wrong now.
        rules.sort_by_key(|it| it.says);
        let Settings { plan, .. } = inner.settings;
        let mode = self.mode_says(question);
        let verdict =
            decide(&rules, undeclared.as_ref(), (self.0.settings.mode, mode), plan, question);
        Evaluation { verdict, rules, undeclared, mode, touches }
    }

    fn asking<'a>(&'a self, question: &'a Question<'a>) -> Asking<'a> {
        Asking::new(question, &self.0.base).with_reader(self.0.reader.as_deref())
    }

    /// Returns the effect of the mode on a call. Every mode but `unrestricted` asks about a call that it would
    /// otherwise allow if the call is not safe and may run a command line outside of a sandbox. The reason is that
    /// nothing limits what such a line does.
    fn mode_says(&self, question: &Question<'_>) -> ModeSays {
        let mode = self.0.settings.mode;
        let says = mode.says(question.danger);
        let may_be_loose = question.danger > Danger::Safe && mode != Mode::Unrestricted;
        if says == ModeSays::Allow && may_be_loose && runs_lines_loosely(question) {
            ModeSays::Ask
        } else {
            says
        }
    }

    /// Returns the commands of a call, with the rules that match each.
    fn lines(&self, question: &Question<'_>) -> Vec<ExplainedCommand> {
        let lines = question.definition.into_iter().flat_map(Definition::command_lines);
        let lines: Vec<String> = lines.collect();
        if lines.is_empty() {
            return Vec::new();
        }
        let asking = self.asking(question);
        let Some(arguments) = asking.arguments() else { return Vec::new() };
        let rules: Vec<&CompiledRule> = self.rules_for(question.tool).collect();
        command_tests::explain_commands(&lines, arguments, &asking, &rules)
    }

    /// Returns the rules that may match calls of a tool, the strongest first.
    fn rules_for(&self, tool: &str) -> impl Iterator<Item = &CompiledRule> {
        let inner = &*self.0;
        let known = inner.by_tool.get(tool);
        let all =
            known.is_none().then(|| inner.rules.iter().filter(move |it| it.selects_name(tool)));
        let indexed = known.into_iter().flatten().map(|index| &inner.rules[*index]);
        indexed.chain(all.into_iter().flatten())
    }

    /// Adds the files that matching rules declare for the call, if the call does not declare its files itself.
    fn declared_access(&self, asking: &mut Asking<'_>) -> Vec<DeclaredAccess> {
        if !asking.is_open() {
            return Vec::new();
        }
        let given = self.rules_for(asking.question.tool).filter_map(|rule| {
            let touches = rule.touches.as_ref()?;
            (rule.holds(asking) == Holds::Yes).then_some((rule, touches))
        });
        let given: Vec<(&CompiledRule, &[Vec<String>; 2])> = given.collect();
        if !given.is_empty() {
            asking.vouch(given.iter().map(|(_, touches)| *touches));
        }
        let vouched = given.into_iter().map(|(rule, [reads, writes])| DeclaredAccess {
            rule: Arc::clone(&rule.name),
            reads: reads.clone(),
            writes: writes.clone(),
        });
        vouched.collect()
    }

    /// Lists, for a call that names several files, the files for which each rule matches.
    fn matched_files(&self, question: &Question<'_>, judged: &Evaluation) -> Vec<MatchedFiles> {
        let asking = self.asking(question);
        let rules = self.rules_for(question.tool);
        let matched = rules.filter(|rule| judged.rules.iter().any(|it| it.rule == rule.name));
        let files = matched.map(|rule| MatchedFiles {
            rule: rule.name.to_string(),
            files: rule.matched_files(&asking).into_iter().map(|it| self.0.base.show(it)).collect(),
        });
        files.filter(|it| !it.files.is_empty()).collect()
    }

    /// Decides on a call, and explains the effects of the matching rules, of the tool and of the mode.
    #[must_use]
    pub fn explain(&self, question: &Question<'_>) -> Explanation {
        let settings = &self.0.settings;
        let lines = self.lines(question);
        let judged = self.judge(question);
        let files = self.matched_files(question, &judged);
        Explanation::new(judged, settings.mode, settings.plan, question, files, lines)
    }

    /// Lists the tools of a catalog that need approval because they do not declare which files they touch, each with
    /// what to do about it. Use it in a test that asserts that the list is empty. Tools whose calls are refused anyway
    /// are left out.
    ///
    /// See [`UndeclaredTool`] for an example.
    #[must_use]
    pub fn lint(&self, catalog: &dyn ToolSet) -> Vec<UndeclaredTool> {
        let undeclared = catalog.definitions().into_iter().filter(|it| !it.declares_footprint);
        let found = undeclared.filter_map(|definition| {
            let judged = self.judge(&Question::before_any_call(definition));
            judged.undeclared.filter(|_| !matches!(judged.verdict, PolicyDecision::Deny { .. }))
        });
        found.collect()
    }

    /// Lists the tools of a catalog that the policy's `touches_no_files` covers, in the order of the catalog.
    pub fn touching_no_files<'c>(&self, catalog: &'c dyn ToolSet) -> impl Iterator<Item = &'c str> {
        self.0.no_files.listed_in(catalog)
    }

    /// Returns the mode of the policy.
    #[must_use]
    pub fn mode(&self) -> Mode {
        self.0.settings.mode
    }

    /// Reports whether calls that change something are put into a plan first.
    #[must_use]
    pub fn plans(&self) -> bool {
        self.0.settings.plan
    }

    /// Reports whether a rule depends on the arguments of this tool. If not, a question need not contain the arguments.
    #[must_use]
    pub fn looks_at_arguments(&self, tool: &str) -> bool {
        let looks = |rule: &CompiledRule| {
            !rule.arguments.is_empty() || !rule.lines.is_empty() || rule.sends
        };
        self.rules_for(tool).any(looks)
    }

    /// Reports whether a rule depends on the untrusted sources that a run has read. If not, a question need not contain
    /// the sources.
    #[doc(hidden)]
    #[must_use]
    pub fn looks_at_what_was_read(&self) -> bool {
        self.0.asks_what_was_read
    }

    /// Reports whether the user on whose behalf a call is made must not approve it.
    #[must_use]
    pub fn four_eyes(&self) -> bool {
        self.0.settings.four_eyes
    }

    /// Lists the folders in which tools work, as the policy spells them.
    pub fn roots(&self) -> impl Iterator<Item = &Path> {
        self.0.settings.roots.iter().map(Path::new)
    }

    /// Lists the absolute paths of the folders in which tools work. If the base folder is unknown, a relative folder
    /// stays relative.
    #[doc(hidden)]
    pub fn root_folders(&self) -> impl Iterator<Item = PathBuf> {
        let whole = |root: &String| self.0.base.whole(&File::normalise(root)).into();
        self.0.settings.roots.iter().map(whole)
    }

    /// Lists the roots that are not folders on this machine, as the policy spells them. A root may be a folder inside a
    /// container.
    pub fn missing_roots(&self) -> impl Iterator<Item = &Path> {
        self.roots().zip(self.root_folders()).filter(|(_, it)| !it.is_dir()).map(|(root, _)| root)
    }

    /// Lists the rules in short, the strongest first, including the active protections.
    pub fn outline(&self) -> impl Iterator<Item = RuleOutline<'_>> {
        self.0.rules.iter().map(RuleOutline::of)
    }

    /// Lists the protections that are switched off.
    pub fn protections_off(&self) -> impl Iterator<Item = Protection> {
        Protection::ALL.into_iter().filter(|it| self.0.settings.off.contains(it))
    }

    /// Lists the names of the rules, the strongest first.
    pub fn rules(&self) -> impl Iterator<Item = &str> {
        self.0.rules.iter().map(|it| &*it.name)
    }
}

/// Whether a tool runs command lines outside of a sandbox. An unknown tool is assumed to do so.
fn runs_lines_loosely(question: &Question<'_>) -> bool {
    question.definition.is_none_or(|it| {
        it.all_parameters().any(|it| it.command) && !it.tags.iter().any(|tag| tag == SANDBOXED)
    })
}
