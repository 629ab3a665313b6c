"""What the front-end tests share: a home of their own, a Jupyter server, a browser.

The kernel is the one that `make test` installed into the environment that pytest runs in. Nothing reads
or writes the home directory of the person who runs the tests.
"""

import os
import socket
import subprocess
import sys
import time
import urllib.request
from pathlib import Path

import nbformat
import pytest
from jupyter_client.kernelspec import KernelSpecManager, NoSuchKernel
from nbclient import NotebookClient
from playwright.sync_api import sync_playwright

from frontend import Frontend

ROOT = Path(__file__).resolve().parents[2]
OUT = ROOT / "out"
KERNEL = "gradbook"
NOTEBOOKS = sorted((ROOT / "notebooks").glob("*.ipynb"))
CHROMIUM = os.environ.get("CHROMIUM", "/usr/bin/chromium")


@pytest.fixture(scope="session", autouse=True)
def home(tmp_path_factory):
    """A new home directory for this process and all that it starts; Go keeps its caches."""
    go = subprocess.run(["go", "env", "GOCACHE", "GOMODCACHE"], capture_output=True, text=True, check=True)
    cache, modules = go.stdout.split()
    where = tmp_path_factory.mktemp("home")
    set_env = {"HOME": str(where), "GOCACHE": cache, "GOMODCACHE": modules, "GRADBOOK_HISTORY": ""}
    unset = [name for name in os.environ if name.startswith(("JUPYTER", "XDG_", "IPYTHON"))]
    with pytest.MonkeyPatch.context() as patch:
        for name in unset:
            patch.delenv(name)
        for name, value in set_env.items():
            patch.setenv(name, value)
        patch.setenv("PATH", f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}")
        # Without it JupyterLab asks, over the page, whether it may look for news.
        config = where / ".jupyter" / "labconfig"
        config.mkdir(parents=True)
        (config / "page_config.json").write_text(
            '{"disabledExtensions": {"@jupyterlab/apputils-extension:announcements": true}}'
        )
        # Else JupyterLab takes cells that are not in view out of the page.
        settings = where / ".jupyter" / "lab" / "user-settings" / "@jupyterlab" / "notebook-extension"
        settings.mkdir(parents=True)
        (settings / "tracker.jupyterlab-settings").write_text('{"windowingMode": "none"}')
        yield where


@pytest.fixture(scope="session", autouse=True)
def kernelspec(home):
    """The installed kernel; without it no test here means anything."""
    try:
        spec = KernelSpecManager().get_kernel_spec(KERNEL)
    except NoSuchKernel:
        pytest.exit("the kernel is not installed in this environment; `make test` does that", returncode=1)
    assert Path(spec.resource_dir).is_relative_to(sys.prefix), "the kernel under test is not this environment's"
    return spec


@pytest.fixture(scope="session")
def server(tmp_path_factory, kernelspec):
    """A Jupyter server on a port of its own: (URL, directory that it serves)."""
    served = tmp_path_factory.mktemp("served")
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        port = s.getsockname()[1]
    log = OUT / "jupyter-server.log"
    log.parent.mkdir(exist_ok=True)
    command = [sys.executable, "-m", "jupyter", "server", "--allow-root", "--no-browser", "--ip=127.0.0.1",
               f"--port={port}", "--ServerApp.port_retries=0", f"--ServerApp.root_dir={served}",
               "--IdentityProvider.token=", "--ServerApp.disable_check_xsrf=True"]  # fmt: skip
    with log.open("w") as sink:
        process = subprocess.Popen(command, stdout=sink, stderr=subprocess.STDOUT)
    url = f"http://127.0.0.1:{port}"
    try:
        for _ in range(300):
            assert process.poll() is None, f"the Jupyter server ended; see {log}"
            try:
                urllib.request.urlopen(f"{url}/api/status", timeout=5).close()
                break
            except OSError:
                time.sleep(0.2)
        else:
            pytest.fail(f"the Jupyter server did not answer; see {log}")
        yield url, served
    finally:
        process.terminate()
        process.wait(timeout=30)


@pytest.fixture(scope="session")
def executed(kernelspec):
    """Executes a notebook by nbclient, once however often it is asked for."""
    done = {}

    def execute(path):
        if path not in done:
            nb = nbformat.read(path, as_version=4)
            NotebookClient(nb, timeout=240, resources={"metadata": {"path": str(path.parent)}}).execute()
            done[path] = nb
        return done[path]

    return execute


@pytest.fixture(scope="session")
def browser():
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=CHROMIUM,
            args=["--no-sandbox", "--disable-gpu", "--disable-background-networking",
                  "--disable-component-update", "--disable-sync"],
        )  # fmt: skip
        yield browser
        browser.close()


@pytest.fixture(params=["lab", "notebook"])
def frontend(request, browser, server):
    """JupyterLab 4, then Notebook 7. A test that fails leaves a picture of its page."""
    context = browser.new_context(viewport={"width": 1280, "height": 1000})
    page = context.new_page()
    page.set_default_timeout(60_000)
    frontend = Frontend(page, request.param, *server)
    yield frontend
    if getattr(request.node, "failed", False):
        page.screenshot(path=OUT / f"failed-{request.node.name}.png")
    context.close()
    frontend.close()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item, call):
    report = yield
    if report.when == "call" and report.failed:
        item.failed = True
    return report


@pytest.fixture
def notebook(server):
    """Makes a notebook from the sources of its cells; returns its name on the server."""

    def make(name, *cells):
        nb = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(cell) for cell in cells])
        nb.metadata.kernelspec = {"name": KERNEL, "display_name": "Go (gradbook)", "language": "go"}
        nbformat.write(nb, server[1] / name)
        return name

    return make
