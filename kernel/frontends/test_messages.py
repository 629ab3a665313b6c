"""What jupyter_kernel_test does not look at: order, parents, expressions, aborted cells, stdin, comms."""

import queue
import time

import pytest
from conftest import KERNEL
from jupyter_client.manager import start_new_kernel

WAIT = 20


@pytest.fixture
def kernel(kernelspec):
    manager, client = start_new_kernel(kernel_name=KERNEL)
    yield Client(manager, client)
    client.stop_channels()
    manager.shutdown_kernel(now=True)


class Client:
    def __init__(self, manager, client):
        self.manager, self.client = manager, client

    def outputs(self, message_id):
        """All that the kernel publishes for one request, up to idle."""
        messages = []
        while True:
            message = self.client.get_iopub_msg(timeout=WAIT)
            if message["parent_header"].get("msg_id") != message_id:
                continue
            if message["msg_type"] == "status" and message["content"]["execution_state"] == "idle":
                return messages
            messages.append(message)

    def reply(self, message_id):
        while True:
            message = self.client.get_shell_msg(timeout=WAIT)
            if message["parent_header"].get("msg_id") == message_id:
                return message["content"]

    def run(self, code, **options):
        message_id = self.client.execute(code, **options)
        return self.reply(message_id), self.outputs(message_id)

    def stdout(self, code, **options):
        reply, messages = self.run(code, **options)
        assert reply["status"] == "ok", reply
        return text(messages)


def text(messages, name="stdout"):
    return "".join(m["content"]["text"] for m in messages if m["msg_type"] == "stream" and m["content"]["name"] == name)


def test_silent_publishes_no_result_and_keeps_no_number(kernel):
    before = kernel.run("1")[0]["execution_count"]
    reply, messages = kernel.run("silently := 41", silent=True, store_history=False)
    assert [m["msg_type"] for m in messages if m["msg_type"] != "status"] == []
    reply, messages = kernel.run("silently + 1")
    assert reply["execution_count"] == before + 1
    assert [m["content"]["data"]["text/plain"] for m in messages if m["msg_type"] == "execute_result"] == ["42"]


def test_user_expressions(kernel):
    reply, _ = kernel.run("shown := 6 * 7", user_expressions={"good": "shown", "bad": "absent"})
    assert reply["user_expressions"]["good"]["data"]["text/plain"] == "42"
    assert reply["user_expressions"]["bad"]["status"] == "error"


def test_cells_queued_after_an_error_are_aborted(kernel):
    first = kernel.client.execute('import "time"\ntime.Sleep(300 * time.Millisecond)\npanic("stop here")')
    second = kernel.client.execute('fmt.Println("must not run")')
    assert kernel.reply(first)["status"] == "error"
    assert kernel.reply(second)["status"] == "aborted"
    assert text(kernel.outputs(second)) == ""
    assert kernel.stdout('fmt.Print("runs again")') == "runs again"


def test_cells_go_on_after_an_error_if_asked_to(kernel):
    first = kernel.client.execute('panic("go on")', stop_on_error=False)
    second = kernel.client.execute('fmt.Print("ran")')
    assert kernel.reply(first)["status"] == "error"
    assert kernel.reply(second)["status"] == "ok"
    assert text(kernel.outputs(second)) == "ran"


def test_output_is_in_order(kernel):
    printed = kernel.stdout("for i := range 10000 {\n\tfmt.Println(i)\n}")
    assert printed == "".join(f"{i}\n" for i in range(10000))


def test_late_output_goes_to_the_cell_that_started_it(kernel):
    late = kernel.client.execute(
        'import "time"\ngo func() {\n\ttime.Sleep(500 * time.Millisecond)\n\tfmt.Print("late")\n}()'
    )
    assert kernel.reply(late)["status"] == "ok"
    kernel.outputs(late)
    other = kernel.client.execute('time.Sleep(time.Second)\nfmt.Print("other")')
    streams = []
    while True:
        message = kernel.client.get_iopub_msg(timeout=WAIT)
        if message["msg_type"] == "stream":
            streams.append((message["parent_header"]["msg_id"], message["content"]["text"]))
        if message["msg_type"] == "status" and message["content"]["execution_state"] == "idle":
            if message["parent_header"]["msg_id"] == other:
                break
    assert kernel.reply(other)["status"] == "ok"
    assert streams == [(late, "late"), (other, "other")]


