"""Profiles in the formats of other people's viewers."""

from celosia.profile.exports.konata import konata
from celosia.profile.exports.perfetto import perfetto
from celosia.profile.exports.stacks import stacks

__all__ = ["konata", "perfetto", "stacks"]
