//! Input that is not what the schema asks for is mended where one reading is left, and whoever has to do with
//! the call is told what was changed.

mod hostile;
mod levels;
mod refusals;
mod run_time;
mod secrets;
mod told;
mod values;
