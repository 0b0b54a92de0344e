/**
 * Bundles the page with a cluster inside (src/browser/web) and the module `k8ts/browser` into a folder that any static server can serve,
 * also below a path. Every file but the entries is named by its content. The bundle fails if anything in it needs a module of Node: that
 * is the proof that the control plane is pure.
 */
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { build } from "esbuild";
import { root } from "./step.mjs";

/** Browsers of the last years. */
const TARGETS = ["chrome120", "firefox121", "safari17"];

/** Scripts and styles of the folder only; no request to anywhere. Pictures of lessons are data URLs. */
const POLICY = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; base-uri 'none'; form-action 'none'";

/** @param {string} directory */
export async function bundleBrowser(directory) {
  const { outputFiles, metafile } = await build({
    absWorkingDir: root,
    entryPoints: {
      page: "src/browser/web/main.ts",
      style: "src/browser/web/style.css",
      k8ts: "src/browser/index.ts",
    },
    outdir: directory,
    write: false,
    bundle: true,
    minify: true,
    splitting: true,
    chunkNames: "chunks/[name]-[hash]",
    format: "esm",
    platform: "browser",
    target: TARGETS,
    legalComments: "none",
    charset: "utf8",
    // As in the program (bundle-options.mjs).
    alias: { yaml: join(root, "node_modules/yaml/browser/index.js") },
    metafile: true,
    logLevel: "warning",
  });
  rmSync(directory, { recursive: true, force: true });
  mkdirSync(join(directory, "chunks"), { recursive: true });
  for (const { path, contents } of outputFiles) writeFileSync(path, contents);
  writeFileSync(join(directory, "index.html"), pageText(neededFirst(metafile)));
  return metafile;
}

/**
 * Chunks that the page imports statically: named in the page, so that the browser loads them all at once.
 * @param {import("esbuild").Metafile} metafile
 */
function neededFirst(metafile) {
  const entry = Object.values(metafile.outputs).find(({ entryPoint }) => entryPoint === "src/browser/web/main.ts");
  const imported = entry?.imports.filter(({ kind }) => kind === "import-statement") ?? [];
  return imported.map(({ path }) => `chunks/${basename(path)}`);
}

/** @param {readonly string[]} chunks */
function pageText(chunks) {
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${POLICY}">
<meta name="referrer" content="no-referrer">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>k8ts: a cluster in a browser tab</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="style.css">
${chunks.map((path) => `<link rel="modulepreload" href="${path}">\n`).join("")}<script type="module" src="page.js"></script>
</head>
<body><div id="app"></div><noscript>This page needs JavaScript.</noscript></body>
</html>
`;
}
