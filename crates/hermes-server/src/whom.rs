//! For whom something is asked: the owner, or the one user whom a token, a header or a flag names, and what they may change.

use std::borrow::Cow;

use axum::http::HeaderMap;
use hermes_home::UserId;
use hermes_home::layout::MemoryTarget;
use hermes_store::memory::{Change, Memory, Scope, UserNumber};

use hermes_app::asker::Asker;
use hermes_app::items::{self, Wanted};
use hermes_app::problem::{Kind, Problem};
use hermes_app::tokens::Grant;

/// The header that names the profile.
pub(super) const PROFILE: &str = "x-hermes-profile";
/// The header that names the user.
pub(super) const USER: &str = "x-hermes-user";

/// Who asks; everybody but the owner is narrow: what belongs to all is not theirs to change.
#[derive(Debug, Clone, Default)]
pub struct Whom {
    /// None is the owner.
    user: Option<UserId>,
    /// Whether a token or a flag binds them. Such a user need not have said anything yet.
    is_bound: bool,
}

impl Whom {
    /// The user that a flag names; none is the owner.
    pub fn bound(user: Option<UserId>) -> Whom {
        Whom { is_bound: user.is_some(), user }
    }

    /// The user whom the token or the header names; the two must not disagree.
    pub(super) fn of(grant: &Grant, headers: &HeaderMap) -> anyhow::Result<Whom> {
        let asked = named(headers, USER)?.map(|name| name.parse::<UserId>()).transpose()?;
        let Some(bound) = &grant.user else { return Ok(Whom { user: asked, is_bound: false }) };
        let bound: UserId = bound.parse()?;
        match asked {
            Some(asked) if asked != bound => {
                let what = format!("the token is for the user {bound} alone");
                Err(Problem::new(Kind::Refused, what).into())
            }
            _ => Ok(Whom { user: Some(bound), is_bound: true }),
        }
    }

    /// The name of the user; none for the owner.
    pub(super) fn user(&self) -> Option<&UserId> {
        self.user.as_ref()
    }

    /// Whether it is about one user, who must not change what belongs to all.
    pub(super) fn is_narrow(&self) -> bool {
        self.user.is_some()
    }

    /// Refuses what belongs to everybody to somebody who asks for one user.
    pub(super) fn must_be_wide(&self) -> Result<(), Problem> {
        match self.is_narrow() {
            false => Ok(()),
            true => Err(Problem::new(Kind::Refused, "this belongs to everybody, not to one user")
                .hint("ask with a token that is not bound to a user")),
        }
    }

    /// Who reads. Somebody who is bound and not known yet reads what is shared; a header must name a user who is there.
    pub(super) fn asker(&self, store: &Memory) -> anyhow::Result<Asker> {
        let Some(id) = &self.user else { return Ok(Asker::owner()) };
        match store.user(id.as_str())? {
            Some(user) => Ok(Asker::of(&user)),
            None if self.is_bound => {
                Ok(Asker { scope: Scope::of(UserNumber::SHARED), user: Some(id.clone()) })
            }
            None => Err(Problem::new(Kind::NotFound, format!("there is no user {id}"))
                .hint(format!("add them with `hermes user add {id}`; `hermes user list` shows all"))
                .into()),
        }
    }

    /// Whose things are changed; a new name becomes a user.
    pub(super) fn writer(&self, store: &mut Memory, change: Change<'_>) -> anyhow::Result<Scope> {
        match &self.user {
            None => Ok(Scope::of(UserNumber::OWNER)),
            Some(id) => Ok(Scope::of(store.user_or_new(id.as_str(), change)?)),
        }
    }

    /// The file `USER.md` that is theirs.
    pub(super) fn user_file(&self) -> MemoryTarget {
        MemoryTarget::User(self.user.clone().filter(|id| id.as_str() != "owner"))
    }

    /// Refuses to change a memory file that is not theirs.
    pub(super) fn may_write(&self, target: &MemoryTarget) -> Result<(), Problem> {
        match target {
            MemoryTarget::User(_) => Ok(()),
            MemoryTarget::Memory | MemoryTarget::Soul => self.must_be_wide(),
        }
    }

