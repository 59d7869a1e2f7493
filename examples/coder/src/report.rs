//! `--report`: the run ends with a typed value that says what was changed.

use serde::Serialize;

/// What was done in the folder.
#[toolwright::data]
#[derive(Debug)]
pub struct Report {
    /// What was wrong and what was done, in one or two sentences.
    pub summary: String,
    /// Every file that was changed.
    pub files: Vec<ChangedFile>,
    /// How it was checked and what came of that. Leave it out where nothing was checked.
    pub checked: Option<String>,
}

/// A file that was changed.
#[toolwright::data]
#[derive(Debug)]
pub struct ChangedFile {
    /// Its path in the folder.
    pub path: String,
    /// What was changed in it, in one sentence.
    pub change: String,
}

/// The report in the JSON that is printed, with the kind of end.
#[derive(Serialize)]
pub struct Printed {
    ended: &'static str,
    #[serde(flatten)]
    report: Report,
}

impl Printed {
    /// Parses the value with which the run ended.
    pub fn of(value: &str) -> Option<Self> {
        let report = serde_json::from_str(value).ok()?;
        Some(Self { ended: "output", report })
    }

    pub fn words(&self) -> String {
        let files = self.report.files.len();
        let files = if files == 1 { "1 file".to_owned() } else { format!("{files} files") };
        format!("reported a change of {files}: {}", self.report.summary)
    }
}
