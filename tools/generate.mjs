/**
 * Runs the generators of generate/all.ts. They are TypeScript and run before anything is compiled, so esbuild bundles them on the fly. A
 * file is written only if its content changed, so that its modification time is meaningful.
 */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { pathToFileURL } from "node:url";
import { build } from "esbuild";
import { root } from "./setup/step.mjs";

export async function generate() {
  const bundle = join(root, ".cache/generate.mjs");
  await build({
    entryPoints: [join(root, "tools/generate/all.ts")],
    outfile: bundle,
    bundle: true,
    platform: "node",
    format: "esm",
    packages: "external",
    logLevel: "warning",
  });
  /** @type {typeof import("./generate/all.ts")} */
  // The query string bypasses Node's module cache.
  const { all } = await import(`${pathToFileURL(bundle).href}?${Date.now()}`);
  for (const generator of all) {
    for (const { path, text } of await generator.generate(root)) writeIfChanged(join(root, path), text);
  }
}

/**
 * @param {string} file
 * @param {string} text
 */
function writeIfChanged(file, text) {
  if (existsSync(file) && readFileSync(file, "utf8") === text) return;
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, text);
}
