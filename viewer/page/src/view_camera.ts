/* The camera: it turns about a target, with z always up; a planar world is seen straight on,
 * without perspective. The state is a handful of numbers, so that two views can share it.
 *
 * Pointers: primary button or one finger turns (planar: moves), secondary or middle button,
 * Shift, or two fingers move, wheel or pinch zooms towards the pointer. */

import * as THREE from "three";
import type { Box3 } from "./view_scene";

export interface CameraState {
  target: THREE.Vector3;
  azimuth: number; // of the eye about z, from x
  elevation: number;
  distance: number;
}

const FIELD_OF_VIEW = 32; // degrees, of the shorter side at most
const STEEPEST = Math.PI / 2 - 1e-3;
const GLIDE_MS = 320;
const CLEARANCE = 0.01; // distances of the target that the eye stays above the floor
const AIR = 1.12; // around what is framed

function half(): number {
  return Math.tan((FIELD_OF_VIEW * Math.PI) / 360);
}

export class SceneCamera {
  readonly camera: THREE.PerspectiveCamera | THREE.OrthographicCamera;
  state: CameraState = {
    target: new THREE.Vector3(),
    azimuth: -1.1,
    elevation: 0.4,
    distance: 5,
  };
  held = false;
  sceneRadius = 1;
  floors: THREE.Plane[] = []; // the eye stays on their upper side
  private width = 1;
  private height = 1;
  private glide: { from: CameraState; to: CameraState; began: number } | null = null;
  private readonly pointers = new Map<
    number,
    { x: number; y: number; move: boolean; primary: boolean }
  >();
  private readonly eye = new THREE.Vector3();
  private readonly right = new THREE.Vector3();
  private readonly up = new THREE.Vector3();
  private readonly scratch = new THREE.Vector3();

  constructor(
    readonly planar: boolean,
    private readonly element: HTMLElement,
    private readonly changed: () => void,
  ) {
    this.camera = planar
      ? new THREE.OrthographicCamera()
      : new THREE.PerspectiveCamera(FIELD_OF_VIEW);
    this.camera.up.set(0, 0, 1);
    element.style.touchAction = "none";
    element.addEventListener("pointerdown", this.down);
    element.addEventListener("pointermove", this.move);
    element.addEventListener("pointerup", this.up_);
    element.addEventListener("pointercancel", this.up_);
    element.addEventListener("wheel", this.wheel, { passive: false });
    element.addEventListener("contextmenu", this.menu);
  }

  dispose(): void {
    const element = this.element;
    element.removeEventListener("pointerdown", this.down);
    element.removeEventListener("pointermove", this.move);
    element.removeEventListener("pointerup", this.up_);
    element.removeEventListener("pointercancel", this.up_);
    element.removeEventListener("wheel", this.wheel);
    element.removeEventListener("contextmenu", this.menu);
  }

  setSize(width: number, height: number): void {
    this.width = Math.max(1, width);
    this.height = Math.max(1, height);
  }

  /** Metres that a pixel stands for at the target. */
  pixel(): number {
    return (2 * this.state.distance * this.spread().y) / this.height;
  }

  get gliding(): boolean {
    return this.glide !== null;
  }

  /** Puts the camera where the state says. */
  update(now: number): void {
    if (this.glide) this.glideOn(now);
    for (const floor of this.floors) this.keepAbove(floor);
    const { target, azimuth, elevation, distance } = this.state;
    if (this.planar) this.eye.set(0, -1, 0);
    else
      this.eye.set(
        Math.cos(elevation) * Math.cos(azimuth),
        Math.cos(elevation) * Math.sin(azimuth),
        Math.sin(elevation),
      );
    const camera = this.camera;
    camera.position.copy(target).addScaledVector(this.eye, distance);
    camera.lookAt(target);
    const spread = this.spread();
    if (camera instanceof THREE.PerspectiveCamera) {
      camera.fov = (360 / Math.PI) * Math.atan(spread.y);
      camera.aspect = this.width / this.height;
      camera.near = distance * 0.02;
      camera.far = distance * 60 + this.sceneRadius * 20;
    } else {
      camera.top = distance * spread.y;
      camera.bottom = -camera.top;
      camera.right = distance * spread.x;
      camera.left = -camera.right;
      camera.near = distance - 4 * this.sceneRadius - distance;
      camera.far = distance + 4 * this.sceneRadius + distance;
    }
    camera.updateProjectionMatrix();
    camera.updateMatrixWorld();
  }

