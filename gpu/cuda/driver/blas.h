// cuBLAS, opened when first asked for. Results are cublasStatus_t, 0 for
// success.
#ifndef GRADBOOK_BLAS_H
#define GRADBOOK_BLAS_H

#include "driver.h"

// Opens a cuBLAS library, once per process. Returns NULL, or what the dynamic
// linker said.
const char *blas_open(const char *library);

// A handle works on the queue's stream, with the workspace given, and rounds
// products to TF32 only if tf32 is not 0.
int blas_create(queue q, uint64_t workspace, size_t bytes, int tf32, void **handle);
int blas_workspace(queue q, void *handle, uint64_t workspace, size_t bytes);
int blas_destroy(queue q, void *handle);
int blas_version(queue q, void *handle, int *version);

// Column-major, as BLAS has it; scalars are given as double for both types.
typedef struct {
	int transa, transb;
	int m, n, k;
	double alpha;
	uint64_t a;
	int lda;
	long long stridea;
	uint64_t b;
	int ldb;
	long long strideb;
	double beta;
	uint64_t c;
	int ldc;
	long long stridec;
	int batch;
} blas_product;

int blas_sgemm(queue q, void *handle, const blas_product *p);
int blas_dgemm(queue q, void *handle, const blas_product *p);

#endif
