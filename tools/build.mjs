/**
 * `npm run build` (`node tools/build.mjs [DIRECTORY]`): builds dist/, the content of the npm package. Generates, checks types and emits
 * declarations, bundles, and only then replaces the old dist/, so that a failed or interrupted build leaves a complete one. lmdb stays
 * outside the bundle, since it has native binaries; everything else is bundled, with its licences.
 */
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs";
import { dirname, join, relative, resolve } from "node:path";
import { build } from "esbuild";
import { generate } from "./generate.mjs";
import { bundleBrowser } from "./setup/browser-bundle.mjs";
import { BUNDLE_OPTIONS, SCRIPT_OPTIONS } from "./setup/bundle-options.mjs";
import { withLock } from "./setup/lock.mjs";
import { root, run, StepFailed } from "./setup/step.mjs";

const ENTRIES = {
  k8ts: "src/main/launcher.ts",
  index: "src/main/index.ts",
  client: "src/client/https/index.ts",
  controllers: "src/main/controllers-entry.ts",
  kinds: "src/main/generated/kinds-entry.ts",
  testing: "src/testing/index.ts",
};

/** Packages of the dashboard's page, which the bundle contains as data. */
const PAGE_PACKAGES = ["node_modules/preact"];

/**
 * Half of V8's young generation, in megabytes; V8's own value is 16 in Node 20. The API server has several megabytes of requests in flight
 * under load: with 16 each collection moves them, and many become old garbage. With 64 writes take up to a quarter less processor time. It
 * is used only under load, and returned when idle.
 */
const YOUNG_GENERATION_MB = 64;

const NODE_LINE = "#!/usr/bin/env node\n";

/**
 * First lines of the program for a shell, which starts Node with options that a running process cannot set; for Node they are a comment and
 * a text. Not `env -S`, which BusyBox does not have. A size in NODE_OPTIONS has precedence. `node dist/k8ts.js` works, too, without the
 * options.
 */
const SHELL_LINES = [
  "#!/bin/sh",
  `":" //; case "$NODE_OPTIONS" in *semi-space*) exec node "$0" "$@";; esac; exec node --max-semi-space-size=${YOUNG_GENERATION_MB} "$0" "$@"`,
  "",
].join("\n");

const dist = resolve(process.argv[2] ?? join(root, "dist"));
/** In the clone, like dist/, so that one can be renamed to the other. */
const fresh = join(root, ".cache/dist-new");
const old = join(root, ".cache/dist-old");

async function main() {
  for (const leftover of [fresh, old]) rmSync(leftover, { recursive: true, force: true });
  await timed("generate", generate);
  await timed("check types, emit declarations", emitDeclarations);
  const metafile = await timed("bundle", bundle);
  const page = await timed("bundle for browsers", () => bundleBrowser(join(fresh, "browser")));
  const licences = licencesOf([...Object.keys(metafile.inputs), ...Object.keys(page.inputs)]);
  for (const folder of ["", "browser"]) writeFileSync(join(fresh, folder, "THIRD-PARTY-LICENSES.txt"), licences);
  if (existsSync(dist)) renameSync(dist, old);
  mkdirSync(dirname(dist), { recursive: true });
  renameSync(fresh, dist);
  rmSync(old, { recursive: true, force: true });
  printSizes(metafile);
}

/**
 * @template T
 * @param {string} what
 * @param {() => Promise<T>} work
 */
async function timed(what, work) {
  const began = performance.now();
  const result = await work();
  console.log(`${what}: ${((performance.now() - began) / 1000).toFixed(2)} s`);
  return result;
}

async function emitDeclarations() {
  const tsc = join(root, "node_modules/typescript/bin/tsc");
  const { exitCode, output } = await run(process.execPath, [
    tsc,
    "-p",
    join(root, "tools/tsconfig.declarations.json"),
    "--outDir",
    join(fresh, "types"),
  ]);
  if (exitCode !== 0) throw new StepFailed(output);
}

