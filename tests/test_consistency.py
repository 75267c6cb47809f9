"""Two engines' dumps of the same prompts: agreement, precision, vicious circle, and what cannot be compared."""

import json
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from runpy import run_path
from threading import Thread

import numpy as np
import pytest
from rl_advisor.answers.engine_consistency import consistency

STEPS = 12


def dump(folder: Path, width: list[float], changed: int = 0, name: str = "logprobs", offset: int = 0) -> Path:
    """A dump whose log-probabilities are off by noise of a width for each step; the first ``changed`` responses end differently."""
    rng, noise = np.random.default_rng(0), np.random.default_rng(1)
    for step, spread in enumerate(width, 1):
        lines = []
        for i in range(24):
            true = -rng.exponential(1, 16)
            text = "word " * 15 + ("other" if i < changed else str(i))
            logs = (true + spread * noise.normal(size=16)).tolist()
            lines.append(json.dumps({"input": f"question {i + offset}", "output": text, "score": 1.0, "step": step, name: logs}))
        file = folder / "rollout_data" / f"{step}.jsonl"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text("\n".join(lines))
    return folder


@pytest.mark.parametrize(
    ("width", "shape"),
    [
        ([0.0] * STEPS, "none"),
        ([0.02] * STEPS, "constant"),
        ([0.02 * s for s in range(1, STEPS + 1)], "growing"),
        ([0.02] * 3, "undecidable"),
    ],
)
def test_shape_of_the_gap(tmp_path: Path, width: list[float], shape: str) -> None:
    """Equal, constant and growing gaps are told apart, and three steps are too few to tell."""
    found = consistency(dump(tmp_path / "a", width), dump(tmp_path / "b", [0.0] * len(width)))
    assert found["shape"] == shape
    assert (found["pairs"], found["exact_match"]) == (24 * len(width), 1.0)
    assert found["logprobs"]["gap_mean"] == pytest.approx(np.mean(width) * np.sqrt(2 / np.pi), rel=0.1)
    assert found["cannot_tell"] == []


def test_texts_that_part(tmp_path: Path) -> None:
    """A quarter of the responses end differently: the share and the place are right, and their log-probabilities are not compared."""
    found = consistency(dump(tmp_path / "a", [0.0] * 6, changed=6), dump(tmp_path / "b", [0.0] * 6))
    assert found["exact_match"] == 0.75
    assert found["first_divergence"]["median_character"] == 75
    assert found["logprobs"]["tokens"] == 6 * 18 * 16


def test_without_logprobs_only_text_is_compared(tmp_path: Path) -> None:
    """When a side holds no log-probabilities the answer says that the gap cannot be told."""
    found = consistency(dump(tmp_path / "a", [0.0] * 6), dump(tmp_path / "b", [0.0] * 6, name="unheard_of"))
    assert found["logprobs"] == {}
    assert found["cannot_tell"]
    assert found["shape"] == "none"


def test_both_sides_in_one_file(tmp_path: Path) -> None:
    """A trainer that writes its own and the engine's log-probabilities into one file is compared with itself."""
    file = tmp_path / "train_data_step1.jsonl"
    row = {"prompt": "q", "response": "a b", "reward": 1, "prev_logprobs": [-1.0, -2.0], "generation_logprobs": [-1.1, -1.9]}
    file.write_text("\n".join(json.dumps({**row, "prompt": f"q{i}"}) for i in range(4)))
    found = consistency(file, file)
    assert found["logprobs"]["gap_max"] == pytest.approx(0.1)
    assert found["logprobs"]["k1"] == pytest.approx(0)


def test_nothing_in_common(tmp_path: Path) -> None:
    """Dumps of different prompts are the caller's mistake, and the message says what each holds."""
    with pytest.raises(ValueError, match="24 and 24 prompts, steps 1 to 2 and 1 to 2"):
        consistency(dump(tmp_path / "a", [0.0] * 2), dump(tmp_path / "b", [0.0] * 2, offset=100))


PAIRS = Path(__file__).parent / "data" / "engine_pairs"


@pytest.mark.parametrize(("name", "shape", "least", "most"), [("precision", "constant", 0.005, 0.05), ("unsynced", "growing", 0.2, 1.0)])
def test_real_engines(name: str, shape: str, least: float, most: float) -> None:
    """A float32 trainer against its bfloat16 engine: a small gap that stays, and one that grows where the engine keeps its first weights.

    The dumps are of ``evals/generate/engine_pairs.py``.
    """
    found = consistency(PAIRS / name / "trainer.jsonl", PAIRS / name / "engine.jsonl")
    assert (found["pairs"], found["exact_match"], found["shape"]) == (96, 1.0, shape)
    logs = found["logprobs"]
    assert least < logs["gap_mean"] < logs["gap_p99"] < logs["gap_max"]
    assert logs["gap_mean"] < most
    assert logs["ratio_mean"] == pytest.approx(1, abs=0.05)
    assert 0 <= logs["k3"] < most
    gaps = [row["gap_mean"] for row in found["by_step"]]
    assert (gaps[-1] > 10 * gaps[0]) is (shape == "growing")


