"""Networks that say which character comes next: a text, its cuts, and nats a character."""

from pathlib import Path

import jax
import numpy as np

#: The share of a text, its end, that is never trained on.
TEST_SHARE = 10


class Text:
    """What the networks that read text share."""

    unit, option, curve = "characters", "text", "nats a character of a batch"

    def __init__(self, width=None, batch=None, length=None):
        self.width, self.batch = width or self.width, batch or self.batch
        self.length = length or self.length

    def load(self, file):
        """Read a text: what its letters are, and which of it are for training."""
        path = Path(file)
        if not path.is_file():
            raise ValueError(f"--text must be a file of text, there is none at {path}")
        try:
            text = path.read_text(encoding="utf-8")
        except UnicodeDecodeError as error:
            raise ValueError(f"--text must be UTF-8, but {path}: {error}") from None
        self.letters = sorted(set(text))
        places = {letter: i for i, letter in enumerate(self.letters)}
        tokens = np.array([places[letter] for letter in text], np.int32)
        self.units_per_step = self.batch * self.length
        cut = len(tokens) - len(tokens) // TEST_SHARE
        self.train, self.tests = tokens[:cut], tokens[cut:]
        self.steps_per_epoch = (cut - 1) // self.units_per_step
        if not self.steps_per_epoch or len(self.tests) <= self.length:
            raise ValueError(f"{path} must have {10 * self.units_per_step // 9 + 2} characters "
                             f"or more, not {len(tokens)}")

    def spelt(self, tokens):
        """Return characters."""
        return "".join(self.letters[int(token)] for token in tokens)


def cross_entropy(scores, tokens):
    """Return nats of each next character."""
    return -(jax.nn.log_softmax(scores) * jax.nn.one_hot(tokens, scores.shape[-1])).sum(-1)
