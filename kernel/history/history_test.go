package history

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

func show(entries []Entry) string {
	var out []string
	for _, e := range entries {
		out = append(out, fmt.Sprintf("%d/%d %s", e.Session, e.Line, e.Input))
	}
	return strings.Join(out, ", ")
}

func open(t *testing.T, path string) *Log {
	t.Helper()
	l, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	return l
}

func TestKeptOverRestarts(t *testing.T) {
	path := filepath.Join(t.TempDir(), "deep", "history.jsonl")
	a := open(t, path)
	a.Add(1, "x := 1", "")
	a.Add(2, "<x>\n\"y\"", "1")
	a.Close()
	open(t, path).Close() // a session without cells has a number, too
	b := open(t, path)
	b.Add(1, "z", "")
	if b.Session() != 3 {
		t.Errorf("session %d, want 3", b.Session())
	}
	if got, want := show(b.Tail(10)), "1/1 x := 1, 1/2 <x>\n\"y\", 3/1 z"; got != want {
		t.Errorf("tail: %s", got)
	}
	if got := b.Tail(2)[0]; got.Output != "1" || got.Line != 2 {
		t.Errorf("entry %+v", got)
	}
	for _, test := range []struct {
		session, start, stop int
		want                 string
	}{
		{1, 1, 3, "1/1 x := 1, 1/2 <x>\n\"y\""},
		{1, 2, -1, "1/2 <x>\n\"y\""},
		{1, 1, 2, "1/1 x := 1"},
		{0, 0, -1, "3/1 z"},
		{-2, 1, 2, "1/1 x := 1"},
		{7, 0, -1, ""},
	} {
		if got := show(b.Range(test.session, test.start, test.stop)); got != test.want {
			t.Errorf("range %d %d %d: %s, want %s", test.session, test.start, test.stop, got, test.want)
		}
	}
	if info, _ := os.Stat(path); info.Mode().Perm() != 0o600 {
		t.Errorf("others can read it: %v", info.Mode())
	}
}

func TestKernelsShareAFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "h")
	var wg sync.WaitGroup
	sessions := make([]int, 8)
	for i := range sessions {
		wg.Go(func() {
			l, err := Open(path)
			if err != nil {
				t.Error(err)
				return
			}
			defer l.Close()
			sessions[i] = l.Session()
			for n := range 50 {
				if err := l.Add(n+1, strings.Repeat("x", 200), ""); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	seen := map[int]bool{}
	for _, s := range sessions {
		if seen[s] {
			t.Errorf("session %d was given twice", s)
		}
		seen[s] = true
	}
	if n := len(open(t, path).Tail(-1)); n != 8*50 {
		t.Errorf("%d cells are kept, want %d", n, 8*50)
	}
}

func TestDamagedFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "h")
	os.WriteFile(path, []byte("garbage\n{\"session\":4,\"line\":1,\"input\":\"good\"}\n{\"session\":9,\"li"), 0o600)
	l := open(t, path)
	if got := show(l.Tail(9)); got != "4/1 good" || l.Session() != 5 {
		t.Errorf("%s, session %d", got, l.Session())
	}
	if again := open(t, path); again.Session() != 6 {
		t.Errorf("the session after the cut line is %d, want 6", again.Session())
	}
	l.Add(1, "new", "")
	if got := show(open(t, path).Tail(9)); got != "4/1 good, 5/1 new" {
		t.Errorf("after the cut line: %s", got)
	}
}

func TestOnlyTheTailIsRead(t *testing.T) {
	path := filepath.Join(t.TempDir(), "h")
	l := open(t, path)
	big := strings.Repeat("x", 1<<20)
	for n := range 12 {
		l.Add(n+1, big, "")
	}
	l.Close()
	if got := open(t, path).Tail(-1); len(got) < 6 || len(got) > 8 || got[len(got)-1].Line != 12 {
		t.Errorf("%d cells were read of 12 MB", len(got))
	}
}

func TestSearch(t *testing.T) {
	l := InMemory()
	for i, in := range []string{"a := 1", "fmt.Println(a)\nb", "a := 1", "a[0]"} {
		l.Add(i+1, in, "")
	}
	for _, test := range []struct {
		pattern string
		n       int
		unique  bool
		want    string
	}{
		{"*", -1, false, "1/1 a := 1, 1/2 fmt.Println(a)\nb, 1/3 a := 1, 1/4 a[0]"},
		{"a*", -1, true, "1/3 a := 1, 1/4 a[0]"},
		{"a*", 1, false, "1/4 a[0]"},
		{"*Print*b", -1, false, "1/2 fmt.Println(a)\nb"},
		{"a[0]", -1, false, "1/4 a[0]"},
		{"a := ?", -1, false, "1/1 a := 1, 1/3 a := 1"},
		{"", -1, false, ""},
		{strings.Repeat("*a", 30), -1, false, ""},
	} {
		if got := show(l.Search(test.pattern, test.n, test.unique)); got != test.want {
			t.Errorf("%q: %s, want %s", test.pattern, got, test.want)
		}
	}
}

func TestAFolderInTheWay(t *testing.T) {
	if _, err := Open(t.TempDir()); err == nil {
		t.Error("a folder is no history")
	}
}
