//! Reading, answering, and both together; the captured messages are read by the integration tests.

mod answering;
mod cut_short;
mod media;
mod reading;
mod round_trip;