@pytest.mark.parametrize(
    "code",
    [
        'var answer string\nfmt.Print("name? ")\nfmt.Scan(&answer)\nfmt.Print("<", answer, ">")',
        'import ("bufio"; "os")\nline, _ := bufio.NewReader(os.Stdin).ReadString(\'\\n\')\nfmt.Printf("<%s>", line[:len(line)-1])',
        'fmt.Print("<", session.Input("name? "), ">")',
    ],
    ids=["scan", "bufio", "input"],
)
def test_stdin(kernel, code):
    message_id = kernel.client.execute(code, allow_stdin=True)
    request = kernel.client.get_stdin_msg(timeout=WAIT)
    assert request["msg_type"] == "input_request" and request["content"]["password"] is False
    assert request["parent_header"]["msg_id"] == message_id
    kernel.client.input("Ada")
    assert kernel.reply(message_id)["status"] == "ok"
    assert "<Ada>" in text(kernel.outputs(message_id))


def test_stdin_without_anyone_to_ask_is_the_end_of_input(kernel):
    printed = kernel.stdout("var word string\n_, err := fmt.Scan(&word)\nfmt.Print(err != nil)", allow_stdin=False)
    assert printed == "true"


def test_interrupt_keeps_values(kernel):
    assert kernel.stdout('kept := 7\nfmt.Print("set")') == "set"
    message_id = kernel.client.execute('fmt.Println("looping")\nfor {\n}')
    while "looping" not in text([kernel.client.get_iopub_msg(timeout=WAIT)]):
        pass
    kernel.manager.interrupt_kernel()
    reply = kernel.reply(message_id)
    assert reply["status"] == "error" and reply["ename"] == "Interrupted", reply
    kernel.outputs(message_id)
    assert kernel.stdout("fmt.Print(kept)") == "7"


def test_display_is_updated_in_place(kernel):
    _, messages = kernel.run('display.ShowID(display.Text("one"), "spot")\ndisplay.Update(display.Text("two"), "spot")')
    shown = [m for m in messages if m["msg_type"] in ("display_data", "update_display_data")]
    assert [m["msg_type"] for m in shown] == ["display_data", "update_display_data"]
    assert [m["content"]["transient"]["display_id"] for m in shown] == ["spot", "spot"]
    assert [m["content"]["data"]["text/plain"] for m in shown] == ["one", "two"]


def test_a_comm_to_an_unknown_target_is_closed(kernel):
    message = kernel.client.session.msg("comm_open", {"comm_id": "c1", "target_name": "nobody", "data": {}})
    kernel.client.shell_channel.send(message)
    closed = [m for m in kernel.outputs(message["header"]["msg_id"]) if m["msg_type"] == "comm_close"]
    assert [m["content"]["comm_id"] for m in closed] == ["c1"]
    assert kernel.reply(kernel.client.comm_info())["comms"] == {}


def test_completion_counts_characters_not_bytes(kernel):
    code = 'name := "żółć"; _ = name; fmt.Printl'
    reply = kernel.reply(kernel.client.complete(code, len(code)))
    assert code[reply["cursor_start"] : reply["cursor_end"]] in ("Printl", "fmt.Printl")
    assert reply["cursor_end"] == len(code)
    completed = {code[: reply["cursor_start"]] + match for match in reply["matches"]}
    assert completed == {code + "n"}


def test_shutdown_while_busy():
    manager, client = start_new_kernel(kernel_name=KERNEL)
    try:
        client.execute('fmt.Println("looping")\nfor {\n}')
        while "looping" not in text([client.get_iopub_msg(timeout=WAIT)]):
            pass
        reply = client.shutdown(reply=True, timeout=WAIT)
        assert reply["content"] == {"status": "ok", "restart": False}
        end = time.monotonic() + WAIT
        while manager.is_alive():
            assert time.monotonic() < end, "the kernel process did not end"
            time.sleep(0.05)
    finally:
        client.stop_channels()
        manager.shutdown_kernel(now=True)


def test_history_is_kept_over_a_restart():
    manager, client = start_new_kernel(kernel_name=KERNEL)
    try:
        client.execute_interactive("remember := 20261", timeout=WAIT)
        manager.restart_kernel()
        client.wait_for_ready(timeout=WAIT)
        message_id = client.history(hist_access_type="search", pattern="remember*20261")
        while True:
            try:
                message = client.get_shell_msg(timeout=WAIT)
            except queue.Empty:
                pytest.fail("no history_reply")
            if message["parent_header"].get("msg_id") == message_id:
                break
        assert "remember := 20261" in [entry[2] for entry in message["content"]["history"]]
    finally:
        client.stop_channels()
        manager.shutdown_kernel(now=True)
