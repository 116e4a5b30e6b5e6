/* What thousands of bodies cost to draw: node viewer/tests/bench.mjs RIGOR-COMMAND
 *
 * Three figures of every scene: draw calls and triangles of a picture; milliseconds that the page's own
 * code takes for one (poses, arrows, matrices, commands to the GPU), which is what limits a machine
 * with a GPU; and milliseconds until the picture is there, drawn in software by the processor, which
 * is an upper bound. */

import { launch, showTime } from "./harness.mjs";

const SCENES = [
  { name: "dominoes", run: ["dominoes", "--duration", "3"] },
  { name: "projectiles, 5000", run: ["projectiles", "count=5000", "--duration", "1"] },
  { name: "projectiles, 5000, plain", run: ["projectiles", "count=5000", "--duration", "1"], plain: true },
  { name: "pyramid, 1275 boxes", run: ["pyramid", "base=50", "--duration", "0.1"] },
];

/** Milliseconds of `count` pictures in a row: the page's own part, and all of it. */
function measure(page, count) {
  return page.evaluate((pictures) => {
    const { player, views, sources } = window.rigor;
    const view = views[0];
    const gl = view.canvas.getContext("webgl2");
    const pixel = new Uint8Array(4);
    const own = [];
    const all = [];
    for (let i = 0; i < pictures; i++) {
      const time = player.start + (player.end - player.start) * (0.5 + 0.02 * i);
      if (!sources[0].frame(sources[0].indexAt(time))) continue;
      const begin = performance.now();
      view.show(time);
      view.render();
      own.push(performance.now() - begin);
      gl.readPixels(0, 0, 1, 1, gl.RGBA, gl.UNSIGNED_BYTE, pixel); // waits for the picture
      all.push(performance.now() - begin);
    }
    const least = (values) => Math.min(...values); // the machine may be busy with other things
    return { own: least(own), all: least(all), count: own.length, ...view.stats() };
  }, count);
}

await launch(async (bench) => {
  console.log("| scene | bodies | draw calls | triangles | page's own part, ms | drawn in software, ms |");
  console.log("|---|---|---|---|---|---|");
  for (const [index, scene] of SCENES.entries()) {
    const address = bench.page(`scene${index}`, bench.record(`scene${index}`, ...scene.run));
    const page = await bench.open(address, { viewport: { width: 1280, height: 720 } });
    const end = await page.evaluate(() => window.rigor.player.end);
    if (scene.plain)
      await page.evaluate(() => {
        for (const name of ["shadows", "edges", "contacts", "forces"]) window.rigor.views[0].setSwitch(name, false);
      });
    await showTime(page, end / 2); // loads the chunk
    await measure(page, 1); // shaders are compiled, buffers made
    const found = await measure(page, 7);
    const bodies = await page.evaluate(() => window.rigor.sources[0].manifest.bodies.length);
    console.log(
      `| ${scene.name} | ${bodies} | ${found.drawCalls} | ${found.triangles} | ${found.own.toFixed(1)} | ${found.all.toFixed(0)} |`,
    );
    await bench.close(page);
  }
});
