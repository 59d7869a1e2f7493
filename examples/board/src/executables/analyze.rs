//! `bonsai-analyze` describes a repository.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use clap::{ArgMatches, Command};
use ignore::WalkBuilder;
use serde::Serialize;

use super::manifests::Manifest;
use super::{Report, folder, repository};

/// The description of a repository. Unknown values are `null`.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Analysis {
    pub language: Option<&'static str>,
    pub framework: Option<&'static str>,
    pub package_manager: Option<&'static str>,
    pub test_runner: Option<&'static str>,
    /// The number of source files in this language, without those that `.gitignore` excludes.
    pub source_files: usize,
    /// The folders of the first level, each with the purpose of its content.
    pub structure: BTreeMap<String, String>,
}

/// The packages that identify a framework, each with the framework's name. Earlier entries take precedence.
const RUST_FRAMEWORKS: &[(&str, &str)] = &[
    ("axum", "axum"),
    ("actix-web", "actix-web"),
    ("rocket", "rocket"),
    ("tauri", "tauri"),
    ("bevy", "bevy"),
    ("tokio", "tokio"),
];
const NODE_FRAMEWORKS: &[(&str, &str)] = &[
    ("next", "next"),
    ("@angular/core", "angular"),
    ("nuxt", "nuxt"),
    ("svelte", "svelte"),
    ("vue", "vue"),
    ("react", "react"),
    ("fastify", "fastify"),
    ("express", "express"),
];
const NODE_TESTS: &[(&str, &str)] =
    &[("vitest", "vitest"), ("jest", "jest"), ("mocha", "mocha"), ("ava", "ava")];
const PYTHON_FRAMEWORKS: &[(&str, &str)] =
    &[("django", "django"), ("fastapi", "fastapi"), ("flask", "flask")];

/// The usual content of a folder with this name.
const FOLDERS: &[(&str, &str)] = &[
    ("app", "application"),
    ("benches", "benchmarks"),
    ("bin", "executables"),
    ("crates", "crates of the workspace"),
    ("docs", "documentation"),
    ("examples", "examples"),
    ("lib", "library"),
    ("migrations", "database migrations"),
    ("packages", "packages of the workspace"),
    ("scripts", "scripts"),
    ("src", "sources"),
    ("test", "tests"),
    ("tests", "tests"),
];

/// Returns the command line of `bonsai-analyze`.
#[must_use]
pub fn command() -> Command {
    Command::new("bonsai-analyze").about("Says what a repository is").arg(repository())
}

/// Analyses the repository.
///
/// # Errors
/// When the folder or its manifest cannot be read.
pub fn run(matches: &ArgMatches) -> Result<Report, String> {
    Report::of(&analysis(&folder(matches)?)?, true)
}

/// Analyses a folder.
///
/// # Errors
/// When the folder or its manifest cannot be read.
pub fn analysis(folder: &Path) -> Result<Analysis, String> {
    let manifest = Manifest::of(folder)?;
    let packages = manifest.as_ref().map(Manifest::dependencies).unwrap_or_default();
    let first = |signs: &[(&'static str, &'static str)]| {
        signs.iter().find(|(package, _)| packages.iter().any(|it| it == package)).map(|(_, it)| *it)
    };
    let has = |name: &str| folder.join(name).exists();
    let (language, framework, package_manager, test_runner, extensions): (_, _, _, _, &[&str]) =
        match &manifest {
            Some(Manifest::Rust(_)) => {
                (Some("rust"), first(RUST_FRAMEWORKS), Some("cargo"), Some("cargo test"), &["rs"])
            }
            Some(Manifest::Node(package)) => {
                let language = if has("tsconfig.json") { "typescript" } else { "javascript" };
                let manager =
                    [("pnpm-lock.yaml", "pnpm"), ("yarn.lock", "yarn"), ("bun.lock", "bun")];
                let manager =
                    manager.iter().find(|(lock, _)| has(lock)).map_or("npm", |(_, it)| *it);
                let script = package["scripts"]["test"].as_str().unwrap_or_default();
                let tests = first(NODE_TESTS)
                    .or_else(|| script.contains("node --test").then_some("node --test"))
                    .or_else(|| (!script.is_empty()).then_some("npm test"));
                let extensions = &["js", "jsx", "mjs", "cjs", "ts", "tsx", "mts", "cts"];
                (Some(language), first(NODE_FRAMEWORKS), Some(manager), tests, extensions)
            }
            Some(Manifest::Python(table)) => {
                let tool = |name| table.get("tool").is_some_and(|it| it.get(name).is_some());
                let manager = match () {
                    () if has("uv.lock") => "uv",
                    () if has("poetry.lock") || tool("poetry") => "poetry",
                    () => "pip",
                };
                let has_pytest = packages.iter().any(|it| it == "pytest")
                    || tool("pytest")
                    || has("pytest.ini")
                    || has("conftest.py");
                let tests = if has_pytest || has("tests") { Some("pytest") } else { None };
                (Some("python"), first(PYTHON_FRAMEWORKS), Some(manager), tests, &["py"])
            }
            None => (None, None, None, None, &[]),
        };
    let (source_files, structure) = files(folder, extensions)?;
    Ok(Analysis { language, framework, package_manager, test_runner, source_files, structure })
}

/// Counts the source files, and describes the content of each folder of the first level.
fn files(folder: &Path, extensions: &[&str]) -> Result<(usize, BTreeMap<String, String>), String> {
    let (mut sources, mut folders) = (0, BTreeMap::<String, (usize, usize)>::new());
    // Apply `.gitignore` even in a folder that is not a repository.
    for entry in WalkBuilder::new(folder).require_git(false).build() {
        let entry = entry.map_err(|error| error.to_string())?;
        if !entry.file_type().is_some_and(|it| it.is_file()) {
            continue;
        }
        let path: PathBuf = entry.path().strip_prefix(folder).unwrap_or(entry.path()).to_owned();
        let extension = path.extension().and_then(|it| it.to_str()).unwrap_or_default();
        let is_source = extensions.contains(&extension);
        sources += usize::from(is_source);
        let mut parts = path.components();
        if let (Some(top), Some(_)) = (parts.next(), parts.next()) {
            let counted =
                folders.entry(top.as_os_str().to_string_lossy().into_owned()).or_default();
            counted.0 += 1;
            counted.1 += usize::from(is_source);
        }
    }
    let described = folders.into_iter().map(|(name, (all, sources))| {
        let custom =
            FOLDERS.iter().find(|(it, _)| *it == name).map_or("files", |(_, words)| *words);
        let words = format!("{custom}: {all} files, {sources} of them sources");
        (format!("{name}/"), words)
    });
    Ok((sources, described.collect()))
}
