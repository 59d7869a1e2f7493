//! What attackers tried: each way that was found is a test that fails without its mend.

mod builds;
mod gates;
mod rows;
mod schemas;
mod signing;
