//! Every read of a memory, as lines of text that can be compared and searched.

use std::fmt::Debug;

use hermes_store::memory::{
    Admin, ChunkKey, Counts, Entity, Episode, Fact, FactFilter, FactOnly, FactOrder, ItemKind,
    JobState, MessageKey, QuestionVector, RecallFilter, RecentFilter, Scope, SessionChoice, Uid,
};

use crate::compared::Compared;
use crate::model::NO_UID;
use crate::operations::{NAMES, SESSIONS, WORDS};
use crate::support::at;

const IDS: [i64; 24] =
    [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 24, 23, 22, 21, 20, 19, 18, 17, 16, 15, 14, 13];

/// What a user can read, by every method; `now` is the minute.
pub(crate) fn all_reads(store: &dyn Compared, scope: Scope, now: i64) -> Vec<String> {
    let mut lines = Vec::new();
    facts(store, scope, now, &mut lines);
    procedures_and_events(store, scope, now, &mut lines);
    names(store, scope, &mut lines);
    episodes(store, scope, now, &mut lines);
    index(store, scope, now, &mut lines);
    lines
}

/// What the one who looks after the memory can read; without sizes, which differ.
pub(crate) fn admin_reads(store: &dyn Compared) -> Vec<String> {
    let counts = Counts { size: 0, ..store.counts(Admin).unwrap() };
    let mut users = store.users(Admin).unwrap();
    users.iter_mut().for_each(|user| user.uid = Uid::from_bytes(NO_UID));
    let mut lines = vec![
        line("counts", counts),
        line("users", users),
        line("audit", (store.audit_log(Admin, 100).unwrap(), store.check_audit(Admin).unwrap())),
        line("held", store.held_facts(Admin).unwrap()),
        line("jobs", store.open_jobs(Admin, 10).unwrap()),
        line("every job", store.jobs(Admin, None, 100).unwrap()),
        line("failed jobs", store.jobs(Admin, Some(JobState::Failed), 2).unwrap()),
        said(store.job(Admin, 2)),
        line("schedules", store.schedules(Admin).unwrap()),
        line("identities", store.identities(Admin).unwrap()),
        line("unlinked", store.unlinked_identities(Admin).unwrap()),
        line("models", (store.models(Admin).unwrap(), store.active_model().unwrap())),
        line("findings", store.check_memory(Admin).unwrap()),
    ];
    for model in store.models(Admin).unwrap() {
        lines.push(line("coverage", store.coverage(Admin, model.id).unwrap()));
        lines.push(line("unembedded", store.unembedded(Admin, model.id, None, 7).unwrap()));
    }
    lines
}

fn line(what: &str, answer: impl Debug) -> String {
    format!("{what}: {answer:?}")
}

/// An answer, or the words of the error.
fn said<T: Debug>(answer: hermes_store::Result<T>) -> String {
    answer.map_or_else(|error| error.to_string(), |answer| format!("{answer:?}"))
}

fn facts(store: &dyn Compared, scope: Scope, now: i64, lines: &mut Vec<String>) {
    let plain = |facts: Vec<Fact>| {
        let bare = |fact| Fact { uid: Uid::from_bytes(NO_UID), ..fact };
        facts.into_iter().map(bare).collect::<Vec<_>>()
    };
    let all = FactFilter::default;
    let filters = [
        all(),
        FactFilter { with_retired: true, ..all() },
        FactFilter { as_of: Some(at(now / 2)), ..all() },
        FactFilter { as_of: Some(at(now / 2)), with_retired: true, ..all() },
        FactFilter { kind: Some("preference"), ..all() },
        FactFilter { entity: Some("Berlin "), with_retired: true, ..all() },
        FactFilter { since: Some(at(now / 2)), limit: Some(2), ..all() },
        FactFilter { order: FactOrder::Oldest, offset: 1, limit: Some(2), ..all() },
        FactFilter { order: FactOrder::MostUsed, offset: 2, ..all() },
        FactFilter { only: FactOnly::Pinned, ..all() },
        FactFilter { only: FactOnly::Retired, with_retired: true, ..all() },
    ];
    for filter in filters {
        lines.push(line("list", plain(store.list_facts(scope, &filter, at(now)).unwrap())));
    }
    lines.push(line("facts", plain(store.facts(scope, &IDS).unwrap())));
    for name in NAMES {
        let about = store.facts_about(scope, &name.to_uppercase(), None).unwrap();
        lines.push(line("about", plain(about)));
        lines.push(line("likes", plain(store.facts_about(scope, name, Some("likes")).unwrap())));
    }
    lines.push(line("entries", store.file_entries(scope).unwrap()));
    lines.push(line("conflicts", store.conflicts(scope).unwrap()));
    for id in IDS {
        let found = store.find_fact(scope, &format!("fact:{id:03}"));
        lines.push(said(found.map(|fact| plain(vec![fact]))));
        lines.push(line("sources", store.sources_of_fact(scope, id).unwrap()));
        lines.push(line("revisions", store.revisions_of_fact(scope, id).unwrap()));
    }
}

fn procedures_and_events(store: &dyn Compared, scope: Scope, now: i64, lines: &mut Vec<String>) {
    for procedures in [
        store.list_procedures(scope, None, 100),
        store.list_procedures(scope, Some("coding"), 2),
        store.procedures(scope, &IDS),
    ] {
        let mut procedures = procedures.unwrap();
        procedures.iter_mut().for_each(|one| one.uid = Uid::from_bytes(NO_UID));
        lines.push(line("procedures", procedures));
    }
    for id in IDS {
        lines.push(line("sources", store.sources_of_procedure(scope, id).unwrap()));
        lines.push(line("sources", store.sources_of_event(scope, id).unwrap()));
    }
    for events in [
        store.list_events(scope, None, None, 100),
        store.list_events(scope, Some(at(now / 2)), None, 2),
        store.list_events(scope, None, Some(at(now / 2)), 100),
        store.events(scope, &IDS),
    ] {
        let mut events = events.unwrap();
        events.iter_mut().for_each(|one| one.uid = Uid::from_bytes(NO_UID));
        lines.push(line("events", events));
    }
}

