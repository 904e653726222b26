"""What a chip says about itself."""


from celosia.arch import registers
from celosia.arch.config import PRESETS, TpuConfig
from celosia.driver.errors import DeviceError
from celosia.driver.transport import Transport

__all__ = ["differences", "discover"]


def discover(transport: Transport) -> TpuConfig:
    """Read the configuration of a chip from its registers.

    Returns
    -------
    TpuConfig
        Named as the preset of the same fields, or "chip" where there is none.

    Raises
    ------
    DeviceError
        If there is no Celosia chip, its ISA is of another version, or its registers contradict
        each other.
    """
    def read(name: str) -> int:
        return transport.read_register(registers.BY_NAME[name].offset)

    magic = read("MAGIC")
    if magic != registers.MAGIC:
        raise DeviceError(f"register MAGIC must be {registers.MAGIC:#010x}, not {magic:#010x}: "
                          f"this is no Celosia chip")
    version = read("VERSION")
    if version != registers.ISA_VERSION:
        raise DeviceError(f"register VERSION must be {registers.ISA_VERSION}, not {version}: this "
                          f"driver is for another version of the ISA")
    formats = read("FORMATS")
    try:
        config = TpuConfig(
            "chip", dim=read("DIM"), int8=bool(formats & 1), bf16=bool(formats & 2),
            ub_rows=read("UB_ROWS"), acc_rows=read("ACC_ROWS"), bus_bytes=read("BUS_BYTES"),
            window=read("WINDOW"), ibuf=read("IBUF"), ports=formats >> 8)
    except ValueError as error:
        raise DeviceError(f"the registers must describe a chip, but {error}") from None
    fingerprint = read("FINGERPRINT")
    if fingerprint != config.fingerprint:
        raise DeviceError(f"register FINGERPRINT must be {config.fingerprint:#010x} as the other "
                          f"registers say, not {fingerprint:#010x}")
    for known in PRESETS.values():
        if known.fingerprint == fingerprint:
            return known
    return config


def differences(fingerprint: int, config: TpuConfig) -> str:
    """Say what tells the chip of a fingerprint from ``config``, as far as that is known."""
    for known in PRESETS.values():
        if known.fingerprint == fingerprint:
            return f"preset {known.name} with {known.differences(config)}"
    return f"one with fingerprint {fingerprint:#010x} (here {config.fingerprint:#010x})"
