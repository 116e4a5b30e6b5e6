/* One canvas with one run in it. Data come from the source at the time that show() is given;
 * nothing here decides which time that is, nor when to draw: the page calls show() and render()
 * when `invalidate` has told it that something changed. */

import * as THREE from "three";
import { SWITCHES } from "./contract";
import type { Direction, Frame, FrameSource, Manifest, Pick3, SwitchName, Vec3, View3 } from "./contract";
import { MARK_COLOURS } from "./palette";
import type { Theme } from "./palette";
import { BodyMeshes } from "./view_bodies";
import { SceneCamera } from "./view_camera";
import { ContactMarks, Scale } from "./view_contacts";
import { Background, Grounds } from "./view_ground";
import { Lights } from "./view_light";
import type { MarkUniforms } from "./view_marks";
import { Joints } from "./view_joints";
import { Loads, type Pull } from "./view_loads";
import { Overlays } from "./view_overlays";
import type { Poses } from "./view_overlays";
import { Pit } from "./view_pit";
import { interpolate } from "./view_pose";
import { joinBoxes, SceneSize } from "./view_scene";
import type { Box3 } from "./view_scene";

const SHARPEST = 2; // pixels of the drawing buffer per CSS pixel, at most

/** Everything that depends on which bodies there are. */
interface Content {
  manifest: Manifest;
  size: SceneSize;
  bodies: BodyMeshes;
  grounds: Grounds;
  pit: Pit;
  contacts: ContactMarks;
  overlays: Overlays;
  joints: Joints;
  loads: Loads;
  poses: Poses;
}

/** Frames of a run that are looked at for the camera's first place. */
const WAY_SAMPLES = 24;

function newPoses(manifest: Manifest): Poses {
  const count = manifest.bodies.length;
  return { position: new Float32Array(3 * count), orientation: new Float32Array(4 * count), count: 0 };
}

export class View implements View3 {
  readonly canvas: HTMLCanvasElement;
  private readonly renderer: THREE.WebGLRenderer;
  private readonly scene = new THREE.Scene();
  private readonly camera: SceneCamera;
  private readonly background = new Background();
  private readonly lights: Lights;
  private readonly surface = { edgeWidth: { value: 1 }, edgeShade: { value: 0.4 } };
  private readonly marks: MarkUniforms = {
    viewport: { value: new THREE.Vector2(1, 1) },
    ratio: { value: 1 },
    typical: { value: 1 },
  };
  private readonly shellColour = { value: new THREE.Color() };
  private readonly shellPixels = { value: new THREE.Vector2() };
  private readonly caster = new THREE.Raycaster();
  private readonly observer: ResizeObserver;
  private readonly switches = Object.fromEntries(
    SWITCHES.map(([name, , , on]) => [name, on]),
  ) as Record<SwitchName, boolean>;
  private forceScales = new Scale();
  private readonly speedScales = new Scale();
  private content: Content;
  private theme: Theme = "light";
  private selected: number | null = null;
  private pull: Pull | null = null;
  private followed: number | null = null;
  private readonly followedAt = new THREE.Vector3();
  private ghost: { source: FrameSource; manifest: Manifest; bodies: BodyMeshes; poses: Poses } | null = null;
  private forceChoice: number | null = null;
  private shown: Frame | null = null;
  private home: Box3 | null = null; // what the camera framed first
  private heading: Direction = "corner"; // and from where
  private framed = 0; // 0: not yet, 1: by the first frame, 2: with the last one as well
  private touched = false; // the user has moved the camera
  private whole = false; // what is far from home counts as well
  private aspect = 0; // for which it was framed
  private capturing: { width: number; height: number } | null = null;
  private milliseconds = 0;
  private drawCalls = 0;
  private triangles = 0;
  private showMs = 0;

  /** Throws if there is no WebGL 2. */
  constructor(
    private readonly source: FrameSource,
    private readonly invalidate: () => void,
  ) {
    this.canvas = document.createElement("canvas");
    this.canvas.style.cssText = "display: block; width: 100%; height: 100%; outline: none";
    this.renderer = new THREE.WebGLRenderer({
      canvas: this.canvas,
      context: createContext(this.canvas),
      antialias: true,
    });
    this.renderer.outputColorSpace = THREE.SRGBColorSpace;
    this.renderer.toneMapping = THREE.NeutralToneMapping;
    this.renderer.toneMappingExposure = 1;
    this.renderer.shadowMap.enabled = !source.manifest.planar;
    this.renderer.shadowMap.type = THREE.PCFShadowMap;
    this.camera = new SceneCamera(source.manifest.planar, this.canvas, () => {
      this.touched = true;
      this.invalidate();
    });
    this.lights = new Lights();
    this.scene.add(this.background.object, this.lights.object);
    this.content = this.build(source.manifest);
    this.setTheme("light");
    this.observer = new ResizeObserver(() => this.resize());
    this.observer.observe(this.canvas);
    this.canvas.addEventListener("webglcontextrestored", this.invalidate);
  }

