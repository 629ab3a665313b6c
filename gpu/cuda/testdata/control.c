// What a test sets and reads, memory, and the work of streams: see fake.h.

#include "fake.h"

#include <stdarg.h>
#include <sys/mman.h>

// What a test sets and reads.

static char *log_text;
static size_t log_used, log_room;
static char fail_name[64];
static int fail_after, fail_result;
static int64_t memory_used;
static int lost; // the result that every call of the process has
static executor execute;

struct settings fake = {.memory = (int64_t)1 << 34, .version = 13000, .devices = 1, .capability = 9};
loader fake_loaded;

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
		fake.memory = value;
	else if (!strcmp(what, "version"))
		fake.version = value;
	else if (!strcmp(what, "devices"))
		fake.devices = value;
	else if (!strcmp(what, "capability"))
		fake.capability = value;
	else if (!strcmp(what, "lost")) // 0 stands for a new process
		lost = value;
	else if (!strcmp(what, "order"))
		fake.order = value;
	else
		abort();
}

EXPORT int64_t fake_used(void) { return memory_used; }

EXPORT void fake_hooks(executor e, loader l)
{
	execute = e;
	fake_loaded = l;
}

// Device memory. Addresses are not used twice, so what is freed stays known by
// name; its pages are given back.

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

int fake_allocate(size_t bytes, struct allocation **made)
{
	if (memory_used + (int64_t)bytes > fake.memory)
		return OUT_OF_MEMORY;
	void *p = mmap(NULL, pages(bytes), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (p == MAP_FAILED)
		return OUT_OF_MEMORY;
	memset(p, 0xA5, bytes < page ? bytes : page); // undefined content
	struct allocation *a = calloc(1, sizeof *a);
	*a = (struct allocation){(uint64_t)(uintptr_t)p, bytes, ++allocation_count, current, live};
	*made = live = a;
	memory_used += bytes;
	return SUCCESS;
}

int fake_release(uint64_t address)
{
	struct allocation **a = &live;
	while (*a && (*a)->address != address)
		a = &(*a)->next;
	if (!*a)
		return 0;
	bury(a);
	return dead->number;
}

void fake_leave(struct context *c)
{
	for (struct allocation **a = &live; *a;)
		if ((*a)->context == c) {
			fake_log("left %d %zu", (*a)->number, (*a)->bytes);
			bury(a);
		} else {
			a = &(*a)->next;
		}
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

__thread struct context *current;

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
	case PRODUCT:
		return fake_multiply(w->product);
	case MARK:
		w->event->pending--;
		return SUCCESS;
	}
	return INVALID_VALUE;
}

int fake_drain(struct stream *s, struct event *until)
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
