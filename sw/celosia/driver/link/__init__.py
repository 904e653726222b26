"""The host link: a chip at the other end of a serial wire."""

from celosia.driver.link.errors import DeviceLost
from celosia.driver.link.host import Link
from celosia.driver.link.transport import LinkTransport

__all__ = ["DeviceLost", "Link", "LinkTransport"]
