#!/usr/bin/python3
"""The layout of a recording as docs/recording.md has it, read by h5py as a user would."""
import csv
import os
import sys

import h5py
import numpy

import foreign_script_support as foreign
from record_script_support import Command, check, check_equal, expect, scratch_directory

BODIES = 7
SCENE = """
rigor: 1
name: layout
bodies:
  - {repeat: 7, name: "ball{i}", shape: {box: [0.3, 0.2, 0.1]}, position: ["i", 0, 1],
     velocity: [1, "0.1*i", 9], angular_velocity: ["i", 2, 3]}
duration: 1
"""
# A sledge that comes to rest and a stack, with frames of several steps.
TOUCHING = """
rigor: 1
name: touching
materials:
  wood: {friction: 0.3}
bodies:
  - {name: floor, motion: fixed, shape: {box: [40, 40, 1]}, position: [0, 0, -0.5], material: wood}
  - {name: sledge, shape: {box: [1, 1, 0.5]}, position: [5, 0, 0.25], velocity: [1, 0.5, 0],
     material: wood}
  - {repeat: 3, name: "box{i}", shape: {box: [1, 1, 1]}, position: [0, 0, "i + 0.5"], material: wood}
duration: 1
record: {every: 0.025}
"""


CERTIFICATE = ["min_gap_m", "max_penetration_m", "complementarity", "cone_violation",
               "joint_error_m", "momentum_error_rel"]
LEDGER = ["initial_J", "final_J", "impact_loss_J", "friction_work_J", "stabilisation_J",
          "integration_J", "external_J", "prescribed_J", "closure_J", "closure_rel"]
COUNTS = ["steps", "substeps", "rejected", "evaluations", "contacts_max", "impacts", "solves",
          "solver_iterations", "solver_failures", "fallbacks", "passed_through"]
CONTACT = {"body_a": "<u4", "body_b": "<u4", "position": "(3,)<f8", "normal": "(3,)<f8",
           "force": "(3,)<f8", "gap": "<f8", "friction": "<f8", "slip_speed": "<f8", "mode": "u1"}


EVENT = {"time": "<f8", "step": "<u8", "kind": "u1", "contacts": "<u4", "body_a": "<u4", "body_b": "<u4",
         "value": "<f8", "friction": "<f8", "restitution": "<f8"}
IMPULSE = {"time": "<f8", "step": "<u8", "impact": "<u4", "round": "<u4", "body_a": "<u4",
           "body_b": "<u4", "position": "(3,)<f8", "normal": "(3,)<f8", "impulse": "(3,)<f8",
           "before": "(3,)<f8", "after": "(3,)<f8", "friction": "<f8", "restitution": "<f8"}


def check_tables(file, frames):
    for name, fields, kind in (("certificate", CERTIFICATE, "<f8"), ("ledger", LEDGER, "<f8"),
                               ("counts", COUNTS, "<u8")):
        table = file[name]
        check_equal(sorted(table.dtype.names), sorted(fields), f"fields of {name}")
        check_equal({table.dtype[field].str for field in fields}, {kind}, f"types of {name}")
        check_equal(table.shape, (frames,), f"shape of {name}")
    for group, fields in (("contacts", CONTACT), ("events", EVENT), ("impulses", IMPULSE)):
        table = file[f"{group}/table"]
        check_equal(list(table.dtype.names), list(fields), f"fields of {group}")
        for field, kind in fields.items():
            check_equal(table.dtype[field], numpy.dtype(kind), f"type of {group}: {field}")
    contacts = file["contacts/table"]
    check_equal(h5py.check_enum_dtype(contacts.dtype["mode"]),
                {"separating": 0, "stick": 1, "slip": 2, "roll": 3, "sensor": 4}, "modes")
    check(contacts.dtype.itemsize <= 105, "a contact takes too many bytes")
    for name in ("certificate", "ledger", "counts", "contacts/table", "events/table", "impulses/table"):
        dataset = file[name]
        check(len(dataset.attrs["meaning"]) > 2 and len(dataset.attrs["unit"]) > 0, f"meaning of {name}")
        check(dataset.maxshape == (None,) and dataset.compression == "gzip" and dataset.shuffle and
              dataset.fletcher32, f"storage of {name}")


