// What gorgonia.org/cu lacks, and what it does with more calls than a training
// step can pay for. Handles are the driver's own, passed as void*. Results are
// CUresult, 0 for success.
//
// Every call with a queue makes the queue's context current on the calling
// thread first: a goroutine may be on another thread each time.
#ifndef GRADBOOK_DRIVER_H
#define GRADBOOK_DRIVER_H

#include <stddef.h>
#include <stdint.h>

// Opens the driver and initializes it. Returns NULL and the result of cuInit,
// or what the dynamic linker said.
const char *driver_open(const char *library, int *result);

const char *driver_error_name(int result);
const char *driver_error_text(int result);

typedef struct {
	void *context;
	void *stream;
} queue;

// params is the kernel's one argument, a struct passed by value.
int queue_launch(queue q, void *function, const uint32_t grid[3], const uint32_t block[3], const void *params);
int queue_upload(queue q, uint64_t dst, const void *src, size_t bytes);
int queue_download(queue q, void *dst, uint64_t src, size_t bytes);
int queue_copy(queue q, uint64_t dst, uint64_t src, size_t bytes);
int queue_wait(queue q);

// Pinned memory can be reached by the device's copy engine.
int queue_pinned(queue q, void **p, size_t bytes);
int queue_pinned_free(queue q, void *p);

// Stream capture. Between begin and end, work goes into a graph instead of
// running; after each piece of it, leaves tells which nodes it ended in, and
// before the next one, follow says which nodes it has to wait for.
int capture_begin(queue q);
int capture_follow(queue q, void **nodes, size_t count);
// Writes at most room nodes and returns their number in count.
int capture_leaves(queue q, void **nodes, size_t room, size_t *count);
int capture_end(queue q, void **graph);

// Makes an executable of a graph and puts it onto the device.
int graph_compile(queue q, void *graph, void **executable);
int graph_launch(queue q, void *executable);
int graph_free(queue q, void *executable);
int graph_discard(queue q, void *graph);

// Change nodes of an executable; they are named by the graph that it was made
// of. Launches that run already are not affected.
int node_kernel(queue q, void *executable, void *node, void *function, const uint32_t grid[3], const uint32_t block[3], const void *params);
int node_copy(queue q, void *executable, void *node, uint64_t dst, uint64_t src, size_t bytes);
int node_enable(queue q, void *executable, void *node, int enabled);

int event_elapsed(queue q, void *start, void *end, float *milliseconds);

#endif
