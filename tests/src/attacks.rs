//! What attackers tried: each is refused, shown or ended as it should be.

mod schemas;
//! What attackers tried: each way that was found is a test that fails without its mend.

mod gates;
//! What attackers tried: each way that was found is a test that fails without its mend.

mod rows;
