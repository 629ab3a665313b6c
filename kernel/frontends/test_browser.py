"""JupyterLab 4 and Notebook 7 in Chromium: what a person does, and what that person sees."""

import re
import shutil

import marks
import nbformat
import pytest
from conftest import OUT, ROOT
from frontend import wait_until
from marks import curves, maps

QUICKSTART = ROOT / "notebooks" / "quickstart.ipynb"
CURVE = """curve := viz.NewCurve("loss")
for i := range 40 {
	curve.Add(1 / float64(i+1))
}"""
LONG = 240  # seconds for a notebook that trains


# What JupyterLab sets in red: errors, and what is written to stderr.
ERROR = '.jp-RenderedText[data-mime-type="application/vnd.jupyter.stderr"]'


def check_pictures(frontend, kind):
    """The loss curve and the map of the quickstart are on the page, drawn in full."""
    drawn_curves = curves(frontend)
    assert drawn_curves, marks.pictures(frontend)
    drawn_maps = maps(frontend)
    assert drawn_maps, marks.pictures(frontend)
    assert {p["kind"] for p in drawn_curves + drawn_maps} == {kind}
    # Two layers have two weights and two biases, and Adam keeps two moments of each; the biases are too
    # small for a label, never for a box.
    last = drawn_maps[-1]
    assert last["boxes"][marks.PARAMETER] >= 4, last
    assert last["boxes"][marks.OPTIMIZER] >= 4, last
    assert "model" in last["texts"], last


@pytest.mark.timeout(300)
def test_quickstart(frontend):
    name = f"quickstart-{frontend.kind}.ipynb"
    shutil.copy(QUICKSTART, frontend.served / name)
    frontend.open_idle(name)
    frontend.run_all()
    frontend.wait_ran(LONG)
    frontend.wait_idle()
    frontend.picture(OUT / f"quickstart-{frontend.kind}.png")
    everything = "\n".join(frontend.page.locator(".jp-OutputArea-output").all_inner_texts())
    assert re.search(r"test accuracy 9[789]\.\d\d%", everything), everything
    assert frontend.page.locator(ERROR).count() == 0
    wait_until(lambda: curves(frontend) and maps(frontend), 20, lambda: marks.pictures(frontend))
    check_pictures(frontend, "chart")


@pytest.mark.timeout(300)
def test_untrusted(frontend, executed):
    """A notebook that someone else ran: no script may run, and the pictures are there."""
    name = f"untrusted-{frontend.kind}.ipynb"
    nbformat.write(executed(QUICKSTART), frontend.served / name)
    frontend.open_idle(name)
    wait_until(lambda: curves(frontend) and maps(frontend), 20, lambda: marks.pictures(frontend))
    frontend.picture(OUT / f"untrusted-{frontend.kind}.png")
    check_pictures(frontend, "still")
    assert frontend.page.locator(".jp-OutputArea-output script").count() == 0


def test_reopened(frontend, notebook):
    """What this person ran and saved is trusted when it is opened again: the curve is a chart at once."""
    frontend.open_idle(notebook("reopened.ipynb", CURVE))
    frontend.run_all()
    frontend.wait_ran()
    wait_until(lambda: curves(frontend), 20, lambda: marks.pictures(frontend))
    frontend.save()
    wait_until(lambda: "text/html" in (frontend.served / "reopened.ipynb").read_text(), 20, lambda: "not saved")
    frontend.open_idle("reopened.ipynb")
    wait_until(lambda: curves(frontend), 20, lambda: marks.pictures(frontend))
    assert [p["kind"] for p in curves(frontend)] == ["chart"]


def test_curve_is_live(frontend, notebook):
    """While the cell runs the line grows, in one output that is drawn again."""
    # The cell runs on until the test has seen enough, so that no wait is a race.
    code = CURVE.replace("range 40", "range 1000000").replace("\n}", "\n\ttime.Sleep(10 * time.Millisecond)\n}")
    frontend.open_idle(notebook("live.ipynb", code))
    frontend.run_cell(0)
    wait_until(lambda: curves(frontend, 5), 30, lambda: marks.pictures(frontend))
    before = longest(frontend)
    wait_until(lambda: longest(frontend) >= before + 50, 30, lambda: marks.pictures(frontend))
    assert frontend.prompt(0).strip() == "[*]:"
    assert len(curves(frontend, 5)) == 1
    frontend.interrupt()
    frontend.wait_idle()
    frontend.page.screenshot(path=OUT / f"live-{frontend.kind}.png")
    assert longest(frontend) >= before + 50


def longest(frontend):
    return max((p["lines"][marks.FIRST_SERIES] for p in curves(frontend, 1)), default=0)


def test_interrupt(frontend, notebook):
    frontend.open_idle(notebook("interrupt.ipynb", 'kept := 6\nfmt.Println("looping")\nfor {\n}', "kept * 7"))
    frontend.run_cell(0)
    frontend.wait_text(0, "looping")
    frontend.interrupt()
    frontend.wait_text(0, "interrupted")
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
    frontend.page.keyboard.press("Tab")
    completer = frontend.page.locator(".jp-Completer")
    completer.wait_for()
    frontend.page.keyboard.press("Enter")
    wait_until(lambda: frontend.source(0).endswith("; fmt.Println"), 30, lambda: frontend.source(0))
    frontend.edit(1)
    frontend.page.keyboard.press("Tab")
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
        assert frontend.cell(cell).locator(ERROR).count() == 1


def test_progress_is_one_line(frontend, notebook):
    """A bar is drawn over itself, and is still there, whole, after what was printed."""
    code = 'for i := range session.Progress(200, "reading").Each() {\n\ttime.Sleep(5 * time.Millisecond)\n\t_ = i\n}\nfmt.Println("done")'
    frontend.open_idle(notebook("progress.ipynb", code))
    frontend.run_cell(0)
    frontend.wait_text(0, "done")
    frontend.page.screenshot(path=OUT / f"progress-{frontend.kind}.png")
    lines = frontend.text(0).strip().splitlines()
    assert len(lines) == 2 and lines[0].startswith("reading") and "200" in lines[0], lines
