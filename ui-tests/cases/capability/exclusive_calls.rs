// The calls of a tool are borrowed like a service.
use toolwright::{Calls, tool};

/// Deploys the site.
#[tool]
async fn deploy(calls: &mut Calls) {
    let _ = calls;
}

fn main() {}