def check_certificates(file, report):
    """The frames' figures together are those of the run."""
    certificate, ledger, counts = file["certificate"][:], file["ledger"][:], file["counts"][:]
    steps = file["step"][:]
    check(numpy.array_equal(counts["steps"], numpy.diff(steps, prepend=0)), "steps between frames")
    check(numpy.all(numpy.isnan(certificate["momentum_error_rel"][:1])), "figures before any step")
    for name in CERTIFICATE:
        worst = numpy.nanmin if name == "min_gap_m" else numpy.nanmax
        value = report["certificate"][name]
        if value is None:
            check(numpy.all(numpy.isnan(certificate[name])), f"{name} was never measured")
        else:
            check_equal(worst(certificate[name]), value, f"worst {name}")
    summary = file["summary"].attrs
    for name in COUNTS:
        total = counts[name].max() if name == "contacts_max" else counts[name].sum()
        check_equal(total, summary[name], f"sum of {name}")
    check(numpy.array_equal(ledger["final_J"][1:], file["energy"][1:]), "energies of the ledger")
    check(numpy.array_equal(ledger["initial_J"][1:], file["energy"][:-1]), "energies before")
    scale = abs(ledger["friction_work_J"][1:]).sum() + 1e-3 * abs(summary["initial_J"])
    for name in LEDGER[2:8]:
        check(abs(ledger[name][1:].sum() - summary[name]) <= 1e-12 * scale, f"sum of {name}")
    change = ledger["final_J"] - ledger["initial_J"]
    work = (ledger["external_J"] + ledger["friction_work_J"] - ledger["impact_loss_J"] +
            ledger["stabilisation_J"] + ledger["integration_J"] + ledger["prescribed_J"])
    check(numpy.all(abs(change - work)[1:] <= 1e-11 * abs(summary["initial_J"])), "the ledger's sum")


def check_contacts(file, report, rigor, path):
    """Forces from the file alone: bodies at rest are carried, friction stays in its cone."""
    start, count = file["contacts/start"][:], file["contacts/count"][:]
    table = file["contacts/table"]
    check_equal(count[0], 0, "contacts before any step")
    check(numpy.array_equal(start, numpy.cumsum(count) - count), "contacts/start")
    check_equal(len(table), count.sum(), "rows of contacts")
    check(count[-1] >= 16 and count.max() <= report["contacts_max"], "number of contacts")
    names, mass = list(file["bodies/name"].asstr()[:]), file["bodies/mass"][:]
    modes = h5py.check_enum_dtype(table.dtype["mode"])
    for frame in range(1, len(start)):
        rows = table[start[frame]:start[frame] + count[frame]]
        normal, force = rows["normal"], rows["force"]
        check(numpy.allclose(numpy.linalg.norm(normal, axis=1), 1, rtol=1e-12), "normals")
        pressing = (normal * force).sum(axis=1)
        friction = numpy.linalg.norm(force - pressing[:, None] * normal, axis=1)
        check(numpy.all(pressing >= -1e-9), "a contact pulls")
        check(numpy.all(friction <= rows["friction"] * pressing * (1 + 1e-6) + 1e-9), "the cone")
        for body in range(1, len(names)):  # nothing falls: the forces carry each weight
            total = (force[rows["body_a"] == body].sum(axis=0) -
                     force[rows["body_b"] == body].sum(axis=0))
            check(abs(total[2] - 9.81 * mass[body]) <= 1e-6 * mass.sum(),
                  f"{names[body]} of {9.81 * mass[body]} N is carried by {total[2]} N")
        check(numpy.all(abs(rows["gap"]) < 1e-6), "gaps of things at rest")
        sledge = rows[(rows["body_a"] == 1) | (rows["body_b"] == 1)]
        if file["time"][frame] < 0.3:  # it comes to rest after 1.118 / (0.3 g) = 0.38 s
            check(numpy.all(sledge["mode"][:1] == modes["slip"]), "the sledge does not slip")
            check(numpy.all(sledge["slip_speed"] > 0.1), "speed of slip")
    check(not numpy.any(sledge["mode"] == modes["slip"]), "the sledge slips at the end")

    lines = rigor("export", path, "--contacts-csv", "-").stdout.splitlines()
    check_equal(len(lines), 1 + len(table), "lines of contacts")
    row, fields = table[7], lines[8].split(",")
    check_equal(fields[2:4], [names[row["body_a"]], names[row["body_b"]]], "bodies in CSV")
    numbers = [*row["position"], *row["normal"], *row["force"], row["gap"], row["friction"],
               row["slip_speed"]]
    check_equal([float(field) for field in fields[4:16]], [float(n) for n in numbers], "CSV row")
    check_equal(modes[fields[16]], row["mode"], "mode in CSV")
    lines = rigor("export", path, "--certificate-csv", "-").stdout.splitlines()
    check_equal(len(lines), 1 + len(start), "lines of certificates")
    row = dict(zip(lines[0].split(","), lines[6].split(",")))
    for table, fields in (("certificate", CERTIFICATE), ("ledger", LEDGER), ("counts", COUNTS)):
        for field in fields:
            value = file[table][5][field]
            check(row[field] == "" if value != value else float(row[field]) == value,
                  f"{field} in CSV: {row[field]}")


