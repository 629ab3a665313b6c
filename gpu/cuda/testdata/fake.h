// A CUDA driver without a device, for tests: memory is the host's, work given
// to a stream runs when somebody waits for it and not before, and every call
// that costs something on a real device is a line in a log.
//
// Running late is what makes it strict: memory that is freed or written over
// while work still needs it shows as wrong data or as an illegal address.
//
// Calls come one at a time, from any thread. Handles are never reused.
#ifndef FAKE_H
#define FAKE_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define EXPORT __attribute__((visibility("default")))

enum {
	SUCCESS = 0,
	INVALID_VALUE = 1,
	OUT_OF_MEMORY = 2,
	NOT_FOUND = 500,
	INVALID_CONTEXT = 201,
	INVALID_HANDLE = 400,
	ILLEGAL_ADDRESS = 700,
	CAPTURE_INVALIDATED = 901,
};

// Parameter blocks are logged and kept whole; none is larger.
enum { block_bytes = 128 };

// A piece of work of a stream, or a node of a graph.
struct work {
	enum { UPLOAD, DOWNLOAD, COPY, LAUNCH, PRODUCT, MARK } kind;
	uint64_t device; // address that a copy has on the device
	uint64_t from;   // and the other one, of COPY
	void *host;
	size_t bytes;
	struct function *function;
	unsigned grid[3], block[3];
	unsigned char params[block_bytes];
	struct product *product;
	struct event *event;
	// Of a node: those before it.
	struct work **after;
	size_t after_count;
	int ran, off;
	struct work *next;
};

struct function {
	char name[64];
	int module;
};

struct event {
	struct stream *recorded;
	int pending;
};

struct graph {
	struct work *first, **last;
	int nodes;
	int destroyed;
	struct graph *template; // of an executable
};

struct stream {
	struct context *context;
	struct work *first, **last;
	struct graph *capture; // NULL: not capturing
	struct work **follow;  // what the next captured node waits for
	size_t follow_count;
};

struct context {
	int destroyed;
};

struct product {
	char type; // 's' or 'd'
	int transa, transb, m, n, k, lda, ldb, ldc, batch;
	double alpha, beta;
	uint64_t a, b, c;
	long long stridea, strideb, stridec;
	// Of cuBLASLt.
	int end; // cublasLtEpilogue_t
	uint64_t extra, workspace;
	size_t workspace_bytes;
};

// Runs a product.
int fake_multiply(struct product *p);

// What a test sets with fake_set.
extern struct settings {
	int64_t memory; // bytes of a device
	int version, devices, capability;
	int64_t order; // 0: graphs run as captured; else a seed for the choice among ready nodes
} fake;

// How a test runs kernels, and learns which module has which number.
typedef int (*executor)(const char *entry, int module, const void *params);
typedef void (*loader)(int module, const char *image);
extern loader fake_loaded;

struct allocation {
	uint64_t address;
	size_t bytes;
	int number;
	struct context *context;
	struct allocation *next;
};

extern __thread struct context *current;

void fake_log(const char *format, ...) __attribute__((format(printf, 1, 2)));

// The result that a call of this name has: what a test asked for, or that of a
// process or thread that can do nothing.
int fake_enter(const char *name);
#define ENTER(name)                              \
	do {                                     \
		int entered = fake_enter(#name); \
		if (entered)                     \
			return entered;          \
	} while (0)

int fake_allocate(size_t bytes, struct allocation **made);
int fake_release(uint64_t address);       // the allocation's number, or 0
void fake_leave(struct context *c);       // releases what a context has
void *fake_memory(uint64_t address, size_t bytes); // NULL unless all of it is live

// Gives work to a stream, or to the graph that it captures.
int fake_submit(struct stream *s, struct work w);
// Runs a stream's work, all of it or until an event is no longer pending.
int fake_drain(struct stream *s, struct event *until);

#endif
