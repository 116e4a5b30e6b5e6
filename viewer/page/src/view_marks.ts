/* What is drawn on top of bodies: arrows, points, friction cones, lines. Each kind is one
 * instanced geometry whose instances are refilled for every frame that is shown. It is drawn
 * twice: what is in sight fully, what bodies hide faintly, since contacts lie between bodies and
 * forces inside them. Widths are set in pixels but never out of proportion to the bodies. */

import * as THREE from "three";

export interface MarkUniforms {
  viewport: { value: THREE.Vector2 }; // in pixels of the drawing buffer
  ratio: { value: number }; // of those per CSS pixel
  typical: { value: number }; // size of a body, m
}

const COMMON = `
uniform vec2 viewport;
uniform float ratio, typical;
vec3 across(vec3 z) {
  return normalize(cross(z, abs(z.z) > 0.9 ? vec3(0.0, 1.0, 0.0) : vec3(0.0, 0.0, 1.0)));
}
/* Metres at a place that a CSS pixel covers. */
float pixelAt(vec4 clip) { return clip.w * 2.0 * ratio / (projectionMatrix[1][1] * viewport.y); }
`;

const CROWD = 300;

/** Instances in arrays that grow. */
export class Marks {
  readonly object = new THREE.Group();
  protected readonly geometry = new THREE.InstancedBufferGeometry();
  private readonly attributes: {
    name: string;
    size: number;
    attribute: THREE.InstancedBufferAttribute;
  }[] = [];
  private capacity = 0;
  private hiddenOpacity: { uniform: { value: number }; most: number } | null = null;

  constructor(
    shape: THREE.BufferGeometry,
    layout: Record<string, number>,
    shader: {
      vertex: string;
      fragment: string;
      side?: THREE.Side;
      depthWrite?: boolean;
      hidden: number;
    },
    uniforms: Record<string, THREE.IUniform>,
    order: number,
  ) {
    for (const [name, attribute] of Object.entries(shape.attributes))
      this.geometry.setAttribute(name, attribute);
    if (shape.index) this.geometry.setIndex(shape.index);
    for (const [name, size] of Object.entries(layout))
      this.attributes.push({
        name,
        size,
        attribute: new THREE.InstancedBufferAttribute(new Float32Array(0), size),
      });
    this.geometry.instanceCount = 0;
    for (const hidden of shader.hidden > 0 ? [true, false] : [false]) {
      const opacity = { value: hidden ? shader.hidden : 1 };
      if (hidden) this.hiddenOpacity = { uniform: opacity, most: shader.hidden };
      const material = new THREE.ShaderMaterial({
        uniforms: { ...uniforms, opacity },
        vertexShader: COMMON + shader.vertex,
        fragmentShader: "uniform float opacity;\n" + shader.fragment,
        side: shader.side ?? THREE.FrontSide,
        transparent: true,
        toneMapped: false,
        depthFunc: hidden ? THREE.GreaterDepth : THREE.LessEqualDepth,
        depthWrite: !hidden && (shader.depthWrite ?? false),
      });
      const mesh = new THREE.Mesh(this.geometry, material);
      mesh.frustumCulled = false;
      mesh.renderOrder = order + (hidden ? 0 : 0.5);
      mesh.raycast = () => {};
      this.object.add(mesh);
    }
    this.reserve(16);
    this.object.visible = false;
  }

  /** Room for so many; what was written is kept. */
  reserve(count: number): void {
    if (count <= this.capacity) return;
    this.capacity = Math.max(count, 2 * this.capacity);
    for (const entry of this.attributes) {
      const array = new Float32Array(this.capacity * entry.size);
      array.set(entry.attribute.array as Float32Array);
      entry.attribute = new THREE.InstancedBufferAttribute(array, entry.size);
      entry.attribute.setUsage(THREE.DynamicDrawUsage);
      this.geometry.setAttribute(entry.name, entry.attribute);
    }
    /* The old buffers on the graphics card go with a disposal; the rest is uploaded again. */
    this.geometry.dispose();
  }

  array(name: string): Float32Array {
    return this.attributes.find((entry) => entry.name === name)!.attribute.array as Float32Array;
  }

