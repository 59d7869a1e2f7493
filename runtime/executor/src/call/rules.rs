//! The current policy of an executor, and how the policy is reloaded.

use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError, RwLock};

use super::delegated::DelegatedContext;
use super::journal_config::is_inside;
use super::plan::Plan;
use super::problem::BuildProblem;
use super::run_state::RunState;
use crate::catalog::Catalog;
use toolwright_core::footprint::Facts;
use toolwright_journal::arguments::FinalArguments;
use toolwright_policy::policy::{
    Evaluation, Explanation, Mode, Policy, PolicyBuilder, PolicyError, Protection, Question,
};

/// The policy of an executor.
pub(crate) struct Rules {
    /// The builder from which every reload builds the policy.
    written: PolicyBuilder,
    current: RwLock<Policy>,
    /// Held from reading the files until the new policy is stored, so that an older reload cannot replace the policy of
    /// a newer one.
    reloading: Mutex<()>,
    /// Whether every call may run unless its tool requires approval.
    is_open: bool,
    /// Whether middleware of the application needs the footprint of each call.
    shows_footprints: bool,
    around: Surroundings,
}

/// The facts about an executor that each of its policies receives.
#[derive(Debug, Clone, Default)]
pub(crate) struct Surroundings {
    pub(crate) journal: Option<PathBuf>,
    /// The file that contains the key by which this process signs decisions.
    pub(crate) key: Option<PathBuf>,
    pub(crate) roots: Vec<PathBuf>,
}

impl Surroundings {
    pub(crate) fn tell(&self, policy: PolicyBuilder) -> PolicyBuilder {
        // Tools resolve relative paths against this folder, so the policy has to do so as well.
        let policy = policy.started_here();
        // The journal's file is protected under both names: as it was opened, and with links resolved.
        let resolved = self.journal.iter().filter_map(|it| std::fs::canonicalize(it).ok());
        let resolved = resolved.filter(|it| Some(it) != self.journal.as_ref());
        let policy = self.journal.iter().fold(policy, PolicyBuilder::journal);
        let policy = resolved.fold(policy, PolicyBuilder::journal);
        self.roots.iter().fold(policy, PolicyBuilder::root)
    }

    /// Finds protected files in the folders in which tools work: these policies' files, the journal, and the key of an
    /// approver. The folders are the roots of the executor and `roots`.
    pub(crate) fn exposed<'a>(
        &'a self,
        policies: impl IntoIterator<Item = &'a Path>,
        roots: impl Iterator<Item = PathBuf>,
    ) -> Vec<BuildProblem> {
        let journal = self.journal.iter().map(|it| ("journal", it.as_path()));
        let key = self.key.iter().map(|it| ("key of an approver", it.as_path()));
        let files: Vec<_> =
            policies.into_iter().map(|it| ("policy", it)).chain(journal).chain(key).collect();
        let mut exposed = Vec::new();
        for root in self.roots.iter().cloned().chain(roots) {
            for &(what, file) in files.iter().filter(|(_, file)| is_inside(file, &root)) {
                let (file, root) = (file.to_owned(), root.clone());
                let problem = BuildProblem::InWorkspace { what, file, root };
                if !exposed.contains(&problem) {
                    exposed.push(problem);
                }
            }
        }
        exposed
    }
}

/// A call to be evaluated, without its arguments.
#[derive(Clone, Copy)]
pub(crate) struct About<'a> {
    pub(crate) plan: &'a Plan,
    pub(crate) facts: &'a Facts,
    pub(crate) user: Option<&'a str>,
    /// The untrusted sources that the call's run has read; `None` if they are unknown.
    pub(crate) untrusted: Option<&'a [String]>,
    /// Whether a person accepted the plan that contains the call.
    pub(crate) accepted: bool,
}

impl Rules {
    pub(crate) fn new(
        written: PolicyBuilder,
        around: Surroundings,
        catalog: &Catalog,
    ) -> Result<Self, PolicyError> {
        let policy = written.clone().build(catalog)?;
        Ok(Self { written, around, ..Self::of(policy) })
    }

    /// Makes rules that explain decisions of this policy, but do not decide on calls.
    pub(crate) fn of(policy: Policy) -> Self {
        Self {
            written: PolicyBuilder::default(),
            current: RwLock::new(policy),
            reloading: Mutex::default(),
            is_open: false,
            shows_footprints: false,
            around: Surroundings::default(),
        }
    }

    /// Builds a policy other than the executor's own. It receives the journal and the roots of the executor. If it has
    /// no parser of command lines, it receives the parser of the executor's policy.
    ///
    /// `is_named` is whether the approver of this process, if there is one, has a name.
    pub(crate) fn another(
        &self,
        policy: PolicyBuilder,
        catalog: &Catalog,
        is_named: bool,
    ) -> Result<Policy, PolicyError> {
        let policy = self.around.tell(policy).commands_of(&self.written).build(catalog)?;
        let problem = (policy.four_eyes() && !is_named).then_some(BuildProblem::UnnamedApprover);
        refuse(problem.as_slice())?;
        Ok(policy)
    }

