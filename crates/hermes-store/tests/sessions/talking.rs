//! What a conversation of ours keeps of itself, in every layout.

use hermes_store::Error;
use hermes_store::sessions::{
    Beginning, MessageState, NewMessage, OUR_SUMMARY, SearchRequest, SessionFilter, Spending,
    Whose, Window,
};

use crate::layouts::{v22, v30};
use crate::support::{Place, assert_whole, converse, minute, new_session, schema};

const SIX: [&str; 6] = ["one", "two", "three", "four", "five", "six"];

#[test]
fn prompt_and_cost_are_kept_with_the_session() {
    for (number, place) in [Place::ours(), v22(), v30()].into_iter().enumerate() {
        let before = schema(&place.path());
        let mut store = place.write();
        let id = converse(&mut store, 7, 0, &SIX);
        assert_eq!(store.prompt_of(&id).unwrap(), None);
        let beginning = Beginning {
            model: Some("anthropic/x"),
            system_prompt: Some("You are Ada."),
            provider: Some("anthropic"),
            cwd: None,
        };
        store.note_beginning(&id, &beginning).unwrap();
        assert_eq!(store.prompt_of(&id).unwrap().as_deref(), Some("You are Ada."));
        assert_eq!(store.session(&id).unwrap().model.as_deref(), Some("anthropic/x"));
        let added = Spending {
            input_tokens: 10,
            output_tokens: 2,
            cache_read_tokens: 5,
            calls: 1,
            cost: Some(0.25),
            ..Spending::default()
        };
        store.add_spending(&id, &added).unwrap();
        store.add_spending(&id, &Spending { cost: None, ..added }).unwrap();
        let spent = store.spent(&id).unwrap();
        // The last one has no columns for it, the one before only these two.
        let tokens = if number < 2 { (20, 4) } else { (0, 0) };
        assert_eq!((spent.input_tokens, spent.output_tokens), tokens);
        let rest = if number == 0 { (2, Some(0.25)) } else { (0, None) };
        assert_eq!((spent.calls, spent.cost), rest);
        drop(store);
        assert_eq!(schema(&place.path()), before);
        assert_whole(&place.path());
    }
}

#[test]
fn compacted_messages_stay_and_are_found_and_are_no_longer_live() {
    for place in [Place::ours(), v22(), v30()] {
        let mut store = place.write();
        let id = converse(&mut store, 7, 0, &SIX);
        let rows = store.messages(&id, Window::All).unwrap();
        let summary = NewMessage::summary("they counted to four", minute(9));
        let mut lost = |_| Err(Error::NotFound { selector: "the memory".to_owned() });
        store.compact((&id, rows[3].id), &summary, &mut lost).unwrap_err();
        assert_eq!(
            store.messages(&id, Window::All).unwrap(),
            rows,
            "what is not noted is not done"
        );
        let mut noted = Vec::new();
        let mut note = |(number, _)| {
            noted.push(number);
            Ok(())
        };
        let number = store.compact((&id, rows[3].id), &summary, &mut note).unwrap();
        assert_eq!(noted, [number]);
        let after = store.messages(&id, Window::All).unwrap();
        let states: Vec<MessageState> = after.iter().map(|one| one.state).collect();
        assert_eq!(states[..4], [MessageState::Compacted; 4]);
        assert_eq!(states[4..], [MessageState::Active; 3]);
        assert!(after[6].id == number && after[6].text.starts_with(OUR_SUMMARY));
        assert_eq!(store.session(&id).unwrap().message_count, 3);
        let found = store.search(&SearchRequest::new("three")).unwrap();
        assert!(found.results.iter().any(|one| one.session_id == id));
        let live = store.live_session(&id).unwrap();
        let said: Vec<String> = store
            .live_messages(&live, 0, &[number])
            .unwrap()
            .into_iter()
            .map(|one| one.text)
            .collect();
        assert_eq!(said, SIX, "nothing that was said is lost, and the summary is not said");
        drop(store);
        assert_whole(&place.path());
    }
}

#[test]
fn what_is_taken_back_is_hidden_and_counted_out() {
    for place in [Place::ours(), v22(), v30()] {
        let mut store = place.write();
        let id = converse(&mut store, 7, 0, &SIX);
        let rows = store.messages(&id, Window::All).unwrap();
        assert_eq!(store.rewind(&id, rows[4].id).unwrap(), 2);
        let live = store.live_session(&id).unwrap();
        assert_eq!(store.live_messages(&live, 0, &[]).unwrap().len(), 4);
        assert_eq!(store.session(&id).unwrap().message_count, 4);
        assert!(store.search(&SearchRequest::new("six")).unwrap().results.is_empty());
        assert_eq!(store.rewind(&id, rows[4].id).unwrap(), 0);
        drop(store);
        assert_whole(&place.path());
    }
}

#[test]
fn an_unknown_session_has_neither_prompt_nor_cost() {
    let place = Place::ours();
    let mut store = place.write();
    let unknown = new_session(9, minute(0)).id;
    assert_eq!(store.prompt_of(&unknown).unwrap(), None);
    assert_eq!(store.spent(&unknown).unwrap(), Spending::default());
    let noted =
        store.note_beginning(&unknown, &Beginning { model: Some("m"), ..Beginning::default() });
    assert!(matches!(noted, Err(Error::NotFound { .. })));
    let summary = NewMessage::summary("x", minute(1));
    assert!(matches!(
        store.compact((&unknown, 1), &summary, &mut |_| Ok(())),
        Err(Error::NotFound { .. })
    ));
}

#[test]
fn sessions_of_others_are_left_out_of_lists() {
    let place = Place::ours();
    let mut store = place.write();
    for (number, user) in [(1, None), (2, Some("ada")), (3, Some("bob"))] {
        let new = hermes_store::sessions::NewSession {
            user_id: user.map(str::to_owned),
            ..new_session(number, minute(i64::from(number)))
        };
        let id = store.create_session(&new).unwrap();
        store.append(&id, &[NewMessage::text("user", "a quokka", minute(9))]).unwrap();
    }
    let others = Whose::everybody_but().and("ada");
    let filter = SessionFilter { user: Some(others.clone().and("b")), ..SessionFilter::default() };
    let users: Vec<Option<String>> =
        store.list(&filter).unwrap().into_iter().map(|one| one.user_id).collect();
    assert_eq!(users, [Some("bob".to_owned()), None]);
    let mut request = SearchRequest::new("quokka");
    request.filter.user = Some(others.and("bob"));
    assert_eq!(store.search(&request).unwrap().results.len(), 1);
}
