"""Notebooks without a browser: nbclient, nbconvert, papermill."""

import re
import subprocess
import sys

import nbformat
import papermill
import pytest
from conftest import KERNEL, NOTEBOOKS
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError

QUICKSTART = next(path for path in NOTEBOOKS if path.name == "quickstart.ipynb")


def outputs(nb, kind):
    return [o for cell in nb.cells if cell.cell_type == "code" for o in cell.outputs if o.output_type == kind]


@pytest.mark.timeout(300)
@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_nbclient(executed, path):
    nb = executed(path)
    nbformat.validate(nb)
    assert outputs(nb, "error") == []
    for cell in nb.cells:
        if cell.cell_type == "code" and cell.source.strip():
            assert cell.execution_count is not None, cell.source


def test_quickstart_learns(executed):
    nb = executed(QUICKSTART)
    text = "".join(o.text for o in outputs(nb, "stream"))
    accuracy = [float(x) for x in re.findall(r"test accuracy (\d+\.\d\d)%", text)]
    assert accuracy and accuracy[-1] >= 97, text


def test_pictures_have_every_form(executed):
    nb = executed(QUICKSTART)
    rich = [set(o.data) for o in outputs(nb, "display_data") + outputs(nb, "execute_result") if "text/html" in o.data]
    assert len(rich) >= 2
    for forms in rich:
        assert "text/plain" in forms, forms
    assert sum(bool(forms & {"image/svg+xml", "image/png"}) for forms in rich) >= 2


def test_nbconvert_html(executed, tmp_path):
    nbformat.write(executed(QUICKSTART), tmp_path / "executed.ipynb")
    convert("html", tmp_path / "executed.ipynb", tmp_path)
    html = (tmp_path / "converted.html").read_text()
    assert re.search(r"test accuracy \d\d\.\d\d%", html)
    # Pygments knew the language: a keyword of Go is marked as one.
    assert re.search(r'<span class="k[a-z]?">(for|range|func)</span>', html)


def test_nbconvert_script(executed, tmp_path):
    # The extension is what the kernel told nbclient.
    nb = executed(QUICKSTART)
    nbformat.write(nb, tmp_path / "executed.ipynb")
    convert("script", tmp_path / "executed.ipynb", tmp_path)
    script = (tmp_path / "converted.go").read_text()
    for cell in nb.cells:
        if cell.cell_type == "code":
            assert cell.source in script


def convert(form, path, to):
    command = [sys.executable, "-m", "nbconvert", "--to", form, "--output", "converted", "--output-dir", str(to), str(path)]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def write(path, *cells, tags=()):
    nb = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(cell) for cell in cells])
    nb.metadata.kernelspec = {"name": KERNEL, "display_name": "Go", "language": "go"}
    nb.metadata.language_info = {"name": "go"}
    for i in tags:
        nb.cells[i].metadata.tags = ["parameters"]
    nbformat.write(nb, path)
    return path


def test_papermill_parameters(tmp_path, kernelspec):
    path = write(
        tmp_path / "in.ipynb", 'steps := 3\nrate := 0.5\nname := "a"\nfast := false', 'fmt.Print(steps+1, rate*2, name+"!", !fast)', tags=[0]
    )
    given = {"steps": 10, "rate": 0.25, "name": 'q"uote', "fast": True}
    done = papermill.execute_notebook(path, tmp_path / "out.ipynb", parameters=given, progress_bar=False)
    assert [o.text for o in outputs(done, "stream")] == ['11 0.5q"uote!false']  # as fmt.Print spaces them


def test_a_failing_cell_fails_the_notebook(tmp_path, kernelspec):
    path = write(tmp_path / "bad.ipynb", "x := 1", "x.y", 'fmt.Print("never")')
    nb = nbformat.read(path, as_version=4)
    with pytest.raises(CellExecutionError, match="x.y undefined"):
        NotebookClient(nb, timeout=60).execute()
    assert nb.cells[2].outputs == []


def test_allow_errors_goes_on(tmp_path, kernelspec):
    path = write(tmp_path / "bad.ipynb", "x := 1", "x.y", "fmt.Print(x)")
    nb = nbformat.read(path, as_version=4)
    NotebookClient(nb, timeout=60, allow_errors=True).execute()
    assert [o.text for o in outputs(nb, "stream")] == ["1"]
    assert len(outputs(nb, "error")) == 1
