import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import torch

from fabula.errors import InputError
from fabula.models.model import load_model
from fabula.research.reproduce import reproduce
from fabula.research.splits import Recipe
from fabula.research.train import train_recipe
from fabula.training.distributed import World, pick_device, same_everywhere

COMMAND = """
import os, sys
from fabula.cli import run
from fabula.models.model import save_model
from fabula.training.item_models import EssenceTraining

rank, plain = int(os.environ["RANK"]), EssenceTraining.train

def train(self, **options):
    done = plain(self, **options)
    save_model(f"{sys.argv[1]}/rank{rank}-{len(done.history)}.safetensors", done.model)
    return done

EssenceTraining.train = train
os.chdir(f"{sys.argv[1]}/disk{rank}")
sys.exit(run(sys.argv[2:]))
"""


SETS = """
import os, sys
from fabula.cli import run
from fabula.models.model import save_model
from fabula.training.sets import SetTraining

rank, plain = int(os.environ["RANK"]), SetTraining.train

def train(self, **options):
    done = plain(self, **options)
    save_model(f"{sys.argv[1]}/rank{rank}.safetensors", done.model)
    return done

SetTraining.train = train
os.chdir(f"{sys.argv[1]}/disk{rank}")
sys.exit(run(sys.argv[2:]))
"""


def under_torchrun(script, folder, *arguments):
    """Run a script in two processes on the CPU; its output."""
    path = folder / "script.py"
    path.write_text(script)
    source = Path(__file__).parents[2] / "src"
    environment = {**os.environ, "PYTHONPATH": str(source), "OMP_NUM_THREADS": "1"}
    command = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node=2", str(path)]
    done = subprocess.run(
        [*command, str(folder), *map(str, arguments)], env=environment, capture_output=True, text=True, timeout=120
    )
    assert done.returncode == 0, done.stderr[-2000:]
    return done.stdout


@pytest.mark.slow
@pytest.mark.timeout(240)
def test_the_first_process_alone_resumes_writes_and_prints(tmp_path, monkeypatch):
    """The checkpoint lies on the disk of the last process, the table on that of the first; neither has both."""
    rng = np.random.default_rng(0)
    lines = ["album_id,position,rise,noise"]
    for album in range(60):
        rise = np.sort(rng.normal(size=5))
        lines += [f"{album},{j + 1},{rise[j]:.4f},{rng.normal():.4f}" for j in range(5)]
    for rank in range(2):
        (tmp_path / f"disk{rank}").mkdir()
    (tmp_path / "disk0" / "t.csv").write_text("\n".join(lines) + "\n")
    monkeypatch.chdir(tmp_path / "disk0")
    changes = {"scorers": ("arcs",), "epochs": 6, "batch": 16, "features": ("rise", "noise"), "logged": ()}

    def interrupt(where):
        if where.epoch == 4:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        train_recipe(Recipe(Path("t.csv"), {}, changes=changes, device="cpu"), "m.safetensors", progress=interrupt)
    Path("m.checkpoint").rename(tmp_path / "disk1" / "m.checkpoint")
    options = ["--features", "rise,noise", "--set", "logged=[]", "--scorers", "arcs", "--epochs", 6, "--batch", 16]
    out = under_torchrun(COMMAND, tmp_path, "train", "t.csv", *options, "--device", "cpu", "-o", "m.safetensors")
    assert out.count("written: m.safetensors") == 1
    assert out.count("trained on") == 1
    assert sorted(path.name for path in (tmp_path / "disk0").iterdir()) == ["m.safetensors", "t.csv"]
    assert not list((tmp_path / "disk1").iterdir())
    one, two = (load_model(tmp_path / f"rank{rank}-6.safetensors") for rank in range(2))
    assert one.training["processes"] == 2
    assert one.card["bits"]["arcs"]["low"] > 0.1
    assert one.training == two.training
    assert all(np.array_equal(one.tensors[name], two.tensors[name]) for name in one.tensors)
    assert load_model("m.safetensors").training == one.training
    options = ["--features", "rise,noise", "--scorers", "arcs", "--epochs", 1, "--seeds", 1, "--device", "cpu"]
    out = under_torchrun(COMMAND, tmp_path, "compare", "t.csv", *options, "-o", "c.csv")  # three trainings in a row
    assert out.count("95 % interval") == 1
    assert (tmp_path / "disk0" / "c.csv").exists()
    assert not (tmp_path / "disk1" / "c.csv").exists()


@pytest.mark.slow
@pytest.mark.timeout(240)
def test_two_processes_train_one_set_model(tmp_path):
    rng = np.random.default_rng(0)
    lines = ["album_id,position,track_name,rise"]
    for album in range(60):
        rise = np.sort(rng.normal(size=5))
        lines += [f"{album},{j + 1},{'Intro' if j == 0 else f'Song {album}'},{rise[j]:.4f}" for j in range(5)]
    for rank in range(2):
        (tmp_path / f"disk{rank}").mkdir()
    (tmp_path / "disk1" / "t.csv").write_text("\n".join(lines) + "\n")
    sizes = [f"--set={name}={size}" for name, size in (("dimensions", 4), ("width", 16), ("layers", 1), ("heads", 2))]
    options = ["--titles", "track_name", "--features", "rise", "--epochs", 8, "--batch", 15, *sizes, "--device", "cpu"]
    out = under_torchrun(SETS, tmp_path, "train", "t.csv", *options, "-o", "m.safetensors")
    assert out.count("written: m.safetensors") == 1
    one, two = (load_model(tmp_path / f"rank{rank}.safetensors") for rank in range(2))
    assert one.training["processes"] == 2
    assert all(np.array_equal(one.tensors[name], two.tensors[name]) for name in one.tensors)
    assert one.training["best epoch"]["bits"] > 0.5
    assert [path.name for path in (tmp_path / "disk0").iterdir()] == ["m.safetensors"]


def test_all_processes_must_read_the_same(monkeypatch):
    world = World(0, 2, torch.device("cpu"))
    monkeypatch.setattr(World, "gather", lambda self, value: [value, "other"])
    with pytest.raises(InputError, match="processes 0 and 1 have read different collections"):
        same_everywhere(world, "mine")


def test_alone_a_process_asks_itself():
    alone = World(0, 1, torch.device("cpu"))
    assert alone.rank == 0
    assert alone.share_from(0, lambda: 3) == 3
    assert alone.gather([1.5]) == [[1.5]]


def test_a_reproduction_is_not_shared_out_by_torchrun(tmp_path, monkeypatch):
    monkeypatch.setenv("WORLD_SIZE", "2")
    with pytest.raises(InputError, match="start it without torchrun"):
        reproduce(tmp_path / "t.csv", tmp_path / "out")


def test_a_batch_is_shared_out_whole():
    rows = torch.arange(7)
    parts = [World(rank, 3, torch.device("cpu")).share(rows) for rank in range(3)]
    assert sorted(torch.cat(parts).tolist()) == list(range(7))
    assert max(map(len, parts)) - min(map(len, parts)) <= 1


def test_devices_by_name():
    assert pick_device("cpu") == torch.device("cpu")
    assert pick_device("auto").type == ("cuda" if torch.cuda.is_available() else "cpu")
    with pytest.raises(InputError, match="got 'gpu'"):
        pick_device("gpu")


@pytest.mark.skipif(torch.cuda.is_available(), reason="needs a machine without a GPU")
def test_a_missing_gpu_is_told():
    with pytest.raises(InputError, match="this machine has no GPU that PyTorch can use"):
        pick_device("cuda")
