//! Faults of disk and clock, and processes that stand still.

mod clock;
mod disk;
mod late;
mod stopped;