  /** After writing: how many there are now. */
  finish(count: number): void {
    this.geometry.instanceCount = count;
    this.object.visible = count > 0;
    /* Thousands that shine through would bury what is in front of them. */
    if (this.hiddenOpacity)
      this.hiddenOpacity.uniform.value = this.hiddenOpacity.most * Math.min(1, CROWD / count);
    for (const entry of this.attributes) {
      entry.attribute.clearUpdateRanges();
      entry.attribute.addUpdateRange(0, count * entry.size);
      entry.attribute.needsUpdate = true;
    }
  }

  hide(): void {
    this.object.visible = false;
  }

  dispose(): void {
    this.geometry.dispose();
    for (const child of this.object.children)
      ((child as THREE.Mesh).material as THREE.Material).dispose();
  }
}

/* ---- arrows ---- */

/* Shaft and head of unit size; z says where along it, `part` what it is. */
function arrowGeometry(): THREE.BufferGeometry {
  const position: number[] = [];
  const normal: number[] = [];
  const part: number[] = [];
  const sides = 12;
  const vertex = (
    x: number,
    y: number,
    z: number,
    nx: number,
    ny: number,
    nz: number,
    p: number,
  ) => {
    position.push(x, y, z);
    normal.push(nx, ny, nz);
    part.push(p);
  };
  for (let i = 0; i < sides; i++) {
    const a = (2 * Math.PI * i) / sides;
    const b = (2 * Math.PI * (i + 1)) / sides;
    const [ca, sa, cb, sb] = [Math.cos(a), Math.sin(a), Math.cos(b), Math.sin(b)];
    vertex(ca, sa, 0, ca, sa, 0, 0);
    vertex(cb, sb, 0, cb, sb, 0, 0);
    vertex(cb, sb, 1, cb, sb, 0, 0);
    vertex(ca, sa, 0, ca, sa, 0, 0);
    vertex(cb, sb, 1, cb, sb, 0, 0);
    vertex(ca, sa, 1, ca, sa, 0, 0);
    vertex(ca, sa, 0, ca, sa, 0.35, 1);
    vertex(cb, sb, 0, cb, sb, 0.35, 1);
    vertex(0, 0, 1, (ca + cb) / 2, (sa + sb) / 2, 0.35, 1);
    vertex(0, 0, 0, 0, 0, -1, 1);
    vertex(cb, sb, 0, 0, 0, -1, 1);
    vertex(ca, sa, 0, 0, 0, -1, 1);
  }
  const geometry = new THREE.BufferGeometry();
  geometry.setAttribute("position", new THREE.Float32BufferAttribute(position, 3));
  geometry.setAttribute("normal", new THREE.Float32BufferAttribute(normal, 3));
  geometry.setAttribute("part", new THREE.Float32BufferAttribute(part, 1));
  return geometry;
}

/** Attributes: origin, along (3 each), tone (rgb and opacity). `along` of more than `longest`
 * typical bodies is cut there, and its shaft shows a gap. */
export class Arrows extends Marks {
  constructor(uniforms: MarkUniforms, slim: boolean, order: number) {
    super(
      arrowGeometry(),
      { origin: 3, along: 3, tone: 4 },
      {
        hidden: 0.42,
        depthWrite: true,
        vertex: `
          attribute vec3 origin, along;
          attribute vec4 tone;
          attribute float part;
          varying vec4 vTone;
          varying vec3 vNormal;
          varying float vGap;
          void main() {
            float wanted = length(along);
            float size = min(wanted, ${LONGEST.toFixed(1)} * typical);
            vec3 z = along / max(wanted, 1e-30);
            vec3 x = across(z);
            vec3 y = cross(z, x);
            vec4 base = projectionMatrix * modelViewMatrix * vec4(origin, 1.0);
            float pixel = pixelAt(base);
            float radius = clamp(0.03 * typical, pixel, 2.4 * pixel) * ${slim ? 0.6 : "1.0"};
            float headRadius = 2.7 * radius;
            float head = 7.5 * radius;
            float shrink = min(1.0, size / (1.3 * head));
            headRadius *= shrink; head *= shrink; radius *= shrink;
            float shaft = size - head;
            vec3 place = part < 0.5
              ? vec3(position.xy * radius, position.z * shaft)
              : vec3(position.xy * headRadius, position.z * head + shaft);
            vGap = wanted > size * 1.001 && part < 0.5 ? position.z : -1.0;
            vTone = tone;
            vNormal = normalMatrix * (mat3(x, y, z) * normal);
            vec4 world = vec4(origin + mat3(x, y, z) * place, 1.0);
            gl_Position = projectionMatrix * modelViewMatrix * world;
          }`,
        fragment: `
          varying vec4 vTone;
          varying vec3 vNormal;
          varying float vGap;
          void main() {
            if (vGap > 0.0 && abs(vGap - 0.82) < 0.03) discard;
            float light = 0.80 + 0.28 * dot(normalize(vNormal), normalize(vec3(-0.3, 0.55, 0.75)));
            gl_FragColor = vec4(vTone.rgb * light, vTone.a * opacity);
            #include <colorspace_fragment>
          }`,
      },
      { ...uniforms },
      order,
    );
  }
}

