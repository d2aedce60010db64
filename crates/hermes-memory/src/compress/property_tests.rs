//! What holds for any episodes: clusters are a partition within the limits, summaries say something and stay in their room.

use hermes_store::memory::{
    Episode, EpisodeState, Message, MessageKey, SessionKey, Uid, UserNumber,
};
use jiff::tz::TimeZone;
use jiff::{SignedDuration, Timestamp};
use proptest::prelude::*;

use super::{Cluster, Limits, Told, allowance, clusters, summarise};

/// One episode: user, session, project, hours after the one before, and what was said.
type Drawn = (i64, i64, u8, i64, Vec<String>);

fn drawn() -> impl Strategy<Value = Vec<Drawn>> {
    let said = prop_oneof![any::<String>(), "[A-Za-z0-9 ,.!?\n]{0,400}", "([a-z]{1,9} ){0,80}"];
    let one = (1..3_i64, 0..6_i64, 0..2_u8, 0..100_i64, prop::collection::vec(said, 0..4));
    prop::collection::vec(one, 0..30)
}

fn told(drawn: Vec<Drawn>) -> Vec<Told> {
    let mut drawn = drawn;
    drawn.sort_by_key(|(user, session, ..)| (*user, *session));
    let mut at = Timestamp::UNIX_EPOCH;
    let mut all = Vec::new();
    for (number, (user, session, project, hours, said)) in drawn.into_iter().enumerate() {
        at += SignedDuration::from_hours(hours);
        let number = number as i64;
        let user = UserNumber::new(user);
        let key = SessionKey::new(user, session).unwrap();
        let messages: Vec<Message> = said
            .into_iter()
            .enumerate()
            .map(|(place, text)| Message {
                key: MessageKey::new(key, number * 4 + place as i64).unwrap(),
                episode: number,
                at,
                role: if place == 0 { "user" } else { "assistant" }.to_owned(),
                speaker: (place == 2).then(|| "Ana".to_owned()),
                caption: None,
                text,
            })
            .collect();
        all.push(Told::new(episode(number, key, user, project, at), messages));
    }
    all
}

fn episode(id: i64, session: SessionKey, user: UserNumber, project: u8, at: Timestamp) -> Episode {
    Episode {
        id,
        uid: Uid::from_bytes([0; 16]),
        user,
        session,
        session_id: format!("session-{}", session.get()),
        first_place: id * 4,
        last_place: id * 4 + 3,
        channel: None,
        agent: None,
        project: Some(format!("/home/ana/project{project}")),
        task_type: None,
        state: EpisodeState::Raw,
        started_at: at,
        ended_at: at,
        tokens: 0,
        body: None,
        uses: 0,
        imported: false,
    }
}

fn holds(cluster: &Cluster, limits: &Limits) {
    let episodes = cluster.episodes();
    assert!(!episodes.is_empty() && cluster.sessions().len() <= limits.max_sessions);
    let place = |told: &Told| (told.episode.user, told.episode.project.clone());
    assert!(episodes.iter().all(|told| place(told) == place(&episodes[0])));
    assert!(episodes.len() == 1 || cluster.characters() <= limits.max_text);
    for pair in episodes.windows(2) {
        let gap = pair[1].episode.started_at.duration_since(pair[0].episode.ended_at);
        assert!(gap <= limits.max_gap, "{gap:?}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    #[test]
    fn clusters_are_a_partition_of_the_episodes_within_the_limits(
        drawn in drawn(), max_sessions in 1..4_usize, max_text in 100..3_000_usize,
    ) {
        let limits = Limits { max_sessions, max_text, ..Limits::default() };
        let episodes = told(drawn);
        let mut wanted: Vec<i64> = episodes.iter().map(|told| told.episode.id).collect();
        let clusters = clusters(episodes, limits);
        clusters.iter().for_each(|cluster| holds(cluster, &limits));
        let mut found: Vec<i64> = clusters.iter().flat_map(Cluster::ids).collect();
        found.sort_unstable();
        wanted.sort_unstable();
        prop_assert_eq!(found, wanted);
    }

    #[test]
    fn a_summary_says_something_and_stays_in_its_room(drawn in drawn(), share in 0.01..0.5_f64) {
        for cluster in clusters(told(drawn), Limits::default()) {
            let room = allowance(&cluster, share);
            let summary = summarise(&cluster, &TimeZone::UTC, room);
            prop_assert!(!summary.body.trim().is_empty());
            prop_assert!(summary.body.chars().count() <= room, "{} of {room}", summary.body.len());
            prop_assert!(!summary.body.chars().any(|c| c.is_control() && c != '\n'));
        }
    }
}

#[test]
fn a_summary_says_when_who_and_which_sessions_and_keeps_what_is_rare() {
    let said = vec![
        "Please remember that the server Kestrelbrook listens on port 8443.".to_owned(),
        "Sure, thanks, that sounds great, good to know!".to_owned(),
    ];
    let all = clusters(told(vec![(1, 0, 0, 10, said)]), Limits::default());
    let summary = summarise(&all[0], &TimeZone::UTC, 200);
    assert!(summary.body.starts_with("1 January 1970 · user, assistant · session session-"));
    assert!(summary.body.contains("Kestrelbrook listens on port 8443"), "{}", summary.body);
    assert!(!summary.body.contains("thanks"));
}
