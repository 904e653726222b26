"""What is read of modules, and changed in them."""

from celosia.frontend import import_stablehlo
from celosia.frontend.stablehlo.reader import called, chain_collectives, read_module, source_of
from celosia.frontend.tensorflow import _location
from celosia.graph import Source

TEXT = """module @two {
func.func public @main(%x: tensor<4xf32>, %y: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
 %b = "stablehlo.all_reduce"(%y) ({
 ^bb0(%l: tensor<f32>, %r: tensor<f32>):
  %s = stablehlo.add %l, %r : tensor<f32>
  stablehlo.return %s : tensor<f32>
 }) {replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>} : (tensor<4xf32>) -> tensor<4xf32>
 %a = "stablehlo.all_reduce"(%x) ({
 ^bb0(%l: tensor<f32>, %r: tensor<f32>):
  %s = stablehlo.add %l, %r : tensor<f32>
  stablehlo.return %s : tensor<f32>
 }) {replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>} : (tensor<4xf32>) -> tensor<4xf32>
 return %a, %b : tensor<4xf32>, tensor<4xf32>
}
}"""


def test_collectives_wait_for_one_another_in_the_modules_order():
    module = read_module(TEXT, "two.mlir")
    chain_collectives(module)
    (main,) = module.body.operations
    first, barrier, second, _ = main.regions[0].blocks[0].operations
    assert barrier.operation.name == "stablehlo.optimization_barrier"
    x, before = barrier.operands
    assert x == main.regions[0].blocks[0].arguments[0]
    assert before == first.result
    assert second.operands[0] == barrier.results[0]
    assert module.operation.verify()


#: The user's file calls what is in a framework: a function, and a loop.
CALLED = """module @m {
func.func public @main(%x: tensor<4xf32>) -> tensor<4xf32> {
 %n = stablehlo.constant dense<3> : tensor<i32>
 %i = stablehlo.constant dense<0> : tensor<i32>
 %one = stablehlo.constant dense<1> : tensor<i32>
 %a = func.call @layer(%x) : (tensor<4xf32>) -> tensor<4xf32> loc(#call)
 %r:2 = stablehlo.while(%k = %i, %y = %a) : tensor<i32>, tensor<4xf32>
 cond {
  %c = stablehlo.compare LT, %k, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
  stablehlo.return %c : tensor<i1>
 } do {
  %t = stablehlo.tanh %y : tensor<4xf32> loc(#deep)
  %e = stablehlo.exponential %t : tensor<4xf32> loc(#body)
  %next = stablehlo.add %k, %one : tensor<i32>
  stablehlo.return %next, %e : tensor<i32>, tensor<4xf32>
 } loc(#call)
 return %r#1 : tensor<4xf32>
}
func.func private @layer(%x: tensor<4xf32>) -> tensor<4xf32> {
 %s = stablehlo.negate %x : tensor<4xf32> loc(#deep)
 return %s : tensor<4xf32>
}
}
#deep = loc("layer/op"(callsite("call"("/v/lib/python3.11/site-packages/keras/layer.py":9:1) at
 "step"("/v/lib/python3.11/site-packages/keras/rnn.py":7:1))))
#body = loc("cell/exp"("cell"("user.py":4:5)))
#call = loc("jit(f)/scan"(callsite("fit"("/v/lib/python3.11/site-packages/keras/t.py":5:1) at
 callsite("run"("user.py":20:3 to :9) at "<module>"("user.py":30:1)))))
"""


def test_operations_are_where_the_users_files_call():
    graph = import_stablehlo(CALLED, filename="m.mlir")
    found = {node.op: node.source for node in graph.walk()}
    outer = ("user.py:30 in <module>",)
    assert found["negate"] == Source("user.py", 20, 3, "jit(f)/scan/layer/op")
    assert found["negate"].callers == outer
    assert found["while"] == Source("user.py", 20, 3, "jit(f)/scan")
    assert found["tanh"] == Source("user.py", 20, 3, "jit(f)/scan/layer/op")
    assert found["tanh"].callers == outer
    assert found["exp"] == Source("user.py", 4, 5, "jit(f)/scan/cell/exp")
    assert found["exp"].callers == ("user.py:20", *outer)


def test_calls_that_a_location_has_are_not_said_twice():
    inner = Source("user.py", 9, 1, "jit(f)/x", ("user.py:20 in run", "user.py:30 in <module>"))
    outer = Source("user.py", 20, 3, "jit(f)/y", ("user.py:30 in <module>",))
    assert called(inner, outer).callers == inner.callers
    assert called(outer, outer) is outer


def test_tensorflows_calls_become_places():
    """What its traceback has, as `celosia.frontend.tensorflow` gives it to a module."""
    from jaxlib.mlir import ir
    frames = [("model.py", 9, "forward"), ("train.py", 40, "<module>")]
    for count in (1, 2):
        with ir.Context():
            found = source_of(_location(ir, "dense/MatMul", frames[:count]), "t.mlir")
        assert found == Source("model.py", 9, 0, "dense/MatMul")
        assert found.callers == ("train.py:40 in <module>",)[:count - 1]
    with ir.Context():
        assert _location(ir, "dense/MatMul", []) is None
