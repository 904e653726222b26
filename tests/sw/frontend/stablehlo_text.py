"""Graphs of random_graphs as StableHLO text: the importer the other way round, for tests."""

from stablehlo_reference import NAMES, type_text

from celosia.graph import DType, TensorType

SAME = ["add", "subtract", "multiply", "divide", "remainder", "maximum", "minimum", "xor", "not",
        "tanh", "sqrt", "floor", "is_finite", "select"]
WORDS = {name: f"stablehlo.{name}" for name in SAME} | {
    "exp": "stablehlo.exponential", "sin": "stablehlo.sine", "log1p": "stablehlo.log_plus_one",
    "erf": "chlo.erf", "and": "stablehlo.and", "convert": "stablehlo.convert",
    "reshape": "stablehlo.reshape", "barrier": "stablehlo.optimization_barrier"}


class Writer:
    def __init__(self):
        self.names = {}
        self.count = 0

    def new(self):
        self.count += 1
        return f"%v{self.count}"

    def function(self, graph):
        params = ", ".join(f"{self.bind(value)}: {type_text(value.type)}"
                           for value in graph.params)
        results = ", ".join(type_text(value.type) for value in graph.outputs)
        lines = [line for node in graph.nodes for line in self.node(node)]
        lines.append(f"return {self.uses(graph.outputs)} : {results}")
        return f"func.func @main({params}) -> ({results}) {{\n" + "\n".join(lines) + "\n}"

    def bind(self, value):
        return self.names.setdefault(value, self.new())

    def uses(self, values):
        return ", ".join(self.names[value] for value in values)

    def region(self, graph):
        params = ", ".join(f"{self.bind(value)}: {type_text(value.type)}"
                           for value in graph.params)
        lines = [line for node in graph.nodes for line in self.node(node)]
        return f"^bb0({params}):\n" + "\n".join(lines) + "\n" + self.end(graph.outputs)

    def end(self, values):
        types = ", ".join(type_text(value.type) for value in values)
        return f'"stablehlo.return"({self.uses(values)}) : ({types}) -> ()'

    def node(self, node):
        if node.op == "parameter":
            return
        attrs, regions, operands = self.details(node)
        name = self.new()
        yield (f"{name}:{len(node.types)} = " + f'"{self.word(node)}"'
               + f"({self.uses(operands)}) " + (f"<{{{attrs}}}> " if attrs else "")
               + (f"({{\n{'}, {'.join(regions)}\n}}) " if regions else "") + ": ("
               + ", ".join(type_text(value.type) for value in operands) + ") -> ("
               + ", ".join(map(type_text, node.types)) + ")")
        for i, value in enumerate(node.results):
            self.names[value] = f"{name}#{i}"

    def word(self, node):
        return {"broadcast": "stablehlo.broadcast_in_dim", "dot": "stablehlo.dot_general",
                "sort_by": "stablehlo.sort",
                **WORDS}.get(node.op, f"stablehlo.{node.op}")

    def compare(self, type, direction):
        kind = ("FLOAT" if type.dtype.is_float else
                "SIGNED" if type.dtype.is_signed else "UNSIGNED")
        return (f"comparison_direction = #stablehlo<comparison_direction {direction}>, "
                f"compare_type = #stablehlo<comparison_type {kind}>")

    def body(self, op, dtype, result, attrs=""):
        type = type_text(TensorType(dtype))
        return (f"^bb0(%a: {type}, %b: {type}):\n"
                f'%c = "stablehlo.{op}"(%a, %b) {attrs} : ({type}, {type}) -> tensor<{result}>\n'
                f'"stablehlo.return"(%c) : (tensor<{result}>) -> ()')

    def details(self, node):
        """Return attributes, regions and operands."""
        get = node.attrs.get
        regions, operands = [], node.operands
        attrs = ""
        match node.op:
            case "constant":
                attrs = f"value = {attribute_text(get('value').numpy)}"
            case "transpose":
                attrs = f"permutation = {ints(get('permutation'))}"
            case "broadcast":
                attrs = f"broadcast_dimensions = {ints(get('dims'))}"
            case "compare":
                attrs = self.compare(operands[0].type, get("direction").upper())
            case "dot":
                left, right = (", ".join(str(pair[side]) for pair in get("batch"))
                               for side in (0, 1))
                a, b = (", ".join(str(pair[side]) for pair in get("contract")) for side in (0, 1))
                word = f"#stablehlo<precision {get('precision').upper()}>"
                attrs = (f"dot_dimension_numbers = #stablehlo.dot<lhs_batching_dimensions = "
                         f"[{left}], rhs_batching_dimensions = [{right}], "
                         f"lhs_contracting_dimensions = [{a}], rhs_contracting_dimensions = "
                         f"[{b}]>, precision_config = [{word}, {word}]")
            case "reverse":
                attrs = f"dimensions = {ints(get('dims'))}"
            case "reduce":
                dtype = node.types[0].dtype
                attrs = f"dimensions = {ints(get('dims'))}"
                regions = [self.body(get("reducer"), dtype, NAMES.get(dtype, str(dtype)))]
            case "sort":
                type = node.types[0]
                attrs = f"dimension = {get('dim')} : i64, is_stable = true"
                less = self.compare(type, "GT" if get("descending") else "LT")
                regions = [self.body("compare", type.dtype, "i1", f"<{{{less}}}>")]
            case "sort_by":
                attrs = f"dimension = {get('dim')} : i64, is_stable = true"
                regions = [self.region(region) for region in node.regions]
            case "while":
                regions = [self.region(region) for region in node.regions]
            case "case":
                operands = node.operands[:1]
                regions = [self.branch(region, node.operands[1:]) for region in node.regions]
        return attrs, regions, operands

    def branch(self, graph, values):
        # A branch takes nothing: it uses what is around it.
        self.names.update({param: self.names[value]
                           for param, value in zip(graph.params, values, strict=True)})
        lines = [line for node in graph.nodes for line in self.node(node)]
        return "\n".join([*lines, self.end(graph.outputs)])


def ints(values):
    return f"array<i64{': ' if values else ''}{', '.join(map(str, values))}>"


def attribute_text(array):
    """Return a constant, bit for bit."""
    type = TensorType(DType.of(array.dtype), array.shape)
    if array.size == 0:
        return f"dense<> : {type_text(type)}"
    elements = (str(array.tolist()).lower() if type.dtype is DType.BOOL
                else f'"0x{array.tobytes().hex()}"')
    return f"dense<{elements}> : {type_text(type)}"
