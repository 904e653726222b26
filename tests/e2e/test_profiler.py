"""What JAX's profiler sees of the chips."""

import pytest

from e2e.pjrt_process import run

pytestmark = pytest.mark.extra(name="jax", default=True)


def test_a_trace_has_the_runs_of_each_chip(tmp_path):
    run(f"""
        import pathlib
        from jax.profiler import ProfileData, ProfileOptions, trace
        options = ProfileOptions()
        options.python_tracer_level = 0
        f = jax.jit(lambda a, b: jnp.tanh(a @ b) @ b)
        xs = [jax.device_put(jnp.ones((64, 64)), each) for each in jax.devices()]
        jax.block_until_ready([f(x, x) for x in xs])  # before the trace: it is not in there
        for count in (3, 1):  # a session after another one
            with trace({str(tmp_path)!r} + f"/{{count}}", profiler_options=options):
                for _ in range(count):
                    jax.block_until_ready([f(x, x) for x in xs])
            [path] = pathlib.Path({str(tmp_path)!r}, str(count)).rglob("*.xplane.pb")
            planes = {{plane.name: plane for plane in ProfileData.from_file(str(path)).planes}}
            for chip in range(2):
                lines = {{each.name: list(each.events)
                         for each in planes[f"/device:TPU:{{chip}}"].lines}}
                runs = [each for each in lines["XLA Modules"] if "lambda" in each.name]
                assert len(runs) == count, runs
                assert len({{each.duration_ns for each in runs}}) == 1
                assert len(lines["Steps"]) == count
                spent = sum(each.duration_ns for each in lines["XLA Ops"])
                assert abs(spent - sum(e.duration_ns for e in lines["XLA Modules"])) < 1
                assert any("tanh" in each.name for each in lines["XLA Ops"])
        with trace({str(tmp_path)!r} + "/none", profiler_options=options):
            pass

        # What a program is expected to cost
        compiled = f.lower(xs[0], xs[0]).compile()
        cost = compiled.cost_analysis()
        assert cost["flops"] == 2 * 2 * 64 ** 3
        assert cost["cycles"] * 10 == runs[0].duration_ns
        assert abs(cost["optimal_seconds"] * 1e9 - runs[0].duration_ns) < 1
        assert cost["bytes accessed"] >= 3 * 64 * 64 * 4
        memory = compiled.memory_analysis()
        assert memory.argument_size_in_bytes == 2 * 64 * 64 * 4
        assert memory.output_size_in_bytes == 64 * 64 * 4
        assert memory.alias_size_in_bytes == 0
        assert memory.generated_code_size_in_bytes % 32 == 0
        over = jax.jit(lambda a: a * 2, donate_argnums=0).lower(xs[0]).compile()
        assert over.memory_analysis().alias_size_in_bytes == 64 * 64 * 4
    """, DEVICES="2")


@pytest.mark.parametrize(("asked", "found"), [("", 100), ("5", 5)], ids=["default", "asked"])
def test_places_have_the_calls_as_far_as_the_user(asked, found):
    """Frameworks are deep: JAX keeps ten calls by itself, and the user's line would be lost."""
    run(f"""
        if {asked!r}:
            jax.config.update("jax_traceback_in_locations_limit", int({asked!r}))
        jax.devices()
        assert jax.config.jax_traceback_in_locations_limit == {found}
    """)
