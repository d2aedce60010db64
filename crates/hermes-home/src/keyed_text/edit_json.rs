//! Change one key of a JSON text with comments; everything else stays.

use jsonc_parser::cst::{CstInputValue, CstNode, CstObject, CstObjectProp, CstRootNode};
use serde_json::Value;

use crate::keyed_text::document::JSON;
use crate::keyed_text::edit_yaml::Refusal;
use crate::keyed_text::is_spelling_of;

const NOT_A_SECTION: Refusal = "a part of its name already exists and is not a section";
const NOT_PLAIN: Refusal = "its value is a section, or a list that cannot be changed safely";
const NOT_JSON: Refusal = "the file is not JSON";

/// Sets the key at `path`; sections that are missing are made.
pub(crate) fn put(text: &str, path: &[String], value: &Value) -> Result<String, Refusal> {
    let root = CstRootNode::parse(text, &JSON).map_err(|_| NOT_JSON)?;
    let mut object = root.object_value().ok_or(NOT_JSON)?;
    for (depth, part) in path.iter().enumerate() {
        let rest = &path[depth + 1..];
        match find(&object, part) {
            None => {
                object.append(part, nested(rest, value));
                return Ok(root.to_string());
            }
            Some(property) if rest.is_empty() => {
                replace(&property, value)?;
                return Ok(root.to_string());
            }
            Some(property) => match property.object_value() {
                Some(inner) => object = inner,
                None if is_null(&property) => {
                    property.set_value(nested(rest, value));
                    return Ok(root.to_string());
                }
                None => return Err(NOT_A_SECTION),
            },
        }
    }
    Err(NOT_A_SECTION)
}

/// Removes the key at `path`, with sections that hold nothing else; none when it is not there.
pub(crate) fn remove(text: &str, path: &[String]) -> Result<Option<String>, Refusal> {
    let root = CstRootNode::parse(text, &JSON).map_err(|_| NOT_JSON)?;
    let mut object = root.object_value().ok_or(NOT_JSON)?;
    let mut way = Vec::new();
    for part in path {
        let Some(property) = find(&object, part) else { return Ok(None) };
        if way.len() + 1 < path.len() {
            let Some(inner) = property.object_value() else { return Ok(None) };
            object = inner;
        } else if property.object_value().is_some() || has_odd_list(&property) {
            return Err(NOT_PLAIN);
        }
        way.push(property);
    }
    let Some(mut victim) = way.pop() else { return Ok(None) };
    while let Some(section) = way.pop().filter(holds_one_thing) {
        victim = section;
    }
    victim.remove();
    Ok(Some(root.to_string()))
}

fn find(object: &CstObject, part: &str) -> Option<CstObjectProp> {
    let is_it = |property: &CstObjectProp| {
        property.decoded_name().is_some_and(|name| is_spelling_of(&name, part))
    };
    object.properties().into_iter().find(is_it)
}

fn replace(property: &CstObjectProp, value: &Value) -> Result<(), Refusal> {
    let is_list = property.array_value().is_some();
    if property.object_value().is_some() || (is_list && !value.is_array()) || has_odd_list(property)
    {
        return Err(NOT_PLAIN);
    }
    property.set_value(input(value));
    Ok(())
}

/// Whether its value is a list of more than texts, numbers and the like, or with a comment in it.
fn has_odd_list(property: &CstObjectProp) -> bool {
    property.array_value().is_some_and(|list| {
        let is_nested = |item: &CstNode| item.as_object().is_some() || item.as_array().is_some();
        list.elements().iter().any(is_nested) || list.children().iter().any(CstNode::is_comment)
    })
}

fn is_null(property: &CstObjectProp) -> bool {
    property.value().is_some_and(|value| value.as_null_keyword().is_some())
}

/// Whether a section has one key and no comment, so that it can go with the key.
fn holds_one_thing(section: &CstObjectProp) -> bool {
    section.object_value().is_some_and(|object| {
        let has_comment = object.children().iter().any(|child| child.is_comment());
        object.properties().len() == 1 && !has_comment
    })
}

fn nested(rest: &[String], value: &Value) -> CstInputValue {
    match rest.split_first() {
        None => input(value),
        Some((part, below)) => CstInputValue::Object(vec![(part.clone(), nested(below, value))]),
    }
}

fn input(value: &Value) -> CstInputValue {
    match value {
        Value::Bool(truth) => CstInputValue::Bool(*truth),
        Value::Number(number) => CstInputValue::Number(number.to_string()),
        Value::String(text) => CstInputValue::String(text.clone()),
        Value::Array(items) => CstInputValue::Array(items.iter().map(input).collect()),
        Value::Null | Value::Object(_) => CstInputValue::Null,
    }
}
