// libcublas on the fake driver: see fake.h.

#include "fake.h"

struct handle {
	struct stream *stream;
	int math;
	uint64_t workspace;
	size_t workspace_bytes;
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
	h->workspace = (uint64_t)(uintptr_t)workspace;
	h->workspace_bytes = bytes;
	return fake_memory(h->workspace, bytes) ? 0 : 7;
}

EXPORT int cublasSetMathMode(struct handle *h, int mode)
{
	h->math = mode;
	fake_log("math mode %d", mode);
	return 0;
}

#define ELEMENT(type, base, i) ((type *)(base))[i]
#define OP_A(type, l, i) ELEMENT(type, p->a, batch * p->stridea + (p->transa ? l + (long long)i * p->lda : i + (long long)l * p->lda))
#define OP_B(type, l, j) ELEMENT(type, p->b, batch * p->strideb + (p->transb ? j + (long long)l * p->ldb : l + (long long)j * p->ldb))

#define MULTIPLY(type)                                                                                \
	for (int batch = 0; batch < p->batch; batch++)                                                \
		for (int j = 0; j < p->n; j++) {                                                      \
			type column = 0;                                                              \
			for (int l = 0; l < p->k; l++)                                                \
				column += OP_B(type, l, j);                                           \
			if (p->end == SUM_B)                                                          \
				ELEMENT(type, p->extra, j) = column;                                  \
			for (int i = 0; i < p->m; i++) {                                              \
				type sum = 0;                                                         \
				for (int l = 0; l < p->k; l++)                                        \
					sum += OP_A(type, l, i) * OP_B(type, l, j);                   \
				type *c = &ELEMENT(type, p->c, batch * p->stridec + i + (long long)j * p->ldc); \
				*c = (type)p->alpha * sum + (p->beta != 0 ? (type)p->beta * *c : 0);  \
				if (p->end == BIAS || p->end == BIAS_RELU)                            \
					*c += ELEMENT(type, p->extra, i);                             \
				if (p->end == BIAS_RELU && *c < 0)                                    \
					*c = 0;                                                       \
			}                                                                             \
		}

// cublasLtEpilogue_t.
enum { BIAS = 4, BIAS_RELU = 6, SUM_B = 512 };

int fake_multiply(struct product *p)
{
	size_t size = p->type == 's' ? sizeof(float) : sizeof(double);
	size_t extra = p->end == SUM_B ? p->n : p->end ? p->m : 0;
	if (!fake_memory(p->a, 1) || !fake_memory(p->b, 1) || !fake_memory(p->c, 1) || (extra && !fake_memory(p->extra, extra * size)))
		return ILLEGAL_ADDRESS;
	if (p->workspace_bytes) {
		void *workspace = fake_memory(p->workspace, p->workspace_bytes);
		if (!workspace)
			return ILLEGAL_ADDRESS;
		memset(workspace, 0x5A, p->workspace_bytes);
	}
	if (p->type == 's') {
		MULTIPLY(float)
	} else {
		MULTIPLY(double)
	}
	return SUCCESS;
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
	kept->workspace = h->workspace;
	kept->workspace_bytes = 1; // one byte stands for what is used of it
	return fake_submit(h->stream, (struct work){.kind = PRODUCT, .product = kept}) ? 13 : 0;
}

#define GEMM(name, letter, type)                                                                                             \
	EXPORT int cublas##name##gemm_v2(struct handle *h, int ta, int tb, int m, int n, int k, const type *alpha,           \
					 uint64_t a, int lda, uint64_t b, int ldb, const type *beta, uint64_t c, int ldc)    \
	{                                                                                                                    \
		return product(h, (struct product){letter, ta, tb, m, n, k, lda, ldb, ldc, 1, *alpha, *beta, a, b, c, 0, 0, 0, 0, 0, 0, 0}); \
	}                                                                                                                    \
	EXPORT int cublas##name##gemmStridedBatched(struct handle *h, int ta, int tb, int m, int n, int k, const type *alpha, \
						    uint64_t a, int lda, long long sa, uint64_t b, int ldb, long long sb,    \
						    const type *beta, uint64_t c, int ldc, long long sc, int batch)          \
	{                                                                                                                    \
		return product(h, (struct product){letter, ta, tb, m, n, k, lda, ldb, ldc, batch, *alpha, *beta, a, b, c, sa, sb, sc, 0, 0, 0, 0}); \
	}

GEMM(S, 's', float)
GEMM(D, 'd', double)
