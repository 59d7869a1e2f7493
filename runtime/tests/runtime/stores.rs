//! Both stores, by the suite that every store passes, and what an SQLite file has to bear besides.

mod bounded;
mod exposed;
mod faults;
mod files;
mod kinds;
mod pages;
mod processes;
mod suite;
mod support;
mod triggers;
mod writing;
