//! rmcp: the input's schema of a `#[tool]` method.

use ::rmcp::handler::server::router::tool::ToolRouter;
use ::rmcp::handler::server::wrapper::Parameters;
use ::rmcp::{tool, tool_router};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;

use super::{Place, Step};

#[derive(Deserialize, JsonSchema)]
struct CarryOut {
    /// The step to begin with.
    first: Step,
    /// Where to write what was done.
    place: Place,
}

struct Server;

#[tool_router]
impl Server {
    /// Carries out a plan.
    #[tool]
    async fn carry_out(&self, Parameters(input): Parameters<CarryOut>) -> String {
        drop(input.place);
        input.first.action
    }
}

pub fn input_schema() -> Value {
    let router: ToolRouter<Server> = Server::tool_router();
    let schemas = router.list_all().into_iter();
    schemas.map(|tool| Value::Object((*tool.input_schema).clone())).next().unwrap_or_default()
}