  private build(manifest: Manifest): Content {
    const size = new SceneSize(manifest);
    this.marks.typical.value = size.typical;
    const bodies = new BodyMeshes(manifest, this.surface, this.shellColour, this.shellPixels);
    const grounds = new Grounds(manifest);
    const pit = new Pit(this.marks);
    const contacts = new ContactMarks(manifest, this.marks, size.typical, this.forceScales);
    const overlays = new Overlays(manifest, size, this.marks, this.speedScales);
    const joints = new Joints(manifest, size, this.marks);
    const loads = new Loads(manifest, this.marks, size.typical);
    for (const part of [bodies, grounds, pit, contacts, overlays, joints, loads]) this.scene.add(part.object);
    bodies.setTheme(this.theme);
    grounds.setTheme(this.theme);
    pit.setTheme(this.theme);
    grounds.setGrid(this.switches.grid);
    contacts.setTheme(this.theme);
    contacts.setScale(this.forceChoice);
    overlays.setTheme(this.theme);
    joints.setTheme(this.theme);
    loads.setTheme(this.theme);
    loads.pull = this.pull;
    bodies.select(this.selected);
    const poses = newPoses(manifest);
    return { manifest, size, bodies, grounds, pit, contacts, overlays, joints, loads, poses };
  }

  private clear(): void {
    const { bodies, grounds, pit, contacts, overlays, joints, loads } = this.content;
    for (const part of [bodies, grounds, pit, contacts, overlays, joints, loads]) {
      this.scene.remove(part.object);
      part.dispose();
    }
  }

  setSwitch(name: SwitchName, on: boolean): void {
    this.switches[name] = on;
    if (name === "shadows") this.lights.setShadows(on);
    if (name === "grid") this.content.grounds.setGrid(on);
    this.invalidate();
  }

  setTheme(theme: Theme): void {
    this.theme = theme;
    this.background.setTheme(theme);
    this.lights.setTheme(theme);
    this.surface.edgeShade.value = theme === "light" ? 0.34 : 0.3;
    this.shellColour.value.set(MARK_COLOURS[theme].selection);
    const { bodies, grounds, pit, contacts, overlays, joints, loads } = this.content;
    for (const part of [bodies, grounds, pit, contacts, overlays, joints, loads]) part.setTheme(theme);
    this.ghost?.bodies.setTheme(theme);
    this.invalidate();
  }

  setForceScale(newtons: number | null): void {
    this.forceChoice = newtons;
    this.content.contacts.setScale(newtons);
    this.invalidate();
  }

  forceScale(): number {
    return this.content.contacts.newtonsPerMetre();
  }

  select(body: number | null): void {
    this.selected = body;
    this.content.bodies.select(body);
    this.invalidate();
  }

  follow(body: number | null): void {
    this.followed = body;
    if (body !== null) this.bodyCentre(body, this.followedAt);
    this.invalidate();
  }

  frameAll(): void {
    this.frameBox(true);
  }

  frameScene(): void {
    this.frameBox(false);
  }

  private frameBox(whole: boolean): void {
    this.whole = whole;
    const box = joinBoxes(this.sceneBox() ?? this.home, this.content.size.anchors());
    if (box) this.camera.frame(this.content.size.withRoom(box), true);
  }

  frameSelected(): void {
    if (this.selected === null || !this.shown) return this.frameAll();
    this.whole = true; // it may be far
    const out = [0, 0, 0, 0, 0, 0];
    this.content.size.bodyBox(this.shown, this.selected, out);
    if (!out.every(Number.isFinite)) return this.frameAll();
    const box: Box3 = { low: [out[0], out[1], out[2]], high: [out[3], out[4], out[5]] };
    const air =
      0.6 * Math.max(box.high[0] - box.low[0], box.high[1] - box.low[1], box.high[2] - box.low[2]);
    for (let i = 0; i < 3; i++) {
      box.low[i] -= air;
      box.high[i] += air;
    }
    this.camera.frame(box, true);
  }

