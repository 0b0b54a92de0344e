/** How esbuild bundles the program: the same for the npm package (build.mjs) and for the test run (setup/compile.mjs). */
import { join } from "node:path";
import { root } from "./step.mjs";

/** CommonJS packages in the bundle call require for Node's modules, which an ES module does not define. */
const REQUIRE = `import { createRequire as createRequireOfBundle } from "node:module"; const require = createRequireOfBundle(import.meta.url);`;

export const BUNDLE_OPTIONS = /** @type {const} */ ({
  absWorkingDir: root,
  bundle: true,
  splitting: true,
  chunkNames: "chunks/[name]-[hash]",
  format: "esm",
  platform: "node",
  target: "node20.19",
  external: ["lmdb"],
  // Prefers ES modules: the CommonJS copy of the same code takes three times as long to load.
  alias: { yaml: join(root, "node_modules/yaml/browser/index.js") },
  banner: { js: REQUIRE },
  sourcemap: true,
  logLevel: "warning",
});

const { splitting: _splitting, chunkNames: _chunkNames, sourcemap: _sourcemap, ...SHARED_OPTIONS } = BUNDLE_OPTIONS;

/**
 * How esbuild bundles src/main/up-script.ts into one script, dist/up.cjs. No source map: with `node --enable-source-maps` the modules run.
 * `import()` becomes require, so that the script needs no module loader; its text is ASCII, which the loader of the script relies on.
 */
export const SCRIPT_OPTIONS = /** @type {const} */ ({
  ...SHARED_OPTIONS,
  format: "cjs",
  // Not added when it is loaded, which would copy the text.
  banner: { js: "(function (exports, require, module) {" },
  footer: { js: "})" },
  supported: { "dynamic-import": false },
  charset: "ascii",
  // Comments of licences are not ASCII; the licences are in THIRD-PARTY-LICENSES.txt.
  legalComments: "none",
});
