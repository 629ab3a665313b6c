package optim_test

// GRADBOOK_DEVICE=cuda runs these tests on that device.
import _ "gradbook/gpu/cuda"
