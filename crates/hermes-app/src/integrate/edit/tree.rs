//! Values inside a value: found, set, taken out, as the text of a file should say afterwards.

use serde_json::{Map, Value};

use super::{Manner, Piece};

/// The value at a path.
pub(super) fn at<'a>(root: &'a Value, path: &[String]) -> Option<&'a Value> {
    path.iter().try_fold(root, |value, part| value.as_object()?.get(part))
}

/// Sets what a piece says, making the sections on the way.
pub(super) fn set(root: &mut Value, piece: &Piece) {
    let mut value = root;
    for part in &piece.path {
        if !value.is_object() {
            *value = Value::Object(Map::new());
        }
        let Some(section) = value.as_object_mut() else { return };
        value = section.entry(part.clone()).or_insert(Value::Null);
    }
    match (piece.manner, &mut *value) {
        (Manner::Element, Value::Array(items)) => items.push(piece.value.clone()),
        (Manner::Element, _) => *value = Value::Array(vec![piece.value.clone()]),
        _ => *value = piece.value.clone(),
    }
}

/// Takes out the value at a path.
pub(super) fn take(root: &mut Value, path: &[String]) {
    let Some((last, above)) = path.split_last() else { return };
    if let Some(section) = at_mut(root, above).and_then(Value::as_object_mut) {
        section.shift_remove(last);
    }
}

/// Takes elements out of the list at a path.
pub(super) fn take_elements(root: &mut Value, path: &[String], places: &[usize]) {
    if let Some(items) = at_mut(root, path).and_then(Value::as_array_mut) {
        let mut place = 0;
        items.retain(|_| {
            place += 1;
            !places.contains(&(place - 1))
        });
    }
}

/// The value without empty sections and lists.
pub(super) fn pruned(value: Value) -> Value {
    let is_empty = |value: &Value| match value {
        Value::Object(keys) => keys.is_empty(),
        Value::Array(items) => items.is_empty(),
        other => other.is_null(),
    };
    match value {
        Value::Object(keys) => {
            let kept = keys.into_iter().map(|(key, value)| (key, pruned(value)));
            Value::Object(kept.filter(|(_, value)| !is_empty(value)).collect())
        }
        other => other,
    }
}

fn at_mut<'a>(root: &'a mut Value, path: &[String]) -> Option<&'a mut Value> {
    path.iter().try_fold(root, |value, part| value.as_object_mut()?.get_mut(part))
}
