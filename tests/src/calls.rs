//! Calls that are kept: the invariants of their life, each by name. A journal in memory; the stores have their own
//! tests, and processes theirs.

mod acknowledging;
mod approving;
mod asking;
mod claiming;
mod dead;
mod deadlines;
mod external;
mod filled;
mod found;
mod going_away;
mod going_on;
mod grants;
mod hostile;
mod idle;
mod looking;
mod made;
mod middleware;
mod nested;
pub mod odd;
mod process_key;
mod recorded;
mod secrets;
mod shown;
pub mod support;
mod told;
mod traced;
mod turns;
mod unasked;
mod validating;
mod waiting;
mod workers;
