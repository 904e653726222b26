"""Functions of TensorFlow as modules, without TensorFlow: its parts that are asked are made here.

That the real ones are like these is seen where TensorFlow is installed, in tests/e2e.
"""

import contextlib
import sys
from types import ModuleType, SimpleNamespace

import pytest

from celosia.frontend import FrontendError
from celosia.frontend.stablehlo.reader import operations_of
from celosia.frontend.tensorflow import module_of, variables_of

SITE = "/env/lib/python3.11/site-packages/tensorflow/ops.py"


class OpError(Exception):
    pass


def frame(line, file="/home/me/train.py", name="step"):
    return SimpleNamespace(filename=file, lineno=line, name=name)


def operation(name, kind="Mul", lines=(), **functions):
    """Return an operation that the user's lines made, the outermost first."""
    calls = [frame(line, name=f"at{line}") for line in lines]
    return SimpleNamespace(name=name, type=kind, traceback=[*calls, frame(7, SITE)],
                           get_attr=lambda key: SimpleNamespace(name=functions[key]))


class FuncGraph:
    """Operations, the functions that they call, and variables."""

    def __init__(self, *operations, variables=(), **functions):
        self.operations, self.variables, self.functions = operations, variables, functions

    def get_operations(self):
        return self.operations

    def _get_function(self, name):
        found = self.functions.get(name)
        return None if found is None else SimpleNamespace(graph=found)


class Variable:
    def __init__(self, name, number):
        self.name, self._handle = name, SimpleNamespace(_id=number)


def function(graph, inputs=(), captured=()):
    return SimpleNamespace(graph=graph, name="__inference_step_1", captured_inputs=list(captured),
                           inputs=[SimpleNamespace(op=SimpleNamespace(name=each))
                                   for each in inputs])


@pytest.fixture
def bridge(monkeypatch):
    """Return a call that has the bridge answer, and a list of what it was asked."""
    asked, answer = [], []

    def lower(**arguments):
        asked.append(arguments)
        if isinstance(answer[-1], Exception):
            raise answer[-1]
        return answer[-1].encode()

    def kernels_for(kind):
        devices = ["CPU", "XLA_GPU_JIT" if kind.startswith("Odd") else "XLA_CPU_JIT"]
        return SimpleNamespace(kernel=[SimpleNamespace(device_type=each) for each in devices])

    def made(name, **parts):
        module = ModuleType(name)
        vars(module).update(parts)
        monkeypatch.setitem(sys.modules, name, module)
        return module

    context = SimpleNamespace(context=lambda: SimpleNamespace(get_compiler_ir=lower))
    made("tensorflow", init_scope=contextlib.nullcontext, errors=SimpleNamespace(OpError=OpError))
    made("tensorflow.python")
    made("tensorflow.python.eager", context=context)
    made("tensorflow.python.framework",
         kernels=SimpleNamespace(get_registered_kernels_for_op=kernels_for))
    return SimpleNamespace(asked=asked, answers=answer.append)


def program(*lines, arguments="%arg0: tensor<2x2xf32>"):
    return "\n".join((f"module @other {{ func.func @main({arguments}) {{", *lines, "return } }"))


def said_of(bridge, text, graph):
    """Return the problems of a function that the bridge cannot lower."""
    bridge.answers(text if isinstance(text, Exception) else ValueError(text))
    with pytest.raises(FrontendError) as caught:
        module_of(function(graph), [], [], "step")
    assert str(caught.value).startswith("step has what TensorFlow's bridge to XLA cannot lower:")
    return list(caught.value.problems)


def test_the_bridge_is_asked_for_shapes_and_what_is_captured(bridge):
    bridge.answers(program())
    module_of(function(FuncGraph(), ["x"]), ["a", "b"], ["c"], "step")
    assert bridge.asked == [{
        "device_name": None, "platform_name": "CPU", "function_name": "__inference_step_1",
        "flat_args": ["a", "b"], "captured_inputs": ["c"], "stage": "stablehlo_serialized"}]


