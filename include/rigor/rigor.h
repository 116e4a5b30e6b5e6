/* rigor: rigid bodies that do not pass through each other, with figures that prove it. This
 * header is the core (library rigor); scene.h, recording.h, study.h and others belong to rigor-io,
 * lp.h to rigor-lp. */
#ifndef RIGOR_RIGOR_H
#define RIGOR_RIGOR_H

#include "rigor/batch.h"
#include "rigor/body.h"
#include "rigor/certificate.h"
#include "rigor/collision.h"
#include "rigor/complementarity.h"
#include "rigor/contact.h"
#include "rigor/contact_force.h"
#include "rigor/decompose.h"
#include "rigor/event.h"
#include "rigor/force.h"
#include "rigor/impact.h"
#include "rigor/joint.h"
#include "rigor/mass.h"
#include "rigor/material.h"
#include "rigor/math.h"
#include "rigor/mesh.h"
#include "rigor/method.h"
#include "rigor/profile.h"
#include "rigor/proximity.h"
#include "rigor/random.h"
#include "rigor/shape.h"
#include "rigor/solver.h"
#include "rigor/status.h"
#include "rigor/text.h"
#include "rigor/types.h"
#include "rigor/version.h"
#include "rigor/world.h"

#endif
