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
