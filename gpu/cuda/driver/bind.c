//go:build cuda && linux && amd64

// The driver's functions, bound when the driver is opened and not when the
// program is linked, so that one binary starts with and without a driver.
//
// Each function of symbols.h is a jump through a pointer. It is defined here
// under the driver's own name, so gorgonia.org/cu and calls.c link against it
// unchanged. The names are hidden: a library that is loaded later never finds
// them in place of the driver's.

#include "driver.h"

#include <dlfcn.h>
#include <stdio.h>

// gorgonia.org/cu calls cuInit from its init and ends the process if that
// fails. Until the driver is opened, cuInit therefore answers success.
static int ready(void) { return 0; }
// CUDA_ERROR_NO_DEVICE: a call before driver_open.
static int unopened(void) { return 100; }
// CUDA_ERROR_NOT_SUPPORTED: the driver is older than the function.
static int unsupported(void) { return 801; }

#define X(name)                                                                \
	__attribute__((visibility("hidden"))) void *bound_##name;              \
	__asm__(".text\n"                                                      \
		".globl " #name "\n"                                           \
		".hidden " #name "\n"                                          \
		".type " #name ", @function\n" #name ": jmp *bound_" #name     \
		"(%rip)\n"                                                     \
		".size " #name ", . - " #name "\n");
#include "symbols.h"
#undef X

static struct {
	const char *name;
	void **target;
} const functions[] = {
#define X(name) {#name, &bound_##name},
#include "symbols.h"
#undef X
};

enum { count = sizeof functions / sizeof functions[0] };

extern void *bound_cuInit;

__attribute__((constructor)) static void unbind(void)
{
	for (int i = 0; i < count; i++)
		*functions[i].target = unopened;
	bound_cuInit = ready;
}

const char *driver_open(const char *library, int *result)
{
	void *handle = dlopen(library, RTLD_NOW | RTLD_LOCAL);
	if (!handle)
		return dlerror();
	void *init = dlsym(handle, "cuInit");
	if (!init)
		return dlerror();
	for (int i = 0; i < count; i++) {
		void *f = dlsym(handle, functions[i].name);
		*functions[i].target = f ? f : unsupported;
	}
	*result = ((int (*)(unsigned))init)(0);
	return NULL;
}
