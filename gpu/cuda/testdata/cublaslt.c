// libcublasLt on the fake driver: see fake.h.

#include "fake.h"

// cublasStatus_t.
enum { INVALID = 7, EXECUTION_FAILED = 13 };

// Descriptors, layouts, preferences and handles that are not destroyed yet.
static int objects;

EXPORT int fake_lt_objects(void) { return objects; }

// A failure that a test asked for has its status.
#define CALL(name)                                                      \
	do {                                                            \
		int entered = fake_enter(#name);                        \
		if (entered)                                            \
			return entered < 20 ? entered : EXECUTION_FAILED; \
	} while (0)

struct desc {
	int compute, scale, transa, transb, epilogue;
	uint64_t extra;
};

struct layout {
	int type;
	uint64_t rows, cols;
	int64_t ld;
};

struct preference {
	size_t workspace;
	uint32_t alignment[4];
};

struct algorithm {
	size_t workspace;
	uint32_t alignment[4];
	char rest[40];
};

struct proposal {
	struct algorithm algorithm;
	size_t workspace;
	int status;
	float waves;
	int reserved[4];
};

static int destroy(void *object)
{
	objects--;
	free(object);
	return 0;
}

#define MAKE(object)                                  \
	do {                                          \
		*object = calloc(1, sizeof **object); \
		objects++;                            \
	} while (0)

EXPORT int cublasLtCreate(int **h)
{
	CALL(cublasLtCreate);
	MAKE(h);
	return 0;
}

EXPORT int cublasLtDestroy(int *h) { return destroy(h); }

EXPORT int cublasLtMatmulDescCreate(struct desc **d, int compute, int scale)
{
	CALL(cublasLtMatmulDescCreate);
	MAKE(d);
	(*d)->compute = compute;
	(*d)->scale = scale;
	(*d)->epilogue = 1;
	return 0;
}

EXPORT int cublasLtMatmulDescDestroy(struct desc *d) { return destroy(d); }

EXPORT int cublasLtMatmulDescSetAttribute(struct desc *d, int attribute, const void *value, size_t bytes)
{
	CALL(cublasLtMatmulDescSetAttribute);
	switch (attribute) {
	case 3: d->transa = *(const int *)value; return bytes == 4 ? 0 : INVALID;
	case 4: d->transb = *(const int *)value; return bytes == 4 ? 0 : INVALID;
	case 7: d->epilogue = *(const int *)value; return bytes == 4 ? 0 : INVALID;
	case 8: d->extra = *(const uint64_t *)value; return bytes == 8 ? 0 : INVALID;
	}
	return INVALID;
}

EXPORT int cublasLtMatrixLayoutCreate(struct layout **l, int type, uint64_t rows, uint64_t cols, int64_t ld)
{
	CALL(cublasLtMatrixLayoutCreate);
	MAKE(l);
	**l = (struct layout){type, rows, cols, ld};
	return ld < (int64_t)rows ? INVALID : 0;
}

EXPORT int cublasLtMatrixLayoutDestroy(struct layout *l) { return destroy(l); }

EXPORT int cublasLtMatmulPreferenceCreate(struct preference **p)
{
	CALL(cublasLtMatmulPreferenceCreate);
	MAKE(p);
	**p = (struct preference){0, {256, 256, 256, 256}};
	return 0;
}

EXPORT int cublasLtMatmulPreferenceDestroy(struct preference *p) { return destroy(p); }

EXPORT int cublasLtMatmulPreferenceSetAttribute(struct preference *p, int attribute, const void *value, size_t bytes)
{
	CALL(cublasLtMatmulPreferenceSetAttribute);
	if (attribute == 1 && bytes == 8)
		p->workspace = *(const size_t *)value;
	else if (attribute >= 5 && attribute <= 8 && bytes == 4)
		p->alignment[attribute - 5] = *(const uint32_t *)value;
	else
		return INVALID;
	return 0;
}

static size_t inner(struct desc *d, struct layout *a) { return d->transa ? a->rows : a->cols; }

// There is an algorithm where the leading dimensions are multiples of 16 bytes;
// sums of 32 and more need a workspace.
EXPORT int cublasLtMatmulAlgoGetHeuristic(int *h, struct desc *d, struct layout *a, struct layout *b, struct layout *c, struct layout *out,
					  struct preference *p, int room, struct proposal *found, int *count)
{
	(void)h;
	CALL(cublasLtMatmulAlgoGetHeuristic);
	*count = 0;
	int size = a->type == 1 ? 8 : 4;
	if (room < 1 || c->ld != out->ld)
		return INVALID;
	if (a->ld * size % 16 || b->ld * size % 16 || out->ld * size % 16)
		return 0;
	size_t workspace = inner(d, a) >= 32 ? 1 << 20 : 0;
	if (workspace > p->workspace)
		return 0;
	*found = (struct proposal){.workspace = workspace};
	found->algorithm.workspace = workspace;
	memcpy(found->algorithm.alignment, p->alignment, sizeof p->alignment);
	*count = 1;
	return 0;
}

EXPORT int cublasLtMatmul(int *h, struct desc *d, const void *alpha, uint64_t a, struct layout *la, uint64_t b, struct layout *lb,
			  const void *beta, uint64_t c, struct layout *lc, uint64_t out, struct layout *ld, const struct algorithm *g,
			  uint64_t workspace, size_t bytes, struct stream *s)
{
	(void)h, (void)lc;
	CALL(cublasLtMatmul);
	char type = la->type == 1 ? 'd' : 's';
	double one = type == 'd' ? *(const double *)alpha : *(const float *)alpha, zero = type == 'd' ? *(const double *)beta : *(const float *)beta;
	const uint64_t address[] = {a, b, c, out};
	for (int i = 0; i < 4; i++)
		if (address[i] % g->alignment[i])
			return INVALID;
	if (c != out || bytes < g->workspace)
		return INVALID;
	fake_log("matmul %c%d %d%d %d,%d,%d %llx,%d %llx,%d %llx,%d end %d %llx", type, d->compute, d->transa, d->transb, (int)ld->rows, (int)ld->cols,
		 (int)inner(d, la), (unsigned long long)a, (int)la->ld, (unsigned long long)b, (int)lb->ld, (unsigned long long)out, (int)ld->ld,
		 d->epilogue, (unsigned long long)d->extra);
	struct product *kept = malloc(sizeof *kept);
	*kept = (struct product){type, d->transa, d->transb, ld->rows, ld->cols, inner(d, la), la->ld, lb->ld, ld->ld, 1, one, zero, a, b, out, 0, 0, 0,
				 d->epilogue == 1 ? 0 : d->epilogue, d->extra, workspace, g->workspace};
	return fake_submit(s, (struct work){.kind = PRODUCT, .product = kept}) ? EXECUTION_FAILED : 0;
}
