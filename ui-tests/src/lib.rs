//! What the macros say. Each case in `cases/` makes one mistake and has the message that answers it beside it; each in
//! `pass/` is legal, however odd, and must compile without a warning and run.
#![cfg(test)]
// Rustc takes this lint for a whole crate alone; the others stand in `pass/strict_lints.rs`.
#![deny(non_ascii_idents)]

/// After a deliberate change of words: `TRYBUILD=overwrite cargo test -p ui-tests`, then read them.
#[test]
fn every_mistake_is_answered_at_its_own_token() {
    trybuild::TestCases::new().compile_fail("cases/**/*.rs");
}

mod pass;