  lookFrom(direction: Direction): void {
    this.whole = false;
    const box = this.sceneBox() ?? this.home;
    const [azimuth, elevation] = this.angles(direction, box);
    if (box) this.camera.frame(this.content.size.withRoom(box), true, { azimuth, elevation });
  }

  setHome(direction: Direction): void {
    this.heading = direction;
    this.framed = 0;
    this.invalidate();
  }

  private angles(direction: Direction, box: Box3 | null): [number, number] {
    const quarter = Math.PI / 2;
    const level = 0.001;
    if (direction === "corner") return this.corner(box);
    const views: Record<Exclude<Direction, "corner">, [number, number]> = {
      x: [0, level],
      "-x": [2 * quarter, level],
      y: [quarter, level],
      "-y": [-quarter, level],
      z: [-quarter, quarter - 0.001],
    };
    return views[direction];
  }

  /* Compact scenes are seen across their longer side; rows from near their beginning, so that
   * they run into the picture; slopes from the side. */
  private corner(box: Box3 | null): [number, number] {
    const degree = Math.PI / 180;
    if (!box) return [-62 * degree, 24 * degree];
    const downhill = this.content.grounds.downhill();
    if (downhill) return [Math.atan2(downhill.y, downhill.x) - 68 * degree, 17 * degree];
    const [x, y, z] = box.high.map((high, i) => high - box.low[i]);
    const slender = Math.max(x, y) / Math.max(Math.min(x, y), z, 1e-12);
    const row = Math.max(0, Math.min(1, (slender - 2.5) / 4));
    const turn = 62 + row * 82;
    return [(x >= y ? -turn : turn - 90) * degree, (24 - 5 * row) * degree];
  }

  pick(clientX: number, clientY: number): Pick3 | null {
    this.camera.ray(clientX, clientY, this.caster);
    let best: { hit: THREE.Intersection; body: number } | null = null;
    for (const hit of this.caster.intersectObject(this.content.bodies.object, true)) {
      const found = this.content.bodies.bodyAt(hit);
      if (!found || (found.clear && best)) continue;
      best = { hit, body: found.body };
      if (!found.clear) break; // what is seen through a sensor comes before the sensor
    }
    if (!best) return null;
    const { poses } = this.content;
    const point = best.hit.point;
    const local = point
      .clone()
      .sub(new THREE.Vector3().fromArray(poses.position, 3 * best.body))
      .applyQuaternion(
        new THREE.Quaternion().fromArray(poses.orientation, 4 * best.body).conjugate(),
      );
    return { body: best.body, point: point.toArray() as Vec3, local: local.toArray() as Vec3 };
  }

  pointAt(clientX: number, clientY: number, through: Vec3): Vec3 {
    this.camera.ray(clientX, clientY, this.caster);
    const normal = this.camera.camera.getWorldDirection(new THREE.Vector3());
    const plane = new THREE.Plane().setFromNormalAndCoplanarPoint(
      normal,
      new THREE.Vector3(...through),
    );
    const point = this.caster.ray.intersectPlane(plane, new THREE.Vector3());
    return point ? (point.toArray() as Vec3) : through;
  }

  cameraPosition(): Vec3 {
    return this.camera.camera.position.toArray() as Vec3;
  }

  cameraDirection(clientX: number, clientY: number): Vec3 {
    this.camera.ray(clientX, clientY, this.caster);
    return this.caster.ray.direction.toArray() as Vec3;
  }

  holdCamera(on: boolean): void {
    this.camera.held = on;
  }

  showPull(pull: Pull | null): void {
    this.pull = pull;
    this.content.loads.pull = pull;
    this.invalidate();
  }

  setGhost(source: FrameSource | null): void {
    if (this.ghost?.source === source && this.ghost?.manifest === source?.manifest) return;
    if (this.ghost) {
      this.scene.remove(this.ghost.bodies.object);
      this.ghost.bodies.dispose();
    }
    this.ghost = null;
    if (source) {
      const { manifest } = source;
      const bodies = new BodyMeshes(manifest, this.surface, this.shellColour, this.shellPixels, {
        ghost: true,
      });
      bodies.setTheme(this.theme);
      this.scene.add(bodies.object);
      this.ghost = { source, manifest, bodies, poses: newPoses(manifest) };
    }
    this.invalidate();
  }

