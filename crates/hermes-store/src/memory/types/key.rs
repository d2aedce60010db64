//! Numbers that say whose they are: user, kind, session, place and part in one `i64`.

use std::ops::RangeInclusive;

use super::UserNumber;

const PART_BITS: u32 = 8;
const PLACE_BITS: u32 = 12;
const SESSION_BITS: u32 = 20;
const KIND_BITS: u32 = 3;
const USER_SHIFT: u32 = PART_BITS + PLACE_BITS + SESSION_BITS + KIND_BITS;
const KIND_SHIFT: u32 = PART_BITS + PLACE_BITS + SESSION_BITS;

/// How many parts one text can have; longer texts get longer parts.
pub const MOST_PARTS: usize = 1 << PART_BITS;
/// How many messages one row of `session` can hold; a longer session goes on in a next one.
pub const MOST_PLACES: i64 = 1 << PLACE_BITS;
/// How many sessions one user can have.
pub const MOST_SESSIONS: i64 = 1 << SESSION_BITS;
/// How many users one memory can have.
pub const MOST_USERS: i64 = 1 << 20;

/// What kind of thing a text belongs to; the numbers are in the file.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize, serde::Deserialize,
)]
#[serde(rename_all = "snake_case")]
pub enum ItemKind {
    /// One utterance of a conversation.
    Message,
    /// What is known.
    Fact,
    /// How a kind of task is done well.
    Procedure,
    /// A task, decision, result or failure with its time.
    Event,
    /// The summary that stands for old episodes.
    Summary,
}

impl ItemKind {
    /// Every kind, in the order of the numbers.
    pub const ALL: [ItemKind; 5] = [
        ItemKind::Message,
        ItemKind::Fact,
        ItemKind::Procedure,
        ItemKind::Event,
        ItemKind::Summary,
    ];

    /// The number that stands for the kind in the file.
    pub fn number(self) -> i64 {
        match self {
            ItemKind::Message => 0,
            ItemKind::Fact => 1,
            ItemKind::Procedure => 2,
            ItemKind::Event => 3,
            ItemKind::Summary => 4,
        }
    }

    /// The kind with this number.
    pub fn from_number(number: i64) -> Option<ItemKind> {
        usize::try_from(number).ok().and_then(|place| ItemKind::ALL.get(place).copied())
    }
}

/// The number of a session of one user (`session.id`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SessionKey(i64);

impl SessionKey {
    /// The `number`th session of a user; none if the user can have no more.
    pub fn new(user: UserNumber, number: i64) -> Option<SessionKey> {
        let fits = (0..MOST_SESSIONS).contains(&number);
        fits.then_some(SessionKey((user.get() << (KIND_BITS + SESSION_BITS)) | number))
    }

    /// The key that is in the file.
    pub fn from_row(id: i64) -> SessionKey {
        SessionKey(id)
    }

    /// The number as it is in the file.
    pub fn get(self) -> i64 {
        self.0
    }

    /// The sessions a user can have.
    pub fn all_of(user: UserNumber) -> RangeInclusive<i64> {
        let first = user.get() << (KIND_BITS + SESSION_BITS);
        first..=first + MOST_SESSIONS - 1
    }
}

/// The number of a message (`message.id`): its session and its place in it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct MessageKey(i64);

impl MessageKey {
    /// The message at a place of a session; none if the session is full.
    pub fn new(session: SessionKey, place: i64) -> Option<MessageKey> {
        (0..MOST_PLACES).contains(&place).then_some(MessageKey((session.0 << PLACE_BITS) | place))
    }

    /// The key that is in the file.
    pub fn from_row(id: i64) -> MessageKey {
        MessageKey(id)
    }

    /// The number as it is in the file.
    pub fn get(self) -> i64 {
        self.0
    }

    /// The session.
    pub fn session(self) -> SessionKey {
        SessionKey(self.0 >> PLACE_BITS)
    }

    /// The place in the session, from 0.
    pub fn place(self) -> i64 {
        self.0 & (MOST_PLACES - 1)
    }
}

/// The number of one part of one text: the row of the index, the vector and the token ids.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ChunkKey(i64);

impl ChunkKey {
    /// A part of a message.
    pub fn of_message(message: MessageKey, part: usize) -> ChunkKey {
        ChunkKey((message.0 << PART_BITS) | part_number(part))
    }

