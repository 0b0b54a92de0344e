import { deepEqual } from "node:assert/strict";
import { describe, test } from "node:test";
import type { Outcome, Surroundings } from "./surroundings.ts";
import { tmpfs } from "./tmpfs.ts";

function machine(options: Partial<Surroundings>): Surroundings {
  return {
    platform: "linux",
    architecture: "x64",
    isRoot: true,
    isDebian: true,
    cache: "/cache",
    npm: () => Promise.reject(new Error("npm is not needed")),
    step: (_what, work) => work(),
    which: (command) => `/usr/bin/${command}`,
    run: async () => ({ exitCode: 0, output: "" }),
    ...options,
  };
}

const refuses = (program: string, output: string): Surroundings["run"] => {
  return async (command): Promise<Outcome> => (command.endsWith(program) ? { exitCode: 32, output } : { exitCode: 0, output: "" });
};

describe("tmpfs is available if it can be mounted and unmounted", () => {
  for (const { it, options, finding } of [
    { it: "root on Linux", options: {}, finding: { path: "/usr/bin/mount" } },
    { it: "another system", options: { platform: "darwin" as const }, finding: { missing: "tmpfs needs Linux, this is darwin" } },
    { it: "not root", options: { isRoot: false }, finding: { missing: "mounting it needs root" } },
    { it: "no mount", options: { which: () => undefined }, finding: { missing: "the program mount does not exist" } },
    {
      it: "root of a container that may not",
      options: { run: refuses("/mount", "mount: permission denied.\n") },
      finding: { missing: "it cannot be mounted: mount: permission denied." },
    },
    {
      it: "a busy one",
      options: { run: refuses("umount", "umount: busy\n") },
      finding: { missing: "it cannot be unmounted: umount: busy" },
    },
  ]) {
    test(it, async () => deepEqual(await tmpfs(machine(options)), finding));
  }
});