    /// Who changes a fact that must be there and be theirs: nobody is made, and no memory, only to find nothing.
    pub(super) fn changer_of_fact(&self, store: &Memory, id: &str) -> anyhow::Result<Scope> {
        let scope = self.asker(store)?.scope;
        self.may_change(store.find_fact(scope, id)?.user)?;
        Ok(scope)
    }

    /// The same for an episode, a procedure or an event.
    pub(super) fn changer_of(&self, store: &Memory, wanted: Wanted) -> anyhow::Result<Scope> {
        let scope = self.asker(store)?.scope;
        self.may_change(items::whose(store, scope, wanted)?)?;
        Ok(scope)
    }

    /// Refuses to change what is shared to somebody who asks for one user.
    pub(super) fn may_change(&self, whose: UserNumber) -> Result<(), Problem> {
        match whose == UserNumber::SHARED {
            true => self.must_be_wide(),
            false => Ok(()),
        }
    }
}

/// The profile that the header names.
pub(super) fn named_profile(headers: &HeaderMap) -> Result<Option<String>, Problem> {
    named(headers, PROFILE)
}

/// The name in a header; one that is there says who is meant, so it is there once, can be read and is not empty.
fn named(headers: &HeaderMap, header: &str) -> Result<Option<String>, Problem> {
    let fault = |why: &str| {
        Problem::usage(format!("the header {header} {why}"))
            .hint("send one name, as UTF-8 or percent-encoded, or leave the header out")
    };
    let mut all = headers.get_all(header).iter();
    let Some(value) = all.next() else { return Ok(None) };
    if all.next().is_some() {
        return Err(fault("is there more than once"));
    }
    let bytes: Cow<'_, [u8]> = percent_encoding::percent_decode(value.as_bytes()).into();
    let name = std::str::from_utf8(&bytes).map_err(|_| fault("is not UTF-8"))?;
    match name.trim().is_empty() {
        true => Err(fault("is empty")),
        false => Ok(Some(name.to_owned())),
    }
}

#[cfg(test)]
mod tests {
    use axum::http::HeaderValue;

    use super::*;

    fn headers(values: &[&[u8]]) -> HeaderMap {
        let mut headers = HeaderMap::new();
        for value in values {
            headers.append(USER, HeaderValue::from_bytes(value).unwrap());
        }
        headers
    }

    fn of(values: &[&[u8]]) -> anyhow::Result<Option<String>> {
        let whom = Whom::of(&Grant::owner(), &headers(values))?;
        Ok(whom.user().map(UserId::to_string))
    }

    #[test]
    fn a_name_is_read_in_utf8_and_percent_encoded() {
        assert_eq!(of(&[]).unwrap(), None);
        assert_eq!(of(&[b"ana"]).unwrap().as_deref(), Some("ana"));
        for written in ["josé".as_bytes(), b"jos%C3%A9", b"jos%c3%a9", b"jose%CC%81"] {
            assert_eq!(of(&[written]).unwrap().as_deref(), Some("josé"));
        }
        assert_eq!(
            of(&[b"ana+work@example.org"]).unwrap().as_deref(),
            Some("ana+work@example.org")
        );
    }

    #[test]
    fn what_cannot_be_read_is_nobody() {
        let bad: [&[&[u8]]; 9] = [
            &[b""],
            &[b" "],
            &[b"%20"],
            &[b"jos\xe9"],
            &[b"jos%E9"],
            &[b"ana", b"ana"],
            &[b"ana", b""],
            &[b"ana, ben"],
            &[b"%zz"],
        ];
        for values in bad {
            assert!(of(values).is_err(), "{values:?}");
        }
    }

    #[test]
    fn a_token_for_one_user_is_good_for_no_other() {
        let bound = Grant { user: Some("josé".to_owned()), ..Grant::owner() };
        let asked = |values: &[&[u8]]| Whom::of(&bound, &headers(values));
        assert_eq!(asked(&[]).unwrap().user().unwrap().as_str(), "josé");
        assert!(asked(&[b"jos%C3%A9"]).unwrap().is_narrow());
        assert!(asked(&[b"owner"]).is_err() && asked(&[b""]).is_err());
    }
}
