// Detail: SOTTO_CLONES before a function builds it once for processors with 256-bit vectors and
// once for any; the loader picks by what the processor can do. (A level of the instruction set, not
// the name of a processor: "arch=haswell" would be picked on that very processor only.) The loops
// stay plain: the compiler vectorises them (files that use it are compiled with -O3). Sanitizers
// cannot follow the loader's choice.
#pragma once

#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__) && \
    !defined(__SANITIZE_THREAD__) && !defined(__SANITIZE_ADDRESS__)
#define SOTTO_CLONES __attribute__((target_clones("arch=x86-64-v3", "default")))
#else
#define SOTTO_CLONES
#endif
