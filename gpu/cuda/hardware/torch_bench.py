"""The benchmarks of this folder in PyTorch, printed as Go prints benchmarks.

Run it on the machine and in the run whose figures it stands beside, from the top of the tree:
python3 gpu/cuda/hardware/torch_bench.py [tf32]
"""
import gzip
import statistics
import sys
import time

import torch
from torch import nn

device = torch.device("cuda")
tf32 = "tf32" in sys.argv[1:]
torch.backends.cuda.matmul.allow_tf32 = tf32
torch.backends.cudnn.allow_tf32 = tf32
suffix = "-tf32" if tf32 else ""


def measure(f, least=0.3, bursts=5):
    """Seconds per call: the median of bursts, each long enough and ended by a wait."""
    for _ in range(5):
        f()
    torch.cuda.synchronize()
    start = time.perf_counter()
    f()
    torch.cuda.synchronize()
    n = max(1, int(least / bursts / max(time.perf_counter() - start, 1e-6)))
    times = []
    for _ in range(bursts):
        start = time.perf_counter()
        for _ in range(n):
            f()
        torch.cuda.synchronize()
        times.append((time.perf_counter() - start) / n)
    return statistics.median(times)


def report(name, seconds, **metrics):
    line = f"Benchmark{name}{suffix} 1 {seconds * 1e9:.0f} ns/op"
    for unit, value in metrics.items():
        line += f" {value:.4g} {unit.replace('_per_', '/')}"
    print(line, flush=True)


def training(model, x, y, **adam):
    optimizer = torch.optim.Adam(model.parameters(), 1e-3, **adam)
    loss_of = nn.CrossEntropyLoss()

    def step():
        optimizer.zero_grad(set_to_none=True)
        loss = loss_of(model(x), y)
        loss.backward()
        optimizer.step()
        return loss

    return step


def graph_of(step):
    side = torch.cuda.Stream()
    with torch.cuda.stream(side):
        for _ in range(3):
            step()
    torch.cuda.current_stream().wait_stream(side)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        step()
    return graph


def train(name, make, x, y):
    torch.manual_seed(1)
    report(f"{name}/torch/eager", measure(training(make().to(device), x, y)))
    report(f"{name}/torch/eager-fused-adam", measure(training(make().to(device), x, y, fused=True)))
    graph = graph_of(training(make().to(device), x, y, capturable=True, fused=True))
    report(f"{name}/torch/recorded", measure(graph.replay))


def perceptron(rows, sizes):
    def make():
        layers = []
        for a, b in zip(sizes, sizes[1:]):
            layers += [nn.Linear(a, b), nn.ReLU()]
        return nn.Sequential(*layers[:-1])

    x = torch.randn(rows, sizes[0], device=device)
    y = torch.arange(rows, device=device) % sizes[-1]
    train(f"Step/[{'_'.join(map(str, sizes))}]_b{rows}", make, x, y)


def convolution(rows):
    def make():
        return nn.Sequential(
            nn.Conv2d(1, 32, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2),
            nn.Conv2d(32, 64, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2),
            nn.Flatten(), nn.Linear(64 * 7 * 7, 10))

    x = torch.randn(rows, 1, 28, 28, device=device)
    y = torch.arange(rows, device=device) % 10
    train(f"CNN/b{rows}", make, x, y)


def mnist(part):
    def read(name, header):
        with gzip.open(f"autograd/data/mnist/{part}-{name}.gz") as f:
            return torch.frombuffer(bytearray(f.read()[header:]), dtype=torch.uint8).to(device)

    x = (read("images-idx3-ubyte", 16).float().reshape(-1, 784) / 255 - 0.1307) / 0.3081
    return x, read("labels-idx1-ubyte", 8).long()


def quickstart():
    """The first notebook's model and data, to 97%; everything is on the device before the clock starts."""
    x, y = mnist("train")
    test_x, test_y = mnist("t10k")
    torch.manual_seed(1)
    model = nn.Sequential(nn.Linear(784, 128), nn.ReLU(), nn.Linear(128, 10)).to(device)
    optimizer = torch.optim.Adam(model.parameters(), 1e-3, fused=True)
    torch.cuda.synchronize()
    start = time.perf_counter()
    accuracy, epochs = 0, 0
    while accuracy < 0.97 and epochs < 10:
        order = torch.randperm(len(x), device=device)
        for rows in order.split(128):
            optimizer.zero_grad(set_to_none=True)
            nn.functional.cross_entropy(model(x[rows]), y[rows]).backward()
            optimizer.step()
        with torch.no_grad():
            accuracy = (model(test_x).argmax(1) == test_y).float().mean().item()
        epochs += 1
    s = time.perf_counter() - start
    print(f"BenchmarkQuickstart/torch{suffix} 1 {s * 1e9:.0f} ns/op {epochs} epochs {100 * accuracy:.2f} %", flush=True)


quickstart()
quickstart()  # once more, without what the first run compiles and loads
perceptron(128, [784, 256, 256, 10])
perceptron(256, [784, 128, 10])
perceptron(1024, [784, 2048, 2048, 10])
perceptron(4096, [4096, 4096, 4096, 4096])
for rows in 128, 1024:
    convolution(rows)
for dtype, t in ("float32", torch.float32), ("float64", torch.float64):
    for m, n, k in (512, 512, 512), (1024, 1024, 1024), (2048, 2048, 2048), (4096, 4096, 4096), (1024, 2048, 2048):
        a, b = torch.rand(m, k, device=device, dtype=t), torch.rand(k, n, device=device, dtype=t)
        c = torch.empty(m, n, device=device, dtype=t)
        s = measure(lambda: torch.mm(a, b, out=c))
        report(f"Gemm/{dtype}_{m}x{n}x{k}/torch", s, TFLOP_per_s=2 * m * n * k / s / 1e12)
x, y = torch.rand(2, 1 << 27, device=device)
s = measure(lambda: y.copy_(x))
report("Adam/copy/torch", s, TB_per_s=2 * 4 * (1 << 27) / s / 1e12)
p = torch.rand(1 << 27, device=device, requires_grad=True)
p.grad = torch.rand(1 << 27, device=device)
optimizer = torch.optim.Adam([p], fused=True)
s = measure(optimizer.step)
report("Adam/adam/torch", s, TB_per_s=7 * 4 * (1 << 27) / s / 1e12)
