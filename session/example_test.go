package session_test

import (
	"fmt"
	"reflect"

	"gradbook/gpu"
	"gradbook/session"
	"gradbook/tensor"
)

// Plain Go has cells, too, if it says where they begin and end.
func Example() {
	s := session.New()
	defer s.Close()
	if _, err := s.Use("host"); err != nil {
		fmt.Println(err)
		return
	}
	s.BeginCell(1)
	x := tensor.Ones(256, 256)
	entry, _ := s.EndCell(session.End{Globals: []session.Global{{Name: "x", Value: reflect.ValueOf(x), Cell: 1}}})
	fmt.Println(entry.Work[0].Counters.Launches[gpu.Fill], "launch of fill,", gpu.Bytes(entry.Work[0].After), "in use")
	fmt.Println(s.Snapshot().Devices[0].Rows[0].Owner)
	// Output:
	// 1 launch of fill, 256.0 KiB in use
	// x, temporary from ones in cell [1]
}
