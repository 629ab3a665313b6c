package nn

import (
	"math"
	"math/rand/v2"

	"gradbook/gpu"
	"gradbook/tensor"
)

// Init draws one initial weight of a layer with fanIn inputs and fanOut
// outputs a unit.
type Init func(r *rand.Rand, fanIn, fanOut int) float64

// KaimingNormal draws from a normal distribution of deviation sqrt(2/fanIn),
// which keeps the size of signals through ReLUs (He et al. 2015).
func KaimingNormal(r *rand.Rand, fanIn, fanOut int) float64 {
	return r.NormFloat64() * math.Sqrt(2/float64(fanIn))
}

// KaimingUniform draws from a uniform distribution of the same deviation as
// KaimingNormal.
func KaimingUniform(r *rand.Rand, fanIn, fanOut int) float64 {
	return uniform(r, math.Sqrt(6/float64(fanIn)))
}

// XavierNormal draws from a normal distribution of deviation
// sqrt(2/(fanIn+fanOut)) (Glorot & Bengio 2010).
func XavierNormal(r *rand.Rand, fanIn, fanOut int) float64 {
	return r.NormFloat64() * math.Sqrt(2/float64(fanIn+fanOut))
}

// XavierUniform draws from a uniform distribution of the same deviation as
// XavierNormal.
func XavierUniform(r *rand.Rand, fanIn, fanOut int) float64 {
	return uniform(r, math.Sqrt(6/float64(fanIn+fanOut)))
}

// FanIn draws uniformly between -1/sqrt(fanIn) and 1/sqrt(fanIn): what layers
// use unless told otherwise.
func FanIn(r *rand.Rand, fanIn, fanOut int) float64 {
	return uniform(r, 1/math.Sqrt(float64(fanIn)))
}

// Normal draws from a normal distribution of deviation 1.
func Normal(r *rand.Rand, fanIn, fanOut int) float64 { return r.NormFloat64() }

// Zero gives zeros.
func Zero(r *rand.Rand, fanIn, fanOut int) float64 { return 0 }

func uniform(r *rand.Rand, bound float64) float64 { return bound * (2*r.Float64() - 1) }

// Maker makes layers on a device and of a dtype. The functions of the package
// with the same names make Float32 layers on gpu.Default().
type Maker struct {
	Device *gpu.Device
	DType  tensor.DType
}

// On returns a maker of Float32 layers on dev.
func On(dev *gpu.Device) Maker { return Maker{dev, tensor.Float32} }

// As returns a maker of layers of dtype dt on gpu.Default().
func As(dt tensor.DType) Maker { return Maker{gpu.Default(), dt} }

// As returns a maker of layers of dtype dt on m's device.
func (m Maker) As(dt tensor.DType) Maker { return Maker{m.Device, dt} }

func def() Maker { return On(gpu.Default()) }

// draw makes a tensor of initial weights from a random stream of its own.
func (m Maker) draw(init Init, fanIn, fanOut int, shape ...int) *tensor.Tensor {
	values := make([]float64, count(shape))
	r := m.Device.HostRandom()
	for i := range values {
		values[i] = init(r, fanIn, fanOut)
	}
	return tensor.Maker(m).New(values, shape...)
}

func count(shape []int) int {
	n := 1
	for _, s := range shape {
		n *= s
	}
	return n
}
