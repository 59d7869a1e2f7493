//! What attackers tried: each way that was found is a test that fails without its mend.

mod gates;
mod rows;
mod schemas;
mod signing;
