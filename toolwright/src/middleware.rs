//! Ready-made middleware: reservations of resources, and a cache of reads.

pub use toolwright_middleware::*;
