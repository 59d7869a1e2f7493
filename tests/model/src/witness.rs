//! Somebody who sees everything and forgets nothing that matters: what the properties are asked of.

use toolwright::Effect;
use toolwright::journal::State;

use crate::record::{Answer, Record};

/// How many generations can be told apart.
const GENERATIONS: usize = 8;

/// What was seen of one call of the turn.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct Witness {
    /// Generations in which a body was begun and nobody has said that nothing came of it; one bit each.
    begun: u8,
    /// Generations of which a person said that nothing came of them, or that it shall be tried again.
    settled: u8,
    /// Its effect happened, in the generations that nobody has settled since.
    acted: u8,
    /// For the generation of each decision, the generation of the claim that used it.
    used: [u8; GENERATIONS],
    /// The record that was answered, and how.
    answered: Option<(u8, Answer)>,
    /// What went wrong.
    pub wrong: Wrong,
}

/// What must never be seen.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct Wrong {
    /// A `once` call was begun twice without a word in between.
    pub begun_twice: bool,
    /// Its effect happened twice without a word in between.
    pub acted_twice: bool,
    /// A decision was used by claims of two generations.
    pub decision_reused: bool,
    /// A call that asks was claimed or begun without a decision on this generation.
    pub undecided: bool,
    /// It was claimed by a decision that had been found too late.
    pub expired_used: bool,
    /// A decision took effect on what was not shown.
    pub decision_misplaced: bool,
    /// A call was claimed that was not ready, so perhaps rejected, expired or cancelled.
    pub claimed_unready: bool,
    /// An owner that had lost its lease changed something.
    pub late_owner_wrote: bool,
    /// A call had two answers, or another than was told.
    pub answered_twice: bool,
    /// A record was said to contradict its history.
    pub falsely_accused: bool,
    /// Something was claimed after the run's end had been told.
    pub claimed_after_end: bool,
    /// The word of somebody who has no say ended a call.
    pub forgery_counted: bool,
    /// An owner whose renewal was accepted lost its call.
    pub renewal_lost: bool,
}

impl Witness {
    /// A claim of this record is durable, or its body begins without one; before, the call stood at this state.
    pub fn claims(&mut self, record: &Record, asks: bool, before: Option<State>, run_over: bool) {
        self.wrong.claimed_unready |= before.is_some_and(|state| state != State::Ready);
        self.wrong.claimed_after_end |= run_over;
        if !asks {
            return;
        }
        let Some(decision) = record.decision else {
            self.wrong.undecided = true;
            return;
        };
        let used = &mut self.used[usize::from(decision.generation) % GENERATIONS];
        self.wrong.undecided |= decision.covers() != record.generation;
        self.wrong.decision_reused |= *used != 0 && *used != record.generation;
        *used = record.generation;
    }

    /// A body begins.
    pub fn begins(&mut self, record: &Record) {
        let now = bit(record.generation);
        if self.settled & now == 0 {
            let is_once = record.effect == Effect::Once;
            self.wrong.begun_twice |= is_once && self.begun & !self.settled != 0;
        }
        self.begun |= now;
    }

    /// A body acts.
    pub fn acts(&mut self, record: &Record) {
        self.wrong.acted_twice |= record.effect == Effect::Once && self.acted != 0;
        self.acted |= bit(record.generation);
    }

    /// Its owner, or its tool, says that nothing came of the attempt.
    pub fn undone(&mut self, record: &Record) {
        self.begun &= !bit(record.generation);
    }

    /// A person settles what came of a generation, and of those before it.
    pub fn settles(&mut self, generation: u8) {
        self.settled |= bit(generation) | bit(generation).saturating_sub(1);
    }

    /// Whether the effect has happened.
    #[must_use]
    pub fn has_acted(&self) -> bool {
        self.acted != 0
    }

    /// A record is durable.
    pub fn written(&mut self, id: u8, record: &Record) {
        let Some(answer) = record.answer else {
            // An answer that was there is gone.
            self.wrong.answered_twice |= self.answered.is_some_and(|(of, _)| of == id);
            return;
        };
        let first = *self.answered.get_or_insert((id, answer));
        self.wrong.answered_twice |= first != (id, answer);
    }

    /// The run is told an answer.
    pub fn told(&mut self, id: u8, answer: Answer) {
        let first = *self.answered.get_or_insert((id, answer));
        self.wrong.answered_twice |= first != (id, answer);
    }
}

fn bit(generation: u8) -> u8 {
    1_u8.checked_shl(u32::from(generation)).unwrap_or(0)
}
