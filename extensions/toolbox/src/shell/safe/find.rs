//! Checks the expression of `find`: its tests, its output, and the commands that it runs for each file.

use super::arguments::{Kind, Word};
use super::places::Folders;
use super::{Prover, Result};

/// Tests and actions that take no argument.
const PLAIN: [&str; 24] = [
    "-print",
    "-print0",
    "-ls",
    "-prune",
    "-quit",
    "-empty",
    "-true",
    "-false",
    "-depth",
    "-d",
    "-mount",
    "-xdev",
    "-daystart",
    "-noleaf",
    "-nouser",
    "-nogroup",
    "-readable",
    "-writable",
    "-executable",
    "-ignore_readdir_race",
    "-noignore_readdir_race",
    "-nowarn",
    "-warn",
    "-help",
];

/// Tests and actions with a text argument.
const WITH_TEXT: [&str; 32] = [
    "-name",
    "-iname",
    "-path",
    "-ipath",
    "-wholename",
    "-iwholename",
    "-regex",
    "-iregex",
    "-regextype",
    "-lname",
    "-ilname",
    "-type",
    "-xtype",
    "-maxdepth",
    "-mindepth",
    "-size",
    "-mtime",
    "-mmin",
    "-atime",
    "-amin",
    "-ctime",
    "-cmin",
    "-perm",
    "-user",
    "-group",
    "-uid",
    "-gid",
    "-links",
    "-inum",
    "-printf",
    "-newermt",
    "-used",
];

/// Tests with a file name argument.
const WITH_NAME: [&str; 4] = ["-newer", "-anewer", "-cnewer", "-samefile"];

/// Operators of expressions.
const OPERATORS: [&str; 9] = ["(", ")", "!", "-not", "-a", "-and", "-o", "-or", ","];

impl<'a> Prover<'a, '_> {
    pub(super) fn find(
        &mut self,
        name: &Word<'a>,
        words: &[Word<'a>],
        folders: &Folders,
    ) -> Result<()> {
        let (mut at, mut starts): (usize, Vec<&str>) = (0, Vec::new());
        // With `-P`, links are listed but not followed.
        while words.get(at).is_some_and(|it| it.kind == Kind::Literal && it.text == "-P") {
            at += 1;
        }
        while let Some(word) = words.get(at)
            && !(word.kind == Kind::Literal
                && (word.text.starts_with('-') || OPERATORS.contains(&&*word.text)))
        {
            if word.text.starts_with(['*', '?', '[', '-']) {
                return Err(word.doubt("may fit the name of a file that looks like a flag"));
            }
            self.file(word, folders, false)?;
            starts.push(&word.text);
            at += 1;
        }
        if starts.is_empty() {
            starts.push(".");
        }
        let (mut pattern, mut is_either) = (None, false);
        let mut runs: Vec<(usize, usize, String)> = Vec::new();
        while let Some(word) = words.get(at) {
            let text = word.literal()?;
            at += 1;
            if PLAIN.contains(&text) {
                continue;
            }
            if OPERATORS.contains(&text) {
                is_either |= !matches!(text, "(" | ")" | "-a" | "-and");
                continue;
            }
            if text == "-exec" {
                let length = words[at..]
                    .iter()
                    .position(|it| it.kind == Kind::Literal && matches!(&*it.text, ";" | "+"));
                let length = length.ok_or_else(|| word.doubt("has no end"))?;
                // If all name tests have to match, the last one decides. If a match of any single one is enough, the
                // name is unknown.
                let found = pattern.clone().filter(|_| !is_either);
                runs.push((at, at + length, found.unwrap_or_else(|| "*".to_owned())));
                at += length + 1;
                continue;
            }
            let value = words.get(at).ok_or_else(|| word.doubt("has no value"))?;
            at += 1;
            if WITH_NAME.contains(&text) {
                self.file(value, folders, false)?;
            } else if WITH_TEXT.contains(&text) {
                let value = value.literal()?;
                if matches!(text, "-name" | "-iname") {
                    // Do not interpret escapes: if the pattern has a backslash, any name may match.
                    let is_escaped = value.contains('\\');
                    pattern = Some(if is_escaped { "*".to_owned() } else { value.to_owned() });
                }
            } else {
                return Err(word.doubt("is not known of `find`"));
            }
        }
        for (start, (from, to, found)) in
            starts.iter().flat_map(|it| runs.iter().map(move |run| (it, run)))
        {
            let mut run = Vec::with_capacity(to - from);
            for word in &words[*from..*to] {
                run.push(match &*word.text {
                    "{}" => Word {
                        text: format!("{start}/{found}").into(),
                        kind: Kind::Found,
                        range: word.range.clone(),
                    },
                    text if text.contains("{}") => {
                        return Err(word.doubt("becomes a text that is not known"));
                    }
                    _ => word.clone(),
                });
            }
            if run.is_empty() {
                return Err(name.doubt("runs a command that is not there"));
            }
            self.run(&run, folders)?;
        }
        Ok(())
    }
}
