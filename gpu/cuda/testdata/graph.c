// Stream capture and graphs: see fake.h.

#include "fake.h"

EXPORT int cuStreamBeginCapture_v2(struct stream *s, int mode)
{
	(void)mode;
	ENTER(cuStreamBeginCapture);
	fake_log("begin capture");
	s->capture = calloc(1, sizeof *s->capture);
	s->capture->last = &s->capture->first;
	s->follow = NULL;
	s->follow_count = 0;
	return SUCCESS;
}

EXPORT int cuStreamUpdateCaptureDependencies(struct stream *s, struct work **nodes, size_t count, unsigned flags)
{
	ENTER(cuStreamUpdateCaptureDependencies);
	if (!s->capture || flags != 1) // CU_STREAM_SET_CAPTURE_DEPENDENCIES
		return INVALID_VALUE;
	s->follow = malloc((count + 1) * sizeof *s->follow);
	memcpy(s->follow, nodes, count * sizeof *s->follow);
	s->follow_count = count;
	return SUCCESS;
}

EXPORT int cuStreamGetCaptureInfo_v2(struct stream *s, int *status, uint64_t *id, struct graph **graph, struct work ***leaves, size_t *count)
{
	(void)id, (void)graph;
	ENTER(cuStreamGetCaptureInfo);
	*status = s->capture ? 1 : 0;
	*leaves = s->follow;
	*count = s->follow_count;
	return SUCCESS;
}

static int waits(struct work *w, struct work *for_it)
{
	for (size_t i = 0; i < w->after_count; i++)
		if (w->after[i] == for_it || waits(w->after[i], for_it))
			return 1;
	return 0;
}

// Products that may overlap must not share a workspace.
static int workspaces(struct graph *g)
{
	for (struct work *a = g->first; a; a = a->next)
		for (struct work *b = a->next; b; b = b->next)
			if (a->kind == PRODUCT && b->kind == PRODUCT && a->product->workspace_bytes && b->product->workspace_bytes &&
			    a->product->workspace == b->product->workspace && !waits(b, a)) {
				fake_log("nodes %d and %d share a workspace", a->ran, b->ran);
				return INVALID_VALUE;
			}
	return SUCCESS;
}

EXPORT int cuStreamEndCapture(struct stream *s, struct graph **graph)
{
	struct graph *g = s->capture;
	s->capture = NULL;
	*graph = NULL;
	ENTER(cuStreamEndCapture);
	if (!g)
		return CAPTURE_INVALIDATED;
	fake_log("end capture");
	// Nodes by number, and what each waits for.
	int number = 0;
	for (struct work *w = g->first; w; w = w->next)
		w->ran = number++;
	for (struct work *w = g->first; w; w = w->next) {
		char list[512] = "";
		for (size_t i = 0; i < w->after_count; i++)
			snprintf(list + strlen(list), sizeof list - strlen(list), " %d", w->after[i]->ran);
		fake_log("node %d after%s", w->ran, list);
	}
	*graph = g;
	return workspaces(g);
}

EXPORT int cuGraphInstantiateWithFlags(struct graph **executable, struct graph *g, unsigned long long flags)
{
	(void)flags;
	ENTER(cuGraphInstantiate);
	*executable = malloc(sizeof *g);
	**executable = *g;
	(*executable)->template = g;
	return SUCCESS;
}

EXPORT int cuGraphUpload(struct graph *g, struct stream *s)
{
	(void)g, (void)s;
	return SUCCESS;
}

EXPORT int cuGraphDestroy(struct graph *g)
{
	g->destroyed = 1;
	fake_log("destroy graph");
	return SUCCESS;
}

EXPORT int cuGraphExecDestroy(struct graph *g)
{
	(void)g;
	fake_log("destroy executable");
	return SUCCESS;
}

static int ready(struct work *w)
{
	for (size_t i = 0; i < w->after_count; i++)
		if (!w->after[i]->ran)
			return 0;
	return !w->ran;
}

// The node of an executable, which its graph names.
static struct work *node_of(struct graph *executable, struct work *node, int kind)
{
	if (executable->template->destroyed)
		return NULL;
	for (struct work *w = executable->first; w; w = w->next)
		if (w == node && (kind < 0 || (int)w->kind == kind))
			return w;
	return NULL;
}

// CUDA_KERNEL_NODE_PARAMS_v1 and CUDA_MEMCPY3D, as far as they are used here.
struct kernel_node {
	struct function *function;
	unsigned grid[3], block[3], shared;
	void **params, **extra;
};

struct memory {
	size_t x, y, z, lod;
	int type;
	const void *host;
	uint64_t device;
	void *array, *reserved;
	size_t pitch, height;
};

struct copy_node {
	struct memory from, to;
	size_t width, height, depth;
};

EXPORT int cuGraphExecKernelNodeSetParams(struct graph *g, struct work *node, const struct kernel_node *p)
{
	ENTER(cuGraphExecKernelNodeSetParams);
	struct work *w = node_of(g, node, LAUNCH);
	if (!w)
		return INVALID_VALUE;
	w->function = p->function;
	memcpy(w->grid, p->grid, sizeof w->grid);
	memcpy(w->block, p->block, sizeof w->block);
	memcpy(w->params, p->params[0], block_bytes);
	uint64_t first;
	memcpy(&first, w->params, sizeof first);
	fake_log("set %s %llx", w->function->name, (unsigned long long)first);
	return SUCCESS;
}

EXPORT int cuGraphExecMemcpyNodeSetParams(struct graph *g, struct work *node, const struct copy_node *p, struct context *c)
{
	ENTER(cuGraphExecMemcpyNodeSetParams);
	struct work *w = node_of(g, node, COPY);
	if (!w || c != current || p->from.type != 2 || p->to.type != 2 || p->height != 1 || p->depth != 1) // CU_MEMORYTYPE_DEVICE
		return INVALID_VALUE;
	w->device = p->to.device;
	w->from = p->from.device;
	w->bytes = p->width;
	fake_log("set copy %llx", (unsigned long long)w->from);
	return SUCCESS;
}

EXPORT int cuGraphNodeSetEnabled(struct graph *g, struct work *node, unsigned on)
{
	ENTER(cuGraphNodeSetEnabled);
	struct work *w = node_of(g, node, -1);
	if (!w)
		return INVALID_VALUE;
	w->off = !on;
	fake_log("%s a node", on ? "enable" : "disable");
	return SUCCESS;
}

// Hands the nodes to the stream in an order that the edges allow.
EXPORT int cuGraphLaunch(struct graph *g, struct stream *s)
{
	ENTER(cuGraphLaunch);
	fake_log("replay %d", g->nodes);
	uint64_t random = fake.order;
	for (struct work *w = g->first; w; w = w->next)
		w->ran = 0;
	for (int left = g->nodes; left > 0; left--) {
		struct work *pick = NULL;
		int candidates = 0;
		for (struct work *w = g->first; w; w = w->next)
			if (ready(w)) {
				random = random * 6364136223846793005u + 1442695040888963407u;
				candidates++;
				if (!pick || (fake.order && (random >> 33) % candidates == 0))
					pick = w;
			}
		pick->ran = 1;
		if (pick->off)
			continue;
		struct work copy = *pick;
		copy.after = NULL;
		copy.after_count = 0;
		fake_submit(s, copy);
	}
	return SUCCESS;
}
