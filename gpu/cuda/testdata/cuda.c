// libcuda: devices, contexts, memory, events, modules, launches. See fake.h.

#include "fake.h"

EXPORT int cuInit(unsigned flags) { return flags ? INVALID_VALUE : fake.devices < 0 ? 100 : SUCCESS; }

EXPORT int cuDriverGetVersion(int *version)
{
	*version = fake.version;
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
	*count = fake.devices;
	return SUCCESS;
}

EXPORT int cuDeviceGet(int *device, int ordinal)
{
	*device = ordinal;
	return ordinal < fake.devices ? SUCCESS : 101;
}

EXPORT int cuDeviceGetName(char *name, int room, int device)
{
	snprintf(name, room, "Fake %d", device);
	return SUCCESS;
}

EXPORT int cuDeviceTotalMem_v2(size_t *bytes, int device)
{
	(void)device;
	*bytes = fake.memory;
	return SUCCESS;
}

EXPORT int cuDeviceGetAttribute(int *value, int attribute, int device)
{
	(void)device;
	*value = attribute == 75 ? fake.capability : 0; // CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR
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
	int result = fake_enter("cuCtxDestroy"); // it is destroyed all the same
	fake_log("destroy context");
	fake_leave(c); // its memory goes with it
	c->destroyed = 1;
	current = NULL;
	return result;
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
	return fake_drain(s, NULL);
}

EXPORT int cuMemAlloc_v2(uint64_t *address, size_t bytes)
{
	ENTER(cuMemAlloc);
	struct allocation *a;
	int result = fake_allocate(bytes, &a);
	if (result) {
		fake_log("alloc %zu out of memory", bytes);
		return result;
	}
	*address = a->address;
	fake_log("alloc %d %zu", a->number, bytes);
	return SUCCESS;
}

EXPORT int cuMemFree_v2(uint64_t address)
{
	ENTER(cuMemFree);
	int number = fake_release(address);
	if (!number) {
		fake_log("free of what is not allocated");
		return INVALID_VALUE;
	}
	fake_log("free %d", number);
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
	return e->recorded ? fake_drain(e->recorded, e) : SUCCESS;
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
	if (fake_loaded)
		fake_loaded(**module, image);
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
