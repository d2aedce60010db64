//! Plots as SVG, drawn here: bars for each day, their colours from the style sheet.

use plotters::prelude::*;

use super::text::{self, Html};

/// One bar: what it is called, and its parts from the bottom up.
pub(super) struct Bar {
    pub(super) name: String,
    pub(super) parts: [u64; 2],
}

const SIZE: (u32, u32) = (900, 220);
/// Colours that stand for classes of the style sheet: light and dark choose their own.
const INK: RGBColor = RGBColor(1, 1, 1);
const RULE: RGBColor = RGBColor(2, 2, 2);
const PARTS: [RGBColor; 2] = [RGBColor(3, 3, 3), RGBColor(4, 4, 4)];
const CLASSES: [(&str, &str); 5] = [
    ("fill=\"#010101\"", "class=\"ink\""),
    ("stroke=\"#010101\"", "class=\"rule\""),
    ("stroke=\"#020202\"", "class=\"rule\""),
    ("fill=\"#030303\" stroke=\"none\"", "class=\"s1\""),
    ("fill=\"#040404\" stroke=\"none\"", "class=\"s2\""),
];

/// Bars beside one another; `about` says to those who do not see it what it shows.
pub(super) fn bars(bars: &[Bar], about: &str) -> anyhow::Result<Html> {
    let mut drawn = String::new();
    draw(&mut drawn, bars).map_err(|error| anyhow::anyhow!("could not draw the plot: {error}"))?;
    let named = format!("<svg role=\"img\" aria-label=\"{}\" ", text::escape(about));
    let mut drawn = drawn.replacen("<svg ", &named, 1);
    for (colour, class) in CLASSES {
        drawn = drawn.replace(colour, class);
    }
    Ok(Html(drawn))
}

fn draw(target: &mut String, bars: &[Bar]) -> Result<(), Box<dyn std::error::Error>> {
    let most = bars.iter().map(|bar| bar.parts.iter().sum()).max().unwrap_or(0).max(4_u64);
    let area = SVGBackend::with_string(target, SIZE).into_drawing_area();
    let mut chart = ChartBuilder::on(&area)
        .margin(8)
        .x_label_area_size(26)
        .y_label_area_size(44)
        .build_cartesian_2d(0..bars.len(), 0..most + most / 10)?;
    let label = |place: &usize| bars.get(*place).map(|bar| bar.name.clone()).unwrap_or_default();
    chart
        .configure_mesh()
        .disable_x_mesh()
        .bold_line_style(RULE)
        .light_line_style(TRANSPARENT)
        .axis_style(RULE)
        .x_labels(8)
        .y_labels(5)
        .x_label_formatter(&label)
        .label_style(("sans-serif", 14).into_font().color(&INK))
        .draw()?;
    for (place, bar) in bars.iter().enumerate() {
        let mut bottom = 0;
        for (part, colour) in bar.parts.iter().zip(PARTS) {
            if *part > 0 {
                let corners = [(place, bottom), (place + 1, bottom + part)];
                let mut rectangle = Rectangle::new(corners, colour.filled());
                rectangle.set_margin(0, 0, 1, 1);
                chart.draw_series(std::iter::once(rectangle))?;
            }
            bottom += part;
        }
    }
    drop(chart);
    area.present()?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_plot_has_no_colours_of_its_own_and_nothing_in_it_is_markup() {
        let bar = |name: &str, first, second| Bar { name: name.to_owned(), parts: [first, second] };
        let plot = bars(&[bar("<1 May>", 3, 4), bar("2 May", 0, 0), bar("3 May", 9, 1)], "\"x\"");
        let plot = plot.unwrap().0;
        assert!(plot.contains("class=\"s1\"") && plot.contains("class=\"s2\""), "{plot}");
        assert!(!plot.contains("<1 May>") && !plot.contains("style="), "{plot}");
        for colour in ["#010101", "#020202", "#030303", "#040404"] {
            assert!(!plot.contains(colour), "{colour} in {plot}");
        }
        assert!(bars(&[], "nothing").is_ok());
    }
}
