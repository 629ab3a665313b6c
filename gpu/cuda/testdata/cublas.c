// libcublas on the fake driver: see fake.h.

#include "fake.h"

struct handle {
	struct stream *stream;
	int math;
};

EXPORT int cublasCreate_v2(struct handle **h)
{
	if (fake_enter("cublasCreate"))
		return 1;
	*h = calloc(1, sizeof **h);
	return 0;
}

EXPORT int cublasDestroy_v2(struct handle *h)
{
	free(h);
	return 0;
}

EXPORT int cublasGetVersion_v2(struct handle *h, int *version)
{
	(void)h;
	*version = 130001;
	return 0;
}

EXPORT int cublasSetStream_v2(struct handle *h, struct stream *s)
{
	h->stream = s;
	return 0;
}

EXPORT int cublasSetWorkspace_v2(struct handle *h, void *workspace, size_t bytes)
{
	(void)h;
	return fake_memory((uint64_t)(uintptr_t)workspace, bytes) ? 0 : 7;
}

EXPORT int cublasSetMathMode(struct handle *h, int mode)
{
	h->math = mode;
	fake_log("math mode %d", mode);
	return 0;
}

static int product(struct handle *h, struct product p)
{
	if (fake_enter("cublasGemm"))
		return 13;
	fake_log("product %c %d%d %d,%d,%d %g %llx,%d,%lld %llx,%d,%lld %g %llx,%d,%lld %d", p.type, p.transa, p.transb, p.m, p.n, p.k,
		 p.alpha, (unsigned long long)p.a, p.lda, p.stridea, (unsigned long long)p.b, p.ldb, p.strideb, p.beta,
		 (unsigned long long)p.c, p.ldc, p.stridec, p.batch);
	struct product *kept = malloc(sizeof p);
	*kept = p;
	return fake_submit(h->stream, (struct work){.kind = PRODUCT, .product = kept}) ? 13 : 0;
}

#define GEMM(name, letter, type)                                                                                             \
	EXPORT int cublas##name##gemm_v2(struct handle *h, int ta, int tb, int m, int n, int k, const type *alpha,           \
					 uint64_t a, int lda, uint64_t b, int ldb, const type *beta, uint64_t c, int ldc)    \
	{                                                                                                                    \
		return product(h, (struct product){letter, ta, tb, m, n, k, lda, ldb, ldc, 1, *alpha, *beta, a, b, c, 0, 0, 0}); \
	}                                                                                                                    \
	EXPORT int cublas##name##gemmStridedBatched(struct handle *h, int ta, int tb, int m, int n, int k, const type *alpha, \
						    uint64_t a, int lda, long long sa, uint64_t b, int ldb, long long sb,    \
						    const type *beta, uint64_t c, int ldc, long long sc, int batch)          \
	{                                                                                                                    \
		return product(h, (struct product){letter, ta, tb, m, n, k, lda, ldb, ldc, batch, *alpha, *beta, a, b, c, sa, sb, sc}); \
	}

GEMM(S, 's', float)
GEMM(D, 'd', double)
