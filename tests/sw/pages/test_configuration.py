import dataclasses

from pages.configuration import configuration_page

from celosia.arch.config import PRESETS, TpuConfig


def test_every_field_and_preset_is_on_the_page():
    page = configuration_page()
    for field in dataclasses.fields(TpuConfig):
        assert page.count(f"| `{field.name}` |") == 1 + (field.name != "name")
    for name, config in PRESETS.items():
        assert f"`{name}`" in page
        assert f"`{config.fingerprint:#010x}`" in page
    assert "a power of two, 2..256" in page
