"""The same program as text, bytecode, portable artifact and file; sources and names."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import lax
from jaxlib.mlir.dialects import stablehlo
from through_jax import bytecode, graph_of, text_of

from celosia.frontend import import_stablehlo
from celosia.graph import SOURCED, DType, TensorType, check, fingerprint, interpret

X, W = np.ones((2, 3), np.float32), np.full((3, 4), 0.5, np.float32)


def layer(x, w):
    return jnp.tanh(x @ w) + 1


def portable(lowered):
    return stablehlo.serialize_portable_artifact_str(lowered.as_text(),
                                                     stablehlo.get_minimum_version())


def test_every_form_gives_one_graph(tmp_path):
    lowered = jax.jit(layer).lower(X, W)
    text = lowered.as_text()
    path = tmp_path / "layer.mlir"
    path.write_text(text)
    binary = tmp_path / "layer.mlirbc"
    binary.write_bytes(bytecode(lowered))
    forms = [text, text.encode(), bytecode(lowered), portable(lowered), path, binary]
    graphs = [import_stablehlo(form) for form in forms]
    assert len({fingerprint(graph) for graph in graphs}) == 1
    for graph in graphs:
        np.testing.assert_allclose(interpret(graph, [X, W])[0], np.tanh(X @ W) + 1, 1e-2)


def test_sources_are_lines_of_the_python_program():
    graph = graph_of(layer, X, W)
    check(graph, SOURCED)
    [dot] = [node for node in graph.nodes if node.op == "dot"]
    assert dot.source.file == __file__
    assert dot.source.name == "jit(layer)/dot_general"
    with open(__file__, encoding="utf-8") as lines:
        assert "x @ w" in list(lines)[dot.source.line - 1]
    assert [value.node.attrs["name"] for value in graph.params] == ["x", "w"]


def test_sources_without_locations_are_lines_of_the_text(tmp_path):
    text = jax.jit(layer).lower(X, W).as_text()
    path = tmp_path / "layer.mlir"
    path.write_text(text)
    for graph, name in ((import_stablehlo(path), str(path)),
                        (import_stablehlo(text), "<stablehlo>"),
                        (import_stablehlo(text, filename="a.mlir"), "a.mlir")):
        [dot] = [node for node in graph.nodes if node.op == "dot"]
        assert dot.source.file == name
        assert "dot_general" in text.splitlines()[dot.source.line - 1]


def test_names_follow_the_structure_of_arguments():
    graph = import_stablehlo(text_of(lambda params, x: x @ params["w"], {"w": W}, X))
    assert [value.node.attrs["name"] for value in graph.params] == ["params['w']", "x"]


def test_donated_parameters_are_marked():
    lowered = jax.jit(lambda x, y: (x + y, y * 2), donate_argnums=0).lower(X, X)
    graph = import_stablehlo(bytecode(lowered))
    assert [value.node.attrs["donated"] for value in graph.params] == [True, False]


def test_parameter_that_nothing_uses_stays():
    graph = import_stablehlo("""func.func @f(%a: tensor<2xf32>, %b: tensor<i32>) -> tensor<i32> {
      return %b : tensor<i32>
    }""")
    assert [value.type for value in graph.params] == [TensorType(DType.F32, (2,)),
                                                      TensorType(DType.I32)]
    assert graph.name == "f"
    assert graph.outputs == (graph.params[1],)


def test_composite_is_what_it_is_made_of():
    scale = lax.composite(lambda x: x * 3, name="my.scale")
    graph = graph_of(lambda x: scale(x) + 1, X)
    assert [node.op for node in graph.nodes].count("multiply") == 1


def test_a_composite_named_after_an_error_function_is_that_function():
    def named(name, x):
        return lax.composite(lambda x: x * 3, name=name)(x)

    graph = graph_of(lambda x: named("chlo.erfc", x), X)
    assert [node.op for node in graph.nodes] == ["parameter", "erfc"]
    # Neither of two arrays, nor another function.
    two = lax.composite(lambda x, y: x * y, name="chlo.erfc")
    for function in (lambda x: two(x, x), lambda x: named("chlo.asin", x)):
        operations = [node.op for node in graph_of(function, X).nodes]
        assert "multiply" in operations
        assert "erfc" not in operations


def test_operations_of_xlas_own_dialect_are_those_of_the_graph():
    graph = import_stablehlo("""func.func @f(%x: tensor<2xf32>) -> tensor<2xf32> {
      %0 = "mhlo.copy"(%x) : (tensor<2xf32>) -> tensor<2xf32>
      %1 = "mhlo.erf"(%0) : (tensor<2xf32>) -> tensor<2xf32>
      return %1 : tensor<2xf32>
    }""")
    assert [node.op for node in graph.nodes] == ["parameter", "erf"]


@pytest.mark.parametrize("name", ["erf", "erfc", "erf_inv"])
def test_error_functions_stay_beside_what_is_written_out(name):
    function = getattr(lax, name)
    operations = [node.op for node in graph_of(lambda x: function(lax.sinh(x)), X).nodes]
    assert operations.count(name) == 1
    assert "exp" in operations


def test_equal_elements_are_stored_once():
    graph = graph_of(lambda x: x + jnp.full((500, 500), 2.0), np.ones((500, 500), np.float32))
    assert max(node.attrs["value"].type.size for node in graph.nodes
               if node.op == "constant") == 1


def test_counting_of_the_random_generator_is_folded():
    graph = graph_of(lambda key: jax.random.bits(key, (64, 128)), jax.random.PRNGKey(0))
    assert max(node.attrs["value"].type.size for node in graph.nodes
               if node.op == "constant") <= 4
    assert all(not type.dtype.is_wide for node in graph.nodes for type in node.types)


def test_invariants_of_a_loop_go_around_it():
    def f(x, w):
        return lax.fori_loop(0, 3, lambda i, x: jnp.tanh(x @ w), x)

    graph = graph_of(f, np.ones((2, 2), np.float32), np.ones((2, 2), np.float32))
    [loop] = [node for node in graph.nodes if node.op == "while"]
    body = loop.regions[1]
    invariant = [i for i, value in enumerate(body.params) if body.outputs[i] == value]
    assert [loop.operands[i] for i in invariant] == [graph.params[1]]


@pytest.mark.parametrize("layers", [30])
def test_import_is_quick(layers):
    def deep(x, ws):
        for i in range(layers):
            x = jax.nn.gelu(jax.nn.softmax(x @ ws[i]))
        return x.sum()

    lowered = jax.jit(jax.grad(deep, 1)).lower(np.ones((4, 4), np.float32),
                                               np.ones((layers, 4, 4), np.float32))
    graph = import_stablehlo(bytecode(lowered))
    assert len(graph.nodes) > 20 * layers
