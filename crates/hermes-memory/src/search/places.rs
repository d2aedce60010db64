//! Which texts stand beside which: chunks in their texts, messages in their sessions.

use hermes_store::memory::{ChunkKey, ChunkRow, ItemKind, MessageHead, MessageKey};

/// How far neighbours are looked up.
const REACH: usize = 5;

/// The texts that chunks belong to, and their neighbours.
#[derive(Debug)]
pub(super) struct Places {
    /// For each chunk its text, by place in `texts`.
    text_of: Vec<usize>,
    /// The texts in the order of their numbers.
    texts: Vec<Text>,
    /// What neighbours count, compared with a question in a sentence.
    pub(super) neighbours: f32,
    before: Vec<[Option<usize>; REACH]>,
    after: Vec<[Option<usize>; REACH]>,
}

#[derive(Debug)]
struct Text {
    number: i64,
    is_message: bool,
    is_question: bool,
    is_with_assistant: bool,
}

impl Places {
    /// Puts chunks, and the heads of their messages, both in the order of their numbers, together.
    pub(super) fn new(chunks: &[ChunkRow], heads: &[MessageHead]) -> Places {
        let mut places = Places {
            text_of: Vec::new(),
            texts: Vec::new(),
            neighbours: 1.0,
            before: Vec::new(),
            after: Vec::new(),
        };
        for chunk in chunks {
            let number = chunk.key.text();
            if places.texts.last().is_none_or(|text| text.number != number) {
                places.texts.push(text(chunk.key, heads));
            }
            places.text_of.push(places.texts.len() - 1);
        }
        for at in 0..places.texts.len() {
            places.before.push(places.neighbours(at, -1));
            places.after.push(places.neighbours(at, 1));
        }
        places
    }

    /// How many texts there are.
    pub(super) fn len(&self) -> usize {
        self.texts.len()
    }

    /// The number of a text.
    pub(super) fn number(&self, text: usize) -> i64 {
        self.texts[text].number
    }

    /// The text of a chunk.
    pub(super) fn text_of(&self, chunk: usize) -> usize {
        self.text_of[chunk]
    }

    /// The message so many places before, in the same session.
    pub(super) fn before(&self, text: usize, steps: usize) -> Option<usize> {
        self.before[text][steps - 1]
    }

    /// The message so many places after, in the same session.
    pub(super) fn after(&self, text: usize, steps: usize) -> Option<usize> {
        self.after[text][steps - 1]
    }

    /// Whether a text ends as a question.
    pub(super) fn is_question(&self, text: usize) -> bool {
        self.texts[text].is_question
    }

    /// Whether a text is of a talk with an assistant, in which nobody has a name.
    pub(super) fn is_with_assistant(&self, text: usize) -> bool {
        self.texts[text].is_with_assistant
    }

    /// The largest value of the chunks of each text.
    pub(super) fn fold(&self, chunks: &[f32]) -> Vec<f32> {
        let mut texts = vec![0.0_f32; self.texts.len()];
        for (text, value) in self.text_of.iter().zip(chunks) {
            texts[*text] = texts[*text].max(*value);
        }
        texts
    }

    /// For each chunk the value of its text.
    pub(super) fn unfold(&self, texts: &[f32]) -> Vec<f32> {
        self.text_of.iter().map(|text| texts[*text]).collect()
    }

    /// Each text with shares of the texts on both sides, made comparable where some are missing.
    pub(super) fn blurred(&self, texts: &[f32], shares: &[f32]) -> Vec<f32> {
        let blur = |at: usize| {
            let (mut sum, mut all) = (texts[at], 1.0);
            for (step, share) in shares.iter().enumerate() {
                let others = [self.before(at, step + 1), self.after(at, step + 1)];
                for other in others.into_iter().flatten() {
                    sum += share * texts[other];
                    all += share;
                }
            }
            sum / f32::sqrt(all)
        };
        (0..texts.len()).map(blur).collect()
    }

    fn neighbours(&self, at: usize, direction: i64) -> [Option<usize>; REACH] {
        let mut found = [None; REACH];
        let own = &self.texts[at];
        if !own.is_message {
            return found;
        }
        let session = MessageKey::from_row(own.number).session();
        let mut other = at;
        loop {
            let Some(next) = other.checked_add_signed(direction as isize) else { return found };
            let Some(text) = self.texts.get(next) else { return found };
            let distance = usize::try_from((text.number - own.number).abs()).unwrap_or(usize::MAX);
            let same = text.is_message && MessageKey::from_row(text.number).session() == session;
            if distance > REACH || !same {
                return found;
            }
            found[distance - 1] = Some(next);
            other = next;
        }
    }
}

fn text(key: ChunkKey, heads: &[MessageHead]) -> Text {
    let is_message = key.kind() == Some(ItemKind::Message);
    let head = heads
        .binary_search_by_key(&key.text(), |head| head.key.get())
        .ok()
        .filter(|_| is_message)
        .map(|at| &heads[at]);
    Text {
        number: key.text(),
        is_message,
        is_question: head.is_some_and(|head| head.is_question),
        is_with_assistant: head.is_some_and(is_with_assistant),
    }
}

/// Whether a message is of a talk in which nobody has a name but their role.
pub(super) fn is_with_assistant(head: &MessageHead) -> bool {
    head.speaker.as_deref().is_none_or(|speaker| speaker == head.role)
}
