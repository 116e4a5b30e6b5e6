# How everything is compiled.
set(CMAKE_C_STANDARD 17)
set(CMAKE_C_STANDARD_REQUIRED ON)
set(CMAKE_C_EXTENSIONS OFF)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
if(NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "Release, Debug or RelWithDebInfo" FORCE)
endif()
# Assertions stay on everywhere: they guard against programmers' mistakes, and cost little.
# -g1 is enough for stacks and profiles and compiles in three quarters of the time; the preset debug
# has the rest.
set(CMAKE_C_FLAGS_RELEASE "-O3 -g1")
set(CMAKE_C_FLAGS_RELWITHDEBINFO "-O2 -g")

add_library(rigor_compile INTERFACE)
# Floating-point contraction off: a fused multiply-add rounds once where two operations round twice,
# so whether the compiler fuses a*b+c decides the last bit. gcc fuses by default where the machine
# can, clang in other places. Same input, same bits, for gcc and clang, needs it off. -fno-math-errno
# only lets sqrt be an instruction; it changes no result. -fno-semantic-interposition: calls within a
# source may be inlined though the code is position-independent. -fno-strict-aliasing: growable arrays of any
# type go through one function by the address of their pointer.
target_compile_options(rigor_compile INTERFACE -ffp-contract=off -fno-math-errno
  -fno-semantic-interposition -fno-strict-aliasing
  -Wall -Wextra -Wpedantic -Wshadow -Wstrict-prototypes -Wmissing-prototypes -Wvla -Wundef
  -Wpointer-arith -Wwrite-strings -Wfloat-conversion)
# gcc takes code behind several conditions for cold, and copies structs there by `rep movs`, which
# takes longer to begin than the copy. No result changes. Contact points of balls: 0.23 -> 0.22 ms a
# step of balls-666.
if(CMAKE_C_COMPILER_ID STREQUAL "GNU")
  target_compile_options(rigor_compile INTERFACE
    $<$<COMPILE_LANGUAGE:C>:--param=hot-bb-frequency-fraction=1000000>)
endif()
# gcc 12 for AArch64 ends with an internal error (vect_transform_reduction) where a loop takes a
# largest or least number by fmax or fmin and its negative is used. No result changes.
if(CMAKE_C_COMPILER_ID STREQUAL "GNU" AND CMAKE_C_COMPILER_VERSION VERSION_LESS 13
   AND CMAKE_SYSTEM_PROCESSOR MATCHES "^(aarch64|arm64)$")
  target_compile_options(rigor_compile INTERFACE -fno-tree-loop-vectorize)
endif()
# POSIX names (threads, clocks, files) beside C17.
target_compile_definitions(rigor_compile INTERFACE _POSIX_C_SOURCE=200809L)
if(RIGOR_WERROR)
  target_compile_options(rigor_compile INTERFACE -Werror)
endif()
if(RIGOR_SANITIZE)
  # -O1: compiled in two thirds of the time of -O2, and hardly slower. A number too large for its
  # integer is no error to `undefined`, though what becomes of it depends on the machine.
  set(sanitizers -fsanitize=address,undefined,float-cast-overflow)
  target_compile_options(rigor_compile INTERFACE -O1 -g1 ${sanitizers} -fno-sanitize-recover=all
    -fno-omit-frame-pointer)
  target_link_options(rigor_compile INTERFACE ${sanitizers})
endif()
if(RIGOR_FUZZ)
  target_compile_options(rigor_compile INTERFACE -fsanitize=fuzzer-no-link)
endif()
