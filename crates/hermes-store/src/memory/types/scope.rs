//! Who asks: every call of the store says so, and sees only what is theirs and what is shared.

/// A user of one memory: 0 is everybody, 1 the owner.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize)]
#[serde(transparent)]
pub struct UserNumber(i64);

impl UserNumber {
    /// What belongs to everybody.
    pub const SHARED: UserNumber = UserNumber(0);
    /// The one who owns the home.
    pub const OWNER: UserNumber = UserNumber(1);

    /// The user with this number.
    pub fn new(number: i64) -> UserNumber {
        UserNumber(number)
    }

    /// The number as it is in the file.
    pub fn get(self) -> i64 {
        self.0
    }
}

/// A user who asks: reads see their own and what is shared, writes go to their own unless said otherwise.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Scope {
    user: UserNumber,
}

impl Scope {
    /// The scope of one user.
    pub const fn of(user: UserNumber) -> Scope {
        Scope { user }
    }

    /// Who asks.
    pub fn user(self) -> UserNumber {
        self.user
    }

    /// Whose things may be read: their own, and what is shared.
    pub fn readable(self) -> [UserNumber; 2] {
        [self.user, UserNumber::SHARED]
    }

    /// Whether something of `user` may be read.
    pub fn may_read(self, user: UserNumber) -> bool {
        user == self.user || user == UserNumber::SHARED
    }
}

/// The one who looks after the whole memory: counts, jobs, upkeep; never a search or a context.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Admin;
