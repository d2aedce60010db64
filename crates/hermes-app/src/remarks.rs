//! What people should know about what was done, and no answer holds: a door shows it, or nobody hears it.

/// Whoever is told.
pub trait Remarks: Send + Sync {
    /// Something that people should know.
    fn note(&self, text: &str);
    /// What they could do next.
    fn hint(&self, text: &str);
    /// How far work has come; none when it is over.
    fn progress(&self, text: Option<&str>);
}

/// Nobody is told.
pub struct Silent;

impl Remarks for Silent {
    fn note(&self, _text: &str) {}

    fn hint(&self, _text: &str) {}

    fn progress(&self, _text: Option<&str>) {}
}
