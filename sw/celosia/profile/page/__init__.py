"""The page of a profile: one HTML file that needs no network."""

from celosia.profile.page.html import difference, page

__all__ = ["difference", "page"]
