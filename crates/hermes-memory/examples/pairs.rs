use hermes_memory::extract::{Spoken, relate, rules};
use jiff::tz::TimeZone;
fn main() {
    let path = std::env::args().nth(1).unwrap();
    assert!(path.contains("-dev"));
    let (mut tp, mut fp, mut fneg) = (0, 0, 0);
    for line in std::fs::read_to_string(&path).unwrap().lines() {
        let v: serde_json::Value = serde_json::from_str(line).unwrap();
        let at: jiff::Timestamp = "2026-03-04T09:00:00Z".parse().unwrap();
        let later: jiff::Timestamp = "2026-03-24T09:00:00Z".parse().unwrap();
        let draw = |text: &str, at| {
            let s = Spoken { role: "user", text, before: &[], at, zone: &TimeZone::UTC };
            let mut f = rules::draw(&s);
            f.extend(rules::statements(&s));
            f
        };
        let (old, new) =
            (draw(v["old"].as_str().unwrap(), at), draw(v["new"].as_str().unwrap(), later));
        let held: Vec<_> = old
            .iter()
            .enumerate()
            .map(|(i, f)| relate::Held {
                id: i as i64,
                statement: &f.statement,
                subject: f.subject.as_deref(),
                predicate: f.predicate.as_deref(),
                object: f.object.as_deref(),
                said_at: at,
            })
            .collect();
        let got = new
            .iter()
            .any(|f| relate::standing(f, later, &held) != hermes_store::memory::Standing::New);
        let want = v["relation"] == "contradicts";
        match (want, got) {
            (true, true) => tp += 1,
            (false, true) => fp += 1,
            (true, false) => fneg += 1,
            _ => {}
        }
        if want != got {
            println!(
                "{} want {} : {} / {}\n    {:?}\n    {:?}",
                v["id"],
                v["relation"],
                v["old"],
                v["new"],
                old.iter()
                    .map(|f| (f.kind, &f.statement, &f.predicate, &f.object))
                    .collect::<Vec<_>>(),
                new.iter()
                    .map(|f| (f.kind, &f.statement, &f.predicate, &f.object))
                    .collect::<Vec<_>>()
            );
        }
    }
    println!(
        "pairs P {:.3} R {:.3} ({tp} {fp} {fneg})",
        tp as f64 / (tp + fp) as f64,
        tp as f64 / (tp + fneg) as f64
    );
}
