"""`isogrid explain` and `isogrid devices` on a machine with a (simulated) GPU."""

import pytest

import isogrid as ig
from isogrid.cli.explain import explanation
from isogrid.launch.backends import runtime
from tests.arrays import kernels as k
from tests.cuda.fake_gpu import fake_gpu


@pytest.mark.parametrize(("kernel", "says"), [(k.saxpy, "nothing is copied"), (k.gather, "put back behind it")])
def test_explain_shows_what_a_kernel_takes_of_the_gpu(kernel: ig.Kernel, says: str) -> None:
    with fake_gpu():
        text = explanation(kernel)
    section = text[text.index("== on cuda") :]
    for words in ("24 a thread", "128 bytes a block", "% of its 2048 threads", says):
        assert words in section
    assert "== on cuda" not in explanation(kernel) or ig.devices().absent == {}


def test_devices_lists_every_gpu() -> None:
    from tests.cuda.fake_driver import FakeDriver

    with fake_gpu(FakeDriver(devices=2)):
        assert [device.name for device in ig.devices()][:4] == ["cpu", "interp", "cuda", "cuda:1"]
        assert ig.device("cuda:0") == ig.device("cuda") and ig.device("cuda:1").name == "cuda:1"
        with pytest.raises(ig.DeviceError, match=r"there is no device 'cuda:2'; there are cuda, cuda:1"):
            ig.device("cuda:2")
        description = getattr(runtime("cuda:1"), "description", "")
        assert description == "Simulated GPU 1, compute capability 9.0, 1024 MiB, driver speaks CUDA 13.0"