def test_the_module_and_its_arguments_have_the_names_of_the_user(bridge):
    weights = Variable("dense/kernel:0", 5)
    bridge.answers(program(arguments="%0: tensor<f32>, %1: tensor<f32>, %2: tensor<f32>"))
    made = function(FuncGraph(variables=[Variable("unused:0", 4), weights]), ["x", "h5", "h6"],
                    [SimpleNamespace(_id=5), SimpleNamespace()])
    assert variables_of(made) == [weights, None]
    module = module_of(made, [], [], "step")
    assert module.operation.attributes["sym_name"].value == "step"
    [main] = module.body.operations
    assert [str(each.location) for each in main.regions[0].blocks[0].arguments] == [
        'loc("x")', 'loc("dense/kernel:0")', 'loc("captured")']


def test_functions_that_are_called_keep_the_names_of_their_own(bridge):
    other = "func.func private @f(%0: tensor<f32> loc(\"own\")) { return }"
    bridge.answers(program().replace("func.func", f"{other} func.func", 1))
    module = module_of(function(FuncGraph(), ["x"]), [], [], "step")
    assert [str(each.regions[0].blocks[0].arguments[0].location)
            for each in module.body.operations] == ['loc("own")', 'loc("x")']


def places(bridge, graph, *names):
    """Return the locations of operations of a module that have names."""
    bridge.answers(program(*(
        f'%{i} = stablehlo.negate %arg0 : tensor<2x2xf32> loc("{name}")'
        for i, name in enumerate(names))))
    module = module_of(function(graph, ["x"]), [], [], "step")
    return [str(op.location) for op in operations_of(module.operation)
            if op.name == "stablehlo.negate"]


def place(name, *lines):
    """Return a location: the innermost line first."""
    at = [f'"at{line}"("/home/me/train.py":{line}:0)' for line in lines]
    text = at[-1]
    for inner in reversed(at[:-1]):
        text = f"callsite({inner} at {text})"
    return f'loc("{name}"({text}))'


def test_operations_are_where_the_user_has_them(bridge):
    """The innermost line comes first; frames of frameworks are none of the user's."""
    graph = FuncGraph(operation("mul", lines=[3]), operation("add", lines=[9, 4]),
                      operation("sub", lines=[9, 5, 2]), operation("own"))
    assert places(bridge, graph, "mul", "add", "sub", "own", "else", "mul") == [
        place("mul", 3), place("add", 4, 9), place("sub", 2, 5, 9), 'loc("own")', 'loc("else")',
        place("mul", 3)]


def test_what_is_called_has_the_name_of_the_call_before_its_own(bridge):
    """A body of a loop or a branch has not; it may have itself inside. Some are unknown here."""
    body = FuncGraph(operation("body/mul", lines=[13]), operation("in", "If", then_branch="loop",
                                                                  else_branch="gone"))
    body.functions = {"loop": body}
    inner = FuncGraph(operation("mul", lines=[11]), operation("more", "PartitionedCall", f="two"),
                      two=FuncGraph(operation("add", lines=[15])))
    graph = FuncGraph(
        operation("call", "StatefulPartitionedCall", f="one"),
        operation("lost", "PartitionedCall", f="gone"),
        operation("while", "While", body="loop", cond="test"),
        operation("if", "StatelessIf", then_branch="loop", else_branch="other"),
        one=inner, loop=body, test=FuncGraph(operation("cond/less", lines=[12])),
        other=FuncGraph(operation("other/mul", lines=[14])))
    assert places(bridge, graph, "call/mul", "call/more/add", "body/mul", "cond/less",
                  "other/mul", "mul") == [
        place("call/mul", 11), place("call/more/add", 15), place("body/mul", 13),
        place("cond/less", 12), place("other/mul", 14), 'loc("mul")']


def test_a_name_of_operations_in_several_places_has_none(bridge):
    one, two = (FuncGraph(operation("mul", lines=[line])) for line in (11, 12))
    same = FuncGraph(operation("neg", lines=[20, 11]), operation("neg", lines=[30, 11]))
    graph = FuncGraph(operation("if", "If", then_branch="one", else_branch="two"),
                      operation("while", "StatelessWhile", body="same", cond="same"),
                      one=one, two=two, same=same)
    assert places(bridge, graph, "mul", "neg") == ['loc("mul")', place("neg", 11, 30)]


HIGH = "[#stablehlo<precision HIGH>, #stablehlo<precision HIGH>]"
DOT = ("%{0} = stablehlo.dot_general %arg0, %arg0, contracting_dims = [1] x [0]{1} : "
       "(tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>")
CONVOLUTION = (
    "%9 = stablehlo.convolution(%arg0, %arg0) dim_numbers = [b, f]x[i, o]->[b, f], window = {} "
    "{batch_group_count = 1 : i64, feature_group_count = 1 : i64} : "
    "(tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>")


