/* Half-spaces. The ground is the background itself, tinted, with shadows and a fine grid on it,
 * and fades out with the distance: no horizon, no end. A slope is a patch with a border instead,
 * so that one sees that it slopes; walls are left to view_pit.ts. In a planar world a half-plane
 * is a filled region with a hatched border. Also the background, a soft gradient. */

import * as THREE from "three";
import type { Manifest } from "./contract";
import { BACKGROUNDS, FIXED_COLOURS } from "./palette";
import type { Theme } from "./palette";
import { joinPoses, partsOf } from "./view_shapes";

export class Background {
  readonly object: THREE.Mesh;
  private readonly uniforms = {
    top: { value: new THREE.Color() },
    bottom: { value: new THREE.Color() },
  };

  constructor() {
    const geometry = new THREE.BufferGeometry();
    geometry.setAttribute(
      "position",
      new THREE.Float32BufferAttribute([-1, -1, 0, 3, -1, 0, -1, 3, 0], 3),
    );
    const material = new THREE.ShaderMaterial({
      uniforms: this.uniforms,
      vertexShader: `
        varying float h;
        void main() {
          h = position.y * 0.5 + 0.5;
          gl_Position = vec4(position.xy, 1.0, 1.0);
        }`,
      /* Mixed as the eye sees, with a little noise against bands. */
      fragmentShader: `
        varying float h;
        uniform vec3 top;
        uniform vec3 bottom;
        void main() {
          vec3 colour = mix(bottom, top, smoothstep(0.0, 1.0, h));
          float noise = fract(sin(dot(gl_FragCoord.xy, vec2(12.9898, 78.233))) * 43758.5453);
          gl_FragColor = vec4(colour + (noise - 0.5) / 255.0, 1.0);
        }`,
      depthTest: false,
      depthWrite: false,
      toneMapped: false,
    });
    this.object = new THREE.Mesh(geometry, material);
    this.object.frustumCulled = false;
    this.object.renderOrder = -1000;
    this.object.raycast = () => {};
  }

  setTheme(theme: Theme): void {
    /* As sRGB values: the shader writes them as they are. */
    this.uniforms.top.value.setStyle(BACKGROUNDS[theme].top).convertLinearToSRGB();
    this.uniforms.bottom.value.setStyle(BACKGROUNDS[theme].bottom).convertLinearToSRGB();
  }

  dispose(): void {
    this.object.geometry.dispose();
    (this.object.material as THREE.Material).dispose();
  }
}

const GRID_CODE = `
float lines(vec2 place, float spacing, float thick) {
  vec2 cell = place / spacing;
  vec2 width = fwidth(cell);
  vec2 away = abs(fract(cell - 0.5) - 0.5) / max(width, vec2(1e-9));
  vec2 line = 1.0 - smoothstep(vec2(thick - 0.5), vec2(thick + 0.5), away);
  line *= 1.0 - smoothstep(vec2(0.15), vec2(0.4), width);
  return max(line.x, line.y);
}`;

interface Plane {
  body: number;
  frame: THREE.Matrix4; // of the plane, z along the normal, in the body's origin frame
  mesh: THREE.Mesh;
  uniforms: Record<string, THREE.IUniform>;
  kind: Kind;
}

type Kind = "level" | "slope" | "wall";

const LEAST_RISE = 0.3; // z of the normal of a floor: steeper is a wall to the camera

export class Grounds {
  readonly object = new THREE.Group();
  private readonly planes: Plane[] = [];
  private readonly shared = {
    groundColour: { value: new THREE.Color() },
    lineColour: { value: new THREE.Color() },
    shadowColour: { value: new THREE.Color(0x0b1020) },
    tint: { value: 0.6 },
    gridStrength: { value: 1 },
    lineStrength: { value: 0.3 },
    spacing: { value: 1 },
    blend: { value: 0 },
    shadowStrength: { value: 0.36 },
    hatch: { value: 1 }, // planar: pixels between lines times metres per pixel
    depth: { value: 1 },
  };
  private readonly body = new THREE.Matrix4();
  private readonly position = new THREE.Vector3();
  private readonly quaternion = new THREE.Quaternion();
  private readonly one = new THREE.Vector3(1, 1, 1);
  private readonly centre = new THREE.Vector3();

