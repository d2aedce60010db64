//! YAML and JSON files: read as a tree that knows its lines, and edited without losing a comment.

pub(crate) mod document;
pub(crate) mod edit_json;
pub(crate) mod edit_yaml;
mod yaml_tree;

/// Whether `typed` is `name` in snake_case or camelCase.
pub(crate) fn is_spelling_of(typed: &str, name: &str) -> bool {
    typed == name || (!typed.contains('_') && typed == camel_case(name))
}

fn camel_case(name: &str) -> String {
    let mut camel = String::with_capacity(name.len());
    for (number, word) in name.split('_').enumerate() {
        let mut letters = word.chars();
        match letters.next() {
            Some(first) if number > 0 => camel.extend(first.to_uppercase()),
            Some(first) => camel.push(first),
            None => {}
        }
        camel.push_str(letters.as_str());
    }
    camel
}
