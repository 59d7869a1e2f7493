//! Plans: how the calls of one tool run, as far as that can be decided before the first call. Plans are made when an
//! executor is built. The plan of a tool that is registered later is made at its first call.

#[doc(hidden)]
pub use std::any::{Any, TypeId};
use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock, Weak};
use std::time::Duration;

use foldhash::fast::FixedState;

use super::gate::Gate;
use super::problem::BuildProblem;
use crate::catalog::{Entry, Origin};
use crate::retry::{Circuit, Circuits, RetryPolicy};
use toolwright_core::calls::Calls;
use toolwright_core::capability::{CapabilitySpec, DeclaredService, Source, Wiring};
use toolwright_core::context::ToolContext;
use toolwright_core::footprint::Facts;
use toolwright_core::tool::{Danger, DeclaredApproval, DeclaredDanger, Repair};

pub(crate) struct Plan {
    pub(crate) entry: Arc<Entry>,
    pub(crate) wiring: Wiring,
    /// Whether calls of the tool cannot take the fast path. The possible reasons are a service that is missing or that
    /// the executor itself does not hold, a circuit breaker, most validations, an approval function, and middleware.
    pub(crate) needs_more: bool,
    /// Whether the fast path runs the tool's own validation.
    pub(crate) validates_at_once: bool,
    /// Whether the tool makes calls itself.
    pub(crate) makes_calls: bool,
    /// The services that each call of the tool must provide.
    pub(crate) from_call: Box<[DeclaredService]>,
    /// The services that are not provided. If there are any, calls of the tool are refused.
    pub(crate) lacks: Box<[BuildProblem]>,
    /// How long an attempt may take.
    pub(crate) timeout: Option<Duration>,
    /// How long the whole call may take, with all of its attempts and delays.
    pub(crate) total_timeout: Option<Duration>,
    pub(crate) gate: Option<Arc<Gate>>,
    pub(crate) repair: Repair,
    pub(crate) retry: RetryPolicy,
    /// The circuit breaker of the tool; `None` if the tool has none.
    pub(crate) circuit: Option<Arc<Circuit>>,
    danger: Danger,
    approval: Option<&'static str>,
}

impl Plan {
    /// Returns the facts that hold for every call of the tool, before the call's input is read.
    #[inline]
    pub(crate) fn facts(&self) -> Facts {
        Facts::new(self.danger, self.approval)
    }

    /// Returns whether neither the tool nor its adaptation requires approval of every call. The input of a call may
    /// still require approval.
    pub(crate) fn asks_nobody(&self) -> bool {
        self.approval.is_none() && self.entry.definition.asks_for().is_none()
    }

    /// Returns whether the tool needs something that only the run of a call can provide.
    pub(crate) fn needs_run(&self) -> bool {
        self.wiring.sources.iter().any(|source| matches!(source, Source::Run(_)))
    }

    /// Returns whether the tool is not called at present, because its circuit breaker is open.
    pub(crate) fn is_left_alone(&self) -> bool {
        self.circuit.as_ref().is_some_and(|circuit| circuit.admits().is_err())
    }

    /// Raises the facts of a call to a minimum, whatever the tool declares itself: a tool from a resolver has at least
    /// moderate danger, and an adaptation can raise the danger or require approval. With the raised danger, a guess in
    /// the repaired input may require approval, too.
    #[inline]
    pub(crate) fn raise_danger(&self, facts: &mut Facts) {
        if self.entry.origin == Origin::Resolver && facts.danger < Danger::Moderate {
            facts.danger = Danger::Moderate;
        }
        let adapted = &self.entry.definition.adapted;
        if let Some(least) = adapted.least_danger {
            facts.danger = facts.danger.max(least);
        }
        if let Some(reason) = &adapted.asking {
            let both = match facts.approval.take() {
                Some(own) if !own.is_empty() && own != **reason => format!("{reason}; {own}"),
                _ => reason.clone(),
            };
            facts.approval = Some(both.into());
        }
        facts.ask_if_guessed();
    }
}

/// The services and resources that an executor provides, by type, and its default settings.
pub(crate) struct Provisions {
    pub(crate) services: Vec<DeclaredService>,
    pub(crate) per_run: Vec<DeclaredService>,
    pub(crate) per_call: Vec<DeclaredService>,
    pub(crate) openers: Vec<DeclaredService>,
    /// How long an attempt may take, unless the tool sets another limit.
    pub(crate) timeout: Option<Duration>,
    /// How long a whole call may take, unless the tool sets another limit.
    pub(crate) total_timeout: Option<Duration>,
    /// Whether the executor runs calls without a policy. Tools of resolvers then need no approval.
    pub(crate) unrestricted: bool,
    /// How far invalid input is repaired, unless the tool sets it itself.
    pub(crate) repair: Repair,
    /// How a failed call is retried, unless the tool sets it itself.
    pub(crate) retry: RetryPolicy,
    /// The circuit breakers of the tools; `None` if the executor uses none.
    pub(crate) circuits: Option<Circuits>,
    /// Whether the application has stages, which examine every call.
    pub(crate) has_stages: bool,
}

