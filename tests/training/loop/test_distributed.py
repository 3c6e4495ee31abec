import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import torch
from safetensors.numpy import load_file

from fabula.errors import InputError
from fabula.training.loop.distributed import World, pick_device

SCRIPT = """
import os, sys
import numpy as np
import torch
from fabula.core.collection import Collection, Item
from fabula.models.file import save_model
from fabula.training.config import TrainingConfig
from fabula.training.trainer import train

torch.set_num_threads(1)
rng = np.random.default_rng(0)
rows = rng.normal(size=(91, 5, 2)) + np.linspace(-2, 2, 5)[:, None]
items = [Item(str(j)) for j in range(5)]
albums = [Collection(str(i), items, row, ["energy", "loudness"]) for i, row in enumerate(rows)]
config = TrainingConfig(scorers=("arcs",), widths=(8,), batch=15, epochs=8, learning_rate=0.03)
done = train(albums[:61], albums[61:], config, device="cpu")
save_model(f"{sys.argv[1]}/rank{os.environ.get('RANK', 0)}.safetensors", done.model)
"""


@pytest.mark.slow
@pytest.mark.timeout(240)
def test_two_processes_train_one_model(tmp_path):
    script = tmp_path / "script.py"
    script.write_text(SCRIPT)
    source = Path(__file__).parents[3] / "src"
    environment = {**os.environ, "PYTHONPATH": str(source), "OMP_NUM_THREADS": "1"}
    command = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node=2", str(script)]
    done = subprocess.run([*command, str(tmp_path)], env=environment, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr[-2000:]
    one, two = (load_file(tmp_path / f"rank{rank}.safetensors") for rank in range(2))
    assert all(np.array_equal(one[name], two[name]) for name in one)
    from fabula.models.file import load_model

    model = load_model(tmp_path / "rank0.safetensors")
    assert model.card["bits"]["arcs"]["low"] > 1.0
    assert model.training["processes"] == 2


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
