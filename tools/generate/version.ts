/** Generates the version of package.json as a constant, so that `k8ts --version` reads no file. */
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import type { Generator } from "./generator.ts";

export const version: Generator = {
  async generate(root) {
    const manifest = JSON.parse(await readFile(join(root, "package.json"), "utf8")) as { readonly version: string };
    const text = `/** Generated from package.json by tools/generate/version.ts. */\nexport const version = ${JSON.stringify(manifest.version)};\n`;
    return [{ path: "src/base/generated/version.ts", text }];
  },
};
