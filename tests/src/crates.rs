//! Which crate owns what, and which way dependencies point.

mod extensions;
mod features;
mod rooms;
mod walls;

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// The names of each member's dependencies that count, as cargo sees them.
fn dependencies(counts: fn(&Value) -> bool) -> BTreeMap<String, Vec<String>> {
    let cargo = std::process::Command::new(env!("CARGO"))
        .args(["metadata", "--offline", "--no-deps", "--format-version", "1"])
        .current_dir(root())
        .output()
        .unwrap();
    let metadata: Value = serde_json::from_slice(&cargo.stdout).unwrap();
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    let packages = metadata["packages"].as_array().unwrap().iter();
    packages
        .map(|package| {
            let all = package["dependencies"].as_array().unwrap().iter();
            let names = all.filter(|it| counts(it));
            (text(&package["name"]), names.map(|it| text(&it["name"])).collect())
        })
        .collect()
}

fn is_ordinary(dependency: &Value) -> bool {
    dependency["kind"].is_null()
}

/// The Rust files below a folder.
fn sources(folder: &str) -> Vec<(PathBuf, String)> {
    let mut found = Vec::new();
    let mut open = vec![root().join(folder)];
    while let Some(folder) = open.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                open.push(path);
            } else if path.extension().is_some_and(|it| it == "rs") {
                let text = fs::read_to_string(&path).unwrap();
                found.push((path, text));
            }
        }
    }
    assert!(!found.is_empty());
    found
}

/// S2.8: dependencies point one way, from the users to the runtime to the macros, and never back.
#[test]
fn dependencies_point_from_the_examples_to_the_runtime_to_the_macros() {
    let dependencies = dependencies(is_ordinary);
    let has = |package: &str, name: &str| dependencies[package].iter().any(|it| it == name);
    assert!(has("programs", "toolwright") && has("toolwright", "toolwright-runtime"));
    assert!(has("toolwright-runtime", "toolwright-macros"));
    for above in ["toolwright", "toolwright-runtime"] {
        assert!(!has("toolwright-macros", above));
    }
    assert!(!has("toolwright-runtime", "toolwright"));
    for below in ["toolwright", "toolwright-runtime", "toolwright-macros"] {
        assert!(!has(below, "workspace"), "{below} depends on an example");
        assert!(!has(below, "tests"), "{below} depends on the tests");
    }
}

/// S2.6: the runtime owns no MCP protocol, nor any connection: no crate of either is below it. The errors of one are
/// known where a feature asks for that, and so the tests know them. Extensions may open connections.
#[test]
fn the_runtime_knows_no_protocol_and_opens_no_connection() {
    let dependencies = dependencies(|it| {
        let is_for_errors =
            it["name"] == "reqwest" && (it["optional"] == true || it["kind"] == "dev");
        !is_for_errors
    });
    for foreign in ["rmcp", "reqwest", "hyper", "rig", "axum"] {
        let inner = walls::WALLS.iter().map(|(name, ..)| *name);
        for package in
            inner.chain(["toolwright-runtime", "toolwright-macros", "toolwright-command"])
        {
            assert!(!dependencies[package].iter().any(|it| it == foreign), "{package}: {foreign}");
        }
    }
}

/// S2.65: an application needs one dependency; the others are the runtime's, or of what a tool itself does.
#[test]
fn an_application_depends_on_toolwright_alone() {
    let dependencies = dependencies(is_ordinary);
    assert_eq!(
        dependencies["workspace"],
        ["tokio", "toolwright-mcp", "toolwright-runtime", "toolwright-toolbox"]
    );
    for (path, source) in sources("examples/workspace/src") {
        // It runs calls from a `main` of its own.
        let is_its_own = path.ends_with("answer.rs");
        let source = source.replace("#[tokio::test]", "");
        assert_eq!(source.contains("tokio::"), is_its_own, "{}", path.display());
    }
    for fixture in dependencies.keys().filter(|name| name.starts_with("fixture-")) {
        assert_eq!(dependencies[fixture], ["toolwright-runtime"], "{fixture}");
    }
}

#[test]
fn whatever_a_feature_brings_says_so_where_it_is_documented() {
    let mut found = 0;
    for (path, source) in sources("runtime/src") {
        let lines: Vec<&str> = source.lines().map(str::trim).collect();
        for (place, line) in lines.iter().enumerate() {
            let Some(feature) = line.strip_prefix("#[cfg(feature = ") else { continue };
            let feature = feature.trim_end_matches(")]");
            let item = lines[place..].iter().find(|it| !it.starts_with("#[")).unwrap();
            let is_hidden = place > 0 && lines[place - 1] == "#[doc(hidden)]";
            if !item.starts_with("pub ") || is_hidden {
                continue;
            }
            found += 1;
            let said = format!("#[cfg_attr(docsrs, doc(cfg(feature = {feature})))]");
            assert_eq!(lines[place + 1], said, "{}: {item}", path.display());
        }
    }
    assert!(found >= 5, "{found} items");
}

