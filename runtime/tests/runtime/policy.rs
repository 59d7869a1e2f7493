//! Which calls run, ask or are refused: modes, rules, files, arguments, protections, problems.

mod arguments;
mod bounds;
mod commands;
mod computed;
mod decisive;
mod edges;
mod explained;
mod exposed;
mod files;
mod known;
mod laws;
mod lines;
mod modes;
mod names;
mod places;
mod possible;
mod problems;
mod protections;
mod scene;
mod told;
mod undeclared;
mod written;
