use proptest::prelude::*;

use super::*;
use crate::limits::Usage;

fn id(number: u8) -> CallId {
    CallId::from_bytes([number; 16])
}

fn standing(turns: u32, tokens: Option<u64>, cost: Option<Cost>) -> Standing {
    let limits = Limits { turns, tokens, cost, ..Limits::default() };
    Standing { turn: 1, limits, spent: SpentShare::default() }
}

fn child(share: Share) -> ChildSpending {
    ChildSpending { parent: None, turn: 1, share, own: SpentShare::default(), has_ended: false }
}

fn took(turns: u32, tokens: u64, cents: u64) -> SpentShare {
    let usage = TotalUsage::of(Some(Usage::new(tokens, 0)), Some(Cost::cents(cents)));
    SpentShare { usage, turns }
}

#[test]
fn five_that_start_at_once_cannot_each_have_the_whole() {
    let standing = standing(25, None, Some(Cost::cents(200)));
    let wanted =
        WantedShare { turns: Some(4), cost: Some(Cost::cents(200)), ..WantedShare::default() };
    let mut children = Children::new();
    let first = share(standing, &children, None, wanted, 5).unwrap();
    assert_eq!(first.cost, Some(Cost::cents(200)));
    children.insert(id(1), child(first));
    assert_eq!(share(standing, &children, None, wanted, 5), Err(UsedUp::Cost));
}

#[test]
fn what_was_not_spent_returns_when_a_sub_agent_has_ended() {
    let standing = standing(10, Some(1000), None);
    let mut children = Children::new();
    let first = share(standing, &children, None, WantedShare::default(), 1).unwrap();
    assert_eq!(first, Share { turns: 9, tokens: Some(1000), cost: None });
    children.insert(id(1), ChildSpending { own: took(2, 300, 0), ..child(first) });
    assert_eq!(share(standing, &children, None, WantedShare::default(), 1), Err(UsedUp::Turns));
    children.get_mut(&id(1)).unwrap().has_ended = true;
    let second = share(standing, &children, None, WantedShare::default(), 1).unwrap();
    assert_eq!(second, Share { turns: 7, tokens: Some(700), cost: None });
}

#[test]
fn what_those_spend_that_a_sub_agent_has_started_counts_once() {
    let share = Share { turns: 5, tokens: None, cost: None };
    let started = ChildSpending { parent: Some(id(1)), own: took(2, 20, 0), ..child(share) };
    let children = Children::from([
        (id(1), ChildSpending { own: took(1, 10, 0), ..child(share) }),
        (id(2), ChildSpending { turn: 7, ..started }),
    ]);
    assert_eq!(spent(&children, None, 1), took(1, 10, 0).plus(took(2, 20, 0)));
    assert_eq!(spent(&children, Some(id(1)), 7), took(2, 20, 0));
    assert_eq!(spent(&children, None, 2), SpentShare::default());
}

proptest! {
    /// However many start and whatever each wants, their shares and what the parent has spent are never more than its limits.
    #[test]
    fn the_shares_of_all_fit_into_the_limits(
        wishes in prop::collection::vec((prop::option::of(0_u32..30), prop::option::of(0_u64..900), prop::option::of(0_u64..90), any::<bool>(), 0_u32..4, 0_u64..200), 1..12),
        parts in 1_u32..6,
        before in (0_u32..20, 0_u64..500, 0_u64..50),
    ) {
        let mut standing = standing(25, Some(1000), Some(Cost::cents(100)));
        standing.spent = took(before.0, before.1, before.2);
        let mut children = Children::new();
        for (number, (turns, tokens, cents, has_ended, spent_turns, spent_tokens)) in (1..).zip(wishes) {
            let wanted = WantedShare { turns, tokens, cost: cents.map(Cost::cents) };
            let Ok(share) = share(standing, &children, None, wanted, parts) else { continue };
            let own = took(spent_turns.min(share.turns), spent_tokens.min(share.tokens.unwrap()), 0);
            children.insert(id(number), ChildSpending { own, has_ended, ..child(share) });
            let held = children.values().map(|it| match it.has_ended {
                true => (it.own.turns, it.own.usage.usage.total(), it.own.usage.cost),
                false => (it.share.turns, it.share.tokens.unwrap(), it.share.cost.unwrap()),
            });
            let sum = held.fold((0, 0, Cost::default()), |sum, it| {
                (sum.0 + it.0, sum.1 + it.1, sum.2.plus(it.2))
            });
            // A turn is left to the parent.
            prop_assert!(sum.0 + before.0 < 25, "{children:?}");
            prop_assert!(sum.1 + before.1 <= 1000, "{children:?}");
            prop_assert!(sum.2.plus(Cost::cents(before.2)) <= Cost::cents(100), "{children:?}");
        }
    }
}
