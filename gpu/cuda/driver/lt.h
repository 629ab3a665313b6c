// cuBLASLt, opened when first asked for: products with more than a store at
// their end. Results are cublasStatus_t, 0 for success.
#ifndef GRADBOOK_LT_H
#define GRADBOOK_LT_H

#include "driver.h"

// Opens a cuBLASLt library, once per process. Returns NULL, or what the dynamic
// linker said.
const char *lt_open(const char *library);

int lt_create(queue q, void **handle);
int lt_destroy(queue q, void *handle);

// d = end(op(a)*op(b)), column-major; op(a) is m by k.
typedef struct {
	int transa, transb;
	int m, n, k;
	int lda, ldb, ldd;
	int type;     // lt_float32, lt_tf32 or lt_float64
	int epilogue; // cublasLtEpilogue_t
} lt_matmul;

enum { lt_float32, lt_tf32, lt_float64 };

// A matmul with the algorithm that does it.
typedef struct lt_plan lt_plan;

// Takes the algorithm that cuBLASLt puts first for factors and results at
// multiples of lt_alignment bytes, within a workspace of that many bytes, and
// tells how many it needs. NOT_SUPPORTED if there is none.
int lt_prepare(queue q, void *handle, const lt_matmul *m, size_t workspace, lt_plan **plan, size_t *needs);
void lt_discard(lt_plan *plan);

enum { lt_alignment = 16 };

// extra is the vector of the epilogue: a bias that is read, or the sum of a
// factor that is written.
int lt_start(queue q, void *handle, lt_plan *plan, uint64_t a, uint64_t b, uint64_t d, uint64_t extra, uint64_t workspace, size_t bytes);

#endif
