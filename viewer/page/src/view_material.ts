/* The surface of bodies: a standard material to which the shader adds the edges (from the `rim`
 * attribute, a constant number of pixels wide, fading where a body is only a few pixels large)
 * and, on round bodies, sectors of slightly different lightness, so that one sees them turn. */

import * as THREE from "three";
import type { Pattern } from "./view_shapes";

export interface SurfaceUniforms {
  edgeWidth: { value: number }; // half, in pixels of the drawing buffer; 0: no edges
  edgeShade: { value: number }; // lightness of edges as a factor
}

const CLEAR = 0.34; // opacity of sensors, and of the other run of an overlay

const PATTERN_CODE: Record<Pattern, string> = {
  none: "",
  octants: "float sector = side(spot.x) * side(spot.y) * side(spot.z);",
  sectors: "float sector = side(spot.x) * side(spot.y);",
  "flat-sectors": "float sector = side(spot.x) * side(spot.z);",
};

function addEdges(
  shader: {
    vertexShader: string;
    fragmentShader: string;
    uniforms: Record<string, THREE.IUniform>;
  },
  uniforms: SurfaceUniforms,
  pattern: Pattern,
): void {
  Object.assign(shader.uniforms, uniforms);
  shader.vertexShader = shader.vertexShader
    .replace(
      "#include <common>",
      "#include <common>\nattribute vec3 rim;\nvarying vec3 vRim;\nvarying vec3 vSpot;",
    )
    .replace("#include <begin_vertex>", "#include <begin_vertex>\nvRim = rim;\nvSpot = position;");
  shader.fragmentShader = shader.fragmentShader
    .replace(
      "#include <common>",
      `#include <common>
varying vec3 vRim;
varying vec3 vSpot;
uniform float edgeWidth;
uniform float edgeShade;
float side(float x) { return clamp(x / max(fwidth(x), 1e-9), -1.0, 1.0); }`,
    )
    .replace(
      "#include <color_fragment>",
      `#include <color_fragment>
{
  vec3 spot = vSpot;
  ${PATTERN_CODE[pattern]}
  ${pattern === "none" ? "" : "diffuseColor.rgb *= 1.0 + 0.16 * sector;"}
  vec3 slope = max(sqrt(dFdx(vRim) * dFdx(vRim) + dFdy(vRim) * dFdy(vRim)), vec3(1e-7));
  vec3 away = vRim / slope;
  vec3 across = 1.0 / slope;
  vec3 line = (1.0 - smoothstep(vec3(edgeWidth - 0.5), vec3(edgeWidth + 0.5), away))
    * smoothstep(vec3(4.0), vec3(18.0), across);
  float edge = edgeWidth > 0.0 ? max(line.x, max(line.y, line.z)) : 0.0;
  diffuseColor.rgb *= mix(1.0, edgeShade, edge);
}`,
    );
}

/** `flat`: for planar worlds, the colour as it is, without light; `clear`: one sees through it. */
export function surfaceMaterial(
  pattern: Pattern,
  flat: boolean,
  uniforms: SurfaceUniforms,
  clear = false,
): THREE.Material {
  const material = flat
    ? new THREE.MeshBasicMaterial({ toneMapped: false, side: THREE.DoubleSide })
    : new THREE.MeshStandardMaterial({ roughness: 0.62, metalness: 0 });
  material.onBeforeCompile = (shader) => addEdges(shader, uniforms, pattern);
  material.customProgramCacheKey = () => `rigor surface ${pattern} ${flat} ${clear}`;
  if (clear) {
    material.transparent = true;
    material.opacity = CLEAR;
    material.depthWrite = false;
    /* Behind a solid face in the same place: bodies that agree in both runs look as in the first. */
    material.polygonOffset = true;
    material.polygonOffsetFactor = 1;
    material.polygonOffsetUnits = 8;
  }
  return material;
}

/** A shell behind the selected body that stands out by some pixels. */
export function outlineMaterial(uniforms: {
  shellColour: { value: THREE.Color };
  shellPixels: { value: THREE.Vector2 }; // of clip space per unit, times the width
  flat: boolean;
}): THREE.ShaderMaterial {
  return new THREE.ShaderMaterial({
    uniforms: { shellColour: uniforms.shellColour, shellPixels: uniforms.shellPixels },
    vertexShader: `
      attribute vec3 outward;
      uniform vec2 shellPixels;
      void main() {
        vec4 place = projectionMatrix * modelViewMatrix * vec4(position, 1.0);
        /* Turned, not stretched: a thin plank gets as wide a line as a cube. */
        mat3 turn = mat3(modelViewMatrix);
        for (int i = 0; i < 3; i++) turn[i] = normalize(turn[i]);
        vec3 away = turn * outward;
        vec2 sideways = (projectionMatrix * vec4(away, 0.0)).xy;
        float size = length(sideways / shellPixels);
        place.xy += sideways / max(size, 1e-9) * place.w;
        gl_Position = place;
      }`,
    fragmentShader: `
      uniform vec3 shellColour;
      void main() {
        gl_FragColor = vec4(shellColour, 1.0);
        #include <colorspace_fragment>
      }`,
    side: uniforms.flat ? THREE.DoubleSide : THREE.BackSide,
    depthTest: !uniforms.flat,
    toneMapped: false,
  });
}