def check_events(file, rigor, path):
    """Baraff 1989, Figure 12: 9 kg at 1 m/s, 1 kg, a wall: rounds of 0.9, 0.9, 0.81, 0.81 ... N s."""
    names, step = list(file["bodies/name"].asstr()[:]), file["step"][:]
    for group in ("events", "impulses"):
        start, count, table = (file[f"{group}/{name}"][:] for name in ("start", "count", "table"))
        check(numpy.array_equal(start, numpy.cumsum(count) - count), f"{group}/start")
        check_equal(len(table), count.sum(), f"rows of {group}")
        frame = numpy.searchsorted(step, table["step"])  # that they happened before
        check(numpy.array_equal(numpy.bincount(frame, minlength=len(step)), count), f"{group}/count")
    events, table = file["events/table"][:], file["impulses/table"][:]
    kinds = h5py.check_enum_dtype(events.dtype["kind"])
    check_equal((kinds["impact"], kinds["averaged"]), (0, 12), "kinds of events")
    check_equal(events["kind"][0], kinds["impact"], "the first event")
    check(abs(events["time"][0] - 0.5) < 1e-9 and abs(events["value"][0] - 1) < 1e-9, "the impact")
    check(len(table) > 100 and numpy.all(table["round"] == numpy.arange(len(table)) + 1), "rounds")
    size = (table["impulse"] * table["normal"]).sum(axis=1)
    expected = 0.9 ** (1 + numpy.arange(len(table)) // 2)
    check(numpy.all(abs(size - expected) < 1e-12), "impulses of Figure 12")
    change = ((table["after"] - table["before"]) * table["normal"]).sum(axis=1)
    check(numpy.all(change > 0), "changes of velocity")

    lines = rigor("export", path, "--impulses-csv", "-").stdout.splitlines()
    check_equal(len(lines), 1 + len(table), "lines of impulses")
    row, fields = table[7], lines[8].split(",")
    numbers = [*row["position"], *row["normal"], *row["impulse"], *row["before"], *row["after"],
               row["friction"], row["restitution"]]
    check_equal(fields[1:6], [str(row["step"]), str(row["impact"]), str(row["round"]),
                              names[row["body_a"]], names[row["body_b"]]], "impulse in CSV")
    check_equal([float(field) for field in fields[6:]], [float(n) for n in numbers], "CSV row")
    lines = list(csv.DictReader(rigor("export", path, "--events-csv", "-").stdout.splitlines()))
    check_equal(len(lines), len(events), "lines of events")
    check_equal({name: lines[0][name] for name in ("kind", "body_a", "body_b", "contacts", "text")},
                {"kind": "impact", "body_a": "heavy", "body_b": "light", "contacts": "2",
                 "text": 't = 0.5 s: "heavy" and "light" meet at 1 m/s (2 contacts, restitution 0)'},
                "event in CSV")


def check_layout(file, report):
    frames = len(file["time"])
    attributes = dict(file.attrs)
    check_equal(attributes["format"], "rigor recording", "format")
    check_equal(attributes["format_version"], 5, "format_version")
    check(isinstance(attributes["rigor_version"], str), "rigor_version is not a text")
    check_equal(attributes["scene_name"], "layout", "scene_name")
    check_equal(attributes["method"], report["method"], "method")
    check_equal(bool(attributes["planar"]), False, "planar")
    check_equal(bool(attributes["finished"]), True, "finished")
    check(abs(attributes["step"] - 1 / 240) < 1e-15, "step")
    shapes = {
        "time": ((frames,), "<f8", "s"),
        "step": ((frames,), "<u8", "1"),
        "state_hash": ((frames,), "<u8", "1"),
        "energy": ((frames,), "<f8", "J"),
        "poses/position": ((frames, BODIES, 3), "<f8", "m"),
        "poses/orientation": ((frames, BODIES, 4), "<f8", "1"),
        "velocities/linear": ((frames, BODIES, 3), "<f8", "m/s"),
        "velocities/angular": ((frames, BODIES, 3), "<f8", "rad/s"),
        "contacts/start": ((frames,), "<u8", "1"),
        "contacts/count": ((frames,), "<u8", "1"),
        "events/start": ((frames,), "<u8", "1"),
        "events/count": ((frames,), "<u8", "1"),
        "impulses/start": ((frames,), "<u8", "1"),
        "impulses/count": ((frames,), "<u8", "1"),
        "bodies/mass": ((BODIES,), "<f8", "kg"),
        "bodies/local_centre": ((BODIES, 7), "<f8", "m, 1"),
    }
    for name, (shape, kind, unit) in shapes.items():
        dataset = file[name]
        check_equal(dataset.shape, shape, f"shape of {name}")
        check_equal(dataset.dtype.str, kind, f"type of {name}")
        check_equal(dataset.attrs["unit"], unit, f"unit of {name}")
        check(len(dataset.attrs["meaning"]) > 2, f"meaning of {name}")
        check(dataset.chunks is not None and dataset.compression == "gzip" and dataset.shuffle and
              dataset.fletcher32, f"storage of {name}")
        if name.count("/") == 0 or name.startswith(("poses", "velocities", "contacts", "events", "impulses")):
            check(dataset.maxshape[0] is None, f"{name} does not grow")
    check_tables(file, frames)
    names = file["bodies/name"].asstr()[:]
    check_equal(list(names), [f"ball{i}" for i in range(BODIES)], "names")
    check_equal(h5py.check_enum_dtype(file["bodies/motion"].dtype),
                {"dynamic": 0, "fixed": 1, "kinematic": 2}, "motions")
    check(file["scene"][0].decode().startswith("rigor: 1\n"), "scene")
    check(len(file["checkpoint/state"]) > 100, "checkpoint/state")
    check_equal(file["checkpoint"].attrs["frames"], frames, "checkpoint frames")


def check_numbers(file, report, rigor, path):
    """Physics from the file alone: parabolas, unit quaternions, energy; and the report's figures."""
    time, step = file["time"][:], file["step"][:]
    check(numpy.all(numpy.diff(time) > 0) and time[0] == 0, "time")
    check(numpy.allclose(time, step * file.attrs["step"], rtol=1e-14), "time is not steps")
    norm = numpy.linalg.norm(file["poses/orientation"][:], axis=2)
    check(numpy.all(abs(norm - 1) < 1e-12), "quaternions are not of unit length")
    velocity = file["velocities/linear"][:]
    falling = velocity[:, :, 2] - (velocity[0, :, 2] - 9.81 * time[:, None])
    check(numpy.all(abs(falling) < 1e-10), "bodies do not fall")
    energy = file["energy"][:]
    check(abs(energy[-1] / energy[0] - 1) < 1e-12, "energy")
    check_equal(energy[-1], report["energy"]["final_J"], "final energy")
    check_equal(f"{file['state_hash'][-1]:016x}", report["state_hash"], "state hash")
    summary = file["summary"].attrs
    for key, value in report["certificate"].items():
        check(value is None and numpy.isnan(summary[key]) or summary[key] == value, key)
    for key, value in report["energy"].items():
        check_equal(summary[key], value, key)
    check_equal(summary["steps"], report["steps"], "steps")

    lines = rigor("export", path, "--csv", "-").stdout.splitlines()
    check_equal(len(lines), 1 + len(time) * BODIES, "lines of CSV")
    row = lines[1 + 5 * BODIES + 3].split(",")
    check_equal(row[2], file["bodies/name"].asstr()[3], "name in CSV")
    numbers = [*file["poses/position"][5, 3], *file["poses/orientation"][5, 3],
               *file["velocities/linear"][5, 3], *file["velocities/angular"][5, 3]]
    check_equal([float(field) for field in row[3:]], [float(number) for number in numbers], "CSV row")


def check_foreign(rigor, path, directory):
    """A recording that has data in other files is refused, though its seal is whole."""
    with open(path, "rb") as file:
        original = file.read()
    changed, secret = os.path.join(directory, "changed.h5"), os.path.join(directory, "secret")

    def change(way, name):
        with open(changed, "wb") as file:
            file.write(original)
        with h5py.File(changed, "r+") as file:
            if way:
                way(file, name, secret)
            else:
                file.attrs["more"] = 1
        foreign.seal(changed)
    change(None, None)
    expect(rigor, ["explain", changed], 0)  # the seal is as rigor makes it
    for way in foreign.WAYS:
        for name in ("time", "poses/position", "checkpoint/state"):
            if way is foreign.linked_group and "/" not in name:
                continue
            change(way, name)
            for arguments in (["explain", changed], ["export", changed, "--csv", "-"], ["run", "--resume", changed]):
                expect(rigor, arguments, 3, f"rigor: {changed}: has data in another file; a recording must be "
                       "one file that holds all of its data\n")


def main():
    rigor = Command(sys.argv[1])
    with scratch_directory() as directory:
        path = os.path.join(directory, "layout.h5")
        scene = os.path.join(directory, "layout.yaml")
        with open(scene, "w") as file:
            file.write(SCENE)
        report = rigor.report("run", scene, "--out", path)
        with h5py.File(path, "r") as file:
            check_layout(file, report)
            check_numbers(file, report, rigor, path)
            check_equal(len(file["contacts/table"]), 0, "contacts in free flight")
        touching = os.path.join(directory, "touching.yaml")
        touching_path = os.path.join(directory, "touching.h5")
        with open(touching, "w") as file:
            file.write(TOUCHING)
        report = rigor.report("run", touching, "--out", touching_path)
        with h5py.File(touching_path, "r") as file:
            check_tables(file, len(file["time"]))
            check_certificates(file, report)
            check_contacts(file, report, rigor, touching_path)
        nine = os.path.join(directory, "nine.h5")
        rigor.report("run", "mass-nine", "law=propagation", "--duration", "0.6", "--out", nine)
        with h5py.File(nine, "r") as file:
            check_events(file, rigor, nine)
        check_foreign(rigor, touching_path, directory)
        # The same run gives the same content: only the run id differs.
        again = os.path.join(directory, "again.h5")
        rigor.report("run", scene, "--out", again)
        with h5py.File(path, "r") as one, h5py.File(again, "r") as two:
            for name in ("state_hash", "poses/position", "velocities/angular", "scene"):
                check(numpy.array_equal(one[name][:], two[name][:]), f"{name} differs between runs")
    print("the layout is as documented")


main()
