package notebook

import (
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
)

const sample = `{
 "cells": [
  {
   "cell_type": "markdown",
   "id": "m",
   "metadata": {
    "odd": [
     1.50,
     2
    ]
   },
   "source": [
    "intro\n",
    "# The <title> & more\n"
   ]
  },
  {
   "cell_type": "code",
   "execution_count": 7,
   "id": "c",
   "metadata": {
    "tags": [
     "a",
     "b"
    ]
   },
   "outputs": [
    {
     "data": {
      "image/png": "aaaa\nbbbb\n",
      "text/plain": [
       "one\n",
       "two"
      ]
     },
     "execution_count": 7,
     "metadata": {},
     "output_type": "execute_result"
    }
   ],
   "source": [
    "x := 1\n",
    "x"
   ]
  }
 ],
 "metadata": {
  "kernelspec": {
   "display_name": "Go",
   "language": "go",
   "name": "gradbook"
  },
  "unknown": null
 },
 "nbformat": 4,
 "nbformat_minor": 5
}
`

func TestWhatIsNotChangedStays(t *testing.T) {
	nb, err := Parse([]byte(sample))
	if err != nil {
		t.Fatal(err)
	}
	got, err := nb.Encode()
	if err != nil {
		t.Fatal(err)
	}
	if string(got) != sample {
		t.Errorf("encoded again it is\n%s", got)
	}
	if nb.Language() != "go" || nb.Title() != "The <title> & more" {
		t.Errorf("language %q, title %q", nb.Language(), nb.Title())
	}
	c := nb.Cells[1]
	if c.Source() != "x := 1\nx" || !c.HasTag("b") || c.HasTag("c") || c.ExecutionCount() != "7" {
		t.Errorf("cell: %q", c.Source())
	}
	if got := Text(c.Outputs()[0]["data"].(map[string]any)["text/plain"]); got != "one\ntwo" {
		t.Errorf("output %q", got)
	}
}

func TestOutputs(t *testing.T) {
	nb, err := Parse([]byte(sample))
	if err != nil {
		t.Fatal(err)
	}
	c := nb.Cells[1]
	c.SetOutputs([]Output{{"output_type": "stream", "name": "stdout", "text": "a\nb"},
		{"output_type": "display_data", "data": map[string]any{"text/html": "<b>\n</b>", "image/png": "xx\n"}, "metadata": map[string]any{}}}, 3)
	c.SetMetadata("m", 1)
	path := filepath.Join(t.TempDir(), "new", "x.ipynb")
	if err := nb.Write(path); err != nil {
		t.Fatal(err)
	}
	data, _ := os.ReadFile(path)
	var raw struct {
		Cells []struct {
			Outputs []map[string]any
			Count   int `json:"execution_count"`
		}
	}
	if err := json.Unmarshal(data, &raw); err != nil {
		t.Fatal(err)
	}
	out := raw.Cells[1].Outputs
	if !reflect.DeepEqual(out[0]["text"], []any{"a\n", "b"}) {
		t.Errorf("text: %v", out[0]["text"])
	}
	forms := out[1]["data"].(map[string]any)
	if !reflect.DeepEqual(forms["text/html"], []any{"<b>\n", "</b>"}) || forms["image/png"] != "xx\n" {
		t.Errorf("data: %v", forms)
	}
	if raw.Cells[1].Count != 3 || strings.Contains(string(data), `\u003c`) {
		t.Error("count or escapes")
	}
	c.SetOutputs(nil, 0)
	data, _ = nb.Encode()
	if !strings.Contains(string(data), `"outputs": []`) || !strings.Contains(string(data), `"execution_count": null`) {
		t.Errorf("a cell that has not run:\n%s", data)
	}
	if entries, _ := os.ReadDir(filepath.Dir(path)); len(entries) != 1 {
		t.Errorf("%d files were left", len(entries))
	}
}

func TestNotANotebook(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.ipynb")
	for content, want := range map[string]string{
		"":                               "not JSON",
		"{\n \"a\": 1,\n oops\n}":        "line 3 is not JSON",
		"[]":                             "not JSON",
		"{}":                             "nbformat is missing",
		`{"nbformat":3,"worksheets":[]}`: "nbformat 3",
		`{"nbformat":4}`:                 "cells are missing",
		`{"nbformat":4,"cells":[1]}`:     "cell 1 is not an object",
		`{"nbformat":4,"cells":[{"source":[1]}]}`: "cell 1: source: a line is not a string",
		`{"nbformat":4,"cells":[{"source":{}}]}`:  "cell 1: source",
	} {
		os.WriteFile(path, []byte(content), 0o644)
		if _, err := Read(path); err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), path) {
			t.Errorf("%q: %v, want %q", content, err, want)
		}
	}
	if _, err := Read(filepath.Join(t.TempDir(), "none.ipynb")); !os.IsNotExist(err) {
		t.Errorf("a file that is not there: %v", err)
	}
}
