# SPDX-License-Identifier: Apache-2.0
"""A small convolutional network in numpy: forward, backward, Adam.

Activations are [N][H][W][C], convolution weights [Co][Kh][Kw][Ci], fully
connected weights [Co][Ci], as in TensorFlow Lite. Padding is SAME: when the
total is odd the extra row and column go to the bottom and right.
"""

import numpy as np

CONVS = [(1, 16, 1), (16, 32, 2), (32, 32, 1)]  # (Ci, Co, stride), kernel 3x3
N_FLAT, N_CLASSES = 4 * 4 * 32, 10
KERNEL = 3


def same_pad(size, stride):
    """(rows before, rows after, output rows)"""
    out = -(-size // stride)
    total = max((out - 1) * stride + KERNEL - size, 0)
    return total // 2, total - total // 2, out


def windows(x, stride, fill=0):
    """[N][H][W][C] -> [N*Oh*Ow][Kh*Kw*C], the rows a convolution multiplies."""
    n, h, _, c = x.shape
    before, after, out = same_pad(h, stride)
    x = np.pad(x, ((0, 0), (before, after), (before, after), (0, 0)), constant_values=fill)
    last = stride * (out - 1) + 1
    taps = [x[:, ky:ky + last:stride, kx:kx + last:stride]
            for ky in range(KERNEL) for kx in range(KERNEL)]
    return np.stack(taps, axis=3).reshape(n * out * out, KERNEL * KERNEL * c)


def scatter(cols, shape, stride):
    """The transpose of windows(): adds each row back to where it was read."""
    n, h, w, c = shape
    before, after, out = same_pad(h, stride)
    full = np.zeros((n, h + before + after, w + before + after, c), cols.dtype)
    cols = cols.reshape(n, out, out, KERNEL * KERNEL, c)
    last = stride * (out - 1) + 1
    for k in range(KERNEL * KERNEL):
        ky, kx = divmod(k, KERNEL)
        full[:, ky:ky + last:stride, kx:kx + last:stride] += cols[:, :, :, k]
    return full[:, before:before + h, before:before + w]


def init_params(rng):
    """He initialisation. [w, b] per layer, the fully connected one last."""
    params = []
    for ci, co, _ in CONVS:
        fan = KERNEL * KERNEL * ci
        params += [rng.normal(0, np.sqrt(2 / fan), (co, KERNEL, KERNEL, ci)), np.zeros(co)]
    params += [rng.normal(0, np.sqrt(1 / N_FLAT), (N_CLASSES, N_FLAT)), np.zeros(N_CLASSES)]
    return [p.astype(np.float32) for p in params]


def forward(params, x):
    """Returns every activation: x, each convolution after ReLU, logits."""
    acts = [x]
    for i, (_, co, stride) in enumerate(CONVS):
        w, b = params[2 * i], params[2 * i + 1]
        out = same_pad(x.shape[1], stride)[2]
        y = windows(x, stride) @ w.reshape(co, -1).T + b
        x = np.maximum(y, 0).reshape(len(x), out, out, co)
        acts.append(x)
    acts.append(x.reshape(len(x), -1) @ params[-2].T + params[-1])
    return acts


def softmax(logits):
    e = np.exp(logits - logits.max(axis=1, keepdims=True))
    return e / e.sum(axis=1, keepdims=True)


def gradients(params, x, target):
    """Of the mean cross-entropy against target [N][10]."""
    acts = forward(params, x)
    dy = (softmax(acts[-1]) - target) / len(x)
    flat = acts[-2].reshape(len(x), -1)
    grads = [dy.T @ flat, dy.sum(axis=0)]
    dx = (dy @ params[-2]).reshape(acts[-2].shape)
    for i in reversed(range(len(CONVS))):
        _, co, stride = CONVS[i]
        w = params[2 * i]
        dy = (dx * (acts[i + 1] > 0)).reshape(-1, co)
        cols = windows(acts[i], stride)
        grads = [(dy.T @ cols).reshape(w.shape), dy.sum(axis=0)] + grads
        if i:
            dx = scatter(dy @ w.reshape(co, -1), acts[i].shape, stride)
    return grads


def shifted(x, rng):
    """Each image moved by -1, 0 or 1 pixel each way, zeros moving in."""
    wide = np.pad(x, ((0, 0), (1, 1), (1, 1), (0, 0)))
    by = rng.integers(0, 3, (len(x), 2))
    return np.stack([wide[i, dy:dy + 8, dx:dx + 8] for i, (dy, dx) in enumerate(by)])


def train(x, labels, seed, n_epochs, batch=32, rate=2e-3, decay=1e-3, smooth=0.05):
    """Adam with decoupled weight decay, cosine rate, smoothed labels."""
    rng = np.random.default_rng(seed)
    params = init_params(rng)
    m = [np.zeros_like(p) for p in params]
    v = [np.zeros_like(p) for p in params]
    target = (np.eye(N_CLASSES) * (1 - smooth) + smooth / N_CLASSES).astype(np.float32)[labels]
    per_epoch = len(x) // batch
    step = 0
    for _ in range(n_epochs):
        order = rng.permutation(len(x))[:per_epoch * batch].reshape(per_epoch, batch)
        for pick in order:
            step += 1
            lr = rate * 0.5 * (1 + np.cos(np.pi * step / (n_epochs * per_epoch)))
            lr_fixed = lr * np.sqrt(1 - 0.999 ** step) / (1 - 0.9 ** step)
            grads = gradients(params, shifted(x[pick], rng), target[pick])
            for i, g in enumerate(grads):
                m[i] = np.float32(0.9) * m[i] + np.float32(0.1) * g
                v[i] = np.float32(0.999) * v[i] + np.float32(0.001) * g * g
                move = np.float32(lr_fixed) * m[i] / (np.sqrt(v[i]) + np.float32(1e-8))
                params[i] = params[i] - move - np.float32(lr * decay) * params[i]
    return params
