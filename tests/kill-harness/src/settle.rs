//! Settles a world after the last kill: makes every turn again and does what is due, until no call changes any more.

use std::collections::BTreeSet;
use std::time::{Duration, Instant};

use futures::StreamExt as _;
use toolwright::journal::{Filter, Page, State};

use crate::application::{Application, is_looked_into, noted};
use crate::marks::{self, What};
use crate::person;
use crate::script::Run;

/// How long the harness waits after the last change of a call before it gives up settling. It counts from the last
/// change, because a busy machine settles slowly.
const PATIENCE: Duration = Duration::from_secs(20);

pub(crate) async fn settle(application: &Application) -> anyhow::Result<()> {
    make_all(application, false).await?;
    let mut moved = Instant::now();
    let mut left = usize::MAX;
    let sure = |token: &str| is_looked_into(application.life.seed, token);
    while moved.elapsed() < PATIENCE {
        person::decide(&application.store).await?;
        let found = person::find_out(&application.store, &application.world.outside, sure).await?;
        let swept = application.worker.sweep().await?;
        application.supplier.supply().await?;
        application.look().await?;
        let now_left = under_way(application).await?;
        if found == 0 && swept.is_nothing() && now_left == 0 {
            break;
        }
        if found > 0 || !swept.is_nothing() || now_left != left {
            moved = Instant::now();
        }
        left = now_left;
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    // A call that is answered must give the same answer again without running its tool.
    make_all(application, true).await
}

/// Makes every turn again that was ever begun, or only the turns with an answer that is not recorded.
async fn make_all(application: &Application, even_answered: bool) -> anyhow::Result<()> {
    let known = marks::read(&application.life.folder)?;
    let noted = noted(&known);
    let is_open = |number: u64| {
        let run = Run::of(application.life.seed, number);
        run.calls.iter().any(|call| !noted.contains_key(call.token.as_str()))
    };
    let runs: BTreeSet<u64> = known
        .iter()
        .filter_map(|mark| match mark.what {
            What::Intended { run } if even_answered || is_open(run) => Some(run),
            _ => None,
        })
        .collect();
    let mut made = futures::stream::iter(runs).map(|run| application.make(run)).buffer_unordered(4);
    while let Some(made) = made.next().await {
        made?;
    }
    Ok(())
}

/// Returns how many calls are neither final nor parked.
async fn under_way(application: &Application) -> anyhow::Result<usize> {
    let states = vec![
        State::Judging,
        State::Planned,
        State::Pending,
        State::Ready,
        State::Running,
        State::HandedOver,
    ];
    let filter = Filter { states, ..Filter::default() };
    Ok(application.store.list(&filter, Page::first(1_000)).await?.calls.len())
}
