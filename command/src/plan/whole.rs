//! The digest of a whole plan. A person who gives the digest accepts only the calls that they have read, and none that
//! was added since.

use clap::{Arg, ArgMatches};
use sha2::{Digest as _, Sha256};
use toolwright::journal::CallRecord;

use crate::Exit;
use crate::operator::Stop;
use crate::operator::decide;

/// The id of the option. It differs from that of `decide::digest`, an option for the digest of a single call.
const DIGEST: &str = "plan-digest";

/// The option `--digest`, for the digest of a whole plan.
pub(super) fn option() -> Arg {
    decide::digits(DIGEST, "`plan show`")
        .conflicts_with(crate::operator::ids::IDS)
        .help("Accept only if the plan's digest still begins with these digits")
}

/// Returns the SHA-256 digest of the plan, over a line `id generation digest` for each call.
pub(super) fn digest(calls: &[CallRecord]) -> String {
    let lines = calls.iter().map(|it| format!("{} {} {}\n", it.id, it.generation, it.digest));
    hex::encode(Sha256::digest(lines.collect::<String>()))
}

/// Refuses a plan whose digest differs from the one that the person has read.
pub(super) fn refuse_another(matches: &ArgMatches, calls: &[CallRecord]) -> Result<(), Stop> {
    // `plan reject` has no option `--digest`.
    let digits = matches.try_get_one::<String>(DIGEST).ok().flatten();
    let Some(digits) = digits else { return Ok(()) };
    let digest = digest(calls);
    if digest.starts_with(digits) {
        return Ok(());
    }
    Err(Stop::new(
        Exit::Lost,
        format!(
            "the plan has {} calls and the digest {digest}, which does not begin with {digits}: it is not the plan that \
             was looked at; look again with `plan show`",
            calls.len()
        ),
    ))
}
