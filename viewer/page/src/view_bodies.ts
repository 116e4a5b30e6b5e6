/* Sensors, and all bodies of the run that is laid over another, are drawn so that one sees through them.
 *
 * Bodies as instances: one draw call for each kind of geometry, matrices written straight into
 * the instance arrays. Where nearly every body has a geometry of its own (piles of stones), all
 * of these share one batch instead. */

import * as THREE from "three";
import type { Manifest } from "./contract";
import { bodyColour, FIXED_COLOURS, GHOST_COLOURS, KINEMATIC_COLOURS, TOUCHED_COLOURS } from "./palette";
import type { Theme } from "./palette";
import { outlineMaterial, surfaceMaterial } from "./view_material";
import type { SurfaceUniforms } from "./view_material";
import { formOf, partsOf } from "./view_shapes";
import type { Form, Pattern } from "./view_shapes";

const MANY = 10; // geometries of one body each; with more they are batched

/** One shape of one body. */
interface Piece {
  body: number;
  form: Form;
  pose: number[];
  clear: boolean;
}

const HIDDEN = new THREE.Matrix4().makeScale(0, 0, 0);

/* Rotation times scale, and translation, as a column-major matrix. */
function writeMatrix(
  out: Float32Array | number[],
  at: number,
  px: number,
  py: number,
  pz: number,
  x: number,
  y: number,
  z: number,
  w: number,
  scale: readonly number[],
): void {
  const sx = scale[0];
  const sy = scale[1];
  const sz = scale[2];
  out[at] = (1 - 2 * (y * y + z * z)) * sx;
  out[at + 1] = 2 * (x * y + w * z) * sx;
  out[at + 2] = 2 * (x * z - w * y) * sx;
  out[at + 3] = 0;
  out[at + 4] = 2 * (x * y - w * z) * sy;
  out[at + 5] = (1 - 2 * (x * x + z * z)) * sy;
  out[at + 6] = 2 * (y * z + w * x) * sy;
  out[at + 7] = 0;
  out[at + 8] = 2 * (x * z + w * y) * sz;
  out[at + 9] = 2 * (y * z - w * x) * sz;
  out[at + 10] = (1 - 2 * (x * x + y * y)) * sz;
  out[at + 11] = 0;
  out[at + 12] = px;
  out[at + 13] = py;
  out[at + 14] = pz;
  out[at + 15] = 1;
}

function placePiece(
  piece: Piece,
  position: Float32Array,
  orientation: Float32Array,
  out: Float32Array | number[],
  at: number,
): void {
  const b3 = 3 * piece.body;
  const b4 = 4 * piece.body;
  const qx = orientation[b4];
  const qy = orientation[b4 + 1];
  const qz = orientation[b4 + 2];
  const qw = orientation[b4 + 3];
  const pose = piece.pose;
  const [lx, ly, lz, ax, ay, az, aw] = pose as [
    number,
    number,
    number,
    number,
    number,
    number,
    number,
  ];
  /* p + q l q*: two cross products. */
  const tx = 2 * (qy * lz - qz * ly);
  const ty = 2 * (qz * lx - qx * lz);
  const tz = 2 * (qx * ly - qy * lx);
  writeMatrix(
    out,
    at,
    position[b3] + lx + qw * tx + qy * tz - qz * ty,
    position[b3 + 1] + ly + qw * ty + qz * tx - qx * tz,
    position[b3 + 2] + lz + qw * tz + qx * ty - qy * tx,
    qw * ax + qx * aw + qy * az - qz * ay,
    qw * ay - qx * az + qy * aw + qz * ax,
    qw * az + qx * ay - qy * ax + qz * aw,
    qw * aw - qx * ax - qy * ay - qz * az,
    piece.form.scale,
  );
}

export interface BodyLook {
  ghost: boolean; // of the other run: see-through, in one colour, without what is fixed
}

interface Group {
  object: THREE.InstancedMesh | THREE.BatchedMesh;
  pieces: Piece[];
}

export class BodyMeshes {
  readonly object = new THREE.Group();
  private readonly groups: Group[] = [];
  private readonly pieces: Piece[] = [];
  private readonly geometries = new Map<string, THREE.BufferGeometry>();
  private readonly materials = new Map<string, THREE.Material>();
  private readonly outline: THREE.Mesh[] = [];
  private readonly shell: THREE.ShaderMaterial;
  private readonly matrix = new THREE.Matrix4();
  private selected: number | null = null;
  private lit = new Set<number>();
  private theme: Theme = "light";

