//! Writes what the reader sees of labelled messages, one JSON line for each, for training it.
use std::io::BufRead;
use hermes_memory::extract::{Spoken, rules};
use hermes_memory::{reader, task};
use reader::names::{self, Tag};

fn main() {
    for line in std::io::stdin().lock().lines() {
        let mut v: serde_json::Value = serde_json::from_str(&line.unwrap()).unwrap();
        let text = v["text"].as_str().unwrap().to_owned();
        let zone = jiff::tz::TimeZone::get(v["zone"].as_str().unwrap_or("UTC")).unwrap();
        let at: jiff::civil::DateTime = v["at"].as_str().unwrap_or("2026-03-04T09:00:00").parse().unwrap();
        let at = at.to_zoned(zone.clone()).unwrap().timestamp();
        let before: Vec<(String, String)> = v["before"].as_array().map(|a| a.iter().map(|b| (b["role"].as_str().unwrap().to_owned(), b["text"].as_str().unwrap().to_owned())).collect()).unwrap_or_default();
        let before: Vec<(&str, &str)> = before.iter().map(|(a, b)| (a.as_str(), b.as_str())).collect();
        let role = v["role"].as_str().unwrap_or("user").to_owned();
        let spoken = Spoken { role: &role, text: &text, before: &before, at, zone: &zone };
        v["rules"] = rules::dump(&spoken);
        let pack = |s: &reader::signs::Signs| serde_json::json!([s.list.iter().map(|s| s.0).collect::<Vec<_>>(), s.list.iter().map(|s| (s.1*1e4).round() as i32).collect::<Vec<_>>()]);
        let tokens = rules::tokens(&text);
        let t = reader::tasks::signs(&tokens, text.contains("```") || text.contains("::"));
        v["ts"] = pack(&t);
        v["te"] = serde_json::json!(hermes_llm::EmbeddedModel::get().embed(&text).iter().map(|v| (v*1e4).round() as i32).collect::<Vec<_>>());
        // gold tags
        let mut words = names::words(&text);
        let low = names::is_all_lower(&text);
        let mut tags = vec![Tag::Other; words.len()];
        let mut ents: Vec<String> = v["entities"].as_array().unwrap().iter().map(|e| e.as_str().unwrap().to_lowercase()).collect();
        ents.sort_by_key(|e| std::cmp::Reverse(e.len()));
        for e in &ents {
            let mut from = 0;
            let lower = text.to_lowercase();
            if lower.len() != text.len() { continue; }
            while let Some(p) = lower[from..].find(e.as_str()).map(|p| p + from) {
                let span = p..p + e.len();
                from = span.end;
                let inside: Vec<usize> = (0..words.len()).filter(|i| words[*i].place.start >= span.start && words[*i].place.end <= span.end).collect();
                let whole = inside.first().is_some_and(|i| words[*i].place.start == span.start) && inside.last().is_some_and(|i| words[*i].place.end == span.end);
                if whole && inside.iter().all(|i| tags[*i] == Tag::Other) {
                    for (k, i) in inside.iter().enumerate() { tags[*i] = if k == 0 { Tag::Begins } else { Tag::Goes }; }
                }
            }
        }
        for e in task::entities(&text) {
            let mut from = 0;
            while let Some(p) = text[from..].find(e.as_str()).map(|p| p + from) {
                let span = p..p + e.len();
                from = span.end;
                let mut k = 0;
                for w in &mut words {
                    if w.place.start >= span.start && w.place.end <= span.end { w.guess = if k == 0 { Tag::Begins } else { Tag::Goes }; k += 1; }
                }
            }
        }
        let mut out = Vec::new();
        for i in 0..words.len() {
            let prev = if i == 0 { Tag::Other } else { tags[i - 1] };
            let all: Vec<_> = Tag::ALL.iter().map(|t| if *t == prev || v["id"].as_str().is_some() { pack(&names::signs(&words, i, *t, low)) } else { serde_json::Value::Null }).collect();
            out.push(serde_json::json!({"p": [words[i].place.start, words[i].place.end], "end": words[i].is_end, "tag": tags[i] as u32, "prev": prev as u32, "s": all}));
        }
        v["nw"] = serde_json::json!(out);
        v["old_entities"] = serde_json::json!(task::entities(&text));
        println!("{v}");
    }
}
