// libcuda: see fake.h.

#include "fake.h"

#include <stdarg.h>
#include <sys/mman.h>

// What a test sets and reads.

static char *log_text;
static size_t log_used, log_room;
static char fail_name[64];
static int fail_after, fail_result;
static int64_t memory_limit = (int64_t)1 << 34, memory_used;
static int driver_version = 13000, device_count = 1, capability_major = 9;
static int lost;     // the result that every call of the process has
static int64_t order; // 0: graphs run as captured; else a seed for the choice among ready nodes

typedef int (*executor)(const char *entry, int module, const void *params);
typedef void (*loader)(int module, const char *image);
static executor execute;
static loader loaded;

void fake_log(const char *format, ...)
{
	va_list args;
	char line[1024];
	va_start(args, format);
	size_t n = vsnprintf(line, sizeof line, format, args);
	va_end(args);
	if (n >= sizeof line)
		abort();
	if (log_used + n + 2 > log_room) {
		log_room = 2 * (log_used + n + 2);
		log_text = realloc(log_text, log_room);
	}
	memcpy(log_text + log_used, line, n);
	log_text[log_used + n] = '\n';
	log_text[log_used + n + 1] = 0;
	log_used += n + 1;
}

EXPORT const char *fake_take_log(void)
{
	static char *taken;
	free(taken);
	taken = log_text ? log_text : calloc(1, 1);
	log_text = NULL;
	log_used = log_room = 0;
	return taken;
}

// The after-th call of name from now on (0 is the next) has the result.
EXPORT void fake_fail(const char *name, int after, int result)
{
	snprintf(fail_name, sizeof fail_name, "%s", name);
	fail_after = after;
	fail_result = result;
}

EXPORT void fake_set(const char *what, int64_t value)
{
	if (!strcmp(what, "memory"))
		memory_limit = value;
	else if (!strcmp(what, "version"))
		driver_version = value;
	else if (!strcmp(what, "devices"))
		device_count = value;
	else if (!strcmp(what, "capability"))
		capability_major = value;
	else if (!strcmp(what, "lost")) // 0 stands for a new process
		lost = value;
	else if (!strcmp(what, "order"))
		order = value;
	else
		abort();
}

EXPORT int64_t fake_used(void) { return memory_used; }

EXPORT void fake_hooks(executor e, loader l)
{
	execute = e;
	loaded = l;
}

// Device memory. Addresses are not used twice, so what is freed stays known by
// name; its pages are given back.

struct allocation {
	uint64_t address;
	size_t bytes;
	int number;
	struct context *context;
	struct allocation *next;
};

enum { page = 4096 };

static struct allocation *live, *dead;
static int allocation_count;

static struct allocation *find(struct allocation *a, uint64_t address)
{
	while (a && (address < a->address || address >= a->address + a->bytes))
		a = a->next;
	return a;
}

// Memory between allocations belongs to none.
static size_t pages(size_t bytes) { return (bytes / page + 2) * page; }

static void bury(struct allocation **a)
{
	struct allocation *gone = *a;
	*a = gone->next;
	gone->next = dead;
	dead = gone;
	memory_used -= gone->bytes;
	madvise((void *)(uintptr_t)gone->address, pages(gone->bytes), MADV_DONTNEED);
}

void *fake_memory(uint64_t address, size_t bytes)
{
	struct allocation *a = find(live, address);
	if (!a || address + bytes > a->address + a->bytes)
		return NULL;
	return (void *)(uintptr_t)address;
}

// Bytes from an address to the end of its allocation; 0 if it is not live.
EXPORT int64_t fake_extent(uint64_t address)
{
	struct allocation *a = find(live, address);
	return a ? (int64_t)(a->address + a->bytes - address) : 0;
}

EXPORT void *fake_at(uint64_t address) { return (void *)(uintptr_t)address; }

// An address as allocation number << 40 | offset; -1 if it was never in one.
EXPORT int64_t fake_name(uint64_t address)
{
	struct allocation *a = find(live, address);
	if (!a)
		a = find(dead, address);
	return a ? ((int64_t)a->number << 40) | (int64_t)(address - a->address) : -1;
}

// Contexts and streams.

static __thread struct context *current;

int fake_enter(const char *name)
{
	if (*fail_name && !strcmp(name, fail_name) && fail_after-- == 0) {
		*fail_name = 0;
		fake_log("%s fails with %d", name, fail_result);
		if (fail_result == ILLEGAL_ADDRESS)
			lost = fail_result;
		return fail_result;
	}
	if (lost)
		return lost;
	return !current || current->destroyed ? INVALID_CONTEXT : SUCCESS;
}