impl Provisions {
    /// Makes the plan of a tool, which also lists the services that are missing.
    pub(crate) fn plan(&self, entry: &Arc<Entry>, gates: &Gates) -> Plan {
        let capabilities = entry.spec.capabilities;
        let found: Vec<Option<Source>> = capabilities.iter().map(|it| self.source(it)).collect();
        let lacking = capabilities.iter().zip(&found).filter(|(_, source)| source.is_none());
        let lacks = lacking.map(|(capability, _)| BuildProblem::Missing {
            tool: entry.definition.name.clone(),
            location: entry.definition.location,
            requirement: capability.requirement(),
        });
        let brought =
            capabilities.iter().zip(&found).filter(|(_, it)| matches!(it, Some(Source::Call)));
        let circuit = self.circuits.as_ref().map(|circuits| circuits.of(&entry.name));
        let validates_at_once = entry.spec.validates_at_once && !entry.is_adapted();
        Plan {
            validates_at_once,
            needs_more: self.has_stages
                || circuit.is_some()
                || (entry.spec.validate.is_some() && !validates_at_once)
                || entry.spec.asks.is_some()
                || found.iter().any(|it| !matches!(it, Some(Source::Executor(_)))),
            makes_calls: found.contains(&Some(Source::Calls)),
            from_call: brought
                .map(|(it, _)| DeclaredService { id: (it.id)(), name: it.requirement().type_name })
                .collect(),
            lacks: lacks.collect(),
            timeout: entry.definition.timeout.or(self.timeout),
            total_timeout: entry.definition.total_timeout.or(self.total_timeout),
            repair: entry.definition.repair.unwrap_or(self.repair),
            retry: self.retry.overridden_by(entry.definition.retry),
            circuit,
            gate: entry.definition.limit.map(|limit| gates.of(&entry.name, limit)),
            danger: match entry.definition.danger {
                DeclaredDanger::Level(level) => level,
                // The highest danger is assumed until the tool's expression has computed the danger from an input.
                DeclaredDanger::Computed => Danger::Critical,
            },
            approval: match entry.definition.approval {
                DeclaredApproval::Always(reason) => Some(reason),
                _ if entry.origin == Origin::Resolver && !self.unrestricted => {
                    Some("it was found by its name alone")
                }
                DeclaredApproval::Never | DeclaredApproval::Computed => None,
            },
            wiring: Wiring {
                sources: found.into_iter().flatten().collect(),
                body: entry.body.clone().map(|body| body as Arc<dyn Any + Send + Sync>),
            },
            entry: Arc::clone(entry),
        }
    }

    fn source(&self, capability: &CapabilitySpec) -> Option<Source> {
        let id = (capability.id)();
        if capability.exclusive {
            return self.openers.iter().position(|it| it.id == id).map(Source::Opener);
        }
        if id == TypeId::of::<ToolContext>() {
            return Some(Source::Context);
        }
        if id == TypeId::of::<Calls>() {
            return Some(Source::Calls);
        }
        let service = self.services.iter().position(|it| it.id == id).map(Source::Executor);
        let run = || self.per_run.iter().position(|it| it.id == id).map(Source::Run);
        let call = || self.per_call.iter().any(|it| it.id == id).then_some(Source::Call);
        service.or_else(run).or_else(call)
    }
}

/// The plans of tools that were registered after the executor was built.
#[derive(Default)]
pub(crate) struct Later(RwLock<PlanTable>);

#[derive(Default)]
struct PlanTable {
    plans: HashMap<u64, Arc<Plan>, FixedState>,
    /// The number of plans at which the plans of unregistered tools are removed.
    full: usize,
}

impl Later {
    pub(crate) fn plan(
        &self,
        entry: &Arc<Entry>,
        provisions: &Provisions,
        gates: &Gates,
    ) -> Arc<Plan> {
        let made = |made: &PlanTable| made.plans.get(&entry.id).cloned();
        if let Some(plan) = made(&self.0.read().unwrap_or_else(PoisonError::into_inner)) {
            return plan;
        }
        let new = Arc::new(provisions.plan(entry, gates));
        let mut gone = Vec::new();
        let mut later = self.0.write().unwrap_or_else(PoisonError::into_inner);
        if later.plans.len() >= later.full.max(64) {
            // A plan that no call holds may be of a tool that was unregistered.
            let ids: Vec<u64> =
                later.plans.iter().filter(|(_, plan)| is_gone(plan)).map(|(id, _)| *id).collect();
            gone.extend(ids.iter().filter_map(|id| later.plans.remove(id)));
            later.full = later.plans.len() * 2;
        }
        // If two plans of a tool are made at the same time, the first one to be stored is used.
        let plan = Arc::clone(later.plans.entry(entry.id).or_insert(new));
        drop(later);
        // These plans are dropped after the lock was released, because values that a tool captured may run any code
        // when they are dropped.
        drop(gone);
        plan
    }
}

fn is_gone(plan: &Arc<Plan>) -> bool {
    Arc::strong_count(plan) == 1 && Arc::strong_count(&plan.entry) == 1
}

/// The gates of tools that limit their calls. If a tool is registered again under the same name with the same limit,
/// its calls share the gate with the running calls of its predecessor.
#[derive(Default)]
pub(crate) struct Gates(Mutex<GatesByTool>);

#[derive(Default)]
struct GatesByTool {
    gates: HashMap<(Arc<str>, u32), Weak<Gate>, FixedState>,
    full: usize,
    is_closed: bool,
}

impl Gates {
    fn of(&self, name: &Arc<str>, limit: u32) -> Arc<Gate> {
        let mut kept = self.lock();
        if kept.gates.len() >= kept.full.max(64) {
            kept.gates.retain(|_, gate| gate.strong_count() > 0);
            kept.full = kept.gates.len() * 2;
        }
        let key = (Arc::clone(name), limit);
        if let Some(gate) = kept.gates.get(&key).and_then(Weak::upgrade) {
            return gate;
        }
        let gate = Arc::new(Gate::new(limit));
        if kept.is_closed {
            gate.close();
        }
        kept.gates.insert(key, Arc::downgrade(&gate));
        gate
    }

    pub(crate) fn close(&self) {
        let mut kept = self.lock();
        kept.is_closed = true;
        kept.gates.values().filter_map(Weak::upgrade).for_each(|gate| gate.close());
    }

    fn lock(&self) -> MutexGuard<'_, GatesByTool> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
