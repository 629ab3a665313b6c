// The calls that every launch makes, and those that the binding's 1.1 header
// lacks. One crossing from Go to C records a whole dispatch: through the binding
// it would be four, at half a microsecond or more each.
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

// The binding frees the memory that it makes for slices of structures when Go's
// collector runs, be it during the call: what has such slices is called from here.

// Opens a device with one queue of a family, shaderInt64 and, if wanted,
// shaderFloat64 and an extension. next is the chain.
int gb_open(gb_proc get_instance_proc, void *instance, void *physical, const void *next, uint32_t family, int float64,
            const char *extension, void **device);
// A layout of push constants of a size only.
int gb_layout(gb_calls *, uint32_t size, void **layout);
// A compute pipeline with specialization constant 0 fixed.
int gb_pipeline(gb_calls *, void *cache, void *layout, void *module, const char *entry, uint32_t constant, void **pipeline);

int gb_begin(gb_calls *, void *commands);
int gb_end(gb_calls *, void *commands);

// What a barrier waits for and makes visible: launches and copies before it to
// those after it; with to_host, to the host as well.
void gb_barrier(gb_calls *, void *commands, int to_host);

// A dispatch, after a barrier if wanted and, if queries is not NULL, timestamp i,
// which ends what came before. The pipeline is bound unless it is NULL.
void gb_dispatch(gb_calls *, void *commands, int barrier, void *pipeline, void *layout, const void *block, uint32_t size,
                 uint32_t x, uint32_t y, uint32_t z, void *queries, uint32_t i, int early);
void gb_copy(gb_calls *, void *commands, void *src, uint64_t src_at, void *dst, uint64_t dst_at, uint64_t bytes);

void gb_reset_queries(gb_calls *, void *commands, void *pool, uint32_t n);
// With early, the timestamp does not itself wait for what came before.
void gb_timestamp(gb_calls *, void *commands, void *pool, uint32_t i, int early);
// Each result is a value and whether it is there.
int gb_timestamps(gb_calls *, void *pool, uint32_t n, uint64_t *results);

int gb_submit(gb_calls *, void *commands, void *fence);
int gb_wait(gb_calls *, void *fence, uint64_t nanoseconds);
int gb_done(gb_calls *, void *fence);
int gb_reset(gb_calls *, void *fence);

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
    GB_DRIVER_NVIDIA = 4, // VK_DRIVER_ID_NVIDIA_PROPRIETARY
};
