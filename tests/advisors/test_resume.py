"""A session that was cut off is taken up from its transcript, and nothing that was paid for is asked again."""

import json

import pytest
from rl_advisor.output.errors import UsageError
from rl_advisor.tools.advisors.model import session as transcript
from wire import DROP, Says

LOOK = Says(calls=(("load_run", {}),))
SAMPLES = Says(calls=(("spot_check_samples", {"count": 1}),))


def test_dropped_session_resumes(speaker, run, judgement, tmp_path, capsys):
    """After the connection stayed away, the next call goes on after the last paid turn and counts what was spent before."""
    kept = tmp_path / "talk.jsonl"
    with speaker.play([LOOK, SAMPLES, *[DROP] * 5]) as first:
        stood_in = speaker.assess(run, first, transcript=kept)
    assert "connection failed" in stood_in.words
    with speaker.play([Says(calls=(("give_assessment", judgement),))]) as second:
        got = speaker.assess(run, second, transcript=kept)
    assert got.p_continue_pays == 0.11
    assert second.requests == first.requests[-1:]
    assert "4800 tokens" in capsys.readouterr().err
    assert "key-of-the-test" not in kept.read_text()


def test_finished_session_is_signed_again_for_nothing(speaker, run, judgement, tmp_path, monkeypatch):
    """A complete transcript gives the same assessment without a request and without a key."""
    kept = tmp_path / "talk.jsonl"
    with speaker.play([LOOK, Says(calls=(("give_assessment", judgement),))]) as provider:
        first = speaker.assess(run, provider, transcript=kept)
    monkeypatch.delenv(f"{speaker.name.upper()}_API_KEY")
    assert speaker.advisor.assess(run, transcript=kept) == first


@pytest.mark.parametrize("cut", [1, 30, 400])
def test_torn_last_line_is_dropped(speaker, run, judgement, tmp_path, cut):
    """A line that was not written to its end counts as not written; the session goes on from the line before."""
    kept = tmp_path / "talk.jsonl"
    with speaker.play([LOOK, *[DROP] * 5]) as first:
        speaker.assess(run, first, transcript=kept)
    whole = kept.read_bytes()
    kept.write_bytes(whole[:-cut])
    with speaker.play([Says(calls=(("give_assessment", judgement),))]) as second:
        assert speaker.assess(run, second, transcript=kept).p_continue_pays == 0.11
    assert second.requests == first.requests[-1:]
    assert all(json.loads(line) for line in kept.read_bytes().splitlines())


def test_complaints_survive_a_crash(speaker, run, judgement, tmp_path):
    """What was complained about before the crash is not complained about again, and paths into answers of before still hold."""
    kept = tmp_path / "talk.jsonl"
    points = {"metric": "load_run.steps.count", "value": 121}
    loose = Says(calls=(("give_assessment", {**judgement, "claims": [*judgement["claims"], points], "summary": "The reward fell [9]."}),))
    with speaker.play([LOOK, loose, *[DROP] * 5]) as first:
        speaker.assess(run, first, transcript=kept)
    with speaker.play([loose]) as second:
        got = speaker.assess(run, second, transcript=kept)
    assert len(second.requests) == 1
    assert "fell [9]" not in got.words
    assert got.evidence[-1].says == "steps, count is 121"


def test_transcript_of_something_else_is_refused(speaker, run, tmp_path):
    """A transcript of another step or model, or another file altogether, is neither used nor touched."""
    kept = tmp_path / "talk.jsonl"
    with speaker.play([*[DROP] * 5]) as provider:
        speaker.assess(run, provider, transcript=kept)
    before = kept.read_bytes()
    with pytest.raises(UsageError, match="step"):
        speaker.advisor.assess(run.until(100), transcript=kept)
    with pytest.raises(UsageError, match="model"):
        speaker.advisor.assess(run, transcript=kept, model="another")
    assert kept.read_bytes() == before


@pytest.mark.parametrize("content", [b"my notes", b"my notes\n", b'{"a": 1}\n', b"[1]\n", b"\xff\xfe\n"])
def test_other_files_are_left_alone(tmp_path, content):
    """A file that is no transcript stays as it is."""
    file = tmp_path / "notes.txt"
    file.write_bytes(content)
    with pytest.raises(UsageError, match=r"notes\.txt"):
        transcript.resume(file, {"run": "a"})
    assert file.read_bytes() == content


def test_folder_of_the_transcript_must_exist(tmp_path):
    """A wrong folder is said before anything is asked."""
    with pytest.raises(UsageError, match="no folder"):
        transcript.resume(tmp_path / "none" / "talk.jsonl", {})
