package display

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"image"
	"reflect"
	"testing"
)

type recorder struct{ calls []string }

func (r *recorder) Display(b Bundle, id string) {
	r.calls = append(r.calls, "display "+id+" "+b.Plain())
}
func (r *recorder) Update(b Bundle, id string) { r.calls = append(r.calls, "update "+id+" "+b.Plain()) }
func (r *recorder) Clear(wait bool)            { r.calls = append(r.calls, "clear") }

type page struct{}

func (page) HTML() string   { return "<b>page</b>" }
func (page) String() string { return "page" }

func TestSinkReceivesInOrder(t *testing.T) {
	r := &recorder{}
	SetSink(r)
	defer SetSink(nil)
	Show(42)
	Show(page{})
	ShowID(Text("a"), "one")
	Update(Text("b"), "one")
	Clear(true)
	want := []string{"display  42", "display  page", "display one a", "update one b", "clear"}
	if !reflect.DeepEqual(r.calls, want) {
		t.Errorf("calls = %q, want %q", r.calls, want)
	}
}

func TestRich(t *testing.T) {
	if _, ok := Rich(3); ok {
		t.Error("an int has no rich form")
	}
	if _, ok := Rich(nil); ok {
		t.Error("nil has no rich form")
	}
	b, ok := Rich(page{})
	if !ok || b.Data[MIMEHTML] != "<b>page</b>" || b.Data[MIMEText] != "page" {
		t.Errorf("Rich(page) = %v, %v", b, ok)
	}
	b, ok = Rich(image.NewGray(image.Rect(0, 0, 2, 3)))
	if !ok {
		t.Fatal("an image has a rich form")
	}
	raw, err := base64.StdEncoding.DecodeString(b.Data[MIMEPNG].(string))
	if err != nil || string(raw[1:4]) != "PNG" {
		t.Errorf("image form is not a PNG in base64: %v", err)
	}
}

func TestJSONIsEncodable(t *testing.T) {
	b := JSON(map[string]int{"a": 1})
	out, err := json.Marshal(b.Data)
	if err != nil {
		t.Fatal(err)
	}
	var back map[string]any
	if err := json.Unmarshal(out, &back); err != nil {
		t.Fatal(err)
	}
	if m, ok := back[MIMEJSON].(map[string]any); !ok || m["a"] != 1.0 {
		t.Errorf("application/json form = %v", back[MIMEJSON])
	}
	defer func() {
		if recover() == nil {
			t.Error("JSON of a channel must panic")
		}
	}()
	JSON(make(chan int))
}

func TestWithDoesNotChangeTheOriginal(t *testing.T) {
	a := Text("a")
	b := a.With(MIMEHTML, "<i>a</i>")
	if len(a.Data) != 1 || len(b.Data) != 2 {
		t.Errorf("a has %d forms, b has %d", len(a.Data), len(b.Data))
	}
}

type temperature float64

func TestDraw(t *testing.T) {
	Draw(func(v any) (Bundle, bool) {
		if c, ok := v.(temperature); ok {
			return Text(fmt.Sprint(float64(c), " degrees")), true
		}
		return Bundle{}, false
	})
	if b, ok := Rich(temperature(20)); !ok || b.Plain() != "20 degrees" {
		t.Errorf("Rich(temperature) = %v, %v", b, ok)
	}
	if _, ok := Rich(20.0); ok {
		t.Error("a float64 has no rich form")
	}
}

func TestCellFrame(t *testing.T) {
	if AtEnd(func() { t.Error("called without a cell") }) {
		t.Error("no cell is running")
	}
	calls := 0
	Begin()
	AtEnd(func() { calls++ })
	End()
	Begin()
	End()
	if calls != 1 {
		t.Errorf("%d calls, want 1", calls)
	}
}
