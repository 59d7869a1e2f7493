//! The strict reader: its rules by hand, and against serde_json by property.

mod differential;
mod object;
mod rules;
