import numpy as np
import pytest

from celosia.pjrt.protobuf import CompileOptions, device_assignment


def options(replicas, partitions, devices=None):
    from jaxlib import xla_client

    made = xla_client.CompileOptions()
    build = made.executable_build_options
    build.num_replicas, build.num_partitions = replicas, partitions
    if devices is not None:
        build.device_assignment = xla_client.DeviceAssignment.create(np.array(devices))
    return made.SerializeAsString()


@pytest.mark.parametrize(("replicas", "partitions", "devices", "wanted"), [
    (1, 1, None, ()),
    (1, 1, [[3]], ((3,),)),
    (1, 4, [[3, 5, 7, 200]], ((3,), (5,), (7,), (200,))),
    (2, 2, [[0, 1], [2, 3]], ((0, 2), (1, 3))),
])
def test_compile_options_as_jaxlib_writes_them(replicas, partitions, devices, wanted):
    found = CompileOptions.parse(options(replicas, partitions, devices))
    assert found == CompileOptions(replicas, partitions, wanted)


@pytest.mark.parametrize("cut", [1, 3, 5])
def test_damaged_options(cut):
    with pytest.raises(ValueError, match=r"must be a whole message|must end in the message"):
        CompileOptions.parse(options(1, 1, [[3]])[:cut])


def test_device_assignment_as_jaxlib_writes_it():
    from jaxlib import xla_client

    devices = [[3, 5, 7, 200], [1, 2, 6, 8]]
    wanted = xla_client.DeviceAssignment.create(np.array(devices)).serialize()
    assert device_assignment(list(zip(*devices, strict=True))) == wanted