def test_the_order_of_a_group_does_not_matter(tmp_path: Path) -> None:
    """Eight responses to one prompt that the other side wrote in another order are the same eight, with their own log-probabilities."""
    texts = [f"answer {i}" for i in range(8)]
    for side, order in (("a", texts), ("b", texts[::-1])):
        rows = [{"prompt": "q", "response": t, "step": 1, "reward": 0, "logprobs": [-float(t[-1]), -1.0]} for t in order]
        (tmp_path / f"{side}.jsonl").write_text("\n".join(map(json.dumps, rows)))
    found = consistency(tmp_path / "a.jsonl", tmp_path / "b.jsonl")
    assert found["exact_match"] == 1
    assert found["logprobs"]["gap_max"] == 0


@pytest.mark.parametrize(("width", "says"), [(0.02, "is usual for two engines"), (0.4, "is not usual"), (0.0, "agree on every")])
def test_it_says_whether_that_is_usual(tmp_path: Path, width: float, says: str) -> None:
    """The size of the gap is set beside what sound pairs of engines show."""
    assert says in consistency(dump(tmp_path / "a", [width] * STEPS), dump(tmp_path / "b", [0.0] * STEPS))["statement"]


def test_the_scripts_write_what_is_read(tmp_path: Path) -> None:
    """Lines of the skill's two scripts are dumps that can be compared."""
    scripts = Path(__file__).parents[1] / "skills" / "rl-practitioner" / "scripts"
    engine, trainer = (run_path(str(scripts / f"dump_{side}.py")) for side in ("engine", "trainer"))
    answers = [(f"question {i}", f"answer {i}", [-0.5 - 0.01 * i] * 9) for i in range(24)]
    lines = [engine["line"](p, {"text": r, "logprobs": {"token_logprobs": logs}}) for p, r, logs in answers]
    (tmp_path / "engine.jsonl").write_text("\n".join(lines))
    (tmp_path / "trainer.jsonl").write_text("\n".join(trainer["line"](p, r, [x - 0.01 for x in logs]) for p, r, logs in answers))
    found = consistency(tmp_path / "trainer.jsonl", tmp_path / "engine.jsonl")
    assert found["pairs"] == len(answers)
    assert found["logprobs"]["gap_mean"] == pytest.approx(0.01)


class _Engine(BaseHTTPRequestHandler):
    """A server that speaks the OpenAI protocol: texts and chats, with the log-probability of each token."""

    def do_POST(self) -> None:
        """Says what it was asked for, three tokens of -0.5."""
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        chat = self.path.endswith("/chat/completions")
        said = asked["messages"][-1]["content"][0]["text"] if chat else asked["prompt"]
        logs = {"content": [{"token": "a", "logprob": -0.5}] * 3} if chat else {"token_logprobs": [-0.5] * 3}
        body = json.dumps({"choices": [{"logprobs": logs} | ({"message": {"content": said}} if chat else {"text": said})]}).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Silent."""


def test_the_engine_is_asked_in_texts_and_in_chats(tmp_path: Path) -> None:
    """A prompt that is a list of messages goes through the server's chat template, pictures among its parts with it."""
    script = Path(__file__).parents[1] / "skills" / "rl-practitioner" / "scripts" / "dump_engine.py"
    picture = {"type": "image_url", "image_url": {"url": "data:image/png;base64,AAAA"}}
    chat = json.dumps([{"role": "user", "content": [{"type": "text", "text": "what is this"}, picture]}])
    (tmp_path / "prompts.txt").write_text(f"1 + 1 =\n{chat}\n")
    with HTTPServer(("127.0.0.1", 0), _Engine) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        run_path(str(script))["main"](f"http://127.0.0.1:{server.server_port}/v1", "m", tmp_path / "prompts.txt", tmp_path / "engine.jsonl")
        server.shutdown()
    rows = [json.loads(row) for row in (tmp_path / "engine.jsonl").read_text().splitlines()]
    assert [(row["prompt"], row["response"]) for row in rows] == [("1 + 1 =", "1 + 1 ="), (chat, "what is this")]
    assert all(row["engine_logprobs"] == [-0.5] * 3 for row in rows)
