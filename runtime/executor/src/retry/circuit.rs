//! A circuit breaker for each tool: after repeated failures, calls of the tool are refused for a time.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use foldhash::fast::FixedState;
use tokio::time::Instant;

use super::machine::{CircuitRefusal, Machine, Sign};
use toolwright_core::error::{Done, ErrorClass, ToolError};

/// The settings of circuit breakers: when the circuit breaker of a tool opens, and for how long. An executor has
/// circuit breakers only if its builder receives these settings.
///
/// A failure counts if the tool could not do its work: the call never reached the service, a connection was lost, the
/// time was up, or the tool panicked. An error that the model should see shows that the tool works, and resets the
/// count. A cancelled call counts neither as a failure nor as a success.
///
/// While the circuit breaker is open, new calls are answered `unavailable` at once, with the remaining time. Calls that
/// already wait in a journal continue to wait. After that time, one call is let through to probe the tool. If it
/// succeeds, the circuit breaker closes. If it fails, the time begins again.
///
/// ```
/// use std::time::Duration;
/// use toolwright::retry::CircuitBreaker;
///
/// let breaker = CircuitBreaker::new(5, Duration::from_secs(30));
/// assert_eq!(breaker, CircuitBreaker::default());
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct CircuitBreaker {
    /// The number of consecutive failures after which the circuit breaker opens.
    pub failures: u32,
    /// How long the circuit breaker stays open.
    pub open_for: Duration,
}

impl CircuitBreaker {
    /// Makes the settings: the circuit breaker opens for `open_for` after `failures` consecutive failures.
    #[must_use]
    pub const fn new(failures: u32, open_for: Duration) -> Self {
        Self { failures, open_for }
    }

    /// Returns why the settings are invalid; `None` if they are valid.
    pub(crate) fn problem(&self) -> Option<&'static str> {
        let is_never_closed = self.failures == 0;
        is_never_closed.then_some(
            "a circuit breaker that opens after 0 failures lets no call run; set at least 1",
        )
    }
}

/// The default: a circuit breaker opens for 30 seconds after 5 consecutive failures.
impl Default for CircuitBreaker {
    fn default() -> Self {
        Self::new(5, Duration::from_secs(30))
    }
}

/// The circuit breakers of all tools of an executor, by the names of the tools. If a tool is registered again under the
/// same name, its circuit breaker continues.
pub(crate) struct Circuits {
    breaker: CircuitBreaker,
    kept: Mutex<CircuitsByTool>,
}

#[derive(Default)]
struct CircuitsByTool {
    circuits: HashMap<Arc<str>, Arc<Circuit>, FixedState>,
    /// The number of circuit breakers at which those without failures and without running calls are removed.
    full: usize,
}

/// The circuit breaker of one tool.
pub(crate) struct Circuit {
    breaker: CircuitBreaker,
    since: Instant,
    machine: Mutex<Machine>,
}

/// A call that the circuit breaker has admitted. If this value is dropped before the call ends, the call counts
/// neither as a success nor as a failure.
pub(crate) struct Through {
    circuit: Arc<Circuit>,
    entered: u64,
    sign: Sign,
}

impl Circuits {
    pub(crate) fn new(breaker: CircuitBreaker) -> Self {
        Self { breaker, kept: Mutex::default() }
    }

    pub(crate) fn of(&self, name: &Arc<str>) -> Arc<Circuit> {
        let mut kept = lock(&self.kept);
        if kept.circuits.len() >= kept.full.max(64) {
            kept.circuits.retain(|_, it| Arc::strong_count(it) > 1 || !it.machine().is_at_rest());
            kept.full = kept.circuits.len() * 2;
        }
        let new = || {
            let machine = Mutex::new(Machine::NEW);
            Arc::new(Circuit { breaker: self.breaker, since: Instant::now(), machine })
        };
        Arc::clone(kept.circuits.entry(Arc::clone(name)).or_insert_with(new))
    }
}

impl Circuit {
    /// Checks whether a call would be let through now.
    pub(crate) fn admits(&self) -> Result<(), CircuitRefusal> {
        self.machine().admits(self.breaker, self.now())
    }

    pub(crate) fn enter(self: &Arc<Self>) -> Result<Through, CircuitRefusal> {
        let entered = self.machine().enter(self.breaker, self.now())?;
        Ok(Through { circuit: Arc::clone(self), entered, sign: Sign::None })
    }

