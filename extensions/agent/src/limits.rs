//! How far a run may go, what requests take and cost, and where a run has spent what it may.

pub(crate) mod budget;
mod limit;
mod usage_recorder;
mod prices;
mod usage;

pub use self::limit::{Limit, Limits};
pub use self::usage_recorder::UsageRecorder;
pub use self::prices::{Price, Prices, PricesError, Rates};
pub use self::usage::{Accounts, Cost, CostError, TotalUsage, Usage};
