"""Programs as typed operations on tensors, whatever framework they came from."""

from celosia.graph.build import constant, op, ops, parameter, splat
from celosia.graph.errors import GraphError
from celosia.graph.grammar import CORE, SOURCED, GrammarRule, Level, check
from celosia.graph.interpreter import interpret
from celosia.graph.node import Graph, Node, Value
from celosia.graph.parser import parse
from celosia.graph.printer import fingerprint, to_text
from celosia.graph.rewrite import inlined, replace_nodes, rewrite
from celosia.graph.source import Source
from celosia.graph.spec import OPS, OpSpec, Trait, having
from celosia.graph.types import Array, DType, TensorType

__all__ = ["CORE", "OPS", "SOURCED", "Array", "DType", "GrammarRule", "Graph", "GraphError",
           "Level", "Node", "OpSpec", "Source", "TensorType", "Trait", "Value", "check", "constant",
           "fingerprint", "having", "inlined", "interpret", "op", "ops", "parameter", "parse",
           "replace_nodes", "rewrite", "splat", "to_text"]
