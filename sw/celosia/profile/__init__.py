"""Profiles: where the cycles of a program go, why, and what could be gained."""

from celosia.profile.folder import save, save_difference, save_page
from celosia.profile.measure import against, measure
from celosia.profile.profile import Gain, Profile, compare, profile
from celosia.profile.record import PathPart, Record
from celosia.profile.verdict import facts, text

__all__ = ["Gain", "PathPart", "Profile", "Record", "against", "compare", "facts", "measure",
           "profile", "save", "save_difference", "save_page", "text"]