    /// Sets whether the footprint of every call is needed.
    pub(crate) fn with_footprints(self, shows_footprints: bool) -> Self {
        Self { shows_footprints, ..self }
    }

    /// Makes rules by which all calls run, except those whose tools ask for approval.
    pub(crate) fn open(around: Surroundings, catalog: &Catalog) -> Result<Self, PolicyError> {
        let written = Policy::builder().mode(Mode::Unrestricted).without(Protection::ALL);
        Ok(Self { is_open: true, ..Self::new(written, around, catalog)? })
    }

    #[inline]
    pub(super) fn is_open(&self) -> bool {
        self.is_open
    }

    pub(crate) fn current(&self) -> Policy {
        self.current.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Reloads the policy. After an error, the old one stays.
    pub(crate) fn reload(
        &self,
        catalog: &Catalog,
        can_plan: bool,
        is_named: bool,
    ) -> Result<(), PolicyError> {
        if self.is_open {
            return Ok(());
        }
        let _one_at_a_time = self.reloading.lock().unwrap_or_else(PoisonError::into_inner);
        let policy = self.written.clone().build(catalog)?;
        let mut problems = self.exposed_by(&policy);
        if policy.plans() && !can_plan {
            problems.push(BuildProblem::NoPlan);
        }
        if policy.four_eyes() && !is_named {
            problems.push(BuildProblem::UnnamedApprover);
        }
        refuse(&problems)?;
        *self.current.write().unwrap_or_else(PoisonError::into_inner) = policy;
        self.warn_of_roots();
        Ok(())
    }

    /// Makes the facts about a tool's calls before any input is read. The facts request the footprint if the policy,
    /// middleware or related calls may need it.
    #[inline]
    pub(crate) fn facts(&self, run: &RunState, plan: &Plan) -> Facts {
        let mut facts = plan.facts();
        let is_family = plan.makes_calls || run.lineage().is_some();
        if !run.is_open() || self.shows_footprints || is_family {
            facts.ask_for_footprint(plan.entry.definition.effect);
        }
        facts
    }

    pub(crate) fn evaluate(
        &self,
        run: &RunState,
        about: About<'_>,
        arguments: &FinalArguments,
    ) -> Evaluation {
        about.judged(run, &self.current(), Some(arguments))
    }

    /// Returns whether the user of a call must not approve it, because this policy or the policy of an agent on whose
    /// behalf the run makes calls has `four_eyes`.
    pub(crate) fn four_eyes(run: &RunState, policy: &Policy) -> bool {
        policy.four_eyes() || run.delegated().is_some_and(DelegatedContext::has_four_eyes)
    }

    pub(crate) fn explain(&self, about: About<'_>, arguments: &str) -> Explanation {
        self.current().explain(&about.question(arguments))
    }

    /// Warns of root folders that do not exist, because no file can be inside of them.
    pub(crate) fn warn_of_roots(&self) {
        for root in self.current().missing_roots() {
            tracing::warn!(root = %root.display(), "a root of the policy is no folder on this machine");
        }
    }

    /// Finds protected files that lie in a folder of tools.
    pub(crate) fn exposed(&self) -> Vec<BuildProblem> {
        self.exposed_by(&self.current())
    }

    fn exposed_by(&self, policy: &Policy) -> Vec<BuildProblem> {
        self.around.exposed(self.written.protected_files(), policy.root_folders())
    }
}

/// Returns an error if there are problems.
fn refuse(problems: &[BuildProblem]) -> Result<(), PolicyError> {
    PolicyError::of(problems.iter().map(ToString::to_string)).map_or(Ok(()), Err)
}

impl<'a> About<'a> {
    /// Evaluates a call by a policy, and by the policies of the agents on whose behalf the run makes the call.
    /// `arguments` is `None` if no rule depends on them.
    pub(crate) fn judged(
        &self,
        run: &RunState,
        policy: &Policy,
        arguments: Option<&FinalArguments>,
    ) -> Evaluation {
        let evaluation = self.judged_by(policy, arguments);
        match run.delegated() {
            Some(delegated) => delegated.stricter(evaluation, |own| self.judged_by(own, arguments)),
            None => evaluation,
        }
    }

    fn judged_by(&self, policy: &Policy, arguments: Option<&FinalArguments>) -> Evaluation {
        let question = self.question(arguments.map_or("{}", FinalArguments::arguments));
        policy.judge_read(&question, arguments.map(FinalArguments::tree))
    }

    fn question<'q>(&'q self, arguments: &'q str) -> Question<'q> {
        let definition = &self.plan.entry.definition;
        let question = Question::of(definition, self.facts, self.user, arguments);
        Question { accepted: self.accepted, untrusted: self.untrusted, ..question }
    }
}
