"""The fixed-batch test of a critic: each of its answers on a batch made to deserve it, and files that are no batch."""

import io
import json
import zipfile
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner
from rl_advisor.answers.critic import critic_test, fingerprint
from rl_advisor.cli.commands import main
from rl_advisor.features.fit import explained_variance, predictable
from rl_advisor.output.errors import UsageError

DRAW = np.random.default_rng(3)
SEEN = DRAW.normal(size=(600, 6))
TOLD = np.sin(SEEN[:, 0]) + 0.5 * SEEN[:, 1] * (SEEN[:, 2] > 0) + 0.2 * DRAW.normal(size=600)
LUCK = DRAW.normal(size=600)


@pytest.mark.parametrize(
    ("returns", "values", "says"),
    [
        (TOLD, TOLD + 0.2 * DRAW.normal(size=600), "the critic is not what is wrong"),
        (TOLD, 0.002 * DRAW.normal(size=600), "a matter of scale"),
        (TOLD, DRAW.normal(size=600), "the critic has not learned them"),
        (TOLD, TOLD[::-1] + 50, "Its values stand at"),
        (TOLD, None, "the critic itself was not tested"),
        (LUCK, LUCK, "do not determine the returns"),
        (np.full(600, 3.0), None, "All 600 returns are 3"),
    ],
)
def test_what_a_batch_shows(tmp_path: Path, returns, values, says: str) -> None:
    path = tmp_path / "batch.npz"
    np.savez(path, observations=SEEN, returns=returns, **({"values": values} if values is not None else {}))
    assert says in critic_test(path)["says"]


def test_luck_is_not_explained_in_twenty_draws() -> None:
    """Returns that observations do not tell are never told more than a twentieth of."""
    found = [predictable(SEEN, np.random.default_rng(k).normal(size=600))[0].mean() for k in range(20)]
    assert max(found) < 0.05
    assert explained_variance(TOLD, TOLD + 7) == pytest.approx(1)


@pytest.mark.parametrize("form", ["npz of environments", "parquet", "csv", "jsonl", "json columns"])
def test_forms_say_the_same(tmp_path: Path, form: str) -> None:
    """The same batch in five forms."""
    path = tmp_path / f"batch.{form.split(maxsplit=1)[0]}"
    if form.startswith("npz"):
        np.savez(path, obs=SEEN.reshape(100, 6, 6), returns=TOLD.reshape(100, 6), values=TOLD.reshape(100, 6))
    elif form == "parquet":
        pd.DataFrame({"obs": list(SEEN), "returns": TOLD, "values": TOLD}).to_parquet(path)
    elif form == "csv":
        pd.DataFrame({**{f"obs_{i}": SEEN[:, i] for i in range(6)}, "returns": TOLD, "values": TOLD}).to_csv(path, index=False)
    elif form == "jsonl":
        path.write_text("\n".join(json.dumps({"observation": list(o), "return": r, "value": r}) for o, r in zip(SEEN, TOLD, strict=True)))
    else:
        path.write_text(json.dumps({"observations": SEEN.tolist(), "returns": TOLD.tolist(), "values": TOLD.tolist()}))
    answer = critic_test(path)
    assert (answer["rows"], answer["dimensions"]) == (600, 6)
    assert answer["critic"]["explained_variance"] == pytest.approx(1)
    assert 0.5 < answer["regressor"]["explained_variance"] < 0.95
    same = fingerprint({"observations": SEEN, "returns": TOLD, "values": TOLD})
    assert (answer["fingerprint"] == same) == ("environments" not in form)  # there the rows stand in another order
    assert same != fingerprint({"observations": SEEN, "returns": TOLD, "values": TOLD + 1e-3})


def _claims_much(path: Path) -> None:
    """An archive whose header claims an array of a terabyte."""
    head = io.BytesIO()
    np.lib.format.write_array_header_1_0(head, {"descr": "<f8", "fortran_order": False, "shape": (1 << 37,)})
    with zipfile.ZipFile(path, "w") as file:
        file.writestr("returns.npy", head.getvalue() + b"\0" * 64)


@pytest.mark.parametrize(
    ("make", "says"),
    [
        (lambda p: np.savez(p, observations=np.array([{"a": 1}] * 60, dtype=object)), "holds no numbers; it has nothing"),
        (lambda p: np.savez(p, observations=SEEN, returns=TOLD[:99]), "600 observations, 99 returns"),
        (_claims_much, "holds no numbers; it has nothing"),
        (lambda p: p.write_bytes(b"PK but not a zip"), "cannot be read as a batch"),
        (lambda _: None, "there is no file"),
        (lambda p: np.savez(p, observations=SEEN[:9], returns=TOLD[:9]), "at least 50"),
    ],
)
def test_what_is_no_batch_is_said(tmp_path: Path, make, says: str) -> None:
    path = tmp_path / "batch.npz"
    make(path)
    with pytest.raises(UsageError, match=says):
        critic_test(path)


TOKENS = {"input_ids": np.arange(48).reshape(6, 8), "rewards": np.linspace(0, 1, 6), "logprobs": -np.ones((6, 8))}


@pytest.mark.parametrize(
    ("change", "same"),
    [({}, True), ({"rewards": np.linspace(0, 1.001, 6)}, False), ({"input_ids": np.arange(48).reshape(6, 8) + 1}, False)],
)
def test_a_batch_of_tokens_is_shown_to_be_the_same(tmp_path: Path, change, same: bool) -> None:
    """A batch without observations or returns has a fingerprint and says what it lacks; other numbers have another one."""
    np.savez(tmp_path / "batch.npz", **TOKENS)
    rows = [dict(zip(TOKENS, row, strict=True)) for row in zip(*((TOKENS | change)[k].tolist() for k in TOKENS), strict=True)]
    (tmp_path / "batch.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    first, second = (critic_test(tmp_path / name) for name in ("batch.npz", "batch.jsonl"))
    assert "holds no observations" in first["says"] and "input_ids 6 x 8" in first["says"]
    assert (first["fingerprint"] == second["fingerprint"]) == same


def test_answers_of_different_lengths_are_a_batch(tmp_path: Path) -> None:
    """Lines whose lists are as long as each answer is are read; one token more is another batch."""
    for name, last in (("a", [4, 5]), ("b", [4, 5]), ("c", [4, 6])):
        (tmp_path / f"{name}.jsonl").write_text("".join(json.dumps({"tokens": x}) + "\n" for x in ([1], [2, 3, 3], last)))
    a, b, c = (critic_test(tmp_path / f"{name}.jsonl")["fingerprint"] for name in "abc")
    assert a == b != c


def test_a_pickle_is_refused_with_the_lines_that_convert_it(tmp_path: Path) -> None:
    (tmp_path / "batch_data.pt").write_bytes(b"PK\3\4")
    with pytest.raises(UsageError, match=r"runs code when it is opened.*numpy.savez\('batch_data.npz'"):
        critic_test(tmp_path / "batch_data.pt")


def test_the_command_answers_in_text_and_json(tmp_path: Path) -> None:
    np.savez(tmp_path / "b.npz", observations=SEEN, returns=TOLD, values=DRAW.normal(size=600))
    told = CliRunner().invoke(main, ["critic", str(tmp_path / "b.npz")])
    assert (told.exit_code, "Repair the critic alone" in told.stdout) == (0, True)
    assert json.loads(CliRunner().invoke(main, ["critic", str(tmp_path / "b.npz"), "--json"]).stdout)["rows"] == 600
