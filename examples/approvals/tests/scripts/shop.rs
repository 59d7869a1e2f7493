//! A folder with a journal, a ledger and Ada's key, and the processes that work on them.

use std::fs;
use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::time::Duration;

use crate::toolwright;

/// How long is waited for a line before the test is given up.
const PATIENCE: Duration = Duration::from_secs(60);

pub struct Shop {
    pub folder: PathBuf,
    /// Ada's public key.
    ada: String,
}

/// What a command left behind.
#[derive(Debug)]
pub struct Ran {
    pub code: Option<i32>,
    pub out: String,
    pub err: String,
}

impl Shop {
    /// A new one; what a test of this name has left is removed.
    pub fn new(name: &str) -> Self {
        Self::within(Path::new(env!("CARGO_TARGET_TMPDIR")), name)
    }

    pub fn within(folder: &Path, name: &str) -> Self {
        let folder = folder.join(name);
        let _ = fs::remove_dir_all(&folder);
        fs::create_dir_all(&folder).unwrap();
        let mut shop = Self { folder, ada: String::new() };
        let made =
            shop.toolwright(&["keys", "new", "--name", "ada", "--out", "ada.key", "--anyway"]);
        assert_eq!(made.code, Some(0), "{made:?}");
        let key = made.out.split_whitespace().find(|word| word.starts_with("ed25519:")).unwrap();
        shop.ada = key.trim_matches(|it: char| !it.is_ascii_alphanumeric()).to_owned();
        shop
    }

    /// One that was left by an earlier release: its journal, and Ada's key.
    pub fn of_fixture(name: &str, fixture: &str) -> Self {
        use std::os::unix::fs::PermissionsExt as _;

        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
        let _ = fs::remove_dir_all(&folder);
        fs::create_dir_all(&folder).unwrap();
        let from = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures").join(fixture);
        for file in ["calls.db", "ada.key"] {
            fs::copy(from.join(file), folder.join(file)).unwrap();
            fs::set_permissions(folder.join(file), fs::Permissions::from_mode(0o600)).unwrap();
        }
        let mut shop = Self { folder, ada: String::new() };
        let shown = shop.toolwright(&["keys", "show", "ada.key"]).out;
        let key = shown.split_whitespace().find(|word| word.starts_with("ed25519:")).unwrap();
        key.trim_matches(|it: char| !it.is_ascii_alphanumeric()).clone_into(&mut shop.ada);
        shop
    }

    pub fn ada_key(&self) -> &str {
        &self.ada
    }

    pub fn journal(&self) -> PathBuf {
        self.folder.join("calls.db")
    }

    /// The application, at work on a run.
    pub fn start(&self, run: &str, options: &[&str]) -> Application {
        // What it logs and where it panics stays with the shop: a panic of a tool is part of some tests.
        let log = self.folder.join("application.log");
        let log = fs::OpenOptions::new().create(true).append(true).open(log).unwrap();
        let mut child = Command::new(env!("CARGO_BIN_EXE_approvals"))
            .args([
                "--journal",
                "calls.db",
                "--approver",
                &format!("ada={}", self.ada),
                "--lease",
                "2",
            ])
            .args(options)
            .arg(run)
            .current_dir(&self.folder)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(log)
            .spawn()
            .unwrap();
        let (sender, lines) = mpsc::channel();
        let out = BufReader::new(child.stdout.take().unwrap());
        std::thread::spawn(move || {
            for line in out.lines() {
                let _ = sender.send(line.unwrap());
            }
        });
        Application { child, lines, seen: Vec::new() }
    }

    /// The command of operators, without a key.
    pub fn toolwright(&self, arguments: &[&str]) -> Ran {
        self.command(arguments, None)
    }

    /// The same with Ada's key; it has to succeed.
    #[track_caller]
    pub fn ada(&self, arguments: &[&str]) -> Ran {
        let ran = self.command_of_ada(arguments);
        assert_eq!(ran.code, Some(0), "{arguments:?}: {ran:?}");
        ran
    }

    /// The same, which may fail.
    pub fn command_of_ada(&self, arguments: &[&str]) -> Ran {
        self.command(arguments, Some("ada.key"))
    }

    fn command(&self, arguments: &[&str], key: Option<&str>) -> Ran {
        let mut command = Command::new(toolwright::binary());
        command
            .args(arguments)
            .current_dir(&self.folder)
            .stdin(Stdio::null())
            .env_remove("TOOLWRIGHT_KEY")
            .env("XDG_CONFIG_HOME", self.folder.join("configuration"))
            .env("TOOLWRIGHT_JOURNAL", "sqlite:calls.db");
        if let Some(key) = key {
            command.env("TOOLWRIGHT_KEY", key);
        }
        let output = command.output().unwrap();
        Ran {
            code: output.status.code(),
            out: String::from_utf8(output.stdout).unwrap(),
            err: String::from_utf8(output.stderr).unwrap(),
        }
    }

