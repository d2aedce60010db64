"""Trains the linear models of the reader from labelled messages and pairs; see README.md.

    learn.py save OUT            all four models, trained on everything
    learn.py without SET[,SET]   how well models do on sets they were not trained on
"""

import json
import os
import random
import struct
import subprocess
import sys

import numpy as np
from scipy.sparse import csr_matrix, hstack
from sklearn.linear_model import LogisticRegression

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.join(HERE, "../../..")
DEV = os.path.join(ROOT, "crates/hermes-bench/corpora/extract")
KINDS = ["preference", "instruction", "decision", "identity", "deadline", "tool", "account", "relation", "fact"]
TASKS = ["research", "writing", "coding", "monitoring", "planning", "data", "communication", "general"]


def seen(example, rows):
    """What the program sees of each row."""
    command = ["cargo", "run", "-q", "-p", "hermes-memory", "--example", example]
    text = "".join(json.dumps(row) + "\n" for row in rows)
    done = subprocess.run(command, cwd=ROOT, input=text, capture_output=True, text=True, check=True)
    return [json.loads(line) for line in done.stdout.splitlines()]


def rows_of(*paths):
    rows = []
    for path in paths:
        with open(path, encoding="utf-8") as file:
            rows += [{"set": "dev", **json.loads(line)} for line in file]
    return rows


class Model:
    """A logistic regression over hashed signs and the meanings of texts; `scales` has how much each of these weighs."""

    def __init__(self, signs, meanings, labels, strength, scales=(), weights=None, counted=None):
        hashes, counts = np.unique(
            np.concatenate([np.array(row[0], dtype=np.uint32) for row in signs[:counted]]), return_counts=True
        )
        self.hashes, self.scales = hashes[counts >= 2], scales
        # Stopped before it has wholly settled: more rounds gave no better judgement of sets left out.
        self.fit = LogisticRegression(C=strength, solver="sag", max_iter=40, tol=1e-3, random_state=0)
        if not scales:
            self.fit = LogisticRegression(C=strength, max_iter=400, tol=1e-4)
        self.fit.fit(self.matrix(signs, meanings), labels, sample_weight=weights)
        self.classes = list(self.fit.classes_)

    def matrix(self, signs, meanings):
        starts, places, values = [0], [], []
        for row in signs:
            hashes = np.array(row[0], dtype=np.uint32)
            at = np.minimum(np.searchsorted(self.hashes, hashes), len(self.hashes) - 1)
            known = self.hashes[at] == hashes
            places.append(at[known])
            values.append(np.array(row[1])[known] / 1e4)
            starts.append(starts[-1] + int(known.sum()))
        plain = csr_matrix(
            (np.concatenate(values), np.concatenate(places), starts), shape=(len(signs), len(self.hashes))
        )
        if not self.scales:
            return plain
        weight = np.repeat(self.scales, 256) / 1e4
        return hstack([plain, csr_matrix(np.array(meanings).reshape(len(signs), -1) * weight)]).tocsr()

    def judge(self, signs, meanings=None):
        return self.fit.predict_proba(self.matrix(signs, meanings))

    def save(self, path, order):
        weights, bias = self.fit.coef_, self.fit.intercept_
        if len(self.classes) == 2:
            weights, bias = np.stack([-weights[0], weights[0]]) / 2, np.array([-bias[0], bias[0]]) / 2
        picked = [self.classes.index(name) for name in order]
        weights, bias = weights[picked], bias[picked]
        count = len(self.hashes)
        scale = np.abs(weights[:, :count]).max(1) / 127
        small = np.round(weights[:, :count] / scale[:, None]).astype(np.int8)
        kept = np.abs(small).max(0) >= 1
        with open(path, "wb") as file:
            file.write(b"HERMLIN1")
            file.write(struct.pack("<III", len(order), int(kept.sum()), len(self.scales)))
            file.write(scale.astype("<f4").tobytes() + bias.astype("<f4").tobytes())
            for part, scale_of_part in enumerate(self.scales):
                start = count + 256 * part
                file.write((weights[:, start : start + 256] * scale_of_part).astype("<f4").tobytes())
            file.write(self.hashes[kept].astype("<u4").tobytes())
            file.write(np.ascontiguousarray(small[:, kept].T).tobytes())
        print(path, os.path.getsize(path), "bytes,", int(kept.sum()), "signs")


def kinds_of(turn):
    """For each clause 0, or 1 + the kind of the label that it says best."""
    clauses = turn["clauses"]
    kinds, taken = [0] * len(clauses), [0] * len(clauses)
    for label in turn["facts"]:
        best = None
        for at, clause in enumerate(clauses):
            said = clause["statement"].lower()
            words = sum(word in said for word in label["must"])
            key = (words, -taken[at], -len(said))
            if words and (best is None or key > best[0]):
                best = (key, at)
        if best:
            at = best[1]
            if not taken[at]:
                kinds[at] = KINDS.index(label["kind"][0]) + 1
            taken[at] += 1
    return kinds


def clauses_model(turns, lower):
    """Learns from the messages, and half as much from the same in lower case, as many people write."""
    count = sum(len(turn["clauses"]) for turn in turns)
    clauses = [clause for turn in turns + lower for clause in turn["clauses"]]
    labels = [kind for turn in turns + lower for kind in kinds_of(turn)]
    weights = np.where(np.arange(len(clauses)) < count, 1.0, 0.5)
    signs, meanings = [c["signs"] for c in clauses], [c["meanings"] for c in clauses]
    return Model(signs, meanings, labels, 1.0, (1.2, 1.2, 1.6), weights, count)


def tasks_model(turns):
    signs, meanings = [t["task_signs"] for t in turns], [t["task_meaning"] for t in turns]
    return Model(signs, meanings, [t["task"] for t in turns], 2.0, scales=(2.0,))