/** Arrows are cut at so many typical bodies. */
export const LONGEST = 4;

/* ---- points ---- */

/* Radius in typical bodies, at least and at most in pixels; opacity where bodies hide it. */
const POINT_SIZES = {
  dot: { wide: "0.07", least: "2.0", most: "4.2", hidden: 0.5 },
  joint: { wide: "0.15", least: "3.6", most: "6.0", hidden: 0.85 },
  centre: { wide: "0.16", least: "2.0", most: "7.0", hidden: 0.85 },
};

/** Attributes: origin, tone. `kind`: a dot with a rim, small or larger, or the sign of a centre of
 * mass. */
export class Points extends Marks {
  constructor(uniforms: MarkUniforms, kind: keyof typeof POINT_SIZES, order: number) {
    const { wide, least, most, hidden } = POINT_SIZES[kind];
    const quad = new THREE.BufferGeometry();
    quad.setAttribute(
      "position",
      new THREE.Float32BufferAttribute([-1, -1, 0, 1, -1, 0, 1, 1, 0, -1, 1, 0], 3),
    );
    quad.setIndex([0, 1, 2, 0, 2, 3]);
    super(
      quad,
      { origin: 3, tone: 4 },
      {
        hidden,
        vertex: `
          attribute vec3 origin;
          attribute vec4 tone;
          varying vec4 vTone;
          varying vec2 vSpot;
          varying float vPixels;
          void main() {
            vec4 centre = projectionMatrix * modelViewMatrix * vec4(origin, 1.0);
            float pixel = pixelAt(centre);
            float radius = clamp(${wide} * typical, ${least} * pixel, ${most} * pixel);
            vTone = tone;
            vSpot = position.xy;
            vPixels = radius / pixel;
            gl_Position = centre;
            gl_Position.xy += position.xy * vPixels * 2.0 * ratio / viewport * centre.w;
            /* In front of the surface that it lies on. */
            vec4 closer = modelViewMatrix * vec4(origin, 1.0);
            closer.z += radius;
            closer = projectionMatrix * closer;
            gl_Position.z = closer.z / closer.w * gl_Position.w;
          }`,
        fragment: `
          varying vec4 vTone;
          varying vec2 vSpot;
          varying float vPixels;
          void main() {
            float r = length(vSpot);
            float soft = 1.0 / max(vPixels, 1.0);
            float inside = 1.0 - smoothstep(1.0 - soft, 1.0, r);
            if (inside <= 0.0) discard;
            ${
              kind !== "centre"
                ? `float ring = smoothstep(0.62 - soft, 0.62 + soft, r) * step(2.6, vPixels);
                   vec3 colour = mix(vTone.rgb, vec3(1.0), ring);`
                : `vec2 quadrant = clamp(vSpot / soft, -1.0, 1.0);
                   float quarter = quadrant.x * quadrant.y * 0.5 + 0.5;
                   quarter *= 1.0 - smoothstep(0.82 - soft, 0.82, r);
                   vec3 colour = mix(vec3(0.02), vec3(1.0), quarter);`
            }
            gl_FragColor = vec4(colour, vTone.a * inside * opacity);
            #include <colorspace_fragment>
          }`,
      },
      { ...uniforms },
      order,
    );
  }
}

/* ---- friction cones ---- */

/** Attributes: origin, along (axis, as long as the cone is high), spread (radius over height),
 * tone. */