fn names(store: &dyn Compared, scope: Scope, lines: &mut Vec<String>) {
    let mut found: Vec<Entity> = store.entities_in(scope, &NAMES.join(" and ")).unwrap();
    found.sort_by_key(|entity| entity.id);
    for entity in &found {
        for kind in ItemKind::ALL {
            lines.push(line("mentions", store.mentions(scope, entity, kind, 3).unwrap()));
        }
    }
    lines.push(line("names", found));
    for name in NAMES {
        lines.push(line("name", store.entity(scope, &name.to_uppercase()).unwrap()));
    }
}

fn episodes(store: &dyn Compared, scope: Scope, now: i64, lines: &mut Vec<String>) {
    let all = || RecentFilter { limit: 100, ..RecentFilter::default() };
    let mut found = store.episodes(scope, &IDS).unwrap();
    for id in IDS {
        found.extend(store.any_episode(scope, id).unwrap());
    }
    lines.push(line("growth", store.growth(scope, at(now / 3)).unwrap()));
    for filter in [
        all(),
        RecentFilter { limit: 2, ..all() },
        RecentFilter { project: Some("garden"), except_session: Some(SESSIONS[0]), ..all() },
        RecentFilter { channel: Some("telegram"), ..all() },
        RecentFilter { before: Some(at(now / 2)), ..all() },
    ] {
        found.extend(store.recent_episodes(scope, &filter).unwrap());
    }
    for episode in &found {
        lines.push(line("said", store.messages_of(scope, episode).unwrap()));
    }
    let bare = |episode| Episode { uid: Uid::from_bytes(NO_UID), ..episode };
    lines.push(line("episodes", found.into_iter().map(bare).collect::<Vec<_>>()));
    for choice in [
        SessionChoice::default(),
        SessionChoice { session_id: Some(SESSIONS[1]), ..SessionChoice::default() },
        SessionChoice { channel: Some("telegram"), ..SessionChoice::default() },
        SessionChoice { since: Some(at(now / 2)), ..SessionChoice::default() },
        SessionChoice { until: Some(at(now / 2)), ..SessionChoice::default() },
    ] {
        lines.push(line("sessions", store.sessions(scope, &choice).unwrap()));
    }
}

fn index(store: &dyn Compared, scope: Scope, now: i64, lines: &mut Vec<String>) {
    let everything = 0..=i64::MAX;
    let words = ["smith".to_owned(), "alice".to_owned()];
    lines.push(line("speakers", store.speakers(scope, &words).unwrap()));
    let heads = store.message_heads(scope, std::slice::from_ref(&everything)).unwrap();
    let keys: Vec<MessageKey> = heads.iter().map(|head| head.key).collect();
    lines.push(line("heads", heads));
    lines.push(line("messages", store.messages(scope, &keys).unwrap()));
    let sessions = store.sessions(scope, &SessionChoice::default()).unwrap();
    let all = RecallFilter::default;
    let filters = [
        all(),
        RecallFilter { kinds: vec![ItemKind::Fact, ItemKind::Event], ..all() },
        RecallFilter { sessions: Some(sessions.iter().take(1).copied().collect()), ..all() },
        RecallFilter { without_sessions: sessions.iter().skip(1).copied().collect(), ..all() },
    ];
    let vectors = [[1.0, 0.0, 0.0, 0.0], [0.5; 4]];
    let models = store.models(Admin).unwrap();
    for filter in &filters {
        let cap = usize::try_from(now % 5 + 1).unwrap();
        for word in WORDS {
            let found = store.postings(scope, filter, word, cap).unwrap();
            lines.push(line("postings", (found.chunks, found.complete)));
        }
        // Counted without a look at the sessions: it says whether everything can be scored.
        if filter.sessions.is_none() && filter.without_sessions.is_empty() {
            let extent = store.extent(scope, filter, cap * 2).unwrap();
            lines.push(line("extent", (extent.more, extent.chunks.min(cap * 2))));
        }
        for (model, vector) in models.iter().flat_map(|model| vectors.iter().map(|v| (model.id, v)))
        {
            let question = QuestionVector { model, vector };
            let near = store.nearest(scope, filter, &question, 5).unwrap();
            let near = near.iter().map(|near| (near.key, rounded(near.similarity)));
            lines.push(line("near", near.collect::<Vec<_>>()));
        }
    }
    let rows: Vec<(ChunkKey, usize, Vec<u16>)> = store
        .chunks(scope, std::slice::from_ref(&everything), None)
        .unwrap()
        .into_iter()
        .map(|row| (row.key, row.length, row.tokens))
        .collect();
    lines.push(line("chunks", rows));
    for model in &models {
        let question = QuestionVector { model: model.id, vector: &vectors[1] };
        let found =
            store.chunks(scope, std::slice::from_ref(&everything), Some(&question)).unwrap();
        let near = found.iter().map(|row| (row.key, row.similarity.map(rounded)));
        lines.push(line("similar", near.collect::<Vec<_>>()));
    }
}

fn rounded(similarity: f32) -> i32 {
    (similarity * 100.0).round() as i32
}
