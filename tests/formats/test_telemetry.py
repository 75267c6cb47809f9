"""Each GPU monitoring tool's own output, as the tool prints it, becomes the same telemetry table."""

from pathlib import Path

import numpy as np
import pytest
from rl_advisor.reading.formats import telemetry
from rl_advisor.reading.parsing import gpu_counters

SMI = """timestamp, index, temperature.gpu, utilization.gpu [%], utilization.memory [%], memory.used [MiB], memory.total [MiB], power.draw [W], clocks.current.sm [MHz], fan.speed [%], clocks_event_reasons.active, pstate
2026/11/20 23:49:21.923, 0, 40, 7 %, 3 %, 1024 MiB, 143771 MiB, 80.27 W, 345 MHz, [N/A], 0x0000000000000001, P0
2026/11/20 23:49:21.923, 1, 41, 0 %, 0 %, 0 MiB, 143771 MiB, [N/A], 345 MHz, [N/A], 0x0000000000000004, P0
"""  # noqa: E501
BARE = """timestamp, index, utilization.gpu [%], memory.used [MiB], power.draw [W], clocks_throttle_reasons.active
2026/11/20 23:49:21.923, 0, 7, 1024, 80.27, 0x0000000000000020
"""
DMON = """# gpu    pwr  gtemp  mtemp     sm    mem    enc    dec    jpg    ofa   mclk   pclk  pviol  tviol     fb   bar1
# Idx      W      C      C      %      %      %      %      %      %    MHz    MHz      %   bool     MB     MB
    0     80     39     41      7      3      0      0      0      0   3201    345      0      0   1024      1
# gpu    pwr  gtemp  mtemp     sm    mem    enc    dec    jpg    ofa   mclk   pclk  pviol  tviol     fb   bar1
# Idx      W      C      C      %      %      %      %      %      %    MHz    MHz      %   bool     MB     MB
    0     81      -     41      8      3      0      0      0      0   3201    345      0      0   1024      1
"""
DMON_TIMES = """#Date       Time        gpu     pwr     sm    mem     fb
#YYYYMMDD   HH:MM:SS    Idx       W      %      %     MB
 20261120   23:49:21      0      80      7      3   1024
"""
DCGMI = """#Entity   GRACT        SMACT        TENSO        DRAMA
ID
GPU 1     N/A          N/A          N/A          N/A
GPU 0     0.070        0.916        0.023        0.030
GPU 1     1.000        0.916        0.023        0.881
GPU 0     1.000        0.916        0.023        0.881
"""
QUERY = """{"status":"success","data":{"resultType":"matrix","result":[
{"metric":{"__name__":"DCGM_FI_DEV_POWER_USAGE","gpu":"0","Hostname":"a"},"values":[[1795218561.9,"80.27"],[1795218576.9,"90"]]},
{"metric":{"__name__":"DCGM_FI_PROF_GR_ENGINE_ACTIVE","gpu":"0","Hostname":"a"},"values":[[1795218561.9,"0.07"],[1795218576.9,"NaN"]]},
{"metric":{"__name__":"up"},"values":[[1795218561.9,"1"]]}]}}"""
GPUSTAT = """{
    "hostname": "a", "driver_version": "580.1", "query_time": "2026-11-20T23:49:21.923000",
    "gpus": [{"index": 0, "uuid": "GPU-1", "name": "NVIDIA H200", "temperature.gpu": 40, "fan.speed": null, "utilization.gpu": 7,
              "power.draw": 80, "enforced.power.limit": 700, "memory.used": 1024, "memory.total": 143771, "processes": []}]
}
"""
ROCM = """WARNING: AMD GPU device(s) is/are in a low-power state. Check power control/runtime_status

device,GPU use (%),VRAM Total Memory (B),VRAM Total Used Memory (B)
card0,7,21458059264,1073741824
"""
AMD = """timestamp,gpu,gfx_activity,umc_activity,mm_activity,socket_power,gfx_voltage,gfx_0_clk,mem_0_clk,edge,hotspot,mem
1795218561,0,7,3,N/A,80,850,345,2000,39,40,78
"""
AMD_MONITOR = """GPU,GFX%,VRAM_USED
0,7 %,1024 MB
"""
WANDB = """_timestamp,system.gpu.0.gpu,system.gpu.0.memory,system.gpu.0.memoryAllocatedBytes,system.gpu.0.powerWatts,system.gpu.1.gpu
1795218561.923,7,3,1073741824,80.27,
1795218576.923,8,3,1073741824,81.27,50
"""
WANDB_LINES = '{"_timestamp": 1795218561.923, "system.gpu.0.gpu": 7, "system.gpu.0.powerWatts": 80.27, "_wandb": true}\n'
TRACKIO = "timestamp,gpu/0/utilization,gpu/0/power,gpu/0/allocated_memory\n2026-11-20T23:49:21.923,7,80.27,1\n"
NVITOP = "timestamp,m/cuda:0 (gpu:3)/gpu_utilization (%)/mean,m/cuda:0 (gpu:3)/memory_used (MiB)/mean\n1795218561.923,7,1024\n"
AT = 1795218561.923

