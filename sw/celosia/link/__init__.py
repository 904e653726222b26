"""The host link: a chip at the other end of a serial wire."""

from celosia.link.errors import DeviceLost
from celosia.link.host import Link
from celosia.link.transport import LinkTransport

__all__ = ["DeviceLost", "Link", "LinkTransport"]
