//! What attackers tried: each way that was found is a test that fails without its mend.
//! What attackers broke: each way that was found is a test that fails without its mend.

mod gates;
mod rows;
mod schemas;
mod signing;
