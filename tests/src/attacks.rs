//! What attackers tried: each is refused, shown or ended as it should be.

mod schemas;
