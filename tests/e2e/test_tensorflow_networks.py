"""Networks in the style of courses, against TensorFlow on as many CPUs as there are chips.

Products are those of float32 here, so that little but the order of sums differs, and in the first
two networks as files have them that say nothing. The host draws other random numbers than a
compiler: where there are some, less can be asked.
"""

import numpy as np
import pytest

from e2e.tensorflow_files import HOST, MAKE, START, found, run

pytestmark = pytest.mark.extra(name="tensorflow")

BEGIN = MAKE + """
tf.config.experimental.enable_tensor_float_32_execution(False)
keras = tf.keras
images, labels = (digits.images[:512] / 16).astype("float32")[..., None], digits.target[:512]
numbers = np.random.default_rng(0)
follows = numbers.permutation(12)
words = np.zeros((512, 5), "int32")
words[:, 0] = numbers.integers(0, 12, 512)
for i in range(1, 5):
    words[:, i] = np.where(numbers.random(512) < 0.9, follows[words[:, i - 1]],
                           numbers.integers(0, 12, 512))
nexts = follows[words]
logits = lambda: keras.losses.SparseCategoricalCrossentropy(from_logits=True)
def network(name, make, *data, loss=logits, metrics=("accuracy",), rate=0.02, **settings):
    keras.utils.set_random_seed(1)
    with strategy.scope():
        model = make()
        model.compile(optimizer=keras.optimizers.Adam(rate), metrics=list(metrics),
                      loss=loss() if callable(loss) else loss)
    train(name, model, *data, **{"epochs": 2, "batch_size": 256, **settings})
    return model
"""

NETWORKS = {
    "convolutions": """
tf.config.experimental.enable_tensor_float_32_execution(True)
network("cnn", lambda: keras.Sequential([
    layers.Input((8, 8, 1)), layers.Conv2D(8, 3, padding='same'), layers.BatchNormalization(),
    layers.ReLU(), layers.MaxPooling2D(), layers.Conv2D(16, 3, activation='relu'),
    layers.Flatten(), layers.Dense(10)]), images, labels)
""",
    "characters": """
tf.config.experimental.enable_tensor_float_32_execution(True)
def make(rows=None, steps=5, stateful=False):
    return keras.Sequential([
        layers.Input(batch_shape=(rows, steps)), layers.Embedding(12, 8),
        layers.LSTM(16, return_sequences=True, stateful=stateful), layers.Dense(12)])
model = network("lstm", make, words, nexts, rate=0.03)
rows = strategy.num_replicas_in_sync
with strategy.scope():
    sampler = make(1, 1, True)  # of a replica
sampler.set_weights(model.get_weights())
sampled, now = [], np.full((rows, 1), 3)
for _ in range(4):
    now = sampler.predict(now, batch_size=rows, verbose=0)[:, -1].argmax(-1)[:, None]
    sampled.append(int(now[0, 0]))
say("same_sampled", sampled)
""",
    "words": """
network("random_text", lambda: keras.Sequential([
    layers.Input((5,)), layers.Embedding(100, 8), layers.Dropout(0.1),
    layers.GlobalAveragePooling1D(), layers.Dense(1)]),
    words, (words[:, :1] % 2).astype("float32"), metrics=(),
    loss=lambda: keras.losses.BinaryCrossentropy(from_logits=True))
""",
    "translation": """
def make():
    given, before = layers.Input((5,)), layers.Input((5,))
    embed = layers.Embedding(12, 8)
    _, state = layers.GRU(12, return_state=True)(embed(given))
    answer = layers.GRU(12, return_sequences=True)(embed(before), initial_state=state)
    return keras.Model([given, before], layers.Dense(12)(answer))
network("gru", make, [words, words], nexts, rate=0.03)
""",
    "autoencoder": """
network("autoencoder", lambda: keras.Sequential([
    layers.Input((8, 8, 1)), layers.Conv2D(4, 3, strides=2, padding='same', activation='relu'),
    layers.Conv2DTranspose(4, 3, strides=2, padding='same', activation='relu'),
    layers.Conv2D(1, 3, padding='same', activation='sigmoid')]),
    images, images, loss='mse', metrics=('mae',))
""",
    "transfer": """
model = network("before", lambda: keras.Sequential([
    layers.Input((8, 8, 1)), layers.Conv2D(8, 3, activation='relu'), layers.Flatten(),
    layers.Dense(16, activation='relu'), layers.Dense(10)]), images, labels)
def make():
    base = keras.Sequential(model.layers[:-1])
    base.trainable = False
    given = layers.Input((8, 8, 1))
    return keras.Model(given, layers.Dense(2)(base(given, training=False)))
network("after", make, images, labels % 2)
""",
    "residuals": """
def make():
    given = layers.Input((8, 8, 1))
    x = layers.Conv2D(8, 3, padding='same', activation='relu')(given)
    y = layers.BatchNormalization()(layers.Conv2D(8, 3, padding='same')(x))
    x = layers.Activation('relu')(layers.add([x, y]))
    return keras.Model(given, layers.Dense(10)(layers.GlobalAveragePooling2D()(x)))
network("residuals", make, images, labels)
""",
    "attention": """
def make():
    given = layers.Input((5,))
    x = layers.Embedding(12, 16)(given) + layers.Embedding(5, 16)(tf.range(5))
    y = layers.MultiHeadAttention(2, 8, dropout=0.1)(x, x, use_causal_mask=True)
    x = layers.LayerNormalization()(x + y)
    y = layers.Dense(16)(layers.Dense(32, activation='gelu')(x))
    return keras.Model(given, layers.Dense(12)(layers.LayerNormalization()(x + y)))
network("random_attention", make, words, nexts)
""",
}


@pytest.mark.parametrize("devices", [1, 8])
@pytest.mark.parametrize("name", NETWORKS)
def test_networks_train_as_on_the_host(tmp_path, name, devices):
    text = BEGIN + NETWORKS[name]
    chip = found(run(tmp_path, START + text, devices))
    host = found(run(tmp_path, HOST.replace("DEVICES", str(devices)) + text, devices, module=None))
    assert chip
    assert list(chip) == list(host)
    for key, value in chip.items():
        rtol, atol = (0.02, 0.01) if key.startswith("random") else (0.005, 0.006)
        if key.startswith("same"):
            assert value == host[key], key
        elif key.endswith("accuracy"):
            np.testing.assert_allclose(value, host[key], rtol=0, atol=atol, err_msg=key)
        else:
            np.testing.assert_allclose(value, host[key], rtol=rtol, err_msg=key)
