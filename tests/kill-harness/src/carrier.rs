//! Who carries calls out elsewhere: a service that takes each once, as its key says, and supplies what came of it. Every process of the
//! application has one, and each finds what another left.

use std::fs::{File, OpenOptions};

use toolwright::approval::{ApproverKey, KeyError};
use toolwright::journal::{HandedOver, SupplyError};
use toolwright::{Executor, ToolError};

use crate::marks::{Attempt, What};
use crate::person::Arguments;
use crate::point::Point;
use crate::script::Manner;
use crate::tools::{World, result};

/// The key that signs the rights to supply results, the same in every process.
///
/// # Errors
/// When there can be no such key.
pub fn key() -> Result<ApproverKey, KeyError> {
    ApproverKey::from_seed("application", [9; 32])
}

/// Carries out what was handed over, and supplies the results.
///
/// # Errors
/// When journal or marks fail, or a result is refused that should count.
pub async fn carry_out(executor: &Executor, world: &World) -> anyhow::Result<()> {
    for call in executor.handed_over().await? {
        let Some(arguments) = Arguments::of(&call.arguments) else {
            anyhow::bail!("call {} has arguments of another form", call.call);
        };
        act(world, &call, &arguments)?;
        let token = call.token.to_string();
        let text = serde_json::to_string(&result(&arguments.token, arguments.amount))?;
        let supplied = match arguments.manner {
            Manner::Wrong => Err(ToolError::new("wrong", "there is no such thing")),
            _ => Ok(text.as_str()),
        };
        match executor.supply(call.call, &token, supplied).await {
            // Another process was faster, or the call is not wanted any more; or the store says that the next try tells.
            Ok(()) | Err(SupplyError::Ended { .. } | SupplyError::NotRecorded { .. }) => {}
            Err(error) => return Err(error.into()),
        }
    }
    Ok(())
}

/// Does it, unless it was done: a process at a time, also where one is killed in the middle.
fn act(world: &World, call: &HandedOver, arguments: &Arguments) -> anyhow::Result<()> {
    let locked = lock(world)?;
    let done = world.outside.known(&arguments.token)?;
    let attempt = Attempt {
        token: arguments.token.clone(),
        call: call.call.to_string(),
        key: call.idempotency_key.clone(),
        amount: arguments.amount,
    };
    if !done.begun {
        world.outside.add(What::Begun(attempt.clone()))?;
    }
    world.deadly.reached(Point::Begun);
    if !done.acted && arguments.manner != Manner::Wrong {
        world.outside.add(What::Acted(attempt))?;
    }
    world.outside.add(What::Left { token: arguments.token.clone() })?;
    drop(locked);
    world.deadly.reached(Point::Acted);
    Ok(())
}

/// The service takes one request at a time. A process that is killed lets go.
fn lock(world: &World) -> anyhow::Result<File> {
    let path = world.folder.join("carrier");
    let file = OpenOptions::new().create(true).truncate(false).write(true).open(path)?;
    file.lock()?;
    Ok(file)
}
