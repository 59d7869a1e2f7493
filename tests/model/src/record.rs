//! A call in the model: what of the real record decides anything. The real record takes every step for it.

use jiff::Timestamp;
use toolwright::CallId;
use toolwright::Effect;
use toolwright::journal::{CallRecord, CallSlot, Note, State, Transition};
use toolwright::unstable::journal::Illegal;

/// One call, as it is now.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Record {
    /// Which call of the turn it is.
    pub place: u8,
    /// Where it stands.
    pub state: State,
    /// One more with every change.
    pub version: u8,
    /// One more whenever it is judged again.
    pub generation: u8,
    /// How often it was begun in this generation.
    pub attempt: u8,
    /// One more with every claim.
    pub epoch: u8,
    /// The effect of its tool.
    pub effect: Effect,
    /// The tool as it was judged.
    pub tool: u8,
    /// While it runs, whether its lease has lapsed.
    pub is_lapsed: bool,
    /// Whether the time in which a decision counts has passed.
    pub is_late: bool,
    /// What a person decided.
    pub decision: Option<Decided>,
    /// Whether whoever said last that it did not happen has no say.
    pub is_doubtful: bool,
    /// Whether it is a dead letter that an operator wanted tried once more.
    pub is_letter: bool,
    /// Its one answer.
    pub answer: Option<Answer>,
    /// What came of it after its answer.
    pub result: Option<Answer>,
}

/// What a person decided, and about what.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Decided {
    /// The generation that was shown.
    pub generation: u8,
    /// Whether it changed the arguments, so that it counts for the generation that follows.
    pub is_edit: bool,
}

impl Decided {
    /// The generation that it lets run.
    #[must_use]
    pub fn covers(self) -> u8 {
        self.generation + u8::from(self.is_edit)
    }
}

/// An answer: where the call stood when it got it, and the claim it came of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Answer {
    /// Where the call stood.
    pub state: State,
    /// The claim.
    pub epoch: u8,
}

impl Record {
    /// A call that is about to be judged for the first time.
    #[must_use]
    pub fn opened(place: u8, effect: Effect, tool: u8) -> Self {
        let real = real();
        Self {
            place,
            state: real.state,
            version: small(real.version),
            generation: small(real.generation.into()),
            attempt: small(real.attempt.into()),
            epoch: small(real.epoch),
            effect,
            tool,
            is_lapsed: false,
            is_late: false,
            decision: None,
            is_doubtful: false,
            is_letter: false,
            answer: None,
            result: None,
        }
    }

    /// Lets something happen to it, as the real record has it happen.
    ///
    /// # Errors
    /// When the machine says that it cannot; the record is as it was.
    pub fn advance(&mut self, event: Transition) -> Result<(), Illegal> {
        let mut real = real();
        real.state = self.state;
        real.version = self.version.into();
        real.generation = self.generation.into();
        real.attempt = self.attempt.into();
        real.epoch = self.epoch.into();
        real.effect = self.effect;
        real.advance(event, note())?;
        self.state = real.state;
        self.version = small(real.version);
        self.generation = small(real.generation.into());
        self.attempt = small(real.attempt.into());
        self.epoch = small(real.epoch);
        self.is_lapsed = false;
        self.is_doubtful = false;
        Ok(())
    }

    /// Sets its answer; where it has one already, that one stays.
    pub fn answer(&mut self) {
        let answer = Answer { state: self.state, epoch: self.epoch };
        let place = if self.answer.is_none() { &mut self.answer } else { &mut self.result };
        *place = Some(answer);
    }

    /// Whether it has not begun.
    #[must_use]
    pub fn is_unbegun(&self) -> bool {
        matches!(self.state, State::Judging | State::Planned | State::Pending | State::Ready)
    }
}

fn real() -> CallRecord {
    let place = CallSlot { run: String::new(), turn: None, index: 0 };
    CallRecord::draft(CallId::from_bytes([0; 16]), place, "", Timestamp::UNIX_EPOCH)
}

fn note() -> Note {
    Note { who: String::new(), at: Timestamp::UNIX_EPOCH, why: None, signed: None }
}

/// Counters are bounded by the scenario, far below.
fn small(counter: u64) -> u8 {
    u8::try_from(counter).unwrap_or(u8::MAX)
}
