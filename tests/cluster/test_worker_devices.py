"""Who trains on which device, with the GPUs of a machine that has none: torch is told it has some."""

import threading
from contextlib import nullcontext

import pytest
import torch
from torch import distributed

from eventide.cluster import distributed as distributed_work
from eventide.cluster import train_worker
from eventide.cluster.ray_session import RayOptions
from eventide.cluster.train_worker import TrainingRequest, group
from eventide.cluster.worker_devices import agreed_device, local_device, takes_gpus
from eventide.errors import BadSetting


@pytest.fixture
def gpus(monkeypatch):
    """Let torch say that there are so many GPUs."""

    def pretend(count):
        monkeypatch.setattr(torch.cuda, "is_available", lambda: count > 0)
        monkeypatch.setattr(torch.cuda, "device_count", lambda: count)

    return pretend


@pytest.fixture
def as_worker(monkeypatch):
    """Be a worker that torchrun started: number so-and-so of so many on this machine."""

    def be(rank, workers):
        monkeypatch.setenv("LOCAL_RANK", str(rank))
        monkeypatch.setenv("LOCAL_WORLD_SIZE", str(workers))

    return be


@pytest.mark.parametrize(
    ("name", "there", "expected"),
    [
        ("auto", 0, "cpu"),
        ("auto", 2, "cuda:1"),
        ("cuda", 4, "cuda:1"),
        ("cpu", 4, "cpu"),
    ],
)
def test_each_worker_has_a_gpu_of_its_own_or_none_has(gpus, as_worker, name, there, expected):
    gpus(there)
    as_worker(1, 2)
    assert local_device(name) == torch.device(expected)


@pytest.mark.parametrize(
    ("name", "workers", "there", "words"),
    [
        ("auto", 3, 2, "3 workers need a GPU each, and there are 2"),
        ("cuda", 2, 0, "2 workers need a GPU each, and there are 0"),
        ("cuda:1", 2, 4, "cannot all train on cuda:1"),
        ("meta", 2, 0, "not on meta"),
        ("mps", 2, 0, "float64"),
    ],
)
def test_what_cannot_be_is_refused(name, workers, there, words):
    with pytest.raises(BadSetting, match=words) as refused:
        takes_gpus(name, workers, there)
    assert refused.value.next_step


def agreed(monkeypatch, devices):
    """What workers on these devices are told by one another; None is a worker that is refused."""
    store, told = distributed.HashStore(), {}

    def local(_):
        device = devices[int(threading.current_thread().name)]
        if device is None:
            raise BadSetting("too few GPUs", next_step="fewer")
        return torch.device(device)

    def ask(rank):
        try:
            told[rank] = str(agreed_device("auto", store, rank, len(devices)))
        except BadSetting as error:
            told[rank] = str(error)

    monkeypatch.setattr("eventide.cluster.worker_devices.local_device", local)
    asking = [threading.Thread(target=ask, args=(k,), name=str(k)) for k in range(len(devices))]
    for each in asking:
        each.start()
    for each in asking:
        each.join(20)
    return [told[rank] for rank in range(len(devices))]


def test_workers_agree_before_they_meet(monkeypatch):
    assert agreed(monkeypatch, ["cuda:0", "cuda:1"]) == ["cuda:0", "cuda:1"]
    for each in agreed(monkeypatch, ["cuda:0", "cpu"]):
        assert "some cannot" in each
    first, second = agreed(monkeypatch, [None, "cuda:0"])
    assert "too few GPUs" in first
    assert "some cannot" in second


@pytest.mark.parametrize(("there", "backend"), [(0, "gloo"), (2, "nccl")])
def test_the_group_talks_by_what_its_devices_ask_for(monkeypatch, gpus, as_worker, there, backend):
    gpus(there)
    as_worker(1, 2)
    store, met, chosen = distributed.HashStore(), [], []
    store.set("0/device/0", "cuda" if there else "cpu")
    monkeypatch.setattr(distributed, "is_torchelastic_launched", lambda: True)
    monkeypatch.setattr(train_worker, "rendezvous", lambda _: iter([(store, 1, 2)]))
    monkeypatch.setattr(torch.cuda, "set_device", chosen.append)
    monkeypatch.setattr(
        distributed, "init_process_group", lambda name, **more: met.append((name, more))
    )
    monkeypatch.setattr(distributed, "destroy_process_group", lambda: None)
    monkeypatch.delenv(train_worker.RESTARTED, raising=False)
    with group("auto") as share:
        device = torch.device("cuda:1" if there else "cpu")
        assert (share.rank, share.size, share.device) == (1, 2, device)
    ((name, more),) = met
    assert name == backend
    assert more["device_id"] == (device if there else None)
    assert chosen == ([device] if there else [])


def test_a_worker_of_ray_stays_on_the_gpu_that_ray_chose(monkeypatch):
    for name, answer in (
        ("is_initialized", True),
        ("get_rank", 1),
        ("get_world_size", 2),
        ("get_backend", "nccl"),
    ):
        monkeypatch.setattr(distributed, name, lambda answer=answer: answer)
    monkeypatch.setattr(torch.cuda, "current_device", lambda: 3)
    with group("auto") as share:
        assert share.device == torch.device("cuda:3")
    monkeypatch.setattr(distributed, "get_backend", lambda: "gloo")
    with group("auto") as share:
        assert share.device == torch.device("cpu")


@pytest.mark.parametrize(
    ("gpus", "device", "backend"),
    [(0, "auto", "gloo"), (2, "auto", "nccl"), (2, "cuda", "nccl"), (2, "cpu", "gloo")],
)
def test_ray_is_asked_for_a_gpu_for_each_worker(on_a_cluster, gpus, device, backend):
    asked = on_a_cluster(gpus, device, workers=2)
    assert asked["torch_config"].backend == backend
    scaling = asked["scaling_config"]
    assert (scaling.num_workers, scaling.use_gpu) == (2, backend == "nccl")
    needs = {"CPU": 1.0} | ({"GPU": 1.0} if backend == "nccl" else {})
    assert scaling.resources_per_worker == needs


def test_a_cluster_without_room_is_told_before_ray_waits_for_ever(on_a_cluster):
    with pytest.raises(BadSetting, match="3 workers need a GPU each, and there are 2"):
        on_a_cluster(2, "auto", workers=3)
    with pytest.raises(BadSetting, match="room for 4 workers, not for 5"):
        on_a_cluster(0, "auto", workers=5)


@pytest.fixture
def on_a_cluster(monkeypatch, tmp_path):
    """Train on a cluster of 4 cores and so many GPUs that is not there; what Ray was asked for."""
    ray = pytest.importorskip("ray", reason="Ray is not installed")
    torch_side = pytest.importorskip("ray.train.torch")

    def run(gpus, device, workers):
        asked = {}

        class Trainer:
            def __init__(self, _, **given):
                asked.update(given)

            def fit(self):
                pass

        monkeypatch.setattr(torch_side, "TorchTrainer", Trainer)
        monkeypatch.setattr(ray, "cluster_resources", lambda: {"CPU": 4.0, "GPU": float(gpus)})
        monkeypatch.setattr(
            distributed_work, "ray_session", lambda options, most: nullcontext(min(most, 4))
        )
        given = {"encoder": "tfidf-svd:8", "training__device": device}
        request = TrainingRequest(str(tmp_path), given, str(tmp_path / "model"), None)
        distributed_work.launch_ray(request, workers, RayOptions())
        return asked

    return run
