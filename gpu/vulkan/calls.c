#include "calls.h"

#include <stdlib.h>

typedef struct { uint32_t type; const void *next; uint32_t flags; const void *inheritance; } begin_info;
typedef struct { uint32_t type; const void *next; uint32_t src, dst; } memory_barrier;
typedef struct { uint64_t src, dst, size; } copy_region;
typedef struct { uint32_t type; const void *next; void *buffer; } address_info;
typedef struct {
    uint32_t type; const void *next;
    uint32_t waits; const void *wait_semaphores; const uint32_t *wait_stages;
    uint32_t commands; void *const *command_buffers;
    uint32_t signals; const void *signal_semaphores;
} submit_info;

typedef struct { uint32_t type; const void *next; uint32_t flags, family, count; const float *priorities; } queue_info;
typedef struct {
    uint32_t type; const void *next; uint32_t flags;
    uint32_t queues; const queue_info *queue_infos;
    uint32_t layers; const char *const *layer_names;
    uint32_t extensions; const char *const *extension_names;
    const uint32_t *features;
} device_info;
typedef struct { uint32_t stages, offset, size; } constant_range;
typedef struct {
    uint32_t type; const void *next; uint32_t flags;
    uint32_t sets; const void *set_layouts;
    uint32_t ranges; const constant_range *constant_ranges;
} layout_info;
typedef struct { uint32_t id, offset; size_t size; } map_entry;
typedef struct { uint32_t entries; const map_entry *map; size_t size; const void *data; } specialization;
typedef struct { uint32_t type; const void *next; uint32_t flags, stage; void *module; const char *entry; const specialization *fixed; } stage_info;
typedef struct { uint32_t type; const void *next; uint32_t flags; stage_info stage; void *layout, *base; int32_t base_index; } pipeline_info;

struct gb_calls {
    void *device, *queue;
    int (*CreatePipelineLayout)(void *, const layout_info *, const void *, void **);
    int (*CreateComputePipelines)(void *, void *, uint32_t, const pipeline_info *, const void *, void **);
    uint64_t (*GetBufferDeviceAddress)(void *, const address_info *);
    int (*BeginCommandBuffer)(void *, const begin_info *);
    int (*EndCommandBuffer)(void *);
    void (*CmdPipelineBarrier)(void *, uint32_t, uint32_t, uint32_t, uint32_t, const memory_barrier *, uint32_t, const void *, uint32_t, const void *);
    void (*CmdBindPipeline)(void *, int, void *);
    void (*CmdPushConstants)(void *, void *, uint32_t, uint32_t, uint32_t, const void *);
    void (*CmdDispatch)(void *, uint32_t, uint32_t, uint32_t);
    void (*CmdCopyBuffer)(void *, void *, void *, uint32_t, const copy_region *);
    void (*CmdResetQueryPool)(void *, void *, uint32_t, uint32_t);
    void (*CmdWriteTimestamp)(void *, int, void *, uint32_t);
    int (*GetQueryPoolResults)(void *, void *, uint32_t, uint32_t, size_t, void *, uint64_t, uint32_t);
    int (*QueueSubmit)(void *, uint32_t, const submit_info *, void *);
    int (*WaitForFences)(void *, uint32_t, void *const *, uint32_t, uint64_t);
    int (*GetFenceStatus)(void *, void *);
    int (*ResetFences)(void *, uint32_t, void *const *);
};

enum {
    TOP_STAGE = 1, COMPUTE_STAGE = 0x800, TRANSFER_STAGE = 0x1000, BOTTOM_STAGE = 0x2000, HOST_STAGE = 0x4000,
    SHADER_READ = 0x20, SHADER_WRITE = 0x40, TRANSFER_READ = 0x800, TRANSFER_WRITE = 0x1000, HOST_READ = 0x2000, HOST_WRITE = 0x4000,
    COMPUTE_BIND = 1, COMPUTE_SHADER = 0x20,
    QUERY_64 = 1, QUERY_WITH_AVAILABILITY = 4,
};

gb_calls *gb_load(gb_proc get, void *device, void *queue, const char **missing)
{
    gb_calls *c = calloc(1, sizeof *c);
    c->device = device;
    c->queue = queue;
#define LOAD(name) if (!(c->name = get(device, "vk" #name))) { *missing = "vk" #name; free(c); return NULL; }
    LOAD(CreatePipelineLayout)
    LOAD(CreateComputePipelines)
    LOAD(GetBufferDeviceAddress)
    LOAD(BeginCommandBuffer)
    LOAD(EndCommandBuffer)
    LOAD(CmdPipelineBarrier)
    LOAD(CmdBindPipeline)
    LOAD(CmdPushConstants)
    LOAD(CmdDispatch)
    LOAD(CmdCopyBuffer)
    LOAD(CmdResetQueryPool)
    LOAD(CmdWriteTimestamp)
    LOAD(GetQueryPoolResults)
    LOAD(QueueSubmit)
    LOAD(WaitForFences)
    LOAD(GetFenceStatus)
    LOAD(ResetFences)
#undef LOAD
    return c;
}

