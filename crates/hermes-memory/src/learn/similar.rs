//! Which finished tasks are of the same sort: the same type, like words, like meaning. Pure.

use hermes_llm::EmbeddedModel;
use hermes_store::memory::Task;

use crate::reflect::work::likeness;
use crate::task;

/// How alike two tasks must be, by words and by the embedded model.
const LEAST_WORDS: f64 = 0.3;
const LEAST_COSINE: f32 = 0.6;

/// A task with what it is compared by.
pub(super) struct Compared<'a> {
    pub(super) task: &'a Task,
    words: Vec<String>,
    vector: Vec<f32>,
}

impl<'a> Compared<'a> {
    pub(super) fn of(task: &'a Task) -> Compared<'a> {
        let words = task::content_words(&task.title).iter().map(|word| stem(word)).collect();
        Compared { task, words, vector: EmbeddedModel::get().embed(&task.title) }
    }

    /// Whether the other one is a task of the same sort.
    pub(super) fn is_like(&self, other: &Compared<'_>) -> bool {
        let cosine: f32 = self.vector.iter().zip(&other.vector).map(|(a, b)| a * b).sum();
        self.task.task_type == other.task.task_type
            && likeness(&self.words, &other.words) >= LEAST_WORDS
            && cosine >= LEAST_COSINE
    }
}

/// The session a task was done in, whatever part of it.
pub(super) fn session_of(task: &Task) -> &str {
    task.external_id.split('#').next().unwrap_or_default()
}

/// Groups of at least `least` tasks of the same sort, each from a session of its own, newest first.
pub(super) fn groups<'a>(tasks: &'a [Task], least: usize) -> Vec<Vec<&'a Task>> {
    const MOST: usize = 6;
    let compared: Vec<Compared<'a>> = tasks.iter().map(Compared::of).collect();
    let mut taken = vec![false; tasks.len()];
    let mut groups = Vec::new();
    for (seed, one) in compared.iter().enumerate() {
        if taken[seed] {
            continue;
        }
        let mut sessions = std::collections::BTreeSet::new();
        let members: Vec<usize> = (0..tasks.len())
            .filter(|at| !taken[*at] && (*at == seed || one.is_like(&compared[*at])))
            .filter(|at| sessions.insert(session_of(&tasks[*at])))
            .take(MOST)
            .collect();
        if members.len() >= least {
            members.iter().for_each(|at| taken[*at] = true);
            groups.push(members.iter().map(|at| &tasks[*at]).collect());
        }
    }
    groups
}

/// A word without the ending that its forms differ in.
pub(super) fn stem(word: &str) -> String {
    for ending in ["ing", "es", "ed", "s"] {
        if let Some(stem) = word.strip_suffix(ending).filter(|stem| stem.chars().count() >= 4) {
            return stem.to_owned();
        }
    }
    word.to_owned()
}

#[cfg(test)]
mod tests {
    use hermes_store::memory::UserNumber;

    use super::*;

    pub(crate) fn task(id: i64, session: &str, title: &str) -> Task {
        Task {
            id,
            user: UserNumber::OWNER,
            external_id: session.to_owned(),
            task_type: task::infer(title).as_str().to_owned(),
            title: title.to_owned(),
            started_at: jiff::Timestamp::UNIX_EPOCH,
            ended_at: None,
            outcome: Some("success".to_owned()),
            steps: "[]".to_owned(),
            words: String::new(),
            skill: None,
        }
    }

    #[test]
    fn tasks_of_one_sort_are_grouped_and_others_are_not() {
        let titles = [
            "Deploy the shop to staging",
            "Deploy the blog to production",
            "Deploy the shop to production please",
            "Fix the bug in the parser",
            "Write a poem about rain",
        ];
        let tasks: Vec<Task> = titles
            .iter()
            .enumerate()
            .map(|(at, title)| task(at as i64, &format!("s{at}"), title))
            .collect();
        let found = groups(&tasks, 3);
        let ids: Vec<Vec<i64>> =
            found.iter().map(|group| group.iter().map(|task| task.id).collect()).collect();
        assert_eq!(ids, [[0, 1, 2]]);
    }

    #[test]
    fn one_session_counts_once() {
        let tasks = [
            task(1, "s", "Deploy the shop to staging"),
            task(2, "s#2", "Deploy the shop to staging"),
            task(3, "t", "Deploy the shop to staging"),
        ];
        assert!(groups(&tasks, 3).is_empty());
        assert_eq!(groups(&tasks, 2)[0].len(), 2);
    }
}
