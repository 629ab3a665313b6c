//go:build cuda && linux && amd64

#include "driver.h"

#include <cuda.h>

// The signatures that every driver since 11.4 has, whatever the header's
// version makes of the plain names.
CUresult begin_capture(CUstream, CUstreamCaptureMode) __asm__("cuStreamBeginCapture_v2");
CUresult capture_info(CUstream, CUstreamCaptureStatus *, cuuint64_t *, CUgraph *, const CUgraphNode **, size_t *) __asm__("cuStreamGetCaptureInfo_v2");
CUresult update_dependencies(CUstream, CUgraphNode *, size_t, unsigned) __asm__("cuStreamUpdateCaptureDependencies");
CUresult instantiate(CUgraphExec *, CUgraph, unsigned long long) __asm__("cuGraphInstantiateWithFlags");
CUresult set_kernel(CUgraphExec, CUgraphNode, const CUDA_KERNEL_NODE_PARAMS_v1 *) __asm__("cuGraphExecKernelNodeSetParams");
CUresult elapsed(float *, CUevent, CUevent) __asm__("cuEventElapsedTime");

#define ENTER(q)                                            \
	do {                                                \
		CUresult r = cuCtxSetCurrent((q).context);  \
		if (r)                                      \
			return r;                           \
	} while (0)

const char *driver_error_name(int result)
{
	const char *s = NULL;
	return cuGetErrorName(result, &s) ? NULL : s;
}

const char *driver_error_text(int result)
{
	const char *s = NULL;
	return cuGetErrorString(result, &s) ? NULL : s;
}

int queue_launch(queue q, void *function, const uint32_t grid[3], const uint32_t block[3], const void *params)
{
	void *arguments[] = {(void *)params};
	ENTER(q);
	return cuLaunchKernel(function, grid[0], grid[1], grid[2], block[0], block[1], block[2], 0, q.stream, arguments, NULL);
}

int queue_upload(queue q, uint64_t dst, const void *src, size_t bytes)
{
	ENTER(q);
	return cuMemcpyHtoDAsync(dst, src, bytes, q.stream);
}

int queue_download(queue q, void *dst, uint64_t src, size_t bytes)
{
	ENTER(q);
	return cuMemcpyDtoHAsync(dst, src, bytes, q.stream);
}

int queue_copy(queue q, uint64_t dst, uint64_t src, size_t bytes)
{
	ENTER(q);
	return cuMemcpyDtoDAsync(dst, src, bytes, q.stream);
}

int queue_wait(queue q)
{
	ENTER(q);
	return cuStreamSynchronize(q.stream);
}

int queue_pinned(queue q, void **p, size_t bytes)
{
	ENTER(q);
	return cuMemHostAlloc(p, bytes, 0);
}

int queue_pinned_free(queue q, void *p)
{
	ENTER(q);
	return cuMemFreeHost(p);
}

// Relaxed: cuBLAS may load code or ask the device something while it is
// captured, which the other modes forbid.
int capture_begin(queue q)
{
	ENTER(q);
	return begin_capture(q.stream, CU_STREAM_CAPTURE_MODE_RELAXED);
}

int capture_follow(queue q, void **nodes, size_t count)
{
	ENTER(q);
	return update_dependencies(q.stream, (CUgraphNode *)nodes, count, CU_STREAM_SET_CAPTURE_DEPENDENCIES);
}

int capture_leaves(queue q, void **nodes, size_t room, size_t *count)
{
	CUstreamCaptureStatus status;
	const CUgraphNode *leaves = NULL;
	ENTER(q);
	CUresult r = capture_info(q.stream, &status, NULL, NULL, &leaves, count);
	if (r)
		return r;
	if (status != CU_STREAM_CAPTURE_STATUS_ACTIVE)
		return CUDA_ERROR_STREAM_CAPTURE_INVALIDATED;
	if (*count > room)
		return CUDA_ERROR_INVALID_VALUE;
	for (size_t i = 0; i < *count; i++)
		nodes[i] = leaves[i];
	return 0;
}

int capture_end(queue q, void **graph)
{
	ENTER(q);
	return cuStreamEndCapture(q.stream, (CUgraph *)graph);
}

int graph_compile(queue q, void *graph, void **executable)
{
	CUgraphExec made = NULL;
	ENTER(q);
	CUresult r = instantiate(&made, graph, 0);
	if (r)
		return r;
	r = cuGraphUpload(made, q.stream);
	if (r) {
		cuGraphExecDestroy(made);
		return r;
	}
	*executable = made;
	return 0;
}

int graph_launch(queue q, void *executable)
{
	ENTER(q);
	return cuGraphLaunch(executable, q.stream);
}

int graph_free(queue q, void *executable)
{
	ENTER(q);
	return cuGraphExecDestroy(executable);
}

int graph_discard(queue q, void *graph)
{
	ENTER(q);
	return cuGraphDestroy(graph);
}

int node_kernel(queue q, void *executable, void *node, void *function, const uint32_t grid[3], const uint32_t block[3], const void *params)
{
	void *arguments[] = {(void *)params};
	CUDA_KERNEL_NODE_PARAMS_v1 p = {.func = function, .gridDimX = grid[0], .gridDimY = grid[1], .gridDimZ = grid[2],
		.blockDimX = block[0], .blockDimY = block[1], .blockDimZ = block[2], .kernelParams = arguments};
	ENTER(q);
	return set_kernel(executable, node, &p);
}

int node_copy(queue q, void *executable, void *node, uint64_t dst, uint64_t src, size_t bytes)
{
	CUDA_MEMCPY3D p = {.srcMemoryType = CU_MEMORYTYPE_DEVICE, .srcDevice = src, .dstMemoryType = CU_MEMORYTYPE_DEVICE, .dstDevice = dst,
		.WidthInBytes = bytes, .Height = 1, .Depth = 1};
	ENTER(q);
	return cuGraphExecMemcpyNodeSetParams(executable, node, &p, q.context);
}

int node_enable(queue q, void *executable, void *node, int enabled)
{
	ENTER(q);
	return cuGraphNodeSetEnabled(executable, node, enabled);
}

int event_elapsed(queue q, void *start, void *end, float *milliseconds)
{
	ENTER(q);
	return elapsed(milliseconds, start, end);
}
