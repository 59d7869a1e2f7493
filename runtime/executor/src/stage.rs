//! The stages of a call, each with one entry function. The executor runs them in order.

mod admit;
mod approve;
mod ask;
mod check;
mod finalize;
mod find;
mod gate;
mod input;
mod invoke;
mod validate;

pub(crate) use admit::{Admission, admit, admit_at_once};
pub(crate) use approve::{EvaluationInput, approve, approved_final, refuse_unasked};
pub(crate) use ask::{ask, ask_at_once};
pub(crate) use check::check;
pub(crate) use finalize::{finalize, finalize_and_read};
pub(crate) use find::{FoundTool, find, seek};
pub(crate) use gate::{Gate, KnownFacts, PLANNED, UnknownFact, gate};
pub(crate) use input::read;
pub(crate) use invoke::{
    PANIC, UnfinishedCall, drop_safely, given_up, given_up_by, in_time, invoke, is_given_up,
    panic_words, panicked, poll_safely, slept, too_late,
};
pub(crate) use validate::{validate, validate_at_once};
