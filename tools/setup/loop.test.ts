import { deepEqual } from "node:assert/strict";
import { describe, test } from "node:test";
import { loop } from "./loop.ts";
import type { Outcome, Surroundings } from "./surroundings.ts";

function machine(options: Partial<Surroundings>): Surroundings {
  return {
    platform: "linux",
    architecture: "x64",
    isRoot: true,
    isDebian: true,
    cache: "/cache",
    npm: () => Promise.reject(new Error("npm is not needed")),
    step: (_what, work) => work(),
    which: (command) => `/usr/sbin/${command}`,
    run: async () => ({ exitCode: 0, output: "/dev/loop0\n" }),
    ...options,
  };
}

const refuses = (argument: string, output: string): Surroundings["run"] => {
  return async (_command, words): Promise<Outcome> =>
    words.includes(argument) ? { exitCode: 1, output } : { exitCode: 0, output: "/dev/loop0\n" };
};

describe("loop devices are available if a file can be attached, formatted and detached", () => {
  for (const { it, options, finding } of [
    { it: "root on Linux", options: {}, finding: { path: "/usr/sbin/losetup" } },
    { it: "another system", options: { platform: "darwin" as const }, finding: { missing: "loop devices need Linux, this is darwin" } },
    { it: "not root", options: { isRoot: false }, finding: { missing: "attaching files to loop devices needs root" } },
    { it: "no losetup", options: { which: () => undefined }, finding: { missing: "the program losetup does not exist" } },
    {
      it: "root of a container without devices",
      options: { run: refuses("--find", "losetup: cannot find an unused loop device\n") },
      finding: { missing: "a file cannot be attached: losetup: cannot find an unused loop device" },
    },
    {
      it: "a file system that cannot be created",
      options: { run: refuses("-q", "mkfs.ext4: failed\n") },
      finding: { missing: "a device cannot be formatted: mkfs.ext4: failed" },
    },
    {
      it: "a busy device",
      options: { run: refuses("--detach", "losetup: busy\n") },
      finding: { missing: "a file cannot be detached: losetup: busy" },
    },
  ]) {
    test(it, async () => deepEqual(await loop(machine(options)), finding));
  }
});
