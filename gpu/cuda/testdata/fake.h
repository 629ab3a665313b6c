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
	int ran;
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
};

// Of the driver, for the fake cuBLAS.
void fake_log(const char *format, ...) __attribute__((format(printf, 1, 2)));
int fake_enter(const char *name);
int fake_submit(struct stream *s, struct work w);
void *fake_memory(uint64_t address, size_t bytes);

#endif
