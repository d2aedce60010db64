//! One view as a page, as JSON or as CSV, from the same struct.

use askama::Template;
use axum::http::StatusCode;
use serde::Serialize;
use serde_json::Value;

use super::{Answer, Format, Visit};
use crate::call::Reply;

/// What stands around a view.
#[derive(Debug, Clone, Default)]
pub(crate) struct Head {
    /// The title of the page.
    pub(crate) title: String,
    /// The line of the menu it belongs to.
    pub(crate) section: &'static str,
    /// The command that gives the same.
    pub(crate) command: String,
}

/// A view that was made in the form that was asked for.
#[derive(Debug)]
pub(crate) struct Made {
    pub(crate) status: StatusCode,
    pub(crate) head: Head,
    /// The main part of the page, or all of the JSON or CSV.
    pub(crate) text: String,
    kind: &'static str,
}

impl Made {
    /// The main part of a page.
    pub(crate) fn html(status: StatusCode, head: Head, text: String) -> Made {
        Made { status, head, text, kind: "text/html; charset=utf-8" }
    }

    /// JSON or CSV as an answer.
    pub(crate) fn into_reply(self) -> Reply {
        Reply { status: self.status, ..Reply::text(self.kind, self.text) }
    }
}

/// A view in the form that was asked for.
pub(crate) fn view<T: Template + Serialize>(
    visit: &Visit,
    head: Head,
    body: &T,
) -> anyhow::Result<Answer> {
    view_as(StatusCode::OK, visit, head, body)
}

/// The same with another status.
pub(crate) fn view_as<T: Template + Serialize>(
    status: StatusCode,
    visit: &Visit,
    head: Head,
    body: &T,
) -> anyhow::Result<Answer> {
    let made = match visit.format {
        Format::Html => Made::html(status, head, body.render()?),
        Format::Json => {
            let text = serde_json::to_string(body)? + "\n";
            Made { status, head, text, kind: "application/json" }
        }
        Format::Csv => {
            let text = csv(&serde_json::to_value(body)?);
            Made { status, head, text, kind: "text/csv; charset=utf-8" }
        }
    };
    Ok(Answer::Made(made))
}

/// The `results` of a view as a table: a column for every name, in the order in which they come.
fn csv(value: &Value) -> String {
    let alone = [value.clone()];
    let rows = match value.get("results").and_then(Value::as_array) {
        Some(rows) => rows.as_slice(),
        None => alone.as_slice(),
    };
    let mut columns: Vec<&str> = Vec::new();
    for row in rows.iter().filter_map(Value::as_object) {
        for name in row.keys() {
            if !columns.contains(&name.as_str()) {
                columns.push(name);
            }
        }
    }
    let mut text = line(columns.iter().map(|name| (*name).to_owned()));
    for row in rows {
        text += &line(columns.iter().map(|name| cell(row.get(*name).unwrap_or(&Value::Null))));
    }
    text
}

fn line(cells: impl Iterator<Item = String>) -> String {
    cells.map(|cell| quoted(&cell)).collect::<Vec<_>>().join(",") + "\r\n"
}

fn cell(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::String(text) => text.clone(),
        Value::Array(parts) if parts.iter().all(Value::is_string) => {
            parts.iter().filter_map(Value::as_str).collect::<Vec<_>>().join("; ")
        }
        other => other.to_string(),
    }
}

/// Quoted where it must be; what a spreadsheet would take for a formula is made text.
fn quoted(cell: &str) -> String {
    let is_formula = cell.starts_with(['=', '+', '@', '\t', '\r'])
        || (cell.starts_with('-') && cell.parse::<f64>().is_err());
    let cell = if is_formula { format!("'{cell}") } else { cell.to_owned() };
    match cell.contains(['"', ',', '\n', '\r']) {
        true => format!("\"{}\"", cell.replace('"', "\"\"")),
        false => cell,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_table_has_a_column_for_every_name_and_no_formulas() {
        let value = json!({ "results": [
            { "id": "fact:001", "text": "=HYPERLINK(\"x\")", "names": ["a", "b"] },
            { "id": "fact:002", "more": -1.5 },
        ]});
        let text = csv(&value);
        assert_eq!(
            text,
            "id,text,names,more\r\nfact:001,\"'=HYPERLINK(\"\"x\"\")\",a; b,\r\nfact:002,,,-1.5\r\n"
        );
    }
}