  private showGhost(time: number): void {
    if (!this.ghost) return;
    this.setGhost(this.ghost.source); // its bodies may be others now
    const { source, bodies, poses, manifest } = this.ghost;
    const index = source.count() > 0 ? source.indexAt(time) : 0;
    const frame = source.count() > 0 ? source.frame(index) : null;
    bodies.object.visible = frame !== null;
    if (!frame) return;
    poses.count = Math.min(manifest.bodies.length, frame.position.length / 3);
    const next = time > frame.time ? source.frame(index + 1) : null;
    interpolate(frame, next, time, this.content.size.typical, poses);
    bodies.update(poses.position, poses.orientation, poses.count);
  }

  syncCameraWith(other: View3 | null): void {
    if (other === null) {
      const { state } = this.camera;
      this.camera.state = { ...state, target: state.target.clone() };
    } else if (other instanceof View && other !== this) {
      this.camera.state = other.camera.state;
      this.framed = 2;
      this.touched = true; // the other one frames
      this.home ??= other.home;
      this.forceScales = other.forceScales; // arrows of both can be compared
      this.content.contacts.useScale(this.forceScales);
      this.invalidate();
    }
  }

  resize(): void {
    this.invalidate();
  }

  /** For a picture: this size instead of the canvas's, until null. */
  setCaptureSize(size: { width: number; height: number } | null): void {
    this.capturing = size;
    this.invalidate();
  }

  /** Whether everything is loaded that a time needs. */
  isLoaded(time: number): boolean {
    const { source } = this;
    if (source.count() === 0) return true;
    const index = source.indexAt(time);
    const next = index + 1 < source.first() + source.count() && time > source.timeOf(index);
    return source.frame(index) !== null && (!next || source.frame(index + 1) !== null);
  }

  show(time: number): Frame | null {
    const began = performance.now();
    const { source } = this;
    if (source.manifest !== this.content.manifest) {
      this.clear();
      this.content = this.build(source.manifest);
    }
    if (source.count() === 0) return null;
    const index = source.indexAt(time);
    const frame = source.frame(index);
    if (!frame) return null;
    const next = time > frame.time ? source.frame(index + 1) : null;
    const { poses, bodies, grounds, contacts, overlays, joints, loads, size } = this.content;
    poses.count = Math.min(this.content.manifest.bodies.length, frame.position.length / 3);
    interpolate(frame, next, time, size.typical, poses);
    bodies.update(poses.position, poses.orientation, poses.count);
    bodies.light(frame.sensors);
    grounds.update(poses.position, poses.orientation, poses.count);
    contacts.update(frame, this.switches, this.selected);
    overlays.updateCentres(poses, this.switches.centres);
    overlays.updateVelocities(poses, frame, this.switches.velocities, this.switches.joints);
    overlays.updateTraces(poses, source, index, this.switches.traces);
    overlays.updateBoxes(poses, this.switches.boxes);
    joints.update(poses, this.switches.joints);
    loads.update(poses, frame, this.switches, contacts.newtonsPerMetre(), this.selected);
    this.showGhost(time);
    this.shown = frame;
    this.frameFirst(frame);
    this.followOn();
    this.showMs = performance.now() - began;
    return frame;
  }

  /* The camera is set when the first frame is there, and once more when the last one has come,
   * unless the user has taken it by then. */
  private frameFirst(frame: Frame): void {
    if (this.framed >= 2) return;
    const { source } = this;
    const { size } = this.content;
    const last = source.live ? null : source.peek(source.first() + source.count() - 1);
    if (this.framed === 1 && (!last || this.touched)) {
      if (this.touched) this.framed = 2;
      return;
    }
    this.home = joinBoxes(size.box(frame), size.anchors());
    if (!this.home) return;
    if (last) this.home = this.wayBox(this.home);
    this.home = size.withRoom(this.home);
    this.goHome();
    this.framed = last || source.live ? 2 : 1;
  }

  /* With what of the run is loaded: what swings or rolls out of the first frame stays in sight; what
   * flies off does not count. */
  private wayBox(home: Box3): Box3 {
    const { source } = this;
    const { size } = this.content;
    let box = home;
    for (let i = 1; i <= WAY_SAMPLES; i++) {
      const frame = source.peek(source.first() + Math.floor((i * (source.count() - 1)) / WAY_SAMPLES));
      box = (frame && joinBoxes(box, size.box(frame, box))) ?? box;
    }
    return box;
  }

  private goHome(): void {
    if (!this.home) return;
    const { width, height } = this.setCameraSize();
    const [azimuth, elevation] = this.angles(this.heading, this.home);
    this.camera.frame(this.home, false, { azimuth, elevation });
    this.aspect = width / height;
    this.touched = this.whole = false;
  }

