//! The simple memory: names, users, jobs, changes and upkeep.

use std::collections::BTreeMap;

use hermes_store::memory::{
    Admin, AuditEntry, ChainState, Change, Chat, Counts, Entity, EpisodeState, Growth, Identity,
    ItemKind, Job, JobFailure, JobState, Lease, MemoryFinding, ModelState, NewJob, NewReceipt,
    ProcedureKind, Schedule, Scope, User, UserNumber, Vacuumed,
};
use hermes_store::{Error, Result};
use jiff::Timestamp;

use crate::model::{ModelJob, ModelMemory, fold, user};

impl ModelMemory {
    fn shown_entity(&self, scope: Scope, id: i64) -> Option<Entity> {
        let entity = self.entities.get(&id).filter(|entity| scope.may_read(entity.user))?;
        let mut aliases: Vec<String> = self
            .aliases
            .iter()
            .filter(|((user, alias), of)| {
                **of == id && scope.may_read(*user) && *alias != fold(&entity.name)
            })
            .map(|((_, alias), _)| alias.clone())
            .collect();
        aliases.sort();
        aliases.dedup();
        Some(Entity { aliases, ..entity.clone() })
    }
}

impl ModelMemory {
    pub(crate) fn add_alias(
        &mut self,
        scope: Scope,
        name: &str,
        alias: &str,
        change: Change<'_>,
    ) -> Result<i64> {
        let entity = self.entity_for(scope.user(), name);
        let key = (scope.user(), fold(alias));
        let other = self.aliases.get(&key).copied().filter(|other| *other != entity);
        match other.filter(|other| self.entities[other].user == scope.user()) {
            Some(other) => {
                let moved = std::mem::take(&mut self.mentions).into_iter();
                let mended = |id: i64| if id == other { entity } else { id };
                self.mentions = moved.map(|(id, kind, item)| (mended(id), kind, item)).collect();
                self.aliases.values_mut().for_each(|id| *id = mended(*id));
                self.entities.remove(&other);
            }
            None => drop(self.aliases.insert(key, entity)),
        }
        self.note("entity.alias", format!("entity:{entity}"), change);
        Ok(entity)
    }

    pub(crate) fn entities_in(&self, scope: Scope, text: &str) -> Result<Vec<Entity>> {
        let text = format!(" {} ", fold(text));
        let occurs = |alias: &str| text.contains(&format!(" {alias} "));
        let visible = self.aliases.iter().filter(|((user, _), _)| scope.may_read(*user));
        let mut ids: Vec<i64> =
            visible.filter(|((_, alias), _)| occurs(alias)).map(|(_, id)| *id).collect();
        ids.sort_unstable();
        ids.dedup();
        Ok(ids.into_iter().filter_map(|id| self.shown_entity(scope, id)).collect())
    }

    pub(crate) fn entity(&self, scope: Scope, name: &str) -> Result<Option<Entity>> {
        let ids = self.ids_of(scope.user(), name);
        Ok(ids.first().and_then(|id| self.shown_entity(scope, *id)))
    }

    pub(crate) fn mentions(
        &self,
        scope: Scope,
        entity: &Entity,
        kind: ItemKind,
        limit: usize,
    ) -> Result<Vec<i64>> {
        let may = |item: &i64| {
            self.standing(kind, *item).is_some_and(|(user, held)| held && scope.may_read(user))
        };
        let all = self.mentions.iter().rev().filter(|(id, of, _)| (*id, *of) == (entity.id, kind));
        Ok(all.map(|(_, _, item)| *item).filter(may).take(limit).collect())
    }