  constructor(
    private readonly manifest: Manifest,
    private readonly uniforms: SurfaceUniforms,
    shellColour: { value: THREE.Color },
    shellPixels: { value: THREE.Vector2 },
    private readonly look: BodyLook = { ghost: false },
  ) {
    this.shell = outlineMaterial({ shellColour, shellPixels, flat: manifest.planar });
    manifest.bodies.forEach((body, index) => {
      if (look.ghost && body.motion === "fixed") return;
      for (const collider of body.colliders)
        for (const part of partsOf(manifest, collider.shape, collider.pose)) {
          const form = formOf(part.shape, part.number);
          const clear = look.ghost || collider.sensor;
          if (form) this.pieces.push({ body: index, form, pose: part.pose, clear });
        }
    });
    this.buildGroups();
    this.setTheme("light");
    this.object.visible = false; // until they have a place
  }

  private buildGroups(): void {
    const byKey = new Map<string, Piece[]>();
    for (const piece of this.pieces) {
      const key = piece.clear ? `${piece.form.key} clear` : piece.form.key;
      const list = byKey.get(key) ?? [];
      list.push(piece);
      byKey.set(key, list);
    }
    const various = [...byKey.values()].filter((list) => list[0].form.many);
    const batched = new Set(various.length > MANY ? various : []);
    for (const list of byKey.values()) if (!batched.has(list)) this.addInstances(list);
    for (const pattern of ["none", "octants"] as const) {
      for (const clear of [false, true]) {
        const lists = [...batched].filter(
          ([piece]) => piece.form.pattern === pattern && piece.clear === clear,
        );
        if (lists.length > 0) this.addBatch(lists, pattern);
      }
    }
  }

  private geometryOf(form: Form, count: number): THREE.BufferGeometry {
    let geometry = this.geometries.get(form.key);
    if (!geometry) {
      geometry = form.build(count);
      this.geometries.set(form.key, geometry);
    }
    return geometry;
  }

  private materialOf(pattern: Pattern, clear: boolean): THREE.Material {
    const key = `${pattern} ${clear}`;
    let material = this.materials.get(key);
    if (!material) {
      material = surfaceMaterial(pattern, this.manifest.planar, this.uniforms, clear);
      this.materials.set(key, material);
    }
    return material;
  }

  private addInstances(pieces: Piece[]): void {
    const form = pieces[0].form;
    const mesh = new THREE.InstancedMesh(
      this.geometryOf(form, pieces.length),
      this.materialOf(form.pattern, pieces[0].clear),
      pieces.length,
    );
    mesh.instanceMatrix.setUsage(THREE.DynamicDrawUsage);
    mesh.boundingSphere = new THREE.Sphere(new THREE.Vector3(), Infinity); // moves; never stale
    this.add({ object: mesh, pieces });
  }

  private addBatch(lists: Piece[][], pattern: Pattern): void {
    const count = lists.reduce((sum, list) => sum + list.length, 0);
    const geometries = lists.map((list) => this.geometryOf(list[0].form, count));
    const vertices = geometries.reduce((sum, it) => sum + it.getAttribute("position").count, 0);
    const corners = geometries.reduce((sum, it) => sum + (it.index?.count ?? 0), 0);
    const mesh = new THREE.BatchedMesh(
      count,
      vertices,
      corners,
      this.materialOf(pattern, lists[0][0].clear),
    );
    mesh.perObjectFrustumCulled = false;
    mesh.sortObjects = false;
    const pieces: Piece[] = [];
    lists.forEach((list, i) => {
      const geometry = mesh.addGeometry(geometries[i]);
      for (const piece of list) {
        mesh.addInstance(geometry);
        pieces.push(piece);
      }
    });
    mesh.boundingSphere = new THREE.Sphere(new THREE.Vector3(), Infinity);
    this.add({ object: mesh, pieces });
  }

  private add(group: Group): void {
    group.object.frustumCulled = false;
    const solid = !this.manifest.planar && !group.pieces[0].clear;
    group.object.castShadow = group.object.receiveShadow = solid;
    if (group.pieces[0].clear) group.object.renderOrder = 5; // after what is behind them
    this.groups.push(group);
    this.object.add(group.object);
  }

