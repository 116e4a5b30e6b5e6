/* Light: sky and ground, a sun with soft shadows over the part of the scene that is seen, and a
 * weak light from the other side. */

import * as THREE from "three";
import type { Theme } from "./palette";
import type { CameraState } from "./view_camera";

const SUN = new THREE.Vector3(-0.42, -0.6, 1.15).normalize();
const MAP = 2048;

export class Lights {
  readonly object = new THREE.Group();
  private readonly sky = new THREE.HemisphereLight(0xffffff, 0xffffff, 1);
  private readonly sun = new THREE.DirectionalLight(0xffffff, 1);
  private readonly fill = new THREE.DirectionalLight(0xffffff, 1);
  private readonly right = new THREE.Vector3();
  private readonly up = new THREE.Vector3();

  constructor() {
    this.sun.castShadow = true;
    this.sun.shadow.mapSize.set(MAP, MAP);
    this.sun.shadow.radius = 3;
    this.fill.position.set(0.7, 0.5, 0.35);
    this.right.set(1, 0, 0).addScaledVector(SUN, -SUN.x).normalize();
    this.up.crossVectors(SUN, this.right);
    this.sky.position.set(0, 0, 1);
    this.object.add(this.sky, this.sun, this.sun.target, this.fill, this.fill.target);
  }

  setTheme(theme: Theme): void {
    const light = theme === "light";
    this.sky.color.set(light ? 0xf4f8ff : 0xd3e0f5);
    this.sky.groundColor.set(light ? 0xcfc4b8 : 0x8d857d);
    this.sky.intensity = light ? 2.1 : 2.0;
    this.sun.color.set(light ? 0xfff3e2 : 0xffedd6);
    this.sun.intensity = light ? 2.1 : 2.3;
    this.fill.color.set(light ? 0xdfe9ff : 0xb4c9ff);
    this.fill.intensity = light ? 0.8 : 0.8;
  }

  setShadows(on: boolean): void {
    this.sun.castShadow = on;
  }

  /** The shadow map covers the scene, or as much of it as a camera that is close can see. */
  fit(middle: THREE.Vector3, sceneRadius: number, camera: CameraState): void {
    const close = 1.4 * camera.distance;
    const partly = close < sceneRadius;
    const radius = partly ? close : sceneRadius * 1.05;
    const centre = this.sun.target.position.copy(partly ? camera.target : middle);
    /* In whole texels, so that shadows do not shimmer when the camera moves. */
    const texel = (2 * radius) / MAP;
    if (partly) {
      const x = centre.dot(this.right);
      const y = centre.dot(this.up);
      centre.addScaledVector(this.right, Math.round(x / texel) * texel - x);
      centre.addScaledVector(this.up, Math.round(y / texel) * texel - y);
    }
    const depth = Math.max(sceneRadius, radius);
    this.sun.position.copy(centre).addScaledVector(SUN, 3 * depth);
    this.sun.target.updateMatrixWorld();
    const box = this.sun.shadow.camera;
    box.left = box.bottom = -radius;
    box.right = box.top = radius;
    box.near = depth;
    box.far = 5.5 * depth;
    box.updateProjectionMatrix();
    this.sun.shadow.normalBias = 1.2 * texel;
    this.sun.shadow.bias = (-0.6 * texel) / (box.far - box.near);
  }

  dispose(): void {
    this.sun.dispose();
    this.fill.dispose();
    this.sky.dispose();
  }
}
