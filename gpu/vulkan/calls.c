#include "calls.h"

#include <stdlib.h>
#include <string.h>

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

struct gb_calls {
    void *device, *queue;
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
    COMPUTE_STAGE = 0x800, TRANSFER_STAGE = 0x1000, BOTTOM_STAGE = 0x2000, HOST_STAGE = 0x4000,
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
                 uint32_t x, uint32_t y, uint32_t z, void *queries, uint32_t i)
{
    if (barrier) gb_barrier(c, commands, 0);
    if (queries) gb_timestamp(c, commands, queries, i);
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

void gb_timestamp(gb_calls *c, void *commands, void *pool, uint32_t i)
{
    c->CmdWriteTimestamp(commands, BOTTOM_STAGE, pool, i);
}

int gb_timestamps(gb_calls *c, void *pool, uint32_t n, uint64_t *results)
{
    return c->GetQueryPoolResults(c->device, pool, 0, n, n * 16, results, 16, QUERY_64 | QUERY_WITH_AVAILABILITY);
}

int gb_submit(gb_calls *c, void *first, void *commands, void *fence)
{
    void *both[] = {first, commands};
    submit_info info = {4, NULL, 0, NULL, NULL, first ? 2 : 1, first ? both : &both[1], 0, NULL};
    return c->QueueSubmit(c->queue, 1, &info, fence);
}

int gb_wait(gb_calls *c, void *fence, uint64_t nanoseconds) { return c->WaitForFences(c->device, 1, &fence, 1, nanoseconds); }
int gb_done(gb_calls *c, void *fence) { return c->GetFenceStatus(c->device, fence); }
int gb_reset(gb_calls *c, void *fence) { return c->ResetFences(c->device, 1, &fence); }

typedef struct { uint32_t type; const void *next; const char *name; uint32_t version; const char *engine; uint32_t engine_version, api; } application_info;
typedef struct {
    uint32_t type; const void *next; uint32_t flags; const application_info *application;
    uint32_t layers; const char *const *layer_names; uint32_t extensions; const char *const *extension_names;
} instance_info;

int gb_open_instance(gb_proc get, const char *layer, const char *extension, void **instance)
{
    int (*create)(const instance_info *, const void *, void **) = get(NULL, "vkCreateInstance");
    application_info app = {0, NULL, "gradbook", 0, "gradbook", 0, 1u << 22 | 2u << 12};
    instance_info info = {1, NULL, 0, &app, layer != NULL, &layer, extension != NULL, &extension};
    return create(&info, NULL, instance);
}

typedef struct { uint32_t flags, count, timestamp_bits, granularity[3]; } queue_family;

int gb_queue_family(gb_proc get, void *instance, void *physical, uint32_t *family, uint32_t *timestamp_bits)
{
    void (*list)(void *, uint32_t *, queue_family *) = get(instance, "vkGetPhysicalDeviceQueueFamilyProperties");
    queue_family f[64];
    uint32_t n = 64;
    list(physical, &n, f);
    enum { DRAWS = 1, COMPUTES = 2 };
    const queue_family *best = NULL;
    for (uint32_t i = 0; i < n; i++)
        if (f[i].flags & COMPUTES && (!best || best->flags & DRAWS && !(f[i].flags & DRAWS))) best = &f[i];
    if (!best) return 0;
    *family = best - f;
    *timestamp_bits = best->timestamp_bits;
    return 1;
}

typedef struct { char name[256]; uint32_t version; } extension_property;

int gb_has_extension(gb_proc get, void *instance, void *physical, const char *name)
{
    int (*list)(void *, const char *, uint32_t *, extension_property *) = get(instance, "vkEnumerateDeviceExtensionProperties");
    uint32_t n = 0;
    if (list(physical, NULL, &n, NULL) != 0) return 0;
    extension_property *e = calloc(n, sizeof *e);
    int found = 0;
    if (list(physical, NULL, &n, e) == 0)
        for (uint32_t i = 0; i < n; i++) found |= !strcmp(e[i].name, name);
    free(e);
    return found;
}

typedef struct { uint32_t type; const void *next; uint32_t flags, family, count; const float *priorities; } queue_info;
typedef struct {
    uint32_t type; const void *next; uint32_t flags, queues; const queue_info *queue_infos;
    uint32_t layers; const char *const *layer_names; uint32_t extensions; const char *const *extension_names;
    const uint32_t *features;
} device_info;

int gb_open_device(gb_proc get, void *instance, void *physical, uint32_t family, int float64, const char *extension, void **device)
{
    enum { FEATURES = 55, SHADER_FLOAT64 = 39, SHADER_INT64 = 40 }; // of VkPhysicalDeviceFeatures
    int (*create)(void *, const device_info *, const void *, void **) = get(instance, "vkCreateDevice");
    gb_address_features address = {GB_ADDRESS_FEATURES, NULL, 1, 0, 0};
    uint32_t features[FEATURES] = {0};
    features[SHADER_FLOAT64] = float64;
    features[SHADER_INT64] = 1;
    float priority = 1;
    queue_info queue = {2, NULL, 0, family, 1, &priority};
    device_info info = {3, &address, 0, 1, &queue, 0, NULL, extension != NULL, &extension, features};
    return create(physical, &info, NULL, device);
}

typedef struct { uint32_t stages, at, size; } push_range;
typedef struct { uint32_t type; const void *next; uint32_t flags, sets; const void *set_layouts; uint32_t ranges; const push_range *push_ranges; } layout_info;

int gb_layout(gb_proc get, void *device, uint32_t block, void **layout)
{
    int (*create)(void *, const layout_info *, const void *, void **) = get(device, "vkCreatePipelineLayout");
    push_range range = {COMPUTE_SHADER, 0, block};
    layout_info info = {30, NULL, 0, 0, NULL, 1, &range};
    return create(device, &info, NULL, layout);
}

typedef struct { uint32_t id, at; size_t size; } constant_entry;
typedef struct { uint32_t entries; const constant_entry *entry; size_t size; const void *data; } constant_info;
typedef struct { uint32_t type; const void *next; uint32_t flags, stage; void *module; const char *name; const constant_info *constants; } stage_info;
typedef struct { uint32_t type; const void *next; uint32_t flags; stage_info stage; void *layout, *base; int32_t base_index; } pipeline_info;

int gb_pipeline(gb_proc get, void *device, void *cache, void *layout, void *module, const char *entry, uint32_t op, void **pipeline)
{
    int (*create)(void *, void *, uint32_t, const pipeline_info *, const void *, void **) = get(device, "vkCreateComputePipelines");
    constant_entry constant = {0, 0, sizeof op};
    constant_info constants = {1, &constant, sizeof op, &op};
    pipeline_info info = {29, NULL, 0, {18, NULL, 0, COMPUTE_SHADER, module, entry, &constants}, layout, NULL, 0};
    return create(device, cache, 1, &info, NULL, pipeline);
}