  constructor(private readonly manifest: Manifest) {
    const gravity = new THREE.Vector3(...manifest.gravity).normalize();
    manifest.bodies.forEach((body, index) => {
      for (const collider of body.colliders)
        for (const part of partsOf(manifest, collider.shape, collider.pose)) {
          if (part.shape.kind !== "halfspace") continue;
          const normal = new THREE.Vector3(...part.shape.normal).normalize();
          const frame = planeFrame(normal, part.shape.offset, manifest.planar);
          const pose = joinPoses(part.pose, [0, 0, 0, 0, 0, 0, 1]);
          const outer = new THREE.Matrix4().compose(
            new THREE.Vector3(pose[0], pose[1], pose[2]),
            new THREE.Quaternion(pose[3], pose[4], pose[5], pose[6]),
            this.one,
          );
          this.add(index, outer.multiply(frame));
        }
    });
    this.sort(gravity);
  }

  /* A wall is what bodies do not lie on, unless there is nothing else. */
  private sort(gravity: THREE.Vector3): void {
    const carries = this.planes.map(({ frame }) => -this.normalOf(frame).dot(gravity));
    const best = Math.max(...carries);
    this.planes.forEach((plane, i) => {
      if (carries[i] > 0.999 || gravity.lengthSq() === 0) plane.kind = "level";
      else if (carries[i] > 0.3 || carries[i] === best) plane.kind = "slope";
      plane.uniforms.bordered.value = plane.kind === "slope" ? 1 : 0;
    });
  }

  private normalOf(frame: THREE.Matrix4): THREE.Vector3 {
    return new THREE.Vector3().setFromMatrixColumn(frame, this.manifest.planar ? 1 : 2);
  }

  /** Downhill on the slope that bodies lie on; null: there is none. */
  downhill(): THREE.Vector3 | null {
    if (this.manifest.planar || this.planes.some((plane) => plane.kind === "level")) return null;
    const plane = this.planes.find((entry) => entry.kind === "slope");
    if (!plane) return null;
    const normal = this.normalOf(plane.frame);
    return new THREE.Vector3(normal.x, normal.y, 0).normalize();
  }

  private add(body: number, frame: THREE.Matrix4): void {
    const uniforms = {
      ...this.shared,
      fadeCentre: { value: new THREE.Vector2() },
      fadeRadius: { value: 1 },
      bordered: { value: 0 },
    };
    const material = this.manifest.planar ? regionMaterial(uniforms) : planeMaterial(uniforms);
    const mesh = new THREE.Mesh(new THREE.PlaneGeometry(2, 2), material);
    mesh.matrixAutoUpdate = false;
    mesh.visible = false; // until it has a place
    mesh.frustumCulled = false;
    mesh.receiveShadow = !this.manifest.planar;
    mesh.renderOrder = this.manifest.planar ? -10 : -100;
    mesh.raycast = () => {};
    this.planes.push({ body, frame, mesh, uniforms, kind: "wall" });
    this.object.add(mesh);
  }

  setTheme(theme: Theme): void {
    const colours = BACKGROUNDS[theme];
    const planar = this.manifest.planar;
    this.shared.groundColour.value.set(planar ? FIXED_COLOURS[theme] : colours.ground);
    this.shared.lineColour.value.set(colours.line);
    this.shared.shadowStrength.value = theme === "light" ? 0.34 : 0.55;
    this.shared.lineStrength.value = theme === "light" ? 0.3 : 0.16;
    this.shared.tint.value = theme === "light" ? 0.75 : 0.8;
  }

  setGrid(on: boolean): void {
    this.shared.gridStrength.value = on ? 1 : 0;
  }