/// What a use of everything at the top of the crate looks like.
mod at_the_top {
    use toolwright::{
        Answer, Executor, Handle, Output, ProcessOutput, Registry, ToolError, data, tool, tools,
    };

    /// A number.
    #[data]
    pub struct Number(pub u8);

    /// Counts.
    pub struct Counter;

    /// Doubles.
    #[tool(effect = read)]
    pub async fn at_the_top_double(
        /// What.
        number: Number,
    ) -> Result<Output, ToolError> {
        Ok(Output::text((number.0 * 2).to_string()))
    }

    #[tools]
    impl Counter {
        /// Runs.
        #[tool]
        pub async fn at_the_top_run(&self) -> ProcessOutput {
            ProcessOutput { success: true, ..ProcessOutput::default() }
        }
    }

    pub const TOOLS: [Handle; 2] = [AT_THE_TOP_DOUBLE, Counter::AT_THE_TOP_RUN];

    pub async fn run(name: &str, arguments: &str) -> Answer {
        let registry = Registry::of(TOOLS).unwrap();
        let executor = Executor::builder(registry).unrestricted().service(Counter).build().unwrap();
        executor.call(&toolwright::Call::new(name, arguments)).await
    }
}

/// S2.1: one package has the registry, the making of tools and the types of their results.
/// S2.11: all of it is at the top of that package, macros and types alike.
#[tokio::test]
async fn one_package_has_the_registry_the_tools_and_the_types_of_results() {
    let doubled = at_the_top::run("at_the_top_double", r#"{"number":4}"#).await;
    assert_eq!(doubled.text(), "8");
    let ran = at_the_top::run("at_the_top_run", "{}").await;
    assert_eq!(ran.structured().unwrap()["success"], true);
}

/// S2.4: the types of a call's context and results are the runtime's; a file of a tool defines no
/// trait, and implements none of theirs.
#[test]
fn a_tool_is_a_function_and_owns_no_type_of_the_runtime() {
    for (path, source) in sources("examples/workspace/src/tools") {
        let code = source.lines().filter(|line| !line.trim_start().starts_with("//"));
        for line in code {
            let foreign = line.contains("impl ") && line.contains(" for ");
            assert!(!foreign && !line.contains("trait "), "{}: {line}", path.display());
        }
    }
}

/// S0.5: what lies between tools and runtime is one short file: generated code names nothing else,
/// and one file of the macros knows where it is.
#[test]
fn generated_code_reaches_the_runtime_through_one_short_file() {
    let adapter = fs::read_to_string(root().join("runtime/core/src/__private0.rs")).unwrap();
    let is_code = |line: &&str| !line.trim().is_empty() && !line.trim().starts_with("//");
    let lines = adapter.lines().filter(is_code).count();
    assert!(lines <= 80, "the adapter has {lines} lines of code");
    let knows: Vec<PathBuf> = sources("macros/src")
        .into_iter()
        .filter(|(_, source)| source.contains("__private"))
        .map(|(path, _)| path)
        .collect();
    assert!(
        matches!(knows.as_slice(), [only] if only.ends_with("macros/src/paths.rs")),
        "{knows:?}"
    );
}

/// S3.48: the tools of a module are a file each, called like the tool, and a main file gathers them.
/// S3.52: a file has one tool, which does one thing.
#[test]
fn each_tool_is_a_file_of_its_name_and_a_main_file_gathers_them() {
    let gathering = fs::read_to_string(root().join("examples/workspace/src/tools.rs")).unwrap();
    let mut gathered: Vec<&str> = gathering
        .lines()
        .filter_map(|line| line.strip_prefix("mod ").and_then(|line| line.strip_suffix(';')))
        .collect();
    let files = sources("examples/workspace/src/tools");
    let mut names: Vec<&str> =
        files.iter().map(|(path, _)| path.file_stem().unwrap().to_str().unwrap()).collect();
    names.sort_unstable();
    gathered.sort_unstable();
    assert_eq!(gathered, names);
    for (path, source) in &files {
        let name = path.file_stem().unwrap().to_str().unwrap();
        assert_eq!(source.matches("#[tool(").count(), 1, "{name}");
        assert!(source.contains(&format!("fn {name}(")), "{name}");
    }
}
