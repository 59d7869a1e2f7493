//! Finds the runs that bring an application to a point, so that a process that should die at the point comes there
//! soon. Pure.

use toolwright::Effect;

use crate::point::{Change, Point};
use crate::script::{Intended, Manner, Run, Said};

/// Returns whether a run may bring the application to a point; `true` if that is unknown.
#[must_use]
pub fn leads_to(point: Point, run: &Run) -> bool {
    let any = |fits: fn(&Intended) -> bool| run.calls.iter().any(fits);
    let change = match point {
        Point::BeforeRenewal | Point::AfterRenewal => {
            return any(|it| it.manner == Manner::Slow);
        }
        Point::Before(change) | Point::After(change) => change,
        _ => return true,
    };
    match change {
        Change::RecordedPending | Change::Approved | Change::Claimed => {
            any(|it| it.said == Said::Approve)
        }
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
        Change::Failed => any(|it| it.manner == Manner::Wrong),
        Change::Dead => any(|it| it.effect() != Effect::Once && it.manner == Manner::Panics),
        Change::Retried => any(|it| it.effect() == Effect::Keyed && it.manner == Manner::Flaky),
        Change::RecordedRunning | Change::Succeeded | Change::Delivered => true,
    }
}

fn child(call: &Intended, asks: bool) -> bool {
    call.child.as_ref().is_some_and(|it| it.asks() == asks)
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
