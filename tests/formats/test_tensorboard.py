"""Event files: equal to tensorboard's own reader on whole files, better than it on damaged ones."""

import gzip
import struct
import tempfile
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rl_advisor.reading.formats import tensorboard
from rl_advisor.reading.parsing.event_files import reader
from rl_advisor.reading.parsing.event_files.crc32c import checksum, linear_rows
from rl_advisor.reading.parsing.event_files.reader import Events, read_events
from rl_advisor.run import Run
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator
from tensorboard.compat.proto import event_pb2, summary_pb2, tensor_pb2, types_pb2
from tensorboard.compat.tensorflow_stub.pywrap_tensorflow import masked_crc32c
from tensorboard.plugins.scalar.metadata import create_summary_metadata as scalar_metadata
from tensorboard.plugins.text.metadata import create_summary_metadata as text_metadata

DATA = Path(__file__).parent.parent / "data" / "tensorboard"
NAME = "events.out.tfevents.1700000000.host.1.0"


def record(event: event_pb2.Event) -> bytes:
    """Return an event as a writer frames it, with tensorboard's own checksum."""
    data = event.SerializeToString()
    head = struct.pack("<Q", len(data))
    return head + struct.pack("<I", masked_crc32c(head)) + data + struct.pack("<I", masked_crc32c(data))


def scalar(tag: str, step: int, value: float, time: float = 0.0) -> bytes:
    values = [summary_pb2.Summary.Value(tag=tag, simple_value=value)]
    return record(event_pb2.Event(wall_time=time or 1.7e9 + step, step=step, summary=summary_pb2.Summary(value=values)))


def tensor(tag: str, step: int, tensor_proto: tensor_pb2.TensorProto, metadata: summary_pb2.SummaryMetadata | None = None) -> bytes:
    values = [summary_pb2.Summary.Value(tag=tag, tensor=tensor_proto, metadata=metadata)]
    return record(event_pb2.Event(wall_time=1.7e9 + step, step=step, summary=summary_pb2.Summary(value=values)))


def regular(steps: int, tags: int = 3) -> list[bytes]:
    return [scalar(f"tag_{k}", step, k + step / 7) for step in range(1, steps + 1) for k in range(tags)]


def written(folder: Path, records: list[bytes], name: str = NAME) -> Path:
    path = folder / name
    path.write_bytes(b"".join([record(event_pb2.Event(wall_time=1.7e9, file_version="brain.Event:2")), *records]))
    return path


def from_bytes(data: bytes) -> Events:
    """Return what a file of these bytes holds."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / NAME
        path.write_bytes(data)
        return read_events(path)


def assert_equals_tensorboard(path: Path) -> None:
    """Every scalar tag has the same steps, wall times and values as in EventAccumulator."""
    ours = read_events(path).scalars()
    theirs = EventAccumulator(str(path), size_guidance={"scalars": 0}).Reload()
    assert set(theirs.Tags()["scalars"]) == set(ours)
    for tag, (step, value, time) in ours.items():
        points = theirs.Scalars(tag)
        assert [p.step for p in points] == step.tolist()
        assert [p.wall_time for p in points] == time.tolist()
        np.testing.assert_array_equal([p.value for p in points], value)


@pytest.mark.parametrize("path", sorted(DATA.glob("events*")), ids=lambda p: p.name)
def test_real_files_are_read_as_tensorboard_reads_them(path: Path) -> None:
    """Slim copies of real files: TRL with evaluation, CleanRL with many points a step, tensorboardX."""
    assert_equals_tensorboard(path)
    assert not tensorboard.read(path).gaps


def test_cycles_over_many_windows_and_step_widths(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The fast path loses nothing where steps get longer (127, 16383) and where a window ends."""
    monkeypatch.setattr(reader, "_WINDOW", 1 << 13)
    assert_equals_tensorboard(written(tmp_path, [*regular(300, 4), *(scalar("late", step, step) for step in range(16_300, 16_500))]))


def test_a_tag_that_comes_every_tenth_step(tmp_path: Path) -> None:
    """A cycle that is broken now and then."""
    records = [r for s in range(400) for r in ([scalar("eval", s, s / 3)] if s % 10 == 0 else []) + [scalar("a", s, s), scalar("b", s, -s)]]
    assert_equals_tensorboard(written(tmp_path, records))


def test_steps_that_differ_inside_a_cycle(tmp_path: Path) -> None:
    """Tags with clocks of their own are no cycle."""
    records = [scalar(tag, step * pace, step) for step in range(1, 300) for tag, pace in (("a", 1), ("b", 100))]
    assert_equals_tensorboard(written(tmp_path, records))