    #[expect(clippy::too_many_arguments, reason = "as of the memory it stands for")]
    pub(crate) fn mention(
        &mut self,
        scope: Scope,
        kind: ItemKind,
        item: i64,
        names: &[String],
        change: Change<'_>,
    ) -> Result<()> {
        let word = match kind {
            ItemKind::Message => format!("message:{item}"),
            ItemKind::Fact => format!("fact:{item:03}"),
            ItemKind::Procedure => format!("procedure:{item}"),
            ItemKind::Event => format!("event:{item}"),
            ItemKind::Summary => format!("episode:{item}"),
        };
        let owner = self.standing(kind, item).map(|(user, _)| user);
        let Some(owner) = owner.filter(|owner| scope.may_read(*owner)) else {
            return Err(Error::NoSuchItem { item: word });
        };
        self.keep(owner, (kind, item), names, &[]);
        self.note("entity.mention", word, change);
        Ok(())
    }
}

impl ModelMemory {
    pub(crate) fn users(&self, _: Admin) -> Result<Vec<User>> {
        Ok(self.users.clone())
    }

    pub(crate) fn user(&self, name: &str) -> Result<Option<User>> {
        Ok(self.users.iter().find(|user| user.name == name).cloned())
    }

    pub(crate) fn user_or_new(&mut self, name: &str, change: Change<'_>) -> Result<UserNumber> {
        if let Some(known) = self.user(name)? {
            return Ok(known.number);
        }
        let number = UserNumber::new(self.users.len() as i64 + 1);
        self.users.push(user(number, name));
        self.note("user.add", format!("user:{}", number.get()), change);
        Ok(number)
    }

    pub(crate) fn user_of_identity(
        &self,
        channel: &str,
        native_id: &str,
    ) -> Result<Option<UserNumber>> {
        let found = self.identities.get(&(channel.to_owned(), native_id.to_owned()));
        Ok(found.map(|identity| identity.user))
    }

    pub(crate) fn link_identity(
        &mut self,
        channel: &str,
        native_id: &str,
        user: UserNumber,
        change: Change<'_>,
    ) -> Result<()> {
        let item = format!("user:{}", user.get());
        if !self.users.iter().any(|known| known.number == user) {
            return Err(Error::NoSuchItem { item });
        }
        let key = (channel.to_owned(), native_id.to_owned());
        let (channel, native_id) = key.clone();
        let seen = self.seen.remove(&key).or_else(|| self.identities.get(&key).cloned());
        let chat = seen.map_or(Chat::Direct, |seen| seen.chat);
        self.identities.insert(key, Identity { channel, native_id, chat, user, at: change.at });
        self.note("identity.link", item, change);
        Ok(())
    }

    pub(crate) fn identities(&self, _: Admin) -> Result<Vec<Identity>> {
        Ok(self.identities.values().cloned().collect())
    }

    pub(crate) fn note_identity(&mut self, identity: &Identity, now: Timestamp) -> Result<()> {
        let key = (identity.channel.clone(), identity.native_id.clone());
        if self.identities.contains_key(&key) {
            self.seen.remove(&key);
            return Ok(());
        }
        let user = identity.user;
        if user != UserNumber::SHARED && !self.users.iter().any(|known| known.number == user) {
            return Err(Error::NoSuchItem { item: format!("user:{}", user.get()) });
        }
        self.seen.insert(key, Identity { at: now, ..identity.clone() });
        Ok(())
    }

    pub(crate) fn unlinked_identities(&self, _: Admin) -> Result<Vec<Identity>> {
        Ok(self.seen.values().cloned().collect())
    }

    pub(crate) fn set_timezone(
        &mut self,
        user: UserNumber,
        zone: Option<&str>,
        change: Change<'_>,
    ) -> Result<()> {
        let item = format!("user:{}", user.get());
        match self.users.iter_mut().find(|known| known.number == user) {
            Some(known) => known.timezone = zone.map(str::to_owned),
            None => return Err(Error::NoSuchItem { item }),
        }
        self.note("user.timezone", item, change);
        Ok(())
    }
}

