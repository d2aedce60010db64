//! A table of Markdown on a terminal: columns as wide as they must be, narrower where the screen ends.

use pulldown_cmark::Alignment;

use super::wrap::{Piece, width_of, wrap};
use crate::output::{BOLD, DIM};

/// Rows of cells; the first is the head.
pub(super) struct Table {
    alignments: Vec<Alignment>,
    rows: Vec<Vec<Vec<Piece>>>,
    row: Vec<Vec<Piece>>,
}

/// Columns stand so far apart.
const BETWEEN: usize = 2;
/// A column is not made narrower than this.
const NARROWEST: usize = 6;

impl Table {
    pub(super) fn new(alignments: Vec<Alignment>) -> Table {
        Table { alignments, rows: Vec::new(), row: Vec::new() }
    }

    pub(super) fn cell(&mut self, cell: Vec<Piece>) {
        self.row.push(cell);
    }

    pub(super) fn end_row(&mut self) {
        self.rows.push(std::mem::take(&mut self.row));
    }

    /// The lines of the table within so many columns.
    pub(super) fn lines(&self, columns: usize) -> Vec<Vec<Piece>> {
        let natural = self.natural_widths();
        let room = columns.saturating_sub(BETWEEN * natural.len().saturating_sub(1));
        if room < NARROWEST * natural.len() {
            return self.one_below_another(columns);
        }
        let widths = fitting(&natural, room);
        let mut lines = Vec::new();
        for (number, row) in self.rows.iter().enumerate() {
            lines.extend(self.row_lines(row, &widths, number == 0));
            if number == 0 {
                let rule: Vec<String> = widths.iter().map(|width| "─".repeat(*width)).collect();
                lines.push(vec![Piece::new(rule.join(&" ".repeat(BETWEEN)), DIM)]);
            }
        }
        lines
    }

    fn natural_widths(&self) -> Vec<usize> {
        let count = self.rows.iter().map(Vec::len).max().unwrap_or(0);
        let width = |column: usize| {
            let cells = self.rows.iter().filter_map(|row| row.get(column));
            cells.map(|cell| width_of(cell)).max().unwrap_or(0).max(1)
        };
        (0..count).map(width).collect()
    }

    /// A row may take several lines.
    fn row_lines(&self, row: &[Vec<Piece>], widths: &[usize], is_head: bool) -> Vec<Vec<Piece>> {
        let empty = Vec::new();
        let cells: Vec<Vec<Vec<Piece>>> = widths
            .iter()
            .enumerate()
            .map(|(place, width)| wrap(row.get(place).unwrap_or(&empty), *width))
            .collect();
        let height = cells.iter().map(Vec::len).max().unwrap_or(0);
        let line = |number: usize| {
            let mut line = Vec::new();
            for (place, (cell, width)) in cells.iter().zip(widths).enumerate() {
                let pieces = cell.get(number).unwrap_or(&empty);
                let is_last = place + 1 == widths.len();
                let [before, after] = self.padding(place, width.saturating_sub(width_of(pieces)));
                line.push(Piece::new(" ".repeat(before), anstyle::Style::new()));
                line.extend(pieces.iter().cloned().map(|piece| match is_head {
                    true => Piece { style: BOLD, ..piece },
                    false => piece,
                }));
                if !is_last {
                    line.push(Piece::new(" ".repeat(after + BETWEEN), anstyle::Style::new()));
                }
            }
            line
        };
        (0..height).map(line).collect()
    }

    fn padding(&self, column: usize, free: usize) -> [usize; 2] {
        match self.alignments.get(column) {
            Some(Alignment::Right) => [free, 0],
            Some(Alignment::Center) => [free / 2, free - free / 2],
            _ => [0, free],
        }
    }

    /// For a screen that is too narrow: each cell on a line of its own, behind its head.
    fn one_below_another(&self, columns: usize) -> Vec<Vec<Piece>> {
        let mut lines = Vec::new();
        let Some((head, rows)) = self.rows.split_first() else { return lines };
        for (number, row) in rows.iter().enumerate() {
            if number > 0 {
                lines.push(Vec::new());
            }
            for (name, cell) in head.iter().zip(row) {
                let mut pieces = name.clone();
                pieces.push(Piece::new(": ", DIM));
                pieces.extend(cell.iter().cloned());
                lines.extend(wrap(&pieces, columns));
            }
        }
        lines
    }
}

/// The widest columns give way first.
fn fitting(natural: &[usize], room: usize) -> Vec<usize> {
    let mut widths = natural.to_vec();
    while widths.iter().sum::<usize>() > room {
        let Some(widest) = widths.iter_mut().max_by_key(|width| **width) else { break };
        *widest -= 1;
    }
    widths
}