  /* The height of the eye over a plane is c + d (h cos e + n_z sin e), with the target's height c, the
   * distance d, the elevation e and the normal's part h along the eye's horizontal direction. The
   * smallest elevation that leaves the eye CLEARANCE d above it; where none does, the target is raised. */
  private keepAbove(floor: THREE.Plane): void {
    const state = this.state;
    const { normal } = floor;
    const wanted = CLEARANCE * state.distance;
    const along = normal.x * Math.cos(state.azimuth) + normal.y * Math.sin(state.azimuth);
    const size = Math.hypot(along, normal.z) * state.distance;
    const height = floor.distanceToPoint(state.target);
    const phase = Math.atan2(along, normal.z);
    if (height + size * Math.sin(state.elevation + phase) >= wanted) return;
    const sine = (wanted - height) / size;
    const highest = Math.sin(Math.min(STEEPEST + phase, Math.PI / 2));
    if (sine > highest) state.target.addScaledVector(normal, (sine - highest) * size);
    state.elevation = Math.min(STEEPEST, Math.asin(Math.min(sine, highest)) - phase);
  }

  /** The camera sees a box with some air around it. */
  frame(box: Box3, glide: boolean, direction?: { azimuth: number; elevation: number }): void {
    const middle = new THREE.Vector3(...box.low)
      .add(new THREE.Vector3(...box.high))
      .multiplyScalar(0.5);
    const to: CameraState = { ...this.state, ...direction, target: middle };
    this.fit(box, to);
    this.go(to, glide);
  }

  look(azimuth: number, elevation: number, glide: boolean): void {
    this.go({ ...this.state, target: this.state.target.clone(), azimuth, elevation }, glide);
  }

  /** Moves along with something. */
  shift(by: THREE.Vector3): void {
    this.state.target.add(by);
    this.glide?.to.target.add(by);
    this.glide?.from.target.add(by);
  }

  stopGliding(): void {
    if (this.glide) this.set(this.glide.to);
    this.glide = null;
  }

  /* Half the height and width of what is seen at distance 1: the shorter side gets the field of
   * view, so that a phone held upright sees the same as a screen. */
  private spread(): { x: number; y: number } {
    const aspect = this.width / this.height;
    return aspect >= 1 ? { x: half() * aspect, y: half() } : { x: half(), y: half() / aspect };
  }

  /* The closest place along a direction from which all corners of the box are inside the
   * picture: for each pair of opposite sides the eye's offset and distance at which both are
   * just touched. */
  private fit(box: Box3, state: CameraState): void {
    const direction = this.planar
      ? new THREE.Vector3(0, -1, 0)
      : new THREE.Vector3(
          Math.cos(state.elevation) * Math.cos(state.azimuth),
          Math.cos(state.elevation) * Math.sin(state.azimuth),
          Math.sin(state.elevation),
        );
    const right = new THREE.Vector3(0, 0, 1).cross(direction).normalize();
    const up = new THREE.Vector3().crossVectors(direction, right);
    const spread = this.spread();
    const sides = [
      { axis: right, slope: spread.x / AIR, most: -Infinity, least: -Infinity },
      { axis: up, slope: spread.y / AIR, most: -Infinity, least: -Infinity },
    ];
    const offset = new THREE.Vector3();
    for (let corner = 0; corner < 8; corner++) {
      offset
        .set(
          corner & 1 ? box.high[0] : box.low[0],
          corner & 2 ? box.high[1] : box.low[1],
          corner & 4 ? box.high[2] : box.low[2],
        )
        .sub(state.target);
      const near = this.planar ? 0 : offset.dot(direction);
      for (const side of sides) {
        const across = offset.dot(side.axis) / side.slope;
        side.most = Math.max(side.most, near + across);
        side.least = Math.max(side.least, near - across);
      }
    }
    state.distance = 0;
    for (const side of sides) {
      state.distance = Math.max(state.distance, (side.most + side.least) / 2);
      state.target.addScaledVector(side.axis, ((side.most - side.least) / 2) * side.slope);
    }
    const size = Math.hypot(...box.low.map((x, i) => box.high[i] - x));
    state.distance = Math.max(state.distance, 0.2 * size, 1e-9);
  }

  private go(to: CameraState, glide: boolean): void {
    if (glide && !matchMedia("(prefers-reduced-motion: reduce)").matches) {
      /* The short way round. */
      const turn = 2 * Math.PI;
      to.azimuth += Math.round((this.state.azimuth - to.azimuth) / turn) * turn;
      this.glide = {
        from: { ...this.state, target: this.state.target.clone() },
        to,
        began: -1,
      };
    } else {
      this.glide = null;
      this.set(to);
    }
    this.changed();
  }

  private set(to: CameraState): void {
    this.state.target.copy(to.target);
    this.state.azimuth = to.azimuth;
    this.state.elevation = to.elevation;
    this.state.distance = to.distance;
  }

