//! Reads every document below the folders that it is given, and counts what becomes of their operations:
//! `cargo run --release -p toolwright-openapi --example all [FOLDER …]`, after `extensions/openapi/fetch`.

use std::collections::{BTreeMap, BTreeSet};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};

use futures::future::BoxFuture;
use toolwright::dialect::{Dialect, Rule, Severity};
use toolwright::{Executor, Registry, ToolContext, ToolError};
use toolwright_openapi::{Credential, Credentials, LoadError, OpenApi, Outcome, SecurityScheme};

/// Of how many tools an executor is built, as a second check: each holds a compiled schema, and some documents have thousands.
const MOST_BUILT: usize = 1000;

/// Where `fetch` puts the documents.
const FETCHED: &str = "target/openapi";

#[derive(Default)]
struct Counts {
    documents: usize,
    swagger: usize,
    operations: usize,
    tools: usize,
    panics: usize,
    /// Documents of which no executor was built.
    not_built: usize,
    /// How many tools have no form in a dialect, each with a finding that says why.
    without_form: BTreeMap<&'static str, usize>,
    unreadable: Vec<String>,
    unbuilt: Vec<String>,
    /// How often each reason is given, and where for the first time.
    refusals: BTreeMap<String, (usize, String)>,
}

fn main() -> std::process::ExitCode {
    let mut folders: Vec<PathBuf> = std::env::args_os().skip(1).map(PathBuf::from).collect();
    if folders.is_empty() {
        folders.push(PathBuf::from(FETCHED));
    }
    let mut counts = Counts::default();
    for file in files(folders) {
        if catch_unwind(AssertUnwindSafe(|| read(&file, &mut counts))).is_err() {
            counts.panics += 1;
        }
    }
    print(&counts);
    u8::from(counts.panics > 0 || counts.documents == 0).into()
}

fn read(file: &Path, counts: &mut Counts) {
    let shown = file.display();
    let api = match OpenApi::read(file) {
        Ok(api) => api,
        Err(LoadError::Swagger { .. }) => return counts.swagger += 1,
        // The packages have other JSON besides.
        Err(LoadError::Version { .. }) => return,
        Err(error) => return counts.unreadable.push(format!("{shown}: {error}")),
    };
    counts.documents += 1;
    let planned = api.plan().expect("there are no rules");
    let before = counts.tools;
    for operation in planned {
        counts.operations += 1;
        match operation.outcome {
            Outcome::Tool { .. } => counts.tools += 1,
            Outcome::Refused(refusal) => {
                let reason = without_names(&refusal.reason);
                let place = format!("{shown} {}", refusal.place);
                counts.refusals.entry(reason).or_insert((0, place)).0 += 1;
            }
            other => unreachable!("no rule is given, found {other:?}"),
        }
    }
    if counts.tools - before > MOST_BUILT {
        return counts.not_built += 1;
    }
    // Whether an executor takes all of them. No request is made.
    let api = api.server("http://127.0.0.1:1").credentials(Everything);
    let executor = match Executor::builder(Registry::empty()).with(api).unrestricted().build() {
        Ok(executor) => executor,
        Err(error) => return counts.unbuilt.push(format!("{shown}: {error}")),
    };
    for dialect in Dialect::ALL {
        let findings = executor.registry().lint([dialect]);
        // How many tools there are is a matter of what a request shows.
        let refused = findings
            .iter()
            .filter(|it| it.severity == Severity::Error && it.rule != Rule::ToolCount);
        let refused: BTreeSet<&str> = refused.map(|it| it.tool.as_str()).collect();
        *counts.without_form.entry(dialect.name()).or_default() += refused.len();
    }
}

/// Gives a credential for every scheme.
struct Everything;

impl Credentials for Everything {
    fn gives(&self, _: &SecurityScheme) -> bool {
        true
    }

    fn credential<'a>(
        &'a self,
        _: &'a SecurityScheme,
        _: &'a ToolContext,
    ) -> BoxFuture<'a, Result<Credential, ToolError>> {
        Box::pin(async { Ok(Credential::token("a token")) })
    }
}

/// A reason without what it quotes, so that equal ones are counted together.
fn without_names(reason: &str) -> String {
    let parts = reason.split('`').enumerate();
    let plain = parts.map(|(index, part)| if index % 2 == 0 { part } else { "…" });
    plain.collect::<Vec<_>>().join("`").chars().take(120).collect()
}

fn files(folders: Vec<PathBuf>) -> Vec<PathBuf> {
    let (mut files, mut open) = (Vec::new(), folders);
    while let Some(path) = open.pop() {
        match std::fs::read_dir(&path) {
            Ok(entries) => open.extend(entries.flatten().map(|it| it.path())),
            Err(_) => {
                let is_document = path.extension().is_some_and(|it| it == "json" || it == "yaml");
                files.extend(is_document.then_some(path));
            }
        }
    }
    files.sort();
    files
}

fn print(counts: &Counts) {
    let Counts { documents, swagger, operations, tools, panics, not_built, .. } = counts;
    let share = 100.0 * *tools as f64 / (*operations).max(1) as f64;
    println!("documents {documents}, of Swagger 2.0 besides {swagger}");
    println!("executors built of {}, too large for that {not_built}", documents - not_built);
    println!("operations {operations}, tools {tools} ({share:.2} %), panics {panics}");
    for (dialect, count) in &counts.without_form {
        println!("in the dialect {dialect} {count} tools have no form, and a finding each");
    }
    for (reason, (count, place)) in &counts.refusals {
        println!("refused {count}: {reason}\n    first {place}");
    }
    for error in counts.unreadable.iter().chain(&counts.unbuilt) {
        println!("! {}", error.chars().take(600).collect::<String>());
    }
}
