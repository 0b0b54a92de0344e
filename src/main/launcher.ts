#!/usr/bin/env node
/**
 * Entry point of the program `k8ts`. `k8ts up` runs from one script with compiled code (up-script.ts) if this copy of the program has one, as
 * the npm package does; all other commands, and `k8ts up` with `node --enable-source-maps`, from modules.
 */
import { join } from "node:path";
import type { CachedScript } from "../host/processes/cached-script.ts";
import type { runUp } from "./up-script.ts";

const UP_SCRIPT = join(import.meta.dirname, "up.cjs");

async function upScript(): Promise<CachedScript | undefined> {
  if (process.argv[2] !== "up" || process.sourceMapsEnabled) return undefined;
  const { runCachedScript } = await import("../host/processes/cached-script.ts");
  return runCachedScript(UP_SCRIPT);
}

const script = await upScript();
if (script !== undefined) {
  await (script.exports as { readonly runUp: typeof runUp }).runUp((parts) => script.save(parts));
} else {
  const [{ runProgram }, { all }] = await Promise.all([import("./program.ts"), import("../cli/commands/all.ts")]);
  await runProgram(all);
}
