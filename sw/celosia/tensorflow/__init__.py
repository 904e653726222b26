"""TensorFlow's programs for TPUs on the chip: importing this puts it where they look for one.

``CELOSIA_DEVICES=8 python -m celosia.tensorflow train.py`` runs a file as it is; ``import
celosia.tensorflow`` at its top does the same. What chip, how many and on which backend the
environment says, as for JAX: see docs/tensorflow.md.
"""

# pyright: reportMissingImports=false, reportMissingModuleSource=false

from celosia.driver.errors import needs

try:
    import tensorflow
except ModuleNotFoundError as error:
    raise ModuleNotFoundError(str(needs(__name__, error, "tensorflow")), name=error.name) from None
else:
    del tensorflow

from celosia.tensorflow.installation import install
from celosia.tensorflow.resolver import TPUClusterResolver
from celosia.tensorflow.strategy import TPUStrategy

__all__ = ["TPUClusterResolver", "TPUStrategy"]

install()
