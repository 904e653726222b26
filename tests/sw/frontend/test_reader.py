"""What is read of modules, and changed in them."""

from celosia.frontend.stablehlo.reader import chain_collectives, read_module

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
