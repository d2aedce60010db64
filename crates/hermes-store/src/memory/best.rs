//! The best of many by an estimate, without sorting them all.

/// The nearest so far: gathered up to twice as many as wanted, then cut back.
pub(super) struct Best {
    wanted: usize,
    pub(super) limit: f32,
    kept: Vec<(f32, i64)>,
}

impl Best {
    pub(super) fn new(wanted: usize) -> Best {
        Best { wanted, limit: f32::NEG_INFINITY, kept: Vec::with_capacity(wanted * 2) }
    }

    /// Called with estimates above the limit only.
    pub(super) fn take(&mut self, estimate: f32, key: i64) {
        self.kept.push((estimate, key));
        if self.kept.len() == self.wanted * 2 {
            self.cut();
            self.limit = self.kept.last().map_or(f32::NEG_INFINITY, |(estimate, _)| *estimate);
        }
    }

    fn cut(&mut self) {
        self.kept.sort_unstable_by(|a, b| b.0.total_cmp(&a.0).then(b.1.cmp(&a.1)));
        self.kept.truncate(self.wanted);
    }

    pub(super) fn into_keys(mut self) -> Vec<i64> {
        self.cut();
        self.kept.into_iter().map(|(_, key)| key).collect()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn the_best_are_kept_and_nothing_better_is_lost(
            estimates in prop::collection::vec(0..256_u16, 0..3000), wanted in 1..50_usize,
        ) {
            let mut best = Best::new(wanted);
            for (key, estimate) in estimates.iter().enumerate() {
                if f32::from(*estimate) > best.limit {
                    best.take(f32::from(*estimate), key as i64);
                }
            }
            let kept = best.into_keys();
            prop_assert_eq!(kept.len(), wanted.min(estimates.len()));
            let mut sorted = estimates.clone();
            sorted.sort_unstable_by(|a, b| b.cmp(a));
            let mut got: Vec<u16> = kept.iter().map(|key| estimates[*key as usize]).collect();
            got.sort_unstable_by(|a, b| b.cmp(a));
            prop_assert_eq!(&got[..], &sorted[..got.len()]);
        }
    }
}