impl ModelMemory {
    pub(crate) fn queue_job(
        &mut self,
        _: Admin,
        new: &NewJob<'_>,
        _now: Timestamp,
    ) -> Result<Option<i64>> {
        let waits = |other: &ModelJob| {
            is_open(&other.job)
                && other.job.kind == new.kind
                && other.key.as_deref() == new.dedupe_key
        };
        if new.dedupe_key.is_some() && self.jobs.iter().any(waits) {
            return Ok(None);
        }
        self.jobs_made += 1;
        let id = self.jobs_made;
        let job = Job {
            id,
            kind: new.kind.to_owned(),
            payload: new.payload.to_owned(),
            state: JobState::Waiting,
            run_at: new.run_at,
            attempts: 0,
            last_error: None,
            finished_at: None,
        };
        let key = new.dedupe_key.map(str::to_owned);
        self.jobs.push(ModelJob { job, key, owner: None, until: None });
        Ok(Some(id))
    }

    pub(crate) fn lease_job(
        &mut self,
        _: Admin,
        kinds: &[&str],
        lease: Lease<'_>,
        now: Timestamp,
    ) -> Result<Option<Job>> {
        let is_due = |one: &&mut ModelJob| match one.job.state {
            JobState::Waiting => one.job.run_at <= now,
            JobState::Leased => one.until.is_some_and(|until| until <= now),
            JobState::Done | JobState::Failed => false,
        };
        let asked = self.jobs.iter_mut().filter(|one| kinds.contains(&one.job.kind.as_str()));
        let next = asked.filter(is_due).min_by_key(|one| (one.job.run_at, one.job.id));
        Ok(next.map(|one| {
            take(one, lease);
            one.job.clone()
        }))
    }

    pub(crate) fn finish_job(
        &mut self,
        _: Admin,
        id: i64,
        owner: &str,
        now: Timestamp,
    ) -> Result<bool> {
        let Some(one) = self.leased(id, owner) else { return Ok(false) };
        (one.job.state, one.job.finished_at) = (JobState::Done, Some(now));
        Ok(true)
    }

    pub(crate) fn fail_job(
        &mut self,
        _: Admin,
        id: i64,
        owner: &str,
        failure: JobFailure<'_>,
    ) -> Result<bool> {
        let Some(one) = self.leased(id, owner) else { return Ok(false) };
        one.job.last_error = Some(failure.error.to_owned());
        one.job.run_at = failure.again.unwrap_or(one.job.run_at);
        let is_over = failure.again.is_none();
        one.job.state = if is_over { JobState::Failed } else { JobState::Waiting };
        one.job.finished_at = is_over.then_some(failure.at);
        Ok(true)
    }

    pub(crate) fn open_jobs(&self, _: Admin, limit: usize) -> Result<Vec<Job>> {
        let mut open: Vec<Job> =
            self.jobs.iter().map(|one| one.job.clone()).filter(is_open).collect();
        open.sort_by_key(|job| (job.run_at, job.id));
        open.truncate(limit);
        Ok(open)
    }

    pub(crate) fn jobs(&self, _: Admin, state: Option<JobState>, limit: usize) -> Result<Vec<Job>> {
        let all = self.jobs.iter().rev().map(|one| one.job.clone());
        Ok(all.filter(|job| state.is_none_or(|state| job.state == state)).take(limit).collect())
    }

    pub(crate) fn job(&self, _: Admin, id: i64) -> Result<Job> {
        let found = self.jobs.iter().find(|one| one.job.id == id);
        found.map(|one| one.job.clone()).ok_or_else(|| no_job(id))
    }

    pub(crate) fn retry_job(&mut self, admin: Admin, id: i64, now: Timestamp) -> Result<()> {
        let job = self.job(admin, id)?;
        let key = self.jobs.iter().find(|one| one.job.id == id).and_then(|one| one.key.clone());
        let is_same = |one: &ModelJob| {
            is_open(&one.job) && one.job.kind == job.kind && key.is_some() && one.key == key
        };
        let same_waits = job.state == JobState::Failed && self.jobs.iter().any(is_same);
        let has_lease = |one: &ModelJob| one.until.is_none_or(|until| until > now);
        let Some(one) = self.jobs.iter_mut().find(|one| one.job.id == id) else {
            return Err(no_job(id));
        };
        let why = match one.job.state {
            _ if same_waits => "another job for the same work is waiting",
            JobState::Done => "it is already done",
            JobState::Leased if has_lease(one) => "it is running",
            _ => {
                (one.job.state, one.job.run_at) = (JobState::Waiting, now);
                (one.job.attempts, one.job.finished_at) = (0, None);
                (one.owner, one.until) = (None, None);
                return Ok(());
            }
        };
        let (item, why) = (format!("job:{id}"), why.to_owned());
        Err(Error::ItemRefused { doing: "retry", item, why })
    }