@settings(max_examples=30, deadline=None)
@given(
    st.lists(
        st.tuples(
            st.sampled_from(["a", "b", "train/reward", "train/loss", "long/" * 20, "ä", ""]),
            st.integers(-(2**63), 2**63 - 1) | st.integers(0, 300),
            st.floats(width=32),
        ),
        max_size=120,
    )
)
def test_any_order_of_tags_steps_and_values(points: list[tuple[str, int, float]]) -> None:
    """Whatever is written comes back in the order of writing."""
    expected: dict[str, list[tuple[float, float]]] = {}
    for tag, step, value in points:
        expected.setdefault(tag, []).append((float(step), value))
    data = b"".join(scalar(*point) for point in points)
    found = from_bytes(data).scalars()
    assert set(found) == set(expected)
    for tag, (step, value, _) in found.items():
        np.testing.assert_array_equal(np.array(expected[tag]), np.stack([step, value], axis=1))


FLOATS = {
    "float_val": tensor_pb2.TensorProto(dtype=types_pb2.DT_FLOAT, float_val=[1.5]),
    "double_val": tensor_pb2.TensorProto(dtype=types_pb2.DT_DOUBLE, double_val=[1.5]),
    "content": tensor_pb2.TensorProto(dtype=types_pb2.DT_FLOAT, tensor_content=struct.pack("<f", 1.5)),
}


@pytest.mark.parametrize("kind", FLOATS)
def test_new_style_scalars(tmp_path: Path, kind: str) -> None:
    """A number in a tensor is a scalar, on the fast path as well, with and without the metadata of the first record."""
    metadata = scalar_metadata("", "")
    records = [tensor("x", step, FLOATS[kind], metadata if step == 1 else None) for step in range(1, 60)]
    step, value, _ = read_events(written(tmp_path, records)).scalars()["x"]
    assert step.tolist() == list(range(1, 60))
    assert set(value) == {1.5}


@pytest.mark.parametrize(("proto", "expected"), [
    (tensor_pb2.TensorProto(dtype=types_pb2.DT_FLOAT, float_val=[7.0]), 7.0),
    (tensor_pb2.TensorProto(dtype=types_pb2.DT_FLOAT, float_val=[1.0, 2.0]), None),
    (tensor_pb2.TensorProto(dtype=types_pb2.DT_STRING, string_val=[b"7"]), None),
])  # fmt: skip
def test_which_tensors_are_one_number(tmp_path: Path, proto: tensor_pb2.TensorProto, expected: float | None) -> None:
    """One is; several numbers and texts are not."""
    found = read_events(written(tmp_path, [tensor("x", 1, proto)])).scalars()
    assert [p[1].tolist() for p in found.values()] == ([[expected]] if expected is not None else [])


def test_media_are_skipped_and_scalars_around_them_kept(tmp_path: Path) -> None:
    """Images and histograms are no scalars; a picture may contain what looks like records."""
    inside = scalar("not/a/tag", 1, 1.0)
    image = summary_pb2.Summary(
        value=[summary_pb2.Summary.Value(tag="img", image=summary_pb2.Summary.Image(encoded_image_string=inside * 50))]
    )
    histogram = summary_pb2.Summary(value=[summary_pb2.Summary.Value(tag="h", histo=summary_pb2.HistogramProto(bucket=[1.0] * 99))])
    media = [record(event_pb2.Event(wall_time=1.0, step=5, summary=kind)) for kind in (image, histogram)]
    path = written(tmp_path, regular(30) + media + regular(30))
    assert_equals_tensorboard(path)
    assert tensorboard.read(path).gaps == ()


def test_several_values_in_one_record(tmp_path: Path) -> None:
    """Old TensorFlow code writes all tags of a step into one summary."""
    values = [[summary_pb2.Summary.Value(tag=t, simple_value=step + k) for k, t in enumerate("abc")] for step in range(50)]
    records = [record(event_pb2.Event(wall_time=1.7e9, step=s, summary=summary_pb2.Summary(value=v))) for s, v in enumerate(values)]
    assert_equals_tensorboard(written(tmp_path, records))


POINTS = 600
RECORD = len(scalar("tag_0", 1, 1.0))