#define ENTER(name)                              \
	do {                                     \
		int entered = fake_enter(#name); \
		if (entered)                     \
			return entered;          \
	} while (0)

int fake_submit(struct stream *s, struct work w)
{
	struct work *kept = malloc(sizeof *kept);
	*kept = w;
	kept->next = NULL;
	if (!s->capture) {
		*s->last = kept;
		s->last = &kept->next;
		return SUCCESS;
	}
	kept->after = s->follow;
	kept->after_count = s->follow_count;
	s->follow = malloc(sizeof *s->follow);
	s->follow[0] = kept;
	s->follow_count = 1;
	*s->capture->last = kept;
	s->capture->last = &kept->next;
	s->capture->nodes++;
	return SUCCESS;
}

#define ELEMENT(type, base, i) ((type *)(base))[i]

#define MULTIPLY(type)                                                                                        \
	for (int batch = 0; batch < p->batch; batch++)                                                        \
		for (int j = 0; j < p->n; j++)                                                                \
			for (int i = 0; i < p->m; i++) {                                                      \
				type sum = 0;                                                                 \
				for (int l = 0; l < p->k; l++)                                                \
					sum += ELEMENT(type, p->a, batch * p->stridea + (p->transa ? l + (long long)i * p->lda : i + (long long)l * p->lda)) * \
					       ELEMENT(type, p->b, batch * p->strideb + (p->transb ? j + (long long)l * p->ldb : l + (long long)j * p->ldb)); \
				type *c = &ELEMENT(type, p->c, batch * p->stridec + i + (long long)j * p->ldc); \
				*c = (type)p->alpha * sum + (p->beta != 0 ? (type)p->beta * *c : 0);          \
			}

static int run(struct work *w)
{
	switch (w->kind) {
	case UPLOAD:
	case DOWNLOAD: {
		void *device = fake_memory(w->device, w->bytes);
		if (!device)
			return ILLEGAL_ADDRESS;
		if (w->kind == UPLOAD)
			memcpy(device, w->host, w->bytes);
		else
			memcpy(w->host, device, w->bytes);
		return SUCCESS;
	}
	case COPY: {
		void *to = fake_memory(w->device, w->bytes), *from = fake_memory(w->from, w->bytes);
		if (!to || !from)
			return ILLEGAL_ADDRESS;
		memmove(to, from, w->bytes);
		return SUCCESS;
	}
	case LAUNCH:
		return execute ? execute(w->function->name, w->function->module, w->params) : SUCCESS;
	case PRODUCT: {
		struct product *p = w->product;
		if (!fake_memory(p->a, 1) || !fake_memory(p->b, 1) || !fake_memory(p->c, 1))
			return ILLEGAL_ADDRESS;
		if (p->type == 's') {
			MULTIPLY(float)
		} else {
			MULTIPLY(double)
		}
		return SUCCESS;
	}
	case MARK:
		w->event->pending--;
		return SUCCESS;
	}
	return INVALID_VALUE;
}

// Runs a stream's work, all of it or until an event is no longer pending.
static int drain(struct stream *s, struct event *until)
{
	while (s->first && !lost && (!until || until->pending)) {
		struct work *w = s->first;
		s->first = w->next;
		if (!s->first)
			s->last = &s->first;
		int r = run(w);
		if (r) {
			fake_log("work fails with %d", r);
			lost = r;
		}
		free(w);
	}
	return lost;
}

EXPORT int cuInit(unsigned flags) { return flags ? INVALID_VALUE : device_count < 0 ? 100 : SUCCESS; }

EXPORT int cuDriverGetVersion(int *version)
{
	*version = driver_version;
	return SUCCESS;
}

EXPORT int cuGetErrorName(int result, const char **name)
{
	switch (result) {
	case OUT_OF_MEMORY: *name = "CUDA_ERROR_OUT_OF_MEMORY"; return SUCCESS;
	case 100: *name = "CUDA_ERROR_NO_DEVICE"; return SUCCESS;
	case 222: *name = "CUDA_ERROR_UNSUPPORTED_PTX_VERSION"; return SUCCESS;
	case ILLEGAL_ADDRESS: *name = "CUDA_ERROR_ILLEGAL_ADDRESS"; return SUCCESS;
	}
	*name = NULL;
	return INVALID_VALUE;
}

EXPORT int cuGetErrorString(int result, const char **text)
{
	switch (result) {
	case OUT_OF_MEMORY: *text = "out of memory"; return SUCCESS;
	case 100: *text = "no CUDA-capable device is detected"; return SUCCESS;
	case 222: *text = "the provided PTX was compiled with an unsupported toolchain."; return SUCCESS;
	case ILLEGAL_ADDRESS: *text = "an illegal memory access was encountered"; return SUCCESS;
	}
	*text = NULL;
	return INVALID_VALUE;
}

EXPORT int cuDeviceGetCount(int *count)
{
	*count = device_count;
	return SUCCESS;
}

EXPORT int cuDeviceGet(int *device, int ordinal)
{
	*device = ordinal;
	return ordinal < device_count ? SUCCESS : 101;
}

EXPORT int cuDeviceGetName(char *name, int room, int device)
{
	snprintf(name, room, "Fake %d", device);
	return SUCCESS;
}

EXPORT int cuDeviceTotalMem_v2(size_t *bytes, int device)
{
	(void)device;
	*bytes = memory_limit;
	return SUCCESS;
}

EXPORT int cuDeviceGetAttribute(int *value, int attribute, int device)
{
	(void)device;
	*value = attribute == 75 ? capability_major : 0; // CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR
	return SUCCESS;
}

EXPORT int cuCtxCreate_v2(struct context **c, unsigned flags, int device)
{
	(void)flags, (void)device;
	current = *c = calloc(1, sizeof **c);
	ENTER(cuCtxCreate);
	fake_log("context");
	return SUCCESS;
}

EXPORT int cuCtxSetCurrent(struct context *c)
{
	current = c;
	return SUCCESS;
}

EXPORT int cuCtxDestroy_v2(struct context *c)
{
	fake_log("destroy context");
	// Its memory goes with it.
	for (struct allocation **a = &live; *a;)
		if ((*a)->context == c) {
			fake_log("left %d %zu", (*a)->number, (*a)->bytes);
			bury(a);
		} else {
			a = &(*a)->next;
		}
	c->destroyed = 1;
	current = NULL;
	return lost;
}

EXPORT int cuStreamCreate(struct stream **s, unsigned flags)
{
	(void)flags;
	ENTER(cuStreamCreate);
	*s = calloc(1, sizeof **s);
	(*s)->context = current;
	(*s)->last = &(*s)->first;
	return SUCCESS;
}

EXPORT int cuStreamDestroy_v2(struct stream *s)
{
	(void)s;
	return SUCCESS;
}

EXPORT int cuStreamSynchronize(struct stream *s)
{
	ENTER(cuStreamSynchronize);
	fake_log("wait");
	return drain(s, NULL);
}

EXPORT int cuMemAlloc_v2(uint64_t *address, size_t bytes)
{
	ENTER(cuMemAlloc);
	if (memory_used + (int64_t)bytes > memory_limit) {
		fake_log("alloc %zu out of memory", bytes);
		return OUT_OF_MEMORY;
	}
	void *p = mmap(NULL, pages(bytes), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (p == MAP_FAILED)
		return OUT_OF_MEMORY;
	memset(p, 0xA5, bytes < page ? bytes : page); // undefined content
	struct allocation *a = calloc(1, sizeof *a);
	*a = (struct allocation){(uint64_t)(uintptr_t)p, bytes, ++allocation_count, current, live};
	live = a;
	memory_used += bytes;
	*address = a->address;
	fake_log("alloc %d %zu", a->number, bytes);
	return SUCCESS;
}

EXPORT int cuMemFree_v2(uint64_t address)
{
	ENTER(cuMemFree);
	struct allocation **a = &live;
	while (*a && (*a)->address != address)
		a = &(*a)->next;
	if (!*a) {
		fake_log("free of what is not allocated");
		return INVALID_VALUE;
	}
	fake_log("free %d", (*a)->number);
	bury(a);
	return SUCCESS;
}

EXPORT int cuMemHostAlloc(void **p, size_t bytes, unsigned flags)
{
	(void)flags;
	ENTER(cuMemHostAlloc);
	*p = malloc(bytes);
	fake_log("pin %zu", bytes);
	return SUCCESS;
}

EXPORT int cuMemFreeHost(void *p)
{
	fake_log("unpin");
	free(p);
	return SUCCESS;
}

EXPORT int cuMemcpyHtoDAsync_v2(uint64_t device, const void *host, size_t bytes, struct stream *s)
{
	ENTER(cuMemcpyHtoDAsync);
	fake_log("upload %llx %zu", (unsigned long long)device, bytes);
	return fake_submit(s, (struct work){.kind = UPLOAD, .device = device, .host = (void *)host, .bytes = bytes});
}

EXPORT int cuMemcpyDtoHAsync_v2(void *host, uint64_t device, size_t bytes, struct stream *s)
{
	ENTER(cuMemcpyDtoHAsync);
	fake_log("download %llx %zu", (unsigned long long)device, bytes);
	return fake_submit(s, (struct work){.kind = DOWNLOAD, .device = device, .host = host, .bytes = bytes});
}

EXPORT int cuMemcpyDtoDAsync_v2(uint64_t to, uint64_t from, size_t bytes, struct stream *s)
{
	ENTER(cuMemcpyDtoDAsync);
	fake_log("copy %llx %llx %zu", (unsigned long long)to, (unsigned long long)from, bytes);
	return fake_submit(s, (struct work){.kind = COPY, .device = to, .from = from, .bytes = bytes});
}

EXPORT int cuEventCreate(struct event **e, unsigned flags)
{
	(void)flags;
	ENTER(cuEventCreate);
	*e = calloc(1, sizeof **e);
	return SUCCESS;
}

EXPORT int cuEventDestroy_v2(struct event *e)
{
	(void)e; // a stream may still have it
	return SUCCESS;
}

EXPORT int cuEventRecord(struct event *e, struct stream *s)
{
	ENTER(cuEventRecord);
	e->recorded = s;
	e->pending++;
	return fake_submit(s, (struct work){.kind = MARK, .event = e});
}

EXPORT int cuEventSynchronize(struct event *e)
{
	ENTER(cuEventSynchronize);
	fake_log("wait for event");
	return e->recorded ? drain(e->recorded, e) : SUCCESS;
}

// Each timed stretch takes a millisecond.
EXPORT int cuEventElapsedTime(float *milliseconds, struct event *start, struct event *end)
{
	if (start->pending || end->pending)
		return 600;
	*milliseconds = 1;
	return SUCCESS;
}

static int module_count;

EXPORT int cuModuleLoadDataEx(int **module, const char *image, unsigned options, int *names, void **values)
{
	ENTER(cuModuleLoadDataEx);
	for (unsigned i = 0; i < options; i++)
		if (names[i] == 5) // CU_JIT_ERROR_LOG_BUFFER
			*(char *)values[i] = 0;
	*module = malloc(sizeof **module);
	**module = ++module_count;
	if (loaded)
		loaded(**module, image);
	fake_log("module %d", **module);
	return SUCCESS;
}

EXPORT int cuModuleUnload(int *module)
{
	(void)module;
	return SUCCESS;
}

EXPORT int cuModuleGetFunction(struct function **f, int *module, const char *name)
{
	ENTER(cuModuleGetFunction);
	*f = calloc(1, sizeof **f);
	snprintf((*f)->name, sizeof (*f)->name, "%s", name);
	(*f)->module = *module;
	return SUCCESS;
}

EXPORT int cuLaunchKernel(struct function *f, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz,
			  unsigned shared, struct stream *s, void **params, void **extra)
{
	(void)shared, (void)extra;
	ENTER(cuLaunchKernel);
	struct work w = {.kind = LAUNCH, .function = f, .grid = {gx, gy, gz}, .block = {bx, by, bz}};
	memcpy(w.params, params[0], block_bytes);
	char hex[2 * block_bytes + 1];
	for (int i = 0; i < block_bytes; i++)
		sprintf(hex + 2 * i, "%02x", w.params[i]);
	fake_log("launch %s %d %u,%u,%u %u,%u,%u %s", f->name, f->module, gx, gy, gz, bx, by, bz, hex);
	return fake_submit(s, w);
}

// Capture and graphs.

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
	uint64_t random = order;
	for (struct work *w = g->first; w; w = w->next)
		w->ran = 0;
	for (int left = g->nodes; left > 0; left--) {
		struct work *pick = NULL;
		int candidates = 0;
		for (struct work *w = g->first; w; w = w->next)
			if (ready(w)) {
				random = random * 6364136223846793005u + 1442695040888963407u;
				candidates++;
				if (!pick || (order && (random >> 33) % candidates == 0))
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
