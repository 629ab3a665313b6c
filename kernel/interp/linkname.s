// This file is empty. It lets goroutine.go declare a function whose body is in the runtime.
