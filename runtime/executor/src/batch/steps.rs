//! Records which calls wait for which. A step is a call or a join. A join ends when several calls have ended, so that
//! many calls can wait for many without an edge for each pair.

/// The number of a call or join, in the order in which they were added.
pub(super) type StepId = usize;

#[derive(Debug, Default)]
pub(super) struct Steps {
    steps: Vec<Step>,
    /// The step of each call.
    calls: Vec<StepId>,
}

#[derive(Debug, Default)]
struct Step {
    /// The index of the call; `None` for a join.
    call: Option<usize>,
    /// How many of the steps that this step waits for have not ended.
    open: usize,
    /// The steps that wait for this one.
    next: Vec<StepId>,
    has_ended: bool,
}

impl Steps {
    #[cfg(test)]
    pub(super) fn waits(&self) -> usize {
        self.steps.iter().map(|step| step.next.len()).sum()
    }

    /// Returns the index of the call that is added next.
    pub(super) fn next(&self) -> Pending {
        Pending(self.calls.len())
    }

    /// Finds the step of a call. While a call is planned, its index is its step.
    fn step_of(&self, call: usize) -> Option<StepId> {
        self.calls.get(call).copied()
    }

    pub(super) fn has_ended(&self, waited: WaitTarget) -> bool {
        let step = match waited {
            WaitTarget::Call(call) => self.step_of(call),
            WaitTarget::Join(step) => Some(step),
        };
        step.and_then(|step| self.steps.get(step)).is_some_and(|step| step.has_ended)
    }

    /// Adds a call. Returns whether it may begin at once.
    pub(super) fn push_call(&mut self, waits_for: &[WaitTarget]) -> bool {
        let call = self.calls.len();
        self.calls.push(self.steps.len());
        self.push(Some(call), waits_for)
    }

    /// Adds a join, a step that ends when all of these have ended.
    pub(super) fn join(&mut self, waits_for: &[WaitTarget]) -> WaitTarget {
        let step = self.steps.len();
        let has_ended = self.push(None, waits_for);
        if let Some(step) = self.steps.get_mut(step) {
            step.has_ended = has_ended;
        }
        WaitTarget::Join(step)
    }

    fn push(&mut self, call: Option<usize>, waits_for: &[WaitTarget]) -> bool {
        let step = self.steps.len();
        let mut open = 0;
        for waited in waits_for {
            let before = match *waited {
                WaitTarget::Call(call) => self.step_of(call),
                WaitTarget::Join(step) => Some(step),
            };
            let before = before.and_then(|before| self.steps.get_mut(before));
            if let Some(before) = before.filter(|before| !before.has_ended) {
                before.next.push(step);
                open += 1;
            }
        }
        self.steps.push(Step { call, open, ..Step::default() });
        open == 0
    }

    /// Ends a call, and returns the calls that may begin now.
    pub(super) fn end_call(&mut self, call: usize) -> Vec<usize> {
        let mut free = Vec::new();
        let mut ended: Vec<StepId> = self.step_of(call).into_iter().collect();
        while let Some(step) = ended.pop() {
            let Some(step) = self.steps.get_mut(step).filter(|step| !step.has_ended) else {
                continue;
            };
            step.has_ended = true;
            for next in std::mem::take(&mut step.next) {
                let Some(next_step) = self.steps.get_mut(next) else { continue };
                next_step.open -= 1;
                match next_step.call {
                    _ if next_step.open > 0 => {}
                    Some(call) => free.push(call),
                    None => ended.push(next),
                }
            }
        }
        free.sort_unstable();
        free
    }
}

/// What a step waits for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum WaitTarget {
    /// A call, by its index.
    Call(usize),
    /// A join, by its step.
    Join(StepId),
}

/// The call that is being planned, by its index.
#[derive(Debug, Clone, Copy)]
pub(super) struct Pending(usize);

impl From<Pending> for WaitTarget {
    fn from(pending: Pending) -> Self {
        Self::Call(pending.0)
    }
}
