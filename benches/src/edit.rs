//! An edit of a file with change log and syntax check, against a bare atomic write of the same content.

use std::fs;
use std::sync::Arc;
use std::time::Instant;

use anyhow::{Result, ensure};
use tempfile::TempDir;
use tokio::runtime::{Builder, Runtime};
use toolwright::{Call, Executor, Registry};
use toolwright_toolbox::{CHANGES, ChangeLog, FILES, SyntaxCheck, Workspace};

use crate::measure::{Contestant, Effort, print_table, take_turns};

const FILE: &str = "lib.rs";

/// How many functions the file has, about 20 kB of text.
const FUNCTIONS: usize = 400;

pub fn run(effort: Effort) -> Result<()> {
    let (rounds, edits) = match effort {
        Effort::Full => (60, 20),
        Effort::Quick => (10, 5),
    };
    let runtime = Builder::new_multi_thread().worker_threads(1).enable_all().build()?;
    let [bare, edited, watched] = [(); 3].map(|()| TempDir::new());
    let (bare, edited, watched) = (Arc::new(Workspace::open(bare?.keep())?), edited?, watched?);
    let without = executor(&edited, false)?;
    let with = executor(&watched, true)?;
    let mut written = 0;
    let measured = take_turns(
        rounds,
        vec![
            Contestant::new("write", || {
                let begun = Instant::now();
                for _ in 0..edits {
                    written += 1;
                    bare.write(FILE, text(written).as_bytes()).map_err(anyhow::Error::msg)?;
                }
                Ok(begun.elapsed())
            }),
            Contestant::new("edit", sample(&runtime, &without, edits)),
            Contestant::new("edit, log, check", sample(&runtime, &with, edits)),
        ],
    )?;
    let names = ["write", "edit", "edit, log, check"];
    let mut rows = vec![vec!["one of".to_owned(), "ms".to_owned()]];
    for name in names {
        let each = measured.median(name)? / f64::from(edits) * 1000.0;
        rows.push(vec![name.to_owned(), format!("{each:.3}")]);
    }
    print_table(&rows);
    println!(
        "edit/without-stages ratio={:.3} against=write",
        measured.ratio("edit", "write")?.median
    );
    println!(
        "edit/one ratio={:.3} against=write",
        measured.ratio("edit, log, check", "write")?.median
    );
    fs::remove_dir_all(bare.root())?;
    Ok(())
}

fn executor(around: &TempDir, is_watched: bool) -> Result<Executor> {
    let work = around.path().join("work");
    fs::create_dir(&work)?;
    fs::write(work.join(FILE), text(0))?;
    let workspace = Arc::new(Workspace::open(work)?);
    let log = ChangeLog::open(around.path().join("changes.db"), Arc::clone(&workspace))?;
    let builder = Executor::builder(Registry::of(FILES.into_iter().chain(CHANGES))?).unrestricted();
    let builder = match is_watched {
        true => {
            builder.middleware(log.clone()).middleware(SyntaxCheck::new(Arc::clone(&workspace)))
        }
        false => builder,
    };
    Ok(builder.service(log).service_arc(workspace).build()?)
}

fn sample<'a>(
    runtime: &'a Runtime,
    executor: &'a Executor,
    edits: u32,
) -> impl FnMut() -> Result<std::time::Duration> + 'a {
    let mut number = 0;
    move || {
        let begun = Instant::now();
        for _ in 0..edits {
            let input = serde_json::json!({
                "path": FILE,
                "old_string": format!("// Edit {number}."),
                "new_string": format!("// Edit {}.", number + 1),
            });
            number += 1;
            let input = input.to_string();
            let answer = runtime.block_on(executor.call(&Call::new("edit_file", input.as_str())));
            ensure!(!answer.is_error(), "{}", answer.text());
        }
        Ok(begun.elapsed())
    }
}

fn text(number: u32) -> String {
    let functions = (0..FUNCTIONS)
        .map(|it| format!("fn function_{it}(a: u32) -> u32 {{\n    a + {it}\n}}\n\n"));
    format!("// Edit {number}.\n\n{}", functions.collect::<String>())
}
