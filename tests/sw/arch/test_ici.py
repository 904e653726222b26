"""How long a message keeps a link busy."""

import pytest

from celosia.arch.ici import FRAME_WORDS, SHORT_FRAMES, link_cycles


@pytest.mark.parametrize(("words", "busy", "behind"), [
    (1, 3, 1), (17, 17 + 4, 9), (65, 65 + 4, 34), (177, 177 + 10, 44),
    (513, 513 + 10, FRAME_WORDS)])
def test_a_message_is_cut_into_frames(words, busy, behind):
    """Each frame has a HEAD and an END; the last one's words leave the receiver behind it."""
    assert link_cycles(words) == (busy, behind)


def test_longer_messages_have_longer_frames():
    sizes = [*SHORT_FRAMES.values(), FRAME_WORDS]
    assert sizes == sorted(set(sizes))
    assert list(SHORT_FRAMES) == sorted(SHORT_FRAMES)
    for most, size in SHORT_FRAMES.items():
        assert link_cycles(most)[1] == size
        assert link_cycles(most + 1)[1] > size
