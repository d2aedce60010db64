//! The simple memory: procedures and events.

use hermes_store::memory::{
    Added, Change, Event, ItemKind, NewEvent, NewProcedure, OriginId, Procedure, Scope, Source,
    Uid, UserNumber,
};
use hermes_store::{Error, Result};
use jiff::Timestamp;

use crate::model::{ModelMemory, NO_UID, kept_sources, owner_of};

impl ModelMemory {
    pub(crate) fn add_procedure(
        &mut self,
        scope: Scope,
        new: &NewProcedure<'_>,
        change: Change<'_>,
    ) -> Result<Added> {
        let (id, owner) = (self.procedures.len() as i64 + 1, owner_of(scope, new.shared));
        if let Some(known) = self.known_or_noted((ItemKind::Procedure, owner), new.origin, id) {
            return Ok(Added::Known(known));
        }
        self.other_sources.insert((ItemKind::Procedure, id), kept_sources(new.sources));
        self.procedures.push(Procedure {
            id,
            uid: Uid::from_bytes(NO_UID),
            user: owner,
            kind: new.kind,
            task_type: new.task_type.map(str::to_owned),
            title: new.title.to_owned(),
            body: new.body.to_owned(),
            outcome: new.outcome.map(str::to_owned),
            trust: new.trust,
            recorded_at: change.at,
            retired_at: None,
            quarantined: false,
            uses: 0,
            wins: 0,
            losses: 0,
            skill_path: new.skill_path.map(str::to_owned),
        });
        self.keep(owner, (ItemKind::Procedure, id), new.entities, &new.chunks);
        self.note("procedure.add", format!("procedure:{id}"), change);
        Ok(Added::New(id))
    }

    pub(crate) fn list_procedures(
        &self,
        scope: Scope,
        task_type: Option<&str>,
        limit: usize,
    ) -> Result<Vec<Procedure>> {
        let held = self.procedures.iter().rev().filter(|one| one.retired_at.is_none());
        let fits = |one: &&Procedure| {
            scope.may_read(one.user)
                && task_type.is_none_or(|wanted| one.task_type.as_deref() == Some(wanted))
        };
        Ok(held.filter(fits).take(limit).cloned().collect())
    }

    pub(crate) fn procedures(&self, scope: Scope, ids: &[i64]) -> Result<Vec<Procedure>> {
        let by_id = |id: &i64| self.procedures.iter().find(|one| one.id == *id);
        Ok(ids.iter().filter_map(by_id).filter(|one| scope.may_read(one.user)).cloned().collect())
    }

    pub(crate) fn retire_procedure(
        &mut self,
        scope: Scope,
        id: i64,
        change: Change<'_>,
    ) -> Result<()> {
        let item = format!("procedure:{id}");
        let mut held = self.procedures.iter_mut().filter(|one| one.retired_at.is_none());
        match held.find(|one| one.id == id && scope.may_read(one.user)) {
            Some(one) => one.retired_at = Some(change.at),
            None => return Err(Error::NoSuchItem { item }),
        }
        self.note("procedure.retire", item, change);
        Ok(())
    }

    pub(crate) fn restore_procedure(
        &mut self,
        scope: Scope,
        id: i64,
        change: Change<'_>,
    ) -> Result<()> {
        let item = format!("procedure:{id}");
        let found = self.procedures.iter_mut().find(|one| one.id == id && scope.may_read(one.user));
        let Some(one) = found else { return Err(Error::NoSuchItem { item }) };
        if one.retired_at.take().is_none() {
            let why = "it was not retired".to_owned();
            return Err(Error::ItemRefused { doing: "restore", item, why });
        }
        self.note("procedure.restore", item, change);
        Ok(())
    }

    pub(crate) fn sources_of_procedure(&self, scope: Scope, id: i64) -> Result<Vec<Source>> {
        let may = !self.procedures(scope, &[id])?.is_empty();
        let kept = self.other_sources.get(&(ItemKind::Procedure, id));
        Ok(kept.filter(|_| may).cloned().unwrap_or_default())
    }
}

