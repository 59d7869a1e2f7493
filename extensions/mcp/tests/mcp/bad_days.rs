//! Bad days, on both sides: users who idle and flood, servers that hang, die, drift and are started again.

mod deaf;
mod drift;
mod far;
mod faults;
mod hostile;
mod questions;
mod restarts;
mod stderr;
mod users;
