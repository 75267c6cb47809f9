"""Texts of Parquet that are held once each: a damaged file may name some that are not there."""

import pyarrow as pa
import pytest
from rl_advisor.reading.parsing import parquet_in


@pytest.mark.parametrize("index", [2, -1])
def test_texts_that_are_not_there_are_damage(index: int) -> None:
    """An index outside the dictionary once ended the reader, or took a text from its end."""
    damaged = pa.DictionaryArray.from_arrays(pa.array([0, index], pa.int32()), pa.array(["a", "b"]), safe=False)
    with pytest.raises(OSError, match="Parquet"):
        parquet_in.cells(pa.chunked_array([damaged]))


def test_sound_texts_are_read() -> None:
    """Missing cells stay missing."""
    sound = pa.DictionaryArray.from_arrays(pa.array([0, None, 1], pa.int32()), pa.array(["a", "b"]))
    assert parquet_in.cells(pa.chunked_array([sound])) == ["a", None, "b"]
