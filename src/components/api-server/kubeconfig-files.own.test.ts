import { deepEqual, equal, match } from "node:assert/strict";
import { execFile } from "node:child_process";
import { mkdtemp, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { promisify } from "node:util";
import { silentLogger } from "../../base/logger.ts";
import { realClock } from "../../host/real-clock.ts";
import { needs, toolPath } from "../../testing/needs.ts";
import { startStoreAndApiServer } from "./start-api-server.ts";
import { DEFAULT_API_SERVER_OPTIONS } from "../../config/api-server-config.ts";

const run = promisify(execFile);

test(
  "each kubeconfig authenticates its own user: kubectl the administrator, and each component itself",
  needs("kubectl"),
  async (context) => {
    const directory = await mkdtemp(join(tmpdir(), "k8ts-kubeconfigs-"));
    context.after(() => rm(directory, { recursive: true }));
    const places = { certificateDirectory: join(directory, "pki"), kubeconfig: join(directory, "kubeconfig") };
    const apiServer = { ...DEFAULT_API_SERVER_OPTIONS, serving: { ...DEFAULT_API_SERVER_OPTIONS.serving, ...places } };
    await using server = await startStoreAndApiServer({ store: { driver: "memory" }, apiServer }, { clock: realClock, log: silentLogger });
    const kubectl = async (kubeconfig: string, ...words: readonly string[]) => {
      const environment = { HOME: directory, KUBECONFIG: kubeconfig };
      return (await run(toolPath("kubectl"), words, { env: environment })).stdout;
    };
    const part = (name: string) => join(places.certificateDirectory, "kubeconfigs", `${name}.conf`);

    const names: string[] = [];
    for (const file of [server.part.kubeconfig, part("controller-manager"), part("scheduler"), part("kube-proxy")]) {
      equal((await stat(file)).mode & 0o777, 0o600);
      const { status } = JSON.parse(await kubectl(file, "auth", "whoami", "-o", "json")) as { status: { userInfo: { username: string } } };
      names.push(status.userInfo.username);
    }

    deepEqual(names, ["kubernetes-admin", "system:kube-controller-manager", "system:kube-scheduler", "system:kube-proxy"]);
    match(await kubectl(server.part.kubeconfig, "get", "namespaces"), /default/);
  },
);