    pub(crate) fn lease_this_job(
        &mut self,
        admin: Admin,
        id: i64,
        lease: Lease<'_>,
        now: Timestamp,
    ) -> Result<bool> {
        self.job(admin, id)?;
        let is_free = |one: &&mut ModelJob| match one.job.state {
            JobState::Waiting => true,
            JobState::Leased => one.until.is_some_and(|until| until <= now),
            JobState::Done | JobState::Failed => false,
        };
        let found = self.jobs.iter_mut().filter(|one| one.job.id == id).find(is_free);
        Ok(found.map(|one| take(one, lease)).is_some())
    }

    pub(crate) fn renew_lease(&mut self, _: Admin, id: i64, lease: Lease<'_>) -> Result<bool> {
        let found = self.leased(id, lease.owner);
        Ok(found.map(|one| one.until = Some(lease.until)).is_some())
    }

    pub(crate) fn clear_jobs(&mut self, _: Admin, before: Timestamp) -> Result<u64> {
        let all = self.jobs.len();
        self.jobs.retain(|one| one.job.finished_at.is_none_or(|at| at >= before));
        Ok((all - self.jobs.len()) as u64)
    }

    pub(crate) fn schedules(&self, _: Admin) -> Result<Vec<Schedule>> {
        Ok(self.schedules.values().cloned().collect())
    }

    pub(crate) fn keep_schedule(&mut self, _: Admin, schedule: &Schedule) -> Result<()> {
        self.schedules.insert(schedule.name.clone(), schedule.clone());
        Ok(())
    }
}

fn no_job(id: i64) -> Error {
    Error::NoSuchItem { item: format!("job:{id}") }
}

fn take(one: &mut ModelJob, lease: Lease<'_>) {
    one.job.state = JobState::Leased;
    one.job.attempts += 1;
    (one.owner, one.until) = (Some(lease.owner.to_owned()), Some(lease.until));
}

impl ModelMemory {
    fn leased(&mut self, id: i64, owner: &str) -> Option<&mut ModelJob> {
        let mut leased = self.jobs.iter_mut().filter(|one| one.job.state == JobState::Leased);
        leased.find(|one| one.job.id == id && one.owner.as_deref() == Some(owner))
    }
}

fn is_open(job: &Job) -> bool {
    matches!(job.state, JobState::Waiting | JobState::Leased)
}

impl ModelMemory {
    pub(crate) fn audit_log(&self, _: Admin, limit: usize) -> Result<Vec<AuditEntry>> {
        Ok(self.log.iter().rev().take(limit).cloned().collect())
    }

    pub(crate) fn check_audit(&self, _: Admin) -> Result<ChainState> {
        Ok(ChainState::Whole { entries: self.log.len() as u64 })
    }
}

impl ModelMemory {
    pub(crate) fn growth(&self, scope: Scope, since: Timestamp) -> Result<Vec<Growth>> {
        let day = |at: Timestamp| at.duration_since(since).as_hours() / 24;
        let facts = self.facts.values().filter(|fact| scope.may_read(fact.user));
        let facts = facts.map(|fact| (fact.recorded_at, 1, 0));
        let episodes = self.episodes.iter().filter(|one| scope.may_read(one.episode.user));
        let episodes = episodes.map(|one| (one.episode.started_at, 0, 1));
        let mut days: BTreeMap<u32, Growth> = BTreeMap::new();
        for (at, facts, episodes) in facts.chain(episodes).filter(|(at, _, _)| *at >= since) {
            let day = u32::try_from(day(at)).unwrap();
            let grown = days.entry(day).or_insert(Growth { day, ..Growth::default() });
            grown.facts += facts;
            grown.episodes += episodes;
        }
        Ok(days.into_values().collect())
    }