int gb_ask(gb_proc get, void *instance, const char *call, void *physical, uint32_t type, void *chain)
{
    // The largest of the three structures has some 850 bytes.
    struct { uint32_t type; void *next; char body[4096]; } ask = {type, chain, {0}};
    void (*f)(void *, void *) = get(instance, call);
    if (!f) return 0;
    f(physical, &ask);
    return 1;
}

int gb_open(gb_proc get, void *instance, void *physical, const void *next, uint32_t family, int float64,
            const char *extension, void **device)
{
    int (*create)(void *, const device_info *, const void *, void **) = get(instance, "vkCreateDevice");
    if (!create) return -3; // VK_ERROR_INITIALIZATION_FAILED
    float priority = 1;
    queue_info queue = {2, NULL, 0, family, 1, &priority};
    uint32_t features[55] = {0}; // of VkPhysicalDeviceFeatures
    features[39] = float64;      // shaderFloat64
    features[40] = 1;            // shaderInt64
    device_info info = {3, next, 0, 1, &queue, 0, NULL, extension != NULL, &extension, features};
    return create(physical, &info, NULL, device);
}

int gb_layout(gb_calls *c, uint32_t size, void **layout)
{
    constant_range range = {COMPUTE_SHADER, 0, size};
    layout_info info = {30, NULL, 0, 0, NULL, 1, &range};
    return c->CreatePipelineLayout(c->device, &info, NULL, layout);
}

int gb_pipeline(gb_calls *c, void *cache, void *layout, void *module, const char *entry, uint32_t constant, void **pipeline)
{
    map_entry map = {0, 0, sizeof constant};
    specialization fixed = {1, &map, sizeof constant, &constant};
    pipeline_info info = {29, NULL, 0, {18, NULL, 0, COMPUTE_SHADER, module, entry, &fixed}, layout, NULL, 0};
    return c->CreateComputePipelines(c->device, cache, 1, &info, NULL, pipeline);
}

uint64_t gb_address(gb_calls *c, void *buffer)
{
    address_info info = {1000244001, NULL, buffer};
    return c->GetBufferDeviceAddress(c->device, &info);
}

int gb_begin(gb_calls *c, void *commands)
{
    begin_info info = {42, NULL, 0, NULL};
    return c->BeginCommandBuffer(commands, &info);
}

int gb_end(gb_calls *c, void *commands) { return c->EndCommandBuffer(commands); }

void gb_barrier(gb_calls *c, void *commands, int to_host)
{
    uint32_t stages = COMPUTE_STAGE | TRANSFER_STAGE, writes = SHADER_WRITE | TRANSFER_WRITE;
    memory_barrier b = {46, NULL, writes, writes | SHADER_READ | TRANSFER_READ | (to_host ? HOST_READ : 0)};
    c->CmdPipelineBarrier(commands, stages, stages | (to_host ? HOST_STAGE : 0), 0, 1, &b, 0, NULL, 0, NULL);
}

void gb_dispatch(gb_calls *c, void *commands, int barrier, void *pipeline, void *layout, const void *block, uint32_t size,
                 uint32_t x, uint32_t y, uint32_t z, void *queries, uint32_t i, int early)
{
    if (barrier) gb_barrier(c, commands, 0);
    if (queries) gb_timestamp(c, commands, queries, i, early && barrier);
    if (pipeline) c->CmdBindPipeline(commands, COMPUTE_BIND, pipeline);
    c->CmdPushConstants(commands, layout, COMPUTE_SHADER, 0, size, block);
    c->CmdDispatch(commands, x, y, z);
}

void gb_copy(gb_calls *c, void *commands, void *src, uint64_t src_at, void *dst, uint64_t dst_at, uint64_t bytes)
{
    copy_region r = {src_at, dst_at, bytes};
    c->CmdCopyBuffer(commands, src, dst, 1, &r);
}

void gb_reset_queries(gb_calls *c, void *commands, void *pool, uint32_t n) { c->CmdResetQueryPool(commands, pool, 0, n); }

void gb_timestamp(gb_calls *c, void *commands, void *pool, uint32_t i, int early)
{
    c->CmdWriteTimestamp(commands, early ? TOP_STAGE : BOTTOM_STAGE, pool, i);
}

int gb_timestamps(gb_calls *c, void *pool, uint32_t n, uint64_t *results)
{
    return c->GetQueryPoolResults(c->device, pool, 0, n, n * 16, results, 16, QUERY_64 | QUERY_WITH_AVAILABILITY);
}

int gb_submit(gb_calls *c, void *commands, void *fence)
{
    submit_info info = {4, NULL, 0, NULL, NULL, 1, &commands, 0, NULL};
    return c->QueueSubmit(c->queue, 1, &info, fence);
}

int gb_wait(gb_calls *c, void *fence, uint64_t nanoseconds) { return c->WaitForFences(c->device, 1, &fence, 1, nanoseconds); }
int gb_done(gb_calls *c, void *fence) { return c->GetFenceStatus(c->device, fence); }
int gb_reset(gb_calls *c, void *fence) { return c->ResetFences(c->device, 1, &fence); }
