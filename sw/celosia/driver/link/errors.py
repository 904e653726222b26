"""What can go wrong on the wire."""

from celosia.driver.errors import DeviceError

__all__ = ["DeviceLost"]


class DeviceLost(DeviceError):
    """The board does not answer any more, or has forgotten this host: the link must be opened
    anew.
    """