  update(position: Float32Array, orientation: Float32Array, count: number): void {
    for (const { body, frame, mesh, kind } of this.planes) {
      mesh.visible = body < count && (kind !== "wall" || this.manifest.planar);
      if (body >= count) continue;
      this.position.fromArray(position, 3 * body);
      this.quaternion.fromArray(orientation, 4 * body);
      this.body.compose(this.position, this.quaternion, this.one);
      mesh.matrix.multiplyMatrices(this.body, frame);
      mesh.matrixWorldNeedsUpdate = true;
    }
  }

  private planeOf({ mesh }: Plane): THREE.Plane {
    return new THREE.Plane().setFromNormalAndCoplanarPoint(
      this.normalOf(mesh.matrix),
      new THREE.Vector3().setFromMatrixPosition(mesh.matrix),
    );
  }

  /** Where they are now: the level ground, if there is just one, and the walls. */
  planesInWorld(): { ground: THREE.Plane | null; walls: THREE.Plane[] } {
    const plane = (entry: Plane) => this.planeOf(entry);
    const level = this.planes.filter((entry) => entry.kind === "level");
    const walls = this.planes.filter((entry) => entry.kind === "wall");
    return { ground: level.length === 1 ? plane(level[0]) : null, walls: walls.map(plane) };
  }

  /** What bodies lie on: the camera stays above it. */
  floors(): THREE.Plane[] {
    if (this.manifest.planar) return [];
    return this.planes
      .filter((entry) => entry.kind !== "wall" && entry.mesh.visible)
      .map((entry) => this.planeOf(entry))
      .filter((plane) => plane.normal.z > LEAST_RISE);
  }

  get walled(): boolean {
    return !this.manifest.planar && this.planes.some((plane) => plane.kind === "wall");
  }

  /** The part that is drawn goes with the camera. */
  look(
    target: THREE.Vector3,
    middle: THREE.Vector3,
    distance: number,
    sceneRadius: number,
    pixel: number,
  ): void {
    const level = Math.log10(distance / 22);
    this.shared.spacing.value = Math.pow(10, Math.floor(level));
    this.shared.blend.value = level - Math.floor(level);
    this.shared.hatch.value = pixel;
    this.shared.depth.value = Math.max(sceneRadius, distance);
    for (const { mesh, uniforms, kind } of this.planes) {
      const centre = this.centre
        .copy(kind === "level" ? target : middle)
        .applyMatrix4(this.body.copy(mesh.matrix).invert());
      (uniforms.fadeCentre.value as THREE.Vector2).set(centre.x, centre.y);
      uniforms.fadeRadius.value = this.manifest.planar
        ? 8 * Math.max(sceneRadius, distance)
        : kind === "level"
          ? Math.max(5 * sceneRadius, 3.5 * distance)
          : 2.2 * sceneRadius;
    }
  }

  dispose(): void {
    for (const { mesh } of this.planes) {
      mesh.geometry.dispose();
      (mesh.material as THREE.Material).dispose();
    }
  }
}

/* Origin at the foot of the perpendicular, z along the normal; planar: y along the normal, z to
 * the eye. */
function planeFrame(normal: THREE.Vector3, offset: number, planar: boolean): THREE.Matrix4 {
  const matrix = new THREE.Matrix4();
  if (planar) {
    const eye = new THREE.Vector3(0, -1, 0);
    matrix.makeBasis(new THREE.Vector3().crossVectors(normal, eye), normal, eye);
  } else {
    const along =
      Math.abs(normal.x) > 0.9 ? new THREE.Vector3(0, 1, 0) : new THREE.Vector3(1, 0, 0);
    const y = new THREE.Vector3().crossVectors(normal, along).normalize();
    matrix.makeBasis(new THREE.Vector3().crossVectors(y, normal), y, normal);
  }
  return matrix.setPosition(normal.x * offset, normal.y * offset, normal.z * offset);
}

