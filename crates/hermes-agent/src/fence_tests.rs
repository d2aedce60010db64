//! The fence holds whatever path is tried.