    fn now(&self) -> Duration {
        self.since.elapsed()
    }

    fn machine(&self) -> MutexGuard<'_, Machine> {
        lock(&self.machine)
    }
}

impl Through {
    pub(crate) fn note_end(mut self, error: Option<&ToolError>) {
        self.sign = match error.map(|error| (error.done(), error.classified())) {
            None | Some((None, ErrorClass::Invalid | ErrorClass::Final)) => Sign::Well,
            Some((
                None | Some(Done::TimedOut),
                ErrorClass::NotStarted { .. } | ErrorClass::Transient | ErrorClass::Unknown,
            )) => Sign::Ill,
            Some(_) => Sign::None,
        };
    }
}

impl Drop for Through {
    fn drop(&mut self) {
        let now = self.circuit.now();
        self.circuit.machine().leave(self.entered, self.sign, self.circuit.breaker, now);
    }
}

/// Makes the answer of a call that an open circuit breaker refuses.
#[cold]
pub(crate) fn unavailable(tool: &str, refused: CircuitRefusal) -> ToolError {
    let left = refused.left.filter(|left| !left.is_zero());
    let retry = left.map(|left| format!("; retry in {} s", left.as_millis().div_ceil(1000)));
    ToolError::new(
        "unavailable",
        format!(
            "`{tool}` has failed several times in a row: circuit open{}",
            retry.unwrap_or_default()
        ),
    )
    .class(ErrorClass::NotStarted { retry_after: refused.left })
    .by_executor(Done::Unavailable)
    .hint("go on without it, or try again later")
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    const HALF_A_MINUTE: Duration = Duration::from_secs(30);

    fn circuits() -> Circuits {
        Circuits::new(CircuitBreaker::new(2, HALF_A_MINUTE))
    }

    fn name(number: usize) -> Arc<str> {
        format!("tool-{number}").into()
    }

    fn kept(circuits: &Circuits) -> usize {
        lock(&circuits.kept).circuits.len()
    }

    fn fails(circuit: &Arc<Circuit>) {
        let lost = ToolError::new("lost", "the connection was lost").class(ErrorClass::Transient);
        circuit.enter().expect("it is let through").note_end(Some(&lost));
    }

    fn refused(left: Duration) -> CircuitRefusal {
        CircuitRefusal { left: Some(left) }
    }

    #[tokio::test(start_paused = true)]
    async fn a_tool_that_failed_in_a_row_is_left_alone_for_its_time() {
        let circuit = circuits().of(&name(0));
        fails(&circuit);
        assert_eq!(circuit.admits(), Ok(()));
        fails(&circuit);
        assert_eq!(circuit.admits(), Err(refused(HALF_A_MINUTE)));
        tokio::time::advance(Duration::from_secs(10)).await;
        assert_eq!(circuit.enter().err(), Some(refused(Duration::from_secs(20))));
        tokio::time::advance(Duration::from_secs(20)).await;
        circuit.enter().expect("the time is over").note_end(None);
        assert!(circuit.machine().is_at_rest());
    }

    #[test]
    fn what_remembers_nothing_and_belongs_to_nobody_is_thrown_out_when_there_are_many() {
        let circuits = circuits();
        let held = circuits.of(&name(0));
        fails(&circuits.of(&name(1)));
        for number in 2..64 {
            circuits.of(&name(number));
        }
        assert_eq!(kept(&circuits), 64);
        circuits.of(&name(64));
        assert_eq!(kept(&circuits), 3);
        assert!(Arc::ptr_eq(&held, &circuits.of(&name(0))));
        assert!(!circuits.of(&name(1)).machine().is_at_rest());
    }

    #[test]
    fn the_answer_of_an_open_circuit_says_when_to_try_again() {
        let said = |left| unavailable("seek", CircuitRefusal { left }).to_string();
        let open = "`seek` has failed several times in a row: circuit open";
        assert_eq!(said(Some(Duration::from_millis(19_001))), format!("{open}; retry in 20 s"));
        assert_eq!(said(None), open);
    }

    #[test]
    fn room_is_twice_what_was_kept_so_that_it_is_seldom_looked_through() {
        let circuits = circuits();
        let held: Vec<_> = (0..64).map(|number| circuits.of(&name(number))).collect();
        for number in 64..128 {
            circuits.of(&name(number));
        }
        assert_eq!(kept(&circuits), 128);
        circuits.of(&name(128));
        assert_eq!(kept(&circuits), held.len() + 1);
    }
}