/* Stock code for shadows, our own for the rest. */
function planeMaterial(uniforms: Record<string, THREE.IUniform>): THREE.Material {
  const material = new THREE.ShadowMaterial({
    transparent: true,
    depthWrite: false,
    side: THREE.DoubleSide,
    toneMapped: false,
  });
  material.onBeforeCompile = (shader) => {
    Object.assign(shader.uniforms, uniforms);
    shader.vertexShader = shader.vertexShader
      .replace(
        "#include <common>",
        `#include <common>
uniform vec2 fadeCentre;
uniform float fadeRadius;
varying vec2 vPlace;`,
      )
      .replace(
        "#include <begin_vertex>",
        "vPlace = fadeCentre + position.xy * fadeRadius;\nvec3 transformed = vec3(vPlace, 0.0);",
      );
    shader.fragmentShader = shader.fragmentShader
      .replace(
        "#include <common>",
        `#include <common>
uniform vec2 fadeCentre;
uniform float fadeRadius, tint, lineStrength, gridStrength, spacing, blend;
uniform float shadowStrength, bordered;
uniform vec3 groundColour, lineColour, shadowColour;
varying vec2 vPlace;
${GRID_CODE}
vec4 over(vec4 below, vec3 colour, float alpha) {
  float sum = alpha + below.a * (1.0 - alpha);
  return vec4(mix(below.rgb * below.a, colour, alpha) / max(sum, 1e-6), sum);
}`,
      )
      .replace(
        /gl_FragColor = vec4\([^;]*;/,
        `vec2 out2 = abs(vPlace - fadeCentre) / fadeRadius;
float away = length(out2);
float fade = mix(1.0 - smoothstep(0.15, 1.0, away), 1.0, bordered);
vec2 border2 = (1.0 - out2) / max(fwidth(out2), vec2(1e-9));
float border = bordered * (1.0 - smoothstep(1.0, 2.0, min(border2.x, border2.y)));
vec4 result = vec4(groundColour, tint * fade);
float fine = lines(vPlace, spacing, 0.5) * (1.0 - blend);
float coarse = max(lines(vPlace, spacing * 10.0, 0.5), fine * 0.45);
float grid = max(coarse, lines(vPlace, spacing * 100.0, 0.5));
result = over(result, lineColour, max(grid * lineStrength * fade * gridStrength, border * 0.6));
float dark = (1.0 - getShadowMask()) * shadowStrength;
result = over(result, shadowColour, dark * fade);
if (!gl_FrontFacing) result.a *= 0.25;
gl_FragColor = result;`,
      );
  };
  material.customProgramCacheKey = () => "rigor ground";
  return material;
}

function regionMaterial(uniforms: Record<string, THREE.IUniform>): THREE.Material {
  return new THREE.ShaderMaterial({
    uniforms,
    vertexShader: `
      uniform vec2 fadeCentre;
      uniform float fadeRadius;
      varying vec2 vPlace;
      void main() {
        float y = position.y > 0.0 ? 0.0 : min(fadeCentre.y, 0.0) - fadeRadius;
        vPlace = vec2(fadeCentre.x + position.x * fadeRadius, y);
        gl_Position = projectionMatrix * modelViewMatrix * vec4(vPlace, 0.0, 1.0);
      }`,
    fragmentShader: `
      varying vec2 vPlace;
      uniform float hatch, depth;
      uniform vec3 groundColour, lineColour;
      void main() {
        float pixels = -vPlace.y / max(hatch, 1e-12);
        float stripe = (vPlace.x + vPlace.y) / (11.0 * hatch);
        float width = fwidth(stripe);
        float line = 1.0 - smoothstep(0.5 * width, 1.5 * width, abs(fract(stripe) - 0.5));
        float band = 1.0 - smoothstep(10.0, 16.0, pixels);
        float border = 1.0 - smoothstep(1.2, 2.2, pixels);
        float alpha = 0.45 * (1.0 - smoothstep(0.1, 1.0, -vPlace.y / depth));
        float mark = max(border * 0.9, line * band * 0.55);
        gl_FragColor = vec4(mix(groundColour, lineColour, mark), max(alpha, mark));
        #include <colorspace_fragment>
      }`,
    transparent: true,
    depthWrite: false,
    toneMapped: false,
    side: THREE.DoubleSide,
  });
}
