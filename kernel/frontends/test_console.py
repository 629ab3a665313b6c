"""jupyter console in a terminal, as a person types into it."""

import os
import sys

import pexpect
import pytest
from conftest import KERNEL, OUT

WAIT = 60


@pytest.fixture
def terminal(kernelspec):
    """Starts jupyter console in a terminal; what the terminal shows is kept in out/console.txt."""
    children = []
    OUT.mkdir(exist_ok=True)
    with (OUT / "console.txt").open("a") as log:

        def start(*options):
            child = pexpect.spawn(
                sys.executable,
                ["-m", "jupyter", "console", "--kernel", KERNEL, *options],
                encoding="utf-8",
                timeout=WAIT,
                dimensions=(40, 120),
                # Else prompt_toolkit waits for this terminal to say where its cursor is.
                env={**os.environ, "TERM": "xterm", "PROMPT_TOOLKIT_NO_CPR": "1"},
            )
            child.logfile_read = log
            children.append(child)
            return child

        yield start
        for child in children:
            child.close(force=True)


@pytest.fixture
def console(terminal):
    """With the plainest prompt, which draws nothing over what is there."""
    child = terminal("--simple-prompt")
    child.expect(r"In \[1\]: ")
    return child


def test_result_output_and_error(console):
    console.sendline("6 * 7")
    console.expect(r"Out\[1\]: 42")
    console.expect(r"In \[2\]: ")
    console.sendline('fmt.Println("hello from", "go")')
    console.expect("hello from go")
    console.expect(r"In \[3\]: ")
    console.sendline("absent")
    console.expect("undefined: absent")
    console.expect(r"In \[4\]: ")


def test_an_unfinished_cell_goes_on(terminal):
    """Enter runs a cell only once it is whole."""
    console = terminal()
    console.expect(r"In \[")
    console.send("func twice(n int) int {\r")
    console.send("return 2 * n\r")
    console.send("}\r")
    console.expect(r"In \[.*2")
    console.send("fmt.Sprint(twice(33333), twice(44444))\r")
    console.expect("66666 88888")


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


def test_end_of_input_leaves(console):
    console.sendeof()
    console.expect("really want to exit")
    console.sendline("y")
    console.expect(pexpect.EOF)
    console.close()
    assert console.exitstatus == 0
