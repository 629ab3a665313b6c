"""jupyter console in a terminal, as a person types into it."""

import sys

import pexpect
import pytest
from conftest import KERNEL, OUT

WAIT = 60


@pytest.fixture
def console(kernelspec):
    # A dumb terminal keeps prompt_toolkit from redrawing what was typed.
    child = pexpect.spawn(
        sys.executable,
        ["-m", "jupyter", "console", "--kernel", KERNEL, "--simple-prompt"],
        encoding="utf-8",
        timeout=WAIT,
        dimensions=(40, 120),
    )
    OUT.mkdir(exist_ok=True)
    with (OUT / "console.txt").open("w") as log:
        child.logfile_read = log
        child.expect(r"In \[1\]: ")
        yield child
        child.close(force=True)


def test_result_output_error_and_completeness(console):
    console.sendline("6 * 7")
    console.expect(r"Out\[1\]: 42")
    console.expect(r"In \[2\]: ")
    console.sendline('fmt.Println("hello from", "go")')
    console.expect("hello from go")
    console.expect(r"In \[3\]: ")
    console.sendline("absent")
    console.expect("undefined: absent")
    console.expect(r"In \[4\]: ")
    # An unfinished line waits for the rest.
    console.sendline("func twice(n int) int {")
    console.expect(r"\.\.\.: ")
    console.sendline("return 2 * n }")
    console.expect(r"In \[5\]: ")
    console.sendline("twice(21)")
    console.expect(r"Out\[5\]: 42")


def test_stdin(console):
    console.sendline('fmt.Println("<" + session.Input("who? ") + ">")')
    console.expect(r"who\? ")
    console.sendline("Ada")
    console.expect("<Ada>")
    console.expect(r"In \[2\]: ")


def test_interrupt_keeps_the_session(console):
    console.sendline('kept := 5; fmt.Println("loop" + "ing"); for { }')
    console.expect("looping")
    console.sendintr()
    console.expect("(?i)interrupted")
    console.expect(r"In \[2\]: ")
    console.sendline("kept * 2")
    console.expect("Out.2.: 10")


def test_exit(console):
    console.sendline("exit")
    console.expect(pexpect.EOF)
    console.close()
    assert console.exitstatus == 0
