//! Finds the runs that bring an application to a point, so that a process that should die at the point comes there
//! soon. Pure.

use toolwright::Effect;

use crate::point::{Change, Point};
use crate::script::{FETCH, Intended, Manner, Run, Said};

/// Returns whether a run may bring the application to a point; `true` if that is unknown.
#[must_use]
pub fn leads_to(point: Point, run: &Run) -> bool {
    let any = |fits: fn(&Intended) -> bool| run.calls.iter().any(fits);
    let change = match point {
        Point::BeforeRenewal | Point::AfterRenewal => {
            return any(|it| it.manner == Manner::Slow && !it.is_external());
        }
        Point::Offered => return any(|it| supplied(it, None)),
        Point::Accepted => return any(|it| supplied(it, None) && it.manner != Manner::Slow),
        Point::Before(change) | Point::After(change) => change,
        _ => return true,
    };
    match change {
        Change::RecordedPending | Change::Approved | Change::Claimed => {
            any(|it| it.said == Said::Approve)
        }
        Change::ChildSucceeded => any(|it| child(it, false)),
        Change::Piped => any(|it| it.is_pipe() && child(it, false)),
        Change::ChildBegun => any(|it| child(it, false)),
        Change::ParentWaits | Change::ParentResumed => any(|it| child(it, true)),
        Change::Granted | Change::GrantUsed => any(|it| it.said == Said::Grant),
        Change::Edited => any(|it| it.said == Said::Edit),
        Change::Rejected => any(|it| it.said == Said::Reject),
        Change::Expired => any(|it| it.said == Said::Ignore),
        Change::Told => any(|it| matches!(it.said, Said::Ignore | Said::Grant)),
        Change::RunEnded => run.is_ended,
        Change::Cancelled => run.is_ended && any(|it| it.said == Said::Ignore),
        Change::Judged => {
            any(|it| it.said == Said::Edit) || any(|it| goes(it, Manner::Panics, false))
        }
        Change::AskedAgain => any(|it| goes(it, Manner::Panics, true)),
        Change::DidNotHappen => any(|it| goes(it, Manner::Panics, it.asks())),
        Change::Happened => any(|it| goes(it, Manner::PanicsLate, it.asks())),
        Change::Unclear => any(|it| it.effect() == Effect::Once && it.manner == Manner::Flaky),
        Change::Failed => any(|it| it.manner == Manner::Wrong && !it.is_external()),
        Change::Dead => any(|it| it.effect() != Effect::Once && it.manner == Manner::Panics),
        Change::Retried => any(|it| it.effect() == Effect::Keyed && it.manner == Manner::Flaky),
        Change::HandedOver => any(|it| supplied(it, None)),
        Change::Supplied => any(|it| supplied(it, Some(Manner::Plain))),
        Change::Declined => any(|it| supplied(it, Some(Manner::Wrong))),
        Change::NotSupplied => any(|it| supplied(it, Some(Manner::Slow))),
        Change::Recalled => {
            // A slow tool would end the turn after the result is supplied.
            let is_quick = !any(|it| it.manner == Manner::Slow && !it.is_external());
            run.is_ended && is_quick && any(|it| it.tool == FETCH)
        }
        Change::RecordedRunning | Change::Succeeded | Change::Delivered => true,
    }
}

/// Returns whether a call makes another one, which has to wait or begins at once.
fn child(call: &Intended, waits: bool) -> bool {
    let has_to_wait = |it: &Intended| it.asks() || it.is_external();
    call.child.as_ref().is_some_and(|it| has_to_wait(it) == waits)
}

/// Returns whether a call is handed over, and its supplier behaves so.
fn supplied(call: &Intended, manner: Option<Manner>) -> bool {
    call.is_external() && manner.is_none_or(|manner| call.manner == manner)
}

fn goes(call: &Intended, manner: Manner, asks: bool) -> bool {
    call.effect() == Effect::Once && call.manner == manner && call.asks() == asks
}

/// Returns whether the approver has to be asked in the process itself, so that it comes to a point; `None` if that does
/// not matter.
#[must_use]
pub fn asks_here(point: Point) -> Option<bool> {
    match point {
        Point::Before(Change::Edited | Change::Told)
        | Point::After(Change::Edited | Change::Told) => Some(true),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::leads_to;
    use crate::point::Point;
    use crate::script::Run;

    #[test]
    fn some_run_leads_to_every_point() {
        for point in Point::all() {
            assert!((0..2_000).any(|number| leads_to(point, &Run::of(5, number))), "{point}");
        }
    }
}
