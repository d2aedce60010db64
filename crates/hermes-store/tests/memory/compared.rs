//! What the simple memory can do too, so that the two can be compared.

use hermes_store::memory::{
    Audit, Entities, Episodes, Events, Facts, Jobs, Procedures, Recall, Upkeep, Users, Vectors,
};

/// Every part of a memory that is kept as plain lists as well.
pub(crate) trait Compared:
    Episodes + Facts + Procedures + Events + Entities + Users + Jobs + Audit + Vectors + Recall + Upkeep
{
}

impl<T> Compared for T where
    T: Episodes
        + Facts
        + Procedures
        + Events
        + Entities
        + Users
        + Jobs
        + Audit
        + Vectors
        + Recall
        + Upkeep
{
}
