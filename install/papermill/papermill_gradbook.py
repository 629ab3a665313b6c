"""Lets papermill write the parameters of gradbook notebooks in Go.

    pip install ./install/papermill
    papermill in.ipynb out.ipynb -p steps 10 -p name '"run 1"'

papermill knows a language by its translator, and takes further ones only from code that runs in its own
process. This module registers one for Go as it is loaded, which papermill does for every engine that is
installed; the engine itself is papermill's own.
"""

import json
import math
import re

from papermill.engines import NBClientEngine
from papermill.models import Parameter
from papermill.translators import Translator, papermill_translators


class Engine(NBClientEngine):
    """papermill's own engine, under the name that makes papermill load this module."""


class GoTranslator(Translator):
    """Parameters as short variable declarations: a later one takes the place of the notebook's own."""

    @classmethod
    def translate_none(cls, val):
        return "any(nil)"

    @classmethod
    def translate_float(cls, val):
        if math.isnan(val):
            return "math.NaN()"
        if math.isinf(val):
            return f"math.Inf({1 if val > 0 else -1})"
        return repr(val)

    @classmethod
    def translate_escaped_str(cls, str_val):
        # Every escape of JSON is one of Go, as long as nothing needs two of them for one character.
        return json.dumps(str(str_val), ensure_ascii=False)

    @classmethod
    def translate_list(cls, val):
        return f"[]{element_type(val)}{{{', '.join(cls.translate(v) for v in val)}}}"

    @classmethod
    def translate_dict(cls, val):
        entries = ", ".join(f"{cls.translate_escaped_str(k)}: {cls.translate(v)}" for k, v in val.items())
        return f"map[string]{element_type(list(val.values()))}{{{entries}}}"

    @classmethod
    def comment(cls, cmt_str):
        return f"// {cmt_str}".strip()

    @classmethod
    def assign(cls, name, str_val):
        return f"{name} := {str_val}"

    @classmethod
    def inspect(cls, parameters_cell):
        found = []
        for line in parameters_cell["source"].splitlines():
            match = DECLARATION.match(line.strip())
            if match:
                name = match["short"] or match["long"]
                value = (match["value"] or "").strip()
                found.append(Parameter(name, (match["type"] or "None").strip(), value, (match["help"] or "").strip()))
        return found


DECLARATION = re.compile(
    r"""(?: (?P<short>\w+) \s* := | var \s+ (?P<long>\w+) (?P<type>\s+[^=/\s]+)? (?:\s*=)? )
        (?P<value> (?: "(?:\\.|[^"\\])*" | `[^`]*` | '(?:\\.|[^'\\])+' | (?!//). )* )
        (?: // (?P<help>.*) )? $""",
    re.VERBOSE,
)


def element_type(values):
    """The Go type that holds all of the values: theirs if they share one, else any."""
    kinds = {type(v) for v in values}
    if kinds == {int, float}:
        return "float64"
    if len(kinds) == 1:
        return {bool: "bool", int: "int", float: "float64", str: "string"}.get(kinds.pop(), "any")
    return "any"


papermill_translators.register("go", GoTranslator)