def names_model(turns):
    words = [word for turn in turns for word in turn["words"]]
    return Model([w["signs"][w["before"]] for w in words], None, [w["tag"] for w in words], 4.0)


def pairs_input(pairs, turns):
    """Labelled pairs, messages of change against unrelated older ones, and the facts of one person."""
    labelled, unrelated, personal = list(pairs), [], []
    for name in sorted({pair["set"] for pair in pairs}):
        own = [pair for pair in pairs if pair["set"] == name]
        olds = sorted({pair["old"] for pair in own})
        for pair in own:
            if pair["relation"] == "contradicts":
                others = [old for old in olds if old != pair["old"]]
                unrelated.append({"set": name, "olds": [pair["old"]], "news": others, "near": True})
                unrelated.append({"set": name, "olds": others, "new": pair["new"]})
    people = {}
    for turn in turns:
        if turn["facts"]:
            people.setdefault((turn["set"], turn["persona"]), []).append((turn["at"], turn["text"]))
    for (name, _), said in people.items():
        said.sort()
        for at in range(1, len(said)):
            olds = [text for _, text in said[:at]]
            personal.append({"set": name, "olds": olds, "new": said[at][1], "only_drawn": True})
    return labelled, unrelated, personal


def pairs_model(pairs, turns):
    labelled, unrelated, personal = (seen("pair_features", rows) for rows in pairs_input(pairs, turns))
    chance = random.Random(1)
    signs, labels, weights = [], [], []

    def add(row, label, weight):
        signs.append(row)
        labels.append(label)
        weights.append(weight)

    for pair in labelled:
        if pair["pairs"]:
            nearest = max(pair["pairs"], key=lambda one: one["near"])
            add(nearest["signs"], int(pair["relation"] == "contradicts"), 1.0)
    others, near = {}, set()
    for row in unrelated:
        if row.get("near"):
            near = {text for one in row["pairs"] if one["near"] >= 0.5 for text in (one["old"], one["new"])}
        else:
            rows = [one["signs"] for one in row["pairs"] if one["old"] not in near]
            others.setdefault(row["set"], []).extend(rows)
    own = {}
    for row in personal:
        own.setdefault(row["set"], []).extend(one["signs"] for one in row["pairs"])
    for groups, most, weight in ((others, 600, 0.05), (own, 400, 0.1)):
        for name in sorted(groups):
            for row in chance.sample(groups[name], min(most, len(groups[name]))):
                add(row, 0, weight)
    return Model(signs, None, labels, 0.4, weights=weights)


def fits(kind, statement, label):
    return kind in label["kind"] and all(word in statement.lower() for word in label["must"])


def figures(name, judged, wanted):
    """Precision and recall at some thresholds; `judged` holds (how sure, right, labels said)."""
    shown = []
    for least in (0.5, 0.6, 0.7, 0.8):
        kept = [one for one in judged if one[0] >= least]
        right = sum(one[1] for one in kept) / max(1, len(kept))
        shown.append(f"{least}: P {right:.3f} R {sum(one[2] for one in kept) / max(1, wanted):.3f}")
    print(f"  {name:8}", "  ".join(shown), flush=True)


def measure(learnt, lower, left_out):
    model, judged = clauses_model(learnt, lower), []
    for turn in left_out:
        clauses, labels = turn["clauses"], list(turn["facts"])
        if not clauses:
            continue
        likely = model.judge([c["signs"] for c in clauses], [c["meanings"] for c in clauses])
        for row, clause in sorted(zip(likely, clauses), key=lambda one: -one[0][1:].max()):
            kind = int(row[1:].argmax())
            said = [label for label in labels if fits(KINDS[kind], clause["statement"], label)]
            labels = [label for label in labels if label not in said]
            judged.append((row[kind + 1], bool(said), len(said)))
    figures("clauses", judged, sum(len(turn["facts"]) for turn in left_out))
    model, judged = tasks_model(learnt), []
    likely = model.judge([t["task_signs"] for t in left_out], [t["task_meaning"] for t in left_out])
    for row, turn in zip(likely, left_out):
        sure, name = max((row[at], name) for at, name in enumerate(model.classes) if name != "general")
        judged.append((sure, name == turn["task"], int(name == turn["task"])))
    figures("tasks", judged, sum(turn["task"] != "general" for turn in left_out))


def main():
    turns = [turn for turn in rows_of(f"{HERE}/turns.jsonl", f"{DEV}/turns-dev.jsonl") if turn["role"] == "user"]
    pairs = rows_of(f"{HERE}/pairs.jsonl", f"{DEV}/pairs-dev.jsonl")
    read = seen("reader_features", turns)
    mixed = [turn for turn in turns if turn["set"] != "plain" and turn["text"] != turn["text"].lower()]
    lower = seen("reader_features", [{**turn, "text": turn["text"].lower()} for turn in mixed])
    if sys.argv[1] == "save":
        out = sys.argv[2]
        clauses_model(read, lower).save(f"{out}/clauses.bin", list(range(1 + len(KINDS))))
        tasks_model(read).save(f"{out}/tasks.bin", TASKS)
        names_model(read).save(f"{out}/names.bin", [0, 1, 2])
        # The judge of pairs sees facts that are drawn with the models above.
        pairs_model(pairs, turns).save(f"{out}/pairs.bin", [0, 1])
    else:
        for name in sys.argv[2].split(","):
            print(name)
            learnt, lower_learnt = ([t for t in rows if t["set"] != name] for rows in (read, lower))
            measure(learnt, lower_learnt, [t for t in read if t["set"] == name])


if __name__ == "__main__":
    main()
