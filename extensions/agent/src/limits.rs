//! The limits of a run, the usage and cost of requests, and the checks of usage and cost against the limits.

pub(crate) mod budget;
mod ceiling;
pub(crate) mod ceilings;
pub(crate) mod ledger;
mod limit;
mod prices;
pub(crate) mod share;
mod usage;
mod usage_recorder;

pub use self::ceiling::{Ceiling, CeilingOf, Period, Spending};
pub use self::ceilings::PeriodSpending;
pub use self::limit::{Limit, Limits};
pub use self::prices::{Price, Prices, PricesError, Rates};
pub use self::usage::{Accounts, Cost, CostError, TotalUsage, Usage};
pub use self::usage_recorder::UsageRecorder;
