#ifndef GRADBOOK_CUBLAS_H
#define GRADBOOK_CUBLAS_H

// What the calls of cuBLAS and of cuBLASLt share.

#include <cuda.h>
#include <stddef.h>

// cublasStatus_t.
enum { not_initialized = 1, alloc_failed = 3, execution_failed = 13, not_supported = 15 };

typedef struct {
	const char *name;
	void **target;
} library_function;

// Opens a library and finds its functions, all or none of them. The result says
// what is missing, or is NULL.
const char *library_open(const char *file, const library_function *functions, size_t count);

#define ENTER(q)                                        \
	do {                                            \
		if (cuCtxSetCurrent((q).context))       \
			return execution_failed;        \
	} while (0)

#define TRY(call)                \
	do {                     \
		int r = (call);  \
		if (r)           \
			return r; \
	} while (0)

#endif
