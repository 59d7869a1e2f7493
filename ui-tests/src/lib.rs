//! What the macros say. Each case in `cases/` makes one mistake and keeps the words that answer
//! it beside it; each in `pass/` is legal, however odd, and must compile without a warning.
#![cfg(test)]

/// After a deliberate change of words: `TRYBUILD=overwrite cargo test -p ui-tests`, then read them.
#[test]
fn every_mistake_is_answered_at_its_own_token() {
    trybuild::TestCases::new().compile_fail("cases/**/*.rs");
}

#[test]
fn what_is_legal_compiles_without_a_warning() {
    trybuild::TestCases::new().pass("pass/*.rs");
}
