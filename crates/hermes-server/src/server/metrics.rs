//! Counts of what the listener did, in the form that Prometheus reads.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use hermes_store::memory::Admin;

use super::{Shared, lock};
use crate::call::{Call, Fault, Reply};

/// How long the counts of the memory are waited for.
const COUNTING: Duration = Duration::from_secs(1);

/// Counts since the start.
#[derive(Debug, Default)]
pub(super) struct Metrics {
    requests: Mutex<BTreeMap<(&'static str, String, u16), u64>>,
    seconds: Mutex<BTreeMap<String, (f64, u64)>>,
    connections: AtomicI64,
}

impl Metrics {
    /// A request was answered.
    pub(super) fn count(&self, method: &'static str, route: &str, status: u16, took: Duration) {
        *lock(&self.requests).entry((method, route.to_owned(), status)).or_default() += 1;
        let mut seconds = lock(&self.seconds);
        let (sum, count) = seconds.entry(route.to_owned()).or_default();
        *sum += took.as_secs_f64();
        *count += 1;
    }

    /// A connection came or went.
    pub(super) fn connected(&self, by: i64) {
        self.connections.fetch_add(by, Ordering::Relaxed);
    }

    /// The page.
    pub(super) fn page(&self, gauges: &[(&str, &str, u64)]) -> String {
        let mut page = String::new();
        page.push_str("# HELP hermes_http_requests_total Requests answered.\n");
        page.push_str("# TYPE hermes_http_requests_total counter\n");
        for ((method, route, status), count) in lock(&self.requests).iter() {
            let _ = writeln!(
                page,
                "hermes_http_requests_total{{method=\"{method}\",route=\"{route}\",status=\"{status}\"}} {count}"
            );
        }
        page.push_str("# HELP hermes_http_request_seconds Time until a request was answered.\n");
        page.push_str("# TYPE hermes_http_request_seconds summary\n");
        for (route, (sum, count)) in lock(&self.seconds).iter() {
            let _ = writeln!(page, "hermes_http_request_seconds_sum{{route=\"{route}\"}} {sum:.6}");
            let _ =
                writeln!(page, "hermes_http_request_seconds_count{{route=\"{route}\"}} {count}");
        }
        page.push_str("# HELP hermes_http_connections Open connections.\n");
        page.push_str("# TYPE hermes_http_connections gauge\n");
        let _ =
            writeln!(page, "hermes_http_connections {}", self.connections.load(Ordering::Relaxed));
        for (name, help, value) in gauges {
            let _ = writeln!(page, "# HELP {name} {help}\n# TYPE {name} gauge\n{name} {value}");
        }
        page
    }
}

/// Answers with the counts; those of the memory are left out where it does not answer at once.
pub(super) async fn answer(shared: &Arc<Shared>, call: Call) -> Result<Reply, Fault> {
    call.must_be_wide().map_err(|problem| Fault::of(&problem.into()))?;
    let (busy, waiting) = shared.workers.counts();
    let mut gauges = vec![
        ("hermes_http_workers_busy", "Requests in progress.", busy as u64),
        ("hermes_http_requests_waiting", "Requests waiting for a worker.", waiting as u64),
        ("hermes_memory_openings", "How often memory.db was opened.", shared.pool.openings()),
    ];
    if let Ok(one) = Arc::clone(&shared.counting).try_acquire_owned() {
        let profile = call.grant.profile.unwrap_or_else(|| "default".to_owned());
        let from = Arc::clone(shared);
        let counted = tokio::task::spawn_blocking(move || {
            let _one = one;
            counts(&from, &profile)
        });
        if let Ok(Ok(counted)) = tokio::time::timeout(COUNTING, counted).await {
            gauges.extend(counted.map_err(|error| Fault::of(&error))?);
        }
    }
    Ok(Reply::text("text/plain; version=0.0.4", shared.metrics.page(&gauges)))
}

fn counts(
    shared: &Shared,
    profile: &str,
) -> anyhow::Result<Vec<(&'static str, &'static str, u64)>> {
    let mut seat = shared.pool.take(profile)?;
    let (_, _, memory) = seat.reader()?;
    let counts = memory.store.counts(Admin)?;
    let episodes = counts.raw_episodes + counts.compressed_episodes;
    shared.pool.give_back(seat);
    Ok(vec![
        ("hermes_facts", "Current facts.", counts.facts),
        ("hermes_episodes", "Episodes.", episodes),
        ("hermes_messages", "Messages stored in full.", counts.messages),
        ("hermes_open_jobs", "Jobs that are not finished.", counts.open_jobs),
        ("hermes_memory_bytes", "The size of memory.db.", counts.size),
    ])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_page_counts_by_route_and_status() {
        let metrics = Metrics::default();
        metrics.count("GET", "/health", 200, Duration::from_millis(2));
        metrics.count("GET", "/health", 200, Duration::from_millis(2));
        metrics.connected(1);
        let page = metrics.page(&[("hermes_facts", "Facts.", 3)]);
        assert!(page.contains("{method=\"GET\",route=\"/health\",status=\"200\"} 2\n"), "{page}");
        assert!(
            page.contains("hermes_http_request_seconds_count{route=\"/health\"} 2\n"),
            "{page}"
        );
        assert!(page.contains("hermes_facts 3\n") && page.contains("hermes_http_connections 1\n"));
    }
}