  private glideOn(now: number): void {
    const glide = this.glide!;
    if (glide.began < 0) glide.began = now;
    const t = Math.min(1, (now - glide.began) / GLIDE_MS);
    const s = t * t * (3 - 2 * t);
    this.state.target.lerpVectors(glide.from.target, glide.to.target, s);
    this.state.azimuth = glide.from.azimuth + s * (glide.to.azimuth - glide.from.azimuth);
    this.state.elevation = glide.from.elevation + s * (glide.to.elevation - glide.from.elevation);
    this.state.distance =
      glide.from.distance * Math.pow(glide.to.distance / glide.from.distance, s);
    if (t >= 1) this.glide = null;
  }

  private axes(): void {
    this.right.setFromMatrixColumn(this.camera.matrixWorld, 0);
    this.up.setFromMatrixColumn(this.camera.matrixWorld, 1);
  }

  private pan(dx: number, dy: number): void {
    this.axes();
    const scale = this.pixel();
    this.state.target.addScaledVector(this.right, -dx * scale).addScaledVector(this.up, dy * scale);
  }

  private turn(dx: number, dy: number): void {
    const speed = Math.PI / Math.max(320, Math.min(this.width, this.height));
    this.state.azimuth -= dx * speed;
    this.state.elevation = Math.max(
      -STEEPEST,
      Math.min(STEEPEST, this.state.elevation + dy * speed),
    );
  }

  /* What is under the pointer (on the plane through the target) stays there. */
  private zoom(factor: number, x: number, y: number): void {
    const smallest = 1e-4 * this.sceneRadius;
    const largest = 100 * this.sceneRadius;
    const distance = Math.max(smallest, Math.min(largest, this.state.distance * factor));
    const real = distance / this.state.distance;
    const rect = this.element.getBoundingClientRect();
    this.axes();
    const scale = this.pixel() * (1 - real);
    this.state.target
      .addScaledVector(this.right, (x - rect.left - rect.width / 2) * scale)
      .addScaledVector(this.up, -(y - rect.top - rect.height / 2) * scale);
    this.state.distance = distance;
  }

  private readonly down = (event: PointerEvent): void => {
    this.glide = null;
    this.element.setPointerCapture(event.pointerId);
    this.pointers.set(event.pointerId, {
      x: event.clientX,
      y: event.clientY,
      move: event.button !== 0 || event.shiftKey || this.planar,
      primary: event.button === 0,
    });
  };

  private readonly move = (event: PointerEvent): void => {
    const pointer = this.pointers.get(event.pointerId);
    if (!pointer) return;
    const dx = event.clientX - pointer.x;
    const dy = event.clientY - pointer.y;
    if (dx === 0 && dy === 0) return;
    if (this.pointers.size === 2) this.pinch(pointer, dx, dy);
    else if (this.pointers.size === 1 && !(this.held && pointer.primary)) {
      if (pointer.move) this.pan(dx, dy);
      else this.turn(dx, dy);
    }
    pointer.x = event.clientX;
    pointer.y = event.clientY;
    this.changed();
  };

  private pinch(moved: { x: number; y: number }, dx: number, dy: number): void {
    const other = [...this.pointers.values()].find((pointer) => pointer !== moved);
    if (!other || this.held) return;
    const before = Math.hypot(moved.x - other.x, moved.y - other.y);
    const after = Math.hypot(moved.x + dx - other.x, moved.y + dy - other.y);
    this.pan(dx / 2, dy / 2);
    if (before > 1 && after > 1)
      this.zoom(before / after, (moved.x + dx + other.x) / 2, (moved.y + dy + other.y) / 2);
  }

  private readonly up_ = (event: PointerEvent): void => {
    this.pointers.delete(event.pointerId);
  };

  private readonly wheel = (event: WheelEvent): void => {
    event.preventDefault();
    this.glide = null;
    const lines = event.deltaMode === 1 ? 16 : event.deltaMode === 2 ? 200 : 1;
    const amount = Math.max(-150, Math.min(150, event.deltaY * lines));
    this.zoom(Math.exp(amount * (event.ctrlKey ? 0.01 : 0.0016)), event.clientX, event.clientY);
    this.changed();
  };

  private readonly menu = (event: Event): void => event.preventDefault();

  /** From the camera into the scene through a point of the page. */
  ray(clientX: number, clientY: number, caster: THREE.Raycaster): void {
    const rect = this.element.getBoundingClientRect();
    const x = (2 * (clientX - rect.left)) / Math.max(1, rect.width) - 1;
    const y = 1 - (2 * (clientY - rect.top)) / Math.max(1, rect.height);
    caster.setFromCamera(new THREE.Vector2(x, y), this.camera);
    if (this.planar) {
      /* A ray that starts on the near plane, which may lie behind bodies. */
      caster.ray.origin.copy(this.scratch.set(x, y, -1).unproject(this.camera));
    }
  }
}
