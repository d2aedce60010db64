//! What can be seen of a text, as numbers: every sign is a hash with a weight.

/// The signs of one thing that is to be judged.
#[derive(Debug, Default, Clone)]
pub struct Signs {
    /// Hash and weight of each sign.
    pub list: Vec<(u32, f32)>,
    /// What the weights were multiplied with when they were settled.
    pub scale: f32,
}

const START: u32 = 0x811c_9dc5;
const STEP: u32 = 0x0100_0193;

/// The hash of a text.
pub fn hash(text: &str) -> u32 {
    text.bytes().fold(START, |hash, byte| (hash ^ u32::from(byte)).wrapping_mul(STEP))
}

/// The hash of something and what follows it.
pub fn join(hash: u32, next: u32) -> u32 {
    let mixed = (hash.rotate_left(5) ^ next).wrapping_mul(0x9e37_79b1);
    mixed ^ (mixed >> 15)
}

impl Signs {
    /// Adds a sign of a sort.
    pub fn add(&mut self, sort: &str, value: u32, weight: f32) {
        self.list.push((join(hash(sort), value), weight));
    }

    /// Adds a sign that is there or not.
    pub fn flag(&mut self, is: bool, sort: &str) {
        if is {
            self.list.push((hash(sort), 1.0));
        }
    }

    /// Adds every run of up to `longest` of the words, and of their ends.
    pub fn runs(&mut self, sort: &str, words: &[u32], longest: usize, weight: f32) {
        const EDGE: u32 = 0x5151_5151;
        let sort = hash(sort);
        let at = |place: usize| match place {
            0 => EDGE,
            place => words.get(place - 1).copied().unwrap_or(EDGE),
        };
        for start in 0..words.len() + 2 {
            let mut run = sort;
            for place in start..(start + longest).min(words.len() + 2) {
                run = join(run, at(place));
                self.list.push((run, weight));
            }
        }
    }

    /// Gives all signs together, and those that the judged thing has in common with others, a fixed
    /// weight.
    pub fn settle(mut self, common: f32) -> Signs {
        const WEIGHT: f32 = 6.0;
        let scale = WEIGHT / (self.squares() + common).sqrt().max(1e-6);
        self.list.iter_mut().for_each(|(_, weight)| *weight *= scale);
        self.scale = scale;
        self
    }

    /// The hashes, and the weights in ten-thousandths: what the models are trained with.
    pub fn packed(&self) -> (Vec<u32>, Vec<i32>) {
        self.list.iter().map(|(hash, weight)| (*hash, (weight * 10_000.0).round() as i32)).unzip()
    }

    /// The sum of the squares of all weights.
    pub fn squares(&self) -> f32 {
        self.list.iter().map(|(_, weight)| weight * weight).sum()
    }
}
