//! Which calls run, ask or are refused: modes, rules, files, arguments, protections, problems.

mod arguments;
mod commands;
mod explained;
mod files;
mod laws;
mod modes;
mod names;
mod problems;
mod protections;
mod scene;
mod told;
