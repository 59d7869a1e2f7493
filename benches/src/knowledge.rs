//! An edit of one line in a skill of 10,000 lines, which is parsed again before it is written, against the bare
//! atomic write of the same content.

use std::fs;
use std::time::Instant;

use ::knowledge::{Library, executor};
use anyhow::{Error, Result, ensure};
use tempfile::TempDir;
use tokio::runtime::Builder;
use toolwright::Call;
use toolwright_toolbox::Workspace;

use crate::measure::{Contestant, Effort, print_ratio, print_table, take_turns};

const LINES: usize = 10_000;

/// The line that is replaced.
const LINE: usize = 5_000;

const FILE: &str = "skills/tea.md";

pub fn run(effort: Effort) -> Result<()> {
    let (rounds, edits) = match effort {
        Effort::Full => (40, 10),
        Effort::Quick => (8, 4),
    };
    let runtime = Builder::new_multi_thread().worker_threads(1).enable_all().build()?;
    let (bare, edited) = (TempDir::new()?, TempDir::new()?);
    fs::create_dir(bare.path().join("skills"))?;
    let workspace = Workspace::open(bare.path())?;
    let library = Library::open(edited.path()).map_err(Error::from_boxed)?;
    fs::write(edited.path().join(FILE), text(0))?;
    let executor = executor(library, None).map_err(Error::from_boxed)?;
    let (mut written, mut number) = (0, 0);
    let measured = take_turns(
        rounds,
        vec![
            Contestant::new("write", || {
                let texts: Vec<String> = (0..edits).map(|it| text(written + it)).collect();
                written += edits;
                let begun = Instant::now();
                for text in &texts {
                    workspace.write(FILE, text.as_bytes()).map_err(Error::msg)?;
                }
                Ok(begun.elapsed())
            }),
            Contestant::new("edit", || {
                let begun = Instant::now();
                for _ in 0..edits {
                    number += 1;
                    let input = format!(
                        r#"{{"name":"tea","patches":[{{"start_line":{LINE},"end_line":{LINE},"content":"{}"}}]}}"#,
                        edited_line(number)
                    );
                    let answer = runtime.block_on(executor.call(&Call::new("skill_edit", input)));
                    ensure!(!answer.is_error(), "{}", answer.text());
                }
                Ok(begun.elapsed())
            }),
        ],
    )?;
    let found = fs::read_to_string(edited.path().join(FILE))?;
    ensure!(found == text(number), "the edits have left another text");
    let mut rows = vec![vec![format!("{LINES} lines, {} bytes", found.len()), "ms".to_owned()]];
    for name in ["write", "edit"] {
        let each = measured.median(name)? / f64::from(edits) * 1e3;
        rows.push(vec![name.to_owned(), format!("{each:.3}")]);
    }
    print_table(&rows);
    print_ratio("knowledge", "edit", &measured.ratio("edit", "write")?, "write");
    Ok(())
}

fn edited_line(number: u32) -> String {
    format!("Line {LINE}, in its edition {number}.")
}

fn text(number: u32) -> String {
    let mut lines = vec![
        "---".to_owned(),
        "name: tea".to_owned(),
        "description: Makes tea.".to_owned(),
        "---".to_owned(),
    ];
    while lines.len() < LINES {
        let next = lines.len() + 1;
        lines.push(match next == LINE {
            true => edited_line(number),
            false => format!("Line {next}: pour water over the leaves."),
        });
    }
    lines.push(String::new());
    lines.join("\n")
}