    /// What happened in the outside world.
    pub fn ledger(&self) -> Vec<String> {
        match fs::read_to_string(self.folder.join("ledger.txt")) {
            Ok(text) => text.lines().map(ToOwned::to_owned).collect(),
            Err(_) => Vec::new(),
        }
    }

    /// The refunds among it.
    pub fn refunds(&self) -> Vec<String> {
        self.ledger().into_iter().filter(|line| line.starts_with("refund ")).collect()
    }

    /// The id of the one call of a tool in a run.
    #[track_caller]
    pub fn call(&self, run: &str, tool: &str) -> String {
        let listed = self.toolwright(&["calls", "list", "--run", run, "--tool", tool, "--json"]);
        assert_eq!(listed.out.lines().count(), 1, "{listed:?}");
        id(&listed.out).unwrap()
    }

    /// What `toolwright calls history` prints of a call, to be compared with a snapshot.
    pub fn history(&self, id: &str) -> String {
        self.toolwright(&["calls", "history", id]).out
    }
}

/// The application as a process.
pub struct Application {
    child: Child,
    lines: Receiver<String>,
    seen: Vec<String>,
}

impl Application {
    /// Reads until a line says so, and gives that line.
    #[track_caller]
    pub fn until(&mut self, words: &str) -> String {
        loop {
            match self.lines.recv_timeout(PATIENCE) {
                Ok(line) => {
                    self.seen.push(line.clone());
                    if line.contains(words) {
                        return line;
                    }
                }
                Err(error) => panic!("{error}, no line with {words:?} in {:#?}", self.seen),
            }
        }
    }

    /// Reads until a call of this tool waits for a person, and gives its id.
    #[track_caller]
    pub fn waits(&mut self, tool: &str) -> String {
        self.until(&format!("{tool} waits for a person"));
        id(&self.until("approvals approve")).unwrap()
    }

    /// `kill -9`: it has no time to do anything.
    pub fn kill(mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }

    /// Reads to its end: its exit code, and everything that it said.
    #[track_caller]
    pub fn end(mut self) -> (Option<i32>, Vec<String>) {
        loop {
            match self.lines.recv_timeout(PATIENCE) {
                Ok(line) => self.seen.push(line),
                Err(RecvTimeoutError::Disconnected) => break,
                Err(error) => panic!("{error}, and it has not ended: {:#?}", self.seen),
            }
        }
        let seen = std::mem::take(&mut self.seen);
        (self.child.wait().unwrap().code(), seen)
    }
}

/// A test that fails leaves no process behind.
impl Drop for Application {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The first id in a text.
pub fn id(text: &str) -> Option<String> {
    let words = text.split(|it: char| !it.is_ascii_hexdigit() && it != '-');
    words
        .into_iter()
        .find(|word| word.len() == 36 && word.matches('-').count() == 4)
        .map(ToOwned::to_owned)
}

/// Ids, keys and times of a snapshot are different every time.
pub fn filtered(snapshot: impl FnOnce()) {
    let mut settings = insta::Settings::clone_current();
    settings.add_filter("[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", "[id]");
    settings.add_filter("[0-9a-f]{64}", "[hex]");
    settings.add_filter(r"journal `[^`]*/", "journal `[folder]/");
    settings.add_filter(r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(\.\d+)?(Z| UTC)?", "[time]");
    settings.add_filter(r"\((now|\d+ (s|min) ago)\)", "([ago])");
    settings.add_filter(r" {2,}(now|\d+ (s|min) ago) {2,}", "  [ago]  ");
    // A column is as wide as what stands in it.
    settings.add_filter(r"SINCE {2,}", "SINCE  ");
    // Delays are drawn at random.
    settings.add_filter(r"tried again in [0-9.]+(m|µ|n)?s", "tried again in [delay]");
    settings.bind(snapshot);
}

/// On a machine that has much else to do, seconds pass between a call and its list.
#[test]
fn a_list_is_filtered_to_one_text_however_long_ago_its_calls_were() {
    insta::allow_duplicates! {
        for ago in ["now", "7 s ago", "48 s ago", "119 s ago", "12 min ago"] {
            let width = ago.len().max("SINCE".len());
            let list = format!("RUN  {:width$}  WHY\na    {ago:width$}  busy\nthen ({ago})", "SINCE");
            filtered(|| insta::assert_snapshot!(list, @r"
            RUN  SINCE  WHY
            a  [ago]  busy
            then ([ago])
            "));
        }
    }
}
