//! Builds an executor. One error reports everything that is missing or provided twice.

use std::sync::{Arc, Mutex};

use tokio_util::sync::CancellationToken;

use super::ExecutorBuilder;
use crate::call::{
    BuildError, BuildProblem, Core, Gate, Gates, Journal, Later, OnNoApprover, Plan, Provisions,
    Ready, Resolving, Rules, RunState, Surroundings,
};
use crate::catalog::Catalog;
use crate::executor::Executor;
use crate::executor::nested::ThroughStages;
use crate::retry::{CircuitBreaker, Circuits};
use toolwright_core::capability::{DeclaredService, ProvidedValues};
use toolwright_policy::policy::{PolicyBuilder, PolicyError};

impl ExecutorBuilder {
    /// Builds the executor.
    ///
    /// # Errors
    /// When a setting is invalid, or something is missing or provided twice. The error lists the problems that were
    /// found. The registry may by then contain the tools that were added to the builder.
    pub fn build(mut self) -> Result<Executor, BuildError> {
        if self.asker.is_some() {
            self.journal.get_or_insert_with(Journal::of_this_process);
        }
        let mut problems = std::mem::take(&mut self.problems);
        self.adapt_tools(&mut problems);
        let tools = std::mem::take(&mut self.tools);
        problems.extend(self.registry.register_all(tools).err().map(BuildProblem::Registry));
        problems.extend(self.general_problems());
        let catalog = self.registry.catalog();
        problems.extend(self.adaptations_of_nothing(&catalog));
        let rules = self.rules(&catalog, &mut problems);
        self.ask_the_last(rules.as_ref());
        let external = catalog.tools().entries().iter().find(|it| it.definition.is_external);
        if let Some(external) = external {
            let of_process = || Journal::of_this_process().on_no_approver(OnNoApprover::Deny);
            let journal = self.journal.get_or_insert_with(of_process);
            if journal.lacks_hand_over_key() {
                let (tool, location) = (external.name.to_string(), external.definition.location);
                problems.push(BuildProblem::NoHandOverKey { tool, location });
            }
        }
        let asker = self.asker.take();
        let journal = self.journal.and_then(|journal| journal.build(asker, &mut problems));
        let (services, values) = self.services.into_iter().unzip();
        let (openers, opening) = self.openers.into_iter().unzip();
        let provisions = Provisions {
            services,
            per_run: self.per_run,
            per_call: self.per_call,
            openers,
            timeout: self.timeout,
            total_timeout: self.total_timeout,
            unrestricted: self.unrestricted,
            repair: self.repair,
            retry: self.retry,
            circuits: self.circuit_breaker.map(Circuits::new),
            has_stages: !self.middleware.is_empty(),
        };
        let gates = Gates::default();
        let entries = catalog.tools().entries().iter();
        let plans: Vec<Plan> = entries.map(|entry| provisions.plan(entry, &gates)).collect();
        let lacks = plans.iter().flat_map(|plan| plan.lacks.iter().cloned());
        problems.extend(lacks.filter(|_| !self.tolerates_missing));
        let Some(rules) = rules.filter(|_| problems.is_empty()) else {
            return Err(BuildError { problems });
        };
        let is_plain = self.listeners.is_empty() && journal.is_none();
        let ready = Ready::new(catalog, plans, Some(self.registry.clone()));
        let core = Core {
            registry: self.registry,
            provisions,
            later: Later::default(),
            gates,
            pinned: Mutex::default(),
            resolving: (!self.resolvers.is_empty()).then(|| Resolving::new(self.resolvers)),
            provided: Arc::new(ProvidedValues { services: values, openers: opening }),
            listeners: self.listeners,
            gate: Gate::new(self.limit),
            telling: Gate::new(u32::MAX),
            closing: CancellationToken::new(),
            released: CancellationToken::new(),
            records_content: self.records_content,
            limit: self.limit,
            rules: rules.with_footprints(!self.middleware.is_empty()),
            middleware: self.middleware.into(),
            nested: &ThroughStages,
            retries_per_run: self.retries_per_run,
            journal,
            is_plain,
        };
        Ok(Executor { state: Arc::new(RunState::default_of(Arc::new(core), Arc::new(ready))) })
    }

    /// Makes the rules from the policy; if the policy is invalid, adds a problem and returns `None`.
    fn rules(&self, catalog: &Catalog, problems: &mut Vec<BuildProblem>) -> Option<Rules> {
        let around = self.surroundings();
        let policy = self.policy.clone().unwrap_or_default();
        let policy = self.policy_defaults.iter().cloned().fold(policy, PolicyBuilder::over);
        let made = match self.unrestricted {
            true => Rules::open(around.clone(), catalog),
            false => Rules::new(around.tell(policy.clone()), around.clone(), catalog),
        };
        let Some(rules) = collect_rules(made, problems) else {
            problems.extend(around.exposed(policy.protected_files(), std::iter::empty()));
            return None;
        };
        problems.extend(rules.exposed());
        rules.warn_of_roots();
        if !self.unrestricted && rules.current().plans() && self.journal.is_none() {
            problems.push(BuildProblem::NoPlan);
        }
        let is_unnamed = self.asker.as_ref().is_some_and(|asker| asker.key.is_none());
        if is_unnamed && rules.current().four_eyes() {
            problems.push(BuildProblem::UnnamedApprover);
        }
        Some(rules)
    }

    fn surroundings(&self) -> Surroundings {
        let journal = self.journal.as_ref().and_then(|journal| journal.store.file());
        let key = self.asker.as_ref().and_then(|asker| asker.key.as_ref()?.file());
        Surroundings {
            journal: journal.map(ToOwned::to_owned),
            key: key.map(ToOwned::to_owned),
            roots: self.roots.clone(),
        }
    }

    fn general_problems(&self) -> Vec<BuildProblem> {
        let mut problems = Vec::new();
        if self.unrestricted && self.policy.is_some() {
            problems.push(BuildProblem::TwoPolicies);
        }
        if self.limit == 0 {
            problems.push(BuildProblem::NoCalls);
        }
        let breaker = self.circuit_breaker.as_ref().and_then(CircuitBreaker::problem);
        problems.extend(
            self.retry.problem().into_iter().chain(breaker).map(|why| BuildProblem::Retry { why }),
        );
        let all: Vec<DeclaredService> =
            self.shared().chain(self.openers.iter().map(|(it, _)| *it)).collect();
        for (index, declared) in all.iter().enumerate() {
            if all.iter().take(index).any(|earlier| earlier.id == declared.id) {
                problems.push(BuildProblem::GivenTwice { type_name: declared.name });
            }
        }
        problems
    }

    fn shared(&self) -> impl Iterator<Item = DeclaredService> {
        let services = self.services.iter().map(|(declared, _)| *declared);
        services.chain(self.per_run.iter().copied()).chain(self.per_call.iter().copied())
    }
}

fn collect_rules(
    rules: Result<Rules, PolicyError>,
    problems: &mut Vec<BuildProblem>,
) -> Option<Rules> {
    rules.map_err(|error| problems.push(BuildProblem::Policy(error))).ok()
}
