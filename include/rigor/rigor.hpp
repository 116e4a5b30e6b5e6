/* The same interface for C++17: what a program makes is owned, and failures are exceptions. Every
 * function of the C headers is used as it is, through `call` and `make`:
 *
 *     rg_world_def def = rg_world_def_default();
 *     rigor::world world = rigor::make<rigor::world>(rg_world_create, &def);
 *     rigor::call(rg_world_step, world.get(), 1.0 / 240, nullptr);
 *
 *     using scene = rigor::owned<rg_scene, rg_scene_destroy>; // of rigor/scene.h
 *     scene tower = rigor::make<scene>(rg_scene_create, "tower", nullptr);
 *
 * Callbacks are called by C: no exception may leave them. */
#ifndef RIGOR_RIGOR_HPP
#define RIGOR_RIGOR_HPP

#include "rigor/rigor.h"

#include <memory>
#include <stdexcept>
#include <utility>

namespace rigor {

/* `what()` is the text of the rg_error; line and column are those of a file, or 0. */
class error : public std::runtime_error {
  public:
    explicit error(const rg_error &e)
        : std::runtime_error(e.text[0] ? e.text : rg_status_text(e.status)), status(e.status),
          line(e.line), column(e.column) {}
    rg_status status;
    int line, column;
};

template <class T, void (*destroy)(T *)> struct destroyer {
    void operator()(T *owned) const noexcept { destroy(owned); }
};
template <class T, void (*destroy)(T *)> using owned = std::unique_ptr<T, destroyer<T, destroy>>;

using world = owned<rg_world, rg_world_destroy>;
using snapshot = owned<rg_snapshot, rg_snapshot_destroy>;
using shape = owned<rg_shape, rg_shape_release>;

/* For functions that return a status alone. */
inline void check(rg_status status) {
    if (status != RG_OK) {
        rg_error e = {};
        e.status = status;
        throw error(e);
    }
}

/* Calls a function whose last parameter is the rg_error. */
template <class Function, class... Arguments> void call(Function function, Arguments &&...a) {
    rg_error e = {};
    e.status = function(std::forward<Arguments>(a)..., &e);
    if (e.status != RG_OK)
        throw error(e);
}

/* Calls a function whose last two parameters are what it makes and the rg_error. */
template <class Owned, class Function, class... Arguments>
Owned make(Function function, Arguments &&...a) {
    typename Owned::element_type *made = nullptr;
    call(function, std::forward<Arguments>(a)..., &made);
    return Owned(made);
}

} // namespace rigor

#endif
