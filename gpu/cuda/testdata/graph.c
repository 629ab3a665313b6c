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
	return SUCCESS;
}

EXPORT int cuGraphInstantiateWithFlags(struct graph **executable, struct graph *g, unsigned long long flags)
{
	(void)flags;
	ENTER(cuGraphInstantiate);
	*executable = malloc(sizeof *g);
	**executable = *g;
	return SUCCESS;
}

EXPORT int cuGraphUpload(struct graph *g, struct stream *s)
{
	(void)g, (void)s;
	return SUCCESS;
}

EXPORT int cuGraphDestroy(struct graph *g)
{
	(void)g;
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
		struct work copy = *pick;
		copy.after = NULL;
		copy.after_count = 0;
		fake_submit(s, copy);
	}
	return SUCCESS;
}