def precisions(bridge, *lines):
    bridge.answers(program(*lines))
    module = module_of(function(FuncGraph(), ["x"]), [], [], "step")
    return [str(op.attributes["precision_config"]) if "precision_config" in op.attributes else None
            for op in operations_of(module.operation)
            if op.name in ("stablehlo.dot_general", "stablehlo.dot", "stablehlo.convolution")]


def loop(*lines):
    """Return a loop with lines in its body."""
    return ("%c = stablehlo.constant dense<0> : tensor<i32>",
            "%l = stablehlo.while(%i = %c) : tensor<i32> cond {",
            "%t = stablehlo.compare LT, %i, %c : (tensor<i32>, tensor<i32>) -> tensor<i1>",
            "stablehlo.return %t : tensor<i1> } do {", *lines,
            "stablehlo.return %i : tensor<i32> }")


def test_products_of_dense_layers_stay_as_they_are(bridge):
    default = ", precision = [DEFAULT, DEFAULT]"
    assert precisions(bridge, DOT.format(0, ""), DOT.format(1, default), *loop()) == [
        None, "[#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]"]


@pytest.mark.parametrize("lines", [(CONVOLUTION,), loop(DOT.format("d", ""))],
                         ids=["convolution", "loop"])
def test_beside_convolutions_and_in_loops_products_keep_more(bridge, lines):
    """All of them, but those of which the user has said how exact they are to be."""
    said = ", precision = [DEFAULT, HIGHEST]"
    found = precisions(
        bridge, DOT.format(0, ""), DOT.format(1, ", precision = [DEFAULT, DEFAULT]"),
        DOT.format(2, said), "%3 = stablehlo.dot %arg0, %arg0 : "
        "(tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>", *lines)
    assert found == [HIGH, HIGH, HIGH.replace("HIGH", "DEFAULT", 1).replace(
        "precision HIGH>]", "precision HIGHEST>]"), HIGH, HIGH]


#: What the bridge says of an operation: its type, its name twice, and what it was to have.
UNKNOWN = ("Detected unsupported operations: {0} (No registered '{0}' OpKernel for XLA_CPU_JIT "
           "devices compatible with node {{{{node {1}}}}}\n {2}){{{{node {1}}}}}")


def test_all_operations_that_the_bridge_lacks_are_said_with_their_lines(bridge):
    """It stops at the first kind, so the others are looked up."""
    graph = FuncGraph(operation("a", "Odd", [3]), operation("b", "OddHere", [8, 4]),
                      operation("c", "Mul", [5]), operation("x", "Placeholder"),
                      operation("call", "PartitionedCall", f="one"),
                      one=FuncGraph(operation("d", "Odder", [6])))
    assert said_of(bridge, UNKNOWN.format("Odd", "a", "(others)"), graph) == [
        "/home/me/train.py:3 (a): Odd is no operation of XLA",
        "/home/me/train.py:4 (b): OddHere is no operation of XLA",
        "/home/me/train.py:6 (call/d): Odder is no operation of XLA"]


def test_the_attributes_that_an_operation_lacks_are_said(bridge):
    text = UNKNOWN.format("Odd", "z", "(Others.) Requested Attributes: T=DT_STRING, n=1")
    assert said_of(bridge, text, FuncGraph(operation("a", "Mul", [3]))) == [
        "(z): Odd is no operation of XLA with T=DT_STRING, n=1"]


def test_a_table_that_is_looked_up_is_no_variable(bridge):
    graph = FuncGraph(operation("a", "Mul", [3]), operation("b", "OddTable", [4]))
    assert said_of(bridge, OpError("Check failed: variable.var() != nullptr"), graph) == [
        "/home/me/train.py:4 (b): OddTable is no operation of XLA"]


@pytest.mark.parametrize(("text", "wanted"), [
    ("Failed getting HLO text: 'two\n  words {{node a}} of it The op is created at x",
     "/home/me/train.py:3 (a): two words {{node a}} of it"),
    ("a {{node b}} that nobody made", "(b): a {{node b}} that nobody made"),
    ("nothing\nis known", "nothing is known")])
def test_else_what_the_bridge_says_is_said(bridge, text, wanted):
    assert said_of(bridge, text, FuncGraph(operation("a", "Odd", [3]))) == [wanted]
