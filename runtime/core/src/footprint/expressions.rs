//! The types that the expressions of the attributes `danger` and `approval` may have.

use std::borrow::Cow;

use crate::tool::Danger;

/// Types that a `danger = …` expression may have.
#[doc(hidden)]
#[diagnostic::on_unimplemented(
    message = "`danger` takes a level, not `{Self}`",
    label = "expected `toolwright::Danger`, or a type that turns into it"
)]
pub trait IntoDanger {
    fn into_danger(self) -> Danger;
}

#[diagnostic::do_not_recommend]
impl<D: Into<Danger>> IntoDanger for D {
    fn into_danger(self) -> Danger {
        self.into()
    }
}

/// Types that an `approval = …` expression may have.
#[doc(hidden)]
#[diagnostic::on_unimplemented(
    message = "`approval` takes a reason, not `{Self}`",
    label = "expected `&'static str`, `String` or an `Option` of them; `None` asks for no approval"
)]
pub trait ApprovalReason {
    fn reason(self) -> Option<Cow<'static, str>>;
}

#[diagnostic::do_not_recommend]
impl ApprovalReason for &'static str {
    fn reason(self) -> Option<Cow<'static, str>> {
        Some(Cow::Borrowed(self))
    }
}

#[diagnostic::do_not_recommend]
impl ApprovalReason for String {
    fn reason(self) -> Option<Cow<'static, str>> {
        Some(Cow::Owned(self))
    }
}

#[diagnostic::do_not_recommend]
impl<R: ApprovalReason> ApprovalReason for Option<R> {
    fn reason(self) -> Option<Cow<'static, str>> {
        self.and_then(ApprovalReason::reason)
    }
}