TOOLS = [
    (telemetry, "gpu.csv", SMI, "0", {"time": AT, "power_w": 80.27, "utilization": 0.07, "memory_gib": 1.0, "throttle": 1}),
    (telemetry, "bare.csv", BARE, "0", {"time": AT, "power_w": 80.27, "utilization": 0.07, "memory_gib": 1.0, "throttle": 32}),
    (telemetry, "dmon.txt", DMON, "0", {"time": 0, "power_w": 80, "utilization": 0.07, "memory_activity": 0.03, "memory_gib": 1.0}),
    (telemetry, "dmon.log", DMON_TIMES, "0", {"time": int(AT), "power_w": 80, "utilization": 0.07, "memory_gib": 1.0}),
    (telemetry, "dcgmi.txt", DCGMI, "0", {"time": 0, "utilization": 0.07, "memory_activity": 0.03}),
    (telemetry, "query.json", QUERY, "a:0", {"time": 1795218561.9, "power_w": 80.27, "utilization": 0.07}),
    (telemetry, "gpu_printed.json", GPUSTAT, "0", {"time": AT, "power_w": 80, "utilization": 0.07, "memory_gib": 1.0, "temperature": 40}),
    (telemetry, "rocm.csv", ROCM, "0", {"time": 0, "utilization": 0.07, "memory_gib": 1.0}),
    (telemetry, "amd.csv", AMD, "0", {"time": int(AT), "utilization": 0.07, "memory_activity": 0.03, "power_w": 80, "temperature": 40}),
    (telemetry, "monitor.csv", AMD_MONITOR, "0", {"time": 0, "utilization": 0.07, "memory_gib": 1.0}),
    (telemetry, "wandb.csv", WANDB, "0", {"time": AT, "power_w": 80.27, "utilization": 0.07, "memory_activity": 0.03, "memory_gib": 1.0}),
    (telemetry, "events.jsonl", WANDB_LINES, "0", {"time": AT, "power_w": 80.27, "utilization": 0.07}),
    (telemetry, "trackio.csv", TRACKIO, "0", {"time": AT, "power_w": 80.27, "utilization": 0.07, "memory_gib": 1.0}),
    (telemetry, "nvitop.csv", NVITOP, "3", {"time": AT, "utilization": 0.07, "memory_gib": 1.0}),
]
MODULES = (telemetry,)


def written(folder: Path, name: str, text: str) -> Path:
    path = folder / name
    path.write_text(text)
    return path


@pytest.mark.parametrize(("module", "name", "text", "gpu", "expected"), TOOLS, ids=[t[1] for t in TOOLS])
def test_first_row_of_each_tool(module, name, text, gpu, expected, tmp_path):
    """The first row of a GPU says in our units what the tool printed, and only that tool's format claims the file."""
    path = written(tmp_path, name, text)
    assert [m for m in MODULES if m.claims(path)] == [module]
    rows = module.read(path).telemetry
    row = rows[rows["gpu"] == gpu].iloc[0]
    assert {key: row[key] for key in expected} == pytest.approx(expected, rel=1e-3)


