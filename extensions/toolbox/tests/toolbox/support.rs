//! A folder with an executor over it.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use serde_json::Value;
use tempfile::TempDir;
use tokio::runtime::Runtime;
use toolwright::{Answer, Call, Executor, Handle, Registry};
use toolwright_toolbox::Workspace;

/// A workspace inside a folder that holds something beside it, which no tool may reach.
pub struct Box {
    around: TempDir,
    pub executor: Executor,
}

impl Box {
    pub fn of(tools: impl IntoIterator<Item = Handle>) -> Self {
        let around = TempDir::new().unwrap();
        let inside = around.path().join("inside");
        fs::create_dir(&inside).unwrap();
        fs::create_dir(around.path().join("outside")).unwrap();
        fs::write(around.path().join("outside/secret"), "a secret\n").unwrap();
        let workspace = Workspace::open(inside).unwrap();
        let executor = Executor::builder(Registry::of(tools).unwrap()).unrestricted();
        let executor = executor.service(workspace).build().unwrap();
        Self { around, executor }
    }

    pub fn files() -> Self {
        Self::of(toolwright_toolbox::FILES)
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.around.path().join("inside").join(name)
    }

    pub fn outside(&self) -> PathBuf {
        self.around.path().join("outside")
    }

    /// The path that no answer may contain.
    pub fn absolute(&self) -> &str {
        self.around.path().to_str().unwrap()
    }

    pub fn put(&self, name: &str, content: impl AsRef<[u8]>) {
        let path = self.path(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, content).unwrap();
    }

    pub fn text(&self, name: &str) -> String {
        fs::read_to_string(self.path(name)).unwrap()
    }

    /// The names in a folder, hidden ones as well.
    pub fn names(&self, folder: &str) -> Vec<String> {
        names(&self.path(folder))
    }

    /// No answer of a tool contains the path of the workspace, nor what is around it, unless its call does. What programs
    /// print is theirs.
    pub fn call(&self, tool: &str, input: Value) -> Answer {
        let input = input.to_string();
        let answer = runtime().block_on(self.executor.call(&Call::new(tool, input.as_str())));
        let is_known = tool == "run_command" || input.contains(self.absolute());
        assert!(is_known || !answer.text().contains(self.absolute()), "{tool}: {}", answer.text());
        answer
    }

    /// What the tool answers when it succeeds, without the hashes of contents.
    pub fn ok(&self, tool: &str, input: Value) -> String {
        let answer = self.call(tool, input);
        assert!(!answer.is_error(), "{}", answer.text());
        let mut parts = answer.text().split("; hash ").map(str::to_owned).collect::<Vec<_>>();
        for part in parts.iter_mut().skip(1) {
            let (hash, rest) = part.split_at(16);
            assert!(hash.bytes().all(|it| it.is_ascii_hexdigit()), "{hash}");
            *part = rest.to_owned();
        }
        parts.concat()
    }

    /// The first line of such an answer, before the diff.
    pub fn done(&self, tool: &str, input: Value) -> String {
        self.ok(tool, input).lines().next().unwrap_or_default().to_owned()
    }

    /// The hash of a file that `read_file` shows.
    pub fn hash(&self, name: &str) -> String {
        let answer = self.call("read_file", serde_json::json!({"path": name}));
        let text = answer.text();
        let (_, hash) = text.split_once("; hash ").unwrap_or_else(|| panic!("{text}"));
        hash[..16].to_owned()
    }

    /// Kind and message of its error.
    pub fn refused(&self, tool: &str, input: Value) -> (String, String) {
        let answer = self.call(tool, input);
        let error = answer.error().unwrap_or_else(|| panic!("{}", answer.text()));
        assert!(!error.to_json().contains(self.absolute()), "{}", error.to_json());
        (error.kind().to_owned(), error.message().to_owned())
    }
}

pub fn names(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).unwrap();
    let names = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let mut names: Vec<String> = names.collect();
    names.sort();
    names
}

/// One for all tests, so that a property does not start one a case.
pub fn runtime() -> &'static Runtime {
    static RUNTIME: OnceLock<Runtime> = OnceLock::new();
    RUNTIME.get_or_init(|| Runtime::new().unwrap())
}

/// Whether a program gets a variable of this process.
pub fn is_passed_on(name: &str) -> bool {
    let own = ["PATH", "TERM", "HOME", "LANG", "USER", "LOGNAME", "SHELL", "TMPDIR", "TZ", "PWD"];
    let of_tools = ["CARGO_HOME", "RUSTUP_HOME", "XDG_CACHE_HOME", "LC_ALL", "LC_CTYPE"];
    own.contains(&name) || of_tools.contains(&name)
}
