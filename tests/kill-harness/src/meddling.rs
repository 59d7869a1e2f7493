//! Decides when a world is meddled with. Rows are damaged between lives and restored at the end. A foreign trigger
//! comes and goes during a life, or exists when a life begins, which then refuses to start.

use std::path::{Path, PathBuf};
use std::process::{ExitStatus, Stdio};
use std::time::Duration;

use anyhow::ensure;

use crate::check::{Checked, Finding, Kind};
use crate::life::Life;
use crate::meddle::{Damage, Meddles};

/// How many calls of a world are damaged at once.
const DAMAGED: usize = 3;

/// The meddling with the journal of a world.
pub(crate) struct Meddling<'m> {
    /// Writes into the journal; `None` if this world is left alone.
    meddler: Option<&'m dyn Meddles>,
    folder: PathBuf,
    /// The calls that are damaged now.
    pub(crate) damaged: Vec<Damage>,
    /// When the foreign trigger is added and removed, counted from the start of the current lives.
    trigger: Option<(Duration, Duration)>,
    has_trigger: bool,
    /// Whether there was a trigger while these processes were alive.
    had_trigger: bool,
    /// How many calls were damaged.
    count: usize,
    /// How often there was a trigger.
    triggers: usize,
}

impl<'m> Meddling<'m> {
    pub(crate) fn of(meddler: Option<&'m dyn Meddles>, folder: &Path) -> Self {
        let (damaged, trigger, folder) = (Vec::new(), None, folder.to_owned());
        Self {
            meddler,
            folder,
            damaged,
            trigger,
            has_trigger: false,
            had_trigger: false,
            count: 0,
            triggers: 0,
        }
    }

    /// Decides whether the lives that begin now get a trigger.
    pub(crate) fn plan_trigger(&mut self, random: &mut fastrand::Rng) {
        let from = Duration::from_millis(random.u64(5..120));
        let until = from + Duration::from_millis(random.u64(5..60));
        self.trigger = (random.u32(0..6) == 0).then_some((from, until));
        self.had_trigger = false;
    }

    /// Adds or removes the trigger when its time has come.
    pub(crate) fn attend(&mut self, lived: Duration) -> anyhow::Result<()> {
        let (Some(meddler), Some((from, until))) = (self.meddler, self.trigger) else {
            return Ok(());
        };
        // The first life has to create the journal first.
        if lived >= from && lived < until && !self.has_trigger && self.has_journal() {
            meddler.add_trigger(&self.folder)?;
            (self.has_trigger, self.had_trigger) = (true, true);
            self.triggers += 1;
        }
        if lived >= until {
            self.without_trigger()?;
        }
        Ok(())
    }

    fn has_journal(&self) -> bool {
        self.count > 0 || self.folder.join("told").exists()
    }

    fn without_trigger(&mut self) -> anyhow::Result<()> {
        if let Some(meddler) = self.meddler.filter(|_| self.has_trigger) {
            meddler.remove_trigger(&self.folder)?;
        }
        (self.has_trigger, self.trigger) = (false, None);
        Ok(())
    }

    /// Returns whether a process may have refused to start because of a trigger.
    pub(crate) fn may_refuse(&self, status: ExitStatus) -> bool {
        self.had_trigger && status.code() == Some(i32::from(crate::FAILED))
    }

    /// Damages or restores rows, while no process is alive.
    pub(crate) fn between_lives(&mut self, random: &mut fastrand::Rng) -> anyhow::Result<()> {
        self.without_trigger()?;
        let Some(meddler) = self.meddler else { return Ok(()) };
        if self.damaged.len() < DAMAGED && random.u32(0..8) == 0 && self.has_journal() {
            let damage = meddler.damage(&self.folder, random.u64(..))?;
            self.count += usize::from(damage.is_some());
            self.damaged.extend(damage);
        }
        Ok(())
    }

    /// Checks that a life refuses to start while there is a foreign trigger, and that it gives the reason.
    pub(crate) fn is_refused(&mut self, program: &Path, life: &Life) -> anyhow::Result<()> {
        let Some(meddler) = self.meddler.filter(|_| self.has_journal()) else { return Ok(()) };
        meddler.add_trigger(&self.folder)?;
        let mut command = life.command(program)?;
        let output = command.stdout(Stdio::null()).stderr(Stdio::piped()).output()?;
        meddler.remove_trigger(&self.folder)?;
        self.triggers += 1;
        let words = String::from_utf8_lossy(&output.stderr);
        let is_refused = output.status.code() == Some(i32::from(crate::FAILED));
        let names_it = words.contains("triggers that are not its own");
        ensure!(is_refused && names_it, "a journal with a foreign trigger was opened: {words}");
        Ok(())
    }

    /// Restores what was damaged.
    pub(crate) fn mend(&mut self) -> anyhow::Result<()> {
        let Some(meddler) = self.meddler else { return Ok(()) };
        self.damaged.drain(..).try_for_each(|damage| meddler.mend(&self.folder, &damage))
    }

    /// Adds the counts to the result, and a violation where the trigger fired.
    pub(crate) fn conclude(&self, checked: &mut Checked) -> anyhow::Result<()> {
        let Some(meddler) = self.meddler else { return Ok(()) };
        (checked.damaged, checked.triggers) = (self.count, self.triggers);
        let marks = meddler.marks_of_trigger(&self.folder)?;
        if marks > 0 {
            checked.findings.push(Finding {
                kind: Kind::Unexpected,
                token: "-".to_owned(),
                why: format!("a foreign trigger has acted {marks} times"),
            });
        }
        Ok(())
    }
}
