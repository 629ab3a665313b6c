"""The messages, as the Jupyter project's own kernel tests see them."""

import jupyter_kernel_test
from conftest import KERNEL


class TestGradbook(jupyter_kernel_test.KernelTests):
    kernel_name = KERNEL
    language_name = "go"
    file_extension = ".go"

    code_hello_world = 'fmt.Println("hello, world")'
    code_stderr = 'import "os"\nfmt.Fprintln(os.Stderr, "test")'

    completion_samples = [
        {"text": "fmt.Printl", "matches": {"Println"}},
        {"text": "math.Sq", "matches": {"Sqrt", "Sqrt2", "SqrtE", "SqrtPhi", "SqrtPi"}},
        {"text": "é := 1; tim", "matches": {"time"}},
    ]

    complete_code_samples = ["x := 1", "func f() int {\n\treturn 1\n}", 'import "os"', "%who", ""]
    incomplete_code_samples = ["func f() {", "fmt.Println(", "x :=", "`raw", "for {\n"]
    invalid_code_samples = ["x := )", "func func() {}", '"no end\n']

    code_generate_error = 'panic("on purpose")'

    code_execute_result = [
        {"code": "1+2+3", "result": "6"},
        {"code": '"a" + "b"', "result": "ab"},
        {"code": "[]int{1, 2}", "result": "[1 2]"},
    ]

    code_display_data = [
        {"code": 'display.Show(display.HTML("<b>x</b>"))', "mime": "text/html"},
        {"code": 'display.Show(display.Markdown("*x*"))', "mime": "text/markdown"},
        {"code": 'display.Show(display.SVG("<svg xmlns=\'http://www.w3.org/2000/svg\'/>"))', "mime": "image/svg+xml"},
    ]

    supported_history_operations = ("tail", "range", "search")
    code_history_pattern = "1?2*"

    code_inspect_sample = "fmt.Println"

    code_clear_output = 'fmt.Println("old")\ndisplay.Clear(false)'

    # Payloads are on their way out of the protocol, and a pager in front of the page helps nobody.
    test_pager = None


class TestWelcome(jupyter_kernel_test.IopubWelcomeTests):
    kernel_name = KERNEL
    support_iopub_welcome = True
