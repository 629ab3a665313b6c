"""JupyterLab 4 and Notebook 7 in Chromium: what a person does, and what that person sees."""

import re
import shutil

import nbformat
import pytest
from conftest import OUT, ROOT
from frontend import wait_until

QUICKSTART = ROOT / "notebooks" / "quickstart.ipynb"
LONG = 240  # seconds for a notebook that trains


def shown(frontend, mark):
    """The output areas that hold a picture: those with at least one element that the selector names."""
    return frontend.page.locator(".jp-OutputArea-output").filter(has=frontend.page.locator(mark))


def quickstart_cell(pattern):
    """The number, among code cells, of the quickstart's cell whose source matches."""
    nb = nbformat.read(QUICKSTART, as_version=4)
    sources = [cell.source for cell in nb.cells if cell.cell_type == "code"]
    found = [i for i, source in enumerate(sources) if re.search(pattern, source)]
    assert found, f"no cell of the quickstart has {pattern}"
    return found[-1]


def test_quickstart(frontend):
    name = f"quickstart-{frontend.kind}.ipynb"
    shutil.copy(QUICKSTART, frontend.served / name)
    frontend.open_idle(name)
    frontend.run_all()
    frontend.wait_ran(LONG)
    frontend.wait_idle()
    everything = "\n".join(frontend.page.locator(".jp-OutputArea-output").all_inner_texts())
    frontend.picture(OUT / f"quickstart-{frontend.kind}.png")
    assert re.search(r"test accuracy 9[789]\.\d\d%", everything), everything
    # Traceback, or the mark of an output that could not be drawn.
    assert frontend.page.locator('[data-mime-type="application/vnd.jupyter.error"]').count() == 0
    assert drawn_curves(frontend) >= 1
    assert drawn_maps(frontend) >= 1


def test_interrupt(frontend, notebook):
    frontend.open_idle(notebook("interrupt.ipynb", 'kept := 6\nfmt.Println("looping")\nfor {\n}', "kept * 7"))
    frontend.run_cell(0)
    frontend.wait_text(0, "looping")
    frontend.interrupt()
    frontend.wait_text(0, "Interrupted")
    frontend.run_cell(1)
    frontend.wait_text(1, "42")


def test_restart_and_run_all(frontend, notebook):
    code = 'import "os"\nfmt.Println("process", os.Getpid())'
    frontend.open_idle(notebook("restart.ipynb", code, 'fmt.Println("after", "restart")'))
    frontend.run_cell(0)
    frontend.wait_text(0, "process ")
    before = frontend.text(0)
    frontend.restart_and_run_all()
    wait_until(lambda: "process" in frontend.text(0) != before, 60, lambda: frontend.text(0))
    frontend.wait_text(1, "after restart")
    assert frontend.prompt(0).strip() == "[1]:"
    assert frontend.prompt(1).strip() == "[2]:"
    frontend.wait_idle()


def test_tab_completes(frontend, notebook):
    frontend.open_idle(notebook("tab.ipynb", 'żółć := "x"\n_ = żółć; fmt.Printl', "math.Sq"))
    frontend.edit(0)
    frontend.page.keyboard.press("Tab")  # one match only: it is put in at once
    wait_until(lambda: "fmt.Println" in frontend.source(0), 30, lambda: frontend.source(0))
    frontend.edit(1)
    frontend.page.keyboard.press("Tab")
    completer = frontend.page.locator(".jp-Completer")
    completer.wait_for()
    assert "Sqrt" in completer.inner_text()
    frontend.page.screenshot(path=OUT / f"completion-{frontend.kind}.png")
    frontend.page.keyboard.press("Enter")
    wait_until(lambda: re.fullmatch(r"math\.Sqrt\w*", frontend.source(1)), 30, lambda: frontend.source(1))


def test_shift_tab_inspects(frontend, notebook):
    frontend.open_idle(notebook("inspect.ipynb", "fmt.Println"))
    frontend.edit(0)
    frontend.page.keyboard.press("Shift+Tab")
    tooltip = frontend.page.locator(".jp-Tooltip")
    tooltip.wait_for()
    assert "func Println(a ...any) (n int, err error)" in tooltip.inner_text().replace("fmt.Println", "Println")
    frontend.page.screenshot(path=OUT / f"inspection-{frontend.kind}.png")


def test_stdin(frontend, notebook):
    code = 'var name string\nfmt.Print("who? ")\nfmt.Scan(&name)\nfmt.Println("hello,", name)'
    frontend.open_idle(notebook("stdin.ipynb", code, 'fmt.Println("<" + session.Input("where? ") + ">")'))
    for cell, answer, wanted in ((0, "Ada", "hello, Ada"), (1, "London", "<London>")):
        frontend.run_cell(cell)
        box = frontend.cell(cell).locator("input.jp-Stdin-input")
        box.wait_for()
        box.fill(answer)
        box.press("Enter")
        frontend.wait_text(cell, wanted)


def test_errors_are_red_and_have_a_line(frontend, notebook):
    frontend.open_idle(notebook("errors.ipynb", "x := 1\nx.y", "func f(i int) int {\n\treturn []int{1}[i]\n}\nf(3)"))
    frontend.run_cell(0)
    frontend.wait_text(0, "x.y undefined")
    frontend.run_cell(1)
    frontend.wait_text(1, "index out of range [3] with length 1")
    frontend.picture(OUT / f"errors-{frontend.kind}.png")
    for cell in (0, 1):
        assert "line 2" in frontend.text(cell)
        assert frontend.cell(cell).locator('[data-mime-type="application/vnd.jupyter.stderr"], .jp-RenderedText[data-mime-type*="error"]').count() == 1