export class Cones extends Marks {
  constructor(uniforms: MarkUniforms, order: number) {
    const sides = 40;
    const position: number[] = [];
    for (let i = 0; i < sides; i++) {
      const a = (2 * Math.PI * i) / sides;
      const b = (2 * Math.PI * (i + 1)) / sides;
      position.push(0, 0, 0, Math.cos(b), Math.sin(b), 1, Math.cos(a), Math.sin(a), 1);
    }
    const geometry = new THREE.BufferGeometry();
    geometry.setAttribute("position", new THREE.Float32BufferAttribute(position, 3));
    super(
      geometry,
      { origin: 3, along: 3, spread: 1, tone: 4 },
      {
        hidden: 0.55,
        side: THREE.DoubleSide,
        vertex: `
          attribute vec3 origin, along;
          attribute float spread;
          attribute vec4 tone;
          varying vec4 vTone;
          varying float vHeight;
          varying vec3 vNormal;
          varying vec3 vEye;
          void main() {
            float wanted = length(along);
            float size = min(wanted, ${LONGEST.toFixed(1)} * typical);
            vec3 z = along / max(wanted, 1e-30);
            vec3 x = across(z);
            mat3 turn = mat3(x, cross(z, x), z);
            vec3 local = position * vec3(spread, spread, 1.0) * size;
            vec4 seen = modelViewMatrix * vec4(origin + turn * local, 1.0);
            vTone = tone;
            vHeight = position.z;
            vNormal = normalMatrix * (turn * vec3(position.xy, -spread));
            vEye = -seen.xyz;
            gl_Position = projectionMatrix * seen;
          }`,
        fragment: `
          varying vec4 vTone;
          varying float vHeight;
          varying vec3 vNormal;
          varying vec3 vEye;
          void main() {
            float facing = abs(dot(normalize(vNormal), normalize(vEye)));
            float rim = 1.0 - smoothstep(1.0, 2.2, (1.0 - vHeight) / max(fwidth(vHeight), 1e-9));
            float alpha = mix(0.30, 0.13, facing) + 0.75 * rim;
            gl_FragColor = vec4(vTone.rgb, vTone.a * min(alpha, 1.0) * opacity);
            #include <colorspace_fragment>
          }`,
      },
      { ...uniforms },
      order,
    );
  }
}

/* ---- lines ---- */

/** Segments some pixels wide. Attributes: begin, end (3 each), tone, tail (opacity at the
 * beginning as a factor). */
export class Lines extends Marks {
  constructor(uniforms: MarkUniforms, width: number, hidden: number, order: number) {
    const quad = new THREE.BufferGeometry();
    quad.setAttribute(
      "position",
      new THREE.Float32BufferAttribute([0, -1, 0, 1, -1, 0, 1, 1, 0, 0, 1, 0], 3),
    );
    quad.setIndex([0, 1, 2, 0, 2, 3]);
    super(
      quad,
      { begin: 3, end: 3, tone: 4, tail: 1 },
      {
        hidden,
        side: THREE.DoubleSide,
        vertex: `
          attribute vec3 begin, end;
          attribute vec4 tone;
          attribute float tail;
          varying vec4 vTone;
          varying float vSide;
          void main() {
            vec4 a = modelViewMatrix * vec4(begin, 1.0);
            vec4 b = modelViewMatrix * vec4(end, 1.0);
            /* Of what lies behind the eye, only the part in front of it has a direction. */
            if (projectionMatrix[3][3] == 0.0) {
              float near = -1e-4 * typical;
              if (a.z > near && b.z < near) a = mix(a, b, (a.z - near) / (a.z - b.z));
              if (b.z > near && a.z < near) b = mix(b, a, (b.z - near) / (b.z - a.z));
            }
            vec4 from = projectionMatrix * a;
            vec4 to = projectionMatrix * b;
            vec2 along = (to.xy / to.w - from.xy / from.w) * viewport;
            float size = length(along);
            vec2 unit = size > 1e-6 ? along / size : vec2(1.0, 0.0);
            vec4 place = mix(from, to, position.x);
            float wide = (${width.toFixed(2)} * ratio + 1.0) * 0.5;
            vec2 offset = vec2(-unit.y, unit.x) * position.y + unit * (position.x - 0.5);
            place.xy += offset * wide * 2.0 / viewport * place.w;
            vSide = position.y * wide;
            vTone = vec4(tone.rgb, tone.a * mix(tail, 1.0, position.x));
            gl_Position = place;
          }`,
        fragment: `
          varying vec4 vTone;
          varying float vSide;
          uniform float ratio;
          void main() {
            float wide = (${width.toFixed(2)} * ratio + 1.0) * 0.5;
            float alpha = 1.0 - smoothstep(wide - 1.0, wide, abs(vSide));
            gl_FragColor = vec4(vTone.rgb, vTone.a * alpha * opacity);
            #include <colorspace_fragment>
          }`,
      },
      { ...uniforms },
      order,
    );
  }
}
