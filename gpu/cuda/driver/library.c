//go:build cuda && linux && amd64

#include "cublas.h"

#include <dlfcn.h>

const char *library_open(const char *file, const library_function *functions, size_t count)
{
	void *handle = dlopen(file, RTLD_NOW | RTLD_LOCAL);
	if (!handle)
		return dlerror();
	for (size_t i = 0; i < count; i++) {
		*functions[i].target = dlsym(handle, functions[i].name);
		if (!*functions[i].target) {
			const char *why = dlerror();
			for (size_t j = 0; j < i; j++)
				*functions[j].target = NULL;
			return why;
		}
	}
	return NULL;
}
