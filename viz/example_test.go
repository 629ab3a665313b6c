package viz_test

import (
	"fmt"
	"math"

	"gradbook/gpu"
	"gradbook/session"
	"gradbook/viz"
)

func ExampleCurve() {
	curve := viz.NewCurve("loss")
	for step := range 300 {
		curve.Add(2.3 * math.Exp(-float64(step)/50))
		if step%100 == 99 {
			curve.AddTo("test loss", 2.4*math.Exp(-float64(step)/60))
		}
	}
	fmt.Println(curve)
	// Output:
	// loss       ██▇▆▅▅▄▄▃▃▃▃▂▂▂▂▂▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁  2.300 → 0.005816  (0.005816 to 2.300, 300 steps)
	// test loss  █▂▁  0.4609 → 0.01644  (0.01644 to 0.4609, 3 steps)
}

func ExampleResidencyMap() {
	weights := gpu.Row{Bytes: 4096, DeviceBytes: 4096, Residency: gpu.OnDevice, Owner: gpu.Owner{Name: "model.W", Cell: 1, Op: "new", Role: gpu.Parameter}}
	device := gpu.Snapshot{Info: gpu.Info{Backend: "host"}, Rows: []gpu.Row{weights}, InUse: 4096, Held: 4096, Backend: gpu.BackendStats{BytesHeld: 4096}}
	fmt.Println(viz.ResidencyMap(session.Snapshot{Devices: []gpu.Snapshot{device}}).Plain())
	// Output:
	// host: 4.0 KiB in use + 0 B pool = 4.0 KiB held
	//
	// kind       storages  on device  in host memory  of these in both
	// parameter         1    4.0 KiB               –                 –
	// held              1    4.0 KiB               –                 –
	//
	// owner    kind       on device  in host memory  valid in  cell  made by
	// model.W  parameter    4.0 KiB               –  device     [1]  new
}