@pytest.mark.parametrize(
    "text",
    [
        "step,loss\n1,0.5\n",
        "timestamp,loss\n2026/11/20 23:49:21.923,0.5\n",
        '{"step": 1, "gpu": 0.5, "_timestamp": 1}\n',
        "# a comment\nx: 1\n",
        "device,loss\n0,1\n",
        "",
    ],
)
def test_other_files_are_left_alone(text, tmp_path):
    """No telemetry format claims a file that only looks a little like one of theirs."""
    for name in ("a.csv", "a.jsonl", "a.txt"):
        assert [m.FORMAT for m in MODULES if m.claims(written(tmp_path, name, text))] == []


def test_missing_cells_are_missing_numbers(tmp_path):
    """What the tool could not read is NaN, not zero."""
    rows = telemetry.read(written(tmp_path, "gpu.csv", SMI)).telemetry
    assert np.isnan(rows.loc[rows["gpu"] == "1", "power_w"].iloc[0])


def test_damage_in_an_nvidia_smi_file(tmp_path):
    """A repeated header, an unreadable cell, a repeated row and a cut last line cost only themselves, and the cut line is told."""
    lines = SMI.splitlines()
    odd = lines[1].replace("23:49:21.923", "23:49:22.923").replace("7 %", "[Unknown Error]").replace("80.27 W", "eighty")
    text = "\n".join([*lines, lines[0], lines[1], odd, "2026/11/20 23:49"])
    run = telemetry.read(written(tmp_path, "gpu.csv", text))
    first = run.telemetry[run.telemetry["gpu"] == "0"]
    assert first["time"].tolist() == pytest.approx([AT, AT + 1])
    assert first["power_w"].isna().tolist() == [False, True]
    assert [gap.why for gap in run.gaps] == ["the last line is cut off and was left out"]


@pytest.mark.parametrize(("module", "name", "text"), [(t[0], t[1], t[2]) for t in TOOLS], ids=[t[1] for t in TOOLS])
def test_any_prefix_can_be_read(module, name, text, tmp_path):
    """A file cut anywhere after its header raises nothing; what can be read is read."""
    for cut in range(len(text) // 2, len(text), 23):
        path = written(tmp_path, name, text[:cut])
        if module.claims(path):
            assert set(module.read(path).telemetry.columns) >= {"time", "gpu"} or module.read(path).gaps


def test_a_row_too_long_with_broken_bytes_costs_itself(tmp_path, capfd):
    """What is too much in a row, and no text, is left out; its other cells and the rows around it stand, and nothing is printed."""
    path = tmp_path / "gpu.csv"
    rows = [f"2026/11/20 23:49:{second}.000, 0, {second} W".encode() for second in range(10, 16)]
    path.write_bytes(b"\n".join([b"timestamp, index, power.draw [W]", *rows[:3], rows[3] + b", \xb2\xff", *rows[4:], b""]))
    run = telemetry.read(path)
    assert run.telemetry["power_w"].tolist() == [10, 11, 12, 13, 14, 15]
    assert capfd.readouterr().err == ""


def test_tools_without_times_say_so(tmp_path):
    """Where times are assumed a gap tells the reader."""
    for module, name, text in ((telemetry, "a.txt", DMON), (telemetry, "b.txt", DCGMI), (telemetry, "c.csv", ROCM)):
        assert any("no times" in gap.why for gap in module.read(written(tmp_path, name, text)).gaps)


@pytest.mark.parametrize(("cell", "number"), [
    ("7", 7), ("7.25 W", 7.25), (" -1 MiB ", -1), ("1e3", 1000), ("0x10", 16), ("7%", 7), ("", np.nan), ("[N/A]", np.nan), ("x W", np.nan),
    ("7 W W", np.nan), ("1.5.2", np.nan), ("9" * 200, np.nan),
])  # fmt: skip
def test_what_a_cell_counts(cell, number):
    """Units and masks are read; what is no number is missing."""
    np.testing.assert_equal(gpu_counters.numbers([cell, "1 W"])[0], number)


def test_the_sharper_counter_counts_where_it_has_a_number(tmp_path):
    """Of two columns that mean the same the first in the table of names is taken, row by row."""
    text = "#Entity   GPUTL   GRACT\nID\nGPU 0     50      0.070\nGPU 0     60      N/A\n"
    rows = telemetry.read(written(tmp_path, "dcgmi.txt", text)).telemetry
    assert rows["utilization"].tolist() == pytest.approx([0.07, 0.6])
