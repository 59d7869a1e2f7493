//! The policy of an executor: as it is now, and how it is made anew.

use std::path::PathBuf;
use std::sync::{PoisonError, RwLock};

use super::Plan;
use super::problem::BuildProblem;
use crate::catalog::Catalog;
use crate::footprint::Facts;
use crate::policy::{
    Explanation, Judged, Mode, Policy, PolicyBuilder, PolicyError, Protection, Question,
};

/// The policy of an executor.
pub(crate) struct Rules {
    /// What it is made of, whenever it is made.
    written: PolicyBuilder,
    current: RwLock<Policy>,
    /// Everything runs that its tool does not ask about, whatever happens.
    is_open: bool,
    around: Around,
}

/// What every policy of an executor knows of it.
#[derive(Debug, Clone, Default)]
pub(crate) struct Around {
    pub(super) journal: Option<PathBuf>,
    pub(super) roots: Vec<PathBuf>,
}

impl Around {
    pub(super) fn tell(&self, policy: PolicyBuilder) -> PolicyBuilder {
        let policy = self.journal.iter().fold(policy, PolicyBuilder::journal);
        self.roots.iter().fold(policy, PolicyBuilder::root)
    }
}

/// A call that is judged, without its arguments.
#[derive(Clone, Copy)]
pub(crate) struct About<'a> {
    pub(crate) plan: &'a Plan,
    pub(crate) facts: &'a Facts,
    pub(crate) user: Option<&'a str>,
    /// A person accepted the plan that it is in.
    pub(crate) accepted: bool,
}

impl Rules {
    pub(super) fn new(
        written: PolicyBuilder,
        around: Around,
        catalog: &Catalog,
    ) -> Result<Self, PolicyError> {
        let policy = written.clone().build(catalog)?;
        Ok(Self { written, current: RwLock::new(policy), is_open: false, around })
    }

    /// For questions about this policy.
    pub(super) fn of(policy: Policy) -> Self {
        let written = PolicyBuilder::default();
        Self { written, current: RwLock::new(policy), is_open: false, around: Around::default() }
    }

    /// Another policy, which knows what this one knows of the executor.
    pub(super) fn another(
        &self,
        policy: PolicyBuilder,
        catalog: &Catalog,
    ) -> Result<Policy, PolicyError> {
        self.around.tell(policy).build(catalog)
    }

    /// Everything runs that its tool does not ask about.
    pub(super) fn open(around: Around, catalog: &Catalog) -> Result<Self, PolicyError> {
        let written = Policy::builder().mode(Mode::Unrestricted).without(Protection::ALL);
        Ok(Self { is_open: true, ..Self::new(written, around, catalog)? })
    }

    #[inline]
    pub(crate) fn is_open(&self) -> bool {
        self.is_open
    }

    pub(crate) fn current(&self) -> Policy {
        self.current.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Reads it again. What is wrong leaves everything as it was.
    pub(super) fn reload(&self, catalog: &Catalog, can_plan: bool) -> Result<(), PolicyError> {
        if self.is_open {
            return Ok(());
        }
        let policy = self.written.clone().build(catalog)?;
        if policy.plans() && !can_plan {
            return Err(PolicyError::of(BuildProblem::NoPlan.to_string()));
        }
        *self.current.write().unwrap_or_else(PoisonError::into_inner) = policy;
        Ok(())
    }

    /// What is known of every call of a tool before its input is read, with room for the files that rules look at.
    #[inline]
    pub(crate) fn facts(&self, plan: &Plan) -> Facts {
        let facts = plan.facts();
        if self.is_open { facts } else { facts.with_footprint(plan.entry.definition.effect) }
    }

    pub(crate) fn judge(&self, about: About<'_>, arguments: &str) -> Judged {
        about.judged_by(&self.current(), arguments)
    }

    pub(crate) fn explain(&self, about: About<'_>, arguments: &str) -> Explanation {
        self.current().explain(&about.question(arguments))
    }

    /// The files that it is read from and the folders that tools work in, where the former lie in the latter.
    pub(super) fn exposed(&self, roots: &[PathBuf]) -> Vec<BuildProblem> {
        let policy = self.current();
        let roots = roots.iter().map(PathBuf::as_path).chain(policy.roots());
        let exposed = roots.flat_map(|root| {
            let inside =
                self.written.protected_files().find(|file| super::keeping::is_inside(file, root));
            inside.map(|file| BuildProblem::InWorkspace {
                what: "policy",
                file: file.to_owned(),
                root: root.to_owned(),
            })
        });
        exposed.collect()
    }
}

impl<'a> About<'a> {
    pub(crate) fn judged_by(&self, policy: &Policy, arguments: &str) -> Judged {
        policy.judge(&self.question(arguments))
    }

    fn question<'q>(&'q self, arguments: &'q str) -> Question<'q> {
        let definition = &self.plan.entry.definition;
        let question = Question::of(definition, self.facts, self.user, arguments);
        Question { accepted: self.accepted, ..question }
    }
}