    /// A part of a fact, procedure, event or summary with the given number.
    pub fn of_item(user: UserNumber, kind: ItemKind, item: i64, part: usize) -> ChunkKey {
        let item = item & ((1 << (SESSION_BITS + PLACE_BITS)) - 1);
        ChunkKey(
            (user.get() << USER_SHIFT)
                | (kind.number() << KIND_SHIFT)
                | (item << PART_BITS)
                | part_number(part),
        )
    }

    /// The key that is in the file.
    pub fn from_row(id: i64) -> ChunkKey {
        ChunkKey(id)
    }

    /// The number as it is in the file.
    pub fn get(self) -> i64 {
        self.0
    }

    /// Whose text it is.
    pub fn user(self) -> UserNumber {
        UserNumber::new(self.0 >> USER_SHIFT)
    }

    /// What the text belongs to; none if a newer program wrote it.
    pub fn kind(self) -> Option<ItemKind> {
        ItemKind::from_number((self.0 >> KIND_SHIFT) & ((1 << KIND_BITS) - 1))
    }

    /// The whole text that this is a part of, as a number: equal for all its parts.
    pub fn text(self) -> i64 {
        self.0 >> PART_BITS
    }

    /// The message, if it is a part of one.
    pub fn message(self) -> MessageKey {
        MessageKey(self.0 >> PART_BITS)
    }

    /// The number of the fact, procedure, event or summary, if it is a part of one.
    pub fn item(self) -> i64 {
        (self.0 >> PART_BITS) & ((1 << (SESSION_BITS + PLACE_BITS)) - 1)
    }

    /// Which part of the text, from 0.
    pub fn part(self) -> i64 {
        self.0 & ((1 << PART_BITS) - 1)
    }

    /// Every chunk of one user and kind.
    pub fn all_of(user: UserNumber, kind: ItemKind) -> RangeInclusive<i64> {
        let first = (user.get() << USER_SHIFT) | (kind.number() << KIND_SHIFT);
        first..=first + (1 << KIND_SHIFT) - 1
    }

    /// Every chunk of one session.
    pub fn all_of_session(session: SessionKey) -> RangeInclusive<i64> {
        let first = session.0 << (PLACE_BITS + PART_BITS);
        first..=first + (1 << (PLACE_BITS + PART_BITS)) - 1
    }

    /// Every chunk of one text.
    pub fn all_of_text(text: i64) -> RangeInclusive<i64> {
        let first = text << PART_BITS;
        first..=first + (1 << PART_BITS) - 1
    }
}

fn part_number(part: usize) -> i64 {
    i64::try_from(part.min(MOST_PARTS - 1)).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn every_number_gives_back_what_went_in(
            user in 0..MOST_USERS, session in 0..MOST_SESSIONS, place in 0..MOST_PLACES, part in 0..MOST_PARTS,
        ) {
            let user = UserNumber::new(user);
            let session = SessionKey::new(user, session).unwrap();
            let message = MessageKey::new(session, place).unwrap();
            let chunk = ChunkKey::of_message(message, part);
            prop_assert!(chunk.get() >= 0);
            prop_assert_eq!((chunk.user(), chunk.kind()), (user, Some(ItemKind::Message)));
            prop_assert_eq!((chunk.message(), chunk.part()), (message, part as i64));
            prop_assert_eq!((message.session(), message.place()), (session, place));
            prop_assert!(ChunkKey::all_of(user, ItemKind::Message).contains(&chunk.get()));
            prop_assert!(!ChunkKey::all_of(user, ItemKind::Fact).contains(&chunk.get()));
            prop_assert!(ChunkKey::all_of_session(session).contains(&chunk.get()));
            prop_assert!(ChunkKey::all_of_text(message.get()).contains(&chunk.get()));
            prop_assert!(SessionKey::all_of(user).contains(&session.get()));
        }

        #[test]
        fn items_keep_their_number_kind_and_user(
            user in 0..MOST_USERS, kind in 1..5_usize, item in 0..u32::MAX, part in 0..MOST_PARTS,
        ) {
            let user = UserNumber::new(user);
            let kind = ItemKind::ALL[kind];
            let chunk = ChunkKey::of_item(user, kind, i64::from(item), part);
            prop_assert_eq!((chunk.user(), chunk.kind(), chunk.item()), (user, Some(kind), i64::from(item)));
        }
    }

    #[test]
    fn a_full_session_has_no_further_place() {
        let session = SessionKey::new(UserNumber::OWNER, 3).unwrap();
        assert!(MessageKey::new(session, MOST_PLACES - 1).is_some());
        assert!(MessageKey::new(session, MOST_PLACES).is_none());
    }
}
