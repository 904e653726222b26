"""Modules that are built with a harness of their own: what is made, and when."""

import pytest

from celosia_sim import module


@pytest.fixture
def built(monkeypatch, tmp_path):
    """The calls of what would translate and compile, which it notes in files."""
    monkeypatch.setenv("CELOSIA_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(module, "tool_identity", lambda: {"verilator": "5"})
    calls = []

    def verilate(text, work, **options):
        (work / "cpp").mkdir()
        calls.append(("verilate", text, options))
        return [work / "cpp" / "top.cpp"]

    def compile_chip(sources, work, *, include):
        header = next((work / "cpp").glob("*.h"))
        calls.append(("compile", [path.name for path in sources], header.name,
                      header.read_text(), include))
        return [work / "top.o"]

    def link(path, objects, log):
        path.write_text(" ".join(each.name for each in objects))

    monkeypatch.setattr(module, "verilate", verilate)
    monkeypatch.setattr(module, "compile_chip", compile_chip)
    monkeypatch.setattr(module, "link", link)
    monkeypatch.setattr(module, "runtime_objects", lambda: [tmp_path / "runtime.o"])
    harness = [tmp_path / "one" / "pins.cpp", tmp_path / "one" / "pins.h",
               tmp_path / "two" / "more.h"]
    for path in harness:
        path.parent.mkdir(exist_ok=True)
        path.write_text(path.name)

    def build(text="module top; endmodule", config="#define X 1\n", **options):
        calls.clear()
        return module.build_module("pins", text, harness, config, top="top", prefix="Vtop",
                                   **options)

    return build, calls, harness


def test_a_module_is_made_once(built):
    build, calls, harness = built
    said = []
    found = build(extra=["--x"], before=lambda: said.append("building"))
    assert (found.name, found.read_text()) == ("pins.so", "top.o runtime.o")
    assert [path.name for path in found.parent.iterdir() if path.is_dir()] == []
    assert calls == [
        ("verilate", "module top; endmodule",
         {"top": "top", "prefix": "Vtop", "extra": ["--x"], "beside": harness[:1]}),
        ("compile", ["top.cpp"], "pins_config.h", "#define X 1\n",
         [harness[0].parent, harness[2].parent])]
    assert said == ["building"]
    assert build(extra=["--x"], before=lambda: said.append("again")) == found
    assert (calls, said) == ([], ["building"])


@pytest.mark.parametrize("change", [
    {"text": "module top; wire a; endmodule"}, {"config": "#define X 2\n"}, {"extra": ["--y"]}],
    ids=["Verilog", "parameters", "options"])
def test_what_it_is_made_of_decides_whether_it_is_made_again(built, change):
    build, calls, harness = built
    first = build()
    assert build(**change) != first
    assert len(calls) == 2
    harness[2].write_text("changed")
    assert build() != first
    assert len(calls) == 2


def test_ports_that_verilator_writes_another_way_have_their_names():
    assert module.port_names(
        "module top(a__b, c_d, e__f);\n  input wire a__b;\n  output [3:0] e__f;\n"
        "  input c_d;\n  wire x__y;\n") == (
        "#define a__b a___05Fb\n#define e__f e___05Ff\n")
