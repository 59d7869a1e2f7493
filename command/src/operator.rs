//! Code that all commands on a journal share: options, opening the journal, output, and early ends.

pub(crate) mod arguments;
pub(crate) mod decide;
pub(crate) mod duration;
pub(crate) mod each;
pub(crate) mod editing;
pub(crate) mod filter;
pub(crate) mod ids;
pub(crate) mod journal;
pub(crate) mod number;
pub(crate) mod output;
pub(crate) mod pointer;
pub(crate) mod session;
pub(crate) mod signing;
pub(crate) mod stop;
pub(crate) mod value;

pub(crate) use output::Output;
pub(crate) use session::Session;
pub(crate) use stop::Stop;
