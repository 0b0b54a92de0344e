/** The program `k8ts` for tests that start it as a process. Bundled, because loading its modules one by one takes twice as long. */
import { join } from "node:path";
import { packageDirectory } from "../package-directory.ts";

/** Bundled from src/main/launcher.ts by the set-up of the test run (tools/setup/compile.mjs). */
export const LAUNCHER = join(packageDirectory(import.meta.dirname), "out", "program", "launcher.js");
