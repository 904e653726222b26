"""Predictions over HTTP: the Open Inference Protocol (KServe v2), and TensorFlow Serving's REST.

From files to the network: weights (arrays that stay with a program), model (a program, its
weights, and what requests bring), trained (models of Keras and TensorFlow), folder (models in
files), tensors, protocol and rows (JSON),
runner (the device and its thread), batcher (requests that share runs), metrics, limits,
unfinished and admission (which requests may be in the server), service, routes (what each path
does), app (with what it needs), connection (how long a client may take), server (socket and
signals). The command is ``celosia serve``, its page docs/serving.md.
"""

from celosia.serve.errors import Refusal
from celosia.serve.folder import load_model, save_model
from celosia.serve.limits import Limits
from celosia.serve.model import Model, make_model
from celosia.serve.service import Service

__all__ = ["Limits", "Model", "Refusal", "Service", "load_model", "make_model", "save_model"]
