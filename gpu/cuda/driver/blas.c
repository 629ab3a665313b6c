//go:build cuda && linux && amd64

#include "blas.h"

#include "cublas.h"

// cublasMath_t. In the default mode a float32 product uses float32 arithmetic.
enum { math_default = 0, math_tf32 = 3 };

static struct {
	int (*create)(void **);
	int (*destroy)(void *);
	int (*version)(void *, int *);
	int (*stream)(void *, void *);
	int (*workspace)(void *, void *, size_t);
	int (*math)(void *, int);
	int (*sgemm)(void *, int, int, int, int, int, const float *, const void *, int, const void *, int, const float *, void *, int);
	int (*dgemm)(void *, int, int, int, int, int, const double *, const void *, int, const void *, int, const double *, void *, int);
	int (*sgemm_batched)(void *, int, int, int, int, int, const float *, const void *, int, long long, const void *, int, long long, const float *, void *, int, long long, int);
	int (*dgemm_batched)(void *, int, int, int, int, int, const double *, const void *, int, long long, const void *, int, long long, const double *, void *, int, long long, int);
} blas;

const char *blas_open(const char *library)
{
	static const library_function functions[] = {
		{"cublasCreate_v2", (void **)&blas.create},
		{"cublasDestroy_v2", (void **)&blas.destroy},
		{"cublasGetVersion_v2", (void **)&blas.version},
		{"cublasSetStream_v2", (void **)&blas.stream},
		{"cublasSetWorkspace_v2", (void **)&blas.workspace},
		{"cublasSetMathMode", (void **)&blas.math},
		{"cublasSgemm_v2", (void **)&blas.sgemm},
		{"cublasDgemm_v2", (void **)&blas.dgemm},
		{"cublasSgemmStridedBatched", (void **)&blas.sgemm_batched},
		{"cublasDgemmStridedBatched", (void **)&blas.dgemm_batched},
	};
	return library_open(library, functions, sizeof functions / sizeof functions[0]);
}

int blas_create(queue q, uint64_t workspace, size_t bytes, int tf32, void **handle)
{
	ENTER(q);
	if (!blas.create)
		return not_initialized;
	TRY(blas.create(handle));
	int r = blas.stream(*handle, q.stream);
	if (!r)
		r = blas.workspace(*handle, (void *)(uintptr_t)workspace, bytes);
	if (!r)
		r = blas.math(*handle, tf32 ? math_tf32 : math_default);
	if (r)
		blas.destroy(*handle);
	return r;
}

int blas_workspace(queue q, void *handle, uint64_t workspace, size_t bytes)
{
	ENTER(q);
	return blas.workspace(handle, (void *)(uintptr_t)workspace, bytes);
}

int blas_destroy(queue q, void *handle)
{
	ENTER(q);
	return blas.destroy(handle);
}

int blas_version(queue q, void *handle, int *version)
{
	ENTER(q);
	return blas.version(handle, version);
}

#define A ((const void *)(uintptr_t)p->a)
#define B ((const void *)(uintptr_t)p->b)
#define C ((void *)(uintptr_t)p->c)

int blas_sgemm(queue q, void *handle, const blas_product *p)
{
	float alpha = p->alpha, beta = p->beta;
	ENTER(q);
	if (p->batch == 1)
		return blas.sgemm(handle, p->transa, p->transb, p->m, p->n, p->k, &alpha, A, p->lda, B, p->ldb, &beta, C, p->ldc);
	return blas.sgemm_batched(handle, p->transa, p->transb, p->m, p->n, p->k, &alpha, A, p->lda, p->stridea, B, p->ldb, p->strideb, &beta, C, p->ldc, p->stridec, p->batch);
}

int blas_dgemm(queue q, void *handle, const blas_product *p)
{
	ENTER(q);
	if (p->batch == 1)
		return blas.dgemm(handle, p->transa, p->transb, p->m, p->n, p->k, &p->alpha, A, p->lda, B, p->ldb, &p->beta, C, p->ldc);
	return blas.dgemm_batched(handle, p->transa, p->transb, p->m, p->n, p->k, &p->alpha, A, p->lda, p->stridea, B, p->ldb, p->strideb, &p->beta, C, p->ldc, p->stridec, p->batch);
}
