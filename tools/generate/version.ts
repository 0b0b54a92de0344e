/** The version of package.json as a constant, so that `k8ts --version` reads no file. */
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import type { Generator } from "./generator.ts";

export const version: Generator = {
  path: "src/main/generated/version.ts",

  async generate(root) {
    const text = await readFile(join(root, "package.json"), "utf8");
    const manifest = JSON.parse(text) as { readonly version: string };
    return `/** Generated from package.json by tools/generate/version.ts. */\nexport const version = ${JSON.stringify(manifest.version)};\n`;
  },
};
