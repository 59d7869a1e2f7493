//! Both stores, by the suite that every store passes, and what an SQLite file has to bear besides.

mod suite;
mod support;
