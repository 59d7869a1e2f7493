//! What is judged of a call: its final arguments, their canonical form, digests, fingerprints, sealed texts.

mod canonical;
mod digests;
mod fingerprints;
mod sealing;
mod settled;

/// How many cases a property has; `PROPTEST_CASES` says otherwise.
fn cases() -> u32 {
    std::env::var("PROPTEST_CASES").ok().and_then(|it| it.parse().ok()).unwrap_or(256)
}
