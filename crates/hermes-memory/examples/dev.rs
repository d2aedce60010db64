use hermes_memory::extract::{Spoken, rules};
use jiff::tz::TimeZone;
fn main() {
    let path = std::env::args().nth(1).unwrap();
    assert!(path.contains("-dev"));
    let mode = std::env::args().nth(2).unwrap_or_default();
    let (mut tp, mut fp, mut fneg) = (0, 0, 0);
    let (mut etp, mut efp, mut efn, mut tok, mut tn) = (0, 0, 0, 0, 0);
    for line in std::fs::read_to_string(&path).unwrap().lines() {
        let v: serde_json::Value = serde_json::from_str(line).unwrap();
        let zone = TimeZone::get(v["zone"].as_str().unwrap()).unwrap();
        let at: jiff::civil::DateTime = v["at"].as_str().unwrap().parse().unwrap();
        let at = at.to_zoned(zone.clone()).unwrap().timestamp();
        let before: Vec<(String, String)> = v["before"]
            .as_array()
            .map(|a| {
                a.iter()
                    .map(|m| {
                        (
                            m["role"].as_str().unwrap().to_owned(),
                            m["text"].as_str().unwrap().to_owned(),
                        )
                    })
                    .collect()
            })
            .unwrap_or_default();
        let before: Vec<(&str, &str)> =
            before.iter().map(|(a, b)| (a.as_str(), b.as_str())).collect();
        let text = v["text"].as_str().unwrap();
        let spoken =
            Spoken { role: v["role"].as_str().unwrap(), text, before: &before, at, zone: &zone };
        let found = rules::draw(&spoken);
        let mut labels: Vec<_> = v["facts"].as_array().unwrap().iter().collect();
        let mut wrong = Vec::new();
        for f in &found {
            let hit = labels.iter().position(|l| {
                l["kind"].as_array().unwrap().iter().any(|k| k == f.kind.as_str())
                    && l["must"]
                        .as_array()
                        .unwrap()
                        .iter()
                        .all(|m| f.statement.to_lowercase().contains(m.as_str().unwrap()))
                    && l["date"].as_str().is_none_or(|d| f.due.is_some_and(|x| x.to_string() == d))
            });
            match hit {
                Some(at) => {
                    labels.remove(at);
                    tp += 1;
                }
                None => {
                    fp += 1;
                    wrong.push(f);
                }
            }
        }
        fneg += labels.len();
        if mode == "facts" && (!wrong.is_empty() || !labels.is_empty()) {
            println!("{} {}", v["id"].as_str().unwrap(), text.replace('\n', "⏎"));
            for f in wrong {
                println!(
                    "   + {:?} {} [{:?} {:?} {:?}] due {:?}",
                    f.kind, f.statement, f.subject, f.predicate, f.object, f.due
                );
            }
            for l in labels {
                println!("   - {} {} {}", l["kind"], l["must"], l["date"]);
            }
        }
        if mode == "all" {
            for f in &found {
                println!(
                    "{} {:?} {} [{:?} {:?} {:?}]",
                    v["id"].as_str().unwrap(),
                    f.kind,
                    f.statement,
                    f.subject,
                    f.predicate,
                    f.object
                );
            }
        }
        // task and entities
        if v["role"] == "user" {
            let t = hermes_memory::task::infer(text);
            tn += 1;
            if v["task"] == t.as_str() {
                tok += 1
            } else if mode == "task" {
                println!(
                    "{} want {} got {}: {}",
                    v["id"],
                    v["task"],
                    t.as_str(),
                    text.chars().take(160).collect::<String>().replace('\n', "⏎")
                );
            }
        }
        let want: Vec<String> = v["entities"]
            .as_array()
            .unwrap()
            .iter()
            .map(|e| e.as_str().unwrap().to_lowercase())
            .collect();
        let got: Vec<String> =
            hermes_memory::task::entities(text).iter().map(|e| e.to_lowercase()).collect();
        let mut l = want.clone();
        let mut bad = vec![];
        for g in &got {
            if let Some(at) = l.iter().position(|w| w == g) {
                l.remove(at);
                etp += 1;
            } else {
                efp += 1;
                bad.push(g.clone());
            }
        }
        efn += l.len();
        if mode == "names" && (!bad.is_empty() || !l.is_empty()) {
            println!(
                "{} +{:?} -{:?} : {}",
                v["id"],
                bad,
                l,
                text.chars().take(120).collect::<String>().replace('\n', "⏎")
            );
        }
    }
    println!(
        "facts P {:.3} R {:.3} (tp {tp} fp {fp} fn {fneg})",
        tp as f64 / (tp + fp) as f64,
        tp as f64 / (tp + fneg) as f64
    );
    println!(
        "task acc {:.3} of {tn}; names P {:.3} R {:.3}",
        tok as f64 / tn as f64,
        etp as f64 / (etp + efp) as f64,
        etp as f64 / (etp + efn) as f64
    );
}
