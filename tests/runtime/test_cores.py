"""Row 30: cores are counted by affinity and by the share that cgroups of either version give."""

import pytest

import eventide
from eventide.runtime.cores import own_threads, usable_cores

V1 = "4:cpu,cpuacct:{path}\n3:memory:/elsewhere\n"


@pytest.fixture
def machine(tmp_path, monkeypatch):
    """A made-up machine of 8 cores: files by path below its root."""
    monkeypatch.setattr(eventide.runtime.cores, "allowed_cores", lambda: 8)

    def make(files):
        for path, content in files.items():
            (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
            (tmp_path / path).write_text(content)
        return tmp_path

    return make


@pytest.mark.parametrize(
    ("files", "cores"),
    [
        ({}, 8),
        ({"proc/self/cgroup": "0::/\n", "sys/fs/cgroup/cpu.max": "200000 100000\n"}, 2),
        ({"proc/self/cgroup": "0::/\n", "sys/fs/cgroup/cpu.max": "max 100000\n"}, 8),
        ({"proc/self/cgroup": "0::/\n", "sys/fs/cgroup/cpu.max": "150000 100000\n"}, 2),
        ({"proc/self/cgroup": "0::/\n", "sys/fs/cgroup/cpu.max": "20000 100000\n"}, 1),
        ({"proc/self/cgroup": "0::/\n", "sys/fs/cgroup/cpu.max": "6400000 100000\n"}, 8),
        ({"proc/self/cgroup": "0::/\n", "sys/fs/cgroup/cpu.max": "rubbish"}, 8),
        # the tightest of all groups above counts
        (
            {
                "proc/self/cgroup": "0::/user/job\n",
                "sys/fs/cgroup/user/job/cpu.max": "max 100000\n",
                "sys/fs/cgroup/user/cpu.max": "300000 100000\n",
                "sys/fs/cgroup/cpu.max": "500000 100000\n",
            },
            3,
        ),
        # inside a container the path is often the host's, and only the top can be read
        ({"proc/self/cgroup": "0::/docker/abc\n", "sys/fs/cgroup/cpu.max": "400000 100000\n"}, 4),
        (
            {
                "proc/self/cgroup": V1.format(path="/docker/abc"),
                "sys/fs/cgroup/cpu/cpu.cfs_quota_us": "200000\n",
                "sys/fs/cgroup/cpu/cpu.cfs_period_us": "50000\n",
            },
            4,
        ),
        (
            {
                "proc/self/cgroup": V1.format(path="/job"),
                "sys/fs/cgroup/cpu,cpuacct/job/cpu.cfs_quota_us": "100000\n",
                "sys/fs/cgroup/cpu,cpuacct/job/cpu.cfs_period_us": "100000\n",
                "sys/fs/cgroup/cpu,cpuacct/cpu.cfs_quota_us": "-1\n",
                "sys/fs/cgroup/cpu,cpuacct/cpu.cfs_period_us": "100000\n",
            },
            1,
        ),
        (
            {
                "proc/self/cgroup": V1.format(path="/"),
                "sys/fs/cgroup/cpu/cpu.cfs_quota_us": "-1\n",
                "sys/fs/cgroup/cpu/cpu.cfs_period_us": "100000\n",
            },
            8,
        ),
    ],
)
def test_the_share_of_a_container_counts(machine, files, cores):
    """Row 30: never more than the quota, never less than one."""
    assert usable_cores(machine(files)) == cores


def test_affinity_counts_too(machine, monkeypatch):
    """Row 30: a process that may use one core uses one, whatever the quota."""
    monkeypatch.setattr(eventide.runtime.cores, "allowed_cores", lambda: 1)
    files = {"proc/self/cgroup": "0::/\n", "sys/fs/cgroup/cpu.max": "400000 100000\n"}
    assert usable_cores(machine(files)) == 1


def test_no_one_asks_for_all_cores_of_the_machine():
    """Row 30: one function counts cores; all others ask it."""
    from pathlib import Path

    source = Path(eventide.__file__).parent
    asking = [
        path.relative_to(source).as_posix()
        for path in source.rglob("*.py")
        if "cpu_count" in path.read_text() or "getaffinity" in path.read_text()
    ]
    assert asking == ["runtime/cores.py"]


@pytest.mark.parametrize(("limit", "threads"), [("1", 1), ("3", 3), ("64", 8), ("0", 1), ("", 8)])
def test_a_worker_among_others_keeps_to_its_threads(monkeypatch, limit, threads):
    monkeypatch.setattr(eventide.runtime.cores, "usable_cores", lambda: 8)
    monkeypatch.setenv("POLARS_MAX_THREADS", limit)
    assert own_threads() == threads
