//! The line after each turn: which model, how full its window is, how much of it is memory, what it cost.

use crate::chat::front::Figures;

/// `anthropic/claude-opus-5 · 12.4k/200k · memory 3.1k · $0.02`
pub(crate) fn line(figures: &Figures) -> String {
    let mut parts = vec![figures.model.clone()];
    let used = short(figures.window_used as u64);
    match figures.window_size {
        0 => parts.push(used),
        size => parts.push(format!("{used}/{}", short(size as u64))),
    }
    parts.push(format!("memory {}", short(figures.memory_tokens as u64)));
    parts.extend(figures.cost.map(dollars));
    if figures.is_cut {
        parts.push("stopped; the partial answer is kept".to_owned());
    }
    parts.join(" · ")
}

/// A count as it is read at a glance: 950, 3.1k, 200k, 1.2M.
pub(crate) fn short(count: u64) -> String {
    let (value, unit) = match count {
        0..=999 => return count.to_string(),
        1_000..=999_949 => (count as f64 / 1e3, "k"),
        _ => (count as f64 / 1e6, "M"),
    };
    let text = if value < 99.95 { format!("{value:.1}") } else { format!("{value:.0}") };
    format!("{}{unit}", text.strip_suffix(".0").unwrap_or(&text))
}

/// Money with as many places as say something.
pub(crate) fn dollars(cost: f64) -> String {
    match cost {
        cost if cost == 0.0 || cost >= 0.01 => format!("${cost:.2}"),
        cost => format!("${cost:.4}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_line_says_model_window_memory_and_cost() {
        let figures = Figures {
            model: "openai/gpt".to_owned(),
            window_used: 12_400,
            window_size: 200_000,
            memory_tokens: 3_100,
            cost: Some(0.02),
            ..Figures::default()
        };
        assert_eq!(line(&figures), "openai/gpt · 12.4k/200k · memory 3.1k · $0.02");
        let cut = Figures { cost: None, is_cut: true, window_size: 0, ..figures };
        assert_eq!(
            line(&cut),
            "openai/gpt · 12.4k · memory 3.1k · stopped; the partial answer is kept"
        );
    }

    #[test]
    fn counts_and_money_are_short() {
        let counts = [0, 999, 1_000, 3_140, 99_960, 200_000, 999_999, 1_250_000];
        let shown = ["0", "999", "1k", "3.1k", "100k", "200k", "1M", "1.2M"];
        assert_eq!(counts.map(short), shown);
        assert_eq!([0.0, 0.0004, 0.02, 1.5].map(dollars), ["$0.00", "$0.0004", "$0.02", "$1.50"]);
    }
}
