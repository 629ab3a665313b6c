"""Times kernels as a client sees them, beside ipykernel, in the lines that Go benchmarks print.

    .venv/bin/python kernel/frontends/bench.py | go run ./cmd/benchtable
"""

import contextlib
import statistics
import subprocess
import time

import psutil
import zmq
from jupyter_client.manager import KernelManager
from jupyter_client.session import Session

KERNELS = {
    "gradbook": {"print": "for i := range 10000 {\n\tfmt.Println(i)\n}", "cell": "1 + 1"},
    "ipykernel": {"print": "for i in range(10000):\n    print(i)", "cell": "1 + 1"},
}
SPEC = {"gradbook": "gradbook", "ipykernel": "python3"}
WAIT_MS = 60_000


class Kernel:
    """A kernel and the plainest client: a connection is tried every millisecond, so that starts are not rounded up."""

    def __init__(self, spec):
        self.context = zmq.Context()
        self.manager = KernelManager(kernel_name=spec)
        self.manager.cache_ports = True
        self.started = time.perf_counter()
        self.manager.start_kernel(stderr=subprocess.DEVNULL)
        info = self.manager.get_connection_info()
        self.session = Session(key=info["key"], signature_scheme=info["signature_scheme"])
        self.shell = self.connect(zmq.DEALER, info["shell_port"])
        self.iopub = self.connect(zmq.SUB, info["iopub_port"])
        self.iopub.subscribe(b"")
        self.request("kernel_info_request", {})
        self.ready = time.perf_counter() - self.started

    def connect(self, kind, port):
        socket = self.context.socket(kind)
        socket.linger = 0
        socket.reconnect_ivl = 1
        socket.reconnect_ivl_max = 1
        socket.rcvtimeo = WAIT_MS
        socket.connect(f"tcp://127.0.0.1:{port}")
        return socket

    def receive(self, socket, parent):
        while True:
            _, frames = self.session.feed_identities(socket.recv_multipart())
            message = self.session.deserialize(frames)
            if message["parent_header"].get("msg_id") == parent:
                return message

    def request(self, kind, content):
        message = self.session.send(self.shell, kind, content)
        return self.receive(self.shell, message["header"]["msg_id"])["content"]

    def first_cell(self, code):
        """Seconds since the start until the reply has come; the subscription may be too late for the rest."""
        reply = self.request("execute_request", execution(code))
        assert reply["status"] == "ok", reply
        return time.perf_counter() - self.started

    def execute(self, code):
        """Seconds until both the reply and idle have come, and what was printed."""
        before = time.perf_counter()
        content = execution(code)
        parent = self.session.send(self.shell, "execute_request", content)["header"]["msg_id"]
        printed = []
        while True:
            message = self.receive(self.iopub, parent)
            if message["msg_type"] == "stream":
                printed.append(message["content"]["text"])
            if message["msg_type"] == "status" and message["content"]["execution_state"] == "idle":
                break
        reply = self.receive(self.shell, parent)["content"]
        assert reply["status"] == "ok", reply
        return time.perf_counter() - before, "".join(printed)

    def resident(self):
        process = psutil.Process(self.manager.provisioner.pid)
        return sum(p.memory_info().rss for p in [process, *process.children(recursive=True)])

    def close(self):
        self.shell.close()
        self.iopub.close()
        self.manager.shutdown_kernel(now=True)
        self.context.term()


def execution(code):
    return {
        "code": code,
        "silent": False,
        "store_history": True,
        "user_expressions": {},
        "allow_stdin": False,
        "stop_on_error": True,
    }


def line(name, runs, value, unit="ns/op"):
    print(f"Benchmark{name} {runs} {value:.0f} {unit}", flush=True)


def main():
    print("pkg: gradbook/kernel/frontends")
    figures = {}
    for name, code in KERNELS.items():
        starts, firsts = [], []
        for _ in range(5):
            with contextlib.closing(Kernel(SPEC[name])) as kernel:
                starts.append(kernel.ready)
                firsts.append(kernel.first_cell(code["cell"]))
        with contextlib.closing(Kernel(SPEC[name])) as kernel:
            kernel.first_cell(code["cell"])
            cells = [kernel.execute(code["cell"])[0] for _ in range(50)]
            idle = kernel.resident()
            prints = []
            for _ in range(5):
                seconds, printed = kernel.execute(code["print"])
                assert printed == "".join(f"{i}\n" for i in range(10000)), "prints were lost or out of order"
                prints.append(seconds)
        figures[name] = starts, firsts, cells, prints, idle
    for bench, i in (("KernelStart", 0), ("FirstCell", 1), ("Cell", 2), ("Prints", 3)):
        for name in KERNELS:
            line(f"{bench}/{name}", len(figures[name][i]), statistics.median(figures[name][i]) * 1e9)
    for name in KERNELS:
        line(f"IdleMemory/{name}", 1, figures[name][4], "bytes")


if __name__ == "__main__":
    main()
