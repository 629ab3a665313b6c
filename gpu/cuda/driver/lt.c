//go:build cuda && linux && amd64

#include "lt.h"

#include <stdlib.h>

#include "cublas.h"

// cudaDataType_t, cublasComputeType_t, and attributes of cuBLASLt's objects.
enum { real_32 = 0, real_64 = 1 };
enum { compute_32 = 68, compute_64 = 70, compute_32_tf32 = 77 };
enum { desc_transa = 3, desc_transb = 4, desc_epilogue = 7, desc_extra = 8 };
enum { preference_workspace = 1, preference_alignment_a = 5, preference_alignment_d = 8 };

// cublasLtMatmulAlgo_t and cublasLtMatmulHeuristicResult_t.
typedef struct {
	uint64_t opaque[8];
} algorithm;

typedef struct {
	algorithm algorithm;
	size_t workspace;
	int status;
	float waves;
	int reserved[4];
} proposal;

static struct {
	int (*create)(void **);
	int (*destroy)(void *);
	int (*desc_create)(void **, int compute, int scale);
	int (*desc_destroy)(void *);
	int (*desc_set)(void *, int attribute, const void *, size_t);
	int (*layout_create)(void **, int type, uint64_t rows, uint64_t cols, int64_t ld);
	int (*layout_destroy)(void *);
	int (*preference_create)(void **);
	int (*preference_destroy)(void *);
	int (*preference_set)(void *, int attribute, const void *, size_t);
	int (*propose)(void *, void *desc, void *a, void *b, void *c, void *d, void *preference, int room, proposal *, int *count);
	int (*matmul)(void *, void *desc, const void *alpha, const void *a, void *a_layout, const void *b, void *b_layout, const void *beta,
		      const void *c, void *c_layout, void *d, void *d_layout, const algorithm *, void *workspace, size_t bytes, void *stream);
} lt;

const char *lt_open(const char *library)
{
	static const library_function functions[] = {
		{"cublasLtCreate", (void **)&lt.create},
		{"cublasLtDestroy", (void **)&lt.destroy},
		{"cublasLtMatmulDescCreate", (void **)&lt.desc_create},
		{"cublasLtMatmulDescDestroy", (void **)&lt.desc_destroy},
		{"cublasLtMatmulDescSetAttribute", (void **)&lt.desc_set},
		{"cublasLtMatrixLayoutCreate", (void **)&lt.layout_create},
		{"cublasLtMatrixLayoutDestroy", (void **)&lt.layout_destroy},
		{"cublasLtMatmulPreferenceCreate", (void **)&lt.preference_create},
		{"cublasLtMatmulPreferenceDestroy", (void **)&lt.preference_destroy},
		{"cublasLtMatmulPreferenceSetAttribute", (void **)&lt.preference_set},
		{"cublasLtMatmulAlgoGetHeuristic", (void **)&lt.propose},
		{"cublasLtMatmul", (void **)&lt.matmul},
	};
	return library_open(library, functions, sizeof functions / sizeof functions[0]);
}

int lt_create(queue q, void **handle)
{
	ENTER(q);
	if (!lt.create)
		return not_initialized;
	return lt.create(handle);
}

int lt_destroy(queue q, void *handle)
{
	ENTER(q);
	return lt.destroy(handle);
}

struct lt_plan {
	int type;
	void *desc, *a, *b, *d;
	algorithm algorithm;
};

void lt_discard(lt_plan *p)
{
	if (p->desc)
		lt.desc_destroy(p->desc);
	if (p->a)
		lt.layout_destroy(p->a);
	if (p->b)
		lt.layout_destroy(p->b);
	if (p->d)
		lt.layout_destroy(p->d);
	free(p);
}

static int describe(lt_plan *p, const lt_matmul *m)
{
	int compute = m->type == lt_float64 ? compute_64 : m->type == lt_tf32 ? compute_32_tf32 : compute_32;
	int real = m->type == lt_float64 ? real_64 : real_32;
	p->type = m->type;
	TRY(lt.desc_create(&p->desc, compute, real));
	TRY(lt.desc_set(p->desc, desc_transa, &m->transa, sizeof m->transa));
	TRY(lt.desc_set(p->desc, desc_transb, &m->transb, sizeof m->transb));
	TRY(lt.desc_set(p->desc, desc_epilogue, &m->epilogue, sizeof m->epilogue));
	TRY(lt.layout_create(&p->a, real, m->transa ? m->k : m->m, m->transa ? m->m : m->k, m->lda));
	TRY(lt.layout_create(&p->b, real, m->transb ? m->n : m->k, m->transb ? m->k : m->n, m->ldb));
	return lt.layout_create(&p->d, real, m->m, m->n, m->ldd);
}

static int choose(lt_plan *p, void *handle, void *preference, size_t workspace, size_t *needs)
{
	TRY(lt.preference_set(preference, preference_workspace, &workspace, sizeof workspace));
	for (int attribute = preference_alignment_a; attribute <= preference_alignment_d; attribute++) {
		uint32_t alignment = lt_alignment;
		TRY(lt.preference_set(preference, attribute, &alignment, sizeof alignment));
	}
	proposal first;
	int count = 0;
	TRY(lt.propose(handle, p->desc, p->a, p->b, p->d, p->d, preference, 1, &first, &count));
	if (count == 0)
		return not_supported;
	TRY(first.status);
	p->algorithm = first.algorithm;
	*needs = first.workspace;
	return 0;
}

int lt_prepare(queue q, void *handle, const lt_matmul *m, size_t workspace, lt_plan **plan, size_t *needs)
{
	ENTER(q);
	lt_plan *p = calloc(1, sizeof *p);
	if (!p)
		return alloc_failed;
	void *preference = NULL;
	int r = describe(p, m);
	if (!r)
		r = lt.preference_create(&preference);
	if (!r)
		r = choose(p, handle, preference, workspace, needs);
	if (preference)
		lt.preference_destroy(preference);
	if (r)
		lt_discard(p);
	else
		*plan = p;
	return r;
}

int lt_start(queue q, void *handle, lt_plan *p, uint64_t a, uint64_t b, uint64_t d, uint64_t extra, uint64_t workspace, size_t bytes)
{
	static const float one_32 = 1, zero_32 = 0;
	static const double one_64 = 1, zero_64 = 0;
	int wide = p->type == lt_float64;
	void *to = (void *)(uintptr_t)d;
	ENTER(q);
	TRY(lt.desc_set(p->desc, desc_extra, &extra, sizeof extra));
	return lt.matmul(handle, p->desc, wide ? (const void *)&one_64 : &one_32, (const void *)(uintptr_t)a, p->a, (const void *)(uintptr_t)b, p->b,
			 wide ? (const void *)&zero_64 : &zero_32, to, p->d, to, p->d, &p->algorithm, (void *)(uintptr_t)workspace, bytes, q.stream);
}
