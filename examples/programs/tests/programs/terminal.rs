//! A person at a terminal, in which one of the programs runs.

use std::ffi::OsStr;
use std::fs::File;
use std::io::{Read as _, Write as _};
use std::os::unix::ffi::OsStrExt as _;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::thread;
use std::time::Duration;

use rustix::fs::{Mode, OFlags, open};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};

use crate::program;

const PATIENCE: Duration = Duration::from_secs(60);

/// A person who reads what a program shows, and types answers.
pub struct Person {
    hands: File,
    shown: Receiver<String>,
    child: Child,
}

impl Person {
    /// Starts a program at a terminal of its own.
    pub fn start(path: &str, configure: impl FnOnce(&mut Command)) -> Self {
        let person = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
        grantpt(&person).unwrap();
        unlockpt(&person).unwrap();
        let name = ptsname(&person, Vec::new()).unwrap();
        let name = OsStr::from_bytes(name.as_bytes());
        let terminal =
            File::from(open(name, OFlags::RDWR | OFlags::NOCTTY, Mode::empty()).unwrap());
        let end = || Stdio::from(terminal.try_clone().unwrap());
        let mut command = program("setsid");
        command.args(["--ctty", "--wait", path]).stdin(end()).stdout(end()).stderr(end());
        configure(&mut command);
        let child = command.spawn().unwrap();
        drop((command, terminal));
        let hands = File::from(person);
        let mut reader = hands.try_clone().unwrap();
        let (sender, shown) = channel();
        thread::spawn(move || {
            let mut buffer = [0; 4096];
            // It ends with an error when the program has closed the terminal.
            while let Ok(length @ 1..) = reader.read(&mut buffer) {
                let _ = sender.send(String::from_utf8_lossy(&buffer[..length]).into_owned());
            }
        });
        Self { hands, shown, child }
    }

    /// Returns what was shown until this text was there.
    pub fn read_until(&self, text: &str) -> String {
        let mut all = String::new();
        while !all.contains(text) {
            let more = self.shown.recv_timeout(PATIENCE);
            all += &more.unwrap_or_else(|_| panic!("`{text}` is not shown after {all}"));
        }
        all
    }

    pub fn answer(&mut self, line: &str) {
        writeln!(self.hands, "{line}").unwrap();
    }

    pub fn has_succeeded(mut self) -> bool {
        self.child.wait().unwrap().success()
    }
}
