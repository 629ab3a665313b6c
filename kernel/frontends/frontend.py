"""JupyterLab 4 and Notebook 7 as a person uses them: menus, keys, and what is on the page."""

import json
import re
import time
import urllib.request

RUNNING = re.compile(r"\[\*\]")


class Frontend:
    """One page with one notebook. `kind` is "lab" or "notebook"."""

    def __init__(self, page, kind, url, served):
        self.page, self.kind, self.url, self.served = page, kind, url, served

    def open(self, name):
        self.name = name
        path = "lab/tree" if self.kind == "lab" else "notebooks"
        self.page.goto(f"{self.url}/{path}/{name}{'?reset' if self.kind == 'lab' else ''}")
        self.page.locator(".jp-Notebook .jp-Cell").first.wait_for()

    def open_idle(self, name):
        self.open(name)
        self.wait_idle()

    def close(self):
        """Ends the kernels of this page, so that the next test gets its own."""
        for session in self.api("sessions"):
            self.api("sessions/" + session["id"], "DELETE")

    def api(self, path, method="GET"):
        request = urllib.request.Request(f"{self.url}/api/{path}", method=method)
        with urllib.request.urlopen(request, timeout=30) as reply:
            text = reply.read()
        return json.loads(text) if text else None

    # --- menus and keys

    def menu(self, top, entry):
        """Clicks an entry of a menu in the menu bar; entry matches from the start of its label."""
        self.page.locator("#jp-MainMenu, #menu-panel").get_by_text(top, exact=True).first.click()
        self.page.locator(".lm-Menu .lm-Menu-itemLabel").get_by_text(re.compile("^" + re.escape(entry))).first.click()

    def run_all(self):
        self.menu("Run", "Run All Cells")

    def restart_and_run_all(self):
        self.menu("Kernel", "Restart Kernel and Run All Cells")
        self.page.locator(".jp-Dialog").locator(".jp-mod-accept").click()

    def interrupt(self):
        self.menu("Kernel", "Interrupt Kernel")

    def save(self):
        self.page.keyboard.press("Control+s")

    def edit(self, index):
        """Puts the cursor at the end of a code cell."""
        self.cell(index).locator(".cm-content").click()
        self.page.keyboard.press("Control+End")

    def run_cell(self, index):
        self.edit(index)
        self.page.keyboard.press("Control+Enter")

    # --- what is seen

    def cell(self, index):
        return self.page.locator(".jp-Notebook .jp-CodeCell").nth(index)

    def prompt(self, index):
        return self.cell(index).locator(".jp-InputPrompt").inner_text()

    def source(self, index):
        return "\n".join(self.cell(index).locator(".cm-line").all_inner_texts())

    def output(self, index):
        return self.cell(index).locator(".jp-OutputArea-output")

    def text(self, index):
        """What a cell shows, as text."""
        return "\n".join(self.output(index).all_inner_texts())

    def wait_text(self, index, wanted, seconds=60):
        wait_until(lambda: wanted in self.text(index), seconds, lambda: f"no {wanted!r} in {self.text(index)!r}")

    def wait_idle(self, seconds=60):
        """Waits until the kernel is idle and no cell waits to run."""

        def idle():
            # The page shows idle before it has a kernel, so the server is asked as well.
            kernels = [s["kernel"] for s in self.api("sessions") if s["path"] == self.name]
            if not any(k["execution_state"] == "idle" and k["connections"] > 0 for k in kernels):
                return False
            status = self.page.locator('.jp-Notebook-ExecutionIndicator[data-status="idle"]').count()
            prompts = self.page.locator(".jp-Notebook .jp-InputPrompt").all_inner_texts()
            return status > 0 and not any(RUNNING.search(p) for p in prompts)

        wait_until(idle, seconds, lambda: "the kernel is not idle")

    def wait_ran(self, seconds=60):
        """Waits until every code cell has a number: all ran."""

        def ran():
            prompts = self.page.locator(".jp-Notebook .jp-CodeCell .jp-InputPrompt").all_inner_texts()
            return all(re.search(r"\[\d+\]", p) for p in prompts)

        wait_until(ran, seconds, lambda: "not every cell ran")

    def picture(self, path):
        """Saves the whole notebook as a picture: the window is made as tall as the notebook is."""
        cells = self.page.locator(".jp-Notebook .jp-Cell")
        for _ in range(3):  # a wider or taller window may lay cells out anew
            first, last = cells.first.bounding_box(), cells.last.bounding_box()
            height = last["y"] + last["height"] - first["y"]
            self.page.set_viewport_size({"width": 1280, "height": int(height) + 200})
            cells.first.scroll_into_view_if_needed()
            time.sleep(0.5)
        self.page.screenshot(path=path)


def wait_until(condition, seconds, complaint):
    """Waits for a condition; the limit is only there so that a failure ends."""
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, f"after {seconds} s: {complaint()}"
        time.sleep(0.1)