  /* Where everything has left, that is where the scene is now. */
  private sceneBox(): Box3 | null {
    if (!this.shown) return null;
    const { size } = this.content;
    const near = this.whole ? null : this.home;
    return (near && size.box(this.shown, near)) ?? size.box(this.shown);
  }

  private bodyCentre(body: number, out: THREE.Vector3): void {
    const { poses, manifest } = this.content;
    out.fromArray(manifest.bodies[body].centre);
    out.applyQuaternion(new THREE.Quaternion().fromArray(poses.orientation, 4 * body));
    out.add(new THREE.Vector3().fromArray(poses.position, 3 * body));
  }

  private followOn(): void {
    if (this.followed === null || this.followed >= this.content.poses.count) return;
    const now = new THREE.Vector3();
    this.bodyCentre(this.followed, now);
    this.camera.shift(now.clone().sub(this.followedAt));
    this.followedAt.copy(now);
  }

  private setCameraSize(): { width: number; height: number; ratio: number } {
    const width = this.capturing?.width ?? Math.max(1, this.canvas.clientWidth);
    const height = this.capturing?.height ?? Math.max(1, this.canvas.clientHeight);
    const ratio = this.capturing
      ? Math.max(1, height / 900)
      : Math.min(SHARPEST, window.devicePixelRatio || 1);
    this.camera.setSize(
      this.capturing ? width / ratio : width,
      this.capturing ? height / ratio : height,
    );
    return { width, height, ratio };
  }

  private fitCanvas(): void {
    const { width, height, ratio } = this.setCameraSize();
    /* As long as the user has not chosen a view, the window's shape decides. */
    if (this.framed > 0 && !this.touched && Math.abs(width / height / this.aspect - 1) > 0.01)
      this.goHome();
    const scale = this.capturing ? 1 : ratio;
    const w = Math.max(1, Math.round(width * scale));
    const h = Math.max(1, Math.round(height * scale));
    if (this.canvas.width !== w || this.canvas.height !== h) this.renderer.setSize(w, h, false);
    this.marks.viewport.value.set(w, h);
    this.marks.ratio.value = ratio;
    const shell = 2.6 * ratio;
    this.shellPixels.value.set((2 * shell) / w, (2 * shell) / h);
    this.surface.edgeWidth.value = this.switches.edges
      ? (this.camera.planar ? 1.1 : 0.7) * ratio
      : 0;
  }

  render(): void {
    const began = performance.now();
    this.fitCanvas();
    const box = this.sceneBox() ?? this.home;
    if (box) {
      const middle = new THREE.Vector3(...box.low)
        .add(new THREE.Vector3(...box.high))
        .multiplyScalar(0.5);
      const radius = Math.max(1e-9, 0.5 * Math.hypot(...box.low.map((x, i) => box.high[i] - x)));
      this.camera.sceneRadius = radius;
      this.camera.floors = this.content.grounds.floors();
      this.camera.update(began);
      this.lights.fit(middle, radius, this.camera.state);
      const { target, distance } = this.camera.state;
      this.showPit(middle, radius);
      this.content.grounds.look(target, middle, distance, radius, this.camera.pixel());
    } else this.camera.update(began);
    this.renderer.render(this.scene, this.camera.camera);
    this.drawCalls = this.renderer.info.render.calls;
    this.triangles = this.renderer.info.render.triangles;
    this.milliseconds = this.showMs + performance.now() - began;
    if (this.camera.gliding) this.invalidate();
  }

  private showPit(middle: THREE.Vector3, radius: number): void {
    const { grounds, pit } = this.content;
    if (!grounds.walled) return;
    const { ground, walls } = grounds.planesInWorld();
    pit.update(ground, walls, middle, radius);
  }

  stats(): { drawCalls: number; triangles: number; milliseconds: number } {
    return {
      drawCalls: this.drawCalls,
      triangles: this.triangles,
      milliseconds: this.milliseconds,
    };
  }

  dispose(): void {
    this.observer.disconnect();
    this.camera.dispose();
    this.setGhost(null);
    this.clear();
    this.background.dispose();
    this.lights.dispose();
    this.renderer.dispose();
    this.renderer.forceContextLoss();
    this.canvas.remove();
  }
}

function createContext(canvas: HTMLCanvasElement): WebGL2RenderingContext {
  const context = canvas.getContext("webgl2", {
    antialias: true,
    alpha: false,
    depth: true,
    stencil: false,
    powerPreference: "high-performance",
  });
  if (!context)
    throw new Error(
      "This page needs WebGL 2, which this browser does not offer or has switched off.",
    );
  return context;
}