async function bundle() {
  const common = /** @type {const} */ ({
    // Paths in source maps are relative to the final location, not to the temporary one.
    outdir: dist,
    write: false,
    // V8 keeps the source of loaded functions, with two bytes per character if one is beyond Latin-1, as in comments. Without comments and
    // indentation an idle cluster needs 10 MB less (121 → 110.5 MB). Names stay; stack traces have lines with node --enable-source-maps.
    minifyWhitespace: true,
    metafile: true,
  });
  const external = [...BUNDLE_OPTIONS.external];
  const [modules, script] = await Promise.all([
    build({ ...BUNDLE_OPTIONS, ...common, external, entryPoints: ENTRIES, legalComments: "eof" }),
    build({ ...SCRIPT_OPTIONS, ...common, external, entryPoints: { up: "src/main/up-script.ts" }, outExtension: { ".js": ".cjs" } }),
  ]);
  for (const { path, contents } of script.outputFiles) requireAscii(path, contents);
  for (const { path, contents } of [...modules.outputFiles, ...script.outputFiles]) {
    const file = join(fresh, relative(dist, path));
    mkdirSync(dirname(file), { recursive: true });
    if (file === join(fresh, "k8ts.js")) writeFileSync(file, withShellLines(Buffer.from(contents).toString()), { mode: 0o755 });
    else writeFileSync(file, contents, { mode: 0o644 });
  }
  return modules.metafile;
}

/**
 * On one line more than before, so positions in its source map are a line early; it is a few lines that load the rest.
 * @param {string} text
 */
function withShellLines(text) {
  if (!text.startsWith(NODE_LINE)) throw new StepFailed(`Cannot bundle k8ts.js: it does not begin with ${NODE_LINE}`);
  return SHELL_LINES + text.slice(NODE_LINE.length);
}

/**
 * The loader of the script reads one character per byte. esbuild escapes all characters but those of regular expressions.
 * @param {string} path
 * @param {Uint8Array} contents
 */
function requireAscii(path, contents) {
  const at = contents.findIndex((byte) => byte > 0x7f);
  if (at === -1) return;
  const around = Buffer.from(contents.subarray(at - 40, at + 20)).toString();
  throw new StepFailed(`Cannot bundle ${path}: it has a character that is not ASCII; write it as \\u… in the source: ${around}`);
}

/**
 * Licence texts of all packages that the bundle contains.
 * @param {readonly string[]} inputs files of the bundles
 */
function licencesOf(inputs) {
  const folders = inputs.flatMap((path) => /^(.*node_modules\/(?:@[^/]+\/)?[^/]+)\//.exec(path)?.[1] ?? []);
  const sections = [...new Set([...folders, ...PAGE_PACKAGES])].sort().map((folder) => {
    const { name, version, license } = JSON.parse(readFileSync(join(root, folder, "package.json"), "utf8"));
    const file = readdirSync(join(root, folder)).find((entry) => /^licen[cs]e/i.test(entry));
    return `${name} ${version} (${license})\n\n${file === undefined ? "" : readFileSync(join(root, folder, file), "utf8")}`;
  });
  return sections.join(`\n${"-".repeat(80)}\n\n`);
}

/** @param {import("esbuild").Metafile} metafile */
function printSizes(metafile) {
  const scripts = Object.entries(metafile.outputs).filter(([path]) => path.endsWith(".js"));
  for (const [path, { bytes }] of scripts.sort(([, a], [, b]) => b.bytes - a.bytes))
    console.log(`${kilobytes(bytes).padStart(9)}  ${path}`);
  const files = readdirSync(dist, { recursive: true, encoding: "utf8" }).map((path) => statSync(join(dist, path)));
  const total = files.reduce((sum, { size }) => sum + size, 0);
  console.log(`${kilobytes(total).padStart(9)}  dist/ with declarations and source maps, ${files.length} files`);
}

/** @param {number} bytes */
function kilobytes(bytes) {
  return `${(bytes / 1000).toFixed(1)} kB`;
}

try {
  mkdirSync(join(root, ".cache"), { recursive: true });
  await withLock(join(root, ".cache/build.lock"), main);
} catch (error) {
  console.error(error instanceof StepFailed ? error.message : error);
  process.exitCode = 1;
}