def damaged(folder: Path, start: int, with_bytes: bytes) -> Path:
    path = written(folder, regular(POINTS // 3))
    data = bytearray(path.read_bytes())
    data[start : start + len(with_bytes)] = with_bytes
    path.write_bytes(data)
    return path


def count(run: Run) -> int:
    return sum(c.step.size for c in run.curves.values())


@pytest.mark.parametrize(("what", "with_bytes", "most_lost"), [
    ("one byte of a value or of a frame", b"\xa5", 2),
    ("4 KiB of zeros", bytes(4096), 4096 // RECORD + 2),
    ("4 KiB of noise", np.random.default_rng(0).bytes(4096), 4096 // RECORD + 2),
])  # fmt: skip
@pytest.mark.parametrize("start", [4_000, 4_013, 4_023, 4_037, 9_111])
def test_damage_costs_what_is_damaged(tmp_path: Path, what: str, with_bytes: bytes, most_lost: int, start: int) -> None:
    """Points behind the damage are kept, none is wrong, and a hole is said unless the checksum told what had stood there."""
    run = tensorboard.read(damaged(tmp_path, start, with_bytes))
    assert POINTS - most_lost <= count(run) <= POINTS, what
    assert (count(run) == POINTS) != any("damaged" in gap.why for gap in run.gaps)
    for k in range(3):
        curve = run.curves[f"tag_{k}"]
        np.testing.assert_allclose(curve.value, k + curve.step / 7, rtol=1e-6)


def test_a_flipped_value_is_noticed_by_the_data_checksum(tmp_path: Path) -> None:
    """Exactly one point is lost."""
    path = written(tmp_path, regular(200, 1))
    data = bytearray(path.read_bytes())
    at = data.rindex(struct.pack("<f", 100 / 7)) + 1
    data[at] ^= 1
    path.write_bytes(data)
    found = read_events(path)
    assert found.scalars()["tag_0"][0].size == 199
    assert len(found.holes) == 1


@pytest.mark.parametrize("missing", [1, 5, 17, 30])
def test_a_half_written_record_at_the_end(tmp_path: Path, missing: int) -> None:
    """Only the record that is not finished is missing, and the gap says so."""
    path = written(tmp_path, regular(100))
    path.write_bytes(path.read_bytes()[:-missing])
    run = tensorboard.read(path)
    assert count(run) == 299
    assert [gap.why.split(":")[0] for gap in run.gaps] == ["half-written"]


def test_gzip_whole_and_torn(tmp_path: Path) -> None:
    """A packed file gives the same points; a torn one what can be unpacked."""
    path = written(tmp_path, regular(2_000))
    packed = tmp_path / (NAME + ".gz")
    packed.write_bytes(gzip.compress(path.read_bytes()))
    assert tensorboard.claims(packed)
    assert count(tensorboard.read(packed)) == 6_000
    packed.write_bytes(packed.read_bytes()[:-2_000])
    torn = tensorboard.read(packed)
    assert 0 < count(torn) < 6_000
    assert torn.gaps


@pytest.mark.parametrize("data", [b"", b"\0", bytes(100_000), b"not an event file\n" * 50])
def test_what_is_no_event_file_gives_nothing(tmp_path: Path, data: bytes) -> None:
    """Empty, zeros and text: no curves, and a gap unless there is nothing at all."""
    path = tmp_path / NAME
    path.write_bytes(data)
    run = tensorboard.read(path)
    assert not run.curves
    assert bool(run.gaps) == bool(data)


@settings(max_examples=60, deadline=None)
@given(st.binary(min_size=1, max_size=40), st.integers(0, 5_000))
def test_any_damage_is_survived(noise: bytes, at: int) -> None:
    """Random bytes anywhere neither crash the reader nor bring a point that was not written."""
    data = bytearray(b"".join(regular(40)))
    data[at : at + len(noise)] = noise
    for tag, (step, value, _) in from_bytes(bytes(data)).scalars().items():
        np.testing.assert_allclose(value, int(tag[-1]) + step / 7, rtol=1e-6)


def test_settings_and_texts(tmp_path: Path) -> None:
    """TRL's args (JSON) and CleanRL's table become the configuration; broken JSON and samples do not."""
    texts = {
        "args/text_summary": b'{"max_steps": 80, "learning_rate": 1e-3}', "hyperparameters/text_summary": b"|param|value|\n|-|-|\n|seed|1|",
        "model_config/text_summary": b"{broken", "train/generated_samples/text_summary": b'{"max_steps": 7}',
    }  # fmt: skip
    records = [
        tensor(tag, 0, tensor_pb2.TensorProto(dtype=types_pb2.DT_STRING, string_val=[text]), text_metadata("", ""))
        for tag, text in texts.items()
    ]
    assert tensorboard.read(written(tmp_path, records)).config == {"max_steps": 80, "learning_rate": 1e-3, "seed": "1"}


@pytest.mark.parametrize(("name", "claimed"), [
    (NAME, True), (NAME + ".gz", True), ("events.out.tfevents.1700000000.host", True), ("events.out.tfevents.1.h.profile-empty", True),
    ("notes_on_tfevents.md", False), ("events.log", False),
])  # fmt: skip
def test_claims_by_name(tmp_path: Path, name: str, claimed: bool) -> None:
    """The names that writers give, packed or not, and near misses."""
    (tmp_path / name).write_bytes(b"x")
    assert tensorboard.claims(tmp_path / name) == claimed


@given(st.binary(max_size=300))
def test_checksum_is_tensorboards(data: bytes) -> None:
    """Of one piece and of rows alike."""
    assert masked_crc32c(data) == (((checksum(data) >> 15) | (checksum(data) << 17)) + 0xA282EAD8) & 0xFFFFFFFF
    if data:
        rows = np.frombuffer(data, np.uint8)[None]
        assert int((linear_rows(rows) ^ np.uint32(checksum(bytes(len(data)))))[0]) == checksum(data)
