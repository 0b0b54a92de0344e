/** Starts server-child.ts with the size of V8's young generation that the launcher of the package sets (tools/build.mjs). */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { packageDirectory } from "../../src/testing/package-directory.ts";
import { startChild, type Child } from "../child.ts";
import type { ServerTasks } from "./server-child.ts";

export function startServer(signal: AbortSignal): Child<ServerTasks> {
  return startChild<ServerTasks>(import.meta.url, "server-child", signal, { youngGenerationMb: shippedYoungGenerationMb() });
}

function shippedYoungGenerationMb(): number {
  const file = join(packageDirectory(import.meta.dirname), "dist/k8ts.js");
  const size = /--max-semi-space-size=(\d+)/.exec(readFileSync(file, "utf8"))?.[1];
  if (size === undefined) throw new Error(`Cannot find the size of the young generation in ${file}`);
  return Number(size);
}
