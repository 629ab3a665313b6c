// The calls that every launch makes, those that the binding's 1.1 header lacks,
// and those that take lists of structures. One crossing from Go to C records a
// whole dispatch: through the binding it would be four, at half a microsecond or
// more each. And the binding frees the C copy of a list as soon as Go's collector
// runs, which may be before the driver has read it.
//
// No Vulkan header is needed: the few types are declared here as the Vulkan 1.2
// specification lays them out on 64-bit machines.
#include <stdint.h>

typedef void *(*gb_proc)(void *, const char *);

typedef struct gb_calls gb_calls;

// Loads the calls of a device; frees nothing and returns NULL, with the name of
// the first missing call in *missing, where one is not there.
gb_calls *gb_load(gb_proc get_device_proc, void *device, void *queue, const char **missing);

uint64_t gb_address(gb_calls *, void *buffer);

int gb_begin(gb_calls *, void *commands);
int gb_end(gb_calls *, void *commands);

// What a barrier waits for and makes visible: launches and copies before it to
// those after it; with to_host, to the host as well.
void gb_barrier(gb_calls *, void *commands, int to_host);

// A dispatch, after a barrier if wanted and, if queries is not NULL, timestamp i,
// which ends what came before. The pipeline is bound unless it is NULL.
void gb_dispatch(gb_calls *, void *commands, int barrier, void *pipeline, void *layout, const void *block, uint32_t size,
                 uint32_t x, uint32_t y, uint32_t z, void *queries, uint32_t i);
void gb_copy(gb_calls *, void *commands, void *src, uint64_t src_at, void *dst, uint64_t dst_at, uint64_t bytes);

void gb_reset_queries(gb_calls *, void *commands, void *pool, uint32_t n);
void gb_timestamp(gb_calls *, void *commands, void *pool, uint32_t i);
// Each result is a value and whether it is there.
int gb_timestamps(gb_calls *, void *pool, uint32_t n, uint64_t *results);

// first, unless it is NULL, runs before commands.
int gb_submit(gb_calls *, void *first, void *commands, void *fence);
int gb_wait(gb_calls *, void *fence, uint64_t nanoseconds);
int gb_done(gb_calls *, void *fence);
int gb_reset(gb_calls *, void *fence);

// The following return a VkResult or, where they answer a question, 0 or 1.
int gb_open_instance(gb_proc get_instance_proc, const char *layer, const char *extension, void **instance);
int gb_queue_family(gb_proc get_instance_proc, void *instance, void *physical, uint32_t *family, uint32_t *timestamp_bits);
int gb_has_extension(gb_proc get_instance_proc, void *instance, void *physical, const char *name);
int gb_open_device(gb_proc get_instance_proc, void *instance, void *physical, uint32_t family, int float64, const char *extension, void **device);
int gb_layout(gb_proc get_device_proc, void *device, uint32_t block, void **layout);
int gb_pipeline(gb_proc get_device_proc, void *device, void *cache, void *layout, void *module, const char *entry, uint32_t op, void **pipeline);

// Structures to chain to the binding's, sType and pNext first.
typedef struct { uint32_t type; void *next; uint32_t address, capture_replay, multi_device; } gb_address_features;
typedef struct { uint32_t type; void *next; uint32_t flags, mask; } gb_memory_flags;
typedef struct { uint32_t type; void *next; uint32_t id; char name[256], info[256]; uint8_t conformance[4]; } gb_driver;
typedef struct { uint32_t type; void *next; uint64_t budget[16], usage[16]; } gb_budget;
typedef struct { uint32_t type; void *next; uint32_t descriptors; uint64_t allocation; } gb_limits;

// Asks a physical device for the structures of a chain, by the call of that name
// and the type of its own structure.
int gb_ask(gb_proc get_instance_proc, void *instance, const char *call, void *physical, uint32_t type, void *chain);

enum {
    GB_FEATURES_2 = 1000059000,
    GB_PROPERTIES_2 = 1000059001,
    GB_MEMORY_2 = 1000059006,
    GB_ADDRESS_FEATURES = 1000257000,
    GB_MEMORY_FLAGS = 1000060000,
    GB_DRIVER = 1000196000,
    GB_BUDGET = 1000237000,
    GB_LIMITS = 1000168000,
    GB_MEMORY_ADDRESS_BIT = 2,
    GB_BUFFER_ADDRESS_BIT = 0x20000,
};
