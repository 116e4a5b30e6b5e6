/* Builds the page as one HTML file with its script and style inside it. It opens from disk, where
 * browsers refuse module scripts and fetches, so the script is a classic one.
 *
 * The data of an exported page, or the word that it is served, goes where MARK stands: before the
 * script. Output: $RIGOR_PAGE_OUT/index.html, by default build/page/ of the project. */

import { dirname, resolve } from "node:path";
import { fileURLToPath } from "node:url";

const here = dirname(fileURLToPath(import.meta.url));
const MARK = "<!--rigor-data-->";

/* Nothing in a script element may look like its end or like a comment. */
function scriptText(code) {
  return code.replace(/<\/(script)/gi, "<\\/$1").replace(/<!--/g, "<\\!--");
}

function styleText(code) {
  return code.replace(/<\/(style)/gi, "<\\/$1");
}

function singleFile() {
  return {
    name: "single-file",
    enforce: "post",
    generateBundle(_options, bundle) {
      const parts = Object.values(bundle);
      const page = parts.find((part) => part.fileName === "index.html");
      if (!page) throw new Error("no index.html was built");
      const scripts = parts.filter((part) => part.type === "chunk");
      const styles = parts.filter(
        (part) => part.type === "asset" && part.fileName.endsWith(".css"),
      );
      const others = parts.filter(
        (part) => part !== page && !scripts.includes(part) && !styles.includes(part),
      );
      if (others.length > 0) throw new Error("not inlined: " + others.map((part) => part.fileName));
      if (scripts.length !== 1) throw new Error(scripts.length + " scripts instead of one");

      let html = String(page.source);
      html = html.replace(/\s*<script type="module"[^>]*src="[^"]*"[^>]*><\/script>/g, "");
      html = html.replace(/\s*<link rel="(?:stylesheet|modulepreload)"[^>]*>/g, "");
      const style = styles.map((part) => styleText(String(part.source)).trim()).join("\n");
      html = html.replace("</head>", () => `<style>${style}</style>\n</head>`);
      if (!html.includes(MARK)) html = html.replace("</body>", () => `${MARK}\n</body>`);
      const script = `<script>${scriptText(scripts[0].code.trim())}</script>`;
      html = html.replace("</body>", () => `${script}\n</body>`);
      if (/<(?:script|link|img)[^>]+(?:src|href)="(?!data:)/.test(html.replace(script, "")))
        throw new Error("the page still refers to another file");
      page.source = html;
      for (const part of [...scripts, ...styles]) delete bundle[part.fileName];
    },
  };
}

export default {
  root: here,
  base: "./",
  plugins: [singleFile()],
  build: {
    outDir: process.env.RIGOR_PAGE_OUT ?? resolve(here, "../../build/page"),
    emptyOutDir: false,
    target: "es2021",
    cssCodeSplit: false,
    assetsInlineLimit: 1 << 30,
    modulePreload: false,
    reportCompressedSize: false,
    chunkSizeWarningLimit: 4096,
    rollupOptions: { output: { format: "iife", inlineDynamicImports: true } },
  },
};
