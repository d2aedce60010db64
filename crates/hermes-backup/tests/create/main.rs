//! Making backups: of homes at rest, under writers, of damaged databases, killed and on a full disk.

mod child;
mod damaged;
mod failing;
mod killed;
mod stock;
mod support;
mod whole;
mod writing;
