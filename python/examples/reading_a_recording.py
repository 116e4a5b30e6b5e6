"""Reading a recording: with h5py, as any program would, and with the package."""

import h5py
import numpy as np

import rigor

rigor.Scene("tower", {"count": 3}).run(0.5, record="tower.h5")

with h5py.File("tower.h5") as file:
    print("in the file:", ", ".join(sorted(file)))
    time = file["time"][:]
    position = file["poses/position"][:]
    print(f"{len(time)} frames of {position.shape[1]} bodies, to {time[-1]} s")

with rigor.Recording("tower.h5") as recording:
    assert len(recording) == len(time)
    frame = recording[-1]
    np.testing.assert_array_equal(frame.positions, position[-1])
    worst = min(recording.certificate(index).certificate.min_gap for index in range(1, len(recording)))
    print(f"names {recording.names}; smallest gap {worst:.1e} m; {len(recording.contacts(-1))} contacts at the end")
    again = rigor.Scene.from_text(recording.scene_text)
    assert len(again.world) == len(recording.names)
    recording.export_csv("tower.csv")
