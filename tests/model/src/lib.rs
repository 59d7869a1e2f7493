//! The life of calls, explored state by state: the real machine, [`CallRecord::advance`] over
//! [`next`](toolwright::unstable::journal::next), among a model of everybody who acts on a journal.
//!
//! What is modelled: a store that compares versions ([`store`]); workers that submit, look, judge, claim, begin, act,
//! end and renew, one step each, as `executor/journaled` does it ([`worker`], [`judging`], [`running`]); a sweeper for lapsed
//! leases and deadlines, an approver at an approval service who also settles what is indeterminate or dead, a canceller who ends the
//! run ([`people`]). A worker may crash between any two steps; a commit may stand although nobody heard of it; leases
//! lapse, deadlines pass and tools change whenever they like ([`scenario`] says how often). Time is nothing but these
//! events.
//!
//! What must hold stands in [`properties`]; who watches for it, in [`witness`]. [`switches`] takes single guards away,
//! and the tests show which property falls then. Every guard of the model stands in the executor too.
//!
//! What is not modelled: what arguments say (digests, edits that are not taken, secrets), grants, plan mode, reads that
//! are not kept, the clock itself (a time before which nothing is claimed is one of the orders that are explored
//! anyhow), forged approvals, several pages of a list. Workers are alike, so states that differ in their order alone
//! count as one.
//!
//! [`CallRecord::advance`]: toolwright::journal::CallRecord::advance

pub mod choices;
pub mod fair;
pub mod judging;
pub mod people;
pub mod properties;
pub mod record;
pub mod report;
pub mod running;
pub mod scenario;
pub mod scenarios;
pub mod store;
pub mod switches;
pub mod system;
pub mod witness;
pub mod worker;