    pub(crate) fn counts(&self, _: Admin) -> Result<Counts> {
        let active = self.models.iter().find(|model| model.state == ModelState::Active);
        let vectors = |kinds: &[ItemKind]| {
            let of_active =
                self.vectors.keys().filter(|(id, _)| active.is_some_and(|m| m.id == *id));
            of_active.filter(|(_, key)| key.kind().is_some_and(|k| kinds.contains(&k))).count()
                as u64
        };
        let held = self.facts.values().filter(|fact| fact.retired_at.is_none()).count();
        let procedures = || self.procedures.iter().filter(|one| one.retired_at.is_none());
        let raw = self.episodes.iter().filter(|one| one.episode.state == EpisodeState::Raw).count();
        Ok(Counts {
            raw_episodes: raw as u64,
            compressed_episodes: (self.episodes.len() - raw) as u64,
            messages: self.messages.len() as u64,
            facts: held as u64,
            retired_facts: (self.facts.len() - held) as u64,
            reflections: procedures().filter(|one| one.kind == ProcedureKind::Reflection).count()
                as u64,
            procedures: procedures().count() as u64,
            events: self.events.iter().filter(|one| one.retired_at.is_none()).count() as u64,
            entities: self.entities.len() as u64,
            users: self.users.len() as u64,
            episode_vectors: vectors(&[ItemKind::Message, ItemKind::Summary]),
            fact_vectors: vectors(&[ItemKind::Fact]),
            other_vectors: vectors(&[ItemKind::Procedure, ItemKind::Event]),
            open_jobs: self.jobs.iter().filter(|one| is_open(&one.job)).count() as u64,
            last_vacuum: self.last_vacuum,
            ..Counts::default()
        })
    }

    pub(crate) fn vacuum(&mut self, _: Admin, now: Timestamp) -> Result<Vacuumed> {
        self.last_vacuum = Some(now);
        Ok(Vacuumed { before: 0, after: 0 })
    }

    pub(crate) fn check_memory(&self, _: Admin) -> Result<Vec<MemoryFinding>> {
        Ok(Vec::new())
    }

    pub(crate) fn rebuild_segments(&mut self, _: Admin) -> Result<u64> {
        Ok(0)
    }
}

impl ModelMemory {
    pub(crate) fn hand_out(
        &mut self,
        scope: Scope,
        receipt: &NewReceipt<'_>,
        _: Timestamp,
    ) -> Result<()> {
        let mut items: Vec<(ItemKind, i64)> = Vec::new();
        for (kind, item) in receipt.items {
            match (kind, self.messages.get(item)) {
                (ItemKind::Message, Some(said)) => items.push((ItemKind::Summary, said.episode)),
                _ => items.push((*kind, *item)),
            }
        }
        items.sort_unstable();
        items.dedup();
        items.retain(|(kind, item)| {
            self.standing(*kind, *item).is_some_and(|(user, _)| scope.may_read(user))
        });
        for (kind, item) in items {
            let procedure = self.procedures.iter_mut().find(|one| one.id == item);
            let episode = self.episodes.iter_mut().find(|one| one.episode.id == item);
            match kind {
                ItemKind::Fact => {
                    self.facts.get_mut(&item).into_iter().for_each(|one| one.uses += 1)
                }
                ItemKind::Procedure => procedure.into_iter().for_each(|one| one.uses += 1),
                ItemKind::Summary => episode.into_iter().for_each(|one| one.episode.uses += 1),
                ItemKind::Message | ItemKind::Event => {}
            }
        }
        Ok(())
    }
}