impl ModelMemory {
    pub(crate) fn add_event(
        &mut self,
        scope: Scope,
        new: &NewEvent<'_>,
        change: Change<'_>,
    ) -> Result<Added> {
        let (id, owner) = (self.events.len() as i64 + 1, owner_of(scope, new.shared));
        if let Some(known) = self.known_or_noted((ItemKind::Event, owner), new.origin, id) {
            return Ok(Added::Known(known));
        }
        self.other_sources.insert((ItemKind::Event, id), kept_sources(new.sources));
        self.events.push(Event {
            id,
            uid: Uid::from_bytes(NO_UID),
            user: owner,
            at: new.at,
            kind: new.kind,
            text: new.text.to_owned(),
            why: new.why.map(str::to_owned),
            trust: new.trust,
            quarantined: false,
            retired_at: None,
        });
        self.keep(owner, (ItemKind::Event, id), new.entities, &new.chunks);
        self.note("event.add", format!("event:{id}"), change);
        Ok(Added::New(id))
    }

    pub(crate) fn list_events(
        &self,
        scope: Scope,
        since: Option<Timestamp>,
        until: Option<Timestamp>,
        limit: usize,
    ) -> Result<Vec<Event>> {
        let fits = |one: &&Event| {
            scope.may_read(one.user)
                && one.retired_at.is_none()
                && since.is_none_or(|since| one.at >= since)
                && until.is_none_or(|until| one.at < until)
        };
        let mut found: Vec<Event> = self.events.iter().filter(fits).cloned().collect();
        found.sort_by_key(|one| std::cmp::Reverse((one.at, one.id)));
        found.truncate(limit);
        Ok(found)
    }

    pub(crate) fn events(&self, scope: Scope, ids: &[i64]) -> Result<Vec<Event>> {
        let by_id = |id: &i64| self.events.iter().find(|one| one.id == *id);
        Ok(ids.iter().filter_map(by_id).filter(|one| scope.may_read(one.user)).cloned().collect())
    }

    pub(crate) fn retire_event(&mut self, scope: Scope, id: i64, change: Change<'_>) -> Result<()> {
        let item = format!("event:{id}");
        let mut held = self.events.iter_mut().filter(|one| one.retired_at.is_none());
        match held.find(|one| one.id == id && scope.may_read(one.user)) {
            Some(one) => one.retired_at = Some(change.at),
            None => return Err(Error::NoSuchItem { item }),
        }
        self.note("event.retire", item, change);
        Ok(())
    }

    pub(crate) fn restore_event(
        &mut self,
        scope: Scope,
        id: i64,
        change: Change<'_>,
    ) -> Result<()> {
        let item = format!("event:{id}");
        let found = self.events.iter_mut().find(|one| one.id == id && scope.may_read(one.user));
        let Some(one) = found else { return Err(Error::NoSuchItem { item }) };
        if one.retired_at.take().is_none() {
            let why = "it was not retired".to_owned();
            return Err(Error::ItemRefused { doing: "restore", item, why });
        }
        self.note("event.restore", item, change);
        Ok(())
    }

    pub(crate) fn sources_of_event(&self, scope: Scope, id: i64) -> Result<Vec<Source>> {
        let may = !self.events(scope, &[id])?.is_empty();
        let kept = self.other_sources.get(&(ItemKind::Event, id));
        Ok(kept.filter(|_| may).cloned().unwrap_or_default())
    }
}

impl ModelMemory {
    /// The thing with this origin, else the origin is noted for the number it will have.
    fn known_or_noted(
        &mut self,
        (kind, owner): (ItemKind, UserNumber),
        origin: Option<OriginId<'_>>,
        next: i64,
    ) -> Option<i64> {
        let origin = origin?;
        let key = (kind, owner, origin.source.to_owned(), origin.external_id.to_owned());
        let known = *self.origins.entry(key).or_insert(next);
        (known != next).then_some(known)
    }
}
