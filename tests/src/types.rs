//! What the schema of a tool takes, its reader takes, and nothing else, for every kind of type.

mod agreement;
mod changes;
pub mod defaults;
mod kinds;
mod large;
mod limits;
mod normal_form;
mod nulls;
pub mod os_text;
mod rows;
mod settled;
mod singles;
mod values;
pub mod wrong;
