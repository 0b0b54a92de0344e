import { deepEqual, equal, match } from "node:assert/strict";
import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, test } from "node:test";
import type { Finding } from "../../src/testing/needs.ts";
import { goAndModules } from "./go.ts";
import type { Surroundings } from "./surroundings.ts";

const ABSENT: Finding = { missing: "go is not on the PATH" };

let cache: string;
beforeEach(() => (cache = mkdtempSync(join(tmpdir(), "k8ts-go-"))));
afterEach(() => rmSync(cache, { recursive: true, force: true }));

interface Machine {
  readonly isDebian?: boolean;
  readonly isRoot?: boolean;
  readonly hasGo?: boolean;
  /** Version of Debian's package. */
  readonly candidate?: string;
  readonly isOffline?: boolean;
}

function machine({ isDebian = true, isRoot = true, hasGo = false, candidate, isOffline = false }: Machine) {
  const commands: string[] = [];
  let isThere = hasGo;
  const surroundings: Pick<Surroundings, "cache" | "isDebian" | "isRoot" | "step" | "which" | "run"> = {
    cache,
    isDebian,
    isRoot,
    step: (_what, work) => work(),
    which: () => (isThere ? "/usr/bin/go" : undefined),
    async run(command, args) {
      commands.push([command, ...args.filter((word) => !/^-|[/:]/.test(word))].join(" "));
      if (command === "apt-cache") return { exitCode: 0, output: `  Candidate: ${candidate ?? "(none)"}\n` };
      if (isOffline) return { exitCode: 1, output: "go: dial tcp: no such host" };
      isThere = true;
      return { exitCode: 0, output: "" };
    },
  };
  return { surroundings: surroundings as Surroundings, commands };
}

test("Go's modules are fetched once", async () => {
  const { surroundings, commands } = machine({ hasGo: true });

  const first = await goAndModules(surroundings, { path: "/usr/bin/go" });
  const second = await goAndModules(surroundings, { path: "/usr/bin/go" });

  deepEqual(commands, ["/usr/bin/go mod download"]);
  deepEqual([first, second], Array(2).fill({ go: { path: "/usr/bin/go" }, goModules: { path: join(cache, readdirSync(cache)[0] ?? "") } }));
});

test("Debian's Go is installed where it can fetch a newer one", async () => {
  const { surroundings, commands } = machine({ candidate: "2:1.24~2" });

  const { go, goModules } = await goAndModules(surroundings, ABSENT);

  deepEqual(commands, ["apt-cache policy golang-go", "apt-get install golang-go", "/usr/bin/go mod download"]);
  deepEqual([go, "path" in goModules], [{ path: "/usr/bin/go" }, true]);
});

for (const [title, given, reason] of [
  ["not Debian", { isDebian: false }, /^go is not on the PATH$/],
  ["not root", { isRoot: false }, /^not installed; as root, run apt-get install golang-go$/],
  [
    "Debian's Go is too old",
    { candidate: "2:1.19~1" },
    /^go is not on the PATH, and Debian's package is too old: 1\.19~1; 1\.21 is needed$/,
  ],
  ["apt fails", { isOffline: true }, /^apt-get could not install golang-go: go: dial tcp: no such host$/],
] as const satisfies readonly (readonly [string, Machine, RegExp])[]) {
  test(`without Go there is a reason, and nothing is fetched: ${title}`, async () => {
    const { surroundings, commands } = machine(given);

    const { go, goModules } = await goAndModules(surroundings, ABSENT);

    match("missing" in go ? go.missing : "", reason);
    deepEqual(goModules, go);
    equal(commands.includes("/usr/bin/go mod download"), false);
  });
}

test("modules that cannot be fetched have a reason, and leave nothing in the cache", async () => {
  const { surroundings } = machine({ hasGo: true, isOffline: true });

  const { goModules } = await goAndModules(surroundings, { path: "/usr/bin/go" });

  deepEqual(goModules, { missing: "go mod download failed: go: dial tcp: no such host" });
  deepEqual(readdirSync(cache), []);
});
