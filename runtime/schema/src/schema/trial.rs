//! Reads values with a type while a registry is made. The amount of work is limited, and a panic of the type is
//! reported as a problem of its schema.

use std::any::Any;
use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind};

use toolwright_core::input::{Fault, Reader, Rule, reread, shorten};
use toolwright_core::schema::SchemaProblem;
use toolwright_core::spec::Probe;

/// The maximum number of bytes that are read to examine one type. For a type that would need more, every call is
/// checked against the schema.
const MOST_BYTES: usize = 4 << 20;
/// The fixed cost of one reading, as a number of bytes.
const EACH: usize = 32;

/// The readings of one type, and the bytes that may still be read.
pub(super) struct Trial {
    read: Probe,
    left: Cell<usize>,
}

impl Trial {
    pub(super) fn new(read: Probe) -> Self {
        Self { read, left: Cell::new(MOST_BYTES) }
    }

    /// Returns whether no more bytes may be read.
    pub(super) fn is_spent(&self) -> bool {
        self.left.get() == 0
    }

    /// Counts work other than reading, as if this many bytes had been read.
    pub(super) fn spend(&self, bytes: usize) {
        self.left.set(self.left.get().saturating_sub(bytes.saturating_add(EACH)));
    }

    /// Returns the reason why the type refuses a text; `None` if the type accepts it.
    pub(super) fn fault(&self, text: &str) -> Result<Option<Fault>, SchemaProblem> {
        self.spend(text.len());
        guard(text, || {
            let mut reader = Reader::new(text);
            (self.read)(&mut reader).and_then(|()| reader.finish()).err()
        })
    }

    /// Returns whether the type accepts a text that is read leniently.
    pub(super) fn rereads(&self, text: &str) -> Result<bool, SchemaProblem> {
        self.spend(text.len());
        guard(text, || reread(text, self.read).is_some())
    }

    /// Returns whether the type accepts the last value of a text. The text may be incomplete after that value.
    ///
    /// A type that reads everything before it judges any part, as serde's buffer does, seems to accept every value.
    pub(super) fn takes_last(&self, text: &str) -> Result<bool, SchemaProblem> {
        Ok(self.fault(text)?.is_none_or(|fault| {
            let problem = fault.problem();
            problem.rule == Rule::Syntax && problem.found.starts_with("the end of the text")
        }))
    }
}

/// Returns whether a type accepts a text.
pub(super) fn takes(read: Probe, text: &str) -> Result<bool, SchemaProblem> {
    Ok(Trial::new(read).fault(text)?.is_none())
}

/// Returns whether a key of this type may be left out.
pub(super) fn is_optional(optional: fn() -> bool) -> Result<bool, SchemaProblem> {
    guard("nothing", optional)
}

/// Reads a text with a type, and reports a panic of the type. No value of the type survives the reading, so no
/// inconsistent state remains.
fn guard<T>(text: &str, read: impl FnOnce() -> T) -> Result<T, SchemaProblem> {
    catch_unwind(AssertUnwindSafe(read)).map_err(|panic| {
        let text = shorten(text);
        let message = match message_of(&*panic) {
            Some(panic) => format!("the type panics when it reads {text}: {panic}"),
            None => format!("the type panics when it reads {text}"),
        };
        // Dropping the panic's payload might panic again, so the payload is leaked.
        std::mem::forget(panic);
        SchemaProblem::new("", format!("{message}; make it return an error instead"))
    })
}

fn message_of(panic: &(dyn Any + Send)) -> Option<&str> {
    panic.downcast_ref::<String>().map(String::as_str).or_else(|| panic.downcast_ref().copied())
}