  /** Bodies beyond `count` are hidden: thrown in after the frame that is shown. */
  update(position: Float32Array, orientation: Float32Array, count: number): void {
    this.object.visible = true;
    for (const { object, pieces } of this.groups) {
      if (object instanceof THREE.InstancedMesh) {
        const array = object.instanceMatrix.array as Float32Array;
        for (let i = 0; i < pieces.length; i++)
          if (pieces[i].body < count) placePiece(pieces[i], position, orientation, array, 16 * i);
          else array.fill(0, 16 * i, 16 * i + 16);
        object.instanceMatrix.needsUpdate = true;
      } else {
        for (let i = 0; i < pieces.length; i++) {
          if (pieces[i].body < count) {
            placePiece(pieces[i], position, orientation, this.matrix.elements, 0);
            object.setMatrixAt(i, this.matrix);
          } else object.setMatrixAt(i, HIDDEN);
        }
      }
    }
    for (const mesh of this.outline) {
      const piece = mesh.userData.piece as Piece;
      mesh.visible = piece.body < count;
      mesh.matrixWorldNeedsUpdate = true;
      if (mesh.visible) placePiece(piece, position, orientation, mesh.matrix.elements, 0);
    }
  }

  /** Sensors that are touched have a colour of their own. */
  light(sensors: Set<number>): void {
    if (sensors.size === this.lit.size && [...sensors].every((body) => this.lit.has(body))) return;
    this.lit = sensors;
    this.setTheme(this.theme);
  }

  setTheme(theme: Theme): void {
    this.theme = theme;
    const colour = new THREE.Color();
    for (const { object, pieces } of this.groups) {
      pieces.forEach((piece, i) => {
        const lit = piece.clear && this.lit.has(piece.body);
        object.setColorAt(i, colour.set(lit ? TOUCHED_COLOURS[theme] : this.colourOf(piece.body)));
      });
      if (object instanceof THREE.InstancedMesh && object.instanceColor)
        object.instanceColor.needsUpdate = true;
    }
  }

  colourOf(body: number): string {
    const motion = this.manifest.bodies[body].motion;
    if (this.look.ghost) return GHOST_COLOURS[this.theme];
    if (motion === "fixed") return FIXED_COLOURS[this.theme];
    if (motion === "kinematic") return KINEMATIC_COLOURS[this.theme];
    return bodyColour(body);
  }

  select(body: number | null): void {
    if (body === this.selected) return;
    this.selected = body;
    for (const mesh of this.outline) {
      this.object.remove(mesh);
      if (mesh.material !== this.shell) (mesh.material as THREE.Material).dispose();
    }
    this.outline.length = 0;
    if (body === null) return;
    for (const piece of this.pieces) {
      if (piece.body !== body) continue;
      this.addOutline(piece, this.shell, this.manifest.planar ? 1 : -1);
      if (this.manifest.planar) this.addOutline(piece, this.raisedMaterial(piece), 2);
    }
  }

  /* In a planar world everything lies in one plane: the selected body is drawn once more, on
   * top. */
  private raisedMaterial(piece: Piece): THREE.Material {
    const material = surfaceMaterial(
      piece.form.pattern,
      true,
      this.uniforms,
    ) as THREE.MeshBasicMaterial;
    material.color.set(this.colourOf(piece.body));
    material.depthTest = false;
    return material;
  }

  private addOutline(piece: Piece, material: THREE.Material, order: number): void {
    const mesh = new THREE.Mesh(this.geometryOf(piece.form, 1), material);
    mesh.userData.piece = piece;
    mesh.matrixAutoUpdate = false;
    mesh.frustumCulled = false;
    mesh.renderOrder = order;
    mesh.raycast = () => {};
    this.outline.push(mesh);
    this.object.add(mesh);
  }

  /** Which body an intersection belongs to, and whether one sees through it. */
  bodyAt(hit: THREE.Intersection): { body: number; clear: boolean } | null {
    const group = this.groups.find((entry) => entry.object === hit.object);
    const index = hit.instanceId ?? hit.batchId;
    return group && index !== undefined ? group.pieces[index] : null;
  }

  dispose(): void {
    this.select(null);
    for (const { object } of this.groups) object.dispose();
    for (const geometry of this.geometries.values()) geometry.dispose();
    for (const material of this.materials.values()) material.dispose();
    this.shell.dispose();
  }
}
